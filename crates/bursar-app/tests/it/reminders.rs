//! Reminders as officers keep them: scheduled, called off, sent again; and who is left out, and why.

use bursar_app::reminders::{self, NewReminder};
use bursar_app::{Act, AppError, Identity, messages};
use bursar_db::Db;
use bursar_db::testing::both_engines;
use bursar_domain::ids::{PaymentId, ReminderId};
use bursar_domain::reminder::{Audience, Method, Outcome, ReminderStatus};
use serde_json::{Value as Json, json};

use crate::outbox::{act, app, club, expand, reminder, soon};
use crate::support::{bundle, grp, id, import_now, instant, mem, now, numbers, org, problems, rem};

fn new(audience: Audience) -> NewReminder {
    NewReminder {
        audience,
        method: Method::Email,
        at: soon(),
        subject: Some(" Dues ".to_owned()),
        body: Some("Please pay.".to_owned()),
        every_days: None,
        include_payment_info: false,
    }
}

fn schedule(db: &Db, new: &NewReminder) -> Result<ReminderId, String> {
    let new = new.clone();
    act(db, Identity::Operator, now(), move |act| {
        reminders::schedule(act, &new)
    })
    .map(|reminder| reminder.id)
    .map_err(|error| error.to_string())
}

#[test]
fn scheduled_by_the_rules() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(1);
        records.extend([
            json!({"type": "organization", "id": org(2), "name": "Far", "kind": "independent"}),
            json!({"type": "member", "id": mem(9), "organizationId": org(1), "firstName": "A", "lastName": "B", "email": "a@example.org", "isActive": false}),
        ]);
        import_now(db, &bundle(&records)).unwrap();
        let made = schedule(db, &new(Audience::Group(grp(1)))).unwrap();
        let kept = reminder(db, made);
        assert_eq!(kept.subject.as_deref(), Some("Dues"));
        assert_eq!(
            (kept.status, kept.scheduled_at, kept.is_held),
            (ReminderStatus::Scheduled, Some(soon()), false)
        );
        assert!(problems(db).is_empty());

        let far = NewReminder {
            audience: Audience::Organization(org(2)),
            ..new(Audience::Nobody)
        };
        let own = NewReminder {
            audience: Audience::Organization(org(1)),
            ..new(Audience::Nobody)
        };
        assert!(schedule(db, &own).is_ok());
        for (bad, said) in [
            (new(Audience::Nobody), "target is required"),
            (new(Audience::Group(grp(7))), "groupId grp_"),
            (new(Audience::Member(mem(7))), "targetMemberId mem_"),
            (new(Audience::Member(mem(9))), "is archived"),
            (
                far,
                "must be the organization itself, its parent or a direct child",
            ),
            (
                NewReminder {
                    at: now().plus_seconds(-1),
                    ..new(Audience::Group(grp(1)))
                },
                "must not be in the past",
            ),
            (
                NewReminder {
                    body: Some(" ".into()),
                    ..new(Audience::Group(grp(1)))
                },
                "body is required",
            ),
            (
                NewReminder {
                    subject: Some("a\r\nBcc: x".into()),
                    ..new(Audience::Group(grp(1)))
                },
                "U+000D",
            ),
            (
                NewReminder {
                    every_days: Some(0),
                    ..new(Audience::Group(grp(1)))
                },
                "must be 1 to 3650, got 0",
            ),
            (
                NewReminder {
                    method: Method::Sms,
                    body: Some("a".repeat(1_601)),
                    ..new(Audience::Group(grp(1)))
                },
                "at most 1600 characters",
            ),
        ] {
            let refused = schedule(db, &bad).unwrap_err();
            assert!(refused.contains(said), "{refused}");
        }
        let listed = |status| {
            let listed = app(db, now()).view::<_, AppError>(Identity::Operator, org(1), move |view| {
                reminders::list(view, status)
            });
            listed.wait().unwrap().len()
        };
        assert_eq!((listed(None), listed(Some(ReminderStatus::Sent))), (3, 0));
    });
}

#[test]
fn called_off_and_sent_again_by_their_state() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &bundle(&club(1))).unwrap();
        let cancel = |id| {
            act(db, Identity::Operator, now(), move |act| {
                reminders::cancel(act, id)
            })
        };
        let retry = |id| {
            act(db, Identity::Operator, now(), move |act| {
                reminders::retry(act, id)
            })
        };
        assert!(
            retry(rem(1))
                .unwrap_err()
                .to_string()
                .contains("is scheduled; only a failed one")
        );
        assert_eq!(cancel(rem(1)).unwrap().status, ReminderStatus::Cancelled);
        let again = cancel(rem(1)).unwrap_err().to_string();
        assert_eq!(
            again,
            "the reminder is cancelled and cannot become cancelled; nothing more can happen to it"
        );
        assert!(
            retry(rem(7))
                .unwrap_err()
                .to_string()
                .contains("there is no reminder rem_")
        );

        // A worker does not send what was called off.
        let due = soon().plus_seconds(5);
        let run = act(db, Identity::Worker, due, |act| reminders::run_due(act, rem(1)));
        assert_eq!(run.unwrap(), None);
        let failed = json!({"type": "reminder", "id": rem(2), "organizationId": org(1), "groupId": grp(1), "method": "email",
            "status": "failed", "scheduledAt": "2026-01-01T00:00:00Z"});
        import_now(db, &bundle(&[failed])).unwrap();
        let scheduled = retry(rem(2)).unwrap();
        assert_eq!(
            (scheduled.status, scheduled.scheduled_at),
            (ReminderStatus::Scheduled, Some(now()))
        );
        let log = "SELECT COUNT(*) FROM activity WHERE action IN ('reminder.cancel', 'reminder.retry')";
        assert_eq!(numbers(db, log, &[]), [2]);
    });
}

/// A run of a reminder, and what the messages say of each recipient.
fn run(db: &Db, id: ReminderId) -> (Option<Outcome>, Vec<String>) {
    let run = act(db, Identity::Worker, soon(), move |act| {
        reminders::run_due(act, id)
    });
    expand(db);
    let query = messages::Query {
        reminder: Some(id),
        before: None,
        limit: 100,
    };
    let listed = app(db, soon()).view::<_, AppError>(Identity::Operator, org(1), move |view| {
        messages::list(view, query)
    });
    let listed = listed.wait().unwrap();
    let told = listed.iter().rev().map(|message| {
        let name = message.name.clone().unwrap_or_default();
        format!(
            "{name}: {} {}",
            message.state,
            message.detail.clone().unwrap_or_default()
        )
    });
    (
        run.unwrap(),
        told.map(|line| line.trim_end().to_owned()).collect(),
    )
}

fn member(n: u128, fields: Json) -> Json {
    let mut member = json!({"type": "member", "id": mem(n), "organizationId": org(1), "firstName": "F", "lastName": n.to_string(),
        "email": format!("m{n}@example.org"), "groups": [grp(1)]});
    member
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    member
}

fn payment(n: u128, of: u128, fields: Json) -> Json {
    let mut payment = json!({"type": "payment", "id": id::<bursar_domain::ids::kind::Payment>(n), "organizationId": org(1),
        "memberId": mem(of), "amount": "10.00", "groupId": grp(1)});
    payment
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    payment
}

fn to_group(n: u128, fields: Json) -> Json {
    let mut reminder = json!({"type": "reminder", "id": rem(n), "organizationId": org(1), "groupId": grp(1), "method": "email",
        "subject": "S", "body": "B", "scheduledAt": soon()});
    reminder
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    reminder
}

#[test]
fn who_is_left_out_is_told_why() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(0);
        records.extend([
            member(1, json!({"phone": "+1 202 555 0101"})),
            member(2, json!({"phone": "030 1234567"})),
            member(3, json!({})),
            member(4, json!({"isActive": false})),
            payment(1, 1, json!({"description": "May", "paidToDate": "2.50", "status": "partially_paid", "dueDate": "2026-05-01"})),
            payment(2, 1, json!({"status": "failed"})),
            payment(3, 1, json!({"groupId": null, "amount": "99.00"})),
            payment(4, 2, json!({"status": "paid", "paidToDate": "10.00"})),
            payment(5, 3, json!({"status": "processing"})),
            to_group(2, json!({"method": "sms"})),
            to_group(3, json!({"includePaymentInfo": true})),
            to_group(4, json!({"targetMemberId": mem(4), "groupId": null})),
            to_group(5, json!({"targetMemberId": mem(4), "groupId": null, "isRecurring": true, "recurringIntervalDays": 7})),
        ]);
        import_now(db, &bundle(&records)).unwrap();
        let all = run(db, rem(1));
        assert_eq!(
            all,
            (
                Some(Outcome::Sent),
                vec!["F 1: queued".into(), "F 2: queued".into(), "F 3: queued".into()]
            )
        );
        let no_number = "skipped there is no telephone number with a country code";
        let sms = run(db, rem(2)).1;
        assert_eq!(
            sms,
            [
                "F 1: queued".to_owned(),
                format!("F 2: {no_number}"),
                format!("F 3: {no_number}")
            ]
        );
        let owing = run(db, rem(3)).1;
        assert_eq!(
            owing,
            [
                "F 1: queued",
                "F 2: skipped nothing is owed",
                "F 3: skipped nothing is owed"
            ]
        );
        let bodies = "SELECT COUNT(*) FROM outbox_messages WHERE owed = ?1";
        let owed = r#"{"currency":"USD","total":"17.50","lines":[{"what":"May","due":"2026-05-01","amount":"7.50"},{"what":"Payment","due":null,"amount":"10.00"}]}"#;
        assert_eq!(
            numbers(db, bodies, &[bursar_db::Value::Text(owed)]),
            [1],
            "the group's payments only, exactly"
        );

        // Nobody to write to: a one-off is over, a recurring one waits for its next run.
        assert_eq!(
            run(db, rem(4)),
            (
                Some(Outcome::Skipped),
                vec![": skipped the member is archived".into()]
            )
        );
        assert_eq!(reminder(db, rem(4)).status, ReminderStatus::Completed);
        assert_eq!(run(db, rem(5)).0, Some(Outcome::Skipped));
        let next = reminder(db, rem(5));
        assert_eq!(
            (next.status, next.scheduled_at),
            (ReminderStatus::Scheduled, Some(soon().plus_days(7)))
        );
    });
}

/// A clock that stepped back can name the time of an earlier run: the run still has a job of its own.
#[test]
fn two_runs_at_one_time_are_two_runs() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &bundle(&club(1))).unwrap();
        let send = |act: &mut Act<'_, '_>| reminders::send_now(act, rem(1));
        act(db, Identity::Operator, now(), send).unwrap();
        // As if it had failed, and an officer tries again at the very same time.
        crate::support::plant(db, "UPDATE reminders SET status = 'failed'", &[]);
        act(db, Identity::Operator, now(), |act| reminders::retry(act, rem(1))).unwrap();
        act(db, Identity::Operator, now(), send).unwrap();
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM outbox_jobs", &[]), [2]);
    });
}

/// Whether anybody of a large group owes is one question, not one for each member.
#[test]
fn a_large_group_without_debts_is_no_long_work() {
    both_engines(|test| {
        let db = &test.db;
        let members = if bursar_db::testing::is_full() {
            50_000
        } else {
            2_500
        };
        let mut records = club(members);
        records.push(to_group(2, json!({"includePaymentInfo": true})));
        import_now(db, &bundle(&records)).unwrap();
        let since = std::time::Instant::now();
        let send = |act: &mut Act<'_, '_>| reminders::send_now(act, rem(2));
        let (_, outcome) = act(db, Identity::Operator, now(), send).unwrap();
        assert_eq!(outcome, Outcome::Skipped);
        assert!(since.elapsed().as_secs() < 5, "{:?}", since.elapsed());
        let _: PaymentId = id(1);
    });
}

#[test]
fn an_imported_run_that_nobody_will_end_can_be_cancelled_or_sent_again() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(1);
        let sending = |n: u128, more: Json| {
            let mut line = json!({"type": "reminder", "id": rem(n), "organizationId": org(1), "groupId": grp(1), "method": "email",
                "status": "sending", "scheduledAt": "2026-11-01T00:00:00Z"});
            line.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            line
        };
        let weekly = json!({"isRecurring": true, "recurringIntervalDays": 7});
        records.extend([
            sending(2, json!({})),
            sending(3, json!({})),
            sending(4, weekly.clone()),
            sending(5, weekly),
        ]);
        import_now(db, &bundle(&records)).unwrap();
        let cancel = |id: ReminderId| {
            act(db, Identity::Operator, now(), move |act| {
                reminders::cancel(act, id)
            })
        };
        let retry = |id: ReminderId| {
            act(db, Identity::Operator, now(), move |act| {
                reminders::retry(act, id)
            })
        };
        for n in [2, 4] {
            let cancelled = cancel(rem(n)).unwrap();
            assert_eq!(cancelled.status, ReminderStatus::Cancelled);
            assert_eq!(cancelled.scheduled_at, Some(instant("2026-11-01T00:00:00Z")));
        }
        for n in [3, 5] {
            let again = retry(rem(n)).unwrap();
            assert_eq!(
                (again.status, again.scheduled_at, again.is_held),
                (ReminderStatus::Scheduled, Some(now()), false)
            );
        }
        // One that is really under way is left alone.
        act(db, Identity::Worker, soon(), |act| {
            reminders::run_due(act, rem(1))
        })
        .unwrap();
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sending);
        assert!(cancel(rem(1)).unwrap_err().to_string().contains("is sending"));
        assert!(
            retry(rem(1))
                .unwrap_err()
                .to_string()
                .contains("it is on its way")
        );
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Sending);
        assert!(problems(db).is_empty());
    });
}
