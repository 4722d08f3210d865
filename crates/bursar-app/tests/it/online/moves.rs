//! Refunds, disputes and payouts, and everything at once at random.

use bursar_app::books::credit;
use bursar_app::books::entries::{self, NewPosting};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::books::refunds::{self, Refund};
use bursar_app::payments::{self, Debtor, NewCharges};
use bursar_app::reports::{self, Basis, Span};
use bursar_domain::ids::{EntryId, ReceiptId};
use bursar_domain::online::MoveState;

use super::till::DISPUTE_FEE;
use super::*;

#[test]
fn a_refund_is_booked_when_the_provider_has_done_it() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.paid(0, &[(pay(1), None), (pay(2), None)]);
        let part = move |act: &mut Act<'_, '_>| online::refund(act, id, Some("10.00"), Some("too much"));
        club.act(1, part).unwrap();
        assert_eq!(club.charge(2).amount.to_string(), "40.00");
        club.till.state().is_down = true;
        let problem = club.pursue(1, id).problem;
        assert_eq!(problem.as_deref(), Some("the provider is unavailable"));
        club.till.state().is_down = false;
        // The answer gets lost, and the refund is asked for only once.
        club.till.state().lost = 2;
        for seconds in [2, 3, 4] {
            club.pursue(seconds, id);
        }
        let record = club.pursue(5, id);
        assert_eq!(record.refunded.to_string(), "10.00");
        assert_eq!(record.problem, None);
        assert_eq!(club.till.count("refund"), 1);
        assert_eq!(club.charge(2).amount.to_string(), "30.00");
        club.agrees();
        let refused = club
            .act(6, move |act| online::refund(act, id, Some("55.01"), None))
            .unwrap_err();
        assert!(refused.to_string().contains("at most what is left"), "{refused}");
        club.act(6, move |act| online::refund(act, id, None, None))
            .unwrap();
        let again = club
            .act(6, move |act| online::refund(act, id, None, None))
            .unwrap_err();
        assert!(again.to_string().contains("all of it was refunded"), "{again}");
        assert_eq!(club.pursue(7, id).state, OnlineState::Refunded);
        assert_eq!([club.status(1), club.status(2)], [PaymentStatus::Cancelled; 2]);
        club.agrees();
    });
}

#[test]
fn a_refund_that_the_provider_refuses_is_told_and_not_booked() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.paid(0, &[(pay(1), None)]);
        club.act(1, move |act| online::refund(act, id, None, None))
            .unwrap();
        club.till.state().refuses_refunds = true;
        let record = club.pursue(2, id);
        assert_eq!(record.moves[0].state, MoveState::Failed);
        assert_eq!(record.moves[0].reason.as_deref(), Some("the balance is too low"));
        assert_eq!(club.status(1), PaymentStatus::Paid);
        club.agrees();
        // It can be asked for again.
        club.till.state().refuses_refunds = false;
        club.act(3, move |act| online::refund(act, id, None, None))
            .unwrap();
        assert_eq!(club.pursue(4, id).state, OnlineState::Refunded);
        club.agrees();
    });
}

#[test]
fn a_refund_at_the_provider_is_found_without_a_report_and_one_that_fails_is_credit() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.paid(0, &[(pay(1), None)]);
        club.work(1);
        club.till.refund_there(id, 2_500, at(10));
        assert_eq!(club.work(3_000), 0);
        assert_eq!(club.work(3_700), 1, "the sweep");
        assert_eq!(club.work(3_700), 1, "what it found");
        assert_eq!(club.status(1), PaymentStatus::Cancelled);
        club.agrees();
        club.till.fail_refund(id);
        club.work(8_000);
        club.work(8_000);
        assert_eq!(club.balance("credit"), 2_500);
        let record = club.view(move |view| online::get(view, id)).unwrap();
        assert_eq!(record.state, OnlineState::Succeeded);
        club.agrees();
    });
}

#[test]
fn a_dispute_is_withdrawn_and_won() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.paid(0, &[(pay(1), None), (pay(2), Some("15.00"))]);
        club.till.dispute(id, 4_000, MoveState::Inquiry, at(1));
        club.pursue(1, id);
        assert_eq!(club.status(1), PaymentStatus::Paid);
        club.till.dispute(id, 4_000, MoveState::Withdrawn, at(2));
        club.pursue(2, id);
        assert_eq!(club.status(1), PaymentStatus::Disputed);
        assert_eq!(club.status(2), PaymentStatus::PartiallyPaid);
        assert_eq!(club.balance("disputes"), 4_000);
        assert_eq!(club.balance("bank-fees"), FEE + DISPUTE_FEE);
        club.agrees();
        let refused = club
            .act(3, move |act| online::refund(act, id, None, None))
            .unwrap_err();
        assert!(refused.to_string().contains("dispute has ended"), "{refused}");
        club.till.dispute(id, 4_000, MoveState::Won, at(3));
        club.pursue(3, id);
        assert_eq!(club.status(1), PaymentStatus::Paid);
        assert_eq!(club.balance("disputes"), 0);
        club.agrees();
        // An answer from before comes late.
        club.till.dispute(id, 4_000, MoveState::Inquiry, at(4));
        club.pursue(4, id);
        assert_eq!(club.status(1), PaymentStatus::Paid);
        assert_eq!(club.balance("disputes"), 0);
    });
}

#[test]
fn a_lost_dispute_is_owed_again() {
    for seen_withdrawn in [true, false] {
        both_engines(|test| {
            let club = Club::open(&test.db);
            let id = club.paid(0, &[(pay(1), None), (pay(2), Some("15.00"))]);
            if seen_withdrawn {
                club.till.dispute(id, 4_000, MoveState::Withdrawn, at(2));
                club.pursue(2, id);
            }
            club.till.dispute(id, 4_000, MoveState::Lost, at(3));
            club.pursue(3, id);
            assert_eq!(club.status(1), PaymentStatus::Failed);
            assert_eq!(club.charge(1).paid_to_date.minor, 0);
            assert_eq!(club.status(2), PaymentStatus::Failed);
            assert_eq!((club.balance("disputes"), club.balance("receivable")), (0, 8_500));
            club.agrees();
            // And can be paid again.
            club.paid(4, &[(pay(1), None)]);
            assert_eq!(club.status(1), PaymentStatus::Paid);
            club.agrees();
        });
    }
}

/// A charge is paid in parts, and the payer disputes each of them.
#[test]
fn two_disputes_of_one_charge_end_as_each_of_them_ends() {
    for (ends, status, paid) in [
        ([MoveState::Won, MoveState::Won], PaymentStatus::Paid, 2_500),
        ([MoveState::Lost, MoveState::Won], PaymentStatus::Failed, 1_500),
        ([MoveState::Won, MoveState::Lost], PaymentStatus::Failed, 1_000),
        ([MoveState::Lost, MoveState::Lost], PaymentStatus::Failed, 0),
    ] {
        both_engines(|test| {
            let club = Club::open(&test.db);
            let parts = [(Some("10.00"), 1_000), (None, 1_500)];
            let disputed = parts.map(|(part, amount)| {
                let id = club.paid(amount, &[(pay(1), part)]);
                (id, amount)
            });
            for (id, amount) in disputed {
                club.till.dispute(id, amount, MoveState::Withdrawn, at(2_000));
                assert_eq!(club.pursue(2_001, id).problem, None);
            }
            assert_eq!(club.status(1), PaymentStatus::Disputed);
            assert_eq!(club.balance("disputes"), 2_500);
            // What the provider says cannot be said by hand meanwhile.
            let said = |done: Result<Payment, AppError>| done.unwrap_err().to_string();
            for refused in [
                said(club.act(2_002, |act| payments::win_dispute(act, pay(1)))),
                said(club.act(2_002, |act| payments::lose_dispute(act, pay(1), &[]))),
            ] {
                assert!(refused.contains("respond there"), "{refused}");
            }
            for ((id, amount), end) in disputed.into_iter().zip(ends) {
                assert_ne!(club.status(1), PaymentStatus::Paid, "one is open");
                club.till.dispute(id, amount, end, at(2_003));
                assert_eq!(club.pursue(2_004, id).problem, None);
            }
            assert_eq!(
                (club.status(1), club.charge(1).paid_to_date.minor),
                (status, paid)
            );
            assert_eq!(club.balance("disputes"), 0);
            club.agrees();
        });
    }
}

/// The rest of the charge's money is there, and can go back.
#[test]
fn a_part_goes_back_while_another_is_disputed() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let (first, second) = (
            club.paid(0, &[(pay(1), Some("10.00"))]),
            club.paid(1, &[(pay(1), None)]),
        );
        club.till.dispute(second, 1_500, MoveState::Withdrawn, at(2));
        club.pursue(2, second);
        club.act(3, move |act| online::refund(act, first, Some("4.00"), None))
            .unwrap();
        assert_eq!(club.pursue(4, first).problem, None);
        let charge = club.charge(1);
        assert_eq!(
            (charge.status, charge.amount.minor),
            (PaymentStatus::Disputed, 2_100)
        );
        club.till.dispute(second, 1_500, MoveState::Lost, at(5));
        club.pursue(5, second);
        let charge = club.charge(1);
        assert_eq!(
            (charge.status, charge.paid_to_date.minor),
            (PaymentStatus::Failed, 600)
        );
        club.agrees();
    });
}

#[test]
fn money_of_the_provider_goes_back_through_the_provider_alone() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.paid(0, &[(pay(1), None)]);
        let receipt = club
            .view(move |view| online::get(view, id))
            .unwrap()
            .receipt_id
            .unwrap();
        let back = |account: Option<&str>| Refund {
            amount: "25.00".to_owned(),
            date: None,
            method: None,
            account: account.map(str::to_owned),
        };
        let (first, second) = (back(None), back(None));
        for refused in [
            club.act(1, move |act| receipts::reverse(act, receipt, None))
                .map(drop),
            club.act(1, move |act| receipts::bounce(act, receipt, None, None))
                .map(drop),
            club.act(1, move |act| refunds::refund(act, receipt, &first))
                .map(drop),
            club.act(1, move |act| payments::refund(act, pay(1), &second))
                .map(drop),
        ] {
            let refused = refused.unwrap_err().to_string();
            assert!(
                refused.contains(&format!("`bursar online refund {id}`")),
                "{refused}"
            );
        }
        // By transfer an officer may pay it back.
        let transfer = back(Some("bank"));
        club.act(1, move |act| payments::refund(act, pay(1), &transfer))
            .unwrap();
        assert_eq!(club.balance("bank"), -2_500);
        club.agrees();
    });
}

/// An officer pays so much back, from the bank.
fn by_transfer(amount: &str) -> Refund {
    Refund {
        amount: amount.to_owned(),
        date: None,
        method: None,
        account: Some("bank".to_owned()),
    }
}

impl Club<'_> {
    fn receipt_of(&self, id: OnlinePaymentId) -> ReceiptId {
        let record = self.view(move |view| online::get(view, id)).unwrap();
        record.receipt_id.unwrap()
    }

    fn refund(&self, id: OnlinePaymentId, amount: Option<&'static str>) -> Result<Record, String> {
        self.act(1, move |act| online::refund(act, id, amount, None))
            .map_err(|error| error.to_string())
    }

    fn refund_by_hand(&self, n: u128, amount: &str) -> Result<Payment, String> {
        let back = by_transfer(amount);
        self.act(1, move |act| payments::refund(act, pay(n), &back))
            .map_err(|error| error.to_string())
    }

    /// A receipt of the first member that settles these charges.
    fn receive(&self, amount: &str, payments: &[PaymentId]) -> receipts::Recorded {
        let new = NewReceipt {
            amount: amount.to_owned(),
            method: Method::Transfer,
            date: None,
            account: None,
            payer: Some(mem(1)),
            payer_name: None,
            reference: None,
            payments: payments.to_vec(),
            campaign: None,
            income: None,
            again: true,
        };
        self.act(1, move |act| receipts::record(act, &new)).unwrap()
    }

    /// Lines of this year's income on the cash basis, in minor units.
    fn cash(&self) -> Vec<(String, i64)> {
        let span = Span {
            from: None,
            until: None,
        };
        let report = self
            .view(move |view| reports::income(view, span, Basis::Cash))
            .unwrap();
        let income = report
            .income
            .into_iter()
            .map(|line| (line.account, line.amount.minor));
        let expense = report
            .expense
            .into_iter()
            .map(|line| (line.account, -line.amount.minor));
        let mut lines: Vec<_> = income.chain(expense).filter(|(_, amount)| *amount != 0).collect();
        lines.sort_unstable();
        lines
    }
}

#[test]
fn what_an_officer_paid_back_is_not_refunded_again() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let (first, second) = (club.paid(0, &[(pay(1), None)]), club.paid(0, &[(pay(2), None)]));
        // Other credit of the payer is not touched for it.
        club.receive("30.00", &[pay(4)]);
        assert_eq!(club.balance("credit"), 2_000);
        club.refund_by_hand(1, "25.00").unwrap();
        for amount in [None, Some("0.01")] {
            let refused = club.refund(first, amount).unwrap_err();
            let receipt = club.receipt_of(first);
            assert!(
                refused.contains("nothing of the 25.00 that came is left to refund")
                    && refused.contains(&format!("`bursar receipt show {receipt}`")),
                "{refused}"
            );
        }
        let (receipt, back) = (club.receipt_of(second), by_transfer("15.00"));
        club.act(1, move |act| refunds::refund(act, receipt, &back))
            .unwrap();
        let refused = club.refund(second, Some("25.01")).unwrap_err();
        assert!(
            refused.contains(
                "must be at most what the books still hold of the 40.00 that came, 25.00, got 25.01"
            ),
            "{refused}"
        );
        // Left out, it is what is left.
        assert_eq!(club.refund(second, None).unwrap().moves[0].amount.minor, 2_500);
        let record = club.pursue(2, second);
        assert_eq!((record.problem, record.refunded.minor), (None, 2_500));
        assert_eq!([club.status(1), club.status(2)], [PaymentStatus::Cancelled; 2]);
        assert_eq!((club.balance("credit"), club.balance("bank")), (2_000, -1_000));
        club.agrees();
    });
}

#[test]
fn what_the_provider_is_asked_to_pay_back_is_not_paid_back_by_hand() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None), (pay(2), None)]);
        club.act(0, |act| payments::cancel(act, pay(1), false, None))
            .unwrap();
        club.till.pay(id, at(0));
        club.pursue(0, id);
        assert_eq!(club.balance("credit"), 2_500);
        // All of the credit and 25.00 of the charge, so that 15.00 can be used.
        club.refund(id, Some("50.00")).unwrap();
        let receipt = club.receipt_of(id);
        // A new charge leaves the credit alone.
        let new = NewCharges {
            debtor: Debtor::Member(mem(1)),
            amount: Some("20.00".to_owned()),
            description: "More".to_owned(),
            due_date: None,
            category: None,
            again: false,
        };
        let raised = club.act(1, move |act| payments::raise(act, &new, None)).unwrap();
        assert_eq!(raised.payments[0].status, PaymentStatus::Pending);
        let (of_receipt, of_credit) = (by_transfer("15.01"), by_transfer("15.01"));
        let told = |done: Result<(), AppError>| done.unwrap_err().to_string();
        for refused in [
            club.refund_by_hand(2, "15.01").unwrap_err(),
            told(club.act(1, move |act| refunds::refund(act, receipt, &of_receipt).map(drop))),
            told(club.act(1, move |act| credit::refund(act, mem(1), &of_credit).map(drop))),
            told(club.act(1, |act| credit::apply(act, mem(1)).map(drop))),
        ] {
            assert!(refused.contains(&format!("{id} is being refunded")), "{refused}");
        }
        club.refund_by_hand(2, "5.00").unwrap();
        let record = club.pursue(2, id);
        assert_eq!((record.problem, record.refunded.minor), (None, 5_000));
        assert_eq!((club.balance("credit"), club.charge(2).amount.minor), (0, 1_000));
        club.agrees();
        // When it has ended, what is left can go back in any way.
        club.refund_by_hand(2, "10.00").unwrap();
        club.agrees();
    });
}

/// What was refunded in another way is part of a dispute all the same, and is taken from the same credit.
#[test]
fn a_lost_dispute_takes_credit_once() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None), (pay(3), None)]);
        club.act(0, |act| payments::cancel(act, pay(3), false, None))
            .unwrap();
        club.till.pay(id, at(0));
        club.pursue(0, id);
        assert_eq!(club.balance("credit"), 1_000);
        club.refund_by_hand(1, "20.00").unwrap();
        club.till.dispute(id, 3_500, MoveState::Lost, at(2));
        assert_eq!(club.pursue(2, id).problem, None);
        assert_eq!((club.balance("credit"), club.balance("disputes")), (0, 0));
        assert_eq!(club.balance("write-offs"), 2_000);
        club.agrees();
    });
}

#[test]
fn a_bounce_leaves_what_an_open_dispute_needs() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let check = club.receive("10.00", &[pay(1)]).receipt.id;
        let id = club.paid(0, &[(pay(1), None)]);
        club.refund_by_hand(1, "10.00").unwrap();
        club.till.dispute(id, 1_500, MoveState::Withdrawn, at(2));
        club.pursue(2, id);
        let bounce = move |act: &mut Act<'_, '_>| receipts::bounce(act, check, None, None);
        let refused = club.act(3, bounce).unwrap_err().to_string();
        assert!(
            refused.contains("has withdrawn 15.00 of the 15.00")
                && refused.contains("wait until the dispute"),
            "{refused}"
        );
        club.till.dispute(id, 1_500, MoveState::Lost, at(4));
        assert_eq!(club.pursue(4, id).problem, None);
        let charge = club.charge(1);
        assert_eq!(
            (charge.status, charge.paid_to_date.minor),
            (PaymentStatus::Failed, 0)
        );
        club.agrees();
    });
}

#[test]
fn disputed_credit_was_received_in_advance() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        let id = club.start(0, &[(pay(1), None)]);
        club.act(0, |act| payments::cancel(act, pay(1), false, None))
            .unwrap();
        club.till.pay(id, at(0));
        club.pursue(0, id);
        club.act(0, |act| credit::apply(act, mem(1))).unwrap();
        let line = |account: &str, amount: i64| (account.to_owned(), amount);
        let fees = -(FEE + DISPUTE_FEE);
        assert_eq!(club.cash(), [line("bank-fees", -FEE), line("dues", 2_500)]);
        club.till.dispute(id, 2_500, MoveState::Withdrawn, at(2));
        club.pursue(2, id);
        assert_eq!(
            club.cash(),
            [
                line("bank-fees", fees),
                line("dues", 2_500),
                line("received in advance", -2_500)
            ]
        );
        club.till.dispute(id, 2_500, MoveState::Lost, at(3));
        club.pursue(3, id);
        assert_eq!(
            club.cash(),
            [
                line("bank-fees", fees),
                line("dues", 2_500),
                line("write-offs", -2_500)
            ]
        );
        club.agrees();
    });
}

fn payout_by_hand() -> NewPosting {
    NewPosting {
        debit: "bank".to_owned(),
        credit: "clearing".to_owned(),
        amount: "24.41".to_owned(),
        date: None,
        memo: None,
        reference: None,
    }
}

#[test]
fn a_payout_that_was_taken_back_already_is_taken_back_once() {
    // An officer books it again after that, or does not.
    for is_booked_again in [false, true] {
        both_engines(|test| {
            let club = Club::open(&test.db);
            club.paid(0, &[(pay(1), None)]);
            let payout = club.till.pay_out(at(10));
            club.till.set_payout(payout, MoveState::Paid);
            club.teller(11).sweep(org(1)).unwrap();
            let found = club.view(|view| online::payouts(view, 10)).unwrap();
            let entry: EntryId = found[0].entry_id.unwrap();
            club.act(12, move |act| entries::reverse(act, entry, "not there"))
                .unwrap();
            assert_eq!(club.balance("bank"), 0);
            if is_booked_again {
                club.act(13, |act| entries::record(act, &payout_by_hand()))
                    .unwrap();
            }
            club.till.set_payout(payout, MoveState::Failed);
            club.teller(14).sweep(org(1)).unwrap();
            assert_eq!(club.balance("bank"), 0);
            club.agrees();
        });
    }
}

#[test]
fn a_payout_reaches_the_bank_and_one_that_comes_back_leaves_it() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        club.paid(0, &[(pay(1), None)]);
        let payout = club.till.pay_out(at(10));
        club.teller(11).sweep(org(1)).unwrap();
        assert_eq!(club.balance("bank"), 0);
        club.till.set_payout(payout, MoveState::Paid);
        for seconds in [12, 13] {
            club.teller(seconds).sweep(org(1)).unwrap();
            assert_eq!(club.balance("bank"), 2_500 - FEE);
            club.agrees();
        }
        club.till.set_payout(payout, MoveState::Failed);
        club.teller(14).sweep(org(1)).unwrap();
        assert_eq!(club.balance("bank"), 0);
        club.agrees();
    });
}

#[test]
fn a_payout_that_an_officer_booked_is_not_booked_again() {
    both_engines(|test| {
        let club = Club::open(&test.db);
        club.paid(0, &[(pay(1), None)]);
        let payout = club.till.pay_out(at(10));
        let entry = club
            .act(11, |act| entries::record(act, &payout_by_hand()))
            .unwrap();
        club.till.set_payout(payout, MoveState::Paid);
        club.teller(12).sweep(org(1)).unwrap();
        let payouts = club.view(|view| online::payouts(view, 10)).unwrap();
        assert_eq!(payouts[0].entry_id, Some(entry.id));
        club.agrees();
        // Another one of the same amount is another one.
        club.paid(20, &[(pay(2), Some("25.00"))]);
        let payout = club.till.pay_out(at(21));
        club.till.set_payout(payout, MoveState::Paid);
        club.teller(22).sweep(org(1)).unwrap();
        assert_eq!(club.balance("bank"), 2 * (2_500 - FEE));
        club.agrees();
    });
}

/// Whatever happens at the provider, and whichever answers are lost: in the end the books agree.
#[test]
fn books_and_provider_agree_in_the_end() {
    let seed = bursar_testing::seed();
    let rounds = if bursar_testing::is_full() { 12 } else { 1 };
    for round in 0..rounds {
        both_engines(|test| {
            let mut random = fastrand::Rng::with_seed(seed.wrapping_add(round));
            let club = Club::open(&test.db);
            let mut started: Vec<OnlinePaymentId> = Vec::new();
            let mut payouts = Vec::new();
            let mut second = 0;
            for _ in 0..60 {
                second += random.i64(1..400);
                let id = random.choice(&started).copied();
                let outcome = |id: OnlinePaymentId| {
                    let state = club.till.state();
                    state
                        .payments
                        .get(&format!("cs_{id}"))
                        .map(|payment| payment.outcome.clone())
                };
                let seen = id.and_then(outcome);
                match (random.u8(0..12), id, seen) {
                    (0..=2, ..) => {
                        let n = random.u128(1..=3);
                        let part = random.bool().then_some("5.00");
                        if let Ok(id) = club.begin(second, &[(pay(n), part)]) {
                            started.push(id);
                            let _ = club.teller(second).open(org(1), id);
                        }
                    }
                    (3..=4, Some(id), Some(seen)) if seen.progress == Progress::Waiting => {
                        club.till.pay(id, at(second));
                    }
                    (5, Some(id), Some(seen)) if seen.progress == Progress::Waiting => {
                        club.till.set(id, Progress::Expired, Some("declined"));
                    }
                    (6, Some(id), Some(_)) => {
                        let _ = club.act(second, move |act| online::refund(act, id, Some("3.00"), None));
                    }
                    (7, Some(id), Some(seen)) if seen.charge.is_some() && seen.refunds.is_empty() => {
                        let to = match seen.disputes.first().map(|dispute| dispute.state) {
                            None | Some(MoveState::Inquiry) => MoveState::Withdrawn,
                            Some(_) => *random.choice(&[MoveState::Won, MoveState::Lost]).unwrap(),
                        };
                        let is_over = seen.disputes.iter().any(|dispute| dispute.state.is_final());
                        let has_wanted = club
                            .view(move |view| online::get(view, id))
                            .is_ok_and(|record| !record.moves.iter().all(|found| found.state.is_final()));
                        if !is_over && (!has_wanted || !seen.disputes.is_empty()) {
                            let amount = club.till.state().payments[&format!("cs_{id}")].amount;
                            club.till.dispute(id, amount, to, at(second));
                        }
                    }
                    (8, ..) => payouts.push(club.till.pay_out(at(second))),
                    (9, ..) => {
                        if let Some(payout) = random.choice(&payouts) {
                            club.till.set_payout(*payout, MoveState::Paid);
                        }
                    }
                    (10, ..) => club.till.state().lost = random.usize(0..3),
                    (_, Some(id), _) if random.bool() => {
                        let names = vec![format!("cs_{id}")];
                        let _ = club.teller(second).hear(org(1), online::Report::Payment(names));
                    }
                    _ => drop(club.work(second)),
                }
            }
            club.till.state().lost = 0;
            // Hours later everything was asked.
            for hours in 1..60 {
                club.work(second + hours * 3_600);
            }
            let all = club.view(|view| online::list(view, None, 1_000)).unwrap();
            let odd: Vec<&Record> = all.iter().filter(|record| record.problem.is_some()).collect();
            assert!(odd.is_empty(), "{odd:#?}");
            let paid_out: i64 = club
                .till
                .state()
                .payouts
                .iter()
                .filter(|payout| payout.state != MoveState::Paid)
                .map(|payout| payout.amount.minor)
                .sum();
            // What is on its way to the bank has left the provider, and is not in the bank.
            assert_eq!(club.balance("clearing"), club.till.state().balance + paid_out);
            assert_eq!(problems(&test.db), []);
        });
    }
}
