//! Late fees: on their day, once a charge, by the rule of the group, on both engines.

use bursar_app::groups::GroupSettings;
use bursar_app::late_fees::{self, Charging, RAISE_MAX};
use bursar_app::payments::{Every, NewPlan, PaymentChange};
use bursar_domain::account::Standing;
use bursar_domain::ids::{GroupId, PaymentId};

use super::books::receipt;
use super::refunds::refund;
use super::*;

impl Desk {
    fn late_rule(&self, group: GroupId, fee: &str, after: i64, cap: Option<&str>) {
        let settings = GroupSettings {
            late_fee: Some(fee.into()),
            late_after: Some(after),
            late_cap: cap.map(str::to_owned),
            ..GroupSettings::default()
        };
        self.act(move |act| groups::set(act, group, &settings));
    }

    fn charge_due(&self, debtor: Debtor, amount: &str, due: &str) -> Payment {
        let new = NewCharges {
            due_date: Some(day(due)),
            description: "Dues".into(),
            ..charges(debtor, amount)
        };
        self.act(move |act| payments::raise(act, &new, None)).payments[0].clone()
    }

    /// The worker looks at the group until it is done; how many fees it charged.
    fn charge_fees(&self, group: GroupId) -> usize {
        let (mut count, mut after) = (0, None);
        loop {
            let work = move |act: &mut Act<'_, '_>| late_fees::raise(act, group, after);
            match self.try_as(Identity::Worker, work).unwrap() {
                Charging::Some(some, last) => (count, after) = (count + some, Some(last)),
                Charging::Done(some) => return count + some,
                Charging::Nothing => return count,
            }
        }
    }

    fn fees(&self) -> Vec<Payment> {
        let mut fees = self.all_payments();
        fees.retain(|payment| payment.fee_of.is_some());
        fees
    }

    fn fee_of(&self, charge: PaymentId) -> Payment {
        let mut fees = self.fees();
        fees.retain(|fee| fee.fee_of == Some(charge));
        assert_eq!(fees.len(), 1);
        fees.remove(0)
    }
}

#[test]
fn a_fee_is_charged_once_on_its_day_for_what_is_open() {
    both_engines(|test| {
        let desk = Desk::open(test, 70, noon("2026-01-10"));
        let crew = desk.group("Crew").id;
        let [ada, ben, cy] = ["Ada", "Ben", "Cy"].map(|name| desk.member(name, &[crew]).id);
        desk.late_rule(crew, "5%", 14, Some("4"));
        let owed = |member| Debtor::MemberOf(member, crew);
        let a = desk.charge_due(owed(ada), "100.00", "2026-01-31");
        let b = desk.charge_due(owed(ben), "70.10", "2026-01-31");
        let c = desk.charge_due(owed(cy), "50.00", "2026-01-31");
        desk.set_clock(noon("2026-02-13"));
        assert_eq!(desk.charge_fees(crew), 0, "a day too early");
        // Half of Ben's, and all of Cy's.
        desk.act(move |act| bursar_app::books::receipts::record(act, &receipt(ben, "40.00")));
        desk.act(move |act| bursar_app::books::receipts::record(act, &receipt(cy, "50.00")));
        desk.set_clock(noon("2026-02-14"));
        assert_eq!(desk.charge_fees(crew), 2);
        let fee = desk.fee_of(a.id);
        assert_eq!(
            (fee.amount.to_string(), fee.description.as_str(), fee.due_date),
            ("4.00".into(), "Late fee: Dues", Some(day("2026-02-14")))
        );
        assert_eq!(
            (fee.member_id, fee.group_id, fee.dues_for),
            (Some(ada), Some(crew), None)
        );
        assert_eq!(fee.income_account_id, Some(Standing::LateFees.id()));
        assert!(fee.reference.is_some());
        // 5 % of 30.10 is 1.505, rounded half up.
        assert_eq!(desk.fee_of(b.id).amount.to_string(), "1.51");
        assert!(desk.fees().iter().all(|fee| fee.fee_of != Some(c.id)));
        // Not twice, not for fees, not on later days.
        for later in ["2026-02-14", "2026-02-15", "2026-06-01"] {
            desk.set_clock(noon(later));
            assert_eq!(desk.charge_fees(crew), 0, "{later}");
        }
        assert_eq!(desk.fees().len(), 2);
        desk.assert_balances(&[
            ("bank", "90.00"),
            ("receivable", "135.61"),
            ("dues", "220.10"),
            ("late-fees", "5.51"),
        ]);
    });
}

#[test]
fn a_new_rule_leaves_alone_what_was_late_before() {
    both_engines(|test| {
        let desk = Desk::open(test, 71, noon("2026-03-01"));
        let crew = desk.group("Crew").id;
        let [ada, ben, cy] = ["Ada", "Ben", "Cy"].map(|name| desk.member(name, &[crew]).id);
        let owed = |member| Debtor::MemberOf(member, crew);
        let long = desk.charge_due(owed(ada), "10.00", "2026-01-01");
        let today = desk.charge_due(owed(ben), "10.00", "2026-02-20");
        desk.set_clock(noon("2026-03-02"));
        desk.late_rule(crew, "2", 10, None);
        assert_eq!(desk.charge_fees(crew), 1);
        assert_eq!(desk.fee_of(today.id).amount.to_string(), "2.00");
        // An officer who charges something that was due long ago means it.
        let old = desk.charge_due(owed(cy), "10.00", "2026-01-01");
        assert_eq!(desk.charge_fees(crew), 1);
        desk.fee_of(old.id);
        // Fewer days are a new rule for what they would make late.
        let soon = desk.charge_due(owed(ada), "10.00", "2026-02-26");
        desk.late_rule(crew, "2", 3, None);
        assert_eq!(desk.charge_fees(crew), 0);
        // A new due day counts.
        let moved = PaymentChange {
            due_date: Some(Some(day("2026-02-27"))),
            description: None,
        };
        desk.act(move |act| payments::set(act, soon.id, &moved));
        assert_eq!(desk.charge_fees(crew), 1);
        desk.set_clock(noon("2026-12-01"));
        assert_eq!(desk.charge_fees(crew), 0);
        assert!(desk.fees().iter().all(|fee| fee.fee_of != Some(long.id)));
        // Without a rule nobody looks.
        let none = GroupSettings {
            late_fee: Some("none".into()),
            ..GroupSettings::default()
        };
        let cleared = desk.act(move |act| groups::set(act, crew, &none));
        assert_eq!((cleared.late_since, cleared.late_next), (None, None));
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn fees_are_undone_met_by_credit_and_cancelled_with_their_charge() {
    both_engines(|test| {
        let desk = Desk::open(test, 72, noon("2026-01-10"));
        let crew = desk.group("Crew").id;
        let [ada, ben, cy] = ["Ada", "Ben", "Cy"].map(|name| desk.member(name, &[crew]).id);
        desk.late_rule(crew, "5", 10, None);
        let owed = |member| Debtor::MemberOf(member, crew);
        let [a, b, c] = [ada, ben, cy].map(|member| desk.charge_due(owed(member), "50.00", "2026-01-31").id);
        // Ada has credit that is not to be used for the charge, because it came for another one.
        let other = desk.charge(ada, "3.00");
        let mut paid = receipt(ada, "5.00");
        paid.payments = vec![other.id];
        desk.act(move |act| bursar_app::books::receipts::record(act, &paid));
        desk.set_clock(noon("2026-02-10"));
        assert_eq!(desk.charge_fees(crew), 3);
        let fee = desk.fee_of(a);
        assert_eq!(
            (fee.status, fee.paid_to_date.to_string()),
            (PaymentStatus::PartiallyPaid, "2.00".into())
        );
        // Cancelling a charge cancels the fee that nobody paid, and no other.
        desk.act(move |act| payments::cancel(act, b, false, None));
        assert_eq!(desk.fee_of(b).status, PaymentStatus::Cancelled);
        desk.act(move |act| payments::cancel(act, a, false, None));
        assert_eq!(desk.fee_of(a).status, PaymentStatus::PartiallyPaid);
        let act = desk.look(|view| {
            bursar_app::activity::list(
                view,
                &bursar_app::activity::Query {
                    action: Some("late_fees.raise".into()),
                    limit: 10,
                    ..Default::default()
                },
            )
        });
        let act = act.unwrap();
        assert_eq!((act.len(), act[0].count), (1, Some(3)));
        let id = bursar_domain::ids::BulkId::parse(act[0].subject.as_deref().unwrap()).unwrap();
        let undone = desk.act(move |act| undo::undo(act, id));
        assert_eq!((undone.reversed.len(), undone.left.len()), (2, 1), "{undone:?}");
        assert_eq!(desk.fee_of(c).status, PaymentStatus::Cancelled);
        // What was undone is not charged again.
        desk.set_clock(noon("2026-02-20"));
        assert_eq!(desk.charge_fees(crew), 0);
        assert_eq!(problems(&desk.db), []);
    });
}

/// The day is the organization's own, a closed period is left alone, and each transaction is bounded.
#[test]
fn many_fees_come_in_portions_by_the_organizations_day() {
    both_engines(|test| {
        let desk = Desk::open(test, 73, noon("2026-01-10"));
        let crew = desk.group("Crew").id;
        let zone = bursar_app::organizations::OrganizationChange {
            time_zone: Some(bursar_domain::zone::Zone::parse("America/New_York").unwrap()),
            ..Default::default()
        };
        desk.act(move |act| organizations::set(act, &zone));
        desk.late_rule(crew, "1", 1, None);
        let count = RAISE_MAX + 7;
        let ids: Vec<MemberId> = (0..count)
            .map(|n| desk.member(&format!("M{n}"), &[crew]).id)
            .collect();
        let new = NewCharges {
            due_date: Some(day("2026-01-31")),
            ..charges(Debtor::Group(crew), "10.00")
        };
        let first = desk.act({
            let new = new.clone();
            move |act| payments::raise(act, &new, None)
        });
        let next = (first.id.unwrap(), first.next.unwrap());
        desk.act(move |act| payments::raise(act, &new, Some(next)));
        // The last hour of the due day in New York.
        desk.set_clock(Timestamp::parse("2026-02-01T04:59:59Z").unwrap());
        assert_eq!(desk.charge_fees(crew), 0);
        desk.set_clock(Timestamp::parse("2026-02-01T05:00:00Z").unwrap());
        let one = move |act: &mut Act<'_, '_>| late_fees::raise(act, crew, None);
        let portion = desk.try_as(Identity::Worker, one).unwrap();
        assert!(matches!(portion, Charging::Some(RAISE_MAX, _)), "{portion:?}");
        // A worker that died here starts again at the beginning.
        assert_eq!(desk.charge_fees(crew), count - RAISE_MAX);
        assert_eq!(desk.fees().len(), ids.len());
        assert_eq!(desk.fees()[0].due_date, Some(day("2026-02-01")));
        let refused = desk.try_as(Identity::Operator, one).unwrap_err();
        assert_eq!(refused, "only the service itself may charge late fees");
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_full_refund_cancels_the_fee_that_nobody_paid() {
    both_engines(|test| {
        let desk = Desk::open(test, 98, noon("2026-01-10"));
        let crew = desk.group("Crew").id;
        let ada = desk.member("Ada", &[crew]).id;
        desk.late_rule(crew, "5", 10, None);
        let charge = desk
            .charge_due(Debtor::MemberOf(ada, crew), "50.00", "2026-01-31")
            .id;
        desk.set_clock(noon("2026-02-10"));
        assert_eq!(desk.charge_fees(crew), 1);
        let mut paid = receipt(ada, "50.00");
        paid.payments = vec![charge];
        let id = desk.receive(paid).receipt.id;
        desk.act(move |act| bursar_app::books::refunds::refund(act, id, &refund("50.00")));
        assert_eq!(desk.get::<Payment>(charge).status, PaymentStatus::Cancelled);
        assert_eq!(desk.fee_of(charge).status, PaymentStatus::Cancelled);
        desk.assert_balances(&[]);
    });
}

#[test]
fn the_instalments_of_a_fee_are_fees() {
    both_engines(|test| {
        let desk = Desk::open(test, 99, noon("2026-01-10"));
        let crew = desk.group("Crew").id;
        let ada = desk.member("Ada", &[crew]).id;
        desk.late_rule(crew, "30", 14, None);
        let charge = desk
            .charge_due(Debtor::MemberOf(ada, crew), "50.00", "2026-01-31")
            .id;
        desk.set_clock(noon("2026-02-14"));
        assert_eq!(desk.charge_fees(crew), 1);
        desk.set_clock(noon("2026-02-20"));
        let (fee, plan) = (
            desk.fee_of(charge).id,
            NewPlan {
                into: 3,
                every: Every::Month,
                first: None,
            },
        );
        let parts = desk.act(move |act| payments::plan(act, fee, &plan));
        assert!(parts.iter().all(|part| part.fee_of == Some(charge)), "{parts:?}");
        desk.set_clock(noon("2026-06-01"));
        assert_eq!(desk.charge_fees(crew), 0, "no fee on fees");
        desk.act(move |act| payments::cancel(act, charge, false, None));
        for part in &parts {
            assert_eq!(desk.get::<Payment>(part.id).status, PaymentStatus::Cancelled);
        }
        desk.assert_balances(&[]);
    });
}
