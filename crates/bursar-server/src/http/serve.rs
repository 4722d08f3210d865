//! The way of a request, in the order of the contract: each step answers before the next one looks.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bursar_app::{Act, Actor, Context, chapters, tokens as app_tokens};
use bursar_db::idempotency::{self, Record};
use bursar_db::tokens::{self, Caller};
use bursar_db::{Db, DbError};
use bursar_domain::Timestamp;
use bursar_domain::access::effective;
use bursar_domain::ids::{IdSource, OrganizationId, RequestId, TokenId};
use bursar_domain::token::{self, TokenHash};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, Request as HttpRequest};
use tokio::time::timeout;

use super::address::{TrustedProxies, client_address};
use super::error::Error;
use super::handlers;
use super::inflight::InFlight;
use super::limits::{Bucket, Charge, Limiter, Subject};
use super::listen::{Panicked, Service, catch_panic};
use super::log::{Line, RequestLog};
use super::metrics::Metrics;
use super::plan::{Answer, Plan, Request, Write};
use super::query::{self, percent_decode};
use super::reply::{self, Reply};
use super::routes::{self, BodyRule, Cost, KeyRule, Match, Route};
use super::site::Site;

/// Tells the time.
pub type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What the edge is made of.
pub struct Edge {
    /// The database.
    pub db: Db,
    /// The rate limits.
    pub limiter: Limiter,
    /// What addresses in answers start with.
    pub base_url: String,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: TrustedProxies,
    /// The one origin whose pages may call.
    pub cors_origin: Option<HeaderValue>,
    /// Bytes of a body.
    pub body_limit: usize,
    /// For a whole request.
    pub request_timeout: Duration,
    /// Tells the time.
    pub clock: WallClock,
    /// Makes ids.
    pub ids: Mutex<IdSource>,
    /// Keys whose first request is running.
    pub in_flight: InFlight,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// What is logged of each request.
    pub request_log: RequestLog,
    /// When tokens were last used.
    pub last_used: Arc<app_tokens::LastUsed>,
    /// False once the server is told to stop.
    pub is_ready: AtomicBool,
    /// Pages, health and the API's document.
    pub site: Site,
    /// Called when something was put into the outbox.
    pub on_queued: Arc<dyn Fn() + Send + Sync>,
}

/// What is known of a request when it is answered, however far it came.
#[derive(Default)]
struct Trace {
    route: Option<&'static Route>,
    organization: Option<OrganizationId>,
    token: Option<TokenId>,
    charge: Option<Charge>,
}

/// A success, and whether it was a replay.
type Done = (Answer, bool);

impl Edge {
    /// The order of checks.
    async fn api(
        &self,
        parts: &Parts,
        body: &mut Incoming,
        peer: SocketAddr,
        request_id: RequestId,
        trace: &mut Trace,
    ) -> Result<Done, Error> {
        // 1, 2. The request has its id; the route is looked up and the token resolved; neither answers yet.
        let now = (self.clock)();
        let found = routes::find(&parts.method, parts.uri.path());
        let presented = bearer(&parts.headers);
        let caller = self.authenticate(presented, now, trace).await?;
        // 3. The charge.
        let charge = self.charge(parts, peer, &found, caller.as_deref()).await;
        trace.charge = Some(charge);
        trace.route = if let Match::Found(route, _) = &found {
            Some(route)
        } else {
            None
        };
        if !charge.allowed {
            return Err(Error::RateLimited(charge));
        }
        // 4. 401; then 404 or 405.
        if let Match::Found(route, _) = &found
            && !route.needs_token
        {
            query::none(parts.uri.query())?;
            return Ok((Answer::ok(self.site.document().to_owned()), false));
        }
        let caller = caller.ok_or(Error::InvalidToken)?;
        let (route, params) = match found {
            Match::Found(route, params) => (route, params),
            Match::OtherMethod(allow) => return Err(Error::MethodNotAllowed(allow)),
            Match::NoPath => return Err(Error::no_such("path; /docs lists those there are")),
        };
        // 5. Effective permission.
        authorize(route, &caller, now)?;
        // 6. Validation: path ids, query, key, body.
        let mut request = open(route, parts, params, Arc::clone(&caller), now)?;
        handlers::check(route, &request)?;
        let key = if route.key == KeyRule::Ignored {
            None
        } else {
            idempotency_key(&parts.headers, route.key)?
        };
        if route.body != BodyRule::None {
            request.body = Box::pin(super::body::read(body, &parts.headers, self.body_limit)).await?;
        }
        let plan = handlers::plan(route, &request)?;
        // 7, 8. The idempotency key, and the operation.
        self.carry_out(plan, route, &caller, presented, key, request_id)
            .await
    }

    /// One look-up for a token of the right form; none for any other.
    async fn authenticate(
        &self,
        presented: Option<&str>,
        now: Timestamp,
        trace: &mut Trace,
    ) -> Result<Option<Arc<Caller>>, Error> {
        let Some(hash) = presented
            .filter(|text| token::recognise(text).is_some())
            .map(token::hash)
        else {
            return Ok(None);
        };
        let found = self
            .db
            .read::<_, DbError>(move |tx| tokens::known_caller(tx, &hash))
            .await?;
        let Some(caller) = found.filter(|caller| caller.role_at(now).is_some()) else {
            return Ok(None);
        };
        trace.organization = Some(caller.token.organization_id);
        trace.token = Some(caller.token.id);
        self.last_used
            .note(caller.token.organization_id, caller.token.id, now);
        Ok(Some(caller))
    }

    async fn charge(
        &self,
        parts: &Parts,
        peer: SocketAddr,
        found: &Match<'_>,
        caller: Option<&Caller>,
    ) -> Charge {
        let (bucket, cost) = match found {
            Match::Found(route, _) => (route.bucket, cost(route, parts.uri.query())),
            Match::OtherMethod(_) | Match::NoPath => (default_bucket(&parts.method), 1),
        };
        let by_token = caller.filter(|_| !matches!(found, Match::Found(route, _) if !route.needs_token));
        let subject = match by_token {
            Some(caller) => Subject::Token(caller.token.id.to_bytes()),
            None => Subject::Address(client_address(peer.ip(), &parts.headers, &self.trusted_proxies)),
        };
        match self.limiter.charge_now(subject, bucket, cost) {
            Some(charge) => charge,
            None => Box::pin(self.limiter.charge(subject, bucket, cost)).await,
        }
    }

    async fn carry_out(
        &self,
        plan: Plan,
        route: &'static Route,
        caller: &Arc<Caller>,
        presented: Option<&str>,
        key: Option<String>,
        request_id: RequestId,
    ) -> Result<Done, Error> {
        let fresh = |answer| (answer, false);
        match plan {
            Plan::Ready(answer) => Ok(fresh(answer)),
            Plan::Read(work) => self.db.read(work).await.map(fresh),
            Plan::Snapshot(work) => self.db.snapshot(work).await.map(fresh),
            Plan::Roster(chapter, work) => {
                let (answer, count) = self.db.snapshot(work).await?;
                let mut context = self.context(caller, request_id);
                let logged = self.db.write(chapter.to_bytes(), move |tx| {
                    chapters::log_read(tx, &mut context, chapter, count)
                });
                // The chapter must see the reading: without the line there is no answer.
                logged
                    .await
                    .map_err(|error| Error::Unavailable(error.to_string()))?;
                Ok(fresh(answer))
            }
            Plan::Write(fingerprint, work) => {
                let hash = presented.map(token::hash).ok_or(Error::InvalidToken)?;
                let job = WriteJob {
                    route,
                    caller,
                    hash,
                    key,
                    fingerprint,
                    work,
                    request_id,
                };
                // Boxed, so that a read does not carry the room for a write.
                let done = Box::pin(self.write(job)).await?;
                if route.bucket == Bucket::Messaging && !done.1 {
                    (self.on_queued)();
                }
                Ok(done)
            }
        }
    }

    async fn write(&self, job: WriteJob<'_>) -> Result<Done, Error> {
        let WriteJob {
            route,
            caller,
            hash,
            key,
            fingerprint,
            mut work,
            request_id,
        } = job;
        let (organization, principal) = (caller.token.organization_id, caller.principal());
        let _held = match &key {
            None => None,
            Some(key) => {
                let held = self
                    .in_flight
                    .take(organization.to_bytes(), principal, key)
                    .await
                    .ok_or(Error::KeyInUse)?;
                let name = key.clone();
                let known = self
                    .db
                    .read::<_, DbError>(move |tx| idempotency::get(tx, organization, principal, &name))
                    .await?;
                if let Some(record) = known {
                    return replay(record, fingerprint);
                }
                Some(held)
            }
        };
        let mut context = self.context(caller, request_id);
        let clock = Arc::clone(&self.clock);
        let written = self.db.write(organization.to_bytes(), move |tx| {
            context.now = clock();
            let now = context.now;
            Act::run(tx, &mut context, organization, |act| {
                // What was looked up before may have changed: a revoked token, a lowered role, the same key.
                let caller = tokens::caller(act.tx, &hash)?.filter(|caller| caller.role_at(now).is_some());
                let caller = caller.ok_or(Error::InvalidToken)?;
                authorize(route, &caller, now)?;
                if let Some(key) = &key
                    && let Some(record) = idempotency::get(act.tx, organization, principal, key)?
                {
                    return replay(record, fingerprint);
                }
                let answer = work(act, &caller)?;
                if let Some(key) = &key {
                    let record = Record {
                        fingerprint,
                        status: answer.status,
                        body: String::from_utf8_lossy(&answer.body).into_owned(),
                    };
                    idempotency::insert(act.tx, organization, principal, key, &record, now)?;
                }
                Ok((answer, false))
            })
        });
        written.await
    }

    fn context(&self, caller: &Caller, request_id: RequestId) -> Context {
        let ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner).fork();
        let actor = Actor::Token(caller.token.id, caller.token.organization_id);
        Context {
            now: (self.clock)(),
            ids,
            actor,
            request_id: Some(request_id),
        }
    }

    /// Answers a request below `/v1`: every way out has the same headers, one log line and one count.
    async fn v1(&self, parts: &Parts, mut body: Incoming, peer: SocketAddr) -> Reply {
        let (started, _counted) = (Instant::now(), self.metrics.enter());
        let request_id = self
            .ids
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next((self.clock)());
        let mut trace = Trace::default();
        let answered = if self.is_preflight(parts) {
            trace.charge = Some(self.charge(parts, peer, &Match::NoPath, None).await);
            Ok(reply::preflight())
        } else {
            let work = pin!(self.api(parts, &mut body, peer, request_id, &mut trace));
            match catch_panic(pin!(timeout(self.request_timeout, work))).await {
                Ok(Ok(Ok((answer, is_replay)))) => Ok(reply::answer(answer, is_replay)),
                Ok(Ok(Err(error))) => Err(error),
                Ok(Err(_)) => Err(Error::Unavailable("the request took too long".into())),
                Err(panicked) => Err(Error::Internal(panicked.to_string())),
            }
        };
        let mut reply = match &answered {
            Ok(_) => None,
            Err(error) => {
                if let Some(cause) = error.cause() {
                    tracing::error!(request_id = %request_id, cause, "a request failed");
                }
                Some(reply::error(error, request_id, &self.base_url))
            }
        }
        .or_else(|| answered.ok())
        .unwrap_or_else(|| reply::json(500, String::new()));
        // Where the request broke off before its charge, its address pays, so that the headers are there.
        let charge = match trace.charge {
            Some(charge) => charge,
            None => self.charge(parts, peer, &Match::NoPath, None).await,
        };
        self.limiter.write_headers(&charge, reply.headers_mut());
        reply::stamp(&mut reply, request_id);
        if let Some(origin) = self.allowed_origin(&parts.headers) {
            reply::allow_origin(&mut reply, origin);
        }
        let (status, took) = (reply.status().as_u16(), started.elapsed());
        self.metrics.count(trace.route, status, took);
        self.request_log.write(&Line {
            at: (self.clock)(),
            request_id,
            method: parts.method.as_str(),
            route: trace.route.map_or("none", |route| route.path),
            status,
            took,
            organization: trace.organization,
            token: trace.token,
        });
        // A request that took too long has had its time.
        if status != 503 {
            super::body::discard(&mut body, &parts.headers).await;
        }
        if parts.method == Method::HEAD {
            reply::strip_body(reply)
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

    /// Answers a request outside of the API.
    async fn elsewhere(&self, parts: &Parts) -> Reply {
        let request_id: RequestId = self
            .ids
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next((self.clock)());
        let mut reply = match self.site.answer(self, &parts.method, parts.uri.path()).await {
            Ok(reply) => reply,
            Err(error) => reply::error(&error, request_id, &self.base_url),
        };
        reply::stamp(&mut reply, request_id);
        if parts.method == Method::HEAD {
            reply::strip_body(reply)
        } else {
            reply
        }
    }

    /// Whether the server takes requests.
    pub fn takes_requests(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }
}

struct WriteJob<'a> {
    route: &'static Route,
    caller: &'a Arc<Caller>,
    hash: TokenHash,
    key: Option<String>,
    fingerprint: [u8; 32],
    work: Write,
    request_id: RequestId,
}

impl Service for Edge {
    type Body = http_body_util::Full<hyper::body::Bytes>;

    async fn call(&self, request: HttpRequest<Incoming>, peer: SocketAddr) -> Reply {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path();
        if path == "/v1" || path.starts_with("/v1/") {
            self.v1(&parts, body, peer).await
        } else {
            self.elsewhere(&parts).await
        }
    }

    fn on_panic(&self, panicked: Panicked) -> Reply {
        let request_id = self
            .ids
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next((self.clock)());
        tracing::error!(request_id = %request_id, cause = %panicked, "a request failed");
        reply::error(&Error::Internal(panicked.to_string()), request_id, &self.base_url)
    }
}

/// The token's text, from the one place it may be in.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (values.next()?, values.next());
    let (scheme, token) = first.to_str().ok()?.split_once(' ')?;
    (second.is_none() && scheme.eq_ignore_ascii_case("bearer")).then(|| token.trim_start_matches(' '))
}

/// Granted scopes ∩ role ceiling ∩ policy must have all that the endpoint needs.
fn authorize(route: &Route, caller: &Caller, now: Timestamp) -> Result<(), Error> {
    let role = caller.role_at(now).ok_or(Error::InvalidToken)?;
    let granted = caller.token.scopes;
    if effective(granted, role, caller.policy).covers(route.scopes) {
        return Ok(());
    }
    let message = app_tokens::why_withheld(caller.token.kind, route.scopes, granted, role, caller.policy);
    Err(Error::InsufficientScope {
        required: route.scopes,
        message,
    })
}

fn open(
    route: &'static Route,
    parts: &Parts,
    params: [&str; 2],
    caller: Arc<Caller>,
    now: Timestamp,
) -> Result<Request, Error> {
    // What cannot be decoded cannot be an id.
    let decoded = |text: &str| percent_decode(text).ok_or_else(|| Error::no_such("path"));
    Ok(Request {
        caller,
        params: [decoded(params[0])?, decoded(params[1])?],
        path: decoded(parts.uri.path())?,
        method: route.method.as_str(),
        query: parts.uri.query().map(str::to_owned),
        body: String::new(),
        now,
    })
}

fn idempotency_key(headers: &HeaderMap, rule: KeyRule) -> Result<Option<String>, Error> {
    let mut values = headers.get_all("idempotency-key").iter();
    match (values.next(), values.next()) {
        (None, _) if rule == KeyRule::Required => Err(Error::KeyRequired),
        (None, _) => Ok(None),
        (Some(value), None) if value.is_empty() => Err(Error::KeyRequired),
        (Some(value), None)
            if value.len() <= 255 && value.as_bytes().iter().all(|b| (0x21..=0x7e).contains(b)) =>
        {
            Ok(value.to_str().ok().map(str::to_owned))
        }
        (Some(_), _) => Err(Error::KeyInvalid),
    }
}

/// The original answer again, if the parameters are the same.
fn replay(record: Record, fingerprint: [u8; 32]) -> Result<Done, Error> {
    if record.fingerprint != fingerprint {
        return Err(Error::KeyReused);
    }
    Ok((
        Answer {
            status: record.status,
            body: record.body.into(),
        },
        true,
    ))
}

fn cost(route: &Route, query: Option<&str>) -> u32 {
    match route.cost {
        Cost::One => 1,
        Cost::PerRowsAsked => {
            let rules = handlers::list_rules(route.operation).unwrap_or_default();
            query::list(query, &rules).map_or(1, |query| {
                u32::try_from(query.limit.rows().div_ceil(25)).unwrap_or(1)
            })
        }
    }
}

fn default_bucket(method: &Method) -> Bucket {
    if *method == Method::GET || *method == Method::HEAD {
        Bucket::Read
    } else {
        Bucket::Write
    }
}
