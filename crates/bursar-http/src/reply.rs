//! Responses, with the headers that all of them have.

use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};

pub type Reply = Response<Full<Bytes>>;

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The usual number of headers, allocated at once.
const HEADERS: usize = 10;

pub fn json(status: u16, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = reply.headers_mut();
    headers.reserve(HEADERS);
    headers.insert(CONTENT_TYPE, JSON);
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(X_CONTENT_TYPE_OPTIONS, NOSNIFF);
    reply
}

/// Sets `X-Request-Id`.
pub fn stamp(reply: &mut Reply, request_id: &str) {
    if let Ok(value) = HeaderValue::from_str(request_id) {
        reply.headers_mut().insert(REQUEST_ID, value);
    }
}

/// For `HEAD`: removes the body but keeps `Content-Length`.
pub fn strip_body(mut reply: Reply) -> Reply {
    let length = reply.body().size_hint().exact().unwrap_or(0);
    reply
        .headers_mut()
        .insert(CONTENT_LENGTH, HeaderValue::from(length));
    *reply.body_mut() = Full::default();
    reply
}
