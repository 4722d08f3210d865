//! Corrections in an unusual order, after which the books must still agree, on both engines.

use bursar_app::books::accounts::{self, AccountChange};
use bursar_app::books::periods;
use bursar_app::books::receipts::{self, NewReceipt, Recorded};
use bursar_app::books::refunds;
use bursar_app::organizations::OrganizationChange;
use bursar_app::payments::{Adjustment, Every, NewPlan};
use bursar_domain::account::AccountType;
use bursar_domain::ids::{PaymentId, ReceiptId};
use bursar_domain::journal::EntryKind;
use bursar_domain::member::MemberChange;
use bursar_domain::receipt::ReceiptStatus;
use bursar_domain::zone::Zone;

use super::books::receipt;
use super::refunds::{of_nobody, refund};
use super::*;

impl Desk {
    fn refund(&self, id: ReceiptId, amount: &'static str) {
        self.act(move |act| refunds::refund(act, id, &refund(amount)));
    }

    #[track_caller]
    fn assert_state(&self, id: PaymentId, status: PaymentStatus, [amount, paid]: [&str; 2]) {
        assert_eq!(self.state(id), (status, amount.to_owned(), paid.to_owned()));
    }

    fn move_zone(&self, name: &str) {
        let change = OrganizationChange {
            time_zone: Some(Zone::parse(name).unwrap()),
            ..OrganizationChange::default()
        };
        self.act(move |act| organizations::set(act, &change));
    }
}

#[test]
fn a_second_refund_takes_what_the_first_one_left() {
    both_engines(|test| {
        let desk = Desk::open(test, 90, noon("2026-01-10"));
        let charge = desk.charge(desk.member("Ada", &[]).id, "60.00").id;
        let new = NewReceipt {
            payments: vec![charge],
            ..of_nobody("Stranger", "100.00")
        };
        let id = desk.receive(new).receipt.id;
        desk.refund(id, "40.00");
        desk.assert_state(charge, PaymentStatus::Paid, ["60.00", "60.00"]);
        desk.refund(id, "40.00");
        desk.assert_state(charge, PaymentStatus::Paid, ["20.00", "20.00"]);
        desk.assert_balances(&[("cash", "20.00"), ("dues", "20.00")]);
    });
}

#[test]
fn a_refund_leaves_what_other_receipts_brought() {
    both_engines(|test| {
        let desk = Desk::open(test, 91, noon("2026-01-10"));
        let (ada, ben) = (desk.member("Ada", &[]).id, desk.member("Ben", &[]).id);
        // The credit of another receipt.
        let charge = desk.charge(ada, "60.00").id;
        let first = desk.receive(receipt(ada, "100.00")).receipt.id;
        desk.receive(receipt(ada, "50.00"));
        desk.refund(first, "40.00");
        desk.refund(first, "60.00");
        desk.assert_state(charge, PaymentStatus::Cancelled, ["60.00", "0.00"]);
        desk.assert_balances(&[("bank", "50.00"), ("credit", "50.00")]);
        // What another receipt settled of the same charge.
        let (one, other) = (desk.charge(ben, "20.00").id, desk.charge(ben, "60.00").id);
        let new = NewReceipt {
            payments: vec![one, other],
            ..receipt(ben, "50.00")
        };
        let first = desk.receive(new).receipt.id;
        desk.receive(receipt(ben, "30.00"));
        desk.refund(first, "30.00");
        desk.assert_state(other, PaymentStatus::Paid, ["30.00", "30.00"]);
        desk.refund(first, "20.00");
        desk.assert_state(other, PaymentStatus::Paid, ["30.00", "30.00"]);
        desk.assert_state(one, PaymentStatus::Cancelled, ["20.00", "0.00"]);
        desk.assert_balances(&[("bank", "80.00"), ("credit", "50.00"), ("dues", "30.00")]);
    });
}

#[test]
fn a_receipt_is_taken_back_although_its_credit_met_a_cancelled_charge() {
    type Deed = fn(&mut Act<'_, '_>, ReceiptId, MemberId) -> Result<Recorded, AppError>;
    let deeds: [(&str, Deed); 3] = [
        ("Ada", |act, id, _| receipts::reverse(act, id, None)),
        ("Ben", |act, id, _| receipts::bounce(act, id, None, None)),
        ("Cy", receipts::move_to),
    ];
    both_engines(|test| {
        let desk = Desk::open(test, 92, noon("2026-01-10"));
        let other = desk.member("Dov", &[]).id;
        for (name, deed) in deeds {
            let member = desk.member(name, &[]).id;
            let id = desk.receive(receipt(member, "40.00")).receipt.id;
            let charge = desk.charge(member, "100.00").id;
            desk.assert_state(charge, PaymentStatus::PartiallyPaid, ["100.00", "40.00"]);
            desk.act(move |act| payments::cancel(act, charge, false, None));
            desk.act(move |act| deed(act, id, other));
            desk.assert_state(charge, PaymentStatus::Cancelled, ["100.00", "0.00"]);
        }
        // What was moved is Dov's credit.
        desk.assert_balances(&[("bank", "40.00"), ("credit", "40.00")]);
    });
}

#[test]
fn a_dispute_is_lost_for_what_a_refund_left() {
    both_engines(|test| {
        let desk = Desk::open(test, 93, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let charge = desk.charge(ada, "100.00").id;
        let first = desk.receive(receipt(ada, "60.00")).receipt.entry;
        desk.set_clock(noon("2026-01-11"));
        let second = desk.receive(receipt(ada, "40.00")).receipt.entry;
        desk.act(move |act| payments::refund(act, charge, &refund("30.00")));
        desk.act(move |act| payments::dispute(act, charge));
        desk.act(move |act| payments::lose_dispute(act, charge, &[]));
        desk.assert_state(charge, PaymentStatus::Failed, ["70.00", "0.00"]);
        let entries = desk
            .look(move |view| payments::show(view, charge))
            .unwrap()
            .entries;
        let lost = entries
            .iter()
            .filter(|entry| entry.kind == EntryKind::DisputeLost);
        let lost: Vec<_> = lost
            .map(|entry| (entry.reverses, entry.owed_for(charge)))
            .collect();
        assert_eq!(
            lost,
            [(Some(second), 4_000), (Some(first), 3_000)],
            "the latest money first"
        );
        desk.assert_balances(&[
            ("bank", "70.00"),
            ("clearing", "-70.00"),
            ("receivable", "70.00"),
            ("dues", "70.00"),
        ]);
        // The rest of what was disputed stays when one receipt is named.
        let charge = desk.charge(ada, "100.00").id;
        let [first, _] = ["20.00", "80.00"].map(|amount| {
            let new = NewReceipt {
                payments: vec![charge],
                ..receipt(ada, amount)
            };
            desk.receive(new).receipt.entry
        });
        desk.act(move |act| payments::refund(act, charge, &refund("10.00")));
        desk.act(move |act| payments::dispute(act, charge));
        desk.act(move |act| payments::lose_dispute(act, charge, &[first]));
        desk.assert_state(charge, PaymentStatus::Failed, ["90.00", "70.00"]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_receipt_whose_money_a_dispute_took_has_bounced() {
    both_engines(|test| {
        let desk = Desk::open(test, 95, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let charges = ["60.00", "40.00"].map(|amount| desk.charge(ada, amount).id);
        let receipt = desk.receive(receipt(ada, "100.00")).receipt.id;
        for (charge, expected) in charges
            .into_iter()
            .zip([ReceiptStatus::Recorded, ReceiptStatus::Bounced])
        {
            desk.act(move |act| payments::dispute(act, charge));
            desk.act(move |act| payments::lose_dispute(act, charge, &[]));
            let shown = desk.look(move |view| receipts::show(view, receipt)).unwrap();
            assert_eq!(shown.receipt.status, expected);
        }
        desk.assert_balances(&[
            ("bank", "100.00"),
            ("clearing", "-100.00"),
            ("receivable", "100.00"),
            ("dues", "100.00"),
        ]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_bounce_waits_until_a_dispute_is_resolved() {
    both_engines(|test| {
        let desk = Desk::open(test, 94, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let charge = desk.charge(ada, "100.00").id;
        let paid = desk.receive(receipt(ada, "100.00")).receipt;
        let (id, entry) = (paid.id, paid.entry);
        desk.act(move |act| payments::dispute(act, charge));
        for refused in [
            desk.refused(move |act| receipts::bounce(act, id, None, None)),
            desk.refused(move |act| payments::reverse(act, charge, entry, None, false)),
        ] {
            assert!(
                refused.contains(&format!("`bursar payment resolve {charge} --outcome failed`")),
                "{refused}"
            );
        }
        desk.act(move |act| payments::win_dispute(act, charge));
        desk.act(move |act| receipts::bounce(act, id, None, None));
        desk.assert_state(charge, PaymentStatus::Failed, ["100.00", "0.00"]);
        desk.assert_balances(&[("receivable", "100.00"), ("dues", "100.00")]);
    });
}

#[test]
fn instalments_of_an_overdue_charge_begin_today_and_end_within_ten_years() {
    both_engines(|test| {
        let desk = Desk::open(test, 100, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let [overdue, other] = [0; 2].map(|_| desk.charge(ada, "100.00").id);
        desk.set_clock(noon("2026-05-20"));
        let plan = |first: Option<&str>| NewPlan {
            into: 24,
            every: Every::Quarter,
            first: first.map(day),
        };
        let own = plan(None);
        let parts = desk.act(move |act| payments::plan(act, overdue, &own));
        let due: Vec<_> = parts[..2].iter().map(|part| part.due_date.unwrap()).collect();
        assert_eq!(due, ["2026-05-20", "2026-08-20"].map(day));
        for first in ["2030-08-21", "2026-01-31"] {
            let wanted = plan(Some(first));
            let done = desk.try_as(Identity::Operator, move |act| payments::plan(act, other, &wanted));
            match first {
                // The last one is due 69 months later.
                "2030-08-21" => {
                    let refused = done.unwrap_err();
                    assert!(
                        refused.contains("first is too late: the last instalment must be from")
                            && refused.contains("10 years ahead, got 2036-05-21"),
                        "{refused}"
                    );
                }
                _ => assert_eq!(done.unwrap()[0].due_date, Some(day(first)), "as the officer says"),
            }
        }
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn instalments_of_a_long_description_fit() {
    both_engines(|test| {
        let desk = Desk::open(test, 95, noon("2026-01-10"));
        let new = NewCharges {
            description: format!("{} {}", "ü".repeat(1_990), "x".repeat(9)),
            ..charges(Debtor::Member(desk.member("Ada", &[]).id), "10.00")
        };
        let id = desk.act(move |act| payments::raise(act, &new, None)).payments[0].id;
        let plan = NewPlan {
            into: 2,
            every: Every::Month,
            first: None,
        };
        let parts = desk.act(move |act| payments::plan(act, id, &plan));
        for (part, suffix) in parts.iter().zip(["ü (1 of 2)", "ü (2 of 2)"]) {
            assert!(part.description.ends_with(suffix), "{}", part.description);
            assert!(part.description.chars().count() <= 2_000);
        }
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_closed_account_takes_no_opening_balance() {
    both_engines(|test| {
        let desk = Desk::open(test, 96, noon("2026-01-10"));
        desk.act(|act| accounts::create(act, "Till", AccountType::Asset));
        desk.act(|act| accounts::close(act, "Till", true));
        let change = AccountChange {
            opening: Some(("5.00".into(), None)),
            ..AccountChange::default()
        };
        let refused = desk.refused(move |act| accounts::set(act, "Till", &change));
        assert!(
            refused.contains("must be an open account; \"Till\" is closed"),
            "{refused}"
        );
        desk.assert_balances(&[]);
    });
}

#[test]
fn nothing_is_posted_today_when_a_new_time_zone_makes_it_a_closed_day() {
    both_engines(|test| {
        let desk = Desk::open(test, 97, noon("2026-01-09"));
        let ada = desk.member("Ada", &[]).id;
        let [a, b, c] = [0; 3].map(|_| desk.charge(ada, "40.00").id);
        let id = desk.receive(receipt(ada, "10.00")).receipt.id;
        desk.set_clock(noon("2026-01-10"));
        desk.move_zone("Pacific/Auckland");
        desk.act(|act| periods::close(act, day("2026-01-10")));
        desk.move_zone("America/New_York");
        let adjust =
            |id, kind| move |act: &mut Act<'_, '_>| payments::adjust(act, id, "30.00", kind, "why").map(drop);
        let cancel = move |act: &mut Act<'_, '_>| payments::cancel(act, c, false, None).map(drop);
        let reverse = move |act: &mut Act<'_, '_>| receipts::reverse(act, id, None).map(drop);
        for refused in [
            desk.refused(adjust(a, Adjustment::Discount)),
            desk.refused(adjust(b, Adjustment::Correction)),
            desk.refused(cancel),
            desk.refused(reverse),
        ] {
            assert!(
                refused.contains("today, 2026-01-10, is in a closed period")
                    && refused.contains("wait until 2026-01-11, or have an admin reopen the period"),
                "{refused}"
            );
        }
        desk.set_clock(noon("2026-01-11"));
        desk.act(adjust(a, Adjustment::Discount));
        desk.act(adjust(b, Adjustment::Correction));
        desk.act(cancel);
        desk.act(reverse);
        desk.assert_balances(&[
            ("receivable", "60.00"),
            ("dues", "70.00"),
            ("discounts", "-10.00"),
        ]);
    });
}

#[test]
fn a_new_time_zone_farther_west_puts_nothing_into_the_future() {
    both_engines(|test| {
        let now = day("2026-01-13").start().plus_seconds(4 * 3600);
        let desk = Desk::open(test, 103, now);
        let (ada, ben) = (desk.member("Ada", &[]).id, desk.member("Ben", &[]).id);
        let charge = desk.charge(ada, "100.00").id;
        let [kept, mistaken] = ["60.00", "5.00"].map(|amount| desk.receive(receipt(ada, amount)).receipt.id);
        let of_ben = desk.charge(ben, "30.00").id;
        let cy = charges(Debtor::Member(desk.member("Cy", &[]).id), "20.00");
        let bulk = desk.act(move |act| payments::raise(act, &cy, None)).id.unwrap();
        desk.move_zone("America/New_York");
        desk.act(move |act| receipts::reverse(act, mistaken, None));
        desk.act(move |act| payments::adjust(act, charge, "60.00", Adjustment::Discount, "why"));
        let paid_at = desk.get::<Payment>(charge).paid_at.unwrap();
        assert!(paid_at < now.plus_seconds(1), "{paid_at}");
        desk.act(move |act| payments::adjust(act, charge, "70.00", Adjustment::Correction, "why"));
        desk.act(move |act| receipts::move_to(act, kept, ben));
        desk.assert_state(of_ben, PaymentStatus::Paid, ["30.00", "30.00"]);
        desk.act(move |act| receipts::reverse(act, kept, None));
        desk.act(move |act| undo::undo(act, bulk));
        // Every mistake and its correction have one day, so that nothing is owed or held for a day between them.
        for id in [kept, mistaken] {
            let entries = desk.look(move |view| receipts::show(view, id)).unwrap().entries;
            let days: Vec<Date> = entries.iter().map(|entry| entry.date).collect();
            assert_eq!(days, vec![day("2026-01-13"); days.len()]);
        }
        assert_eq!(desk.owed_on(of_ben, "2026-01-13"), 3_000);
        assert_eq!(problems(&desk.db), []);
    });
}

impl Desk {
    /// The types of all events about payments.
    fn payment_events(&self) -> Vec<String> {
        let read = |tx: &mut bursar_db::Tx<'_>| {
            let sql = "SELECT type FROM events WHERE type LIKE 'payment.%' ORDER BY created_at";
            tx.rows(sql, &[], |row| row.text(0).map(str::to_owned))
        };
        self.db.read::<_, DbError>(read).wait().unwrap()
    }
}

#[test]
fn a_charge_on_both_sides_of_a_move_is_written_once_at_most() {
    both_engines(|test| {
        let desk = Desk::open(test, 106, noon("2026-01-10"));
        let (pat, kim) = (desk.member("Pat", &[]).id, desk.member("Kim", &[]).id);
        let change = MemberChange {
            payer_id: Some(Some(pat)),
            ..MemberChange::default()
        };
        desk.act(move |act| members::change(act, kim, &change));
        let [first, second] = ["60.00", "50.00"].map(|amount| desk.charge(kim, amount).id);
        desk.receive(receipt(pat, "20.00"));
        let same = desk.receive(receipt(kim, "30.00")).receipt.id;
        let new = NewReceipt {
            payments: vec![second],
            ..receipt(kim, "25.00")
        };
        let other = desk.receive(new).receipt.id;
        let before = desk.payment_events().len();
        desk.act(move |act| receipts::move_to(act, same, pat));
        desk.assert_state(first, PaymentStatus::PartiallyPaid, ["60.00", "50.00"]);
        assert_eq!(
            desk.payment_events().len(),
            before,
            "nothing of the charge has changed"
        );
        // What is open of the first charge goes before the second one.
        desk.act(move |act| receipts::move_to(act, other, pat));
        desk.assert_state(first, PaymentStatus::Paid, ["60.00", "60.00"]);
        desk.assert_state(second, PaymentStatus::PartiallyPaid, ["50.00", "15.00"]);
        let mut since = desk.payment_events().split_off(before);
        since.sort();
        assert_eq!(since, ["payment.paid", "payment.updated"]);
        assert_eq!(problems(&desk.db), []);
    });
}

impl Desk {
    /// What the books of a day say is owed for a charge.
    fn owed_on(&self, charge: PaymentId, date: &str) -> i64 {
        let shown = self.look(move |view| payments::show(view, charge)).unwrap();
        let entries = shown.entries.iter().filter(|entry| entry.date <= day(date));
        entries.map(|entry| entry.owed_for(charge)).sum()
    }
}

/// Nothing is owed for a cancelled charge on any day since, also after its money is taken back later.
#[test]
fn what_is_taken_back_of_a_cancelled_charge_is_never_owed() {
    type Deed = fn(&mut Act<'_, '_>, ReceiptId, MemberId) -> Result<Recorded, AppError>;
    let deeds: [(&str, Deed, &str); 4] = [
        ("Ada", |act, id, _| receipts::reverse(act, id, None), "2026-01-20"),
        ("Ben", receipts::move_to, "2026-01-20"),
        (
            "Cy",
            |act, id, _| receipts::bounce(act, id, Date::parse("2026-02-05"), None),
            "2026-01-20",
        ),
        (
            "Dee",
            |act, id, _| {
                let back = refunds::Refund {
                    date: Date::parse("2026-02-05"),
                    ..refund("40.00")
                };
                refunds::refund(act, id, &back)
            },
            "2026-02-05",
        ),
    ];
    both_engines(|test| {
        let desk = Desk::open(test, 101, noon("2026-01-10"));
        let other = desk.member("Eve", &[]).id;
        for (name, deed, since) in deeds {
            for is_credit in [false, true] {
                desk.set_clock(noon("2026-01-12"));
                let member = desk.member(&format!("{name}{is_credit}"), &[]).id;
                let mut charge = (!is_credit).then(|| desk.charge(member, "100.00").id);
                let id = desk.receive(receipt(member, "40.00")).receipt.id;
                let charge = *charge.get_or_insert_with(|| desk.charge(member, "100.00").id);
                desk.set_clock(noon("2026-01-20"));
                if name != "Dee" {
                    desk.act(move |act| payments::cancel(act, charge, false, None));
                } else if is_credit {
                    continue;
                }
                desk.set_clock(noon("2026-02-10"));
                desk.act(move |act| deed(act, id, other));
                desk.assert_state(charge, PaymentStatus::Cancelled, ["100.00", "0.00"]);
                for date in ["2026-01-20", "2026-02-05", "2026-02-06", "2026-02-10"] {
                    if date >= since {
                        assert_eq!(desk.owed_on(charge, date), 0, "{name} {is_credit} {date}");
                    }
                }
            }
        }
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_check_that_was_moved_bounces_on_the_day_the_money_went() {
    both_engines(|test| {
        let desk = Desk::open(test, 104, noon("2026-01-20"));
        let (ada, ben) = (desk.member("Ada", &[]).id, desk.member("Ben", &[]).id);
        let new = NewReceipt {
            date: Some(day("2026-01-15")),
            ..receipt(ada, "40.00")
        };
        let id = desk.receive(new).receipt.id;
        desk.set_clock(noon("2026-03-10"));
        desk.act(|act| periods::close(act, day("2026-01-31")));
        desk.act(move |act| receipts::move_to(act, id, ben));
        let bounce = |date: &'static str| {
            move |act: &mut Act<'_, '_>| receipts::bounce(act, id, Date::parse(date), None)
        };
        desk.act(|act| periods::reopen(act, None, "late mail"));
        let refused = desk.refused(bounce("2026-01-14"));
        assert!(
            refused.contains("before the day the money came, 2026-01-15"),
            "{refused}"
        );
        desk.act(|act| periods::close(act, day("2026-01-31")));
        let bounced = desk.act(bounce("2026-02-10"));
        assert_eq!(bounced.entries.last().unwrap().date, day("2026-02-10"));
        desk.assert_balances(&[]);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_payment_is_paid_when_the_latest_money_left_on_it_came() {
    both_engines(|test| {
        let desk = Desk::open(test, 102, noon("2026-02-10"));
        let ada = desk.member("Ada", &[]).id;
        for is_named in [true, false] {
            let charge = desk.charge(ada, "100.00").id;
            let [_, latest] = [("60.00", "2026-01-12"), ("40.00", "2026-02-05")].map(|(amount, date)| {
                let new = NewReceipt {
                    date: Some(day(date)),
                    payments: vec![charge],
                    again: true,
                    ..receipt(ada, amount)
                };
                desk.receive(new).receipt.id
            });
            let give = |amount: &'static str| {
                desk.act(move |act| match is_named {
                    true => refunds::refund(act, latest, &refund(amount)).map(drop),
                    false => payments::refund(act, charge, &refund(amount)).map(drop),
                });
                desk.get::<Payment>(charge).paid_at
            };
            assert_eq!(give("10.00"), Some(day("2026-02-05").start()), "{is_named}");
            assert_eq!(give("30.00"), Some(day("2026-01-12").start()), "{is_named}");
            desk.assert_state(charge, PaymentStatus::Paid, ["60.00", "60.00"]);
        }
        // What was recorded today keeps its moment.
        let charge = desk.charge(ada, "50.00").id;
        desk.receive(receipt(ada, "50.00"));
        let paid_at = desk.get::<Payment>(charge).paid_at;
        desk.set_clock(noon("2026-02-10").plus_seconds(60));
        desk.act(move |act| payments::refund(act, charge, &refund("10.00")));
        assert_eq!(desk.get::<Payment>(charge).paid_at, paid_at);
        assert_eq!(problems(&desk.db), []);
    });
}
