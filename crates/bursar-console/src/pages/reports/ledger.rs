use std::collections::BTreeSet;

use bursar_app::View;
use bursar_app::books::accounts as app_accounts;
use bursar_app::reports::{self, LedgerReport, OfAccount};
use bursar_domain::ids::AccountId;
use bursar_domain::journal::Entry;
use bursar_domain::money::Money;

use super::{Asked, Report, days};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::sheet::{Cell, Section, Sheet};
use crate::words;

/// Names, and which is chosen.
pub(super) fn accounts(view: &mut View<'_, '_>, asking: &Asking) -> Result<Vec<(String, bool)>, Failure> {
    let chosen = asking.query("account");
    let lines = app_accounts::list(view, None)?;
    Ok(lines
        .into_iter()
        .map(|line| {
            let is_chosen = line.name == chosen;
            (line.name, is_chosen)
        })
        .collect())
}

pub(super) fn make(view: &mut View<'_, '_>, asked: &Asked<'_>) -> Result<Report, Failure> {
    let account = Some(asked.asking.query("account")).filter(|name| !name.is_empty());
    let report = reports::ledger(view, asked.chosen.span(), account)?;
    let of_time = days(report.period.from, report.period.until);
    let (lead, sheet) = match &report.of_account {
        Some(of) => (
            format!(
                "{}, {of_time}, with its running balance.",
                words::label(&of.account.name)
            ),
            of_account(&report, of),
        ),
        None => (format!("All entries, {of_time}."), all(&report)),
    };
    Ok(Report {
        lead,
        sheet,
        chart: None,
        note: String::new(),
    })
}

fn name(report: &LedgerReport, id: AccountId) -> String {
    let found = report.accounts.get(&id);
    found.map_or_else(|| id.to_string(), |account| words::label(&account.name))
}

fn note(entry: &Entry) -> Cell {
    let parts = [&entry.note.memo, &entry.note.payer_name, &entry.note.reference];
    let parts: Vec<&str> = parts.into_iter().filter_map(|part| part.as_deref()).collect();
    Cell::Text(parts.join(", "))
}

fn kind(entry: &Entry) -> Cell {
    Cell::Text(words::label(entry.kind.as_str()))
}

fn all(report: &LedgerReport) -> Sheet {
    let postings = report
        .entries
        .iter()
        .flat_map(|entry| entry.postings.iter().map(move |posting| (entry, posting)));
    let rows = postings.map(|(entry, posting)| {
        vec![
            Cell::Day(Some(entry.date)),
            kind(entry),
            Cell::Text(name(report, posting.account)),
            note(entry),
            Cell::Money(Money::new(posting.amount, report.currency)),
        ]
    });
    let totals = report.sums.iter().map(|(account, sum)| {
        vec![
            Cell::text("Total"),
            Cell::Nothing,
            Cell::Text(words::label(account)),
            Cell::Nothing,
            Cell::Money(*sum),
        ]
    });
    Sheet {
        columns: vec!["Day", "What", "Account", "Note", "Amount"],
        amounts: 4,
        sections: vec![Section {
            rows: rows.collect(),
            ..Section::default()
        }],
        totals: totals.collect(),
    }
}

fn of_account(report: &LedgerReport, of: &OfAccount) -> Sheet {
    let mut balance = i128::from(of.opening.minor);
    let line = |day, what: &str, balance| {
        vec![
            Cell::Day(Some(day)),
            Cell::text(what),
            Cell::Nothing,
            Cell::Nothing,
            Cell::Nothing,
            Cell::Money(balance),
        ]
    };
    let mut rows = vec![line(report.period.from, "Opening balance", of.opening)];
    for entry in &report.entries {
        let gained = entry.sum_of(of.account.id);
        balance += gained;
        let others: BTreeSet<String> = entry
            .postings
            .iter()
            .filter(|posting| posting.account != of.account.id)
            .map(|posting| name(report, posting.account))
            .collect();
        let others: Vec<String> = others.into_iter().collect();
        // The closing balance fits, so each part of it does.
        let money = |minor: i128| Money::new(i64::try_from(minor).unwrap_or(i64::MAX), report.currency);
        rows.push(vec![
            Cell::Day(Some(entry.date)),
            kind(entry),
            Cell::Text(others.join(", ")),
            note(entry),
            Cell::Money(money(gained)),
            Cell::Money(money(balance)),
        ]);
    }
    Sheet {
        columns: vec!["Day", "What", "Other accounts", "Note", "Amount", "Balance"],
        amounts: 4,
        sections: vec![Section {
            rows,
            ..Section::default()
        }],
        totals: vec![line(report.period.until, "Closing balance", of.closing)],
    }
}
