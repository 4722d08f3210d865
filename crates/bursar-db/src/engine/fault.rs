//! A failed statement, with what the engine needs to decide what happens next.

use rusqlite::ErrorCode;

use super::postgres::{Told, WireError};
use crate::error::DbError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The caller's own code refused a row. The transaction is intact.
    Caller,
    Statement,
    /// The transaction lost against another one. Run it again.
    Retryable,
    Lost,
    /// A statement failed that nobody had waited for. Run the transaction again, and wait for each.
    Late,
    /// A job has to be undone in a transaction without savepoints. Run it again with them.
    Unmarked,
}

#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub(super) class: Class,
    pub(super) error: DbError,
}

impl Fault {
    pub(super) fn caller(error: DbError) -> Self {
        Fault {
            class: Class::Caller,
            error,
        }
    }

    pub(super) fn statement(error: DbError) -> Self {
        Fault {
            class: Class::Statement,
            error,
        }
    }

    pub(super) fn lost(why: impl Into<String>) -> Self {
        Fault {
            class: Class::Lost,
            error: DbError::Unavailable(why.into()),
        }
    }

    pub(super) fn late(why: impl Into<String>) -> Self {
        Fault {
            class: Class::Late,
            error: DbError::Internal(why.into()),
        }
    }

    pub(super) fn unmarked() -> Self {
        Fault {
            class: Class::Unmarked,
            error: DbError::Internal("a job is undone without a savepoint".to_owned()),
        }
    }

    /// The same for a statement that nobody waited for.
    pub(super) fn unawaited(self) -> Self {
        match self.class {
            Class::Statement => Fault {
                class: Class::Late,
                ..self
            },
            _ => self,
        }
    }

    /// Whether the same transaction may succeed if it runs again.
    pub(super) fn may_run_again(&self) -> bool {
        matches!(
            self.class,
            Class::Retryable | Class::Lost | Class::Late | Class::Unmarked
        )
    }
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Fault::statement(sqlite_error(&error))
    }
}

pub(super) fn sqlite_error(error: &rusqlite::Error) -> DbError {
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            DbError::Unavailable("another process holds the lock of the database file".to_owned())
        }
        Some(ErrorCode::ConstraintViolation) => DbError::Constraint(text),
        Some(ErrorCode::DiskFull) => DbError::Full(text),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            DbError::Foreign(format!("the file is damaged or not an SQLite database: {text}"))
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            DbError::Unwritable(format!("the database file cannot be opened for writing: {text}"))
        }
        Some(ErrorCode::SystemIoFailure | ErrorCode::OutOfMemory) => DbError::Unavailable(text),
        _ => DbError::Internal(text),
    }
}

/// PostgreSQL's code for a right that the user does not have.
pub(super) const NO_RIGHT: &str = "42501";

/// What an administrator of PostgreSQL runs, by what was denied.
pub(crate) fn way_to_right(message: &str) -> String {
    let named = |start: &str| message.strip_prefix(start).map(str::trim);
    let statement = if let Some(schema) = named("permission denied for schema") {
        format!("GRANT USAGE, CREATE ON SCHEMA {schema} TO USER")
    } else if let Some(database) = named("permission denied for database") {
        format!("GRANT CONNECT ON DATABASE {database} TO USER")
    } else if let Some(table) = named("must be owner of table").or(named("must be owner of relation")) {
        format!("ALTER TABLE {table} OWNER TO USER")
    } else {
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO USER".to_owned()
    };
    format!("let an administrator run `{statement}`, with the user of the database URL as USER")
}

impl From<WireError> for Fault {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Told(told) => Fault::told(told),
            WireError::Closed | WireError::Io(_) => Fault::lost("the connection to PostgreSQL was lost"),
            WireError::Silent => Fault::lost("PostgreSQL did not respond in time"),
            WireError::ReadOnly => Fault::lost("PostgreSQL takes no writes"),
            WireError::Tls(text) | WireError::Login(text) | WireError::Protocol(text) => {
                Fault::lost(format!("the connection to PostgreSQL was lost: {text}"))
            }
            WireError::Value(text) => Fault::statement(DbError::Internal(text)),
        }
    }
}

impl Fault {
    /// PostgreSQL's SQLSTATE decides.
    fn told(Told { code, message }: Told) -> Self {
        const IDLE_IN_TRANSACTION: &str = "25P03";
        const READ_ONLY: &str = "25006";
        const SERIALIZATION: &str = "40001";
        const DEADLOCK: &str = "40P01";
        const DISK_FULL: &str = "53100";
        const LOCK_NOT_AVAILABLE: &str = "55P03";
        const CANCELED: &str = "57014";
        // All errors of the classes 08 (connection) and 57P (operator intervention) end the session.
        if code.starts_with("08") || code.starts_with("57P") || code == IDLE_IN_TRANSACTION {
            return Fault::lost(format!("PostgreSQL closed the connection: {message}"));
        }
        // The session may have begun when the server was told to take no writes, or the server is no longer the primary.
        // A new connection finds the one that is.
        if code == READ_ONLY {
            return Fault {
                class: Class::Lost,
                error: DbError::Unwritable(format!("PostgreSQL takes no writes: {message}")),
            };
        }
        if code == DEADLOCK || code == SERIALIZATION {
            return Fault {
                class: Class::Retryable,
                error: DbError::Unavailable(message),
            };
        }
        Fault::statement(if code.starts_with("23") {
            DbError::Constraint(message)
        } else if code == NO_RIGHT {
            DbError::Unwritable(format!("PostgreSQL says: {message}; {}", way_to_right(&message)))
        } else if code == DISK_FULL {
            DbError::Full(message)
        } else if code == LOCK_NOT_AVAILABLE || code == CANCELED || code.starts_with("53") {
            DbError::Unavailable(message)
        } else {
            DbError::Internal(format!("{message} ({code})"))
        })
    }
}

/// The error and its causes on one line: the driver's own text often has only the first.
pub(super) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}
