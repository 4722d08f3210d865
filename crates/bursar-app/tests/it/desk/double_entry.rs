//! Random acts against a small double-entry model: what each act posts is written down here by the rules of the books,
//! and the reports, and the reports worked out from the export, must say the same for every month.

use std::collections::BTreeMap;

use bursar_app::books::accounts::{self, AccountChange};
use bursar_app::books::count;
use bursar_app::books::credit;
use bursar_app::books::entries::{self, NewPosting};
use bursar_app::books::receipts::{self, NewReceipt};
use bursar_app::books::refunds::Refund;
use bursar_app::journal_export::Format;
use bursar_app::payments::{Adjustment, Every, NewPlan};
use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_app::reports::{self, Basis, Span};
use bursar_domain::account::AccountType;
use bursar_domain::ids::{PaymentId, ReceiptId, ReimbursementId};
use bursar_domain::money::Money;
use bursar_domain::reimbursement::ReimbursementVerb;
use bursar_testing::journal::{self, Sums, add};

use super::*;

const MONEY: [&str; 3] = ["cash", "bank", "Till"];
const INCOME: [&str; 3] = ["dues", "Bar", "donations"];

fn decimal(minor: i64) -> String {
    Money::new(minor, Currency::USD).to_string()
}

#[derive(Clone, Debug)]
struct Charge {
    id: PaymentId,
    member: usize,
    income: &'static str,
    due: Date,
    /// When it counts.
    dated: Date,
    amount: i64,
    paid: i64,
    /// Cancelled, written off, or refunded in full.
    is_over: bool,
    /// The first day that money came for it.
    came: Option<Date>,
}

impl Charge {
    fn open(&self) -> i64 {
        if self.is_over { 0 } else { self.amount - self.paid }
    }
}

/// A receipt that settled charges and left no credit, so that its bounce concerns nothing else.
#[derive(Clone, Debug)]
struct Check {
    id: ReceiptId,
    account: &'static str,
    parts: Vec<(usize, i64)>,
}

/// The books as the test keeps them.
#[derive(Default)]
struct Books {
    /// Debits are positive.
    postings: Vec<(Date, String, i64)>,
    /// What the cash basis shows, by day: income is positive.
    cash: Vec<(Date, String, i64)>,
    charges: Vec<Charge>,
    credit: BTreeMap<usize, i64>,
    /// What changed the credit of a member.
    credits: Vec<(usize, Date, i64)>,
    checks: Vec<Check>,
    /// Approved and not paid: the amount and the account.
    payable: Vec<(ReimbursementId, i64, &'static str)>,
}

impl Books {
    fn post(&mut self, date: Date, debit: &str, credit: &str, amount: i64) {
        if amount != 0 {
            self.postings.push((date, debit.to_owned(), amount));
            self.postings.push((date, credit.to_owned(), -amount));
        }
    }

    fn give(&mut self, member: usize, date: Date, amount: i64) {
        *self.credit.entry(member).or_default() += amount;
        self.credits.push((member, date, amount));
    }

    /// The first day since which the credit was never lower.
    fn credit_since(&self, member: usize, amount: i64) -> Date {
        let of_member = || self.credits.iter().filter(|(whose, ..)| *whose == member);
        let on = |day: Date| -> i64 {
            let until = of_member().filter(|(_, date, _)| *date <= day);
            until.map(|(.., amount)| amount).sum()
        };
        let mut days: Vec<Date> = of_member().map(|(_, date, _)| *date).collect();
        days.sort_unstable();
        let short = days.iter().rposition(|day| on(*day) < amount);
        days[short.map_or(0, |place| place + 1)]
    }

    fn show(&mut self, date: Date, line: &str, amount: i64) {
        self.cash.push((date, line.to_owned(), amount));
    }

    fn held(&self, account: &str) -> i64 {
        let of_account = self.postings.iter().filter(|(_, name, _)| name == account);
        of_account.map(|(_, _, amount)| amount).sum()
    }

    fn balances(&self, at: Date) -> Sums {
        let mut found = Sums::new();
        for (_, account, amount) in self.postings.iter().filter(|(date, ..)| *date <= at) {
            add(&mut found, account, *amount);
        }
        found
    }

    fn between(lines: &[(Date, String, i64)], from: Date, until: Date) -> Sums {
        let mut found = Sums::new();
        for (_, line, amount) in lines.iter().filter(|(date, ..)| (from..=until).contains(date)) {
            add(&mut found, line, *amount);
        }
        found
    }

    /// The member's open charges, by due day and then in the order they were raised.
    fn open_of(&self, member: usize) -> Vec<usize> {
        let mut open: Vec<usize> = (0..self.charges.len())
            .filter(|n| self.charges[*n].member == member && self.charges[*n].open() > 0)
            .collect();
        open.sort_by_key(|n| (self.charges[*n].due, *n));
        open
    }
}

struct Play<'a> {
    desk: &'a Desk,
    rng: fastrand::Rng,
    people: Vec<MemberId>,
    admin: Identity,
    today: Date,
    books: Books,
}

impl Play<'_> {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.rng.usize(..choices.len())]
    }

    /// Today, or a day before it: money is often typed late.
    fn day(&mut self) -> Date {
        let days = if self.rng.bool() { 0 } else { self.rng.i64(0..45) };
        self.today.plus_days(-days)
    }

    fn act(&mut self) {
        let amount = self.rng.i64(1..20_000);
        match self.rng.u8(..16) {
            0..=3 => self.raise(amount),
            4..=6 => self.receive(amount),
            7 => self.discount(),
            8 => self.cancel(),
            9 => self.refund(),
            10 => self.pay_back(),
            11 => self.record(amount),
            12 => self.count(amount),
            13 => self.spend(amount),
            14 => self.bounce(),
            _ => self.plan(),
        }
    }

    fn raise(&mut self, amount: i64) {
        let member = self.rng.usize(..self.people.len());
        let income = self.of(&INCOME);
        let due = self.today.plus_days(self.rng.i64(-40..40));
        let new = NewCharges {
            due_date: Some(due),
            category: (income != "dues").then(|| income.to_owned()),
            ..charges(Debtor::Member(self.people[member]), &decimal(amount))
        };
        let id = self
            .desk
            .act(move |act| payments::raise(act, &new, None))
            .payments[0]
            .id;
        let dated = due.min(self.today);
        self.books.post(dated, "receivable", income, amount);
        let part = self.books.credit.get(&member).copied().unwrap_or(0).min(amount);
        if part > 0 {
            self.books.give(member, self.today, -part);
            self.books.post(self.today, "credit", "receivable", part);
            self.books.show(self.today, "received in advance", -part);
            self.books.show(self.today, income, part);
        }
        self.books.charges.push(Charge {
            id,
            member,
            income,
            due,
            dated,
            amount,
            paid: part,
            is_over: false,
            came: None,
        });
    }

    fn receive(&mut self, amount: i64) {
        let member = self.rng.usize(..self.people.len());
        let (account, date) = (self.of(&MONEY), self.day());
        let new = NewReceipt {
            amount: decimal(amount),
            method: Paid::Check,
            date: Some(date),
            account: Some(account.to_owned()),
            payer: Some(self.people[member]),
            payer_name: None,
            reference: None,
            payments: Vec::new(),
            campaign: None,
            income: None,
            again: true,
        };
        let recorded = self.desk.act(move |act| receipts::record(act, &new));
        let mut left = amount;
        let mut parts = Vec::new();
        for n in self.books.open_of(member) {
            let part = left.min(self.books.charges[n].open());
            if part == 0 {
                break;
            }
            left -= part;
            self.books.charges[n].paid += part;
            let came = self.books.charges[n].came.map_or(date, |came| came.min(date));
            self.books.charges[n].came = Some(came);
            let income = self.books.charges[n].income;
            self.books.post(date, account, "receivable", part);
            self.books.show(date, income, part);
            parts.push((n, part));
        }
        assert_eq!(recorded.credit.minor, left);
        self.books.post(date, account, "credit", left);
        if left > 0 {
            self.books.show(date, "received in advance", left);
            self.books.give(member, date, left);
        } else {
            let id = recorded.receipt.id;
            self.books.checks.push(Check { id, account, parts });
        }
    }

    /// A charge with something open, if there is one.
    fn some_open(&mut self) -> Option<usize> {
        let open: Vec<usize> = (0..self.books.charges.len())
            .filter(|n| self.books.charges[*n].open() > 0)
            .collect();
        (!open.is_empty()).then(|| self.of(&open))
    }

    fn discount(&mut self) {
        let Some(n) = self.some_open() else { return };
        let charge = self.books.charges[n].clone();
        let down = self.rng.i64(1..=charge.open());
        let (id, amount) = (charge.id, decimal(charge.amount - down));
        self.desk
            .act(move |act| payments::adjust(act, id, &amount, Adjustment::Discount, "early"));
        self.books.post(self.today, "discounts", "receivable", down);
        match charge.amount == down {
            // All of it was given up.
            true => self.books.charges[n].is_over = true,
            false => self.books.charges[n].amount -= down,
        }
    }

    fn cancel(&mut self) {
        let Some(n) = self.some_open() else { return };
        let (charge, is_write_off) = (self.books.charges[n].clone(), self.rng.bool());
        let id = charge.id;
        self.desk
            .act(move |act| payments::cancel(act, id, is_write_off, None));
        let against = if is_write_off { "write-offs" } else { charge.income };
        self.books.post(self.today, against, "receivable", charge.open());
        self.books.charges[n].is_over = true;
        self.forget_checks(n);
    }

    fn refund(&mut self) {
        let paid: Vec<usize> = (0..self.books.charges.len())
            .filter(|n| self.books.charges[*n].paid > 0 && !self.books.charges[*n].is_over)
            .collect();
        if paid.is_empty() {
            return;
        }
        let n = self.of(&paid);
        let charge = self.books.charges[n].clone();
        let (account, day) = (self.of(&MONEY), self.day());
        let date = charge.came.map_or(day, |came| came.max(day));
        let part = self.rng.i64(1..=charge.paid);
        let back = Refund {
            amount: decimal(part),
            date: Some(date),
            method: None,
            account: Some(account.to_owned()),
        };
        let id = charge.id;
        self.desk.act(move |act| payments::refund(act, id, &back));
        self.books.post(date, charge.income, account, part);
        self.books.show(date, charge.income, -part);
        if part == charge.paid {
            let dated = date.max(charge.dated);
            self.books.post(dated, charge.income, "receivable", charge.open());
            self.books.charges[n].is_over = true;
            self.books.charges[n].paid = 0;
        } else {
            self.books.charges[n].amount -= part;
            self.books.charges[n].paid -= part;
        }
        self.forget_checks(n);
    }

    /// Receipts on a charge that went another way: their bounce would be another story.
    fn forget_checks(&mut self, charge: usize) {
        let is_on = |check: &Check| check.parts.iter().any(|(n, _)| *n == charge);
        self.books.checks.retain(|check| !is_on(check));
    }

    fn pay_back(&mut self) {
        let rich: Vec<usize> = (0..self.people.len())
            .filter(|member| self.books.credit.get(member).is_some_and(|credit| *credit > 0))
            .collect();
        if rich.is_empty() {
            return;
        }
        let member = self.of(&rich);
        let (account, day) = (self.of(&MONEY), self.day());
        let part = self.rng.i64(1..=self.books.credit[&member]);
        let date = day.max(self.books.credit_since(member, part));
        let back = Refund {
            amount: decimal(part),
            date: Some(date),
            method: None,
            account: Some(account.to_owned()),
        };
        let id = self.people[member];
        self.desk.act(move |act| credit::refund(act, id, &back));
        self.books.post(date, "credit", account, part);
        self.books.show(date, "received in advance", -part);
        self.books.give(member, date, -part);
    }

    fn record(&mut self, amount: i64) {
        let date = self.day();
        let (debit, credit) = match self.rng.u8(..3) {
            0 => (self.of(&MONEY), self.of(&INCOME)),
            1 => (self.of(&["bank-fees", "Boat"]), self.of(&MONEY)),
            _ => ("bank", self.of(&["cash", "Till"])),
        };
        let new = NewPosting {
            debit: debit.into(),
            credit: credit.into(),
            amount: decimal(amount),
            date: Some(date),
            memo: Some("a, \"b\"\n; c".into()),
            reference: None,
        };
        self.desk.act(move |act| entries::record(act, &new));
        self.books.post(date, debit, credit, amount);
        if INCOME.contains(&credit) {
            self.books.show(date, credit, amount);
        } else if !MONEY.contains(&debit) {
            self.books.show(date, debit, -amount);
        }
    }

    fn count(&mut self, counted: i64) {
        let account = self.of(&MONEY);
        let text = decimal(counted);
        self.desk.act(move |act| count::count(act, account, &text, None));
        let more = counted - self.books.held(account);
        let against = if more > 0 { "other-income" } else { "other-expense" };
        self.books.post(self.today, account, against, more);
        if more != 0 {
            self.books.show(self.today, against, more);
        }
    }

    /// A reimbursement is approved, and some time later paid, and sometimes it comes back.
    fn spend(&mut self, amount: i64) {
        if let Some((id, amount, expense)) = self.books.payable.pop() {
            let (account, date) = (self.of(&MONEY), self.day());
            let remarks = Remarks {
                date: Some(date),
                account: Some(account.to_owned()),
                ..Remarks::default()
            };
            let paid = self.desk.try_as(self.admin, move |act| {
                reimbursements::perform(act, id, ReimbursementVerb::Pay, &remarks)
            });
            paid.unwrap();
            self.books.post(date, "payable", account, amount);
            self.books.show(date, expense, -amount);
            if self.rng.u8(..3) == 0 {
                let returned = self.desk.try_as(self.admin, move |act| {
                    reimbursements::perform(act, id, ReimbursementVerb::Return, &Remarks::default())
                });
                returned.unwrap();
                self.books.post(self.today, account, "payable", amount);
                self.books.show(self.today, expense, amount);
                self.books.payable.push((id, amount, expense));
            }
            return;
        }
        let expense = self.of(&["Travel", "other-expense"]);
        let incurred = self.day();
        let draft = Draft {
            member_id: Some(self.people[0]),
            recipient_organization_id: None,
            amount: decimal(amount),
            category: (expense == "Travel").then(|| "travel".to_owned()),
            description: String::new(),
            incurred_at: Some(incurred),
            receipts: Vec::new(),
        };
        let id = self.desk.act(move |act| reimbursements::draft(act, &draft)).id;
        for verb in [ReimbursementVerb::Submit, ReimbursementVerb::Approve] {
            let moved = self.desk.try_as(self.admin, move |act| {
                reimbursements::perform(act, id, verb, &Remarks::default())
            });
            moved.unwrap();
        }
        self.books.post(incurred, expense, "payable", amount);
        self.books.payable.push((id, amount, expense));
    }

    fn bounce(&mut self) {
        let Some(check) = self.books.checks.pop() else {
            return;
        };
        let id = check.id;
        self.desk.act(move |act| receipts::bounce(act, id, None, None));
        for (n, part) in check.parts {
            let income = self.books.charges[n].income;
            self.books.charges[n].paid -= part;
            self.books.post(self.today, "receivable", check.account, part);
            self.books.show(self.today, income, -part);
        }
    }

    fn plan(&mut self) {
        let Some(n) = self.some_open() else { return };
        let charge = self.books.charges[n].clone();
        let id = charge.id;
        let new = NewPlan {
            into: 2,
            every: Every::Month,
            first: None,
        };
        let Ok(made) = self
            .desk
            .try_as(Identity::Operator, move |act| payments::plan(act, id, &new))
        else {
            // One minor unit cannot be shared.
            assert!(charge.amount < 2 || charge.open() < 2);
            return;
        };
        self.books.charges[n].amount = made[0].amount.minor;
        self.books.charges[n].due = made[0].due_date.unwrap();
        self.books.charges.push(Charge {
            id: made[1].id,
            due: made[1].due_date.unwrap(),
            dated: made[1].due_date.unwrap().min(self.today),
            amount: made[1].amount.minor,
            paid: 0,
            came: None,
            ..charge
        });
        // The claim moves within its account.
        self.books
            .post(self.today, "receivable", "receivable", made[1].amount.minor);
    }

    /// The books of the test are those of the program, month by month.
    fn compare(&self) {
        let export = journal::read(&self.desk.exported(Format::Csv));
        let mut first = day("2025-10-01");
        while first <= self.today {
            let last = first.plus_months(1, 1).plus_days(-1);
            let (from, until) = (first.to_string(), last.to_string());
            let balances = self.books.balances(last);
            assert_eq!(
                journal::balances(&export, &until),
                balances,
                "balances on {until}"
            );
            let (lines, _) = self
                .desk
                .look(move |view| reports::balances(view, Some(last)))
                .unwrap();
            let mut shown = Sums::new();
            for line in lines {
                add(&mut shown, &line.account, line.amount.minor);
            }
            assert_eq!(shown, balances, "report of balances on {until}");
            let cash = Books::between(&self.books.cash, first, last);
            assert_eq!(journal::cash(&export, &from, &until), cash, "cash in {from}");
            assert_eq!(
                self.shown(first, last, Basis::Cash),
                cash,
                "report of cash in {from}"
            );
            let accrual = journal::accrual(&export, &from, &until);
            assert_eq!(
                self.shown(first, last, Basis::Accrual),
                accrual,
                "report in {from}"
            );
            first = first.plus_months(1, 1);
        }
        let owing = self.desk.look(reports::owing).unwrap();
        let open: i64 = self.books.charges.iter().map(Charge::open).sum();
        assert_eq!(owing.total.owed.minor, open);
        assert_eq!(owing.receivable.minor, open);
        assert_eq!(problems(&self.desk.db), []);
    }

    fn shown(&self, from: Date, until: Date, basis: Basis) -> Sums {
        let span = Span::of(from, until);
        let report = self
            .desk
            .look(move |view| reports::income(view, span, basis))
            .unwrap();
        let mut found = Sums::new();
        for line in &report.income {
            add(&mut found, &line.account, line.amount.minor);
        }
        for line in &report.expense {
            add(&mut found, &line.account, -line.amount.minor);
        }
        found
    }
}

#[test]
fn random_acts_keep_double_entry() {
    both_engines(|test| {
        let (games, acts) = if bursar_testing::is_full() {
            (40, 150)
        } else {
            (4, 60)
        };
        for _ in 0..games {
            let seed = bursar_testing::seed();
            let desk = Desk::open(test, seed, noon("2026-01-10"));
            let people = ["Ada", "Ben", "Cleo"]
                .map(|name| desk.member(name, &[]).id)
                .to_vec();
            let admin = desk.officer("admin@example.org", Role::Admin);
            for (name, account_type) in [
                ("Till", AccountType::Asset),
                ("Bar", AccountType::Income),
                ("Boat", AccountType::Expense),
                ("Travel", AccountType::Expense),
            ] {
                desk.act(move |act| accounts::create(act, name, account_type));
            }
            let mut play = Play {
                desk: &desk,
                rng: fastrand::Rng::with_seed(seed),
                people,
                admin,
                today: day("2026-01-10"),
                books: Books::default(),
            };
            let opening = AccountChange {
                opening: Some(("1000.00".into(), Some(day("2025-12-31")))),
                ..AccountChange::default()
            };
            desk.act(move |act| accounts::set(act, "bank", &opening));
            play.books.post(day("2025-12-31"), "bank", "opening", 100_000);
            for act in 0..acts {
                play.today = play.today.plus_days(play.rng.i64(0..4));
                // Time passes between two acts of a day: which payout was the last is told by when it was recorded.
                desk.set_clock(noon(&play.today.to_string()).plus_seconds(act));
                play.act();
            }
            play.compare();
        }
    });
}
