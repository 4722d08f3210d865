//! The one error of the edge, and its one mapping to status, code and body.

use bursar_app::{AppError, DbError};
use bursar_domain::Refusal;
use bursar_domain::access::ScopeSet;
use bursar_domain::cursor::BadCursor;
use bursar_domain::ids::RequestId;
use bursar_domain::token::masked;
use bursar_http::body::BadBody;
use bursar_http::framing::BadHeader;
use bursar_http::limits::Charge;
use serde::Serialize;

/// Why a request was not carried out.
#[derive(Debug)]
pub enum Error {
    /// Something in the query, a header or the body breaks a rule.
    InvalidRequest {
        /// The field or parameter at fault.
        param: Option<String>,
        /// What is wrong and what to do.
        message: String,
    },
    /// The cursor cannot be gone on from.
    InvalidCursor(&'static str),
    /// The idempotency key is missing.
    KeyRequired,
    /// The idempotency key is malformed.
    KeyInvalid,
    /// No token, or none that works. One sentence for all of them.
    InvalidToken,
    /// The effective permissions lack something.
    InsufficientScope {
        /// All that the endpoint needs.
        required: ScopeSet,
        /// Which layer withholds what.
        message: String,
    },
    /// No such thing, or not this organization's.
    NotFound {
        /// The field of the body that named it.
        param: Option<&'static str>,
        /// One sentence.
        message: String,
    },
    /// The path has other methods.
    MethodNotAllowed(Vec<&'static str>),
    /// The state does not allow it.
    Conflict(String),
    /// The key was used with other parameters.
    KeyReused,
    /// The first request with this key is still running.
    KeyInUse,
    /// The body is too long.
    PayloadTooLarge {
        /// Bytes allowed.
        limit: usize,
    },
    /// The body is not JSON.
    UnsupportedMediaType(&'static str),
    /// The bucket has too little left.
    RateLimited(Charge),
    /// A defect here. The cause is in the log.
    Internal(String),
    /// Not now. The cause is in the log.
    Unavailable(String),
}

impl Error {
    /// A parameter or field that breaks a rule; `rule` reads on after its name.
    pub fn invalid(param: &str, rule: impl std::fmt::Display) -> Self {
        Self::InvalidRequest {
            param: Some(param.to_owned()),
            message: format!("{param} {rule}"),
        }
    }

    /// Something in the path that is not there.
    pub fn no_such(noun: &str) -> Self {
        Self::NotFound {
            param: None,
            message: format!("there is no such {noun}"),
        }
    }

    /// Status and code.
    pub fn status_and_code(&self) -> (u16, &'static str) {
        match self {
            Self::InvalidRequest { .. } => (400, "invalid_request"),
            Self::InvalidCursor(_) => (400, "invalid_cursor"),
            Self::KeyRequired => (400, "idempotency_key_required"),
            Self::KeyInvalid => (400, "idempotency_key_invalid"),
            Self::InvalidToken => (401, "invalid_token"),
            Self::InsufficientScope { .. } => (403, "insufficient_scope"),
            Self::NotFound { .. } => (404, "not_found"),
            Self::MethodNotAllowed(_) => (405, "method_not_allowed"),
            Self::Conflict(_) => (409, "conflict"),
            Self::KeyReused => (409, "idempotency_key_reused"),
            Self::KeyInUse => (409, "idempotency_key_in_use"),
            Self::PayloadTooLarge { .. } => (413, "payload_too_large"),
            Self::UnsupportedMediaType(_) => (415, "unsupported_media_type"),
            Self::RateLimited(_) => (429, "rate_limited"),
            Self::Internal(_) => (500, "internal"),
            Self::Unavailable(_) => (503, "unavailable"),
        }
    }

    /// Seconds after which to try again, where that helps. A 429's is in its charge.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        match self {
            Self::KeyInUse | Self::Unavailable(_) => Some(1),
            _ => None,
        }
    }

    fn param(&self) -> Option<&str> {
        match self {
            Self::InvalidRequest { param, .. } => param.as_deref(),
            Self::NotFound { param, .. } => *param,
            Self::InvalidCursor(_) => Some("cursor"),
            Self::KeyRequired | Self::KeyInvalid => Some("Idempotency-Key"),
            _ => None,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::InvalidRequest { message, .. }
            | Self::InsufficientScope { message, .. }
            | Self::NotFound { message, .. }
            | Self::Conflict(message) => message.clone(),
            Self::InvalidCursor(why) => format!("cursor {why}; start the walk again without a cursor"),
            Self::KeyRequired => "Idempotency-Key is missing or empty: send the header with a key of your own, new for each operation".into(),
            Self::KeyInvalid => "Idempotency-Key must have 1 to 255 characters from ! to ~ (0x21 to 0x7E), without spaces, once".into(),
            Self::InvalidToken => "The access token is missing or not valid. Send `Authorization: Bearer <token>` with a live token".into(),
            Self::MethodNotAllowed(allow) => format!("this path takes {}", allow.join(", ")),
            Self::KeyReused => "this Idempotency-Key was used with other parameters; use a new key for a new operation".into(),
            Self::KeyInUse => "the first request with this Idempotency-Key is still running; try again in a second".into(),
            Self::PayloadTooLarge { limit } => format!("the body must have at most {limit} bytes"),
            Self::UnsupportedMediaType(why) => (*why).into(),
            Self::RateLimited(charge) => format!(
                "the limit of the {} bucket, {} units per minute, is exceeded; try again in {} seconds",
                charge.bucket.name(),
                charge.limit,
                charge.reset_seconds
            ),
            Self::Internal(_) => "something went wrong here; it is logged under the request id".into(),
            Self::Unavailable(_) => "the service cannot do this right now; nothing is lost, try again".into(),
        }
    }

    /// The cause, for the log alone.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::Internal(cause) | Self::Unavailable(cause) => Some(cause),
            _ => None,
        }
    }

    /// The body.
    pub fn body(&self, request_id: RequestId, base_url: &str) -> String {
        #[derive(Serialize)]
        struct Body<'a> {
            error: Inner<'a>,
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Inner<'a> {
            code: &'static str,
            message: String,
            request_id: RequestId,
            docs_url: String,
            #[serde(skip_serializing_if = "Option::is_none")]
            param: Option<std::borrow::Cow<'a, str>>,
            #[serde(skip_serializing_if = "Option::is_none")]
            required_scopes: Option<ScopeSet>,
        }
        let (_, code) = self.status_and_code();
        let required_scopes = match self {
            Self::InsufficientScope { required, .. } => Some(*required),
            _ => None,
        };
        let docs_url = format!("{base_url}/docs/errors#{code}");
        let error = Inner {
            code,
            message: masked(&self.message()).into_owned(),
            request_id,
            docs_url,
            param: self.param().map(masked),
            required_scopes,
        };
        // Texts always have a JSON form.
        serde_json::to_string(&Body { error }).unwrap_or_default()
    }
}

impl From<BadHeader> for Error {
    fn from(BadHeader(name, rule): BadHeader) -> Self {
        Self::invalid(name, rule)
    }
}

impl From<BadBody> for Error {
    fn from(bad: BadBody) -> Self {
        match bad {
            BadBody::TooLarge(limit) => Self::PayloadTooLarge { limit },
            BadBody::OtherType(message) => Self::UnsupportedMediaType(message),
            BadBody::Broken(message) => Self::InvalidRequest {
                param: None,
                message: message.to_owned(),
            },
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Invalid { field, message } => Self::InvalidRequest {
                param: field.map(String::from),
                message,
            },
            Refusal::Missing { field, message } => Self::NotFound {
                param: field,
                message,
            },
            Refusal::Conflict { message } | Refusal::Forbidden { message } => Self::Conflict(message),
        }
    }
}

impl From<DbError> for Error {
    fn from(error: DbError) -> Self {
        if error.is_outage() {
            Self::Unavailable(error.to_string())
        } else {
            Self::Internal(error.to_string())
        }
    }
}

impl From<AppError> for Error {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Refused(refusal) => refusal.into(),
            AppError::Withheld { required, message } => Self::InsufficientScope { required, message },
            AppError::KeyReused => Self::KeyReused,
            AppError::Cursor(why) => Self::InvalidCursor(why),
            AppError::Unrecognised => Self::InvalidToken,
            AppError::Db(error) => error.into(),
        }
    }
}

impl From<BadCursor> for Error {
    fn from(bad: BadCursor) -> Self {
        Self::InvalidCursor(match bad {
            BadCursor::Foreign => "is not one of this list and this organization",
            BadCursor::Expired => "is of a walk that began more than 24 hours ago",
            BadCursor::Early => "is of a walk that has not begun yet",
            BadCursor::OtherFilters => "belongs to a walk with other filters",
        })
    }
}
