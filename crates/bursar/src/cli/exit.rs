//! How a command ends: one line on standard error when it fails, and an exit code that a script can rely on.

use std::any::Any;
use std::fmt::Display;
use std::process::ExitCode;

use bursar_app::AppError;
use bursar_app::import::ImportError;
use bursar_db::DbError;
use bursar_domain::Refusal;

/// The exit codes. docs/commands.md tells them; a code never changes its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// A rule refuses it, or it could not be done.
    Failed = 1,
    /// The command line cannot be understood.
    Usage = 2,
    /// What was named is not there.
    Missing = 3,
    /// The state of things does not allow it.
    Conflict = 4,
    /// Not now: the database is busy or away. The same command may work later. (`EX_TEMPFAIL` of sysexits.)
    Later = 75,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    fn of_refusal(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Missing { .. } => Self::Missing,
            Refusal::Conflict { .. } => Self::Conflict,
            Refusal::Invalid { .. } | Refusal::Forbidden { .. } => Self::Failed,
        }
    }

    fn of_db(error: &DbError) -> Self {
        match error {
            DbError::Unavailable(_) | DbError::FileReplaced(_) => Self::Later,
            DbError::NoDatabase(_) => Self::Missing,
            DbError::Constraint(_)
            | DbError::Full(_)
            | DbError::Foreign(_)
            | DbError::SchemaOlder { .. }
            | DbError::SchemaNewer { .. }
            | DbError::SchemaDamaged(_)
            | DbError::Unwritable(_)
            | DbError::BadUrl(_)
            | DbError::Panicked(_)
            | DbError::Internal(_) => Self::Failed,
        }
    }

    /// The code for an error of any type; one that is not known here is a plain failure.
    pub(crate) fn of(error: &dyn Any) -> Self {
        if let Some(error) = error.downcast_ref::<AppError>() {
            match error {
                AppError::Refused(refusal) => Self::of_refusal(refusal),
                AppError::Withheld { .. }
                | AppError::KeyReused
                | AppError::Cursor(_)
                | AppError::Unrecognised => Self::Failed,
                AppError::Db(error) => Self::of_db(error),
            }
        } else if let Some(error) = error.downcast_ref::<DbError>() {
            Self::of_db(error)
        } else if let Some(refusal) = error.downcast_ref::<Refusal>() {
            Self::of_refusal(refusal)
        } else if let Some(ImportError::Db(error)) = error.downcast_ref::<ImportError>() {
            Self::of_db(error)
        } else {
            Self::Failed
        }
    }
}

/// Why a command failed: one line for standard error, and the code to end with.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) message: String,
    pub(crate) exit: Exit,
}

impl Failure {
    /// A plain failure.
    pub(crate) fn new(message: String) -> Self {
        Self {
            message,
            exit: Exit::Failed,
        }
    }

    /// What was named is not there.
    pub(crate) fn missing(message: String) -> Self {
        Self {
            message,
            exit: Exit::Missing,
        }
    }

    /// The same end, told with more words.
    pub(crate) fn told(self, tell: impl FnOnce(String) -> String) -> Self {
        Self {
            message: tell(self.message),
            exit: self.exit,
        }
    }
}

impl<E: Display + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self {
            message: error.to_string(),
            exit: Exit::of(&error),
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

    /// The page for operators lists the codes; a new one must be told there.
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
