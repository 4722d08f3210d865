//! The organization's accounts.

use std::collections::BTreeMap;

use bursar_db::{Tx, accounts as rows, journal};
use bursar_domain::access::Role;
use bursar_domain::account::{Account, AccountType, Standing};
use bursar_domain::ids::{AccountId, OrganizationId};
use bursar_domain::journal::{About, EntryKind, Postings, signed};
use bursar_domain::money::Money;
use bursar_domain::text::NAME;
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use super::{NewEntry, account, open, post};
use crate::act::{Act, View};
use crate::error::AppError;
use crate::rule::Rule;

pub const LIST: Rule = Rule::of("account.list", Role::Viewer, "read accounts");
pub const CREATE: Rule = Rule::of("account.create", Role::Editor, "create accounts");
pub const CHANGE: Rule = Rule::of("account.change", Role::Editor, "change accounts");

pub const RULES: &[&Rule] = &[&LIST, &CREATE, &CHANGE];

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountLine {
    pub id: AccountId,
    pub name: String,
    pub r#type: AccountType,
    /// As people see it: what the organization has, owes, earned or spent.
    pub balance: Money,
    pub budget: Option<Money>,
    pub is_closed: bool,
}

pub fn list(view: &mut View<'_, '_>, at: Option<Date>) -> Result<Vec<AccountLine>, AppError> {
    view.allow(&LIST)?;
    let currency = open(view)?.organization.currency;
    let sums = journal::sums(view.tx, view.organization, None, at)?;
    let accounts = rows::all(view.tx, view.organization)?;
    accounts
        .into_iter()
        .map(|account| {
            let balance = shown(&account, sums.get(&account.id).copied().unwrap_or(0));
            Ok(AccountLine {
                id: account.id,
                r#type: account.account_type,
                balance: Money::total(&account.name, balance, currency)?,
                budget: account.budget.map(|minor| Money::new(minor, currency)),
                is_closed: account.is_closed,
                name: account.name,
            })
        })
        .collect()
}

/// A sum of postings as people see it: income and debts are positive too.
pub(crate) fn shown(account: &Account, sum: i128) -> i128 {
    match account.account_type.grows_by_debit() {
        true => sum,
        false => -sum,
    }
}

pub(crate) fn names<M>(
    act: &mut crate::act::Act<'_, '_, M>,
) -> Result<BTreeMap<AccountId, Account>, AppError> {
    let all = rows::all(act.tx, act.organization)?;
    Ok(all.into_iter().map(|account| (account.id, account)).collect())
}

fn refuse_taken(act: &mut Act<'_, '_>, name: &str, but: Option<AccountId>) -> Result<(), AppError> {
    match rows::by_name(act.tx, act.organization, name)?.filter(|other| Some(other.id) != but) {
        Some(other) => Err(Refusal::conflict(format!(
            "there is an account {:?} already; names are unique, ignoring case",
            other.name
        ))
        .into()),
        None => Ok(()),
    }
}

pub fn create(act: &mut Act<'_, '_>, name: &str, account_type: AccountType) -> Result<Account, AppError> {
    act.allow(&CREATE)?;
    let name = Account::check_new(name, account_type)?;
    refuse_taken(act, &name, None)?;
    let account = Account {
        id: act.new_id(),
        name,
        account_type,
        is_closed: false,
        budget: None,
        statement_columns: Vec::new(),
    };
    rows::put(act.tx, act.organization, &account)?;
    act.log(CREATE.name, Some(account.id.to_string()), None)?;
    Ok(account)
}

#[derive(Clone, Debug, Default)]
pub struct AccountChange {
    pub name: Option<String>,
    /// Decimal text; an empty one removes the budget.
    pub budget: Option<String>,
    /// What the account held on a day, negative if it was overdrawn: the difference is posted to `opening`.
    pub opening: Option<(String, Option<Date>)>,
}

pub fn set(act: &mut Act<'_, '_>, name: &str, change: &AccountChange) -> Result<Account, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let mut found = account(act, "account", name)?;
    if let Some(new) = &change.name {
        if found.standing().is_some() {
            let message = format!("{:?} comes with the organization and keeps its name", found.name);
            return Err(Refusal::conflict(message).into());
        }
        let new = NAME.check(new).map_err(Refusal::of_field("name"))?;
        refuse_taken(act, &new, Some(found.id))?;
        found.name = new;
    }
    match change.budget.as_deref() {
        None => {}
        Some("") => found.budget = None,
        Some(text) => {
            if !found.account_type.is_result() {
                let rule = "is for income and expense accounts";
                return Err(Refusal::invalid("budget", rule).into());
            }
            let budget = Money::parse(text, books.organization.currency);
            found.budget = Some(budget.map_err(Refusal::of_field("budget"))?.minor);
        }
    }
    rows::put(act.tx, act.organization, &found)?;
    if let Some((held, date)) = &change.opening {
        opening(act, &found, held, *date)?;
    }
    act.log(CHANGE.name, Some(found.id.to_string()), None)?;
    Ok(found)
}

fn opening(act: &mut Act<'_, '_>, account: &Account, held: &str, date: Option<Date>) -> Result<(), AppError> {
    let books = open(act)?;
    if !account.holds_money() {
        let rule = format!("is for accounts that hold money; {:?} does not", account.name);
        return Err(Refusal::invalid("opening", rule).into());
    }
    account.check_open("account")?;
    let date = books.money_date(date)?;
    let held = signed(held, books.organization.currency).map_err(Refusal::of_field("opening"))?;
    let booked = journal::balance(act.tx, act.organization, account.id, Some(date))?;
    let difference = i64::try_from(i128::from(held) - booked)
        .map_err(|_| Refusal::invalid("opening", "is too far from what is booked"))?;
    let postings = Postings::pair(account.id, About::default(), Standing::Opening, difference);
    if !postings.is_empty() {
        post(act, NewEntry::of(EntryKind::Opening, date, postings))?;
    }
    Ok(())
}

/// Closes an account, or opens it again. It must be empty to be closed.
pub fn close(act: &mut Act<'_, '_>, name: &str, is_closed: bool) -> Result<Account, AppError> {
    act.allow(&CHANGE)?;
    let books = open(act)?;
    let mut found = account(act, "account", name)?;
    if let Some(standing) = found.standing() {
        let message = format!("{standing} comes with the organization and stays open");
        return Err(Refusal::conflict(message).into());
    }
    if is_closed && found.account_type == AccountType::Asset {
        let held = journal::balance(act.tx, act.organization, found.id, None)?;
        if held != 0 {
            let message = format!(
                "{:?} holds {}; transfer it to another account first",
                found.name,
                Money::total(&found.name, held, books.organization.currency)?
            );
            return Err(Refusal::conflict(message).into());
        }
    }
    if found.is_closed == is_closed {
        return Ok(found);
    }
    found.is_closed = is_closed;
    rows::put(act.tx, act.organization, &found)?;
    let action = if is_closed {
        "account.close"
    } else {
        "account.open"
    };
    act.log(action, Some(found.id.to_string()), None)?;
    Ok(found)
}

/// The expense account of a reimbursement category, made at first use.
pub(crate) fn of_category(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    category: Option<&str>,
) -> Result<AccountId, AppError> {
    let Some(category) = category.map(str::trim).filter(|text| !text.is_empty()) else {
        return Ok(Standing::OtherExpense.id());
    };
    let mut wanted = category.to_owned();
    loop {
        match rows::by_name(tx, organization, &wanted)? {
            Some(found) if found.account_type == AccountType::Expense => return Ok(found.id),
            // The name is taken by an account of another type.
            Some(_) => wanted.push_str(" (expense)"),
            None => {
                let account = Account::of_category(&wanted);
                // It may have another name now.
                if rows::get(tx, organization, account.id)?.is_none() {
                    rows::put(tx, organization, &account)?;
                }
                return Ok(account.id);
            }
        }
    }
}
