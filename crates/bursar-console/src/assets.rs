//! The stylesheet and the scripts. Their addresses change with their content, so browsers keep them for good.

use std::sync::OnceLock;

use bursar_http::reply::Reply;
use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use sha2::{Digest, Sha256};

use crate::reply::compressed;

struct Asset {
    name: &'static str,
    content_type: &'static str,
    text: &'static str,
}

const STYLE: Asset = Asset {
    name: "console.css",
    content_type: "text/css; charset=utf-8",
    text: include_str!("../assets/console.css"),
};
const SCRIPT: Asset = Asset {
    name: "console.js",
    content_type: "text/javascript; charset=utf-8",
    text: include_str!("../assets/console.js"),
};

pub(crate) const PATH: &str = "/console/assets/";

pub(crate) fn style() -> String {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| address(&STYLE)).clone()
}

pub(crate) fn script() -> String {
    static ADDRESS: OnceLock<String> = OnceLock::new();
    ADDRESS.get_or_init(|| address(&SCRIPT)).clone()
}

fn address(asset: &Asset) -> String {
    let digest = Sha256::digest(asset.text.as_bytes());
    let tag: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    format!("{PATH}{tag}/{}", asset.name)
}

/// An address with another tag is that of an earlier version: the present one is served, and not kept.
pub(crate) fn answer(path: &str, asked: &HeaderMap) -> Option<Reply> {
    let name = path.rsplit('/').next()?;
    let asset = [STYLE, SCRIPT].into_iter().find(|asset| asset.name == name)?;
    let keep = match path == style() || path == script() {
        true => "public, max-age=31536000, immutable",
        false => "no-store",
    };
    let mut reply = Response::new(Full::new(Bytes::from_static(asset.text.as_bytes())));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(keep));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Some(compressed(reply, asset.text.to_owned(), asked))
}
