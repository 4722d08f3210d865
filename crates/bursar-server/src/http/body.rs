//! Reading a request's body: bounded, and JSON or nothing.

use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE};

use super::error::Error;

/// What is read and dropped of a body that is too long, so that its sender sees the answer.
const DROPPED_BYTES_MAX: u64 = 1 << 20;

/// Reads a body of at most `limit` bytes and checks that it is JSON text by its headers.
pub(super) async fn read(mut body: Incoming, headers: &HeaderMap, limit: usize) -> Result<String, Error> {
    let mut bytes = Vec::new();
    let mut total: u64 = 0;
    let declared = body.size_hint().lower();
    let mut is_too_long = declared > limit as u64;
    if declared > DROPPED_BYTES_MAX {
        return Err(Error::PayloadTooLarge { limit });
    }
    while let Some(frame) = body.frame().await {
        // A body that breaks off has nobody left to answer to; a broken encoding has.
        let frame = frame.map_err(|_| broken())?;
        let Some(data) = frame.data_ref() else { continue };
        total += data.len() as u64;
        if total > DROPPED_BYTES_MAX {
            break;
        }
        is_too_long |= total > limit as u64;
        if !is_too_long {
            bytes.extend_from_slice(data);
        }
    }
    if is_too_long {
        return Err(Error::PayloadTooLarge { limit });
    }
    if bytes.is_empty() {
        return Ok(String::new());
    }
    check_type(headers)?;
    String::from_utf8(bytes).map_err(|_| Error::InvalidRequest { param: None, message: "the body is not UTF-8".into() })
}

fn broken() -> Error {
    Error::InvalidRequest { param: None, message: "the body breaks off or is not encoded as its headers say".into() }
}

fn check_type(headers: &HeaderMap) -> Result<(), Error> {
    let encoded = headers.get_all(CONTENT_ENCODING).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        return Err(Error::UnsupportedMediaType("the body must not be compressed; send it without Content-Encoding"));
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let is_json = |value: &hyper::header::HeaderValue| {
        let text = value.to_str().unwrap_or("");
        text.split(';').next().unwrap_or("").trim().eq_ignore_ascii_case("application/json")
    };
    match (types.next(), types.next()) {
        (Some(value), None) if is_json(value) => Ok(()),
        _ => Err(Error::UnsupportedMediaType("the body must be sent with `Content-Type: application/json`")),
    }
}
