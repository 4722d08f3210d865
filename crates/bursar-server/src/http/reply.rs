//! Responses: the headers that every one of them has.

use bursar_domain::ids::RequestId;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_LENGTH,
    CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER, VARY, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

use super::error::Error;
use super::plan::Answer;

/// A response under way.
pub(super) type Reply = Response<Full<Bytes>>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"bursar\"");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// How many headers most responses have, so that room is made for them once.
const HEADERS: usize = 10;

/// A success.
pub(super) fn answer(answer: Answer, is_replay: bool) -> Reply {
    let mut reply = json(answer.status, answer.body);
    if is_replay {
        reply
            .headers_mut()
            .insert(REPLAYED, HeaderValue::from_static("true"));
    }
    reply
}

/// An error.
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

/// JSON with this status.
pub(super) fn json(status: u16, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = reply.headers_mut();
    headers.reserve(HEADERS);
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    reply
}

/// Names the request on its response.
pub(super) fn stamp(reply: &mut Reply, request_id: RequestId) {
    if let Ok(value) = HeaderValue::from_maybe_shared(Bytes::from(request_id.to_string())) {
        reply.headers_mut().insert(REQUEST_ID, value);
    }
}

/// Takes the body off the answer to a `HEAD`; its length stays.
pub(super) fn strip_body(mut reply: Reply) -> Reply {
    use hyper::body::Body;
    let length = reply.body().size_hint().exact().unwrap_or(0);
    reply
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(length));
    *reply.body_mut() = Full::default();
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

/// The answer to a browser that asks before it sends.
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
