//! The HTTP edge: the headers, log line and metrics that every response gets, even after an early failure.

use std::fmt::Display;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bursar_app::{App, tokens as app_tokens};
use bursar_domain::Timestamp;
use bursar_domain::ids::{IdSource, RequestId};
use bursar_http::address::TrustedProxies;
use bursar_http::body;
use bursar_http::framing::{self, BadHeader};
use bursar_http::limits::Limiter;
use bursar_http::listen::{Panicked, Service, catch_panic};
use bursar_http::metrics::Metrics;
use bursar_http::reply::{Reply, stamp, strip_body};
use bursar_http::request_log::{RequestLine, RequestLog};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, Request as HttpRequest, Version};
use tokio::time::timeout;

use super::call::Call;
use super::error::Error;
use super::lookups::Lookups;
use super::ready::Readiness;
use super::reply;
use super::routes::Route;
use super::site::Site;

pub struct Edge {
    pub app: App,
    pub limiter: Arc<Limiter>,
    /// The start of every URL in responses.
    pub base_url: String,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: TrustedProxies,
    /// The one origin allowed by CORS.
    pub cors_origin: Option<HeaderValue>,
    /// In bytes.
    pub body_limit: usize,
    pub request_timeout: Duration,
    pub ids: Mutex<IdSource>,
    /// How long an idempotency key is remembered.
    pub idempotency_seconds: i64,
    /// Only for a database server.
    pub lookups: Option<Lookups>,
    pub metrics: Arc<Metrics>,
    pub request_log: RequestLog,
    /// When each token was last used.
    pub last_used: Arc<app_tokens::LastUsed>,
    /// False once the server is stopping.
    pub is_ready: AtomicBool,
    pub readiness: Readiness,
    pub site: Site,
    /// Called when something was added to the outbox.
    pub on_queued: Arc<dyn Fn() + Send + Sync>,
}

/// A client may send a method name of many kilobytes.
const LOGGED_METHOD_BYTES: usize = 16;

/// The name is ASCII, so it can be cut anywhere.
fn short(method: &str) -> &str {
    method.get(..LOGGED_METHOD_BYTES).unwrap_or(method)
}

impl Edge {
    /// Handles a request under `/v1`. Every path through it sets the same headers, writes one log line and counts once.
    async fn v1(
        self: &Arc<Self>,
        parts: Parts,
        mut incoming: Incoming,
        peer: SocketAddr,
        framing: Result<(), BadHeader>,
    ) -> Reply {
        let (started, _counted) = (Instant::now(), self.metrics.enter());
        let (now, request_id) = self.next_id();
        let id_text = request_id.to_string();
        let call = Arc::new(Call::new(parts, peer, now, request_id));
        let parts = &call.parts;
        let answered = if let Err(bad) = framing {
            Err(bad.into())
        } else if self.is_preflight(parts) {
            let quota = self.charge_address(&call).await;
            call.trace().quota = Some(quota);
            Ok(reply::preflight())
        } else {
            let work = pin!(self.api(&call, &mut incoming));
            match catch_panic(pin!(timeout(self.request_timeout, work))).await {
                Ok(Ok(Ok((answer, is_replay)))) => Ok(reply::answer(answer, is_replay)),
                Ok(Ok(Err(error))) => Err(error),
                Ok(Err(_)) => Err(Error::Unavailable("the request took too long".into())),
                Err(panicked) => Err(Error::Internal(panicked.to_string())),
            }
        };
        let mut reply = answered.unwrap_or_else(|error| {
            if let Some(cause) = error.cause() {
                tracing::error!(request_id = %request_id, cause, "a request failed");
            }
            reply::error(&error, request_id, &self.base_url)
        });
        let trace = std::mem::take(&mut *call.trace());
        // A request that failed before its charge is charged to its address, so that the headers are always there.
        let quota = match trace.quota {
            Some(quota) => quota,
            None => self.charge_address(&call).await,
        };
        self.limiter.write_headers(&quota, reply.headers_mut());
        stamp(&mut reply, &id_text);
        if let Some(origin) = self.allowed_origin(&parts.headers) {
            reply::allow_origin(&mut reply, origin);
        }
        let (status, took) = (reply.status().as_u16(), started.elapsed());
        self.metrics.count(trace.route.map(Route::place), status, took);
        self.request_log.write(&RequestLine {
            at: &self.app.now(),
            request_id: &id_text,
            method: short(parts.method.as_str()),
            route: trace.route.map_or("none", |route| route.path),
            status,
            took,
            organization: trace.organization.as_ref().map(|id| id as &dyn Display),
            token: trace.token.as_ref().map(|id| id as &dyn Display),
        });
        // Do not spend more time on a request that timed out.
        if status != 503 {
            body::discard(&mut incoming, &parts.headers).await;
        }
        if parts.method == Method::HEAD {
            strip_body(reply)
        } else {
            reply
        }
    }

    fn is_preflight(&self, parts: &Parts) -> bool {
        parts.method == Method::OPTIONS
            && parts.headers.contains_key("access-control-request-method")
            && self.allowed_origin(&parts.headers).is_some()
    }

    fn allowed_origin(&self, headers: &HeaderMap) -> Option<&HeaderValue> {
        self.cors_origin
            .as_ref()
            .filter(|origin| headers.get(ORIGIN) == Some(origin))
    }

    /// Handles a request outside `/v1`.
    async fn elsewhere(&self, parts: &Parts, framing: Result<(), BadHeader>) -> Reply {
        let (_, request_id) = self.next_id();
        let answered = match framing {
            Ok(()) => {
                let (method, path) = (&parts.method, parts.uri.path());
                self.site.answer(self, method, path, &parts.headers).await
            }
            Err(bad) => Err(bad.into()),
        };
        let mut reply = answered.unwrap_or_else(|error| reply::error(&error, request_id, &self.base_url));
        stamp(&mut reply, &request_id.to_string());
        if parts.method == Method::HEAD {
            strip_body(reply)
        } else {
            reply
        }
    }

    fn next_id(&self) -> (Timestamp, RequestId) {
        let now = self.app.now();
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        (now, ids.next(now))
    }

    pub fn takes_requests(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }
}

impl Service for Edge {
    type Body = http_body_util::Full<hyper::body::Bytes>;

    async fn call(self: &Arc<Self>, request: HttpRequest<Incoming>, peer: SocketAddr) -> Reply {
        let (parts, body) = request.into_parts();
        let framing = framing::check(&parts);
        // Where such a request ends is ambiguous, so the connection cannot be reused.
        let must_close = framing.is_err() && parts.version < Version::HTTP_2;
        let path = parts.uri.path();
        let mut reply = if path == "/v1" || path.starts_with("/v1/") {
            self.v1(parts, body, peer, framing).await
        } else {
            self.elsewhere(&parts, framing).await
        };
        if must_close {
            let close = HeaderValue::from_static("close");
            reply.headers_mut().insert(CONNECTION, close);
        }
        reply
    }

    fn on_panic(&self, panicked: Panicked) -> Reply {
        let (_, request_id) = self.next_id();
        tracing::error!(request_id = %request_id, cause = %panicked, "a request failed");
        reply::error(&Error::Internal(panicked.to_string()), request_id, &self.base_url)
    }
}
