//! What a treasurer does all day, and what the journal says of it, on both engines.

use bursar_app::books::accounts::{self, AccountChange};
use bursar_app::books::entries::{self, NewPosting};
use bursar_app::books::receipts::{self, NewReceipt, Recorded};
use bursar_app::books::refunds::Refund;
use bursar_app::books::{credit, periods};
use bursar_app::payments::{Adjustment, Every, NewPlan, PaymentChange};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::store::OrderMoney;
use bursar_domain::account::AccountType;
use bursar_domain::creditor_reference;
use bursar_domain::ids::PaymentId;
use bursar_domain::order::OrderVerb;
use bursar_domain::reimbursement::ReimbursementVerb;

use super::*;

pub(super) fn receipt(payer: MemberId, amount: &str) -> NewReceipt {
    NewReceipt {
        amount: amount.into(),
        method: Paid::Transfer,
        date: None,
        account: None,
        payer: Some(payer),
        payer_name: None,
        reference: None,
        payments: Vec::new(),
        campaign: None,
        income: None,
        again: false,
    }
}

fn refund(amount: &str) -> Refund {
    Refund {
        amount: amount.into(),
        date: None,
        method: None,
        account: None,
    }
}

impl Desk {
    pub(super) fn receive(&self, new: NewReceipt) -> Recorded {
        self.act(move |act| receipts::record(act, &new))
    }

    /// What each account holds, as people see it, without the empty ones.
    fn balances(&self) -> Vec<(String, String)> {
        let lines = self.look(|view| accounts::list(view, None)).unwrap();
        let held = lines.into_iter().filter(|line| line.balance.minor != 0);
        held.map(|line| (line.name, line.balance.to_string())).collect()
    }

    pub(super) fn assert_balances(&self, expected: &[(&str, &str)]) {
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(name, amount)| ((*name).to_owned(), (*amount).to_owned()))
            .collect();
        assert_eq!(self.balances(), expected);
        assert_eq!(problems(&self.db), []);
    }

    pub(super) fn state(&self, id: PaymentId) -> (PaymentStatus, String, String) {
        let payment: Payment = self.get(id);
        let (amount, paid) = (payment.amount.to_string(), payment.paid_to_date.to_string());
        (payment.status, amount, paid)
    }
}

#[test]
fn an_overpayment_is_credit_that_meets_the_next_charge() {
    both_engines(|test| {
        let desk = Desk::open(test, 40, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let first = desk.charge(ada, "40.00");
        let recorded = desk.receive(receipt(ada, "100.00"));
        assert_eq!(recorded.allocations[0].payment_id, first.id);
        assert_eq!(recorded.credit.to_string(), "60.00");
        assert_eq!(desk.state(first.id).0, PaymentStatus::Paid);
        desk.assert_balances(&[("bank", "100.00"), ("credit", "60.00"), ("dues", "40.00")]);
        // The row is written as created and then as paid, in one transaction: readers see it already reduced.
        let second = desk.charge(ada, "25.00");
        assert_eq!(
            (second.status, second.paid_to_date.to_string()),
            (PaymentStatus::Paid, "25.00".into())
        );
        let updated_at = desk.get::<Payment>(second.id).stamps.updated_at;
        assert_eq!(second.stamps.updated_at, updated_at);
        assert_eq!(second.stamps.created_at.micros() + 1, updated_at.micros());
        let third = desk.charge(ada, "50.00");
        assert_eq!(
            desk.state(third.id),
            (PaymentStatus::PartiallyPaid, "50.00".into(), "35.00".into())
        );
        desk.assert_balances(&[("bank", "100.00"), ("receivable", "15.00"), ("dues", "115.00")]);
        assert!(desk.look(credit::list).unwrap().is_empty());
        // The same again is refused, and recorded when the officer insists.
        let again = NewReceipt {
            again: true,
            ..receipt(ada, "100.00")
        };
        let refused = desk.refused(move |act| receipts::record(act, &receipt(ada, "100.00")));
        assert!(refused.contains("was recorded before"), "{refused}");
        desk.receive(again);
        let back = desk.act(move |act| credit::refund(act, ada, &refund("85.00")));
        assert_eq!(back.1.to_string(), "0.00");
        desk.assert_balances(&[("bank", "115.00"), ("dues", "115.00")]);
    });
}

#[test]
fn a_bounced_receipt_takes_its_credit_with_it() {
    both_engines(|test| {
        let desk = Desk::open(test, 41, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let first = desk.charge(ada, "40.00");
        let recorded = desk.receive(receipt(ada, "100.00"));
        let second = desk.charge(ada, "25.00");
        let id = recorded.receipt.id;
        desk.act(move |act| receipts::bounce(act, id, None, Some("no funds")));
        assert_eq!(
            desk.state(first.id),
            (PaymentStatus::Failed, "40.00".into(), "0.00".into())
        );
        assert_eq!(
            desk.state(second.id),
            (PaymentStatus::Pending, "25.00".into(), "0.00".into())
        );
        desk.assert_balances(&[("receivable", "65.00"), ("dues", "65.00")]);
        let refused = desk.refused(move |act| receipts::bounce(act, id, None, None));
        assert!(refused.contains("bounced before"), "{refused}");
    });
}

#[test]
fn a_receipt_for_the_wrong_person_moves_to_the_right_one() {
    both_engines(|test| {
        let desk = Desk::open(test, 42, noon("2026-01-10"));
        let (ada, ben) = (desk.member("Ada", &[]).id, desk.member("Ben", &[]).id);
        let (of_ada, of_ben) = (desk.charge(ada, "40.00"), desk.charge(ben, "40.00"));
        let recorded = desk.receive(receipt(ada, "40.00"));
        let id = recorded.receipt.id;
        let moved = desk.act(move |act| receipts::move_to(act, id, ben));
        assert_eq!(moved.allocations[0].payment_id, of_ben.id);
        assert_eq!(moved.entries.len(), 3, "the first, its reversal and the new one");
        assert_eq!(desk.state(of_ada.id).0, PaymentStatus::Pending);
        assert_eq!(desk.state(of_ben.id).0, PaymentStatus::Paid);
        desk.assert_balances(&[("bank", "40.00"), ("receivable", "40.00"), ("dues", "80.00")]);
    });
}

#[test]
fn a_payer_settles_the_household_by_due_day() {
    both_engines(|test| {
        let desk = Desk::open(test, 43, noon("2026-01-10"));
        let (mother, child) = (desk.member("Ada", &[]).id, desk.member("Bo", &[]));
        let (child, reference) = (child.id, child.reference);
        desk.act(move |act| {
            let change = bursar_domain::member::MemberChange {
                payer_id: Some(Some(mother)),
                ..Default::default()
            };
            members::change(act, child, &change)
        });
        let raise = |member, due: &str| {
            let new = NewCharges {
                due_date: Some(day(due)),
                ..charges(Debtor::Member(member), "10.00")
            };
            desk.act(move |act| payments::raise(act, &new, None)).payments[0].id
        };
        let later = raise(mother, "2026-03-31");
        let sooner = raise(child, "2026-02-28");
        let recorded = desk.receive(receipt(mother, "15.00"));
        let parts: Vec<_> = recorded
            .allocations
            .iter()
            .map(|part| (part.payment_id, part.amount.to_string()))
            .collect();
        assert_eq!(parts, [(sooner, "10.00".to_owned()), (later, "5.00".to_owned())]);
        // The reference of a member of the household stands for all of it.
        let new = NewReceipt {
            payer: None,
            reference,
            ..receipt(child, "7.00")
        };
        let recorded = desk.act(move |act| receipts::record(act, &new));
        assert_eq!(recorded.receipt.payer, Some(mother));
        assert_eq!(recorded.allocations[0].payment_id, later);
        assert_eq!(recorded.credit.to_string(), "2.00");
        // A payer has no payer, and nobody pays for themselves twice.
        let refused = desk.refused(move |act| {
            let change = bursar_domain::member::MemberChange {
                payer_id: Some(Some(child)),
                ..Default::default()
            };
            members::change(act, mother, &change)
        });
        assert!(refused.contains("payer"), "{refused}");
    });
}

#[test]
fn amounts_change_for_a_reason_and_the_income_says_so() {
    both_engines(|test| {
        let desk = Desk::open(test, 44, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let [a, b, c, d] = [0; 4].map(|_| desk.charge(ada, "40.00").id);
        desk.act(move |act| payments::adjust(act, a, "30.00", Adjustment::Discount, "student"));
        desk.act(move |act| payments::adjust(act, b, "0", Adjustment::Waiver, "hardship"));
        desk.act(move |act| payments::adjust(act, c, "45.00", Adjustment::Correction, "typing mistake"));
        desk.act(move |act| payments::cancel(act, d, true, Some("moved away")));
        assert_eq!(
            desk.state(a),
            (PaymentStatus::Pending, "30.00".into(), "0.00".into())
        );
        assert_eq!(
            desk.state(b),
            (PaymentStatus::Cancelled, "40.00".into(), "0.00".into())
        );
        assert_eq!(
            desk.state(c),
            (PaymentStatus::Pending, "45.00".into(), "0.00".into())
        );
        desk.assert_balances(&[
            ("receivable", "75.00"),
            ("dues", "165.00"),
            ("discounts", "-50.00"),
            ("write-offs", "40.00"),
        ]);
        for (amount, kind, rule) in [
            ("50.00", Adjustment::Discount, "must be below 30.00"),
            ("0", Adjustment::Correction, "greater than 0"),
        ] {
            let refused = desk.refused(move |act| payments::adjust(act, a, amount, kind, "why"));
            assert!(refused.contains(rule), "{refused}");
        }
        let later = PaymentChange {
            due_date: Some(Some(day("2026-06-30"))),
            description: Some("Dues, later".into()),
        };
        let set = desk.act(move |act| payments::set(act, a, &later));
        assert_eq!(set.due_date, Some(day("2026-06-30")));
    });
}

#[test]
fn instalments_share_the_amount_and_a_refund_gives_it_back() {
    both_engines(|test| {
        let desk = Desk::open(test, 45, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let id = desk.charge(ada, "100.00").id;
        let plan = NewPlan {
            into: 3,
            every: Every::Month,
            first: None,
        };
        let parts = desk.act(move |act| payments::plan(act, id, &plan));
        let seen: Vec<_> = parts
            .iter()
            .map(|part| (part.amount.to_string(), part.due_date.unwrap().to_string()))
            .collect();
        let expected = [
            ("33.34", "2026-01-31"),
            ("33.33", "2026-02-28"),
            ("33.33", "2026-03-31"),
        ];
        assert_eq!(
            seen,
            expected.map(|(amount, due)| (amount.to_owned(), due.to_owned()))
        );
        assert!(parts.iter().all(|part| {
            let reference = part.reference.as_deref().unwrap();
            creditor_reference::parse(reference).is_some()
        }));
        desk.assert_balances(&[("receivable", "100.00"), ("dues", "100.00")]);
        desk.receive(receipt(ada, "100.00"));
        desk.act(move |act| payments::refund(act, id, &refund("3.34")));
        assert_eq!(
            desk.state(id),
            (PaymentStatus::Paid, "30.00".into(), "30.00".into())
        );
        desk.act(move |act| payments::refund(act, id, &refund("30.00")));
        assert_eq!(
            desk.state(id),
            (PaymentStatus::Cancelled, "30.00".into(), "0.00".into())
        );
        desk.assert_balances(&[("bank", "66.66"), ("dues", "66.66")]);
    });
}

#[test]
fn closed_days_take_nothing_but_corrections_which_are_dated_today() {
    both_engines(|test| {
        let desk = Desk::open(test, 46, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let id = desk.charge(ada, "40.00").id;
        desk.set_clock(noon("2026-03-05"));
        desk.act(|act| periods::close(act, day("2026-01-31")));
        let dated = |date: &str| NewReceipt {
            date: Some(day(date)),
            ..receipt(ada, "40.00")
        };
        for (date, rule) in [
            ("2026-01-31", "closed until 2026-01-31"),
            ("2026-03-06", "in the future"),
        ] {
            let new = dated(date);
            let refused = desk.refused(move |act| receipts::record(act, &new));
            assert!(refused.contains(rule), "{refused}");
        }
        let recorded = desk.receive(dated("2026-02-01"));
        let payment: Payment = desk.get(id);
        assert_eq!(
            payment.paid_at,
            Some(day("2026-02-01").start()),
            "the day the money came"
        );
        assert_eq!(recorded.receipt.date, day("2026-02-01"));
        // The charge counts in January, which is closed: its correction is dated today.
        desk.act(move |act| payments::adjust(act, id, "50.00", Adjustment::Correction, "wrong group"));
        let entries = desk.look(move |view| entries::list(view, (Some(day("2026-03-05")), None), None));
        assert_eq!(entries.unwrap().len(), 1);
        let refused = desk.refused(|act| periods::close(act, day("2026-03-05")));
        assert!(refused.contains("a day that is over"), "{refused}");
        let editor = desk.officer("editor@example.org", Role::Editor);
        let refused = desk.try_as(editor, |act| periods::reopen(act, None, "late mail"));
        assert!(refused.unwrap_err().contains("an admin"));
        desk.act(|act| periods::reopen(act, None, "late mail"));
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn other_money_reimbursements_and_orders_are_in_the_books() {
    both_engines(|test| {
        let desk = Desk::open(test, 47, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        desk.act(|act| accounts::create(act, "Bar till", AccountType::Asset));
        let till = AccountChange {
            opening: Some(("50.00".into(), None)),
            ..AccountChange::default()
        };
        desk.act(move |act| accounts::set(act, "bar TILL", &till));
        desk.act(|act| accounts::create(act, "Overdrawn", AccountType::Asset));
        let opening = |held: &str| {
            let change = AccountChange {
                opening: Some((held.into(), None)),
                ..AccountChange::default()
            };
            desk.act(move |act| accounts::set(act, "Overdrawn", &change));
        };
        opening("-20.00");
        desk.assert_balances(&[
            ("opening", "30.00"),
            ("Bar till", "50.00"),
            ("Overdrawn", "-20.00"),
        ]);
        opening("0");
        let rent = NewPosting {
            debit: "other-expense".into(),
            credit: "Bar till".into(),
            amount: "20.00".into(),
            date: Some(day("2026-01-09")),
            memo: Some("Ice".into()),
            reference: None,
        };
        let spent = desk.act(move |act| entries::record(act, &rent));
        let into_claims = NewPosting {
            debit: "receivable".into(),
            credit: "Bar till".into(),
            amount: "1.00".into(),
            date: None,
            memo: None,
            reference: None,
        };
        let refused = desk.refused(move |act| entries::record(act, &into_claims));
        assert!(refused.contains("debit must not be receivable"), "{refused}");
        let id = spent.id;
        desk.act(move |act| entries::reverse(act, id, "twice"));
        let refused = desk.refused(move |act| entries::reverse(act, id, "twice"));
        assert!(refused.contains("was reversed before"), "{refused}");
        desk.assert_balances(&[("opening", "50.00"), ("Bar till", "50.00")]);

        let admin = desk.officer("admin@example.org", Role::Admin);
        let draft = Draft {
            member_id: Some(ada),
            recipient_organization_id: None,
            amount: "12.00".into(),
            category: Some("Travel".into()),
            description: String::new(),
            incurred_at: Some(day("2026-01-05")),
            receipts: Vec::new(),
        };
        let id = desk.act(move |act| reimbursements::draft(act, &draft)).id;
        let go = |verb| {
            desk.try_as(admin, move |act| {
                reimbursements::perform(act, id, verb, &Remarks::default())
            })
            .unwrap()
        };
        go(ReimbursementVerb::Submit);
        go(ReimbursementVerb::Approve);
        desk.assert_balances(&[
            ("payable", "12.00"),
            ("opening", "50.00"),
            ("Bar till", "50.00"),
            ("Travel", "12.00"),
        ]);
        go(ReimbursementVerb::Pay);
        go(ReimbursementVerb::Return);
        go(ReimbursementVerb::Void);
        desk.assert_balances(&[("opening", "50.00"), ("Bar till", "50.00")]);

        let new = ListingChange {
            name: Some("Shirts".into()),
            items: vec![("S".into(), "15.00".into(), Some(3))],
            ..ListingChange::default()
        };
        let listing = desk.act(move |act| store::create_listing(act, &new)).id;
        let lines = [OrderLine {
            item: "S".into(),
            quantity: 2,
        }];
        let order = desk
            .act(move |act| store::order(act, listing, Some(ada), &lines))
            .id;
        let money = OrderMoney {
            account: Some("Bar till".into()),
            ..OrderMoney::default()
        };
        desk.act(move |act| store::perform_order(act, order, OrderVerb::Pay, &money));
        desk.assert_balances(&[("store", "30.00"), ("opening", "50.00"), ("Bar till", "80.00")]);
    });
}

#[test]
fn a_second_raise_skips_who_has_it_and_undo_gives_credit_back() {
    both_engines(|test| {
        let desk = Desk::open(test, 48, noon("2026-01-10"));
        let group = desk.group("Rowers");
        let ada = desk.member("Ada", &[group.id]).id;
        desk.receive(receipt(ada, "5.00"));
        let raise = charges(Debtor::Group(group.id), "25.00");
        let first = {
            let raise = raise.clone();
            desk.act(move |act| payments::raise(act, &raise, None))
        };
        assert_eq!(first.payments[0].paid_to_date.to_string(), "5.00");
        let ben = desk.member("Ben", &[group.id]).id;
        let second = {
            let raise = raise.clone();
            desk.act(move |act| payments::raise(act, &raise, None))
        };
        assert_eq!(second.payments[0].member_id, Some(ben));
        assert_eq!(second.skipped, [ada]);
        let bulk = first.id.unwrap();
        desk.act(move |act| undo::undo(act, bulk));
        assert_eq!(desk.state(first.payments[0].id).0, PaymentStatus::Cancelled);
        desk.assert_balances(&[
            ("bank", "5.00"),
            ("receivable", "25.00"),
            ("credit", "5.00"),
            ("dues", "25.00"),
        ]);
        // A cancelled charge does not count for an officer.
        let third = desk.act(move |act| payments::raise(act, &raise, None));
        assert_eq!(third.payments[0].member_id, Some(ada));
    });
}
