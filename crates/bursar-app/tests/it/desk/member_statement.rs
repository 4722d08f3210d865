//! A member's statement agrees with the journal, whatever the period, on both engines.

use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::member_statement::{self, MemberStatement};
use bursar_app::payments::Adjustment;
use bursar_app::statement::Standing;
use bursar_domain::member::MemberChange;
use bursar_domain::money::Money;

use super::*;

fn day(text: &str) -> Date {
    Date::parse(text).unwrap()
}

impl Desk {
    fn statement(&self, member: MemberId, from: &str, until: &str) -> MemberStatement {
        let days = (Some(day(from)), Some(day(until)));
        self.look(move |view| member_statement::read(view, member, days))
            .unwrap()
    }

    fn owe(&self, member: MemberId, amount: &'static str, what: &'static str, due: &'static str) -> Payment {
        let new = NewCharges {
            debtor: Debtor::Member(member),
            amount: Some(amount.into()),
            description: what.into(),
            due_date: Some(day(due)),
            category: None,
            again: false,
        };
        self.act(move |act| payments::raise(act, &new, None))
            .payments
            .remove(0)
    }

    fn money(&self, payer: MemberId, amount: &'static str, date: &'static str) {
        let new = NewReceipt {
            amount: amount.into(),
            method: Paid::Transfer,
            date: Some(day(date)),
            account: None,
            payer: Some(payer),
            payer_name: None,
            reference: Some("thanks".into()),
            payments: Vec::new(),
            campaign: None,
            income: None,
            again: false,
        };
        self.act(move |act| receipts::record(act, &new));
    }
}

fn told(statement: &MemberStatement) -> Vec<String> {
    let line = |line: &member_statement::Line| {
        format!(
            "{} {} +{} -{} ={}",
            line.date,
            line.told(),
            line.charged,
            line.credited,
            line.balance
        )
    };
    statement.lines.iter().map(line).collect()
}

#[test]
fn a_household_has_one_statement_and_every_period_adds_up() {
    both_engines(|test| {
        let desk = Desk::open(test, 31, Timestamp::parse("2026-11-15T12:00:00Z").unwrap());
        let (ann, kim) = (desk.member("Ann", &[]).id, desk.member("Kim", &[]).id);
        desk.act(move |act| {
            let change = MemberChange {
                payer_id: Some(Some(ann)),
                ..MemberChange::default()
            };
            members::change(act, kim, &change)
        });
        desk.owe(ann, "100.00", "Dues 2025", "2025-12-01");
        desk.owe(kim, "40.00", "Juniors", "2026-03-01");
        let boat = desk.owe(ann, "30.00", "Boat", "2026-05-01");
        desk.money(ann, "120.00", "2026-04-10");
        desk.act(move |act| payments::adjust(act, boat.id, "25.00", Adjustment::Discount, "helped"));
        desk.money(ann, "60.00", "2026-11-10");
        desk.owe(kim, "50.00", "Camp", "2026-12-24");

        let all = desk.statement(ann, "2025-01-01", "2026-12-31");
        assert_eq!(
            told(&all),
            [
                "2025-12-01 Dues 2025 +100.00 -0.00 =100.00",
                "2026-03-01 Juniors (Kim Test) +40.00 -0.00 =140.00",
                "2026-04-10 Payment received: Dues 2025, Juniors (Kim Test) +0.00 -120.00 =20.00",
                "2026-05-01 Boat +30.00 -0.00 =50.00",
                "2026-11-10 Payment received: Juniors, Boat (Kim Test) +0.00 -60.00 =-10.00",
                "2026-11-15 Discount: Boat +0.00 -5.00 =-15.00",
                "2026-11-15 Camp (Kim Test) +50.00 -0.00 =35.00",
                "2026-11-15 Credit used: Camp (Kim Test) +0.00 -0.00 =35.00",
            ]
        );
        assert_eq!(
            (
                all.charged.to_string(),
                all.credited.to_string(),
                all.closing.to_string()
            ),
            ("220.00".into(), "185.00".into(), "35.00".into())
        );
        let open: Vec<(&str, Option<&str>, Standing, String)> = all
            .open
            .iter()
            .map(|open| {
                (
                    open.description.as_str(),
                    open.member.as_deref(),
                    open.standing,
                    open.open.to_string(),
                )
            })
            .collect();
        assert_eq!(
            open,
            [("Camp", Some("Kim Test"), Standing::Overdue, "35.00".to_owned())]
        );
        assert_eq!(all.household[0].name, "Kim Test");

        // Each period begins where the one before ended.
        let mut opening = Money::zero(Currency::USD);
        for (from, until) in [
            ("2025-01-01", "2025-12-31"),
            ("2026-01-01", "2026-04-09"),
            ("2026-04-10", "2026-11-14"),
            ("2026-11-15", "2026-11-15"),
        ] {
            let part = desk.statement(ann, from, until);
            assert_eq!(part.opening, opening, "{from}");
            assert_eq!(
                part.closing.minor,
                part.opening.minor + part.charged.minor - part.credited.minor,
                "{from}"
            );
            let open: i64 = part.open.iter().map(|open| open.open.minor).sum();
            assert_eq!(part.closing.minor, open - part.credit.minor, "{from}");
            opening = part.closing;
        }
        let in_november = desk.statement(ann, "2026-11-01", "2026-11-14");
        assert_eq!(in_november.credit.to_string(), "15.00");

        // Kim's own statement has her part, and goes to Ann.
        let own = desk.statement(kim, "2025-01-01", "2026-12-31");
        assert_eq!(own.payer.as_ref().unwrap().name, "Ann Test");
        assert_eq!(own.closing.to_string(), "35.00");
        let bytes = member_statement::pdf(&all).unwrap();
        assert!(bytes.starts_with(b"%PDF-") && bytes == member_statement::pdf(&all).unwrap());

        let refused = desk
            .look(move |view| {
                member_statement::read(view, ann, (Some(day("2026-02-01")), Some(day("2026-01-01"))))
            })
            .unwrap_err();
        assert_eq!(
            refused.to_string(),
            "until must not be before 2026-02-01, got 2026-01-01"
        );
    });
}
