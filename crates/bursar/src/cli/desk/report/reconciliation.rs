//! `bursar report reconciliation`.

use bursar_app::statements::reconciliation::{Reconciliation, reconciliation};
use bursar_domain::Date;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::Money;
use clap::Args;
use serde_json::json;

use super::super::super::door::Door;
use super::super::super::{Outcome, output};
use super::super::{or_dash, parse_date};

#[derive(Debug, Args)]
pub(crate) struct ReconciliationArgs {
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Account to compare with its statements
    #[arg(long, default_value = "bank")]
    account: String,
    /// Day at whose end they are compared; today by default
    #[arg(long, value_parser = parse_date)]
    at: Option<Date>,
}

pub(crate) fn run(door: &Door<'_>, org: OrganizationId, args: &ReconciliationArgs) -> Outcome {
    let found = door.survey(org, |view| reconciliation(view, &args.account, args.at))?;
    if door.globals.json {
        return as_json(&found);
    }
    let rows = rows(&found);
    let header = ["what", "date", "amount", "text", "id"];
    match args.csv {
        true => output::csv(header, &rows),
        false => {
            output::say_bold(&format!("{} at {}", found.account.name, found.at));
            output::table(header, rows, "");
        }
    }
    Ok(())
}

fn rows(found: &Reconciliation) -> Vec<[String; 5]> {
    let total = |what: &str, amount: Option<Money>| {
        let dash = || "-".to_owned();
        [what.to_owned(), dash(), or_dash(amount), dash(), dash()]
    };
    let currency = found.book_balance.currency;
    let mut rows = vec![
        total("bank balance", Some(found.bank_balance)),
        total("book balance", Some(found.book_balance)),
    ];
    rows.extend(found.open_lines.iter().map(|line| {
        let name = line.counterparty_name.as_deref().unwrap_or_default();
        [
            "open line".to_owned(),
            line.date.to_string(),
            Money::new(line.amount, currency).to_string(),
            format!("{name} {}", line.text).trim().to_owned(),
            line.id.to_string(),
        ]
    }));
    rows.push(total("open lines, total", Some(found.open_total)));
    if found.ignored_total.minor != 0 {
        rows.push(total("ignored lines, total", Some(found.ignored_total)));
    }
    rows.extend(found.entries.iter().map(|(entry, amount)| {
        [
            "entry without a line".to_owned(),
            entry.date.to_string(),
            amount.to_string(),
            format!(
                "{} {}",
                entry.kind,
                entry.note.memo.as_deref().unwrap_or_default()
            )
            .trim()
            .to_owned(),
            entry.id.to_string(),
        ]
    }));
    rows.push(total("entries without a line, total", Some(found.entries_total)));
    rows.push(total("unexplained", found.unexplained));
    rows
}

fn as_json(found: &Reconciliation) -> Outcome {
    let currency = found.book_balance.currency;
    let lines: Vec<_> = found
        .open_lines
        .iter()
        .map(|line| {
            json!({
                "id": line.id, "date": line.date, "amount": Money::new(line.amount, currency), "text": line.text,
                "counterpartyName": line.counterparty_name,
            })
        })
        .collect();
    let entries: Vec<_> = found
        .entries
        .iter()
        .map(|(entry, amount)| {
            json!({
                "id": entry.id, "date": entry.date, "kind": entry.kind, "amount": amount, "memo": entry.note.memo,
            })
        })
        .collect();
    output::json(&json!({
        "account": found.account.name, "at": found.at, "bankBalance": found.bank_balance,
        "statedOn": found.stated.map(|(date, _)| date), "bookBalance": found.book_balance, "openLines": lines,
        "openTotal": found.open_total, "ignoredTotal": found.ignored_total, "entriesWithoutLine": entries,
        "entriesTotal": found.entries_total, "unexplained": found.unexplained,
    }))
}
