use bursar_app::reports::{self, LedgerReport, OfAccount};
use bursar_domain::ids::{AccountId, OrganizationId};
use bursar_domain::journal::Entry;
use bursar_domain::money::Money;
use serde_json::{Value, json};

use super::super::super::Outcome;
use super::super::super::door::Door;
use super::super::journal::entry_json;
use super::{LedgerArgs, Sheet};

pub(super) fn run(door: &Door<'_>, org: OrganizationId, args: &LedgerArgs) -> Outcome {
    let span = args.range.span();
    let report = door.survey(org, |view| reports::ledger(view, span, args.account.as_deref()))?;
    let json = json(&report);
    let form = &args.range.form;
    match &report.of_account {
        Some(of) => of_account(&report, of).print(door.globals, form, &json),
        None => all(&report).print(door.globals, form, &json),
    }
}

fn name(report: &LedgerReport, id: AccountId) -> String {
    let found = report.accounts.get(&id);
    found.map_or_else(|| id.to_string(), |account| account.name.clone())
}

fn json(report: &LedgerReport) -> Value {
    let named = |id| name(report, id);
    let mut balance = report.of_account.as_ref().map(|of| of.opening);
    let entries: Vec<Value> = report
        .entries
        .iter()
        .map(|entry| {
            let mut shown = entry_json(entry, report.currency, &named);
            if let (Some(balance), Some(of)) = (&mut balance, &report.of_account) {
                balance.minor += gained(entry, of);
                shown["balance"] = json!(balance);
            }
            shown
        })
        .collect();
    let mut shown = json!({ "entries": entries, "sums": report.sums, "from": report.period.from,
        "until": report.period.until });
    if let Some(of) = &report.of_account {
        shown["account"] = json!(of.account.name);
        shown["opening"] = json!(of.opening);
        shown["closing"] = json!(of.closing);
    }
    shown
}

/// What the account gained by an entry. The closing balance fits, so each part of it does.
fn gained(entry: &Entry, of: &OfAccount) -> i64 {
    i64::try_from(entry.sum_of(of.account.id)).unwrap_or(i64::MAX)
}

fn note(entry: &Entry) -> String {
    let parts = [&entry.note.memo, &entry.note.payer_name, &entry.note.reference];
    let parts: Vec<&str> = parts.into_iter().filter_map(|part| part.as_deref()).collect();
    parts.join(", ").replace('\n', " ")
}

fn all(report: &LedgerReport) -> Sheet<6> {
    let postings = report
        .entries
        .iter()
        .flat_map(|entry| entry.postings.iter().map(move |posting| (entry, posting)));
    let rows = postings.map(|(entry, posting)| {
        [
            entry.date.to_string(),
            entry.id.to_string(),
            entry.kind.to_string(),
            name(report, posting.account),
            note(entry),
            Money::new(posting.amount, report.currency).to_string(),
        ]
    });
    let totals = report.sums.iter().map(|(account, sum)| {
        let [entry, kind, note] = [const { String::new() }; 3];
        [
            "total".to_owned(),
            entry,
            kind,
            account.clone(),
            note,
            sum.to_string(),
        ]
    });
    Sheet {
        header: ["date", "entry", "kind", "account", "note", "amount"],
        amounts: 5,
        rows: rows.collect(),
        totals: totals.collect(),
        none: "no entries",
    }
}

fn of_account(report: &LedgerReport, of: &OfAccount) -> Sheet<7> {
    let line = |day: String, what: &str, balance: Money| {
        let [entry, with, note, amount] = [const { String::new() }; 4];
        [
            day,
            entry,
            what.to_owned(),
            with,
            note,
            amount,
            balance.to_string(),
        ]
    };
    let mut balance = of.opening;
    let mut rows = vec![line(report.period.from.to_string(), "opening balance", balance)];
    for entry in &report.entries {
        let gained = gained(entry, of);
        balance.minor += gained;
        let mut others: Vec<String> = Vec::new();
        for posting in entry
            .postings
            .iter()
            .filter(|posting| posting.account != of.account.id)
        {
            let other = name(report, posting.account);
            if !others.contains(&other) {
                others.push(other);
            }
        }
        rows.push([
            entry.date.to_string(),
            entry.id.to_string(),
            entry.kind.to_string(),
            others.join(", "),
            note(entry),
            Money::new(gained, report.currency).to_string(),
            balance.to_string(),
        ]);
    }
    let mut closing = line(report.period.until.to_string(), "closing balance", of.closing);
    let gained = report
        .sums
        .values()
        .next()
        .map_or_else(|| Money::zero(report.currency), |sum| *sum);
    closing[5] = gained.to_string();
    Sheet {
        header: [
            "date",
            "entry",
            "kind",
            "other accounts",
            "note",
            "amount",
            "balance",
        ],
        amounts: 5,
        rows,
        totals: vec![closing],
        none: "no entries",
    }
}
