//! The steps of a request, in the order of the contract: a step responds before the next one runs.
//!
//! They are the same on both engines. Everything that fits in one read of the database runs in it: on SQLite on this
//! thread, on PostgreSQL on a reader thread. The read ends only where something has to be waited for.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bursar_app::{AppError, Identity, Next, Once, Rule, TokenCaller, View, Visit, Whole, chapters};
use bursar_domain::ids::OrganizationId;
use bursar_domain::token::TokenHash;
use bursar_http::address::{client_address, counted};
use bursar_http::body::{self, BadBody};
use bursar_http::limits::{BackendState, Bucket, Quota, Subject};
use hyper::body::Incoming;
use hyper::header::EXPECT;
use tokio::time::timeout;

use super::call::{Call, default_bucket};
use super::error::Error;
use super::handlers;
use super::plan::{Answer, Plan, Reading, Request, Write};
use super::query;
use super::routes::{BodyRule, Handler, Match, Route, Work};
use super::serve::Edge;

/// How long a second request with the same idempotency key waits for the first.
const SECOND_WAITS: Duration = Duration::from_secs(2);

/// A success, and whether it is a replay.
pub(super) type Done = (Answer, bool);

type Read = Result<String, BadBody>;

/// How far a request came.
enum Step {
    /// No token, or an invalid one.
    Unknown,
    /// The caller is known; the charge must wait for Redis.
    Known(TokenCaller, Visit, Option<Read>),
    /// Permitted and valid, but the body is not read yet.
    Admitted(Admitted),
    /// The work is known; it needs another read of the database for this caller.
    Planned(TokenCaller, Look),
    /// The page was read; the read is not logged yet.
    Roster(Visit, OrganizationId, Answer, usize),
    /// A write whose key is new, or that has no key.
    Change(Change),
    Done(Done),
}

struct Admitted {
    visit: Visit,
    rule: &'static Rule,
    handler: Handler,
    request: Request,
    key: Option<String>,
}

enum Look {
    Plain(Reading<Answer>),
    Roster(Visit, OrganizationId, Reading<(Answer, usize)>),
    /// Looks up the idempotency key of a change.
    Key(Change),
}

struct Change {
    route: &'static Route,
    rule: &'static Rule,
    visit: Visit,
    organization: OrganizationId,
    once: Option<Once>,
    work: Write,
}

impl Edge {
    pub(super) async fn api(
        self: &Arc<Self>,
        call: &Arc<Call>,
        incoming: &mut Incoming,
    ) -> Result<Done, Error> {
        // Steps 1 and 2 (request id, route, token) never respond by themselves.
        let headers = &call.parts.headers;
        let mut reading = match &call.found {
            Match::Found(route, _) if route.body != BodyRule::None => {
                Some(Box::pin(body::read(incoming, headers, self.body_limit)))
            }
            _ => None,
        };
        let read = match &mut reading {
            None => Some(Ok(String::new())),
            Some(reading) if !headers.contains_key(EXPECT) => if_there(reading).await,
            Some(_) => None,
        };
        let mut step = match call.hash {
            None => Step::Unknown,
            Some(hash) => self.look_up(call, hash, read).await?,
        };
        // Steps 3 to 8, as far as the look-up did not do them. Writes are boxed to keep the future of a read small.
        loop {
            step = match step {
                Step::Unknown => return self.answer_unknown(call).await,
                Step::Known(caller, visit, read) => {
                    let quota = self.charge(self.payer(call, Some(&caller)), call.price()).await;
                    self.admit(call, caller, visit, quota, read)?
                }
                Step::Admitted(admitted) => {
                    let body = match reading.take() {
                        Some(reading) => reading.await?,
                        None => String::new(),
                    };
                    admitted.plan(body, self.idempotency_seconds)?
                }
                Step::Planned(caller, look) => {
                    let look = move |mut view: View<'_, '_>| look.answer(&mut view);
                    self.app.ask_again(caller, call.now, look).await?
                }
                Step::Roster(visit, chapter, answer, count) => {
                    let log = move |whole: &mut Whole<'_, '_>| chapters::log_read(whole, chapter, count);
                    // The chapter must see every read of its roster: if it cannot be logged, the response is not sent.
                    let logged = self.app.change(visit, chapter, log).await;
                    logged.map_err(|error: AppError| Error::Unavailable(error.to_string()))?;
                    return Ok((answer, false));
                }
                Step::Change(change) => {
                    return Box::pin(self.change(change, call.next_of_work())).await;
                }
                Step::Done(done) => return Ok(done),
            }
        }
    }

    /// Looks up the caller and continues in the same read until something has to be waited for: a read until its
    /// response, a write until the recorded response of its key.
    async fn look_up(
        self: &Arc<Self>,
        call: &Arc<Call>,
        hash: TokenHash,
        read: Option<Read>,
    ) -> Result<Step, Error> {
        let _turn = match &self.lookups {
            None => None,
            Some(lookups) => {
                let address = client_address(call.peer.ip(), &call.parts.headers, &self.trusted_proxies);
                let left = self.limiter.left(Subject::Address(address), call.price().0);
                Some(lookups.turn(&hash, counted(address), left).await)
            }
        };
        // Only a database server is asked ahead. A charge that waits for Redis comes before the work, and its answer may
        // be that there is none.
        let next = match self.limiter.backend_state() {
            BackendState::Local | BackendState::Away if self.lookups.is_some() => {
                call.next(self.idempotency_seconds)
            }
            BackendState::Local | BackendState::Away | BackendState::Shared => None,
        };
        let (edge, call, now) = (Arc::clone(self), Arc::clone(call), call.now);
        let asked = self.app.ask(hash, now, next, move |found| {
            if let Some(lookups) = &edge.lookups {
                lookups.learn(&hash, found.is_some());
            }
            let Some((caller, mut view)) = found else {
                return Ok(Step::Unknown);
            };
            {
                let mut trace = call.trace();
                trace.organization = Some(caller.organization());
                trace.token = Some(caller.id());
            }
            edge.last_used.note(caller.organization(), caller.id(), now);
            let visit = Visit {
                who: Identity::Token(hash),
                request: Some(call.id),
            };
            let (bucket, cost) = call.price();
            match edge
                .limiter
                .charge_now(edge.payer(&call, Some(&caller)), bucket, cost)
            {
                None => Ok(Step::Known(caller, visit, read)),
                Some(quota) => match edge.admit(&call, caller, visit, quota, read)? {
                    Step::Planned(_, look) => look.answer(&mut view),
                    step => Ok(step),
                },
            }
        });
        asked.await
    }

    /// A known token, otherwise the client's address.
    fn payer(&self, call: &Call, caller: Option<&TokenCaller>) -> Subject {
        match caller {
            Some(caller) => Subject::Token(caller.id().to_bytes()),
            None => {
                let address = client_address(call.peer.ip(), &call.parts.headers, &self.trusted_proxies);
                Subject::Address(address)
            }
        }
    }

    /// The charge for a preflight, or for a request that failed before its own charge.
    pub(super) async fn charge_address(&self, call: &Call) -> Quota {
        let price = (default_bucket(&call.parts.method), 1);
        self.charge(self.payer(call, None), price).await
    }

    async fn charge(&self, payer: Subject, (bucket, cost): (Bucket, u32)) -> Quota {
        match self.limiter.charge_now(payer, bucket, cost) {
            Some(quota) => quota,
            None => Box::pin(self.limiter.charge(payer, bucket, cost)).await,
        }
    }

    /// Step 3: the charge.
    fn charged(call: &Call, quota: Quota) -> Result<(), Error> {
        let mut trace = call.trace();
        trace.quota = Some(quota);
        if let Match::Found(route, _) = &call.found {
            trace.route = Some(route);
        }
        match quota.allowed {
            true => Ok(()),
            false => Err(Error::RateLimited(quota)),
        }
    }

    /// Without a valid token, only the OpenAPI document is served; everything else is 401.
    async fn answer_unknown(&self, call: &Call) -> Result<Done, Error> {
        Self::charged(call, self.charge(self.payer(call, None), call.price()).await)?;
        match &call.found {
            Match::Found(
                Route {
                    work: Work::Document, ..
                },
                _,
            ) => self.document(call),
            _ => Err(Error::InvalidToken),
        }
    }

    fn document(&self, call: &Call) -> Result<Done, Error> {
        query::none(call.parts.uri.query())?;
        Ok((Answer::ok(self.site.document()), false))
    }

    /// Steps 3 to 6: everything between the look-up and the database work.
    fn admit(
        &self,
        call: &Arc<Call>,
        caller: TokenCaller,
        visit: Visit,
        quota: Quota,
        read: Option<Read>,
    ) -> Result<Step, Error> {
        Self::charged(call, quota)?;
        // Step 4: 404 or 405.
        let (route, params) = match &call.found {
            Match::Found(route, params) => (*route, *params),
            Match::OtherMethod(allow) => return Err(Error::MethodNotAllowed(allow.clone())),
            Match::NoPath => return Err(Error::no_such("path; /docs lists those there are")),
        };
        let (rule, handler) = match route.work {
            Work::Of(rule, handler) => (rule, handler),
            Work::Document => return self.document(call).map(Step::Done),
        };
        // Step 5: effective permission.
        rule.check_token(&caller)?;
        // Step 6: validation of path ids, query and key, then the body.
        let request = Request::new(call, route, params, caller);
        handlers::check(route, &request)?;
        let admitted = Admitted {
            visit,
            rule,
            handler,
            request,
            key: call.key(route.key)?,
        };
        match read {
            None => Ok(Step::Admitted(admitted)),
            Some(read) => admitted.plan(read?, self.idempotency_seconds),
        }
    }

    /// Steps 7 and 8: the idempotency key and the change.
    async fn change(&self, change: Change, next: Option<Next>) -> Result<Done, Error> {
        let Change {
            route,
            rule,
            visit,
            organization,
            once,
            work,
        } = change;
        let (output, is_replay) = match once {
            None => {
                let next = next.into_iter().collect();
                (self.app.act_ahead(visit, organization, next, work).await?, false)
            }
            Some(once) => {
                let doing = self.app.once(visit, rule, once, next, work);
                match doing.is_second {
                    false => doing.reply.await?,
                    true => timeout(SECOND_WAITS, doing.reply)
                        .await
                        .map_err(|_| Error::KeyInUse)??,
                }
            }
        };
        if route.bucket == Bucket::Messaging && !is_replay {
            (self.on_queued)();
        }
        Ok((output.into(), is_replay))
    }
}

impl Admitted {
    fn plan(mut self, body: String, key_seconds: i64) -> Result<Step, Error> {
        self.request.body = body;
        let plan = (self.handler)(&self.request)?;
        let Request { caller, route, .. } = self.request;
        Ok(match plan {
            Plan::Read(work) => Step::Planned(caller, Look::Plain(work)),
            Plan::Roster(chapter, work) => Step::Planned(caller, Look::Roster(self.visit, chapter, work)),
            Plan::Write(fingerprint, work) => {
                let once = self
                    .key
                    .map(|key| Once::new(&caller, key, fingerprint, key_seconds));
                let change = Change {
                    route,
                    rule: self.rule,
                    visit: self.visit,
                    organization: caller.organization(),
                    once,
                    work,
                };
                match change.once {
                    Some(_) => Step::Planned(caller, Look::Key(change)),
                    None => Step::Change(change),
                }
            }
        })
    }
}

impl Look {
    fn answer(self, view: &mut View<'_, '_>) -> Result<Step, Error> {
        match self {
            Self::Plain(work) => Ok(Step::Done((work(view)?, false))),
            Self::Roster(visit, chapter, work) => {
                let (answer, count) = work(view)?;
                Ok(Step::Roster(visit, chapter, answer, count))
            }
            Self::Key(change) => match &change.once {
                Some(once) if let Some(given) = once.given(view)? => Ok(Step::Done((given.into(), true))),
                _ => Ok(Step::Change(change)),
            },
        }
    }
}

/// The future's output if it is available without waiting. It is polled twice, because hyper starts reading a body
/// only when it is polled.
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
