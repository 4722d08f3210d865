//! Reports as text, CSV or JSON; one file each.

mod balances;
mod chapters;
mod dues;
mod income;
mod ledger;
mod owing;
mod reconciliation;

use bursar_app::reports::{Basis, Span};
use bursar_domain::Date;
use clap::{Args, Subcommand};
use serde::Serialize;

use super::super::door::Door;
use super::super::{Globals, Outcome, output};
use super::audit::{self, AuditArgs};
use super::member_statement::{self, MemberStatementArgs};
use super::parse_date;

#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Income and expense by account, with the previous period and the budget
    Income(IncomeArgs),
    /// Balances of all accounts at the end of a day
    Balances(BalancesArgs),
    /// Amounts expected, discounted, collected and owed, by group and due date
    Dues(RangeArgs),
    /// Members and chapters that owe, oldest first, by age and group
    Owing(FormArgs),
    /// Journal entries between two dates, with totals by account
    Ledger(LedgerArgs),
    /// Totals by chapter, without personal data
    Chapters(ChaptersArgs),
    /// Bank balance against book balance, and what explains the difference
    Reconciliation(reconciliation::ReconciliationArgs),
    /// A member's statement: charges, money, credit and balance
    Member(MemberStatementArgs),
    /// The books of a year in one archive, for the auditor
    Audit(AuditArgs),
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
    /// First day; a year before the last day by default
    #[arg(long, value_parser = parse_date)]
    from: Option<Date>,
    /// Last day; today by default
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
}

impl RangeArgs {
    const fn span(&self) -> Span {
        Span {
            from: self.from,
            until: self.until,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct IncomeArgs {
    #[command(flatten)]
    range: RangeArgs,
    /// What counts: accrual (charges and expenses by date) or cash (money by date)
    #[arg(long, value_parser = parse_basis, default_value = "accrual")]
    basis: Basis,
}

#[derive(Debug, Args)]
pub(crate) struct BalancesArgs {
    #[command(flatten)]
    form: FormArgs,
    /// The day; today by default
    #[arg(long, value_parser = parse_date)]
    at: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct LedgerArgs {
    #[command(flatten)]
    range: RangeArgs,
    /// Only entries that touch this account, with its running balance
    #[arg(long)]
    account: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ChaptersArgs {
    #[command(flatten)]
    form: FormArgs,
    /// First due day; all charges are counted by default
    #[arg(long, value_parser = parse_date)]
    from: Option<Date>,
    /// Last due day; today by default if a first day is given
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
}

fn parse_basis(text: &str) -> Result<Basis, String> {
    Basis::parse(text).ok_or_else(|| format!("must be one of {}", Basis::WORDS))
}

pub(crate) fn run(globals: &Globals, command: ReportCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    match command {
        ReportCommand::Income(args) => income::run(&door, org, &args),
        ReportCommand::Balances(args) => balances::run(&door, org, &args),
        ReportCommand::Dues(args) => dues::run(&door, org, &args),
        ReportCommand::Owing(args) => owing::run(&door, org, &args),
        ReportCommand::Ledger(args) => ledger::run(&door, org, &args),
        ReportCommand::Chapters(args) => chapters::run(&door, org, &args),
        ReportCommand::Reconciliation(args) => reconciliation::run(&door, org, &args),
        ReportCommand::Member(args) => member_statement::run(&door, org, &args),
        ReportCommand::Audit(args) => audit::run(&door, org, &args),
    }
}

/// A table of a report. Columns from `amounts` on are numbers.
struct Sheet<const N: usize> {
    header: [&'static str; N],
    amounts: usize,
    rows: Vec<[String; N]>,
    /// Below the rows, for people and spreadsheets. Programs that read JSON add up themselves.
    totals: Vec<[String; N]>,
    /// Said if there are no rows.
    none: &'static str,
}

impl<const N: usize> Sheet<N> {
    /// JSON if it is asked for, else CSV, else text.
    fn print(self, globals: &Globals, form: &FormArgs, json: &impl Serialize) -> Outcome {
        match (form.csv, globals.json) {
            (true, _) => self.csv(),
            (false, true) => return output::json(json),
            (false, false) => self.text(),
        }
        Ok(())
    }

    fn csv(mut self) {
        self.rows.append(&mut self.totals);
        output::csv(self.header, &self.rows);
    }

    fn text(mut self) {
        if self.rows.is_empty() {
            output::say(self.none);
            return;
        }
        self.rows.append(&mut self.totals);
        output::sheet(self.header, self.amounts, self.rows);
    }
}

/// A row with an amount in its last columns and a name in its first.
fn total<const N: usize, const M: usize>(name: &str, amounts: [String; M]) -> [String; N] {
    let mut row = [const { String::new() }; N];
    row[0] = name.to_owned();
    for (cell, amount) in row[N - M..].iter_mut().zip(amounts) {
        *cell = amount;
    }
    row
}
