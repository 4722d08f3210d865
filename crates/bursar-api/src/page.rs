//! A docs page as sent: rendered and compressed once, with an `ETag` for each encoding.

use std::io::Write as _;

use bursar_http::reply::Reply;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderMap,
    HeaderValue, IF_NONE_MATCH, VARY, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Response, StatusCode};
use sha2::{Digest, Sha256};

use super::pages;

/// Pages load everything from this server.
const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Debug)]
pub(super) struct Page {
    content_type: HeaderValue,
    cache_control: HeaderValue,
    plain: Encoded,
    /// `None` when compression does not make it smaller.
    gzip: Option<Encoded>,
}

/// Each encoding is a representation of its own and needs its own `ETag`.
#[derive(Debug)]
struct Encoded {
    bytes: Bytes,
    tag: String,
}

impl Page {
    pub(super) fn new(page: pages::Content) -> Self {
        let bytes = Bytes::from(page.body.into_owned());
        let digest = Sha256::digest(&bytes);
        let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let gzip = compress(&bytes).filter(|smaller| smaller.len() < bytes.len());
        Self {
            content_type: HeaderValue::from_static(page.content_type),
            cache_control: HeaderValue::from_static(page.cache_control),
            gzip: gzip.map(|bytes| Encoded {
                bytes,
                tag: format!("\"{name}-gzip\""),
            }),
            plain: Encoded {
                bytes,
                tag: format!("\"{name}\""),
            },
        }
    }

    /// Returns 304 if the client has the current version.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Reply {
        let gzip = self.gzip.as_ref().filter(|_| takes_gzip(asked));
        let encoded = gzip.unwrap_or(&self.plain);
        let is_known = knows(asked, &encoded.tag);
        let body = if is_known {
            Bytes::new()
        } else {
            encoded.bytes.clone()
        };
        let mut reply = Response::new(Full::new(body));
        let headers = reply.headers_mut();
        if let Ok(tag) = HeaderValue::from_str(&encoded.tag) {
            headers.insert(ETAG, tag);
        }
        headers.insert(CACHE_CONTROL, self.cache_control.clone());
        headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
        if is_known {
            *reply.status_mut() = StatusCode::NOT_MODIFIED;
            return reply;
        }
        headers.insert(CONTENT_TYPE, self.content_type.clone());
        if gzip.is_some() {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        reply
    }
}

fn compress(bytes: &[u8]) -> Option<Bytes> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok().map(Bytes::from)
}

/// Whether `Accept-Encoding` names gzip, or everything, with a weight above 0 (RFC 9110, 12.5.3).
fn takes_gzip(headers: &HeaderMap) -> bool {
    let mut any = false;
    for entry in list(headers.get_all(ACCEPT_ENCODING)) {
        let (coding, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = weight
            .trim()
            .strip_prefix("q=")
            .map_or(Ok(1.0), str::parse::<f32>);
        let is_wanted = weight.is_ok_and(|weight| weight > 0.0);
        match coding.trim() {
            gzip if gzip.eq_ignore_ascii_case("gzip") || gzip.eq_ignore_ascii_case("x-gzip") => {
                return is_wanted;
            }
            "*" => any = is_wanted,
            _ => {}
        }
    }
    any
}

/// Whether `If-None-Match` has this tag, weak or not (RFC 9110, 13.1.2).
fn knows(headers: &HeaderMap, tag: &str) -> bool {
    list(headers.get_all(IF_NONE_MATCH))
        .any(|entry| entry == "*" || entry.strip_prefix("W/").unwrap_or(entry) == tag)
}

fn list<'h>(values: hyper::header::GetAll<'h, HeaderValue>) -> impl Iterator<Item = &'h str> {
    values
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|text| text.split(','))
        .map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn who_takes_gzip() {
        for (value, takes) in [
            ("gzip", true),
            ("deflate, GZIP;q=0.5", true),
            ("br, *", true),
            ("*;q=0", false),
            ("gzip;q=0, *", false),
            ("gzip; q=0.000", false),
            ("gzip;q=x", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(
                takes_gzip(&headers(&[("accept-encoding", value)])),
                takes,
                "{value}"
            );
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    #[test]
    fn who_knows_the_page() {
        for (value, known) in [
            ("\"a\"", true),
            ("\"b\", W/\"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
        ] {
            assert_eq!(
                knows(&headers(&[("if-none-match", value)]), "\"a\""),
                known,
                "{value}"
            );
        }
        assert!(knows(
            &headers(&[("if-none-match", "\"b\""), ("if-none-match", "\"a\"")]),
            "\"a\""
        ));
    }
}
