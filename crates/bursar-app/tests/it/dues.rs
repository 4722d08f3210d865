//! Dues as officers set them, see them coming, and raise them.

use bursar_app::dues::{self, NewDues, Preview, Raising};
use bursar_app::payments::{self, Every, NewPlan, PaymentChange};
use bursar_app::{AppError, Identity};
use bursar_db::testing::both_engines;
use bursar_db::{Db, DbError};
use bursar_domain::access::Role;
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::PaymentId;
use bursar_domain::{Date, Timestamp};
use serde_json::json;

use crate::outbox::{act, app, club, person};
use crate::support::{bundle, grp, import_now, instant, mem, now, numbers, org, pay, problems, record};

fn date(text: &str) -> Date {
    Date::parse(text).unwrap()
}

fn set(db: &Db, actor: Identity, dues: Option<NewDues>) -> Result<Group, AppError> {
    act(db, actor, now(), move |act| dues::set(act, grp(1), dues.as_ref()))
}

fn monthly(amount: &str, due: &str) -> Option<NewDues> {
    Some(NewDues {
        amount: amount.to_owned(),
        due: date(due),
        interval: Some(Interval::Monthly),
    })
}

fn preview(db: &Db, at: Timestamp) -> Preview {
    let seen =
        app(db, at).view::<_, AppError>(Identity::Operator, org(1), |view| dues::preview(view, grp(1)));
    seen.wait().unwrap()
}

#[test]
fn set_by_officers_and_by_the_rules() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &bundle(&club(2))).unwrap();
        let refused = |dues| set(db, Identity::Operator, dues).unwrap_err().to_string();
        assert!(refused(monthly("12.505", "2026-12-01")).starts_with("amountDue must be a decimal amount"));
        assert!(refused(monthly("0", "2026-12-01")).contains("greater than 0"));
        assert!(refused(monthly("10", "2026-11-14")).contains("must be today (2026-11-15) or later"));
        let viewer = person(db, "v@example.org", Role::Viewer);
        let forbidden = set(db, viewer, monthly("10", "2026-12-01"))
            .unwrap_err()
            .to_string();
        assert_eq!(
            forbidden,
            "only an editor or admin of the organization may set dues"
        );

        let group = set(db, Identity::Operator, monthly("10", "2026-12-31")).unwrap();
        assert_eq!(
            (group.due_date, group.due_anchor_day),
            (Some(date("2026-12-31")), Some(31))
        );
        let same = set(db, Identity::Operator, monthly("10.00", "2026-12-31")).unwrap();
        assert_eq!(same.stamps, group.stamps, "what is as it was does not move");
        let none = set(db, Identity::Operator, None).unwrap();
        assert_eq!((none.amount_due, none.is_recurring), (None, false));
        assert_eq!(preview(db, now()).periods, []);
        assert_eq!(
            numbers(
                db,
                "SELECT COUNT(*) FROM activity WHERE action IN ('dues.set', 'dues.clear')",
                &[]
            ),
            [2]
        );
        assert!(problems(db).is_empty());
    });
}

/// Which dues a payment is does not depend on its due date: a moved one is not raised again, and an instalment does not
/// stand for the dues of its day.
#[test]
fn moved_dues_and_instalments_neither_repeat_nor_replace_dues() {
    both_engines(|test| {
        let db = &test.db;
        import_now(db, &bundle(&club(2))).unwrap();
        set(db, Identity::Operator, monthly("10", "2026-11-15")).unwrap();
        let raise = |at: &str| {
            act(db, Identity::Operator, instant(at), |act| {
                dues::raise(act, grp(1), None)
            })
            .unwrap()
        };
        assert_eq!(raise("2026-11-15T12:00:00Z"), Raising::Period(2));
        let of = |member: [u8; 16]| {
            let sql = "SELECT id FROM payments WHERE member_id = ?1 ORDER BY id";
            let found = db.read::<_, DbError>(move |tx| {
                tx.rows(sql, &[bursar_db::Value::Bytes(&member)], |row| {
                    Ok(PaymentId::from_bytes(row.key_opt(0)?.unwrap()))
                })
            });
            found.wait().unwrap()
        };
        let (first, second) = (of(mem(1).to_bytes())[0], of(mem(2).to_bytes())[0]);
        let later = PaymentChange {
            due_date: Some(Some(date("2026-12-15"))),
            description: None,
        };
        act(db, Identity::Operator, now(), move |act| {
            payments::set(act, first, &later)
        })
        .unwrap();
        let plan = NewPlan {
            into: 2,
            every: Every::Month,
            first: None,
        };
        act(db, Identity::Operator, now(), move |act| {
            payments::plan(act, second, &plan)
        })
        .unwrap();
        // Due on 2026-12-15 too now: neither is the dues of that day.
        assert_eq!(raise("2026-12-15T12:00:00Z"), Raising::Period(2));
        assert_eq!(of(mem(1).to_bytes()).len(), 2);
        assert_eq!(of(mem(2).to_bytes()).len(), 3);
        assert_eq!(raise("2026-12-15T13:00:00Z"), Raising::Nothing);
        assert!(problems(db).is_empty());
    });
}

#[test]
fn a_preview_says_what_raising_does() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(3);
        records.push(json!({"type": "payment", "id": pay(1), "organizationId": org(1), "memberId": mem(2), "groupId": grp(1),
            "amount": "10.00", "dueDate": "2026-12-31"}));
        import_now(db, &bundle(&records)).unwrap();
        set(db, Identity::Operator, monthly("10", "2026-11-30")).unwrap();
        let next = preview(db, now());
        assert_eq!(
            (
                next.periods.len(),
                next.periods[0].is_due,
                next.count,
                next.total.minor
            ),
            (1, false, 3, 3_000)
        );
        assert!(
            dues::nothing_due(&next)
                .to_string()
                .contains("fall due on 2026-11-30")
        );

        // After downtime, three periods; one member was charged for the second by hand.
        let at = instant("2027-01-31T10:00:00Z");
        let late = preview(db, at);
        let told: Vec<(String, i64, i64)> = late
            .periods
            .iter()
            .map(|p| (p.due_date.to_string(), p.count, p.total.minor))
            .collect();
        assert_eq!(
            told,
            [
                ("2026-11-30".to_owned(), 3, 3_000),
                ("2026-12-30".to_owned(), 3, 3_000),
                ("2027-01-30".to_owned(), 3, 3_000)
            ]
        );
        let raise = || act(db, Identity::Operator, at, |act| dues::raise(act, grp(1), None)).unwrap();
        assert_eq!(
            [raise(), raise(), raise(), raise()],
            [
                Raising::Period(3),
                Raising::Period(3),
                Raising::Period(3),
                Raising::Nothing
            ]
        );
        let raised = numbers(
            db,
            "SELECT COUNT(*) FROM payments WHERE description LIKE 'One, due %'",
            &[],
        );
        assert_eq!(raised, [late.count]);
        assert_eq!(preview(db, at).periods[0].due_date, date("2027-02-28"));
        assert!(problems(db).is_empty());
    });
}

#[test]
fn what_was_charged_by_hand_counts_as_raised() {
    both_engines(|test| {
        let db = &test.db;
        let mut records = club(3);
        for (n, member, status, paid) in [(1, 1, "paid", "10.00"), (2, 2, "cancelled", "0.00")] {
            records.push(json!({"type": "payment", "id": pay(n), "organizationId": org(1), "memberId": mem(member), "groupId": grp(1),
                "amount": "10.00", "dueDate": "2026-11-15", "status": status, "paidToDate": paid}));
        }
        import_now(db, &bundle(&records)).unwrap();
        let once = NewDues {
            amount: "10".to_owned(),
            due: date("2026-11-15"),
            interval: None,
        };
        set(db, Identity::Operator, Some(once)).unwrap();
        let preview = preview(db, now());
        assert_eq!(
            (preview.count, preview.periods[0].members[0].member_id),
            (1, mem(3))
        );
        let raise = || act(db, Identity::Worker, now(), |act| dues::raise(act, grp(1), None)).unwrap();
        let before = record(db, grp(1));
        assert_eq!([raise(), raise()], [Raising::Period(1), Raising::Nothing]);
        assert_eq!(record(db, grp(1)), before, "a date that stays moves nothing");
        assert_eq!(numbers(db, "SELECT COUNT(*) FROM payments", &[]), [3]);
    });
}
