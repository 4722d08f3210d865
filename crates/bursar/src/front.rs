//! One address for the API and the console: the path decides.

use std::net::SocketAddr;
use std::sync::Arc;

use bursar_api::serve::Edge;
use bursar_console::Console;
use bursar_http::framing::{self, BadHeader};
use bursar_http::listen::{Panicked, Service};
use bursar_http::reply::{self, Reply};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONNECTION, HeaderMap, HeaderValue, LOCATION};
use hyper::{Method, Request, Response, StatusCode, Version};

use crate::demo::cards::{self, Counter};
use crate::hooks::Hooks;

pub(crate) struct Front {
    pub(crate) api: Arc<Edge>,
    pub(crate) console: Arc<Console>,
    pub(crate) hooks: Arc<Hooks>,
    /// Payers' pages of the demo's card provider.
    pub(crate) cards: Option<Arc<Counter>>,
}

impl Service for Front {
    type Body = Full<Bytes>;

    async fn call(self: &Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> Reply {
        let path = request.uri().path();
        if path == "/" && request.method() == Method::GET && is_browser(request.headers()) {
            let mut reply = Response::new(Full::default());
            *reply.status_mut() = StatusCode::FOUND;
            let console = HeaderValue::from_static("/console");
            reply.headers_mut().insert(LOCATION, console);
            return reply;
        }
        let is_hook = Hooks::is_path(path);
        if let Some(cards) = self.cards.as_ref().filter(|_| path.starts_with(cards::PATH)) {
            let (parts, mut body) = request.into_parts();
            return cards.page(&parts, &mut body).await;
        }
        if !is_hook && !Console::is_path(path) {
            return self.api.call(request, peer).await;
        }
        let (parts, body) = request.into_parts();
        let framing = framing::check(&parts);
        // Where such a request ends is ambiguous, so the connection cannot be reused.
        let must_close = framing.is_err() && parts.version < Version::HTTP_2;
        let mut reply = match (is_hook, framing) {
            (true, Ok(())) => self.hooks.call(parts, body, peer).await,
            (true, Err(BadHeader(name, rule))) => {
                reply::json(400, format!("{{\"error\":\"{name} {rule}\"}}"))
            }
            // Boxed, because its state is several times that of the API, and every connection has room for both.
            (false, framing) => Box::pin(self.console.call(parts, body, peer, framing)).await,
        };
        if must_close {
            let close = HeaderValue::from_static("close");
            reply.headers_mut().insert(CONNECTION, close);
        }
        reply
    }

    fn on_panic(&self, panicked: Panicked) -> Reply {
        self.api.on_panic(panicked)
    }
}

fn is_browser(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In bytes. Every connection has room for one, and on HTTP/2 for one a stream.
    const STATE_MAX: usize = 4_096;

    fn state_of<F>(_: impl FnOnce(&'static Arc<Front>, Request<Incoming>, SocketAddr) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn a_request_keeps_little_state() {
        let bytes = state_of(|front, request, peer| front.call(request, peer));
        assert!(bytes <= STATE_MAX, "{bytes} bytes");
    }
}
