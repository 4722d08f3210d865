//! Why an operation did not happen.

use bursar_db::DbError;
use bursar_domain::Refusal;
use bursar_domain::access::ScopeSet;

/// Why an operation did not happen. Nothing was written.
#[derive(Debug)]
pub enum AppError {
    /// The rules refuse it.
    Refused(Refusal),
    /// The token lacks a scope that it takes.
    Withheld {
        /// The scopes that it takes.
        required: ScopeSet,
        /// What withholds each, and the way out.
        message: String,
    },
    /// The idempotency key was used for something else.
    KeyReused,
    /// A list cannot be gone on with from the cursor, which this says of it.
    Cursor(&'static str),
    /// Nobody is known by what was presented, or it is not in force any more.
    Unrecognised,
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
            Self::Withheld { message, .. } => f.write_str(message),
            Self::KeyReused => f.write_str("the key was used before with other parameters"),
            Self::Cursor(why) => write!(f, "cursor {why}"),
            Self::Unrecognised => f.write_str("the token is not known, has ended or was revoked"),
            Self::Db(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AppError {}
