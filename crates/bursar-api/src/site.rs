//! Everything served beside the API: health, docs pages and the OpenAPI document.

use std::collections::HashMap;
use std::sync::OnceLock;

use bursar_http::reply::{self, Reply};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue, LOCATION};
use hyper::{Method, Response, StatusCode};
use serde_json::json;

use super::error::Error;
use super::page::Page;
use super::pages::{self, Pages};
use super::serve::Edge;
use super::{openapi, ready};

/// Content that is the same for everyone. A page is made when it is first requested, because making all of them would
/// delay every start. Responses share the bytes, so a slow client holds no copy.
#[derive(Debug)]
pub struct Site {
    base_url: String,
    document: OnceLock<Bytes>,
    pages: OnceLock<Pages>,
    made: HashMap<&'static str, OnceLock<Page>>,
}

impl Site {
    pub fn new(base_url: &str) -> Self {
        Self {
            base_url: base_url.to_owned(),
            document: OnceLock::new(),
            pages: OnceLock::new(),
            made: Pages::paths().map(|path| (path, OnceLock::new())).collect(),
        }
    }

    pub fn document(&self) -> Bytes {
        let made = || Bytes::from(openapi::document(&self.base_url).to_string());
        self.document.get_or_init(made).clone()
    }

    /// Handles a request outside `/v1`.
    pub async fn answer(
        &self,
        edge: &Edge,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<Reply, Error> {
        let known = matches!(path, "/" | "/healthz" | "/readyz") || self.page_at(path).is_some();
        if !known {
            return Err(Error::no_such("page; /docs is the way in"));
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(Error::MethodNotAllowed(vec!["GET", "HEAD"]));
        }
        match path {
            "/" => Ok(redirect(pages::HOME)),
            "/healthz" => Ok(reply::json(200, json!({ "status": "ok" }).to_string())),
            "/readyz" => Ok(ready::answer(edge).await),
            _ => match self.page_at(path) {
                Some(exact) if exact != path => Ok(redirect(exact)),
                exact => match exact.and_then(|exact| self.page(exact)) {
                    Some(page) => Ok(page.answer(headers)),
                    None => Err(Error::no_such("page")),
                },
            },
        }
    }

    /// The exact path of a page: people type a trailing slash.
    fn page_at(&self, path: &str) -> Option<&'static str> {
        let exact = path.strip_suffix('/').unwrap_or(path);
        self.made.get_key_value(exact).map(|(exact, _)| *exact)
    }

    fn page(&self, path: &str) -> Option<&Page> {
        let made = self.made.get(path)?;
        if made.get().is_none() {
            let pages = self.pages.get_or_init(|| Pages::new(&self.base_url));
            let page = Page::new(pages.content(path)?);
            return Some(made.get_or_init(|| page));
        }
        made.get()
    }
}

fn redirect(to: &'static str) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = StatusCode::FOUND;
    reply.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    reply
}
