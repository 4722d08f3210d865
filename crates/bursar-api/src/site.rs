//! Everything served beside the API: health, docs pages and the OpenAPI document.

use std::collections::HashMap;

use bursar_http::reply::{self, Reply};
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue, LOCATION};
use hyper::{Method, Response, StatusCode};
use serde_json::json;

use super::error::Error;
use super::page::Page;
use super::serve::Edge;
use super::{openapi, pages, ready};

/// Content that is the same for everyone, rendered once. Responses share the bytes, so a slow client holds no copy.
#[derive(Debug)]
pub struct Site {
    document: Bytes,
    pages: HashMap<&'static str, Page>,
}

impl Site {
    pub fn new(base_url: &str) -> Self {
        let pages = pages::all(base_url);
        Self {
            document: Bytes::from(openapi::document(base_url).to_string()),
            pages: pages
                .into_iter()
                .map(|(path, content)| (path, Page::new(content)))
                .collect(),
        }
    }

    pub fn document(&self) -> Bytes {
        self.document.clone()
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
                Some((exact, page)) if exact == path => Ok(page.answer(headers)),
                Some((exact, _)) => Ok(redirect(exact)),
                None => Err(Error::no_such("page")),
            },
        }
    }

    /// Also returns the exact path: people type a trailing slash.
    fn page_at(&self, path: &str) -> Option<(&'static str, &Page)> {
        let exact = path.strip_suffix('/').unwrap_or(path);
        self.pages
            .get_key_value(exact)
            .map(|(exact, page)| (*exact, page))
    }
}

fn redirect(to: &'static str) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = StatusCode::FOUND;
    reply.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    reply
}
