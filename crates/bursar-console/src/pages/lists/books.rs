//! Money in, the journal, bank statements and their lines.

use bursar_app::View;
use bursar_app::books::entries;
use bursar_app::books::receipts::Recorded;
use bursar_app::pages;
use bursar_app::statements::Listed;
use bursar_domain::Date;
use bursar_domain::ids::{EntryId, ReceiptId};
use bursar_domain::money::Money;
use bursar_domain::statement::LineStatus;

use super::{all, file, next, whole};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::pages::{bank, journal as journal_page, money as money_page, rows};
use crate::reply::Download;
use crate::sheet::Cell;
use crate::words;

pub(crate) fn money(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let today = asking.frame.place.organization.time_zone.date(view.now());
    let days: (Date, Date) = money_page::days(asking, today);
    let rows = all(|after: Option<ReceiptId>| {
        let page = pages::receipts(view, days, after)?;
        let found = receipt_rows(view, &page.rows)?;
        Ok((found, next(&page, |recorded| recorded.receipt.id)))
    })?;
    Ok(file(view, asking, "money-in", &RECEIPT, rows))
}

pub(super) const RECEIPT: [&str; 6] = ["Day", "From", "How", "Reference", "State", "Amount"];

pub(super) fn receipt_rows(view: &mut View<'_, '_>, found: &[Recorded]) -> Result<Vec<Vec<Cell>>, Failure> {
    let named = rows::receipts(view, found)?;
    let row = |(recorded, row): (&Recorded, rows::ReceiptRow)| {
        vec![
            Cell::Day(Some(recorded.receipt.date)),
            Cell::Text(row.who),
            Cell::Text(row.how),
            Cell::Text(recorded.receipt.reference.clone().unwrap_or_default()),
            Cell::Text(row.state),
            Cell::Money(recorded.amount),
        ]
    };
    Ok(found.iter().zip(named).map(row).collect())
}

/// One row a posting, with its entry before it.
pub(crate) fn journal(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let today = asking.frame.place.organization.time_zone.date(view.now());
    let (days, account) = journal_page::asked(asking, today);
    let (accounts, currency) = entries::accounts(view)?;
    let rows = all(|after: Option<EntryId>| {
        let page = pages::journal(view, days, account, after)?;
        let mut found = Vec::new();
        for entry in &page.rows {
            for posting in &entry.postings {
                let amount = |minor: i64| match minor > 0 {
                    true => Cell::Money(Money::new(minor, currency)),
                    false => Cell::Nothing,
                };
                let note = &entry.note;
                found.push(vec![
                    Cell::Day(Some(entry.date)),
                    Cell::Text(entry.id.to_string()),
                    Cell::Text(words::label(entry.kind.as_str())),
                    Cell::Text(
                        note.memo
                            .clone()
                            .or_else(|| note.reference.clone())
                            .unwrap_or_default(),
                    ),
                    Cell::Text(
                        accounts
                            .get(&posting.account)
                            .map_or_else(|| posting.account.to_string(), |account| account.name.clone()),
                    ),
                    amount(posting.amount),
                    amount(posting.amount.saturating_neg()),
                ]);
            }
        }
        Ok((found, next(&page, |entry| entry.id)))
    })?;
    let columns = ["Day", "Entry", "What", "Note", "Account", "Debit", "Credit"];
    Ok(file(view, asking, "journal", &columns, rows))
}

pub(crate) fn statements(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let zone = &asking.frame.place.organization.time_zone;
    let row = |listed: Listed| {
        let (statement, currency) = (&listed.statement, listed.currency);
        let closing = statement
            .closing
            .map(|closing| Money::new(closing.amount, currency));
        vec![
            Cell::Day(statement.first_date),
            Cell::Day(statement.last_date),
            Cell::Text(words::label(&listed.account)),
            Cell::text(bank::rows::format(statement.format)),
            Cell::Day(Some(zone.date(statement.imported_at))),
            Cell::Count(listed.lines()),
            Cell::Count(listed.count(LineStatus::Open)),
            Cell::money(closing),
        ]
    };
    let rows = whole(bank::found(view)?.into_iter().map(row).collect());
    let columns = [
        "First day",
        "Last day",
        "Account",
        "Format",
        "Imported",
        "Lines",
        "To match",
        "Closing balance",
    ];
    Ok(file(view, asking, "bank-statements", &columns, rows))
}

/// Of one statement, or all that are to match.
pub(crate) fn lines(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let found = bank::lines::cells(view, asking)?;
    let rows = whole(found);
    let columns = [
        "Day",
        "Who",
        "The bank says",
        "State",
        "Proposed",
        "Why",
        "Amount",
    ];
    Ok(file(view, asking, "bank-lines", &columns, rows))
}
