//! Statements and their lines, with what is proposed for the open ones.

use std::collections::HashMap;

use bursar_db::statements as rows;
use bursar_domain::account::Account;
use bursar_domain::ids::{AccountId, EntryId, StatementId, StatementLineId};
use bursar_domain::money::Currency;
use bursar_domain::statement::{LineStatus, Statement, StatementLine};
use bursar_domain::{Date, Refusal};

use super::propose::{Proposed, proposals};
use super::{READ, bank_account, find, find_line};
use crate::act::View;
use crate::error::AppError;

/// A statement with how many of its lines have which status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub statement: Statement,
    pub account: String,
    pub currency: Currency,
    pub counts: Vec<(LineStatus, i64)>,
}

impl Listed {
    pub fn count(&self, status: LineStatus) -> i64 {
        let found = self.counts.iter().find(|(of, _)| *of == status);
        found.map_or(0, |(_, count)| *count)
    }

    pub fn lines(&self) -> i64 {
        self.counts.iter().map(|(_, count)| *count).sum()
    }
}

/// In the order they were imported; of one account if one is named.
pub fn list(view: &mut View<'_, '_>, of_account: Option<&str>) -> Result<Vec<Listed>, AppError> {
    view.allow(&READ)?;
    let currency = view.own()?.currency;
    let wanted = of_account.map(|name| bank_account(view, name)).transpose()?;
    let names = account_names(view)?;
    let mut counts: HashMap<StatementId, Vec<(LineStatus, i64)>> = HashMap::new();
    for (id, status, count) in rows::counts(view.tx, view.organization)? {
        counts.entry(id).or_default().push((status, count));
    }
    let statements = match &wanted {
        Some(account) => rows::of_account(view.tx, view.organization, account.id)?,
        None => rows::all(view.tx, view.organization)?,
    };
    let listed = |statement: Statement| Listed {
        account: names.get(&statement.account).cloned().unwrap_or_default(),
        currency,
        counts: counts.remove(&statement.id).unwrap_or_default(),
        statement,
    };
    Ok(statements.into_iter().map(listed).collect())
}

fn account_names(view: &mut View<'_, '_>) -> Result<HashMap<AccountId, String>, AppError> {
    let all = bursar_db::accounts::all(view.tx, view.organization)?;
    Ok(all
        .into_iter()
        .map(|account| (account.id, account.name))
        .collect())
}

/// Which lines are shown.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    pub statement: Option<StatementId>,
    /// An account's name; every account if left out.
    pub account: Option<String>,
    pub from: Option<Date>,
    pub until: Option<Date>,
    pub open_only: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownLine {
    pub line: StatementLine,
    pub account: String,
    pub currency: Currency,
    pub proposed: Option<Proposed>,
    /// The entries that account for it.
    pub entries: Vec<EntryId>,
}

/// By account, day and id.
pub fn show(view: &mut View<'_, '_>, which: &Lines) -> Result<Vec<ShownLine>, AppError> {
    view.allow(&READ)?;
    let statement = which.statement.map(|id| find(view, id)).transpose()?;
    let mut accounts: Vec<Account> = Vec::new();
    match (&statement, &which.account) {
        (Some(statement), _) => accounts.push(bank_account(view, &statement.account.to_string())?),
        (None, Some(name)) => accounts.push(bank_account(view, name)?),
        (None, None) => {
            let all = rows::all(view.tx, view.organization)?;
            for account in bursar_db::accounts::all(view.tx, view.organization)? {
                if all.iter().any(|statement| statement.account == account.id) {
                    accounts.push(account);
                }
            }
        }
    }
    let mut shown = Vec::new();
    for account in &accounts {
        let of_account = of_account(view, account, which)?;
        shown.extend(of_account.into_iter().filter(|shown| {
            let is_of = statement
                .as_ref()
                .is_none_or(|statement| shown.line.statement == statement.id);
            is_of && (!which.open_only || shown.line.status == LineStatus::Open)
        }));
    }
    Ok(shown)
}

fn of_account(view: &mut View<'_, '_>, account: &Account, which: &Lines) -> Result<Vec<ShownLine>, AppError> {
    let (organization, currency) = (view.organization, view.own()?.currency);
    let days = crate::books::entries::range(which.from, which.until)?;
    let lines = match which.open_only {
        true => {
            let mut lines = rows::open_lines(view.tx, organization, account.id)?;
            lines.retain(|line| (days.0..=days.1).contains(&line.date));
            lines
        }
        false => rows::lines_between(view.tx, organization, account.id, days)?,
    };
    let mut proposed: HashMap<StatementLineId, Proposed> = proposals(view, account)?
        .into_iter()
        .map(|proposed| (proposed.line.id, proposed))
        .collect();
    let mut entries: HashMap<StatementLineId, Vec<EntryId>> = HashMap::new();
    if !which.open_only {
        for link in rows::links_between(view.tx, organization, account.id, days)? {
            entries.entry(link.line).or_default().push(link.entry);
        }
    }
    let shown = |line: StatementLine| ShownLine {
        account: account.name.clone(),
        currency,
        proposed: proposed.remove(&line.id),
        entries: entries.remove(&line.id).unwrap_or_default(),
        line,
    };
    Ok(lines.into_iter().map(shown).collect())
}

/// One line.
pub fn line(view: &mut View<'_, '_>, id: StatementLineId) -> Result<ShownLine, AppError> {
    view.allow(&READ)?;
    let line = find_line(view, id)?;
    let which = Lines {
        account: Some(line.account.to_string()),
        from: Some(line.date),
        until: Some(line.date),
        ..Lines::default()
    };
    let shown = show(view, &which)?.into_iter().find(|shown| shown.line.id == id);
    Ok(shown.ok_or_else(|| Refusal::missing(format!("there is no statement line {id}")))?)
}
