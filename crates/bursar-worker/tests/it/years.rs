//! Two years in a few seconds: what recurs comes at its time, exactly as often as it should, whatever happens to the
//! worker in between.

use std::collections::BTreeMap;

use bursar_app::dues::{self, NewDues};
use bursar_app::testing::{DbError, TestDb, Value, both_engines, is_full};
use bursar_app::tokens::{self, Holder, NewToken};
use bursar_app::{reminders, roles};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::group::Interval;
use bursar_domain::ids::{PaymentId, ReminderId, TokenId};
use bursar_domain::message::MessageState;
use bursar_domain::reminder::{Audience, Method, ReminderStatus};
use bursar_domain::token::ENTROPY_BYTES;
use bursar_domain::{Date, Timestamp};
use bursar_worker::{Setup, Worker};
use serde_json::json;

use crate::office::{GROUP, ORG, Office, club, drain, instant, member};

fn date(text: &str) -> Date {
    Date::parse(text).unwrap()
}

/// The due dates of the group's payments, with how many there are of each.
pub(crate) fn charges(office: &Office<'_>) -> BTreeMap<String, i64> {
    let rows: Result<Vec<(String, i64)>, DbError> = office.db().survey(|tx| {
        tx.rows(
            "SELECT due_date, COUNT(*) FROM payments WHERE organization_id = ?1 AND due_date IS NOT NULL GROUP BY due_date",
            &[Value::Bytes(&ORG.to_bytes())],
            |row| Ok((row.text(0)?.to_owned(), row.int(1)?)),
        )
    });
    rows.unwrap().into_iter().collect()
}

pub(crate) fn set_dues(office: &Office<'_>, due: &'static str, interval: Interval) {
    office.act(move |act| {
        let new = NewDues {
            amount: "12.50".to_owned(),
            due: date(due),
            interval: Some(interval),
        };
        dues::set(act, GROUP, Some(&new))
    });
}

/// A worker looks in now and then: every few hours, with a new worker each week and two months of silence.
fn live_through(office: &Office<'_>, until: Timestamp, mut each_day: impl FnMut(&Office<'_>)) {
    let mut worker = office.worker();
    let mut day = 0;
    while office.now() < until {
        day += 1;
        if day % 7 == 0 {
            worker = office.worker();
        }
        // Away from the 100th to the 160th day.
        if !(100..160).contains(&day) {
            drain(&mut worker);
        }
        each_day(office);
        office.later(86_400 - 3_600 + 7 * (day % 9));
    }
    drain(&mut worker);
}

#[test]
fn monthly_dues_on_the_31st_over_a_leap_year() {
    both_engines(|test| {
        let office = Office::open(test, "2027-07-01T06:00:00Z", &club(3));
        set_dues(&office, "2027-07-31", Interval::Monthly);
        live_through(&office, instant("2029-07-01T06:00:00Z"), |_| {});
        let days = [
            "2027-07-31",
            "2027-08-31",
            "2027-09-30",
            "2027-10-31",
            "2027-11-30",
            "2027-12-31",
            "2028-01-31",
            "2028-02-29",
            "2028-03-31",
            "2028-04-30",
            "2028-05-31",
            "2028-06-30",
            "2028-07-31",
            "2028-08-31",
            "2028-09-30",
            "2028-10-31",
            "2028-11-30",
            "2028-12-31",
            "2029-01-31",
            "2029-02-28",
            "2029-03-31",
            "2029-04-30",
            "2029-05-31",
            "2029-06-30",
        ];
        let expected: BTreeMap<String, i64> = days.iter().map(|day| ((*day).to_owned(), 3)).collect();
        assert_eq!(charges(&office), expected);
        let owed =
            office.number("SELECT CAST(SUM(amount) AS BIGINT) FROM payments WHERE organization_id = ?1");
        assert_eq!(owed, 24 * 3 * 1_250);
        let logged = office.number(
            "SELECT CAST(SUM(count) AS BIGINT) FROM activity WHERE organization_id = ?1 AND action = 'dues.raise'",
        );
        assert_eq!(logged, 24 * 3);
    });
}

#[test]
fn every_interval_comes_as_often_as_it_should() {
    for (interval, periods) in [
        (Interval::Weekly, 105),
        (Interval::Quarterly, 8),
        (Interval::Semiannual, 4),
        (Interval::Annual, 2),
    ] {
        let fresh = TestDb::sqlite();
        let office = Office::open(&fresh, "2028-02-29T06:00:00Z", &club(1));
        set_dues(&office, "2028-02-29", interval);
        // Nobody works for two years; then every period that was missed is raised at once.
        office.set(instant("2030-02-27T23:59:59Z"));
        drain(&mut office.worker());
        let charges = charges(&office);
        assert_eq!(charges.len(), periods, "{interval}: {charges:?}");
        assert!(charges.values().all(|count| *count == 1));
        if interval == Interval::Annual {
            assert!(charges.contains_key("2029-02-28"), "{charges:?}");
            // The leap day comes back.
            office.set(instant("2032-03-01T00:00:00Z"));
            drain(&mut office.worker());
            assert!(self::charges(&office).contains_key("2032-02-29"));
        }
    }
}

#[test]
fn who_is_charged_from_when() {
    both_engines(|test| {
        let mut records = club(2);
        // Charged by hand already, for the first due date.
        records.push(json!({"type": "payment", "id": PaymentId::from_bits(1), "organizationId": ORG, "memberId": member(1),
            "groupId": GROUP, "description": "by hand", "amount": "12.50", "dueDate": "2026-12-01", "status": "cancelled"}));
        let office = Office::open(test, "2026-11-15T12:00:00Z", &records);
        set_dues(&office, "2026-12-01", Interval::Monthly);
        let mut worker = office.worker();
        drain(&mut worker);
        assert_eq!(
            charges(&office),
            BTreeMap::from([("2026-12-01".to_owned(), 1)]),
            "not before the day"
        );

        // The worker does not run until the 5th; somebody joins on the 2nd, and one is archived.
        office.set(instant("2026-12-02T00:00:00Z"));
        office.import(&[json!({"type": "member", "id": member(3), "organizationId": ORG, "firstName": "New", "lastName": "One",
            "email": "n@example.org", "groups": [GROUP]})]);
        office.set(instant("2026-12-05T00:00:00Z"));
        drain(&mut worker);
        let members = office
            .number("SELECT COUNT(*) FROM payments WHERE organization_id = ?1 AND due_date = '2026-12-01'");
        assert_eq!(
            members, 2,
            "the one by hand and the other one; whoever joins later pays from the next period on"
        );
        office.set(instant("2027-01-01T00:00:00Z"));
        drain(&mut worker);
        assert_eq!(charges(&office)["2027-01-01"], 3);
    });
}

#[test]
fn an_import_of_the_past_starts_nothing() {
    both_engines(|test| {
        let mut records = club(2);
        records[1] = json!({"type": "group", "id": GROUP, "organizationId": ORG, "name": "Crew", "amountDue": "10.00",
            "dueDate": "2026-11-14", "isRecurring": true, "recurringInterval": "monthly"});
        let reminder = ReminderId::from_bits(1);
        records.push(json!({"type": "reminder", "id": reminder, "organizationId": ORG, "groupId": GROUP, "method": "email",
            "scheduledAt": "2026-11-15T11:59:59Z", "isRecurring": true, "recurringIntervalDays": 7}));
        records.push(json!({"type": "reminder", "id": ReminderId::from_bits(2), "organizationId": ORG, "groupId": GROUP,
            "method": "email", "status": "sending", "scheduledAt": "2026-11-01T00:00:00Z"}));
        let office = Office::open(test, "2026-11-15T12:00:00Z", &records);
        live_through(&office, instant("2027-11-15T12:00:00Z"), |_| {});
        let charged = charges(&office);
        let first = charged.first_key_value().unwrap();
        assert_eq!(
            (first.0.as_str(), charged.len()),
            ("2026-12-14", 12),
            "the past date is skipped, and the series goes on"
        );
        assert_eq!(office.messages().len(), 0);
        assert_eq!(office.reminder(reminder).status, ReminderStatus::Scheduled);
        // It waits for an officer: from then on it is like any other.
        office.act(move |act| reminders::send_now(act, reminder));
        drain(&mut office.worker());
        office.later(7 * 86_400);
        drain(&mut office.worker());
        assert_eq!(office.states(), "4 written");
    });
}

#[test]
fn a_recurring_reminder_neither_drifts_nor_bursts() {
    both_engines(|test| {
        let office = Office::open(test, "2027-01-04T09:00:00Z", &club(2));
        let id = office.schedule(Audience::Group(GROUP), Method::Email, Some(7));
        live_through(&office, instant("2029-01-01T09:00:00Z"), |_| {});
        let mut runs: BTreeMap<Timestamp, i64> = BTreeMap::new();
        for message in office.messages() {
            assert_eq!(message.state.as_str(), "written");
            *runs.entry(message.run_at).or_default() += 1;
        }
        assert!(runs.values().all(|count| *count == 2), "each run once to each");
        let start = instant("2027-01-04T09:00:00Z");
        let weeks: Vec<i64> = runs
            .keys()
            .map(|run| {
                let micros = run.micros() - start.micros();
                assert_eq!(micros % (7 * 86_400_000_000), 0, "{run} is on the grid");
                micros / (7 * 86_400_000_000)
            })
            .collect();
        // 105 Mondays, without those of the silence but for the first, which was made up for after it.
        let missing: Vec<i64> = (0..=104).filter(|week| !weeks.contains(week)).collect();
        assert_eq!(missing, [15, 16, 17, 18, 19, 20, 21], "{weeks:?}");
        assert_eq!(office.reminder(id).status, ReminderStatus::Scheduled);
    });
}

#[test]
fn a_large_group_is_written_to_in_bounded_steps() {
    let members = if is_full() { 100_000 } else { 2_500 };
    let test = TestDb::sqlite();
    let office = Office::open(&test, "2026-11-15T12:00:00Z", &club(members));
    set_dues(&office, "2026-11-15", Interval::Annual);
    office.remind();
    let mut worker = office.worker();
    let mut most = 0;
    let made = |office: &Office<'_>| {
        office.number("SELECT COUNT(*) FROM outbox_messages WHERE organization_id = ?1")
    };
    let before = made(&office);
    assert_eq!(before, 0);
    let mut seen = 0;
    for _ in 0..members {
        worker.step().unwrap();
        let now = made(&office);
        most = most.max(now - seen);
        seen = now;
        if i128::from(seen) == i128::try_from(members).unwrap() {
            break;
        }
    }
    assert_eq!(i128::from(seen), i128::try_from(members).unwrap());
    assert!(most <= 500, "{most} in one step");
    assert_eq!(
        i128::from(charges(&office)["2026-11-15"]),
        i128::try_from(members).unwrap()
    );
}

/// The days of the notices that were made for a token, by their headers, and to whom.
fn notices(office: &Office<'_>, token: TokenId) -> Vec<(i64, String)> {
    let rows: Result<Vec<(String, String)>, DbError> = office.db().survey(|tx| {
        tx.rows(
            "SELECT m.headers, m.address FROM outbox_messages m JOIN outbox_jobs j ON j.organization_id = m.organization_id \
             AND j.id = m.job_id WHERE j.organization_id = ?1 AND j.kind = 'notice' AND j.subject_id = ?2 ORDER BY m.id",
            &[Value::Bytes(&ORG.to_bytes()), Value::Bytes(&token.to_bytes())],
            |row| Ok((row.text(0)?.to_owned(), row.text(1)?.to_owned())),
        )
    });
    let mut told: Vec<(i64, String)> = rows
        .unwrap()
        .into_iter()
        .map(|(headers, address)| {
            let days = headers.rsplit_once("days=").unwrap().1.parse().unwrap();
            assert_eq!(
                headers,
                format!("X-Bursar-Notice: token-expiry; token={token}; days={days}")
            );
            (days, address)
        })
        .collect();
    told.sort_by_key(|(days, address)| (-days, address.clone()));
    told
}

fn entropy() -> [u8; ENTROPY_BYTES] {
    let mut bytes = [0; ENTROPY_BYTES];
    fastrand::Rng::with_seed(bursar_testing::seed()).fill(&mut bytes);
    bytes
}

/// Tokens of every kind and fate, lived through day by day with a worker that comes and goes.
#[test]
fn notices_of_tokens_that_expire() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(0));
        for (email, role) in [
            ("owner@example.org", Role::Editor),
            ("a@example.org", Role::Admin),
            ("b@example.org", Role::Admin),
        ] {
            office.act(move |act| roles::set(act, email, role));
        }
        let create = |holder: Holder, days: i64| {
            let made = office.act(move |act| {
                let new = NewToken {
                    name: Some("sync".to_owned()),
                    holder: holder.clone(),
                    scopes: ScopeSet::of(&[Scope::MembersRead]),
                    days: Some(days),
                };
                tokens::create(act, &new, &entropy())
            });
            made.record.id
        };
        let personal = |days| create(Holder::Person("owner@example.org".to_owned()), days);
        let service = |days| create(Holder::Service(Role::Viewer), days);
        let (ordinary, short, shorter, exact) = (personal(90), personal(13), personal(2), personal(14));
        let (shared, revoked, rotated, told_then_revoked) =
            (service(60), personal(60), service(60), personal(60));
        office.act(move |act| tokens::revoke(act, revoked));
        let rotation = office.act(move |act| tokens::rotate(act, rotated, Some(30), &entropy()));
        let successor = rotation.issued.record.id;
        let mut is_told = false;
        live_through(&office, instant("2027-03-01T12:00:00Z"), |office| {
            if !is_told && notices(office, told_then_revoked).len() == 1 {
                is_told = true;
                office.act(move |act| tokens::revoke(act, told_then_revoked));
            }
        });
        let owner = |days: &[i64]| -> Vec<(i64, String)> {
            days.iter()
                .map(|days| (*days, "owner@example.org".to_owned()))
                .collect()
        };
        let admins = |days: &[i64]| -> Vec<(i64, String)> {
            let both = |days: &i64| {
                [
                    (*days, "a@example.org".to_owned()),
                    (*days, "b@example.org".to_owned()),
                ]
            };
            days.iter().flat_map(both).collect()
        };
        assert_eq!(notices(&office, ordinary), owner(&[14, 3]));
        assert_eq!(
            notices(&office, exact),
            owner(&[14, 3]),
            "it fell due as the token was made, not before"
        );
        assert_eq!(notices(&office, short), owner(&[3]));
        assert_eq!(notices(&office, shorter), owner(&[]));
        assert_eq!(notices(&office, revoked), owner(&[]));
        assert_eq!(notices(&office, told_then_revoked), owner(&[14]));
        assert_eq!(notices(&office, rotated), owner(&[]));
        assert_eq!(notices(&office, shared), admins(&[14, 3]));
        assert_eq!(notices(&office, successor), admins(&[14, 3]));
        assert!(
            office
                .messages()
                .iter()
                .all(|message| message.state == MessageState::Written)
        );
    });
}

/// When both are due after a silence, only the 3-day one is sent.
#[test]
fn after_a_silence_one_notice_is_enough() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(0));
        let token = office.service_token(90);
        office.later(88 * 86_400);
        drain(&mut office.worker());
        // The organization has no admin: that is written down, and not lost.
        let messages = office.messages();
        assert_eq!(messages.len(), 1);
        assert_eq!(
            (messages[0].state.as_str(), messages[0].token_id),
            ("skipped", Some(token))
        );
        assert_eq!(
            messages[0].detail.as_deref(),
            Some("the organization has no admin to write to")
        );
        assert_eq!(messages[0].run_at, office.now().plus_days(-1));
    });
}

/// Two workers on one database at the same time: each message is sent by one of them.
#[test]
fn two_workers_share_the_work() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(200));
        set_dues(&office, "2026-11-15", Interval::Annual);
        let id = office.remind();
        let sink = bursar_testing::sink::Sink::kind();
        let mut one = office.mailer(&sink.url());
        let again = test.open_again().unwrap();
        let mut two = Worker::new(Setup {
            app: office.door(again.clone()),
            ..office.mailing(&sink.url())
        });
        std::thread::scope(|scope| {
            scope.spawn(|| drain(&mut one));
            scope.spawn(|| drain(&mut two));
        });
        drain(&mut one);
        let mut to: Vec<String> = sink.mails().into_iter().flat_map(|mail| mail.to).collect();
        assert_eq!(to.len(), 200);
        to.sort();
        to.dedup();
        assert_eq!(to.len(), 200, "nobody twice");
        assert_eq!(office.states(), "200 delivered");
        assert_eq!(office.reminder(id).status, ReminderStatus::Sent);
        assert_eq!(charges(&office)["2026-11-15"], 200);
        again.shutdown();
    });
}

/// After its retention a message keeps its record, and loses what it said and where it went.
#[test]
fn what_ended_is_forgotten_in_time() {
    both_engines(|test| {
        let office = Office::open(test, "2026-11-15T12:00:00Z", &club(2));
        office.remind();
        drain(&mut office.worker());
        let forget = |office: &Office<'_>| {
            let before = office.now().plus_days(-90);
            let forgotten: Result<u64, DbError> = office
                .db()
                .write(ORG.to_bytes(), move |tx| {
                    bursar_app::testing::messages::forget(tx, before)
                })
                .wait();
            forgotten.unwrap()
        };
        office.later(90 * 86_400 - 1);
        assert_eq!(forget(&office), 0);
        office.later(2);
        assert_eq!((forget(&office), forget(&office)), (2, 0));
        for message in office.messages() {
            assert_eq!((message.address, message.subject), (None, None));
            assert_eq!(
                (message.state.as_str(), message.name.is_some()),
                ("written", true)
            );
            assert!(message.detail.unwrap().starts_with("written to msg_"));
        }
        let kept = office.number(
            "SELECT COUNT(*) FROM outbox_messages WHERE organization_id = ?1 AND (body IS NOT NULL OR headers IS NOT NULL OR owed IS NOT NULL)",
        );
        assert_eq!(kept, 0);
    });
}
