//! Imports a bundle, all or nothing.
//!
//! The first pass reads every line without blocking writers: it checks each line alone, and remembers which ids the
//! bundle brings. The second pass runs in one transaction: it resolves references, which may point forward, and
//! writes. A group is written once, at the end, because its count follows from its members.

mod attachments;
mod books;
mod lines;
mod load;
mod people;
mod record;
mod scan;
mod settle;
mod statements;

use std::fmt;
use std::io::{self, BufRead};

use bursar_db::{DbError, housekeeping};
use bursar_domain::Refusal;
use bursar_domain::ids::{Id, Kind};

use self::record::RecordType;
use crate::caller::Identity;
use crate::door::App;
use crate::error::AppError;
use crate::rule::Rule;

/// A bundle that can be read twice.
pub struct Source<'a> {
    pub open: &'a dyn Fn() -> io::Result<Box<dyn BufRead>>,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    pub records: u64,
    pub added: u64,
    pub changed: u64,
    pub unchanged: u64,
}

/// Bytes and lines are counted per pass.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// 1 or 2.
    pub pass: u8,
    pub bytes: u64,
    pub lines: u64,
}

/// Why an import failed. Nothing was written.
#[derive(Debug)]
pub enum ImportError {
    /// The number of the line, and what is wrong with it.
    Line(u64, Refusal),
    Input(io::Error),
    /// The second pass read something else than the first.
    Changed,
    App(AppError),
}

impl From<AppError> for ImportError {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<DbError> for ImportError {
    fn from(error: DbError) -> Self {
        Self::App(error.into())
    }
}

impl From<io::Error> for ImportError {
    fn from(error: io::Error) -> Self {
        Self::Input(error)
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line, refusal) => {
                let message = refusal.message();
                match refusal.field() {
                    // The message starts with the field's name, which is already before the colon.
                    Some(field) => write!(
                        f,
                        "line {line}: {field}: {}",
                        message.strip_prefix(field).unwrap_or(message).trim_start()
                    ),
                    None => write!(f, "line {line}: {message}"),
                }
            }
            Self::Input(error) => write!(f, "the bundle cannot be read: {error}"),
            Self::Changed => {
                f.write_str("the bundle changed while it was read; import it when it is complete")
            }
            Self::App(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ImportError {}

pub const IMPORT: Rule = Rule::of_operator("import", "import bundles");
pub const RULES: &[&Rule] = &[&IMPORT];

pub fn import(
    app: &App,
    who: Identity,
    source: &Source<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, ImportError> {
    let plan = app.survey(who, |whole| {
        whole.allow(&IMPORT)?;
        scan::scan(whole, source, progress)
    })?;
    let (done, tables) = app.exclusive(who, |whole| {
        whole.allow(&IMPORT)?;
        housekeeping::one_import_at_a_time(whole.tx)?;
        // Others may have written since the first pass. They wait now, so a repeated first pass stays valid.
        let plan = if plan.is_current(whole.tx)? {
            plan
        } else {
            scan::scan(whole, source, progress)?
        };
        load::load(whole, plan, source, progress)
    })?;
    if done.added >= housekeeping::LARGE_LOAD_ROWS {
        // The import is complete even if this fails: autovacuum does it later.
        let _ = app.exclusive::<_, AppError>(who, |whole| Ok(housekeeping::count_rows(whole.tx, &tables)?));
    }
    Ok(done)
}

/// The line of the record with this id, for an error that is found at the end. If the bundle has none, the first journal
/// entry that names it.
fn line_of<K: Kind>(source: &Source<'_>, id: Id<K>) -> Result<u64, ImportError> {
    let quoted = format!("\"{id}\"");
    let (mut own, mut naming) = (None, None);
    lines::each_line(source, 2, &mut |_| {}, &mut |number, line| {
        if own.is_some() || !line.contains(&quoted) {
            return Ok(());
        }
        let refused = |refusal| ImportError::Line(number, refusal);
        let (record_type, mut fields) = record::open(line).map_err(refused)?;
        if fields.id("id").is_ok_and(|given| given.optional() == Some(id)) {
            own = Some(number);
        } else if record_type == RecordType::Entry && naming.is_none() {
            naming = Some(number);
        }
        Ok(())
    })?;
    Ok(own.or(naming).unwrap_or(0))
}

fn at_line(line: u64) -> impl Fn(AppError) -> ImportError {
    move |error| match error {
        AppError::Refused(refusal) => ImportError::Line(line, refusal),
        other => ImportError::App(other),
    }
}
