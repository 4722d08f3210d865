//! The way of a request, in the order of the contract: each step answers before the next one looks.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::Poll;

use bursar_app::{Identity, TokenCaller, Visit, chapters};
use bursar_db::{DbError, Tx, idempotency};
use bursar_domain::Timestamp;
use bursar_domain::ids::RequestId;
use bursar_domain::text::percent_decoded;
use bursar_domain::token::{self, TokenHash};
use bursar_http::address::{client_address, counted};
use bursar_http::body::{self, BadBody};
use bursar_http::limits::{Bucket, Charge, Subject};
use hyper::Method;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, EXPECT, HeaderMap};
use hyper::http::request::Parts;

use super::error::Error;
use super::handlers;
use super::plan::{Answer, Plan, Request};
use super::query;
use super::routes::{self, BodyRule, Cost, KeyRule, Match, Route};
use super::serve::{Edge, Trace};
use super::writes::{WriteJob, replay};

/// A success, and whether it was a replay.
pub(super) type Done = (Answer, bool);

/// A request as it came, before anyone is asked about it.
struct Call<'a> {
    parts: &'a Parts,
    peer: SocketAddr,
    found: Match<'a>,
    /// Of a token of the right form: there is no look-up for any other.
    hash: Option<TokenHash>,
    /// The body, where it was there when the request was looked at. It is judged when its turn comes.
    body: Option<Result<String, BadBody>>,
    now: Timestamp,
}

/// A request that may be carried out once its body is read.
struct Admitted {
    route: &'static Route,
    request: Request,
    key: Option<String>,
    /// The key was looked up and found to be new.
    is_key_new: bool,
}

/// How far a request came.
enum Step {
    /// Its caller is known; the charge has to be waited for.
    Resolved(Option<TokenCaller>),
    /// It may be carried out.
    Admitted(Admitted),
    /// What it asks for is known.
    Planned(Admitted, Plan),
    /// It is done.
    Answered(Done),
}

impl Edge {
    /// The order of checks.
    pub(super) async fn api(
        &self,
        parts: &Parts,
        incoming: &mut Incoming,
        peer: SocketAddr,
        request_id: RequestId,
        trace: &mut Trace,
    ) -> Result<Done, Error> {
        // 1, 2. The request has its id; the route is looked up and the token resolved; neither answers yet.
        let mut call = Call {
            parts,
            peer,
            found: routes::find(&parts.method, parts.uri.path()),
            hash: None,
            body: None,
            now: (self.clock)(),
        };
        // What needs no token asks nobody about one.
        if !matches!(&call.found, Match::Found(route, _) if !route.needs_token) {
            call.hash = bearer(&parts.headers)
                .filter(|text| token::recognise(text).is_some())
                .map(token::hash);
        }
        let mut reading = match &call.found {
            Match::Found(route, _) if route.body != BodyRule::None => {
                Some(Box::pin(body::read(incoming, &parts.headers, self.body_limit)))
            }
            _ => None,
        };
        if let Some(reading) = reading.as_mut().filter(|_| !parts.headers.contains_key(EXPECT)) {
            call.body = if_there(reading).await;
        }
        let mut step = match self.in_one_read(&mut call, trace) {
            Some(step) => step?,
            None => Step::Resolved(self.resolve(&call, trace).await?),
        };
        // 3 to 6. The charge; 401, then 404 or 405; permission; path ids, query and key.
        if let Step::Resolved(caller) = step {
            let charge = self.charge(&call, caller.as_ref()).await;
            step = self.admit(&call, caller, charge, trace)?;
        }
        let (admitted, plan) = match step {
            Step::Answered(done) => return Ok(done),
            Step::Planned(admitted, plan) => (admitted, plan),
            Step::Admitted(mut admitted) => {
                // 6. The body.
                admitted.request.body = match (call.body, reading) {
                    (Some(read), _) => read?,
                    (None, Some(reading)) => reading.await?,
                    (None, None) => String::new(),
                };
                let plan = handlers::plan(admitted.route, &admitted.request)?;
                (admitted, plan)
            }
            Step::Resolved(_) => return Err(Error::Internal("a request was not admitted".into())),
        };
        // 7, 8. The idempotency key, and the operation.
        self.carry_out(plan, admitted, call.hash, request_id).await
    }

    /// As far as a request comes in one read of the database, where that is in this process: a read to its answer,
    /// and a write to the answer that its key already has, because nothing in between has to be waited for.
    fn in_one_read(&self, call: &mut Call<'_>, trace: &mut Trace) -> Option<Result<Step, Error>> {
        let hash = call.hash?;
        self.app.db().read_here(|tx| {
            let caller = self.recognise(TokenCaller::known(tx, &hash, call.now)?, call, trace);
            let Some(charge) = self.charge_now(call, caller.as_ref()) else {
                return Ok(Step::Resolved(caller));
            };
            let mut admitted = match self.admit(call, caller, charge, trace)? {
                Step::Admitted(admitted) => admitted,
                step => return Ok(step),
            };
            match call.body.take() {
                Some(read) => admitted.request.body = read?,
                None if admitted.route.body == BodyRule::None => {}
                None => return Ok(Step::Admitted(admitted)),
            }
            let plan = handlers::plan(admitted.route, &admitted.request)?;
            answer_here(tx, admitted, plan, self.keys_since(call.now))
        })
    }

    async fn resolve(&self, call: &Call<'_>, trace: &mut Trace) -> Result<Option<TokenCaller>, Error> {
        let Some(hash) = call.hash else {
            return Ok(None);
        };
        let address = client_address(call.peer.ip(), &call.parts.headers, &self.trusted_proxies);
        let left = self
            .limiter
            .left(Subject::Address(address), self.price(call, None).1);
        let turn = self.lookups.turn(&hash, counted(address), left).await;
        let now = call.now;
        let found = self
            .app
            .db()
            .read::<_, DbError>(move |tx| TokenCaller::known(tx, &hash, now))
            .await?;
        drop(turn);
        let caller = self.recognise(found, call, trace);
        self.lookups.learn(&hash, caller.is_some());
        Ok(caller)
    }

    /// The caller that was found, if the token and its owner are still in force.
    fn recognise(
        &self,
        found: Option<TokenCaller>,
        call: &Call<'_>,
        trace: &mut Trace,
    ) -> Option<TokenCaller> {
        let caller = found?;
        trace.organization = Some(caller.organization());
        trace.token = Some(caller.id());
        self.last_used.note(caller.organization(), caller.id(), call.now);
        Some(caller)
    }

    /// What is charged of whom.
    fn price(&self, call: &Call<'_>, caller: Option<&TokenCaller>) -> (Subject, Bucket, u32) {
        let (bucket, cost) = match &call.found {
            Match::Found(route, _) => (route.bucket, cost(route, call.parts.uri.query())),
            Match::OtherMethod(_) | Match::NoPath => (default_bucket(&call.parts.method), 1),
        };
        let by_token =
            caller.filter(|_| !matches!(&call.found, Match::Found(route, _) if !route.needs_token));
        let subject = match by_token {
            Some(caller) => Subject::Token(caller.id().to_bytes()),
            None => self.address(call.parts, call.peer),
        };
        (subject, bucket, cost)
    }

    fn address(&self, parts: &Parts, peer: SocketAddr) -> Subject {
        Subject::Address(client_address(peer.ip(), &parts.headers, &self.trusted_proxies))
    }

    fn charge_now(&self, call: &Call<'_>, caller: Option<&TokenCaller>) -> Option<Charge> {
        let (subject, bucket, cost) = self.price(call, caller);
        self.limiter.charge_now(subject, bucket, cost)
    }

    async fn charge(&self, call: &Call<'_>, caller: Option<&TokenCaller>) -> Charge {
        let (subject, bucket, cost) = self.price(call, caller);
        self.charge_subject(subject, bucket, cost).await
    }

    /// The charge of a request that is not looked at, or that broke off before its own.
    pub(super) async fn charge_address(&self, parts: &Parts, peer: SocketAddr) -> Charge {
        let subject = self.address(parts, peer);
        self.charge_subject(subject, default_bucket(&parts.method), 1)
            .await
    }

    async fn charge_subject(&self, subject: Subject, bucket: Bucket, cost: u32) -> Charge {
        match self.limiter.charge_now(subject, bucket, cost) {
            Some(charge) => charge,
            None => Box::pin(self.limiter.charge(subject, bucket, cost)).await,
        }
    }

    /// Everything between the charge and the body.
    fn admit(
        &self,
        call: &Call<'_>,
        caller: Option<TokenCaller>,
        charge: Charge,
        trace: &mut Trace,
    ) -> Result<Step, Error> {
        // 3. The charge.
        trace.charge = Some(charge);
        if let Match::Found(route, _) = &call.found {
            trace.route = Some(route);
        }
        if !charge.allowed {
            return Err(Error::RateLimited(charge));
        }
        // 4. 401; then 404 or 405.
        if let Match::Found(route, _) = &call.found
            && !route.needs_token
        {
            query::none(call.parts.uri.query())?;
            return Ok(Step::Answered(fresh(Answer::ok(self.site.document()))));
        }
        let caller = caller.ok_or(Error::InvalidToken)?;
        let (route, params) = match &call.found {
            Match::Found(route, params) => (*route, *params),
            Match::OtherMethod(allow) => return Err(Error::MethodNotAllowed(allow.clone())),
            Match::NoPath => return Err(Error::no_such("path; /docs lists those there are")),
        };
        // 5. Effective permission.
        caller.require(route.scopes)?;
        // 6. Validation: path ids, query, key; then the body.
        let request = open(route, call.parts, params, caller, call.now)?;
        handlers::check(route, &request)?;
        let key = if route.key == KeyRule::Ignored {
            None
        } else {
            idempotency_key(&call.parts.headers, route.key)?
        };
        Ok(Step::Admitted(Admitted {
            route,
            request,
            key,
            is_key_new: false,
        }))
    }

    async fn carry_out(
        &self,
        plan: Plan,
        admitted: Admitted,
        hash: Option<TokenHash>,
        request_id: RequestId,
    ) -> Result<Done, Error> {
        let Admitted {
            route,
            request: Request { caller, .. },
            key,
            is_key_new,
        } = admitted;
        match plan {
            Plan::Ready(answer) => Ok(fresh(answer)),
            Plan::Read(work) => self.app.db().read(work).await.map(fresh),
            Plan::Snapshot(work) => self.app.db().snapshot(work).await.map(fresh),
            Plan::Roster(chapter, work) => {
                let (answer, count) = self.app.db().snapshot(work).await?;
                let visit = Visit {
                    who: Identity::Token(hash.ok_or(Error::InvalidToken)?),
                    request: Some(request_id),
                };
                let logged = self.app.change(visit, chapter, move |whole| {
                    chapters::log_read(whole, chapter, count)
                });
                // The chapter must see the reading: without the line there is no answer.
                logged
                    .await
                    .map_err(|error| Error::Unavailable(error.to_string()))?;
                Ok(fresh(answer))
            }
            Plan::Write(fingerprint, work) => {
                let hash = hash.ok_or(Error::InvalidToken)?;
                let job = WriteJob {
                    route,
                    caller,
                    hash,
                    key,
                    is_key_new,
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
}

/// Answers a plain read in the read that it was admitted in, and a write whose key is known.
fn answer_here(
    tx: &mut Tx<'_>,
    mut admitted: Admitted,
    plan: Plan,
    keys_since: Timestamp,
) -> Result<Step, Error> {
    match plan {
        Plan::Ready(answer) => Ok(Step::Answered(fresh(answer))),
        Plan::Read(work) | Plan::Snapshot(work) => work(tx).map(fresh).map(Step::Answered),
        Plan::Roster(..) => Ok(Step::Planned(admitted, plan)),
        Plan::Write(fingerprint, _) => {
            if let Some(key) = &admitted.key {
                let caller = &admitted.request.caller;
                let (organization, principal) = (caller.organization(), caller.principal());
                if let Some(record) = idempotency::get(tx, organization, principal, key, keys_since)? {
                    return replay(record, fingerprint).map(Step::Answered);
                }
                admitted.is_key_new = true;
            }
            Ok(Step::Planned(admitted, plan))
        }
    }
}

fn fresh(answer: Answer) -> Done {
    (answer, false)
}

/// What a future gives if it need not wait. It is asked twice, because a connection reads a body only once it is
/// wanted.
async fn if_there<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    let mut is_second = false;
    std::future::poll_fn(|context| match Pin::new(&mut *future).poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if is_second => Poll::Ready(None),
        Poll::Pending => {
            is_second = true;
            context.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await
}

/// The token's text, from the one place it may be in.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (values.next()?, values.next());
    let (scheme, token) = first.to_str().ok()?.split_once(' ')?;
    (second.is_none() && scheme.eq_ignore_ascii_case("bearer")).then(|| token.trim_start_matches(' '))
}

fn open(
    route: &'static Route,
    parts: &Parts,
    params: [&str; 2],
    caller: TokenCaller,
    now: Timestamp,
) -> Result<Request, Error> {
    // What cannot be decoded cannot be an id.
    let decoded = |text: &str| match percent_decoded(text) {
        Some(text) => Ok(text.into_owned()),
        None => Err(Error::no_such("path")),
    };
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
