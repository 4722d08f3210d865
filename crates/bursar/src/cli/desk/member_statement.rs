//! `bursar report member`: a member's statement as text, CSV, JSON or PDF.

use std::io::Write;
use std::path::{Path, PathBuf};

use bursar_app::member_statement::{self, Line, MemberStatement};
use bursar_app::{private, texts};
use bursar_domain::Date;
use bursar_domain::ids::{OrganizationId, kind};
use bursar_domain::money::Money;
use clap::Args;

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Outcome, output};
use super::parse_date;

#[derive(Debug, Args)]
pub(crate) struct MemberStatementArgs {
    /// The member; for one who pays for others, the whole household
    #[arg(value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
    /// First day; a year before the last day by default
    #[arg(long, value_parser = parse_date)]
    from: Option<Date>,
    /// Last day; today by default
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
    /// Print CSV
    #[arg(long, conflicts_with_all = ["json", "pdf"])]
    csv: bool,
    /// Write a PDF to this new file
    #[arg(long, value_name = "FILE")]
    pdf: Option<PathBuf>,
}

pub(crate) fn run(door: &Door<'_>, org: OrganizationId, args: &MemberStatementArgs) -> Outcome {
    let member = door.find(org, &args.member)?;
    let days = (args.from, args.until);
    let statement = door.survey(org, |view| member_statement::read(view, member, days))?;
    if let Some(file) = &args.pdf {
        let bytes = member_statement::pdf(&statement).map_err(|unset| unset.to_string())?;
        write_new(file, &bytes)?;
    }
    match (door.globals.json, args.csv, &args.pdf) {
        (true, _, _) => output::json(&statement)?,
        (false, true, _) => csv(&statement),
        (false, false, Some(file)) => output::say(&format!(
            "{}: statement of {}, {} to {}, balance {} {}",
            file.display(),
            statement.member.name,
            statement.from,
            statement.until,
            statement.closing,
            statement.currency
        )),
        (false, false, None) => text(&statement),
    }
    Ok(())
}

/// Personal data: readable by its owner only, and never over another file.
pub(super) fn write_new(file: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let refused = |error: std::io::Error| not_written(file, &error);
    let mut out = private::create_new(file).map_err(refused)?;
    Ok(out.write_all(bytes).map_err(refused)?)
}

pub(super) fn not_written(file: &Path, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            format!(
                "{} exists already; remove it or name another file",
                file.display()
            )
        }
        _ => format!("{} cannot be written: {error}", file.display()),
    }
}

fn text(statement: &MemberStatement) {
    let MemberStatement {
        member,
        from,
        until,
        currency,
        ..
    } = statement;
    let reference = member
        .reference
        .as_ref()
        .map(|reference| format!(", reference {reference}"));
    output::say_bold(&format!("{}, {}", member.name, statement.organization));
    output::say(&format!(
        "{from} to {until}, {currency}{}",
        reference.unwrap_or_default()
    ));
    if let Some(payer) = &statement.payer {
        output::say(&format!("paid for by {}", payer.name));
    }
    if !statement.household.is_empty() {
        let names: Vec<String> = statement
            .household
            .iter()
            .map(|person| person.name.clone())
            .collect();
        output::say(&format!(
            "with {}, for whom {} pays",
            texts::TEXTS.list(&names),
            member.name
        ));
    }
    output::say("");
    let shown = |money: Money| match money.minor {
        0 => String::new(),
        _ => money.to_string(),
    };
    let row = |line: &Line| {
        [
            line.date.to_string(),
            line.told(),
            line.reference.clone().unwrap_or_default(),
            shown(line.charged),
            shown(line.credited),
            line.balance.to_string(),
        ]
    };
    let sum = |date: Date, what: &str, [charged, credited, balance]: [String; 3]| {
        [
            date.to_string(),
            what.to_owned(),
            String::new(),
            charged,
            credited,
            balance,
        ]
    };
    let first = sum(
        *from,
        "opening balance",
        [String::new(), String::new(), statement.opening.to_string()],
    );
    let last = sum(
        *until,
        "closing balance",
        [&statement.charged, &statement.credited, &statement.closing].map(Money::to_string),
    );
    let rows = [first]
        .into_iter()
        .chain(statement.lines.iter().map(row))
        .chain([last])
        .collect();
    output::table(
        ["date", "what", "reference", "charged", "credited", "balance"],
        rows,
        "",
    );
    if statement.open.is_empty() {
        return;
    }
    output::say("");
    let rows = statement.open.iter().map(|charge| {
        [
            charge.due_date.map(|due| due.to_string()).unwrap_or_default(),
            charge.standing.heading().to_lowercase(),
            charge.description.clone(),
            charge.member.clone().unwrap_or_default(),
            charge.reference.clone().unwrap_or_default(),
            charge.open.to_string(),
        ]
    });
    output::table(
        ["due", "standing", "open charge", "member", "reference", "open"],
        rows.collect(),
        "",
    );
}

fn csv(statement: &MemberStatement) {
    let row = |line: &Line| {
        [
            line.date.to_string(),
            line.entry_id.to_string(),
            line.kind.to_string(),
            line.told(),
            line.reference.clone().unwrap_or_default(),
            line.charged.to_string(),
            line.credited.to_string(),
            line.balance.to_string(),
        ]
    };
    let sum = |date: Date, kind: &str, [charged, credited, balance]: [String; 3]| {
        let [entry, what, reference] = [const { String::new() }; 3];
        [
            date.to_string(),
            entry,
            kind.to_owned(),
            what,
            reference,
            charged,
            credited,
            balance,
        ]
    };
    let first = sum(
        statement.from,
        "opening balance",
        [String::new(), String::new(), statement.opening.to_string()],
    );
    let last = sum(
        statement.until,
        "closing balance",
        [&statement.charged, &statement.credited, &statement.closing].map(Money::to_string),
    );
    let rows: Vec<[String; 8]> = [first]
        .into_iter()
        .chain(statement.lines.iter().map(row))
        .chain([last])
        .collect();
    output::csv(
        [
            "date",
            "entry",
            "kind",
            "what",
            "reference",
            "charged",
            "credited",
            "balance",
        ],
        &rows,
    );
}
