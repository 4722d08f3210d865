//! Responses of the API: success, error and CORS.

use bursar_domain::ids::RequestId;
use bursar_http::reply::{Reply, json};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CONTENT_TYPE, HeaderName, HeaderValue,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};

use super::error::Error;
use super::plan::Answer;

const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"bursar\"");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

pub(super) fn answer(answer: Answer, is_replay: bool) -> Reply {
    let mut reply = json(answer.status, answer.body);
    if is_replay {
        reply
            .headers_mut()
            .insert(REPLAYED, HeaderValue::from_static("true"));
    }
    reply
}

pub(super) fn error(error: &Error, request_id: RequestId, base_url: &str) -> Reply {
    let (status, _) = error.status_and_code();
    let mut reply = json(status, error.body(request_id, base_url));
    let headers = reply.headers_mut();
    if let Some(seconds) = error.retry_after_seconds() {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    match error {
        Error::InvalidToken => {
            headers.insert(WWW_AUTHENTICATE, CHALLENGE);
        }
        Error::MethodNotAllowed(allow) => {
            if let Ok(value) = HeaderValue::from_str(&allow.join(", ")) {
                headers.insert(ALLOW, value);
            }
        }
        _ => {}
    }
    reply
}

/// Lets pages of this origin read the response.
pub(super) fn allow_origin(reply: &mut Reply, origin: &HeaderValue) {
    let headers = reply.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(VARY, HeaderValue::from_static("Origin"));
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("RateLimit, RateLimit-Limit, RateLimit-Policy, RateLimit-Remaining, RateLimit-Reset, Retry-After, X-Request-Id, Idempotent-Replayed"),
    );
}

/// The response to a CORS preflight request.
pub(super) fn preflight() -> Reply {
    let mut reply = json(204, String::new());
    let headers = reply.headers_mut();
    headers.remove(CONTENT_TYPE);
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, HEAD, POST, PATCH, DELETE"),
    );
    headers.insert(
        ACCESS_CONTROL_ALLOW_HEADERS,
        HeaderValue::from_static("Authorization, Content-Type, Idempotency-Key"),
    );
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    reply
}
