//! The docs pages: the reference, the guide and the errors, made of the API's own document. They need nothing
//! from elsewhere, run no inline script and have no inline style.

mod errors;
mod guide;
mod html;
mod reference;

use std::borrow::Cow;

/// Where `/` leads to.
pub const HOME: &str = "/docs";
/// The path of every page and of what pages are made of.
pub const PATHS: &[&str] = &[
    "/docs",
    "/docs/errors",
    "/docs/guide",
    "/docs/style.css",
    "/docs/docs.js",
];

/// What a page, or a part of one, consists of.
#[derive(Debug)]
pub struct Content {
    /// What it is.
    pub content_type: &'static str,
    /// Its bytes.
    pub body: Cow<'static, [u8]>,
    /// How long it may be kept: a new binary brings new pages under the old names, so it is always asked for again.
    pub cache_control: &'static str,
}

/// The page at a path, for readers who reach this server at `base_url`. Rendering is work: keep the result.
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
