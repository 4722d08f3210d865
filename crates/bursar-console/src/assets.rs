//! The stylesheet and the scripts. Their addresses change with their content, so browsers keep them for good. They are
//! compressed once.

use std::sync::LazyLock;

use bursar_http::reply::Reply;
use flate2::Compression;
use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue, VARY, X_CONTENT_TYPE_OPTIONS,
};
use sha2::{Digest, Sha256};

use crate::reply::{gzip, takes_gzip};

struct Asset {
    name: &'static str,
    content_type: &'static str,
    text: &'static str,
    address: String,
    /// Compressed. `None` if that failed.
    packed: Option<Bytes>,
}

pub(crate) const PATH: &str = "/console/assets/";

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("console.css", CSS, include_str!("../assets/console.css")));
static SCRIPT: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("console.js", JS, include_str!("../assets/console.js")));
static HTMX: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("htmx.js", JS, include_str!("../assets/htmx/htmx.min.js")));

impl Asset {
    fn new(name: &'static str, content_type: &'static str, text: &'static str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let tag: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        Self {
            name,
            content_type,
            text,
            address: format!("{PATH}{tag}/{name}"),
            packed: gzip(text.as_bytes(), Compression::best()).map(Bytes::from),
        }
    }
}

pub(crate) fn style() -> String {
    STYLE.address.clone()
}

pub(crate) fn script() -> String {
    SCRIPT.address.clone()
}

pub(crate) fn htmx() -> String {
    HTMX.address.clone()
}

/// An address with another tag is that of an earlier version: the present one is served, and not kept.
pub(crate) fn answer(path: &str, asked: &HeaderMap) -> Option<Reply> {
    let name = path.rsplit('/').next()?;
    let all: [&Asset; 3] = [&STYLE, &SCRIPT, &HTMX];
    let asset = all.into_iter().find(|asset| asset.name == name)?;
    let keep = match path == asset.address {
        true => "public, max-age=31536000, immutable",
        false => "no-store",
    };
    let packed = asset.packed.clone().filter(|_| takes_gzip(asked));
    let is_packed = packed.is_some();
    let body = packed.unwrap_or_else(|| Bytes::from_static(asset.text.as_bytes()));
    let mut reply = Response::new(Full::new(body));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_packed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    Some(reply)
}
