//! The one error type of the HTTP edge, and its one mapping to status, code and body.

use bursar_app::{AppError, DbError};
use bursar_domain::Refusal;
use bursar_domain::access::ScopeSet;
use bursar_domain::cursor::BadCursor;
use bursar_domain::ids::RequestId;
use bursar_domain::token::masked;
use bursar_http::body::BadBody;
use bursar_http::framing::BadHeader;
use bursar_http::limits::Quota;
use serde::Serialize;

#[derive(Debug)]
pub enum Error {
    InvalidRequest {
        param: Option<String>,
        message: String,
    },
    InvalidCursor(&'static str),
    KeyRequired,
    KeyInvalid,
    /// No token, or an invalid one. The message is the same for every reason.
    InvalidToken,
    InsufficientScope {
        /// Every scope that the endpoint needs, not only the missing ones.
        required: ScopeSet,
        /// Says which layer (token, role or policy) withholds which scope.
        message: String,
    },
    /// Not there, or belongs to another organization.
    NotFound {
        /// The body field that named it; `None` when the path did.
        param: Option<&'static str>,
        message: String,
    },
    MethodNotAllowed(Vec<&'static str>),
    Conflict(String),
    KeyReused,
    KeyInUse,
    PayloadTooLarge {
        /// In bytes.
        limit: usize,
    },
    UnsupportedMediaType(&'static str),
    RateLimited(Quota),
    /// A bug in bursar. The text goes to the log only.
    Internal(String),
    /// Temporary. The text goes to the log only.
    Unavailable(String),
}

impl Error {
    /// `rule` continues a sentence that starts with the parameter's name.
    pub fn invalid(param: &str, rule: impl std::fmt::Display) -> Self {
        Self::InvalidRequest {
            param: Some(param.to_owned()),
            message: format!("{param} {rule}"),
        }
    }

    /// A 404 for an id or path.
    pub fn no_such(noun: &str) -> Self {
        Self::NotFound {
            param: None,
            message: format!("there is no such {noun}"),
        }
    }

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

    /// `None` for a 429: its wait is in the charge.
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
            Self::RateLimited(quota) => format!(
                "the limit of the {} bucket, {} units per minute, is exceeded; try again in {} seconds",
                quota.bucket.name(),
                quota.limit,
                quota.reset_seconds
            ),
            Self::Internal(_) => "something went wrong here; it is logged under the request id".into(),
            Self::Unavailable(_) => "the service cannot do this right now; try again, with the same Idempotency-Key if the request has one".into(),
        }
    }

    /// For the log only.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::Internal(cause) | Self::Unavailable(cause) => Some(cause),
            _ => None,
        }
    }

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
        // Strings always serialize.
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
            // Only people sign in, and no person calls the API.
            AppError::Stale => Self::Internal(error.to_string()),
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
