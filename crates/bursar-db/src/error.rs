//! What can go wrong in the database.

use std::fmt;

/// A failure of the database. Variants differ where callers act differently.
///
/// `Display` is one line that names the problem and the way out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DbError {
    /// Retry later: a full queue, a lost connection, a lock, a timeout or a shutdown.
    Unavailable(String),
    /// A unique, check or not-null rule was violated.
    Constraint(String),
    Full(String),
    /// There is no database where one must exist.
    NoDatabase(String),
    /// Damaged, or another program's database.
    Foreign(String),
    /// The schema is older than this program's, and no migration was asked for.
    SchemaOlder {
        found: i64,
        wanted: i64,
    },
    SchemaNewer {
        found: i64,
        known: i64,
    },
    /// The schema has this program's version but lacks tables, columns, indexes or rules.
    SchemaDamaged(String),
    /// The SQLite file was deleted or replaced while it was open.
    FileReplaced(String),
    /// The file or folder cannot be opened for writing, or the server is read-only.
    Unwritable(String),
    BadUrl(String),
    /// The work panicked and was rolled back.
    Panicked(String),
    /// A bug in this program. Never shown to API clients.
    Internal(String),
}

impl DbError {
    /// Whether the database as a whole is unavailable, so that the same work may succeed later.
    pub fn is_outage(&self) -> bool {
        match self {
            DbError::Unavailable(_)
            | DbError::Full(_)
            | DbError::NoDatabase(_)
            | DbError::SchemaOlder { .. }
            | DbError::SchemaNewer { .. }
            | DbError::SchemaDamaged(_)
            | DbError::FileReplaced(_)
            | DbError::Unwritable(_) => true,
            DbError::Constraint(_)
            | DbError::Foreign(_)
            | DbError::BadUrl(_)
            | DbError::Panicked(_)
            | DbError::Internal(_) => false,
        }
    }
}

impl fmt::Display for DbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DbError::Unavailable(why) => write!(f, "the database is not available: {why}; try again"),
            DbError::Constraint(what) => write!(f, "the database refused the change: {what}"),
            DbError::Full(what) => {
                write!(
                    f,
                    "the disk of the database is full: {what}; free some space and try again"
                )
            }
            DbError::SchemaOlder { found, wanted } => write!(
                f,
                "the database has schema version {found}, this program needs {wanted}; \
                 `bursar serve` brings it up, after a backup"
            ),
            DbError::SchemaNewer { found, known } => write!(
                f,
                "the database has schema version {found}, this program knows only {known}; use a newer bursar"
            ),
            DbError::SchemaDamaged(what) => write!(
                f,
                "the database is damaged: {what}; restore a backup, or put back what was removed"
            ),
            DbError::Panicked(what) => write!(f, "a fault in this program undid the operation: {what}"),
            DbError::Internal(what) => write!(f, "an unexpected database fault: {what}"),
            DbError::NoDatabase(line)
            | DbError::Foreign(line)
            | DbError::FileReplaced(line)
            | DbError::Unwritable(line)
            | DbError::BadUrl(line) => f.write_str(line),
        }
    }
}

impl std::error::Error for DbError {}
