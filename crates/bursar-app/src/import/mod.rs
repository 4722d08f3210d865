//! Data in: a bundle, all or nothing.
//!
//! Two passes over the file. The first reads every line without holding the database: it checks what a line can
//! be checked for alone, and remembers which ids the bundle brings. The second runs in one transaction: it
//! resolves references, which may point forward, and writes. A group is put once, at the end, because its count
//! follows from its members.

mod lines;
mod load;
mod record;
mod scan;

use std::fmt;
use std::io::{self, BufRead};

use bursar_db::{Db, DbError, housekeeping};
use bursar_domain::ids::IdSource;
use bursar_domain::{Refusal, Timestamp};

use crate::error::AppError;

/// A bundle that can be read twice.
pub struct Source<'a> {
    /// Opens it at its beginning.
    pub open: &'a dyn Fn() -> io::Result<Box<dyn BufRead>>,
}

impl fmt::Debug for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Source")
    }
}

/// What an import did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Imported {
    /// Lines read.
    pub records: u64,
    /// New in this database.
    pub added: u64,
    /// Known and now different.
    pub changed: u64,
    /// Known and the same.
    pub unchanged: u64,
}

/// How far an import is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// 1 or 2.
    pub pass: u8,
    /// Bytes read in this pass.
    pub bytes: u64,
    /// Lines read in this pass.
    pub lines: u64,
}

/// Why nothing was imported.
#[derive(Debug)]
pub enum ImportError {
    /// A line is wrong.
    Line(u64, Refusal),
    /// The file cannot be read.
    Input(io::Error),
    /// The database could not do it.
    Db(DbError),
}

impl From<DbError> for ImportError {
    fn from(error: DbError) -> Self {
        Self::Db(error)
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
                    // Messages start with the field's name, which stands before the colon here.
                    Some(field) => write!(
                        f,
                        "line {line}: {field}: {}",
                        message.strip_prefix(field).unwrap_or(message).trim_start()
                    ),
                    None => write!(f, "line {line}: {message}"),
                }
            }
            Self::Input(error) => write!(f, "the bundle cannot be read: {error}"),
            Self::Db(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ImportError {}

/// Imports a bundle.
pub fn import(
    db: &Db,
    source: &Source<'_>,
    now: Timestamp,
    ids: &mut IdSource,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, ImportError> {
    let plan = db.survey(|tx| scan::scan(tx, source, now, progress))?;
    let (done, tables) = db.exclusive(|tx| {
        housekeeping::one_import_at_a_time(tx)?;
        // Others may have written since, and wait now: then the first pass is made again.
        let plan = if plan.is_current(tx)? {
            plan
        } else {
            scan::scan(tx, source, now, progress)?
        };
        load::load(tx, plan, source, now, ids, progress)
    })?;
    if done.added >= housekeeping::LARGE_LOAD_ROWS {
        // The import is done whether this succeeds or not: autovacuum does it later.
        let _ = db.exclusive::<_, DbError>(|tx| housekeeping::count_rows(tx, &tables));
    }
    Ok(done)
}

fn at_line(line: u64) -> impl Fn(AppError) -> ImportError {
    move |error| match error {
        AppError::Refused(refusal) => ImportError::Line(line, refusal),
        AppError::Db(error) => ImportError::Db(error),
        other @ (AppError::Withheld { .. }
        | AppError::KeyReused
        | AppError::Cursor(_)
        | AppError::Unrecognised) => ImportError::Line(
            line,
            Refusal::Forbidden {
                message: other.to_string(),
            },
        ),
    }
}
