//! Rows of tables that several pages have.

use std::collections::BTreeMap;

use bursar_app::View;
use bursar_app::books::receipts::Recorded;
use bursar_app::desk::ChargeLine;
use bursar_app::names::{self, Names};
use bursar_domain::Date;
use bursar_domain::account::Account;
use bursar_domain::ids::{AccountId, EntryId, PaymentId, ReceiptId};
use bursar_domain::journal::Entry;
use bursar_domain::money::{Currency, Money};
use bursar_domain::payment::PaymentStatus;

use crate::failure::Failure;
use crate::words;

const DASH: &str = "\u{2013}";

pub(crate) struct ChargeRow {
    pub(crate) id: PaymentId,
    pub(crate) what: String,
    pub(crate) who: String,
    pub(crate) due: String,
    pub(crate) is_late: bool,
    pub(crate) status: PaymentStatus,
    pub(crate) state: String,
    pub(crate) amount: String,
    pub(crate) open: String,
}

pub(crate) fn charges(
    view: &mut View<'_, '_>,
    lines: &[ChargeLine],
    currency: Currency,
    today: Date,
) -> Result<Vec<ChargeRow>, Failure> {
    let members: Vec<_> = lines.iter().filter_map(|line| line.member).collect();
    let chapters: Vec<_> = lines.iter().filter_map(|line| line.chapter).collect();
    let members = names::of(view, &members)?;
    let chapters = match chapters.is_empty() {
        true => Names::default(),
        false => names::of_organizations(view, &chapters)?,
    };
    let row = |line: &ChargeLine| {
        let open = match line.status {
            PaymentStatus::Cancelled => 0,
            _ => line.amount - line.paid,
        };
        ChargeRow {
            id: line.id,
            what: described(&line.description),
            who: match (line.member, line.chapter) {
                (Some(member), _) => members.told(Some(member)),
                (None, Some(chapter)) => chapters.told(Some(chapter)),
                (None, None) => DASH.to_owned(),
            },
            due: words::day_or_dash(line.due),
            is_late: open > 0 && line.due.is_some_and(|due| due < today),
            status: line.status,
            state: words::label(line.status.as_str()),
            amount: words::money(Money::new(line.amount, currency)),
            open: match open {
                0 => DASH.to_owned(),
                open => words::money(Money::new(open, currency)),
            },
        }
    };
    Ok(lines.iter().map(row).collect())
}

/// A description is one line here, and never empty: it is a link.
pub(crate) fn described(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.is_empty() {
        true => "Charge".to_owned(),
        false => line,
    }
}

pub(crate) struct ReceiptRow {
    pub(crate) id: ReceiptId,
    pub(crate) day: String,
    pub(crate) who: String,
    pub(crate) how: String,
    pub(crate) state: String,
    pub(crate) amount: String,
}

pub(crate) fn receipts(view: &mut View<'_, '_>, found: &[Recorded]) -> Result<Vec<ReceiptRow>, Failure> {
    let members: Vec<_> = found
        .iter()
        .filter_map(|recorded| recorded.receipt.payer)
        .collect();
    let names = names::of(view, &members)?;
    let row = |recorded: &Recorded| {
        let receipt = &recorded.receipt;
        ReceiptRow {
            id: receipt.id,
            day: words::day(receipt.date),
            who: match (receipt.payer, &receipt.payer_name) {
                (Some(member), _) => names.told(Some(member)),
                (None, Some(name)) => name.clone(),
                (None, None) => DASH.to_owned(),
            },
            how: format!(
                "{} in {}",
                words::label(receipt.method.as_str()),
                recorded.account.name
            ),
            state: words::label(receipt.status.as_str()),
            amount: words::money(recorded.amount),
        }
    };
    Ok(found.iter().map(row).collect())
}

pub(crate) struct EntryRow {
    pub(crate) id: EntryId,
    pub(crate) day: String,
    pub(crate) kind: String,
    pub(crate) note: String,
    pub(crate) postings: Vec<PostingRow>,
}

pub(crate) struct PostingRow {
    pub(crate) account: String,
    pub(crate) debit: String,
    pub(crate) credit: String,
}

pub(crate) fn entries(
    entries: &[Entry],
    accounts: &BTreeMap<AccountId, Account>,
    currency: Currency,
) -> Vec<EntryRow> {
    let amount = |minor: i64| match minor > 0 {
        true => words::money(Money::new(minor, currency)),
        false => String::new(),
    };
    let row = |entry: &Entry| EntryRow {
        id: entry.id,
        day: words::day(entry.date),
        kind: words::label(entry.kind.as_str()),
        note: entry
            .note
            .memo
            .clone()
            .or_else(|| entry.note.reference.clone())
            .unwrap_or_default(),
        postings: entry
            .postings
            .iter()
            .map(|posting| PostingRow {
                account: accounts
                    .get(&posting.account)
                    .map_or_else(|| posting.account.to_string(), |account| account.name.clone()),
                debit: amount(posting.amount),
                credit: amount(posting.amount.saturating_neg()),
            })
            .collect(),
    };
    entries.iter().map(row).collect()
}

/// A line of the activity log.
pub(crate) struct ActivityRow {
    /// The id of the request that did it; empty if none did.
    pub(crate) request: String,
    pub(crate) exact: String,
    pub(crate) at: String,
    pub(crate) told: String,
}
