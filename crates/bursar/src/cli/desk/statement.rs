mod told;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bursar_app::statements::{
    self, Booking, Column, FILE_BYTES_MAX, Format, Imported, Lines, NewStatement, Part, PartOf, Settled,
    Target,
};
use bursar_domain::Date;
use bursar_domain::ids::{EntryId, Id, OrganizationId, PaymentId, StatementId, StatementLineId, kind};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Globals, Outcome, consent, output, parse_id};
use super::parse_date;

#[derive(Debug, Subcommand)]
pub(crate) enum StatementCommand {
    /// Import a bank statement: CAMT.053, MT940, OFX or CSV
    Import(ImportArgs),
    /// List imported statements
    List(ListArgs),
    /// Show lines, with what is proposed for the open ones
    Show(ShowArgs),
    /// Match a line by hand instead of by its proposal
    Match(MatchArgs),
    /// Confirm the proposals of lines, and record them in the books
    Confirm(ConfirmArgs),
    /// Book a line in parts
    Split(SplitArgs),
    /// Book a line as income, an expense, a transfer or a donation
    Book(BookArgs),
    /// Keep lines out of the books
    Ignore(IgnoreArgs),
    /// Undo matches, or an import
    Undo(UndoArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// File from the bank
    file: PathBuf,
    /// Account of the statement, such as bank
    #[arg(long)]
    account: String,
    /// Format: camt053, mt940, ofx or csv; detected from the content by default
    #[arg(long)]
    format: Option<Format>,
    /// What a column of a CSV file is, such as Datum=date:dmy; may be given again. Remembered for the account
    #[arg(long, value_name = "COLUMN=FIELD")]
    map: Vec<Column>,
    /// Show what would be imported; nothing is written
    #[arg(long)]
    dry_run: bool,
    /// Book lines that have our reference and settle charges to the cent
    #[arg(long)]
    auto_reference: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only statements of this account
    #[arg(long)]
    account: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Statement or line; all lines by default
    #[arg(value_name = "ID", value_parser = parse_either)]
    id: Option<Either>,
    /// Only lines of this account
    #[arg(long)]
    account: Option<String>,
    /// Only open lines
    #[arg(long)]
    open: bool,
    /// First day
    #[arg(long, value_parser = parse_date)]
    from: Option<Date>,
    /// Last day
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct LineArgs {
    /// The line's id
    #[arg(value_name = "LINE", value_parser = parse_id::<kind::StatementLine>)]
    line: StatementLineId,
}

#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    #[command(flatten)]
    line: LineArgs,
    /// Charge that the money is for; may be repeated
    #[arg(long, value_name = "PAY", value_parser = parse_id::<kind::Payment>)]
    payment: Vec<PaymentId>,
    /// Member who paid; settles open charges by due date, unless --payment is given
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    payer: Option<Ref<kind::Member>>,
    /// Journal entry that accounts for it; may be repeated
    #[arg(long, value_name = "ENTRY", value_parser = parse_id::<kind::Entry>)]
    entry: Vec<EntryId>,
}

#[derive(Debug, Args)]
pub(crate) struct ConfirmArgs {
    /// Ids of the lines
    #[arg(value_name = "LINE", value_parser = parse_id::<kind::StatementLine>, required_unless_present = "proposed")]
    lines: Vec<StatementLineId>,
    /// Confirm every line that has a proposal
    #[arg(long, conflicts_with = "lines")]
    proposed: bool,
    /// With --proposed: only lines of this account
    #[arg(long, conflicts_with = "lines")]
    account: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    line: LineArgs,
    /// A part: the amount and a payment, a member or an account, such as 20.00=donations; two or more
    #[arg(long = "part", value_name = "AMOUNT=WHAT", required = true)]
    parts: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct BookArgs {
    #[command(flatten)]
    line: LineArgs,
    /// Account that the money came from or went to: income, expense or asset
    #[arg(long, required_unless_present = "campaign")]
    account: Option<String>,
    /// Campaign that it was donated to
    #[arg(long, value_name = "CAMPAIGN", value_parser = parse_ref::<kind::Campaign>, conflicts_with = "account")]
    campaign: Option<Ref<kind::Campaign>>,
    /// Memo; what the bank wrote by default
    #[arg(long)]
    memo: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct IgnoreArgs {
    /// Ids of the lines
    #[arg(value_name = "LINE", value_parser = parse_id::<kind::StatementLine>, required = true)]
    lines: Vec<StatementLineId>,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Lines, or one statement
    #[arg(value_name = "ID", value_parser = parse_either, required = true)]
    ids: Vec<Either>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Either {
    Statement(StatementId),
    Line(StatementLineId),
}

fn parse_either(text: &str) -> Result<Either, String> {
    if let Some(id) = Id::parse(text) {
        return Ok(Either::Statement(id));
    }
    parse_id::<kind::StatementLine>(text).map(Either::Line)
}

pub(crate) fn run(globals: &Globals, command: StatementCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    match command {
        StatementCommand::Import(args) => import(&door, org, &args),
        StatementCommand::List(args) => {
            let listed = door.survey(org, |view| statements::list(view, args.account.as_deref()))?;
            told::list(globals, &listed)
        }
        StatementCommand::Show(args) => show(&door, org, &args),
        StatementCommand::Match(args) => {
            let mut targets: Vec<Target> = args.payment.iter().copied().map(Target::Payment).collect();
            targets.extend(door.find_some(org, args.payer.as_ref())?.map(Target::Member));
            targets.extend(args.entry.iter().copied().map(Target::Entry));
            let id = args.line.line;
            door.act(org, move |act| statements::choose(act, id, &targets))?;
            let shown = door.survey(org, |view| statements::line(view, id))?;
            told::lines(globals, &[shown], "")
        }
        StatementCommand::Confirm(args) => confirm(&door, org, args),
        StatementCommand::Split(args) => {
            let parts = parts(&door, org, &args.parts)?;
            let id = args.line.line;
            let settled = door.act(org, move |act| statements::split(act, id, &parts))?;
            told::settled(globals, &[settled])
        }
        StatementCommand::Book(args) => {
            let booking = Booking {
                account: args.account,
                campaign: door.find_some(org, args.campaign.as_ref())?,
                memo: args.memo,
            };
            let id = args.line.line;
            let settled = door.act(org, move |act| statements::book(act, id, &booking))?;
            told::settled(globals, &[settled])
        }
        StatementCommand::Ignore(args) => {
            let lines = door.act(org, move |act| statements::ignore(act, &args.lines))?;
            told::changed(&door, org, &lines.iter().map(|line| line.id).collect::<Vec<_>>())
        }
        StatementCommand::Undo(args) => undo(&door, org, &args.ids),
    }
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    Ok(bytes)
}

fn import(door: &Door<'_>, org: OrganizationId, args: &ImportArgs) -> Outcome {
    let new = NewStatement {
        account: args.account.clone(),
        bytes: read_file(&args.file)?,
        format: args.format,
        columns: args.map.clone(),
    };
    let refused = |failure: Failure| {
        failure.told(|message| format!("{}: {message}; nothing was imported", args.file.display()))
    };
    let read = door
        .survey(org, |view| statements::read(view, &new))
        .map_err(refused)?;
    let auto = args.auto_reference;
    let imported = match args.dry_run {
        true => door.rehearse(org, |act| statements::import(act, &read, auto)),
        false => door.act(org, move |act| statements::import(act, &read, auto)),
    };
    told_import(door.globals, &imported.map_err(refused)?, args.dry_run)
}

fn told_import(globals: &Globals, imported: &Imported, is_rehearsal: bool) -> Outcome {
    if globals.json {
        return output::json(&json!({
            "id": (!is_rehearsal).then_some(imported.id), "lines": imported.lines, "new": imported.new,
            "known": imported.known, "proposed": imported.proposed, "booked": imported.booked,
            "leftOut": imported.left_out, "account": imported.account, "format": imported.format,
            "columns": imported.columns,
        }));
    }
    let (count, lines) = (|n: usize| n as u64, "line");
    let name = match is_rehearsal {
        true => "Would import".to_owned(),
        false => format!("Imported {}:", imported.id),
    };
    output::say(&format!(
        "{name} {} of {} ({}), {} new and {} known before",
        output::many(count(imported.lines), lines),
        imported.account,
        imported.format,
        imported.new,
        imported.known
    ));
    if imported.left_out > 0 {
        let left_out = output::many(count(imported.left_out), lines);
        output::say(&format!("Left out {left_out} that are pending or have no amount"));
    }
    if !imported.columns.is_empty() {
        output::say(&format!("Columns: {}", imported.columns.join(", ")));
    }
    if imported.booked > 0 {
        let booked = output::many(count(imported.booked), lines);
        output::say(&format!("Booked {booked} by reference"));
    }
    if imported.new > imported.booked {
        let proposed = output::many(count(imported.proposed), "proposal");
        output::say(&format!("{proposed}; see `bursar statement show --open`"));
    }
    Ok(())
}

fn show(door: &Door<'_>, org: OrganizationId, args: &ShowArgs) -> Outcome {
    let statement = match args.id {
        Some(Either::Line(id)) => {
            let shown = door.survey(org, |view| statements::line(view, id))?;
            return told::lines(door.globals, &[shown], "");
        }
        Some(Either::Statement(id)) => Some(id),
        None => None,
    };
    let which = Lines {
        statement,
        account: args.account.clone(),
        from: args.from,
        until: args.until,
        open_only: args.open,
    };
    let shown = door.survey(org, |view| statements::show(view, &which))?;
    let none = match args.open {
        true => "no open lines",
        false => "no lines",
    };
    told::lines(door.globals, &shown, none)
}

fn confirm(door: &Door<'_>, org: OrganizationId, args: ConfirmArgs) -> Outcome {
    if !args.proposed {
        let settled = door.act(org, move |act| statements::confirm(act, &args.lines))?;
        return told::settled(door.globals, &settled);
    }
    let accounts = match args.account {
        Some(account) => vec![account],
        None => {
            let listed = door.survey(org, |view| statements::list(view, None))?;
            let mut accounts: Vec<_> = listed.into_iter().map(|one| one.account).collect();
            accounts.sort_unstable();
            accounts.dedup();
            accounts
        }
    };
    let mut all: Vec<Settled> = Vec::new();
    for account in accounts {
        loop {
            let account = account.clone();
            let settled = door.act(org, move |act| statements::confirm_proposed(act, &account))?;
            if settled.is_empty() {
                break;
            }
            all.extend(settled);
        }
    }
    told::settled(door.globals, &all)
}

/// A payment's or member's id, an account's name, or a member's name or address.
fn parts(door: &Door<'_>, org: OrganizationId, given: &[String]) -> Result<Vec<Part>, Failure> {
    let mut parts = Vec::new();
    for text in given {
        let (amount, what) = text.split_once('=').ok_or_else(|| {
            Failure::new(format!(
                "--part must be AMOUNT=WHAT, such as 20.00=donations, got {text:?}"
            ))
        })?;
        let what = what.trim();
        let of = match Target::parse(what) {
            Some(Target::Payment(id)) => PartOf::Payment(id),
            Some(Target::Member(id)) => PartOf::Member(id),
            Some(Target::Entry(_)) => {
                return Err(Failure::new(format!(
                    "--part must be a payment, a member or an account, got the entry {what}"
                )));
            }
            None => {
                let accounts = door.view(org, |view| bursar_app::books::accounts::list(view, None))?;
                let is_account = accounts
                    .iter()
                    .any(|account| account.name.to_lowercase() == what.to_lowercase());
                match is_account {
                    true => PartOf::Account(what.to_owned()),
                    false => PartOf::Member(door.find(org, &Ref::<kind::Member>::Name(what.to_owned()))?),
                }
            }
        };
        parts.push(Part {
            amount: amount.trim().to_owned(),
            of,
        });
    }
    Ok(parts)
}

fn undo(door: &Door<'_>, org: OrganizationId, ids: &[Either]) -> Outcome {
    if let [Either::Statement(id)] = *ids {
        let (statement, lines) = door.act(org, move |act| statements::remove(act, id))?;
        return match door.globals.json {
            true => output::json(&json!({ "id": statement.id, "lines": lines })),
            false => {
                let lines = output::many(lines as u64, "line");
                output::say(&format!("Removed {id} with {lines}"));
                Ok(())
            }
        };
    }
    let mut lines = Vec::new();
    for id in ids {
        match id {
            Either::Line(id) => lines.push(*id),
            Either::Statement(id) => {
                return Err(Failure::new(format!("{id} is a statement; undo it separately")));
            }
        }
    }
    consent::ask_at_terminal(door.globals, &told::plan_of_undo(door, org, &lines)?)?;
    let undone = door.act(org, move |act| statements::undo(act, &lines))?;
    told::changed(door, org, &undone.iter().map(|line| line.id).collect::<Vec<_>>())
}
