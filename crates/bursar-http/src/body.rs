//! Reads request bodies: bounded, and of the type that is asked for.

mod parts;

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT};
use tokio::time::timeout;

pub use parts::{FormFile, FormParts, is_multipart, read_parts};

/// Bytes of an unread body that are read and dropped, so that the client sees the response.
const DROPPED_BYTES_MAX: u64 = 1 << 20;
/// How long a response waits for that.
const DROPPING_MAX: Duration = Duration::from_secs(1);
const BROKEN: BadBody = BadBody::Broken("the body breaks off or is not encoded as its headers say");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadBody {
    /// The limit in bytes.
    TooLarge(usize),
    /// Of another type, by its headers.
    OtherType(&'static str),
    /// Incomplete or not UTF-8.
    Broken(&'static str),
}

const JSON: (&str, BadBody) = (
    "application/json",
    BadBody::OtherType("the body must be sent with `Content-Type: application/json`"),
);
const FORM: (&str, BadBody) = (
    "application/x-www-form-urlencoded",
    BadBody::OtherType("the form must be sent as application/x-www-form-urlencoded"),
);

/// Only the headers are checked for JSON; the text is not parsed.
pub async fn read(body: &mut Incoming, headers: &HeaderMap, limit: usize) -> Result<String, BadBody> {
    read_typed(body, headers, limit, JSON).await
}

/// The fields of a form as a browser sends them, not parsed.
pub async fn read_form(body: &mut Incoming, headers: &HeaderMap, limit: usize) -> Result<String, BadBody> {
    read_typed(body, headers, limit, FORM).await
}

async fn read_typed(
    body: &mut Incoming,
    headers: &HeaderMap,
    limit: usize,
    wanted: (&str, BadBody),
) -> Result<String, BadBody> {
    let mut bytes = Vec::new();
    let mut total: u64 = 0;
    let declared = body.size_hint().lower();
    let mut is_too_long = declared > limit as u64;
    if declared > DROPPED_BYTES_MAX {
        return Err(BadBody::TooLarge(limit));
    }
    while let Some(frame) = body.frame().await {
        // If the body breaks off, nobody receives the response; after a bad encoding, the client does.
        let frame = frame.map_err(|_| BROKEN)?;
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
        return Err(BadBody::TooLarge(limit));
    }
    if bytes.is_empty() {
        return Ok(String::new());
    }
    check_type(headers, wanted)?;
    String::from_utf8(bytes).map_err(|_| BadBody::Broken("the body is not UTF-8"))
}

/// Reads and drops what is left of the body of a request that was answered early. A client that is still writing
/// when its connection closes may never see the response; one that is done can reuse the connection.
pub async fn discard(body: &mut Incoming, headers: &HeaderMap) {
    // A client that sent `Expect` waits for the response, and sends no body after a refusal.
    if body.is_end_stream() || body.size_hint().lower() > DROPPED_BYTES_MAX || headers.contains_key(EXPECT) {
        return;
    }
    let dropping = async {
        let mut total: u64 = 0;
        while let Some(Ok(frame)) = body.frame().await
            && total <= DROPPED_BYTES_MAX
        {
            total += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
    };
    // A slower client gets the response now.
    let _ = timeout(DROPPING_MAX, dropping).await;
}

fn check_type(headers: &HeaderMap, (wanted, other): (&str, BadBody)) -> Result<(), BadBody> {
    let encoded = headers
        .get_all(CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if encoded {
        return Err(BadBody::OtherType(
            "the body must not be compressed; send it without Content-Encoding",
        ));
    }
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let is_wanted = |value: &hyper::header::HeaderValue| {
        let text = value.to_str().unwrap_or("");
        text.split(';')
            .next()
            .unwrap_or("")
            .trim()
            .eq_ignore_ascii_case(wanted)
    };
    match (types.next(), types.next()) {
        (Some(value), None) if is_wanted(value) => Ok(()),
        _ => Err(other),
    }
}
