//! Reports of payment providers: `POST /hooks/stripe/{organization}`. Not from a page of ours, so no origin is asked; the
//! signature is. A report only says what to ask the provider.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bursar_app::online::Teller;
use bursar_app::{App, AppError};
use bursar_domain::ids::{IdSource, OrganizationId, RequestId};
use bursar_http::address::{TrustedProxies, client_address};
use bursar_http::body::{self, BadBody};
use bursar_http::limits::{Bucket, Limiter, Subject};
use bursar_http::reply::{self, Reply, stamp};
use bursar_http::request_log::{RequestLine, RequestLog};
use bursar_stripe::{report, signature};
use bursar_worker::Bell;
use hyper::body::Incoming;
use hyper::header::{ALLOW, HeaderValue, RETRY_AFTER};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use tokio::time::timeout;

/// The paths that are not the API's or the console's. They take writes from other sites.
const PREFIX: &str = "/hooks/";
const STRIPE: &str = "/hooks/stripe/";
/// A report with a large object is below this.
const BODY_MAX: usize = 512 << 10;
/// How long a report may take to arrive and to be written.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The same for an organization that does not exist, so that nobody learns which do.
const FORGED: &str = "the signature is not valid";

pub(crate) struct Hooks {
    pub(crate) app: App,
    pub(crate) teller: Teller,
    pub(crate) bell: Bell,
    pub(crate) ids: Mutex<IdSource>,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) trusted_proxies: TrustedProxies,
    pub(crate) request_log: RequestLog,
}

impl Hooks {
    pub(crate) fn is_path(path: &str) -> bool {
        path.starts_with(PREFIX)
    }

    pub(crate) async fn call(&self, parts: Parts, mut incoming: Incoming, peer: SocketAddr) -> Reply {
        let (started, now) = (Instant::now(), self.app.now());
        let request: RequestId = self.ids.lock().unwrap_or_else(PoisonError::into_inner).next(now);
        let answered = timeout(TIMEOUT, self.answer(&parts, &mut incoming, peer)).await;
        let mut reply = answered.unwrap_or_else(|_| unavailable());
        let id_text = request.to_string();
        stamp(&mut reply, &id_text);
        self.request_log.write(&RequestLine {
            at: &self.app.now(),
            request_id: &id_text,
            method: parts.method.as_str().get(..16).unwrap_or(parts.method.as_str()),
            route: "/hooks/stripe/{organization}",
            status: reply.status().as_u16(),
            took: started.elapsed(),
            organization: None,
            token: None,
        });
        body::discard(&mut incoming, &parts.headers).await;
        reply
    }

    async fn answer(&self, parts: &Parts, incoming: &mut Incoming, peer: SocketAddr) -> Reply {
        let Some(named) = parts.uri.path().strip_prefix(STRIPE) else {
            return told(StatusCode::NOT_FOUND, "there is nothing here");
        };
        if parts.method != Method::POST {
            let mut reply = told(StatusCode::METHOD_NOT_ALLOWED, "reports are sent by POST");
            reply
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("POST"));
            return reply;
        }
        let text = match body::read(incoming, &parts.headers, BODY_MAX).await {
            Ok(text) => text,
            Err(BadBody::TooLarge(_)) => {
                return told(StatusCode::PAYLOAD_TOO_LARGE, "the report is too large");
            }
            Err(BadBody::OtherType(rule) | BadBody::Broken(rule)) => {
                return told(StatusCode::BAD_REQUEST, rule);
            }
        };
        let header = parts.headers.get(signature::HEADER);
        let header = header
            .and_then(|value| value.to_str().ok())
            .unwrap_or("")
            .to_owned();
        let (teller, now, organization) = (self.teller.clone(), self.app.now(), OrganizationId::parse(named));
        let heard = tokio::task::spawn_blocking(move || -> Result<Option<bool>, AppError> {
            let Some(organization) = organization else {
                return Ok(None);
            };
            let secret = match teller.webhook_secret(organization) {
                Ok(secret) => secret,
                Err(AppError::Refused(refusal)) => {
                    tracing::warn!(%organization, %refusal, "a report of the payment provider cannot be verified");
                    None
                }
                Err(error) => return Err(error),
            };
            let is_valid = |secret: &String| signature::is_valid(&header, text.as_bytes(), secret, now);
            if !secret.as_ref().is_some_and(is_valid) {
                return Ok(None);
            }
            match report::read(text.as_bytes()) {
                Some(report) => teller.hear(organization, report).map(Some),
                None => Ok(Some(false)),
            }
        });
        match heard.await {
            Ok(Ok(Some(is_news))) => {
                if is_news {
                    self.bell.ring();
                }
                reply::json(200, r#"{"received":true}"#)
            }
            Ok(Ok(None)) => self.forged(parts, peer).await,
            Ok(Err(error)) => {
                tracing::warn!(%error, "a webhook of the payment provider failed; the provider retries it");
                unavailable()
            }
            Err(_) => unavailable(),
        }
    }

    /// Whoever guesses is slowed down. Stripe itself is never charged.
    async fn forged(&self, parts: &Parts, peer: SocketAddr) -> Reply {
        let address = client_address(peer.ip(), &parts.headers, &self.trusted_proxies);
        let subject = Subject::SignIn(address);
        let quota = match self.limiter.charge_now(subject, Bucket::Write, 1) {
            Some(quota) => quota,
            None => self.limiter.charge(subject, Bucket::Write, 1).await,
        };
        match quota.allowed {
            true => told(StatusCode::BAD_REQUEST, FORGED),
            false => {
                let mut reply = told(
                    StatusCode::TOO_MANY_REQUESTS,
                    "too many reports that are not signed",
                );
                let seconds = HeaderValue::from(u64::from(quota.reset_seconds));
                reply.headers_mut().insert(RETRY_AFTER, seconds);
                reply
            }
        }
    }
}

fn told(status: StatusCode, message: &str) -> Reply {
    let body = serde_json::json!({ "error": message }).to_string();
    reply::json(status.as_u16(), body)
}

fn unavailable() -> Reply {
    told(
        StatusCode::SERVICE_UNAVAILABLE,
        "the service is unavailable; send the report again",
    )
}
