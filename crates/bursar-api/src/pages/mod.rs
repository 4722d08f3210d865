//! The docs pages: reference, guide and errors, generated from the OpenAPI document. They load nothing
//! from other servers and have no inline script or style.

mod errors;
mod guide;
mod html;
mod reference;

use std::borrow::Cow;

/// The target of `/`.
pub const HOME: &str = "/docs";
/// Every page, script and style sheet.
pub const PATHS: &[&str] = &[
    "/docs",
    "/docs/errors",
    "/docs/guide",
    "/docs/style.css",
    "/docs/docs.js",
];

#[derive(Debug)]
pub struct Content {
    pub content_type: &'static str,
    pub body: Cow<'static, [u8]>,
    /// A new binary has new pages under the same names, so clients must revalidate.
    pub cache_control: &'static str,
}

/// Rendering is slow: keep the result.
pub fn page(path: &str, base_url: &str) -> Option<Content> {
    let base_url = base_url.trim_end_matches('/');
    let (content_type, body) = match path {
        "/docs" => (HTML, made(reference::render(base_url))),
        "/docs/errors" => (HTML, made(errors::render())),
        "/docs/guide" => (HTML, made(guide::render(base_url))),
        "/docs/style.css" => (
            "text/css; charset=utf-8",
            Cow::Borrowed(include_bytes!("style.css").as_slice()),
        ),
        "/docs/docs.js" => (
            "text/javascript; charset=utf-8",
            Cow::Borrowed(include_bytes!("docs.js").as_slice()),
        ),
        _ => return None,
    };
    Some(Content {
        content_type,
        body,
        cache_control: "no-cache",
    })
}

const HTML: &str = "text/html; charset=utf-8";

fn made(html: String) -> Cow<'static, [u8]> {
    Cow::Owned(html.into_bytes())
}
