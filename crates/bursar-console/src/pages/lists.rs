//! The lists as spreadsheets, with the filters of their addresses.

use bursar_app::View;
use bursar_app::desk::{self, MemberLine};
use bursar_app::search;
use bursar_domain::Date;
use bursar_domain::ids::MemberId;
use bursar_domain::money::{Currency, Money};

use super::rows;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::reply::Download;
use crate::sheet::{Cell, Section, Sheet};

/// More than a person reads; whoever needs more exports with the command line.
const ROWS_MAX: usize = 20_000;

fn download(view: &View<'_, '_>, asking: &Asking, name: &str, sheet: &Sheet) -> Download {
    let today = asking.frame.place.organization.time_zone.date(view.now());
    Download::csv(format!("{name}-{today}.csv"), sheet.csv())
}

fn sheet(columns: Vec<&'static str>, amounts: usize, rows: Vec<Vec<Cell>>) -> Sheet {
    Sheet {
        columns,
        amounts,
        sections: vec![Section {
            rows,
            ..Section::default()
        }],
        totals: Vec::new(),
    }
}

pub(crate) fn members(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let mut query = super::members::query(asking);
    query.after = None;
    let currency = asking.frame.place.organization.currency;
    let mut found = Vec::new();
    if !query.text.trim().is_empty() {
        let (lines, _) = search::members(view, &query.text, query.filter, ROWS_MAX)?;
        for chunk in lines.chunks(desk::PAGE_ROWS) {
            found.extend(member_rows(view, chunk, currency)?);
        }
        return Ok(download(view, asking, "members", &member_sheet(found)));
    }
    loop {
        let page = desk::members(view, &query)?;
        query.after = page.rows.last().map(|line| line.id);
        found.extend(member_rows(view, &page.rows, currency)?);
        if !page.is_more || found.len() >= ROWS_MAX {
            break;
        }
    }
    Ok(download(view, asking, "members", &member_sheet(found)))
}

fn member_rows(
    view: &mut View<'_, '_>,
    lines: &[MemberLine],
    currency: Currency,
) -> Result<Vec<Vec<Cell>>, Failure> {
    let ids: Vec<MemberId> = lines.iter().map(|line| line.id).collect();
    let balances = desk::balances(view, &ids)?;
    let row = |line: &MemberLine| {
        let balance = balances.get(&line.id).copied();
        vec![
            Cell::Text(line.first_name.clone()),
            Cell::Text(line.last_name.clone()),
            Cell::Text(line.email.clone().unwrap_or_default()),
            Cell::text(if line.is_active { "Active" } else { "Archived" }),
            Cell::Money(balance.unwrap_or_else(|| Money::zero(currency))),
        ]
    };
    Ok(lines.iter().map(row).collect())
}

fn member_sheet(rows: Vec<Vec<Cell>>) -> Sheet {
    let columns = vec!["First name", "Last name", "E-mail", "State", "Balance"];
    sheet(columns, 4, rows)
}

pub(crate) fn charges(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let which = super::charges::which(asking);
    let own = &asking.frame.place.organization;
    let today = own.time_zone.date(view.now());
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let page = desk::charges(view, which, after)?;
        after = page.rows.last().map(|line| line.id);
        let named = rows::charges(view, &page.rows, own.currency, today)?;
        found.extend(page.rows.iter().zip(named).map(|(line, row)| {
            vec![
                Cell::Text(row.what),
                Cell::Text(row.who),
                Cell::Day(line.due),
                Cell::Text(row.state),
                Cell::Money(Money::new(line.amount, own.currency)),
                Cell::Money(Money::new(line.paid, own.currency)),
            ]
        }));
        if !page.is_more || found.len() >= ROWS_MAX {
            break;
        }
    }
    let sheet = sheet(vec!["Charge", "Who", "Due", "State", "Amount", "Paid"], 4, found);
    Ok(download(view, asking, "charges", &sheet))
}

pub(crate) fn money(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let today = asking.frame.place.organization.time_zone.date(view.now());
    let (from, until): (Date, Date) = super::money::days(asking, today);
    let found = bursar_app::books::receipts::list(view, (Some(from), Some(until)), None)?;
    let named = rows::receipts(view, &found)?;
    let found = found.iter().zip(named).map(|(recorded, row)| {
        vec![
            Cell::Day(Some(recorded.receipt.date)),
            Cell::Text(row.who),
            Cell::Text(row.how),
            Cell::Text(recorded.receipt.reference.clone().unwrap_or_default()),
            Cell::Text(row.state),
            Cell::Money(recorded.amount),
        ]
    });
    let columns = vec!["Day", "From", "How", "Reference", "State", "Amount"];
    let sheet = sheet(columns, 5, found.collect());
    Ok(download(view, asking, "money-in", &sheet))
}
