//! Money that goes back, and references of ours on money that comes, on both engines.

use bursar_app::books::credit;
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::books::refunds::{self, Refund};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::store::OrderMoney;
use bursar_domain::creditor_reference;
use bursar_domain::order::OrderVerb;
use bursar_domain::reimbursement::ReimbursementVerb;

use super::books::receipt;
use super::*;

pub(super) fn refund(amount: &str) -> Refund {
    Refund {
        amount: amount.into(),
        date: None,
        method: None,
        account: None,
    }
}

pub(super) fn of_nobody(name: &str, amount: &str) -> NewReceipt {
    NewReceipt {
        payer: None,
        payer_name: Some(name.into()),
        method: Paid::Cash,
        ..receipt(no_member(), amount)
    }
}

fn no_member() -> MemberId {
    MemberId::from_bits(0)
}

#[test]
fn no_more_goes_back_than_came_and_what_went_stays_gone() {
    both_engines(|test| {
        let desk = Desk::open(test, 60, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let [zoe, _max, first, _second] = [
            of_nobody("Zoe", "13.00"),
            of_nobody("Max", "14.00"),
            receipt(ada, "20.00"),
            receipt(ada, "50.00"),
        ]
        .map(|new| desk.act(move |act| receipts::record(act, &new)).receipt.id);
        for id in [zoe, first] {
            let all = if id == zoe { "13.00" } else { "20.00" };
            let part = desk.act(move |act| refunds::refund(act, id, &refund("10.00")));
            assert_eq!(part.refunded.to_string(), "10.00");
            let refused = desk.refused(move |act| refunds::refund(act, id, &refund(all)));
            assert!(refused.contains("must be at most what is left of"), "{refused}");
            for refused in [
                desk.refused(move |act| receipts::reverse(act, id, None)),
                desk.refused(move |act| receipts::bounce(act, id, None, None)),
            ] {
                assert!(
                    refused.contains("10.00 of rcp_") && refused.contains("was paid back"),
                    "{refused}"
                );
            }
        }
        // Zoe's went from the cash box, the way it came.
        desk.assert_balances(&[("cash", "17.00"), ("bank", "60.00"), ("credit", "77.00")]);
    });
}

#[test]
fn money_goes_back_after_it_came_and_income_is_given_up() {
    both_engines(|test| {
        let desk = Desk::open(test, 61, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let gift = NewReceipt {
            income: Some("donations".into()),
            ..of_nobody("Don", "15.00")
        };
        let gift = desk.act(move |act| receipts::record(act, &gift)).receipt.id;
        desk.act(move |act| refunds::refund(act, gift, &refund("5.00")));
        desk.assert_balances(&[("cash", "10.00"), ("donations", "10.00")]);
        let charge = desk.charge(ada, "40.00").id;
        let id = desk
            .act(move |act| receipts::record(act, &receipt(ada, "40.00")))
            .receipt
            .id;
        let early = Refund {
            date: Date::parse("2026-01-09"),
            ..refund("10.00")
        };
        let (one, other) = (early.clone(), early);
        for refused in [
            desk.refused(move |act| refunds::refund(act, id, &one)),
            desk.refused(move |act| payments::refund(act, charge, &other)),
        ] {
            assert!(
                refused.contains("date must not be before the day the money came"),
                "{refused}"
            );
        }
        let same = desk.refused(move |act| receipts::move_to(act, id, ada));
        assert!(same.contains("is the money of Ada"), "{same}");
    });
}

#[test]
fn our_reference_says_what_money_is_for() {
    both_engines(|test| {
        let desk = Desk::open(test, 62, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]);
        let (first, second) = (desk.charge(ada.id, "40.00"), desk.charge(ada.id, "30.00"));
        let typed = creditor_reference::spaced(second.reference.as_deref().unwrap()).to_lowercase();
        let referring = |new: NewReceipt, reference: &str| NewReceipt {
            reference: Some(reference.to_owned()),
            ..new
        };
        // Before what is due first, and the rest goes on from there.
        let new = referring(receipt(ada.id, "35.00"), &typed);
        let recorded = desk.act(move |act| receipts::record(act, &new));
        let parts: Vec<_> = recorded
            .allocations
            .iter()
            .map(|part| (part.payment_id, part.amount.to_string()))
            .collect();
        assert_eq!(
            parts,
            [(second.id, "30.00".to_owned()), (first.id, "5.00".to_owned())]
        );
        // Somebody else's money finds the charge, and a member's own reference finds the member.
        let own = first.reference.as_deref().unwrap().to_owned();
        let new = referring(of_nobody("Granny", "10.00"), &own);
        let recorded = desk.act(move |act| receipts::record(act, &new));
        assert_eq!(recorded.allocations[0].payment_id, first.id);
        let own = ada.reference.clone().unwrap();
        let new = NewReceipt {
            payer: None,
            ..referring(receipt(ada.id, "5.00"), &own)
        };
        let recorded = desk.act(move |act| receipts::record(act, &new));
        assert_eq!(recorded.receipt.payer, Some(ada.id));
        assert_eq!(recorded.allocations[0].payment_id, first.id);
        // It is found between other words, and over line breaks, which are kept as spaces.
        let third = desk.charge(ada.id, "10.00");
        let ours = third.reference.as_deref().unwrap();
        let text = format!("Dues {}\r\n{}, thanks", &ours[..4], &ours[4..]);
        let new = referring(of_nobody("Granny", "3.00"), &text);
        let recorded = desk.act(move |act| receipts::record(act, &new));
        assert_eq!(recorded.allocations[0].payment_id, third.id);
        let kept = format!("Dues {} {}, thanks", &ours[..4], &ours[4..]);
        assert_eq!(recorded.receipt.reference, Some(kept));
        // What goes on with digits may be another reference, and of two nobody can tell which is meant.
        for text in [
            format!("{ours} 2026"),
            format!("{ours}, {}", first.reference.as_deref().unwrap()),
        ] {
            let new = referring(of_nobody("Granny", "4.00"), &text);
            let recorded = desk.act(move |act| receipts::record(act, &new));
            assert_eq!(recorded.allocations, []);
        }
    });
}

#[test]
fn credit_orders_and_payouts_go_back_after_they_came() {
    const EARLY: &str = "date must not be before the day the money came, ";
    both_engines(|test| {
        let desk = Desk::open(test, 63, noon("2026-01-20"));
        let ada = desk.member("Ada", &[]).id;
        let on = |date: &str, amount: &str| Refund {
            date: Date::parse(date),
            ..refund(amount)
        };
        for date in ["2026-01-10", "2026-01-12"] {
            desk.receive(NewReceipt {
                date: Date::parse(date),
                ..receipt(ada, "20.00")
            });
        }
        for (date, amount, came) in [
            ("2026-01-09", "5.00", "2026-01-10"),
            ("2026-01-11", "30.00", "2026-01-12"),
        ] {
            let early = on(date, amount);
            let refused = desk.refused(move |act| credit::refund(act, ada, &early));
            assert!(refused.contains(&format!("{EARLY}{came}")), "{refused}");
        }
        let (first, rest) = (on("2026-01-11", "20.00"), on("2026-01-12", "20.00"));
        desk.act(move |act| credit::refund(act, ada, &first));
        desk.act(move |act| credit::refund(act, ada, &rest));

        let new = ListingChange {
            name: Some("Shirts".into()),
            items: vec![("S".into(), "15.00".into(), Some(3))],
            ..ListingChange::default()
        };
        let listing = desk.act(move |act| store::create_listing(act, &new)).id;
        let lines = [OrderLine {
            item: "S".into(),
            quantity: 1,
        }];
        let order = desk
            .act(move |act| store::order(act, listing, Some(ada), &lines))
            .id;
        let go = |verb, date: &str| {
            let money = OrderMoney {
                date: Date::parse(date),
                ..OrderMoney::default()
            };
            desk.try_as(Identity::Operator, move |act| {
                store::perform_order(act, order, verb, &money)
            })
        };
        go(OrderVerb::Pay, "2026-01-15").unwrap();
        let refused = go(OrderVerb::Refund, "2026-01-14").unwrap_err();
        assert!(refused.contains(&format!("{EARLY}2026-01-15")), "{refused}");
        go(OrderVerb::Refund, "2026-01-15").unwrap();

        let admin = desk.officer("admin@example.org", Role::Admin);
        let draft = Draft {
            member_id: Some(ada),
            recipient_organization_id: None,
            amount: "12.00".into(),
            category: None,
            description: String::new(),
            incurred_at: Some(day("2026-01-05")),
            receipts: Vec::new(),
        };
        let id = desk.act(move |act| reimbursements::draft(act, &draft)).id;
        let go = |verb, date: Option<&str>| {
            let remarks = Remarks {
                date: date.map(day),
                ..Remarks::default()
            };
            desk.try_as(admin, move |act| reimbursements::perform(act, id, verb, &remarks))
        };
        go(ReimbursementVerb::Submit, None).unwrap();
        go(ReimbursementVerb::Approve, None).unwrap();
        go(ReimbursementVerb::Pay, Some("2026-01-15")).unwrap();
        let refused = go(ReimbursementVerb::Return, Some("2026-01-14")).unwrap_err();
        assert!(
            refused.contains("date must not be before the day the money went, 2026-01-15"),
            "{refused}"
        );
        go(ReimbursementVerb::Return, Some("2026-01-16")).unwrap();
        desk.assert_balances(&[("payable", "12.00"), ("other-expense", "12.00")]);
    });
}

#[test]
fn money_with_the_same_reference_is_recorded_twice_only_if_the_officer_says_so() {
    both_engines(|test| {
        let desk = Desk::open(test, 64, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let id = desk.charge(ada, "100.00").id;
        let new = |reference: Option<&str>, again| Received {
            reference: reference.map(str::to_owned),
            again,
            ..cash("10.00")
        };
        let record = |new: Received| {
            desk.try_as(Identity::Operator, move |act| {
                payments::record(act, id, &new).map(drop)
            })
        };
        record(new(Some("TRF-1"), false)).unwrap();
        let refused = record(new(Some("TRF-1"), false)).unwrap_err();
        assert!(
            refused.contains("was recorded before with the same") && refused.contains("--again"),
            "{refused}"
        );
        record(new(Some("TRF-1"), true)).unwrap();
        record(new(Some("TRF-2"), false)).unwrap();
        // Two payments in cash on one day.
        record(new(None, false)).unwrap();
        record(new(None, false)).unwrap();
        assert_eq!(desk.state(id).2, "50.00");
        assert_eq!(problems(&desk.db), []);
    });
}
