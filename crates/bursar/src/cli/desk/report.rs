use bursar_app::reports;
use bursar_domain::Date;
use bursar_domain::money::Money;
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::Door;
use super::super::{Globals, Outcome, output};
use super::parse_date;
use crate::ambient;

#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Amounts expected, collected and overdue by group
    Dues(RangeArgs),
    /// Members and chapters that owe, oldest first
    Owing(FormArgs),
    /// Journal entries between two dates, with totals by account
    Ledger(RangeArgs),
    /// Totals by chapter, without personal data
    Chapters(FormArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FormArgs {
    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RangeArgs {
    #[command(flatten)]
    form: FormArgs,
    /// First day; a year ago by default
    #[arg(long, value_parser = parse_date)]
    from: Option<Date>,
    /// Last day; today by default
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
}

impl RangeArgs {
    fn range(&self) -> (Date, Date) {
        let today = ambient::now().date();
        (
            self.from.unwrap_or_else(|| today.plus_months(-12, today.day())),
            self.until.unwrap_or(today),
        )
    }
}

pub(crate) fn run(globals: &Globals, command: ReportCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    match command {
        ReportCommand::Dues(args) => {
            let (from, until) = args.range();
            let lines = door.survey(org, |view| reports::dues(view, from, until))?;
            let rows = lines.iter().map(|l| {
                [
                    l.group.clone(),
                    l.payments.to_string(),
                    l.expected.to_string(),
                    l.collected.to_string(),
                    l.overdue.to_string(),
                ]
            });
            print(
                globals,
                args.form.csv,
                ["group", "payments", "expected", "collected", "overdue"],
                rows.collect(),
                &lines,
            )
        }
        ReportCommand::Owing(args) => {
            let lines = door.survey(org, reports::owing)?;
            let rows = lines.iter().map(|l| {
                [
                    l.name.clone(),
                    l.id.clone(),
                    l.payments.to_string(),
                    l.oldest_due.clone().unwrap_or_default(),
                    l.owed.to_string(),
                ]
            });
            print(
                globals,
                args.csv,
                ["name", "id", "payments", "oldest due", "owed"],
                rows.collect(),
                &lines,
            )
        }
        ReportCommand::Ledger(args) => {
            let (from, until) = args.range();
            let report = door.survey(org, |view| reports::ledger(view, from, until))?;
            ledger(globals, args.form.csv, &report)
        }
        ReportCommand::Chapters(args) => {
            let lines = door.survey(org, reports::chapters)?;
            let mut rows: Vec<_> = lines
                .iter()
                .map(|l| {
                    [
                        l.name.clone(),
                        l.members.to_string(),
                        l.expected.to_string(),
                        l.collected.to_string(),
                        l.owed.to_string(),
                        l.currency.to_string(),
                    ]
                })
                .collect();
            // Programs compute their own totals; people get one per currency.
            if !args.csv && !globals.json {
                rows.extend(reports::by_currency(&lines)?.iter().map(|total| {
                    [
                        "total".to_owned(),
                        total.members.to_string(),
                        total.expected.to_string(),
                        total.collected.to_string(),
                        total.owed.to_string(),
                        total.currency.to_string(),
                    ]
                }));
            }
            let header = ["chapter", "members", "expected", "collected", "owed", "currency"];
            print(globals, args.csv, header, rows, &lines)
        }
    }
}

fn ledger(globals: &Globals, csv: bool, report: &reports::LedgerReport) -> Outcome {
    let money = |minor| Money::new(minor, report.currency);
    let account = |id| {
        let found = report.accounts.get(&id);
        found.map_or_else(|| id.to_string(), |account| account.name.clone())
    };
    if globals.json && !csv {
        let entries: Vec<_> = report
            .entries
            .iter()
            .map(|e| {
                let postings: Vec<_> = e
                    .postings
                    .iter()
                    .map(|p| {
                        json!({ "account": account(p.account), "amount": money(p.amount), "memberId": p.about.member,
                            "paymentId": p.about.payment })
                    })
                    .collect();
                json!({ "id": e.id, "date": e.date, "recordedAt": e.recorded_at, "kind": e.kind, "memo": e.note.memo,
                    "reference": e.note.reference, "reverses": e.reverses, "postings": postings })
            })
            .collect();
        return output::json(&json!({ "entries": entries, "sums": report.sums }));
    }
    let postings = report
        .entries
        .iter()
        .flat_map(|e| e.postings.iter().map(move |p| (e, p)));
    let mut rows: Vec<[String; 6]> = postings
        .map(|(e, p)| {
            let note = e.note.memo.as_ref().or(e.note.reference.as_ref());
            [
                e.date.to_string(),
                e.id.to_string(),
                e.kind.to_string(),
                account(p.account),
                note.cloned().unwrap_or_default(),
                money(p.amount).to_string(),
            ]
        })
        .collect();
    let header = ["date", "entry", "kind", "account", "note", "amount"];
    if csv {
        output::csv(header, &rows);
        return Ok(());
    }
    for (name, sum) in &report.sums {
        let [date, entry, note] = [const { String::new() }; 3];
        rows.push([
            date,
            entry,
            "total".to_owned(),
            name.clone(),
            note,
            sum.to_string(),
        ]);
    }
    output::table(header, rows, "no entries");
    Ok(())
}

fn print<const N: usize>(
    globals: &Globals,
    csv: bool,
    header: [&str; N],
    rows: Vec<[String; N]>,
    lines: &impl serde::Serialize,
) -> Outcome {
    if csv {
        output::csv(header, &rows);
        return Ok(());
    }
    if globals.json {
        return output::json(lines);
    }
    output::table(header, rows, "nothing to report");
    Ok(())
}
