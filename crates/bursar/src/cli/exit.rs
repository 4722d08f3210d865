//! How a command ends: one line on standard error when it fails, and an exit code that scripts can rely on.

use std::fmt::Display;
use std::process::ExitCode;

use bursar_app::import::ImportError;
use bursar_app::{AppError, DbError};
use bursar_domain::Refusal;

/// Listed in docs/commands.md; a code never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// A rule refuses it, or it could not be done.
    Failed = 1,
    Usage = 2,
    /// Something named on the command line does not exist.
    Missing = 3,
    /// The current state does not allow it.
    Conflict = 4,
    /// The database is busy or unavailable; retrying may work. (`EX_TEMPFAIL` of sysexits.)
    Later = 75,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error that knows its exit code.
pub(crate) trait Ends: Display {
    fn exit(&self) -> Exit {
        Exit::Failed
    }
}

impl Ends for Refusal {
    fn exit(&self) -> Exit {
        match self {
            Self::Missing { .. } => Exit::Missing,
            Self::Conflict { .. } => Exit::Conflict,
            Self::Invalid { .. } | Self::Forbidden { .. } => Exit::Failed,
        }
    }
}

impl Ends for DbError {
    fn exit(&self) -> Exit {
        match self {
            Self::Unavailable(_) | Self::FileReplaced(_) => Exit::Later,
            Self::NoDatabase(_) => Exit::Missing,
            Self::Constraint(_)
            | Self::Full(_)
            | Self::Foreign(_)
            | Self::SchemaOlder { .. }
            | Self::SchemaNewer { .. }
            | Self::SchemaDamaged(_)
            | Self::Unwritable(_)
            | Self::BadUrl(_)
            | Self::Panicked(_)
            | Self::Internal(_) => Exit::Failed,
        }
    }
}

impl Ends for AppError {
    fn exit(&self) -> Exit {
        match self {
            Self::Refused(refusal) => refusal.exit(),
            Self::Withheld { .. } | Self::KeyReused | Self::Cursor(_) | Self::Stale | Self::Unrecognised => {
                Exit::Failed
            }
            Self::Db(error) => error.exit(),
        }
    }
}

impl Ends for ImportError {
    fn exit(&self) -> Exit {
        match self {
            Self::Line(..) | Self::Input(_) | Self::Changed => Exit::Failed,
            Self::App(error) => error.exit(),
        }
    }
}

impl Ends for &str {}
impl Ends for String {}
impl Ends for std::io::Error {}
impl Ends for std::num::TryFromIntError {}
impl Ends for serde_json::Error {}
impl Ends for bursar_http::address::InvalidProxy {}

/// One line for standard error, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) exit: Exit,
}

impl Failure {
    pub(crate) fn new(message: String) -> Self {
        Self {
            message,
            exit: Exit::Failed,
        }
    }

    pub(crate) fn missing(message: String) -> Self {
        Self {
            message,
            exit: Exit::Missing,
        }
    }

    /// Changes the message and keeps the exit code.
    pub(crate) fn told(self, tell: impl FnOnce(String) -> String) -> Self {
        Self {
            message: tell(self.message),
            exit: self.exit,
        }
    }
}

impl<E: Ends> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            message: error.to_string(),
            exit: error.exit(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_knows_its_code() {
        let later = || DbError::Unavailable("the queue is full".into());
        for (failure, exit) in [
            (
                Failure::from(AppError::from(Refusal::missing("gone"))),
                Exit::Missing,
            ),
            (Failure::from(Refusal::conflict("paid")), Exit::Conflict),
            (Failure::from(Refusal::invalid("name", "is empty")), Exit::Failed),
            (Failure::from(AppError::from(later())), Exit::Later),
            (Failure::from(ImportError::from(later())), Exit::Later),
            (Failure::from(later()), Exit::Later),
            (
                Failure::from(DbError::NoDatabase("there is none".into())),
                Exit::Missing,
            ),
            (Failure::from("no"), Exit::Failed),
        ] {
            assert_eq!(failure.exit, exit, "{}", failure.message);
        }
    }

    #[test]
    fn every_code_is_told() {
        let page = include_str!("../../../../docs/commands.md");
        for exit in [
            Exit::Failed,
            Exit::Usage,
            Exit::Missing,
            Exit::Conflict,
            Exit::Later,
        ] {
            assert!(page.contains(&format!("\n| {} |", exit as u8)), "{exit:?}");
        }
    }
}
