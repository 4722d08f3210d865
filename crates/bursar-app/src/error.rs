//! Why an operation did not happen.

use bursar_db::DbError;
use bursar_domain::Refusal;

/// Why an operation did not happen. Nothing was written.
#[derive(Debug)]
pub enum AppError {
    /// The rules refuse it.
    Refused(Refusal),
    /// The database could not do it.
    Db(DbError),
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<DbError> for AppError {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Db(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AppError {}
