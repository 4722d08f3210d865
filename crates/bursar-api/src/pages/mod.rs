//! The docs pages: overview, guide, errors, changelog and a page for each resource, made from the OpenAPI document and the
//! state tables. They load nothing from other servers and have no inline script or style.

mod changelog;
mod document;
mod errors;
mod frame;
mod guide;
mod highlight;
mod home;
mod html;
mod places;
mod reference;
mod samples;
mod search;

use std::borrow::Cow;

use self::document::Document;
use self::places::{CHANGELOG, ERRORS, GUIDE, PLACES};
use crate::openapi;

/// The target of `/`.
pub const HOME: &str = places::HOME;

#[derive(Debug)]
pub struct Content {
    pub content_type: &'static str,
    pub body: Cow<'static, [u8]>,
    /// A new binary has new pages under the same names, so clients must revalidate.
    pub cache_control: &'static str,
}

const SCRIPT: &str = concat!(
    include_str!("script/docs.js"),
    include_str!("script/search.js"),
    include_str!("script/try.js")
);
const STYLE: &str = concat!(
    include_str!("styles/base.css"),
    include_str!("styles/parts.css"),
    include_str!("styles/code.css"),
    include_str!("styles/screens.css")
);

/// Every page, script and style sheet with its path. Rendering is slow: keep the result.
pub fn all(base_url: &str) -> Vec<(&'static str, Content)> {
    let base_url = base_url.trim_end_matches('/');
    let document = Document {
        root: openapi::document(base_url),
        base_url: base_url.to_owned(),
    };
    let pages: Vec<frame::Page> = PLACES
        .iter()
        .map(|place| match place.path {
            HOME => home::render(&document),
            GUIDE => guide::render(&document),
            ERRORS => errors::render(&document),
            CHANGELOG => changelog::render(&document),
            _ => reference::render(&document, place),
        })
        .collect();
    let mut all: Vec<_> = pages
        .iter()
        .map(|page| {
            (
                page.path,
                content("text/html; charset=utf-8", Cow::Owned(page.render().into_bytes())),
            )
        })
        .collect();
    all.push((
        "/docs/search.json",
        content("application/json", Cow::Owned(search::index(&pages).into_bytes())),
    ));
    for (path, content_type, text) in [
        ("/docs/style.css", "text/css; charset=utf-8", STYLE),
        ("/docs/docs.js", "text/javascript; charset=utf-8", SCRIPT),
        (
            "/docs/early.js",
            "text/javascript; charset=utf-8",
            include_str!("script/early.js"),
        ),
    ] {
        all.push((path, content(content_type, Cow::Borrowed(text.as_bytes()))));
    }
    all
}

fn content(content_type: &'static str, body: Cow<'static, [u8]>) -> Content {
    Content {
        content_type,
        body,
        cache_control: "no-cache",
    }
}
