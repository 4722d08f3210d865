//! A failed statement, with what the engine needs to decide what happens next.

use postgres::error::SqlState;
use rusqlite::ErrorCode;

use crate::error::DbError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// The caller's own code refused a row. The transaction is intact.
    Caller,
    Statement,
    /// The transaction lost against another one. Run it again.
    Retryable,
    Lost,
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

    /// Whether the same transaction may succeed if it runs again.
    pub(super) fn may_run_again(&self) -> bool {
        matches!(self.class, Class::Retryable | Class::Lost)
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

impl From<postgres::Error> for Fault {
    fn from(error: postgres::Error) -> Self {
        let Some(told) = error.as_db_error() else {
            if error.is_closed() || has_io_source(&error) {
                return Fault::lost("the connection to PostgreSQL was lost");
            }
            return Fault::statement(DbError::Internal(with_sources(&error)));
        };
        let state = told.code();
        let text = told.message().to_owned();
        // All errors of the classes 08 (connection) and 57P (operator intervention) end the session.
        if state.code().starts_with("08")
            || state.code().starts_with("57P")
            || *state == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        {
            return Fault::lost(format!("PostgreSQL closed the connection: {text}"));
        }
        if *state == SqlState::T_R_DEADLOCK_DETECTED || *state == SqlState::T_R_SERIALIZATION_FAILURE {
            return Fault {
                class: Class::Retryable,
                error: DbError::Unavailable(text),
            };
        }
        Fault::statement(if state.code().starts_with("23") {
            DbError::Constraint(text)
        } else if *state == SqlState::DISK_FULL {
            DbError::Full(text)
        } else if *state == SqlState::READ_ONLY_SQL_TRANSACTION {
            DbError::Unwritable(format!("PostgreSQL takes no writes: {text}"))
        } else if *state == SqlState::LOCK_NOT_AVAILABLE
            || *state == SqlState::QUERY_CANCELED
            || state.code().starts_with("53")
        {
            DbError::Unavailable(text)
        } else {
            DbError::Internal(format!("{text} ({})", state.code()))
        })
    }
}

fn has_io_source(error: &postgres::Error) -> bool {
    std::iter::successors(std::error::Error::source(error), |source| source.source())
        .any(<dyn std::error::Error>::is::<std::io::Error>)
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
