use bursar_db::DbError;
use bursar_domain::Refusal;
use bursar_domain::access::ScopeSet;

/// Why an operation failed. Nothing was written.
#[derive(Debug)]
pub enum AppError {
    Refused(Refusal),
    /// The token lacks a required scope.
    Withheld {
        required: ScopeSet,
        /// What withholds each scope, and the way out.
        message: String,
    },
    /// The idempotency key was used for a different request.
    KeyReused,
    /// The cursor cannot be used, for this reason.
    Cursor(&'static str),
    /// The person must prove again who they are.
    Stale,
    /// The identity is unknown or no longer in force.
    Unrecognised,
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
            Self::Stale => f.write_str("a sign-in within the last 30 minutes is needed"),
            Self::Unrecognised => f.write_str("the token is not known, has ended or was revoked"),
            Self::Db(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for AppError {}
