//! Income and expense of a period, with the period before and the budget beside it.

use std::collections::BTreeMap;

use bursar_db::reports::{self, CashSum};
use bursar_db::{DbError, accounts, journal};
use bursar_domain::access::Role;
use bursar_domain::account::{Account, AccountType, Standing};
use bursar_domain::ids::AccountId;
use bursar_domain::money::{Currency, Money};
use bursar_domain::{Refusal, words};
use serde::Serialize;

use super::{Period, Span};
use crate::act::View;
use crate::books;
use crate::error::AppError;
use crate::rule::Rule;

pub const INCOME: Rule = Rule::of("report.income", Role::Viewer, "read reports");

words! {
    /// What a report of income counts.
    Basis {
        /// What was earned and spent, by the day it was charged or incurred.
        Accrual "accrual",
        /// Money that came and went, under what it settled.
        Cash "cash",
    }
}

/// The line of money that settles no charge yet.
pub const RECEIVED_IN_ADVANCE: &str = "received in advance";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IncomeLine {
    /// An account's name, or "received in advance".
    pub account: String,
    /// Discounts are negative income.
    pub amount: Money,
    /// In the period before.
    pub before: Money,
    /// For a year.
    pub budget: Option<Money>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IncomeTotals {
    pub income: Money,
    pub expense: Money,
    pub result: Money,
}

/// Money in the accounts that hold money: `start + opening + result = end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoneyHeld {
    pub start: Money,
    /// By entries that say what accounts held.
    pub opening: Money,
    pub end: Money,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IncomeReport {
    pub income: Vec<IncomeLine>,
    pub expense: Vec<IncomeLine>,
    /// Income less expense.
    pub result: Money,
    pub basis: Basis,
    #[serde(flatten)]
    pub period: Period,
    pub before: Option<Period>,
    pub totals: IncomeTotals,
    pub totals_before: IncomeTotals,
    /// Of the accounts that have a budget.
    pub budget: IncomeTotals,
    /// On the cash basis only.
    pub money: Option<MoneyHeld>,
}

/// Where a line is shown. An account of no result, which only a broken row leads to, is income.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Line {
    Account(AccountId),
    InAdvance,
}

/// What each line gained, in minor units: a credit is positive.
type Sums = BTreeMap<Line, i128>;

pub fn income(view: &mut View<'_, '_>, span: Span, basis: Basis) -> Result<IncomeReport, AppError> {
    view.allow(&INCOME)?;
    let books = books::open(view)?;
    let currency = books.organization.currency;
    let period = span.period(books.today)?;
    let before = period.before();
    let all = accounts::all(view.tx, view.organization)?;
    let mut read = |period: Period| match basis {
        Basis::Accrual => accrual(view, &all, period),
        Basis::Cash => cash(view, &all, period),
    };
    let now = read(period)?;
    let then = before.map(&mut read).transpose()?.unwrap_or_default();
    let money = match basis {
        Basis::Accrual => None,
        Basis::Cash => Some(held(view, &all, period, (&now, currency))?),
    };
    let mut table = Table {
        currency,
        now: &now,
        then: &then,
        totals: [[0; 3]; 2],
    };
    let mut income = Vec::new();
    let mut expense = Vec::new();
    for account in &all {
        let is_expense = account.account_type == AccountType::Expense;
        let line = table.line(
            (Line::Account(account.id), is_expense),
            &account.name,
            account.budget,
        )?;
        match is_expense {
            true => expense.extend(line),
            false => income.extend(line),
        }
    }
    income.extend(table.line((Line::InAdvance, false), RECEIVED_IN_ADVANCE, None)?);
    let [totals, totals_before, budget] = table.totals()?;
    Ok(IncomeReport {
        income,
        expense,
        result: totals.result,
        basis,
        period,
        before,
        totals,
        totals_before,
        budget,
        money,
    })
}

struct Table<'a> {
    currency: Currency,
    now: &'a Sums,
    then: &'a Sums,
    /// Of income and of expense: now, before, budget.
    totals: [[i128; 3]; 2],
}

impl Table<'_> {
    /// None if there is nothing to say.
    fn line(
        &mut self,
        (line, is_expense): (Line, bool),
        name: &str,
        budget: Option<i64>,
    ) -> Result<Option<IncomeLine>, Refusal> {
        let sign = if is_expense { -1 } else { 1 };
        let sum = |sums: &Sums| sign * sums.get(&line).copied().unwrap_or(0);
        let (amount, before) = (sum(self.now), sum(self.then));
        if amount == 0 && before == 0 && budget.is_none() {
            return Ok(None);
        }
        let totals = &mut self.totals[usize::from(is_expense)];
        totals[0] += amount;
        totals[1] += before;
        totals[2] += i128::from(budget.unwrap_or(0));
        Ok(Some(IncomeLine {
            account: name.to_owned(),
            amount: Money::total(name, amount, self.currency)?,
            before: Money::total(name, before, self.currency)?,
            budget: budget.map(|minor| Money::new(minor, self.currency)),
        }))
    }

    fn totals(&self) -> Result<[IncomeTotals; 3], Refusal> {
        let [income, expense] = self.totals;
        let total = |n: usize| {
            let money = |what, minor| Money::total(what, minor, self.currency);
            Ok(IncomeTotals {
                income: money("the income", income[n])?,
                expense: money("the expense", expense[n])?,
                result: money("the result", income[n] - expense[n])?,
            })
        };
        Ok([total(0)?, total(1)?, total(2)?])
    }
}

fn accrual(view: &mut View<'_, '_>, all: &[Account], period: Period) -> Result<Sums, AppError> {
    let sums = journal::sums(view.tx, view.organization, Some(period.from), Some(period.until))?;
    let of_result = all.iter().filter(|account| account.account_type.is_result());
    Ok(of_result
        .filter_map(|account| Some((Line::Account(account.id), -*sums.get(&account.id)?)))
        .collect())
}

/// Every posting beside the money, under what it settles. Credit that is applied to a charge moves from "received in
/// advance" to the charge's income without money.
fn cash(view: &mut View<'_, '_>, all: &[Account], period: Period) -> Result<Sums, AppError> {
    let mut sums = Sums::new();
    let mut money = 0;
    for sum in reports::cash(view.tx, view.organization, period.from, period.until)? {
        match line_of(&sum, all) {
            Some(line) => *sums.entry(line).or_default() -= sum.sum,
            None => money += sum.sum,
        }
    }
    let result: i128 = sums.values().sum();
    if result != money {
        let message = format!(
            "the journal from {} to {} moved {money} minor units of money, and {result} are accounted for",
            period.from, period.until
        );
        return Err(DbError::Internal(message).into());
    }
    Ok(sums)
}

/// None for money itself.
fn line_of(sum: &CashSum, all: &[Account]) -> Option<Line> {
    let line = match Standing::of_id(sum.account) {
        Some(Standing::Credit) => Line::InAdvance,
        // The payer's bank withdrew money that settled no charge.
        Some(Standing::Disputes) if sum.settles == Some(Standing::Credit.id()) => Line::InAdvance,
        Some(Standing::Receivable | Standing::Disputes) => {
            Line::Account(sum.settles.unwrap_or(Standing::Dues.id()))
        }
        Some(Standing::Payable) => Line::Account(sum.settles.unwrap_or(Standing::OtherExpense.id())),
        _ => {
            let found = all.iter().find(|account| account.id == sum.account);
            if found.is_some_and(Account::holds_money) {
                return None;
            }
            Line::Account(sum.account)
        }
    };
    Some(line)
}

fn held(
    view: &mut View<'_, '_>,
    all: &[Account],
    period: Period,
    (sums, currency): (&Sums, Currency),
) -> Result<MoneyHeld, AppError> {
    let mut at = |day| {
        let sums = journal::sums(view.tx, view.organization, None, Some(day))?;
        let money = all.iter().filter(|account| account.holds_money());
        Ok::<i128, DbError>(money.filter_map(|account| sums.get(&account.id)).sum())
    };
    let (start, end) = (at(period.from.plus_days(-1))?, at(period.until)?);
    let result: i128 = sums.values().sum();
    let money = |minor| Money::total("the money", minor, currency);
    Ok(MoneyHeld {
        start: money(start)?,
        opening: money(end - start - result)?,
        end: money(end)?,
    })
}
