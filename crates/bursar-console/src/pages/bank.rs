//! Bank statements: what was imported, what is left to match, and whether bank and books agree.

pub(crate) mod columns;
pub(crate) mod import;
pub(crate) mod line;
pub(crate) mod lines;
pub(crate) mod reconcile;
pub(super) mod rows;
pub(crate) mod undo;

use askama::Template;
use bursar_app::View;
use bursar_app::statements::{self, IMPORT, Listed, reconciliation};
use bursar_domain::account::Account;
use bursar_domain::ids::{AccountId, StatementId};
use bursar_domain::statement::LineStatus;
use bursar_domain::zone::Zone;

use super::cut;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words::{self, Moment};

struct Row {
    id: StatementId,
    account: String,
    days: String,
    format: String,
    imported: Moment,
    lines: String,
    open: i64,
    closing: String,
}

struct AccountCard {
    id: AccountId,
    name: String,
    bank: String,
    stated: String,
    books: String,
    open: String,
    is_open: bool,
    tone: &'static str,
    verdict: String,
}

#[derive(Template)]
#[template(path = "bank/list.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_import: bool,
    cards: Vec<AccountCard>,
    to_match: String,
    is_open: bool,
    rows: Vec<Row>,
    older: String,
    csv: String,
}

/// The last imported first.
pub(super) fn found(view: &mut View<'_, '_>) -> Result<Vec<Listed>, Failure> {
    let mut listed = statements::list(view, None)?;
    listed.reverse();
    Ok(listed)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut listed = found(view)?;
    let open: i64 = listed.iter().map(|one| one.count(LineStatus::Open)).sum();
    let cards = cards(view, &listed)?;
    let id = |one: &Listed| one.statement.id.to_string();
    let older = cut::page(asking, ("bank", "after"), &mut listed, id);
    let page = Page {
        frame,
        may_import: frame.may(&IMPORT),
        cards,
        to_match: words::count(usize::try_from(open).unwrap_or(0), "line", "lines"),
        is_open: open > 0,
        rows: listed
            .iter()
            .map(|one| row(one, &frame.place.organization.time_zone))
            .collect(),
        older,
        csv: frame.at("bank/csv"),
    };
    Ok(page.render()?)
}

fn row(listed: &Listed, zone: &Zone) -> Row {
    let statement = &listed.statement;
    Row {
        id: statement.id,
        account: words::label(&listed.account),
        days: days(statement.first_date, statement.last_date),
        format: rows::format(statement.format).to_owned(),
        imported: Moment::day_there(statement.imported_at, zone),
        lines: listed.lines().to_string(),
        open: listed.count(LineStatus::Open),
        closing: statement.closing.map_or_else(
            || "\u{2013}".to_owned(),
            |closing| words::money(bursar_domain::money::Money::new(closing.amount, listed.currency)),
        ),
    }
}

/// `1 Mar 2026 to 31 Mar 2026`
pub(super) fn days(first: Option<bursar_domain::Date>, last: Option<bursar_domain::Date>) -> String {
    match (first, last) {
        (Some(first), Some(last)) if first == last => words::day(first),
        (Some(first), Some(last)) => format!("{} to {}", words::day(first), words::day(last)),
        _ => "No lines".to_owned(),
    }
}

fn cards(view: &mut View<'_, '_>, listed: &[Listed]) -> Result<Vec<AccountCard>, Failure> {
    let mut accounts: Vec<AccountId> = Vec::new();
    for one in listed {
        if !accounts.contains(&one.statement.account) {
            accounts.push(one.statement.account);
        }
    }
    let mut cards = Vec::new();
    for id in accounts {
        let held = reconciliation::reconciliation(view, &id.to_string(), None)?;
        let unexplained = held.unexplained.map_or(0, |money| money.minor);
        let difference = held.bank_balance.minor - held.book_balance.minor;
        cards.push(AccountCard {
            id,
            name: account_name(&held.account),
            bank: words::money_in(held.bank_balance),
            stated: held.stated.map_or_else(
                || "by its lines".to_owned(),
                |(day, _)| format!("stated on {}", words::day(day)),
            ),
            books: words::money_in(held.book_balance),
            open: words::count(held.open_lines.len(), "line to match", "lines to match"),
            is_open: !held.open_lines.is_empty(),
            tone: match (difference, unexplained) {
                (0, _) => "paid",
                (_, 0) => "",
                _ => "failed",
            },
            verdict: match (difference, held.unexplained) {
                (0, _) => "Bank and books agree".to_owned(),
                (_, Some(left)) if left.minor != 0 => format!("{} not explained", words::money_in(left)),
                _ => "The difference is explained".to_owned(),
            },
        });
    }
    Ok(cards)
}

/// Accounts that banks and providers send statements of, with the bank first.
pub(super) fn money_accounts(view: &mut View<'_, '_>) -> Result<Vec<(String, String)>, Failure> {
    let (accounts, _) = bursar_app::books::entries::accounts(view)?;
    let mut found: Vec<_> = accounts
        .into_values()
        .filter(|account| !account.is_closed && account.holds_money())
        .collect();
    found.sort_by_key(|account| (account.name != "bank", account.name.clone()));
    let named = |account: Account| (account.id.to_string(), account_name(&account));
    Ok(found.into_iter().map(named).collect())
}

/// `Bank fees`. A name that an officer gave is left as it is.
pub(super) fn account_name(account: &Account) -> String {
    match account.standing() {
        Some(standing) if standing.as_str() == account.name => words::label(&account.name.replace('-', " ")),
        _ => account.name.clone(),
    }
}
