//! Entries of the journal, with the balance of one account if one is asked for.

use std::collections::BTreeMap;

use bursar_db::journal;
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::account::Account;
use bursar_domain::ids::AccountId;
use bursar_domain::journal::Entry;
use bursar_domain::money::{Currency, Money};

use super::{Period, Span};
use crate::act::View;
use crate::books;
use crate::error::AppError;
use crate::rule::Rule;

pub const LEDGER: Rule = Rule::of("report.ledger", Role::Viewer, "read reports");

/// One account before and after the entries. A debit is positive.
#[derive(Clone, Debug)]
pub struct OfAccount {
    pub account: Account,
    pub opening: Money,
    pub closing: Money,
}

#[derive(Clone, Debug)]
pub struct LedgerReport {
    pub currency: Currency,
    pub period: Period,
    pub of_account: Option<OfAccount>,
    /// By date and id.
    pub entries: Vec<Entry>,
    /// The accounts that the entries name.
    pub accounts: BTreeMap<AccountId, Account>,
    /// What each account gained, by name; of the one account if one is asked for.
    pub sums: BTreeMap<String, Money>,
}

/// Between two days, both included.
pub fn ledger(
    view: &mut View<'_, '_>,
    span: Span,
    of_account: Option<&str>,
) -> Result<LedgerReport, AppError> {
    view.allow(&LEDGER)?;
    let books = books::open(view)?;
    let currency = books.organization.currency;
    let period = span.period(books.today)?;
    let wanted = of_account
        .map(|name| books::account(view, "account", name))
        .transpose()?;
    let accounts = books::accounts::names(view)?;
    let mut entries = Vec::new();
    let mut keep = |entry| {
        entries.push(entry);
        Ok(())
    };
    let (tx, organization) = (&mut *view.tx, view.organization);
    let Period { from, until } = period;
    match &wanted {
        Some(account) => journal::each_of_account(tx, organization, account.id, (from, until), &mut keep)?,
        None => journal::each_between(tx, organization, from, until, &mut keep)?,
    }
    let mut gained = journal::sums(tx, organization, Some(from), Some(until))?;
    let of_account = match wanted {
        None => None,
        Some(account) => {
            gained.retain(|id, _| *id == account.id);
            let opening = journal::balance(tx, organization, account.id, Some(from.plus_days(-1)))?;
            let closing = opening + gained.get(&account.id).copied().unwrap_or(0);
            Some(OfAccount {
                opening: Money::total(&account.name, opening, currency)?,
                closing: Money::total(&account.name, closing, currency)?,
                account,
            })
        }
    };
    let named = |id: AccountId| {
        let found = accounts.get(&id);
        found.map_or_else(|| id.to_string(), |account| account.name.clone())
    };
    let sums = gained
        .into_iter()
        .map(|(id, sum)| Ok((named(id), Money::total(&named(id), sum, currency)?)))
        .collect::<Result<_, Refusal>>()?;
    Ok(LedgerReport {
        currency,
        period,
        of_account,
        entries,
        accounts,
        sums,
    })
}
