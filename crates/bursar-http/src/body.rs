//! Reading a request's body: bounded, and JSON or nothing.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Body, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, EXPECT};
use tokio::time::timeout;

/// What is read and dropped of a body that is too long, so that its sender sees the answer.
const DROPPED_BYTES_MAX: u64 = 1 << 20;
/// How long an answer waits for a body that nobody wants.
const DROPPING_MAX: Duration = Duration::from_secs(1);
const BROKEN: BadBody = BadBody::Broken("the body breaks off or is not encoded as its headers say");

/// Why a body is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadBody {
    /// It has more bytes than this.
    TooLarge(usize),
    /// Its headers say that it is something else.
    OtherType(&'static str),
    /// It is no text, or not all of it.
    Broken(&'static str),
}

/// Reads a body of at most `limit` bytes and checks that it is JSON text by its headers.
pub async fn read(body: &mut Incoming, headers: &HeaderMap, limit: usize) -> Result<String, BadBody> {
    let mut bytes = Vec::new();
    let mut total: u64 = 0;
    let declared = body.size_hint().lower();
    let mut is_too_long = declared > limit as u64;
    if declared > DROPPED_BYTES_MAX {
        return Err(BadBody::TooLarge(limit));
    }
    while let Some(frame) = body.frame().await {
        // A body that breaks off has nobody left to answer to; a broken encoding has.
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
    check_type(headers)?;
    String::from_utf8(bytes).map_err(|_| BadBody::Broken("the body is not UTF-8"))
}

/// Reads and drops what is left of the body of a request that was answered without it. A client that still writes
/// when its connection is closed may never see the answer, and one that is done can use the connection again.
pub async fn discard(body: &mut Incoming, headers: &HeaderMap) {
    // A client that asked first waits for the answer, and sends no body after a refusal.
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
    // Who takes longer is answered now.
    let _ = timeout(DROPPING_MAX, dropping).await;
}

fn check_type(headers: &HeaderMap) -> Result<(), BadBody> {
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
    let is_json = |value: &hyper::header::HeaderValue| {
        let text = value.to_str().unwrap_or("");
        text.split(';')
            .next()
            .unwrap_or("")
            .trim()
            .eq_ignore_ascii_case("application/json")
    };
    match (types.next(), types.next()) {
        (Some(value), None) if is_json(value) => Ok(()),
        _ => Err(BadBody::OtherType(
            "the body must be sent with `Content-Type: application/json`",
        )),
    }
}
