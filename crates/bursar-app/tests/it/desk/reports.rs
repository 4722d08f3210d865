//! What the reports say of a few months, on both engines, checked by hand.

use bursar_app::books::accounts::{self, AccountChange};
use bursar_app::books::count;
use bursar_app::books::entries::{self, NewPosting};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::books::refunds::Refund;
use bursar_app::journal_export::{self, Format};
use bursar_app::payments::{Adjustment, Every, NewPlan};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::reports::{self, Basis, IncomeReport, Span};
use bursar_domain::account::AccountType;
use bursar_domain::reimbursement::ReimbursementVerb;

use super::*;

fn span(from: &str, until: &str) -> Span {
    Span::of(day(from), day(until))
}

fn of_member(payer: MemberId, amount: &str, method: Paid) -> NewReceipt {
    NewReceipt {
        amount: amount.into(),
        method,
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

/// The lines of a report: `name amount`, expenses with a minus, then the result.
fn lines(report: &IncomeReport) -> Vec<String> {
    let income = report
        .income
        .iter()
        .map(|line| format!("{} {}", line.account, line.amount));
    let expense = report
        .expense
        .iter()
        .map(|line| format!("-{} {}", line.account, line.amount));
    income
        .chain(expense)
        .chain([format!("= {}", report.result)])
        .filter(|line| !line.ends_with(" 0.00") || line.starts_with('='))
        .collect()
}

impl Desk {
    fn income(&self, from: &str, until: &str, basis: Basis) -> IncomeReport {
        let span = span(from, until);
        let report = self.look(move |view| reports::income(view, span, basis)).unwrap();
        let sum = |lines: &[reports::IncomeLine]| lines.iter().map(|line| line.amount.minor).sum::<i64>();
        assert_eq!(sum(&report.income), report.totals.income.minor);
        assert_eq!(sum(&report.expense), report.totals.expense.minor);
        assert_eq!(
            report.result.minor,
            report.totals.income.minor - report.totals.expense.minor
        );
        if let Some(money) = report.money {
            assert_eq!(
                money.end.minor,
                money.start.minor + money.opening.minor + report.result.minor
            );
        }
        report
    }

    fn posted(&self, debit: &str, credit: &str, amount: &str) {
        let new = NewPosting {
            debit: debit.into(),
            credit: credit.into(),
            amount: amount.into(),
            date: None,
            memo: None,
            reference: None,
        };
        self.act(move |act| entries::record(act, &new));
    }

    pub(super) fn exported(&self, format: Format) -> String {
        let done = self.look(move |view| {
            let mut out = Vec::new();
            let days = (None, None);
            match journal_export::export(view, format, days, &mut out, &mut |_| ()) {
                Ok(_) => Ok(String::from_utf8(out).unwrap()),
                Err(error) => panic!("{error:?}"),
            }
        });
        done.unwrap()
    }
}

#[test]
fn money_is_shown_under_what_it_settled() {
    both_engines(|test| {
        let desk = Desk::open(test, 70, noon("2026-01-10"));
        let (ada, ben) = (desk.member("Ada", &[]).id, desk.member("Ben", &[]).id);
        // Not a year's money: the bank held it before.
        let opening = AccountChange {
            opening: Some(("1000.00".into(), Some(day("2026-01-01")))),
            ..AccountChange::default()
        };
        desk.act(move |act| accounts::set(act, "bank", &opening));
        desk.act(|act| accounts::create(act, "Savings", AccountType::Asset));
        desk.act(|act| accounts::create(act, "Regatta", AccountType::Income));
        let first = desk.charge(ada, "40.00");
        let fee = NewCharges {
            category: Some("Regatta".into()),
            ..charges(Debtor::Member(ben), "30.00")
        };
        let fee = desk.act(move |act| payments::raise(act, &fee, None)).payments[0].id;
        // 40.00 for dues, and 60.00 in advance.
        desk.act(move |act| receipts::record(act, &of_member(ada, "100.00", Paid::Transfer)));
        desk.act(move |act| receipts::record(act, &of_member(ben, "30.00", Paid::Cash)));
        desk.posted("Savings", "bank", "500.00");
        desk.posted("bank-fees", "bank", "3.50");
        let january = desk.income("2026-01-01", "2026-01-31", Basis::Cash);
        assert_eq!(
            lines(&january),
            [
                "dues 40.00",
                "Regatta 30.00",
                "received in advance 60.00",
                "-bank-fees 3.50",
                "= 126.50"
            ]
        );
        let money = january.money.unwrap();
        assert_eq!(
            [money.start, money.opening, money.end].map(|money| money.to_string()),
            ["0.00", "1000.00", "1126.50"]
        );
        assert_eq!(
            lines(&desk.income("2026-01-01", "2026-01-31", Basis::Accrual)),
            ["dues 40.00", "Regatta 30.00", "-bank-fees 3.50", "= 66.50"]
        );
        // In February the credit meets a charge: no money moves. What is given up is no money either.
        desk.set_clock(noon("2026-02-10"));
        let second = desk.charge(ada, "50.00");
        assert_eq!(second.status, PaymentStatus::Paid);
        let third = desk.charge(ben, "25.00").id;
        desk.act(move |act| payments::adjust(act, third, "20.00", Adjustment::Discount, "early"));
        desk.act(move |act| payments::cancel(act, third, true, None));
        assert_eq!(
            lines(&desk.income("2026-02-01", "2026-02-28", Basis::Cash)),
            ["dues 50.00", "received in advance -50.00", "= 0.00"]
        );
        let accrual = desk.income("2026-02-01", "2026-02-28", Basis::Accrual);
        assert_eq!(
            lines(&accrual),
            ["discounts -5.00", "-write-offs 20.00", "= -25.00"],
            "charges are dated their due day, which is in January"
        );
        assert_eq!(
            lines(&desk.income("2026-01-01", "2026-01-31", Basis::Accrual)),
            ["dues 115.00", "Regatta 30.00", "-bank-fees 3.50", "= 141.50"]
        );
        // The bank takes Ben's money while he objects, and Ada is paid back.
        desk.set_clock(noon("2026-03-10"));
        desk.act(move |act| payments::dispute(act, fee));
        let back = Refund {
            amount: "40.00".into(),
            date: None,
            method: None,
            account: None,
        };
        let first = first.id;
        desk.act(move |act| payments::refund(act, first, &back));
        let march = desk.income("2026-03-01", "2026-03-31", Basis::Cash);
        assert_eq!(lines(&march), ["dues -40.00", "Regatta -30.00", "= -70.00"]);
        assert_eq!(
            march.before.map(|before| (before.from, before.until)),
            Some((day("2026-02-01"), day("2026-02-28")))
        );
        assert_eq!(march.income[0].before.to_string(), "50.00");
        desk.set_clock(noon("2026-04-10"));
        desk.act(move |act| payments::lose_dispute(act, fee, &[]));
        assert_eq!(
            lines(&desk.income("2026-04-01", "2026-04-30", Basis::Cash)),
            ["= 0.00"]
        );
        // The year agrees with the accounts.
        let year = desk.income("2026-01-01", "2026-12-31", Basis::Cash);
        assert_eq!(
            lines(&year),
            [
                "dues 50.00",
                "received in advance 10.00",
                "-bank-fees 3.50",
                "= 56.50"
            ]
        );
        let year = desk.income("2026-01-01", "2026-12-31", Basis::Accrual);
        let (balances, totals) = desk.look(|view| reports::balances(view, None)).unwrap();
        assert_eq!(balances.iter().map(|line| line.amount.minor).sum::<i64>(), 0);
        let result: i64 = totals
            .iter()
            .filter(|(account_type, _)| account_type.is_result())
            .map(|(_, total)| total.minor)
            .sum();
        assert_eq!(year.result.minor, -result);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_payout_is_shown_under_its_expense() {
    both_engines(|test| {
        let desk = Desk::open(test, 71, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        let admin = desk.officer("admin@example.org", Role::Admin);
        let budget = AccountChange {
            budget: Some("1200.00".into()),
            ..AccountChange::default()
        };
        let draft = Draft {
            member_id: Some(ada),
            recipient_organization_id: None,
            amount: "18.40".into(),
            category: Some("Travel".into()),
            description: String::new(),
            incurred_at: Some(day("2025-12-20")),
            receipts: Vec::new(),
        };
        let id = desk.act(move |act| reimbursements::draft(act, &draft)).id;
        // It was paid from the till before it was approved, and typed in after.
        for (verb, date) in [
            (ReimbursementVerb::Submit, None),
            (ReimbursementVerb::Approve, None),
            (ReimbursementVerb::Pay, Some(day("2026-01-05"))),
        ] {
            let remarks = Remarks {
                date,
                ..Remarks::default()
            };
            desk.try_as(admin, move |act| reimbursements::perform(act, id, verb, &remarks))
                .unwrap();
        }
        assert_eq!(problems(&desk.db), []);
        desk.act(move |act| accounts::set(act, "travel", &budget));
        let cash = desk.income("2026-01-01", "2026-01-31", Basis::Cash);
        assert_eq!(lines(&cash), ["-Travel 18.40", "= -18.40"]);
        assert_eq!(cash.expense[0].budget.unwrap().to_string(), "1200.00");
        assert_eq!(cash.budget.result.to_string(), "-1200.00");
        let accrual = desk.income("2026-01-01", "2026-01-31", Basis::Accrual);
        assert_eq!(lines(&accrual), ["= 0.00"]);
        assert_eq!(
            accrual.expense[0].before.to_string(),
            "18.40",
            "it was incurred in December"
        );
        // Returned by the bank, it is not spent.
        desk.try_as(admin, move |act| {
            reimbursements::perform(act, id, ReimbursementVerb::Return, &Remarks::default())
        })
        .unwrap();
        assert_eq!(
            lines(&desk.income("2026-01-01", "2026-01-31", Basis::Cash)),
            ["= 0.00"]
        );
    });
}

#[test]
fn dues_are_shown_by_group_and_day() {
    both_engines(|test| {
        let desk = Desk::open(test, 72, noon("2026-02-10"));
        let rowers = desk.group("Rowers");
        let (ada, ben) = (
            desk.member("Ada", &[rowers.id]).id,
            desk.member("Ben", &[rowers.id]).id,
        );
        let raise = charges(Debtor::Group(rowers.id), "40.00");
        let raised = desk.act(move |act| payments::raise(act, &raise, None)).payments;
        let of = |member: MemberId| {
            raised
                .iter()
                .find(|payment| payment.member_id == Some(member))
                .unwrap()
                .id
        };
        let (first, second) = (of(ada), of(ben));
        desk.act(move |act| payments::adjust(act, first, "30.00", Adjustment::Discount, "early"));
        desk.act(move |act| receipts::record(act, &of_member(ada, "12.00", Paid::Cash)));
        desk.act(move |act| payments::adjust(act, second, "0", Adjustment::Waiver, "away"));
        // In 3 instalments, of which one is due in the period; and one without a due day.
        let other = desk.charge(ben, "9.00").id;
        let plan = NewPlan {
            into: 3,
            every: Every::Month,
            first: Some(day("2026-02-28")),
        };
        desk.act(move |act| payments::plan(act, other, &plan));
        let undated = NewCharges {
            due_date: None,
            ..charges(Debtor::Member(ben), "5.00")
        };
        desk.act(move |act| payments::raise(act, &undated, None));
        let (lines, total) = desk
            .look(|view| reports::dues(view, span("2026-01-01", "2026-02-28")))
            .unwrap();
        let shown: Vec<String> = lines
            .iter()
            .map(|line| {
                let sums = &line.sums;
                let due = line.due_date.map_or("-".to_owned(), |due| due.to_string());
                format!(
                    "{} {due} {} {} {}: {} {} {} {} {}",
                    line.group,
                    line.day,
                    sums.payments,
                    sums.expected,
                    sums.discounts,
                    sums.collected,
                    sums.owed,
                    sums.overdue,
                    sums.expected.minor - sums.discounts.minor - sums.collected.minor - sums.owed.minor
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Rowers 2026-01-31 2026-01-31 2 80.00: 50.00 12.00 18.00 18.00 0",
                "(no group) - 2026-02-10 1 5.00: 0.00 0.00 5.00 0.00 0",
                "(no group) 2026-02-28 2026-02-28 1 3.00: 0.00 0.00 3.00 0.00 0",
            ]
        );
        assert_eq!(
            [total.expected, total.discounts, total.owed, total.overdue].map(|money| money.to_string()),
            ["88.00", "50.00", "26.00", "18.00"]
        );
        // Who owes, how long.
        desk.set_clock(noon("2026-03-31"));
        let owing = desk.look(reports::owing).unwrap();
        let shown: Vec<String> = owing
            .lines
            .iter()
            .map(|line| {
                let ages = &line.ages;
                let by_age = [
                    ages.not_due,
                    ages.days1to30,
                    ages.days31to60,
                    ages.days61to90,
                    ages.over90,
                ];
                let by_age = by_age.map(|money| money.to_string()).join(" ");
                let groups: Vec<&str> = line.groups.iter().map(|group| group.group.as_str()).collect();
                format!(
                    "{} {} {}: {by_age} {}",
                    line.name,
                    line.payments,
                    ages.owed,
                    groups.join("+")
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Ada Test 1 18.00: 0.00 0.00 18.00 0.00 0.00 Rowers",
                "Ben Test 4 14.00: 8.00 3.00 3.00 0.00 0.00 (no group)",
            ]
        );
        assert_eq!(owing.total.owed, owing.receivable);
        assert_eq!(owing.groups.len(), 2);
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn a_ledger_of_one_account_has_its_balance() {
    both_engines(|test| {
        let desk = Desk::open(test, 73, noon("2026-01-10"));
        let ada = desk.member("Ada", &[]).id;
        desk.posted("cash", "donations", "10.00");
        desk.set_clock(noon("2026-02-10"));
        desk.posted("bank", "cash", "4.00");
        desk.posted("bank", "other-income", "1.00");
        desk.act(move |act| receipts::record(act, &of_member(ada, "3.00", Paid::Cash)));
        let february = span("2026-02-01", "2026-02-28");
        let report = desk
            .look(move |view| reports::ledger(view, february, Some("CASH")))
            .unwrap();
        let of = report.of_account.unwrap();
        assert_eq!(
            (of.opening.to_string(), of.closing.to_string()),
            ("10.00".into(), "9.00".into())
        );
        assert_eq!(report.entries.len(), 2);
        assert_eq!(report.sums["cash"].to_string(), "-1.00");
        let all = desk
            .look(move |view| reports::ledger(view, february, None))
            .unwrap();
        assert_eq!(all.entries.len(), 3);
        assert_eq!(all.sums.values().map(|sum| sum.minor).sum::<i64>(), 0);
        let refused = desk
            .look(move |view| reports::ledger(view, february, Some("till")))
            .unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("there is no account \"till\"; `bursar account list` lists them"),
            "{refused}"
        );
        let refused = desk
            .look(move |view| reports::ledger(view, february, Some("recievable")))
            .unwrap_err();
        assert!(
            refused.to_string().ends_with("did you mean receivable?"),
            "{refused}"
        );
    });
}

#[test]
fn counted_money_is_what_the_account_holds() {
    both_engines(|test| {
        let desk = Desk::open(test, 74, noon("2026-01-10"));
        desk.posted("cash", "donations", "10.00");
        for (counted, difference, against) in [
            ("12.50", "2.50", Some("other-income")),
            ("12.00", "-0.50", Some("other-expense")),
            ("12.00", "0.00", None),
        ] {
            let done = desk.act(move |act| count::count(act, "Cash", counted, None));
            assert_eq!(done.difference.to_string(), difference);
            assert_eq!(done.against.map(|standing| standing.as_str()), against);
            assert_eq!(done.entry.is_some(), against.is_some());
            let (lines, _) = desk.look(|view| reports::balances(view, None)).unwrap();
            assert_eq!(lines[0].amount.to_string(), counted);
        }
        let refused = desk.refused(|act| count::count(act, "receivable", "1", None));
        assert!(
            refused.contains("must be an account that holds money"),
            "{refused}"
        );
        assert_eq!(problems(&desk.db), []);
    });
}

#[test]
fn an_export_keeps_what_other_programs_would_stumble_over() {
    both_engines(|test| {
        let desk = Desk::open(test, 75, noon("2026-01-10"));
        desk.act(|act| accounts::create(act, "Bar: a;b  \"till\"", AccountType::Asset));
        desk.act(|act| accounts::create(act, "bar- a,b 'till'", AccountType::Asset));
        let new = NewPosting {
            debit: "Bar: a;b  \"till\"".into(),
            credit: "donations".into(),
            amount: "1.00".into(),
            date: None,
            memo: Some("say \"hi\"; [2026-01-01] | \\ \nand more".into()),
            reference: None,
        };
        desk.act(move |act| entries::record(act, &new));
        let hledger = desk.exported(Format::Hledger);
        assert!(
            hledger.contains(
                "income, say \"hi\", [2026-01-01] , \\ and more\n    assets:Bar- a,b \"till\"  1.00 USD\n"
            ),
            "{hledger}"
        );
        let beancount = desk.exported(Format::Beancount);
        assert!(
            beancount.contains("2026-01-10 * \"income, say \\\"hi\\\"; [2026-01-01] | \\\\ and more\"\n"),
            "{beancount}"
        );
        assert!(
            beancount.contains("  Assets:Bar-a-b-till-2  1.00 USD\n"),
            "{beancount}"
        );
        assert!(
            beancount.contains("open Assets:Bar-a-b-till USD\n"),
            "{beancount}"
        );
        let csv = desk.exported(Format::Csv);
        assert_eq!(csv.lines().next().unwrap().split(',').count(), 20);
    });
}
