//! The journal as hledger and ledger read it.

use std::fmt::Write;

use bursar_domain::account::Account;
use bursar_domain::journal::Entry;

use super::{Books, names, subjects};

/// A colon would begin a subaccount, two spaces would end the name, and a semicolon begins a comment.
pub(super) fn account(account: &Account) -> String {
    let name = plain(&account.name).replace(':', "-");
    format!("{}:{name}", names::top(account.account_type).to_lowercase())
}

/// One line without what means something to the programs.
fn plain(text: &str) -> String {
    let text = text.replace([';', '|'], ",");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn head(books: &Books) -> String {
    let mut text = format!("; {}, amounts in {}\n\n", plain(&books.name), books.currency);
    for (_, name) in books.accounts.iter() {
        let _ = writeln!(text, "account {name}");
    }
    text.push('\n');
    text
}

pub(super) fn entry(books: &Books, entry: &Entry) -> String {
    let narration = plain(&books.narration(entry));
    let payee = books.payee(entry).map(plain).filter(|payee| !payee.is_empty());
    let mut text = match payee {
        Some(payee) => format!("{} ({}) {payee} | {narration}\n", entry.date, entry.id),
        None => format!("{} ({}) {narration}\n", entry.date, entry.id),
    };
    for posting in &entry.postings {
        let name = books
            .accounts
            .get(posting.account)
            .map(|(_, name)| name.to_owned());
        // Every account of the journal exists; one that does not would still balance.
        let name = name.unwrap_or_else(|| format!("equity:{}", posting.account));
        let _ = write!(
            text,
            "    {name}  {} {}",
            books.money(posting.amount),
            books.currency
        );
        let about: Vec<String> = subjects(posting)
            .into_iter()
            .map(|(word, id)| format!("{word}:{id}"))
            .collect();
        if !about.is_empty() {
            let _ = write!(text, "  ; {}", about.join(", "));
        }
        text.push('\n');
    }
    text.push('\n');
    text
}
