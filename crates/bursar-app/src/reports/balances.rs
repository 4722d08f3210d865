//! What each account holds at the end of a day.

use std::collections::BTreeMap;

use bursar_db::{accounts, journal};
use bursar_domain::Date;
use bursar_domain::access::Role;
use bursar_domain::account::AccountType;
use bursar_domain::money::Money;
use serde::Serialize;

use crate::act::View;
use crate::books;
use crate::error::AppError;
use crate::rule::Rule;

pub const BALANCES: Rule = Rule::of("report.balances", Role::Viewer, "read reports");

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BalanceLine {
    pub account: String,
    /// A debit is positive and a credit negative, so all of them sum to zero.
    pub amount: Money,
    pub r#type: AccountType,
}

/// Closed accounts that hold nothing are left out. The sums by type come with them.
pub fn balances(
    view: &mut View<'_, '_>,
    at: Option<Date>,
) -> Result<(Vec<BalanceLine>, BTreeMap<AccountType, Money>), AppError> {
    view.allow(&BALANCES)?;
    let books = books::open(view)?;
    let currency = books.organization.currency;
    let sums = journal::sums(view.tx, view.organization, None, Some(at.unwrap_or(books.today)))?;
    let mut lines = Vec::new();
    let mut by_type: BTreeMap<AccountType, i128> = BTreeMap::new();
    for account in accounts::all(view.tx, view.organization)? {
        let sum = sums.get(&account.id).copied().unwrap_or(0);
        if sum == 0 && account.is_closed {
            continue;
        }
        *by_type.entry(account.account_type).or_default() += sum;
        lines.push(BalanceLine {
            amount: Money::total(&account.name, sum, currency)?,
            account: account.name,
            r#type: account.account_type,
        });
    }
    lines.sort_by_key(|line| line.r#type);
    let mut totals = BTreeMap::new();
    for (account_type, sum) in by_type {
        let total = Money::total(account_type.as_str(), sum, currency)?;
        totals.insert(account_type, total);
    }
    Ok((lines, totals))
}
