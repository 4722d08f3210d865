//! Data in and out: `import`, `export`, `check`, `backup`, `compact`, `copy`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek};
use std::path::{Path, PathBuf};

use bursar_app::check::Checked;
use bursar_app::export::{ExportError, Exported};
use bursar_app::import::{Progress, Source};
use bursar_app::journal_export::{self, Format};
use bursar_app::lists::{self, List};
use bursar_app::{App, AppError, DatabaseUrl, Identity, Opening, Options, in_use};
use bursar_app::{check as checking, copy as copying, export as exporting, import as importing};
use bursar_domain::{Date, Refusal};
use clap::Args;
use serde_json::json;

use super::desk::parse_date;
use super::door::Door;
use super::roster::{self, RosterArgs};
use super::{Failure, Globals, Outcome, open, output};

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Data bundle (NDJSON, one record per line) or roster (`.csv` with a header row)
    #[arg(required_unless_present = "undo")]
    file: Option<PathBuf>,
    #[command(flatten)]
    roster: RosterArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// One list of the organization as comma-separated values: members, groups, payments, reimbursements, reminders,
    /// cards, campaigns, store-listings, store-orders, chapters
    #[arg(long, value_name = "LIST", value_parser = roster::parse_list)]
    csv: Option<List>,
    /// The organization's journal for another program: hledger (also read by ledger), beancount or csv
    #[arg(long, value_name = "FORMAT", value_parser = parse_format, conflicts_with = "csv")]
    journal: Option<Format>,
    /// First day of the journal
    #[arg(long, value_parser = parse_date, requires = "journal")]
    from: Option<Date>,
    /// Last day of the journal
    #[arg(long, value_parser = parse_date, requires = "journal")]
    until: Option<Date>,
}

fn parse_format(text: &str) -> Result<Format, String> {
    Format::parse(text).ok_or_else(|| format!("must be one of {}", Format::WORDS))
}

#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// File to write; it must not exist
    file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// Target database, which must be empty: `sqlite:FILE` or `postgres://…`
    #[arg(long, value_name = "URL", hide_env_values = true)]
    to: String,
    /// Copy although a server or worker uses the database; what it writes afterwards is not in the copy
    #[arg(long)]
    live: bool,
}

pub(crate) fn import(globals: &Globals, args: &ImportArgs) -> Outcome {
    let Some(path) = &args.file else {
        return roster::undo(globals, &args.roster);
    };
    let unreadable = |error: io::Error| Failure::new(format!("{} cannot be read: {error}", path.display()));
    if path.is_dir() {
        return Err(Failure::new(format!(
            "{} is a folder; name a bundle file",
            path.display()
        )));
    }
    let file = open_given(path).map_err(unreadable)?;
    if args.roster.is_meant(globals, path, &file)? {
        return roster::import(globals, path, &file, &args.roster);
    }
    let bytes = file.metadata().map_err(unreadable)?.len();
    let app = globals.open(Opening::Migrate)?;
    let reopen = || {
        let mut file = file.try_clone()?;
        file.rewind()?;
        Ok(Box::new(BufReader::with_capacity(1 << 16, file)) as Box<dyn BufRead>)
    };
    let bar = output::progress(bytes, "bytes");
    let mut report = |at: Progress| {
        bar.set_message(if at.pass == 1 { "checking" } else { "writing" });
        bar.set_position(at.bytes);
    };
    let done = importing::import(&app, globals.who(&app)?, &Source { open: &reopen }, &mut report);
    bar.finish_and_clear();
    let done = done.map_err(|error| {
        Failure::from(error).told(|error| format!("{}: {error}; nothing was imported", path.display()))
    })?;
    if globals.json {
        return output::json(&done);
    }
    output::say(&format!(
        "{}: {} added, {} changed, {} as they were",
        output::many(done.records, "record"),
        done.added,
        done.changed,
        done.unchanged
    ));
    Ok(())
}

/// A file that can be read twice. What comes through a pipe is kept in one without a name, which nobody else can open.
fn open_given(path: &Path) -> io::Result<File> {
    let mut given = File::open(path)?;
    if given.metadata()?.is_file() {
        return Ok(given);
    }
    let mut kept = tempfile::tempfile()?;
    io::copy(&mut given, &mut kept)?;
    kept.rewind()?;
    Ok(kept)
}

pub(crate) fn export(globals: &Globals, args: &ExportArgs) -> Outcome {
    let form = match (args.csv, args.journal) {
        (Some(_), _) => Some("--csv"),
        (None, Some(_)) => Some("--journal"),
        (None, None) => None,
    };
    if let Some(form) = form.filter(|_| globals.json) {
        return Err(Failure::new(format!(
            "{form} and --json cannot be used together; leave one out"
        )));
    }
    let door = Door::open(globals)?;
    let organization = match form {
        Some(_) => Some(door.organization()?),
        None => door.named_organization()?,
    };
    let bar = output::progress(0, "records");
    bar.set_message("exporting");
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut report = |records: u64| {
        if records.is_multiple_of(1_000) {
            bar.set_position(records);
        }
    };
    let days = (args.from, args.until);
    let done = door.app.survey(door.who, |whole| {
        let records = match (args.csv, args.journal, organization) {
            (Some(list), _, Some(organization)) => whole.view(organization, |view| {
                lists::export(view, list, &mut out, &mut report)
            })?,
            (None, Some(format), Some(organization)) => whole.view(organization, |view| {
                journal_export::export(view, format, days, &mut out, &mut report)
            })?,
            (_, _, organization) => {
                return exporting::export(whole, organization, &mut out, &mut report);
            }
        };
        Ok(Exported {
            records,
            ..Exported::default()
        })
    });
    bar.finish_and_clear();
    let done = match done {
        Ok(done) => done,
        // A reader that stops early, like `head`, is not a failure.
        Err(ExportError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
        Err(ExportError::Output(error)) => {
            return Err(Failure::new(format!("the output cannot be written: {error}")));
        }
        Err(ExportError::App(error)) => return Err(error.into()),
    };
    if done.outside > 0 {
        output::complain(&format!(
            "warning: {} to organizations outside of this export {} written as null",
            output::many(done.outside, "reference"),
            if done.outside == 1 { "was" } else { "were" }
        ));
    }
    for broken in &done.broken {
        output::complain(&format!(
            "warning: {} of {} was left out: {}",
            broken.subject, broken.organization, broken.message
        ));
    }
    match u64::try_from(done.broken.len())? + done.broken_more {
        0 => Ok(()),
        count => Err(Failure::new(format!(
            "{} could not be read and {} left out; `bursar check` names what is broken",
            output::many(count, "record"),
            if count == 1 { "is" } else { "are" }
        ))),
    }
}

pub(crate) fn check(globals: &Globals) -> Outcome {
    let app = globals.open(Opening::Require)?;
    let done = run_check(&app, globals.who(&app)?)?;
    print_checked(globals, &done, None)?;
    found(&done)
}

fn run_check(app: &App, who: Identity) -> Result<Checked, Failure> {
    let bar = output::progress(0, "records");
    bar.set_message("checking");
    let done = app.survey(who, |whole| {
        checking::check(whole, &mut |rows| bar.set_position(rows))
    });
    bar.finish_and_clear();
    done.map_err(|error: AppError| error.into())
}

/// `copied` is how many rows were copied before.
fn print_checked(globals: &Globals, done: &Checked, copied: Option<u64>) -> Outcome {
    if globals.json {
        let mut answer = json!({ "rows": done.rows, "problems": done.problems });
        if let Some(copied) = copied {
            answer["copied"] = json!(copied);
        }
        output::json(&answer)?;
    } else {
        let rows = done.problems.iter().map(|p| {
            let organization = p.organization.map_or_else(String::new, |id| id.to_string());
            [
                p.kind.to_owned(),
                organization,
                p.subject.clone(),
                p.message.clone(),
            ]
        });
        let good = format!("{} checked, nothing is broken", output::many(done.rows, "row"));
        output::table(
            ["kind", "organization", "subject", "problem"],
            rows.collect(),
            &good,
        );
    }
    Ok(())
}

/// Problems make the command fail.
fn found(done: &Checked) -> Outcome {
    match done.problems.len() {
        0 => Ok(()),
        n if n == checking::PROBLEMS_MAX => Err(Failure::new(format!("at least {n} problems found"))),
        n => Err(Failure::new(format!(
            "{} found",
            output::many(u64::try_from(n)?, "problem")
        ))),
    }
}

pub(crate) fn backup(globals: &Globals, args: &BackupArgs) -> Outcome {
    if args.file.exists() {
        return Err(Failure::new(format!(
            "{} exists already; name a new file for the backup",
            args.file.display()
        )));
    }
    globals.open(Opening::Require)?.backup(&args.file)?;
    let bytes = std::fs::metadata(&args.file).map_or(0, |meta| meta.len());
    if globals.json {
        return output::json(&json!({ "file": args.file, "bytes": bytes }));
    }
    output::say(&format!("backed up to {} ({bytes} bytes)", args.file.display()));
    Ok(())
}

pub(crate) fn compact(globals: &Globals) -> Outcome {
    let sizes = globals.open(Opening::Require)?.compact()?;
    if globals.json {
        let (before, after) = sizes.unzip();
        return output::json(&json!({ "bytesBefore": before, "bytes": after }));
    }
    output::say(&match sizes {
        Some((before, after)) => format!("Rewrote the database: {before} bytes before, {after} bytes now"),
        None => "PostgreSQL looks after its own files; `vacuumdb --full` removes what old rows left in them"
            .to_owned(),
    });
    Ok(())
}

/// What a server writes during and after the copy would be missing in it.
fn refuse_use(what: &str, url: &DatabaseUrl, otherwise: &str) -> Outcome {
    match in_use(url)? {
        None => Ok(()),
        Some(by) => Err(Refusal::conflict(format!(
            "{what} is in use by {by}; stop every server and worker on it first{otherwise}"
        ))
        .into()),
    }
}

pub(crate) fn copy(globals: &Globals, args: &CopyArgs) -> Outcome {
    let (source, target) = (globals.database().parse()?, args.to.parse()?);
    if !args.live {
        refuse_use("the database", &source, ", or copy what is there now with --live")?;
    }
    refuse_use("the database to copy to", &target, "")?;
    let from = globals.open(Opening::Require)?;
    let who = globals.who(&from)?;
    let to = open(&target, &Options::default(), Opening::Migrate)?;
    let bar = output::progress(0, "records");
    let copied = copying::copy(&from, who, &to, &mut |table, rows| {
        bar.set_message(table.to_owned());
        bar.set_position(rows);
    });
    bar.finish_and_clear();
    let rows = copied?;
    if !globals.json {
        output::say(&format!("{} copied", output::many(rows, "row")));
    }
    let done = run_check(&to, Identity::Operator)?;
    print_checked(globals, &done, Some(rows))?;
    // A problem that the source has too was copied faithfully.
    if !done.problems.is_empty() && run_check(&from, who)?.problems == done.problems {
        let count = output::many(u64::try_from(done.problems.len())?, "problem");
        output::complain(&format!(
            "warning: the copy is complete; the source has the same {count}"
        ));
        return Ok(());
    }
    found(&done)
}
