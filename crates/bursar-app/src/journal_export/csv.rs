//! The journal for spreadsheets: one line for each posting.

use bursar_domain::account::Account;
use bursar_domain::journal::Entry;

use super::Books;
use crate::spreadsheet::record;

pub(super) fn account(account: &Account) -> String {
    account.name.clone()
}

pub(super) fn head() -> String {
    record([
        "date",
        "entry",
        "kind",
        "account",
        "type",
        "amount",
        "currency",
        "memo",
        "reference",
        "payer",
        "member",
        "chapter",
        "payment",
        "order",
        "reimbursement",
        "campaign",
        "receipt",
        "reverses",
        "recordedAt",
        "recordedBy",
    ])
}

pub(super) fn entry(books: &Books, entry: &Entry) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let mut lines = String::new();
    for posting in &entry.postings {
        let (account, account_type) = match books.accounts.get(posting.account) {
            Some((account, name)) => (name.to_owned(), account.account_type.to_string()),
            None => (posting.account.to_string(), String::new()),
        };
        let about = posting.about;
        let recorder = match &entry.recorder.id {
            Some(id) => format!("{} {id}", entry.recorder.kind),
            None => entry.recorder.kind.clone(),
        };
        lines.push_str(&record([
            entry.date.to_string(),
            entry.id.to_string(),
            entry.kind.to_string(),
            account,
            account_type,
            books.money(posting.amount).to_string(),
            books.currency.to_string(),
            text(&entry.note.memo),
            text(&entry.note.reference),
            text(&entry.note.payer_name),
            about.member.map_or_else(String::new, |id| id.to_string()),
            about.chapter.map_or_else(String::new, |id| id.to_string()),
            about.payment.map_or_else(String::new, |id| id.to_string()),
            about.order.map_or_else(String::new, |id| id.to_string()),
            about.reimbursement.map_or_else(String::new, |id| id.to_string()),
            about.campaign.map_or_else(String::new, |id| id.to_string()),
            entry.receipt.map_or_else(String::new, |id| id.to_string()),
            entry.reverses.map_or_else(String::new, |id| id.to_string()),
            entry.recorded_at.to_string(),
            recorder,
        ]));
    }
    lines
}
