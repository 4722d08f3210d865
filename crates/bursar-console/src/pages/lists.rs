//! The lists as spreadsheets, with the filters of their addresses.

mod books;
mod office;
mod online;
mod raising;
mod work;

use bursar_app::desk::{self, ChargeLine, MemberLine};
use bursar_app::{Act, View, search};
use bursar_domain::ids::MemberId;
use bursar_domain::money::{Currency, Money};

pub(crate) use books::{journal, lines, money, statements};
pub(crate) use office::{deliveries, group, people, roster, tokens, webhooks};
pub(crate) use online::{disputes, online, payouts};
pub(crate) use raising::{campaign, campaigns, cards, listings};
pub(crate) use work::{activity, chapters, groups, orders, reimbursements, reminders};

use super::rows;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::reply::Download;
use crate::sheet::{Cell, Section, Sheet};
use crate::words;

/// More than a person reads; whoever needs more exports with the command line.
const ROWS_MAX: usize = 20_000;

/// A page of a list as rows, and where the next one begins.
type Read<I> = (Vec<Vec<Cell>>, Option<I>);

/// Reads page after page. A list that is too long says so in its last line.
fn all<I>(mut read: impl FnMut(Option<I>) -> Result<Read<I>, Failure>) -> Result<Vec<Vec<Cell>>, Failure> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let (found, next) = read(after)?;
        rows.extend(found);
        match next {
            Some(next) if rows.len() <= ROWS_MAX => after = Some(next),
            _ => return Ok(whole(rows)),
        }
    }
}

/// The rows of a list that is read at once.
fn whole(mut rows: Vec<Vec<Cell>>) -> Vec<Vec<Cell>> {
    if rows.len() > ROWS_MAX {
        rows.truncate(ROWS_MAX);
        rows.push(cut());
    }
    rows
}

/// The last line of a file that does not have the whole list.
fn cut() -> Vec<Cell> {
    let most = words::number(i64::try_from(ROWS_MAX).unwrap_or(i64::MAX));
    vec![Cell::Text(format!(
        "This file was cut off after {most} rows. Use the filters of the page to export fewer rows."
    ))]
}

fn file<M>(
    act: &Act<'_, '_, M>,
    asking: &Asking,
    name: &str,
    columns: &[&'static str],
    rows: Vec<Vec<Cell>>,
) -> Download {
    let today = asking.frame.place.organization.time_zone.date(act.now());
    let sheet = Sheet {
        columns: columns.to_vec(),
        sections: vec![Section {
            rows,
            ..Section::default()
        }],
        ..Sheet::default()
    };
    Download::csv(format!("{name}-{today}.csv"), sheet.csv())
}

/// Where the next page begins, if there is one.
fn next<T, I>(page: &desk::Page<T>, id: impl Fn(&T) -> I) -> Option<I> {
    page.rows.last().filter(|_| page.is_more).map(id)
}

pub(crate) fn members(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let mut query = super::members::query(asking);
    let currency = asking.frame.place.organization.currency;
    let rows = match query.text.trim() {
        "" => all(|after| {
            query.after = after;
            let page = desk::members(view, &query)?;
            let next = next(&page, MemberLine::place);
            Ok((member_rows(view, &page.rows, currency)?, next))
        })?,
        text => {
            let (lines, is_more) = search::members(view, text, query.filter, ROWS_MAX)?;
            let mut rows = Vec::new();
            for chunk in lines.chunks(desk::PAGE_ROWS) {
                rows.extend(member_rows(view, chunk, currency)?);
            }
            if is_more {
                rows.push(cut());
            }
            rows
        }
    };
    let columns = ["First name", "Last name", "E-mail", "State", "Balance"];
    Ok(file(view, asking, "members", &columns, rows))
}

fn member_rows(
    view: &mut View<'_, '_>,
    lines: &[MemberLine],
    currency: Currency,
) -> Result<Vec<Vec<Cell>>, Failure> {
    let balances = balances(view, lines, currency)?;
    let row = |(line, balance): (&MemberLine, Cell)| {
        vec![
            Cell::Text(line.first_name.clone()),
            Cell::Text(line.last_name.clone()),
            Cell::Text(line.email.clone().unwrap_or_default()),
            Cell::text(if line.is_active { "Active" } else { "Archived" }),
            balance,
        ]
    };
    Ok(lines.iter().zip(balances).map(row).collect())
}

/// What each of them owes, in their order.
fn balances(view: &mut View<'_, '_>, lines: &[MemberLine], currency: Currency) -> Result<Vec<Cell>, Failure> {
    let ids: Vec<MemberId> = lines.iter().map(|line| line.id).collect();
    let found = desk::balances(view, &ids)?;
    let balance = |id| found.get(id).copied().unwrap_or_else(|| Money::zero(currency));
    Ok(ids.iter().map(|id| Cell::Money(balance(id))).collect())
}

pub(crate) fn charges(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let query = super::charges::query(asking);
    let own = &asking.frame.place.organization;
    let today = own.time_zone.date(view.now());
    let rows = all(|after| {
        let page = desk::charges(view, &query, after)?;
        let named = rows::charges(view, &page.rows, own.currency, today)?;
        let found = page.rows.iter().zip(named).map(|(line, row)| {
            vec![
                Cell::Text(row.what),
                Cell::Text(row.who),
                Cell::Day(line.due),
                Cell::Text(row.state),
                Cell::Money(Money::new(line.amount, own.currency)),
                Cell::Money(Money::new(line.paid, own.currency)),
            ]
        });
        Ok((found.collect(), next(&page, ChargeLine::place)))
    })?;
    let columns = ["Charge", "Who", "Due", "State", "Amount", "Paid"];
    Ok(file(view, asking, "charges", &columns, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pages: usize, size: usize) -> Vec<Vec<Cell>> {
        let read = |after: Option<usize>| {
            let page = after.unwrap_or(0);
            let rows = vec![vec![Cell::Count(1)]; size];
            Ok((rows, (page + 1 < pages).then_some(page + 1)))
        };
        all(read).unwrap()
    }

    #[test]
    fn a_file_that_is_cut_says_so() {
        let is_cut = |rows: &[Vec<Cell>]| matches!(&rows.last().unwrap()[0], Cell::Text(text) if text.contains("20,000"));
        assert_eq!(read(3, 50).len(), 150);
        let whole = read(4, ROWS_MAX / 4);
        assert!(whole.len() == ROWS_MAX && !is_cut(&whole));
        for (pages, size) in [(5, ROWS_MAX / 4), (2, ROWS_MAX - 1), (1, ROWS_MAX + 1)] {
            let rows = read(pages, size);
            assert!(rows.len() == ROWS_MAX + 1 && is_cut(&rows), "{pages} {size}");
        }
    }
}
