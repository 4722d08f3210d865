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
use self::places::{CHANGELOG, ERRORS, GUIDE, PLACES, Place};
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

const SEARCH: &str = "/docs/search.json";
const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// What is served as it is: path, content type and text.
const FILES: [(&str, &str, &str); 3] = [
    ("/docs/style.css", CSS, STYLE),
    ("/docs/docs.js", JAVASCRIPT, SCRIPT),
    ("/docs/early.js", JAVASCRIPT, include_str!("script/early.js")),
];

/// The pages of a server.
#[derive(Debug)]
pub struct Pages {
    document: Document,
}

impl Pages {
    pub fn new(base_url: &str) -> Self {
        let base_url = base_url.trim_end_matches('/');
        Self {
            document: Document {
                root: openapi::document(base_url),
                base_url: base_url.to_owned(),
            },
        }
    }

    /// Of every page, script and style sheet.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        let places = PLACES.iter().map(|place| place.path);
        places.chain([SEARCH]).chain(FILES.map(|(path, ..)| path))
    }

    /// Rendering is slow: keep the result.
    pub fn content(&self, path: &str) -> Option<Content> {
        if let Some((_, content_type, text)) = FILES.into_iter().find(|(own, ..)| *own == path) {
            return Some(content(content_type, Cow::Borrowed(text.as_bytes())));
        }
        let (content_type, text) = if path == SEARCH {
            let pages: Vec<_> = PLACES.iter().map(|place| self.page(place)).collect();
            ("application/json", search::index(&pages))
        } else {
            let place = PLACES.iter().find(|place| place.path == path)?;
            ("text/html; charset=utf-8", self.page(place).render())
        };
        Some(content(content_type, Cow::Owned(text.into_bytes())))
    }

    fn page(&self, place: &'static Place) -> frame::Page {
        match place.path {
            HOME => home::render(&self.document),
            GUIDE => guide::render(&self.document),
            ERRORS => errors::render(&self.document),
            CHANGELOG => changelog::render(&self.document),
            _ => reference::render(&self.document, place),
        }
    }
}

fn content(content_type: &'static str, body: Cow<'static, [u8]>) -> Content {
    Content {
        content_type,
        body,
        cache_control: "no-cache",
    }
}
