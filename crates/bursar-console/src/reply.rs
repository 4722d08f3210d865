//! Responses: pages, parts of pages and redirects, with the headers that all of them have.

use std::io::Write as _;

use bursar_http::reply::Reply;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use hyper::{Response, StatusCode};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

/// Nothing is loaded from elsewhere, nothing inline runs, and no other site may frame a page.
const CSP: HeaderValue = HeaderValue::from_static(POLICY);
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// Below this, compression saves nothing.
const COMPRESS_FROM_BYTES: usize = 1_000;

pub(crate) fn html(status: StatusCode, page: String) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(page)));
    *reply.status_mut() = status;
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, CSP);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD, POST"));
    }
    // The same address is a page, or the part of it that htmx asks for.
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding, HX-Request"));
    guard(headers);
    reply
}

/// Lets the forms of a page lead to another origin too. Browsers hold a form to where its page allows, redirects included.
pub(crate) fn allow_forms_to(reply: &mut Reply, origin: &str) {
    let allowed = POLICY.replacen("form-action 'self'", &format!("form-action 'self' {origin}"), 1);
    if let Ok(value) = HeaderValue::from_str(&allowed) {
        reply.headers_mut().insert(CONTENT_SECURITY_POLICY, value);
    }
}

/// A file that a page offers.
pub(crate) struct Download {
    name: String,
    content_type: &'static str,
    body: Bytes,
}

impl Download {
    pub(crate) fn csv(name: String, text: String) -> Self {
        Self {
            name,
            content_type: "text/csv; charset=utf-8",
            body: Bytes::from(text),
        }
    }

    pub(crate) fn pdf(name: String, body: Vec<u8>) -> Self {
        Self {
            name,
            content_type: "application/pdf",
            body: Bytes::from(body),
        }
    }

    pub(crate) fn of(name: String, content_type: &'static str, body: Vec<u8>) -> Self {
        Self {
            name,
            content_type,
            body: Bytes::from(body),
        }
    }

    /// A browser saves it and does not open it here.
    pub(crate) fn reply(self) -> Reply {
        let mut reply = Response::new(Full::new(self.body));
        let headers = reply.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        let plain: String = self.name.chars().filter(|c| keep(*c)).collect();
        let name = utf8_percent_encode(&self.name, NON_ALPHANUMERIC);
        let disposition = format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{name}");
        if let Ok(value) = HeaderValue::from_str(&disposition) {
            headers.insert(CONTENT_DISPOSITION, value);
        }
        headers.insert(CONTENT_SECURITY_POLICY, CSP);
        guard(headers);
        reply
    }
}

/// For a script of ours.
pub(crate) fn json(text: String) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(text)));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    guard(headers);
    reply
}

/// After a form was sent: the browser goes to a page by GET.
pub(crate) fn see_other(to: &str) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = StatusCode::SEE_OTHER;
    let headers = reply.headers_mut();
    if let Ok(to) = HeaderValue::from_str(to) {
        headers.insert(LOCATION, to);
    }
    guard(headers);
    reply
}

fn guard(headers: &mut HeaderMap) {
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
}

pub(crate) fn takes_gzip(asked: &HeaderMap) -> bool {
    asked
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .any(|value| value.split(',').any(|coding| coding.trim() == "gzip"))
}

pub(crate) fn gzip(bytes: &[u8], level: Compression) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    encoder.write_all(bytes).and_then(|()| encoder.finish()).ok()
}

/// Compresses a page for a browser that takes it.
pub(crate) fn compressed(reply: Reply, body: &str, asked: &HeaderMap) -> Reply {
    if !takes_gzip(asked) || body.len() < COMPRESS_FROM_BYTES {
        return reply;
    }
    let Some(smaller) = gzip(body.as_bytes(), Compression::fast()) else {
        return reply;
    };
    let mut reply = reply.map(|_| Full::new(Bytes::from(smaller)));
    let encoding = HeaderValue::from_static("gzip");
    reply.headers_mut().insert(CONTENT_ENCODING, encoding);
    reply
}

/// Whether htmx asks, for the part of a page that changes. It gets the whole page where history needs it.
pub(crate) fn is_part(asked: &HeaderMap) -> bool {
    asked.get("hx-request").is_some_and(|value| value == "true")
        && !asked.contains_key("hx-history-restore-request")
}

/// Where htmx leads the browser, because the person must sign in first.
pub(crate) fn lead_to(status: StatusCode, to: &str) -> Reply {
    let mut reply = html(status, String::new());
    if let Ok(to) = HeaderValue::from_str(to) {
        reply.headers_mut().insert("hx-redirect", to);
    }
    reply
}
