//! The steps of a request, in the order of the contract: a step responds before the next one runs.
//!
//! They are the same on both engines. Everything that fits in one read of the database runs in it: on SQLite on this
//! thread, on PostgreSQL on a reader thread. The read ends only where something has to be waited for.

use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bursar_app::{Act, AppError, Caller, DbError, Once, Rule, TokenCaller, View, Whole, chapters};
use bursar_domain::ids::OrganizationId;
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
use super::routes::{BodyRule, Handler, Match, Route, Verb, Work};
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
    Known(TokenCaller, Option<Read>),
    /// Permitted and valid, but the body is not read yet.
    Admitted(Admitted),
    /// The work is known; it needs another read of the database for this caller.
    Planned(TokenCaller, Look),
    /// The page was read; the read is not logged yet.
    Roster(OrganizationId, Answer, usize),
    /// A write that was planned ahead. It is not charged yet.
    Ahead(Change, Ahead),
    /// A write whose key is new, or that has no key.
    Change(Change, Option<Ahead>),
    Done(Done),
}

struct Admitted {
    rule: &'static Rule,
    handler: Handler,
    request: Request,
    key: Option<String>,
}

enum Look {
    Plain(Reading<Answer>),
    Roster(OrganizationId, Reading<(Answer, usize)>),
    /// Looks up the idempotency key of a change.
    Key(Change),
}

struct Change {
    route: &'static Route,
    rule: &'static Rule,
    organization: OrganizationId,
    once: Option<Once>,
    work: Write,
}

/// What a write was planned with when its token was remembered and not looked up.
struct Ahead {
    caller: TokenCaller,
    body: String,
}

/// Why a change was not made.
enum Unmade {
    /// The token is not what the change was planned with, or is no longer valid.
    Outdated,
    Failed(Error),
}

impl From<AppError> for Unmade {
    fn from(error: AppError) -> Self {
        match error {
            AppError::Unrecognised => Self::Outdated,
            other => Self::Failed(other.into()),
        }
    }
}

impl From<DbError> for Unmade {
    fn from(error: DbError) -> Self {
        Self::Failed(error.into())
    }
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
        let mut step = match self.plan_ahead(call, read) {
            Ok((change, ahead)) => Step::Ahead(change, ahead),
            Err(read) => self.look_up(call, read, None).await?,
        };
        // Steps 3 to 8, as far as the look-up did not do them. Writes are boxed to keep the future of a read small.
        loop {
            step = match step {
                Step::Unknown => return self.answer_unknown(call).await,
                Step::Known(caller, read) => {
                    let quota = self.charge(self.payer(call, Some(&caller)), call.price()).await;
                    Self::charged(call, quota)?;
                    self.admit(call, caller, read)?
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
                Step::Roster(chapter, answer, count) => {
                    let log = move |whole: &mut Whole<'_, '_>| chapters::log_read(whole, chapter, count);
                    // The chapter must see every read of its roster: if it cannot be logged, the response is not sent.
                    let logged = self.app.change(call.visit(), chapter, log).await;
                    logged.map_err(|error: AppError| match error {
                        AppError::Db(error) => Error::Unavailable(error.to_string()),
                        other => other.into(),
                    })?;
                    return Ok((answer, false));
                }
                Step::Ahead(change, ahead) => Box::pin(self.pay_ahead(call, change, ahead)).await?,
                Step::Change(change, ahead) => Box::pin(self.change(call, change, ahead)).await?,
                Step::Done(done) => return Ok(done),
            }
        }
    }

    /// Steps 4 to 6 of a write, with what the last look-up of its token found: then only the write itself looks the token
    /// up. Whatever else comes of it (a refusal, an invalid body, a response) may be outdated, and begins with a look-up.
    fn plan_ahead(&self, call: &Arc<Call>, read: Option<Read>) -> Result<(Change, Ahead), Option<Read>> {
        let (body, hash) = match (read, &call.found, call.hash) {
            (Some(Ok(body)), Match::Found(route, _), Some(hash)) if route.method != Verb::Get => (body, hash),
            (read, ..) => return Err(read),
        };
        let remembered = self.app.remembered(&hash, call.now);
        let step = remembered.and_then(|caller| self.admit(call, caller, None).ok());
        let Some(Step::Admitted(mut admitted)) = step else {
            return Err(Some(Ok(body)));
        };
        admitted.request.body = body;
        let plan = (admitted.handler)(&admitted.request);
        let change = match plan {
            Ok(Plan::Write(fingerprint, work)) => {
                Some(admitted.change(fingerprint, work, self.idempotency_seconds))
            }
            Ok(Plan::Read(_) | Plan::Roster(..)) | Err(_) => None,
        };
        let Request { caller, body, .. } = admitted.request;
        match change {
            Some(change) => Ok((change, Ahead { caller, body })),
            None => Err(Some(Ok(body))),
        }
    }

    /// Step 3 of a write that was planned ahead. It is not refused before its token is looked up.
    async fn pay_ahead(
        self: &Arc<Self>,
        call: &Arc<Call>,
        change: Change,
        ahead: Ahead,
    ) -> Result<Step, Error> {
        let payer = self.payer(call, Some(&ahead.caller));
        match Self::charged(call, self.charge(payer, call.price()).await) {
            Ok(()) => {
                call.trace().set_caller(&ahead.caller);
                Ok(Step::Change(change, Some(ahead)))
            }
            Err(_) => self.look_up(call, Some(Ok(ahead.body)), None).await,
        }
    }

    /// Looks up the caller and continues in the same read until something has to be waited for: a read until its
    /// response, a write until the recorded response of its key. The token may have `paid` before.
    async fn look_up(
        self: &Arc<Self>,
        call: &Arc<Call>,
        read: Option<Read>,
        paid: Option<Quota>,
    ) -> Result<Step, Error> {
        let Some(hash) = call.hash else {
            return Ok(Step::Unknown);
        };
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
            call.trace().set_caller(&caller);
            edge.last_used.note(caller.organization(), caller.id(), now);
            let (bucket, cost) = call.price();
            let charge = || {
                edge.limiter
                    .charge_now(edge.payer(&call, Some(&caller)), bucket, cost)
            };
            let Some(quota) = paid.or_else(charge) else {
                return Ok(Step::Known(caller, read));
            };
            Self::charged(&call, quota)?;
            match edge.admit(&call, caller, read)? {
                Step::Planned(_, look) => look.answer(&mut view),
                step => Ok(step),
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

    /// Steps 4 to 6: everything between the charge and the database work.
    fn admit(&self, call: &Arc<Call>, caller: TokenCaller, read: Option<Read>) -> Result<Step, Error> {
        // Step 4: 404 or 405.
        let (route, params) = match &call.found {
            Match::Found(route, params) => (*route, *params),
            Match::OtherMethod(allow) => return Err(Error::MethodNotAllowed(allow.clone())),
            Match::NoPath => return Err(Error::no_such("path; /docs lists all paths")),
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
    async fn change(
        self: &Arc<Self>,
        call: &Arc<Call>,
        change: Change,
        ahead: Option<Ahead>,
    ) -> Result<Step, Error> {
        let Change {
            route,
            rule,
            organization,
            once,
            mut work,
        } = change;
        let planned_with = ahead.as_ref().map(|ahead| ahead.caller.clone());
        let work = move |act: &mut Act<'_, '_>| match (&planned_with, act.caller()) {
            (Some(planned), Caller::Token(found)) if !found.is_as(planned) => Err(Unmade::Outdated),
            _ => work(act).map_err(Unmade::Failed),
        };
        let (visit, next) = (call.visit(), call.next_of_work());
        let made = match once {
            None => {
                let next = next.into_iter().collect();
                let made = self.app.act_ahead(visit, organization, next, work).await;
                made.map(|output| (output, false))
            }
            Some(once) => {
                let doing = self.app.once(visit, rule, once, next, work);
                match doing.is_second {
                    false => doing.reply.await,
                    true => timeout(SECOND_WAITS, doing.reply)
                        .await
                        .unwrap_or(Err(Unmade::Failed(Error::KeyInUse))),
                }
            }
        };
        let made = match made {
            Ok(made) => Ok(made),
            Err(Unmade::Failed(error)) => Err(error),
            Err(Unmade::Outdated) => match ahead {
                Some(ahead) => {
                    let paid = std::mem::take(&mut *call.trace()).quota;
                    return self.look_up(call, Some(Ok(ahead.body)), paid).await;
                }
                None => Err(Error::InvalidToken),
            },
        };
        // A failure of the database tells nothing about the token.
        if let Some(ahead) = ahead
            && !matches!(made, Err(Error::Unavailable(_)))
        {
            self.last_used.note(organization, ahead.caller.id(), call.now);
        }
        let (output, is_replay) = made?;
        if route.bucket == Bucket::Messaging && !is_replay {
            (self.on_queued)();
        }
        Ok(Step::Done((output.into(), is_replay)))
    }
}

impl Admitted {
    fn plan(mut self, body: String, key_seconds: i64) -> Result<Step, Error> {
        self.request.body = body;
        Ok(match (self.handler)(&self.request)? {
            Plan::Read(work) => Step::Planned(self.request.caller, Look::Plain(work)),
            Plan::Roster(chapter, work) => Step::Planned(self.request.caller, Look::Roster(chapter, work)),
            Plan::Write(fingerprint, work) => {
                let change = self.change(fingerprint, work, key_seconds);
                match change.once {
                    Some(_) => Step::Planned(self.request.caller, Look::Key(change)),
                    None => Step::Change(change, None),
                }
            }
        })
    }

    fn change(&mut self, fingerprint: [u8; 32], work: Write, key_seconds: i64) -> Change {
        let Request { caller, route, .. } = &self.request;
        let key = self.key.take();
        Change {
            route,
            rule: self.rule,
            organization: caller.organization(),
            once: key.map(|key| Once::new(caller, key, fingerprint, key_seconds)),
            work,
        }
    }
}

impl Look {
    fn answer(self, view: &mut View<'_, '_>) -> Result<Step, Error> {
        match self {
            Self::Plain(work) => Ok(Step::Done((work(view)?, false))),
            Self::Roster(chapter, work) => {
                let (answer, count) = work(view)?;
                Ok(Step::Roster(chapter, answer, count))
            }
            Self::Key(change) => match &change.once {
                Some(once) if let Some(given) = once.given(view)? => Ok(Step::Done((given.into(), true))),
                _ => Ok(Step::Change(change, None)),
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
