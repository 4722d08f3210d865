//! Reminders as officers keep them: scheduled, called off, sent again; and who is left out, and why.

use bursar_app::outbox::Attempt;
use bursar_app::preview::{self, Preview};
use bursar_app::reminders::{self, NewReminder};
use bursar_app::{Act, AppError, Identity, messages};
use bursar_db::Db;
use bursar_db::testing::both_engines;
use bursar_domain::ids::{PaymentId, ReminderId};
use bursar_domain::reminder::{Audience, Method, Outcome, ReminderStatus};
use serde_json::{Value as Json, json};

use crate::outbox::{act, app, claim, club, end, expand, reminder, soon};
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
                    body: Some("a".repeat(1_595)),
                    ..new(Audience::Group(grp(1)))
                },
                "characters for an SMS (1600 with the organization's name), got 1595",
            ),
            (
                NewReminder {
                    body: Some("Dear {firstname}".into()),
                    ..new(Audience::Group(grp(1)))
                },
                "body has the unknown placeholder {firstname}; known are {firstName}",
            ),
            (
                NewReminder {
                    subject: Some("Pay {owed}".into()),
                    ..new(Audience::Group(grp(1)))
                },
                "subject must not have {owed} unless the reminder includes payment info",
            ),
            (
                NewReminder {
                    body: Some("{payText}".into()),
                    ..new(Audience::Group(grp(1)))
                },
                "body has {payText}, but the organization has no text on how to pay",
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
        let message = preview(db, rem(3)).message.unwrap();
        assert!(
            message.text.contains("Total owed: 17.50 USD"),
            "the group's payments only: {}",
            message.text
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

fn preview(db: &Db, id: ReminderId) -> Preview {
    let seen = app(db, soon())
        .view::<_, AppError>(Identity::Operator, org(1), move |view| preview::preview(view, id));
    seen.wait().unwrap()
}

/// Bob pays for his children. Cid has a payer who is archived, and Dan one without an address.
#[test]
fn a_household_gets_one_message() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(0);
        records[0]["payText"] = json!("To account 4711.");
        let payer = |n: u128| json!({"payerId": mem(n)});
        records.extend([
            member(1, json!({"firstName": "Kim", "payerId": mem(9), "email": null})),
            member(2, json!({"firstName": "Lea", "payerId": mem(9)})),
            member(3, payer(7)),
            member(4, payer(8)),
            member(5, json!({})),
            member(7, json!({"isActive": false})),
            member(8, json!({"email": null, "groups": []})),
            member(
                9,
                json!({"firstName": "Bob", "groups": [grp(2)], "phone": "+1 202 555 0109"}),
            ),
            json!({"type": "group", "id": grp(2), "organizationId": org(1), "name": "Parents"}),
            payment(
                1,
                1,
                json!({"description": "Kids' dues", "dueDate": "2026-05-01"}),
            ),
            payment(
                2,
                2,
                json!({"description": "Kids' dues", "dueDate": "2027-05-01"}),
            ),
            payment(3, 9, json!({"description": "Adults", "groupId": null})),
            payment(4, 4, json!({})),
            to_group(2, json!({"includePaymentInfo": true, "body": null})),
            to_group(
                3,
                json!({"includePaymentInfo": true, "groupId": null, "targetMemberId": mem(9)}),
            ),
            to_group(
                4,
                json!({"includePaymentInfo": true, "groupId": null, "targetMemberId": mem(1),
                "body": "Hi {firstName}, {owed}, {overdue}, {dueDate}, {reference}. {nobody}"}),
            ),
            to_group(5, json!({"method": "sms", "includePaymentInfo": true})),
            to_group(6, json!({"groupId": grp(2), "includePaymentInfo": true})),
        ]);
        import_now(db, &bundle(&records)).unwrap();

        // An announcement: one message to Bob for both children, and one to each of the others.
        let all = preview(db, rem(1));
        let reached: Vec<(&str, &[String])> = all
            .recipients
            .iter()
            .map(|r| (r.name.as_str(), &r.paying_for[..]))
            .collect();
        assert_eq!(
            reached,
            [
                ("Bob 9", &["Kim 1".to_owned(), "Lea 2".to_owned()][..]),
                ("F 3", &[]),
                ("F 5", &[])
            ]
        );
        let skipped: Vec<(&str, &str)> = all
            .skipped
            .iter()
            .map(|s| (s.name.as_str(), s.reason.as_str()))
            .collect();
        assert_eq!(skipped, [("F 4", "F 8 pays, and there is no e-mail address")]);
        let text = all.message.unwrap().text;
        assert!(
            text.starts_with("Dear Bob 9,\n\nThis message is about Kim 1 and Lea 2.\n\n"),
            "{text}"
        );
        let (outcome, told) = run(db, rem(1));
        assert_eq!(outcome, Some(Outcome::Sent));
        assert_eq!(
            told,
            [
                "Bob 9: queued",
                "F 3: queued",
                "F 5: queued",
                "F 4: skipped F 8 pays, and there is no e-mail address"
            ]
        );

        // What the group is owed: whose charge is whose, and what is overdue apart from what is not due.
        let owing = preview(db, rem(2));
        assert_eq!(owing.recipients.len(), 1);
        assert_eq!(owing.recipients[0].owed.as_deref(), Some("20.00 USD"));
        let text = without_references(&owing.message.unwrap().text);
        assert_eq!(
            text,
            "Dear Bob 9,\n\nThis is a reminder of your open payments to Club.\n\n\
             Overdue:\n- Kids' dues for Kim 1 (due 2026-05-01): 10.00 USD\n  Reference RF…\n\n\
             Not due yet:\n- Kids' dues for Lea 2 (due 2027-05-01): 10.00 USD\n  Reference RF…\n\n\
             To pay now: 10.00 USD\nTotal owed: 20.00 USD\n\n\
             How to pay:\nTo account 4711.\n\
             Please give the reference RF… to pay everything at once, or the reference of a single payment.\n\n\
             -- \nClub\nReply to this e-mail to reach us.\n"
        );

        // A reminder to the payer is about the whole household; one to a child goes to the payer.
        let payer = preview(db, rem(3));
        assert_eq!(payer.recipients[0].owed.as_deref(), Some("30.00 USD"));
        let child = preview(db, rem(4));
        assert_eq!(child.recipients[0].name, "Bob 9");
        let text = without_references(&child.message.unwrap().text);
        assert!(
            text.starts_with("Hi Bob, 10.00 USD, 10.00 USD, 2026-05-01, RF…. {nobody}\n\nOverdue:\n"),
            "{text}"
        );
        let sms = preview(db, rem(5)).message.unwrap();
        assert_eq!(
            without_references(&sms.text),
            "Club: B\n\n- Kids' dues for Kim 1 (due 2026-05-01): 10.00 USD (overdue)\n\
             - Kids' dues for Lea 2 (due 2027-05-01): 10.00 USD\n\
             Total owed: 20.00 USD, of which 10.00 USD is overdue\nReference RF…\n\nTo account 4711."
        );
        // The household's debts in another group do not count.
        assert_eq!(preview(db, rem(6)).recipients, []);
        assert!(run(db, rem(5)).1.starts_with(&["Bob 9: queued".to_owned()]));
        assert_eq!(run(db, rem(6)).0, Some(Outcome::Skipped));
    });
}

/// References depend on the order in which rows were made.
fn without_references(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("RF") {
        out += &rest[..at];
        out += "RF…";
        rest = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit());
        while let Some(more) = rest
            .strip_prefix(' ')
            .filter(|more| more.starts_with(|c: char| c.is_ascii_digit()))
        {
            rest = more.trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }
    out + rest
}

#[test]
fn a_test_goes_to_the_officer_and_leaves_the_reminder_alone() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &bundle(&club(1))).unwrap();
        let test = |to: &'static str| {
            act(db, Identity::Operator, now(), move |act| {
                preview::test(act, rem(1), to)
            })
        };
        let refused = test("nobody").unwrap_err().to_string();
        assert!(refused.starts_with("to "), "{refused}");
        test("kasse@example.org").unwrap();
        test("kasse@example.org").unwrap();
        expand(db);
        let claimed = claim(db, soon(), 10);
        assert_eq!(claimed.len(), 2);
        let message = &claimed[0].message;
        assert_eq!(message.address, "kasse@example.org");
        assert!(message.subject.starts_with("[Test] "), "{}", message.subject);
        end(db, soon(), &claimed[0], Attempt::Delivered("250".into()));
        assert_eq!(reminder(db, rem(1)).status, ReminderStatus::Scheduled);
        assert!(problems(db).is_empty());
        // The real run is not affected.
        assert_eq!(run(db, rem(1)).0, Some(Outcome::Sent));
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
        let mut records = club(2_500);
        records.push(to_group(2, json!({"includePaymentInfo": true})));
        import_now(db, &bundle(&records)).unwrap();
        let before = db.stats().round_trips;
        let send = |act: &mut Act<'_, '_>| reminders::send_now(act, rem(2));
        let (_, outcome) = act(db, Identity::Operator, now(), send).unwrap();
        assert_eq!(outcome, Outcome::Skipped);
        // Of 200 members it is noted why they got nothing. SQLite has no round trips to count.
        let questions = db.stats().round_trips - before;
        assert!(questions < 1_000, "{questions} round trips for 2,500 members");
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
