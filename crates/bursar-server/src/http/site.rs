//! What is served beside the API: health, the docs pages, and the API's document.

use std::borrow::Cow;
use std::collections::HashMap;

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, LOCATION, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{Method, Response, StatusCode};
use serde_json::json;

use super::error::Error;
use super::limits::BackendState;
use super::reply::{self, Reply};
use super::serve::Edge;
use super::{openapi, pages};

/// The pages, rendered once for the base URL.
#[derive(Debug)]
pub struct Site {
    document: String,
    pages: HashMap<&'static str, (&'static str, Bytes)>,
}

/// Everything of a page comes from this server.
const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

impl Site {
    /// Renders everything.
    pub fn new(base_url: &str) -> Self {
        let document = openapi::document(base_url);
        let render = |path: &&'static str| {
            let page = pages::page(path, base_url)?;
            let body = match page.body {
                Cow::Borrowed(bytes) => Bytes::from_static(bytes),
                Cow::Owned(bytes) => Bytes::from(bytes),
            };
            Some((*path, (page.content_type, body)))
        };
        Self {
            document: document.to_string(),
            pages: pages::PATHS.iter().filter_map(render).collect(),
        }
    }

    /// The OpenAPI document.
    pub fn document(&self) -> &str {
        &self.document
    }

    /// Answers a request outside of `/v1`.
    pub async fn answer(&self, edge: &Edge, method: &Method, path: &str) -> Result<Reply, Error> {
        let known = matches!(path, "/" | "/healthz" | "/readyz") || self.pages.contains_key(path);
        if !known {
            return Err(Error::no_such("page; /docs is the way in"));
        }
        if !matches!(*method, Method::GET | Method::HEAD) {
            return Err(Error::MethodNotAllowed(vec!["GET", "HEAD"]));
        }
        match path {
            "/" => Ok(redirect(pages::HOME)),
            "/healthz" => Ok(reply::json(200, json!({ "status": "ok" }).to_string())),
            "/readyz" => Ok(ready(edge).await),
            _ => self
                .pages
                .get(path)
                .map(|(kind, body)| page(kind, body))
                .ok_or_else(|| Error::no_such("page")),
        }
    }
}

fn page(kind: &'static str, body: &Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body.clone()));
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(CSP));
    reply
}

fn redirect(to: &'static str) -> Reply {
    let mut reply = Response::new(Full::default());
    *reply.status_mut() = StatusCode::FOUND;
    reply.headers_mut().insert(LOCATION, HeaderValue::from_static(to));
    reply
}

/// Ready means: not told to stop, the database answers, and its schema is this binary's. Redis may be away: the
/// API keeps serving and counts in the process.
async fn ready(edge: &Edge) -> Reply {
    let database = match edge.db.schema_version().await {
        Ok(version) if version == bursar_db::schema_version() => "ok",
        Ok(_) => "another schema",
        Err(_) => "away",
    };
    let limits = match edge.limiter.backend_state() {
        BackendState::Local => "local",
        BackendState::Shared => "redis",
        BackendState::Away => "redis is away, counted locally",
    };
    let is_ready = edge.takes_requests() && database == "ok";
    let status = if is_ready { "ready" } else { "not ready" };
    let stopping = !edge.takes_requests();
    let body = json!({ "status": status, "database": database, "rateLimits": limits, "stopping": stopping });
    reply::json(if is_ready { 200 } else { 503 }, body.to_string())
}
