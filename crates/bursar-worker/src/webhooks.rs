//! Delivers events to webhook endpoints: claims endpoints that have something to send, and gives each a thread of its own
//! until it has nothing left, fails, or others wait for its place.

mod post;

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bursar_app::secrets::KeyFile;
use bursar_app::webhooks::Reach;
use bursar_app::webhooks::delivery::{self, Attempted, Claim, LIMITS, Next, Parcel, Terms};
use bursar_app::{AppError, NO_ORGANIZATION};
use bursar_domain::Timestamp;
use bursar_domain::webhook::back_off::BackOff;

use self::post::{Poster, Reply};
use super::base::{Base, is_outage};
use super::tally::Tally;

/// How long an endpoint keeps its thread. Then others that wait have their turn.
const STINT: Duration = Duration::from_secs(5);
/// The rest when endpoints have something to send but every place is taken.
const CROWDED: Duration = Duration::from_millis(100);
/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(1);
/// How often the lag of endpoints is measured.
const MEASURE_EVERY: Duration = Duration::from_secs(10);
/// TLS needs less.
const STACK_BYTES: usize = 512 * 1024;

/// Where deliveries go and how they are retried.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub reach: Reach,
    /// For the secrets that sign.
    pub keys: KeyFile,
    pub back_off: BackOff,
}

/// The endpoints that this worker has claimed. Other threads renew or release them.
#[derive(Clone, Debug, Default)]
pub(super) struct Held(Arc<Mutex<HashSet<Claim>>>);

impl Held {
    fn lock(&self) -> MutexGuard<'_, HashSet<Claim>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claims(&self) -> Vec<Claim> {
        self.lock().iter().copied().collect()
    }

    /// So that a slow receiver does not look like a dead worker.
    pub(super) fn renew(&self, base: &Base, lease_seconds: i64) {
        let claims = self.claims();
        if claims.is_empty() {
            return;
        }
        let until = base.guard.now().plus_seconds(lease_seconds);
        let renewed = base.change(NO_ORGANIZATION, move |whole| {
            delivery::renew(whole, &claims, until)
        });
        if let Err(error) = renewed {
            tracing::warn!(%error, "the claims on webhook endpoints could not be renewed");
        }
    }

    /// For a worker that stops: the deliveries in flight end with it.
    pub(super) fn release(&self, base: &Base) -> Result<(), AppError> {
        let claims: Vec<Claim> = self.lock().drain().collect();
        match claims.is_empty() {
            true => Ok(()),
            false => base.change(NO_ORGANIZATION, move |whole| delivery::release(whole, &claims)),
        }
    }
}

#[derive(Debug)]
pub(super) struct Dispatcher {
    pub(super) held: Held,
    hand: Hand,
    random: fastrand::Rng,
    measured: Option<Instant>,
}

/// What serves one endpoint.
#[derive(Clone, Debug)]
struct Hand {
    base: Base,
    setup: Delivery,
    lease_seconds: i64,
    tally: Arc<Tally>,
}

impl Dispatcher {
    pub(super) fn new(
        base: Base,
        setup: Delivery,
        random: fastrand::Rng,
        lease_seconds: i64,
        tally: Arc<Tally>,
    ) -> Self {
        Self {
            held: Held::default(),
            hand: Hand {
                base,
                setup,
                lease_seconds,
                tally,
            },
            random,
            measured: None,
        }
    }

    /// `alive` is held by every thread until it ends.
    pub(super) fn run(mut self, alive: &Sender<()>) {
        let base = self.hand.base.clone();
        base.run_paced(
            || self.dispatch(alive),
            |error| {
                // The due-work loop reports an unavailable database.
                if !is_outage(error) {
                    tracing::error!(%error, "webhook endpoints cannot be claimed; it is tried again");
                }
            },
        );
    }

    /// Returns how long there is nothing to do.
    fn dispatch(&mut self, alive: &Sender<()>) -> Result<Duration, AppError> {
        self.measure()?;
        let Some(claims) = self.claim()? else {
            return self.rest();
        };
        if claims.is_empty() {
            return Ok(CROWDED);
        }
        for claim in claims {
            self.held.lock().insert(claim);
            let (hand, held, random) = (self.hand.clone(), self.held.clone(), self.random.fork());
            let alive = alive.clone();
            let serve = move || {
                // The panic hook has logged it; the lease runs out.
                let _ = catch_unwind(AssertUnwindSafe(|| hand.serve(claim, random)));
                held.lock().remove(&claim);
                drop(alive);
            };
            let thread = thread::Builder::new()
                .name("bursar-webhook".into())
                .stack_size(STACK_BYTES);
            if let Err(error) = thread.spawn(serve) {
                tracing::error!(%error, "no thread for a webhook endpoint; it is tried again");
                self.held.lock().remove(&claim);
                let base = &self.hand.base;
                base.change(NO_ORGANIZATION, move |whole| delivery::release(whole, &[claim]))?;
                return Ok(CROWDED);
            }
        }
        Ok(Duration::ZERO)
    }

    /// `None` if there is nothing to send.
    fn claim(&self) -> Result<Option<Vec<Claim>>, AppError> {
        let base = &self.hand.base;
        let due = base.look(delivery::next_due)?;
        // The clock goes on: what was due then is due now.
        let now = base.guard.now();
        if due.is_none_or(|at| now < at) {
            return Ok(None);
        }
        let (until, room) = (
            now.plus_seconds(self.hand.lease_seconds),
            LIMITS.all.saturating_sub(self.held.lock().len()),
        );
        let claims = base.change(NO_ORGANIZATION, move |whole| {
            delivery::claim(whole, until, LIMITS, room)
        })?;
        Ok(Some(claims))
    }

    /// Until the next back-off ends, at most a second.
    fn rest(&self) -> Result<Duration, AppError> {
        let base = &self.hand.base;
        let now = base.guard.now();
        let due = base.look(delivery::next_due)?;
        let micros = due.map_or(i64::MAX, |at| (at.micros() - now.micros()).max(1_000));
        Ok(Duration::from_micros(micros.unsigned_abs()).min(REST_MAX))
    }

    fn measure(&mut self) -> Result<(), AppError> {
        if self.measured.is_some_and(|at| at.elapsed() < MEASURE_EVERY) {
            return Ok(());
        }
        self.measured = Some(Instant::now());
        let lags = self.hand.base.look(delivery::lags)?;
        self.hand.tally.lags(lags);
        Ok(())
    }

    /// Serves what is due, one endpoint after the other; returns how many deliveries were tried. For tests that move the
    /// time.
    pub(super) fn step(&mut self) -> Result<usize, AppError> {
        self.measure()?;
        let mut done = 0;
        for claim in self.claim()?.unwrap_or_default() {
            done += self.hand.serve(claim, self.random.fork());
        }
        Ok(done)
    }
}

impl Hand {
    /// Sends to the endpoint as long as it has its turn. Returns the number of attempts.
    fn serve(&self, claim: Claim, mut random: fastrand::Rng) -> usize {
        let (started, mut poster) = (Instant::now(), Poster::new(self.setup.reach.clone()));
        let mut next = self.first(claim);
        let (mut attempts, mut has_waited) = (0, false);
        loop {
            let parcel = match next {
                Ok(Next::Send(parcel)) => parcel,
                Ok(Next::Soon(micros)) => {
                    let wait = Duration::from_micros(micros.unsigned_abs());
                    // A clock that stands still, as in tests, would never get there.
                    if has_waited || self.base.bell.pause(wait) {
                        self.give_back(claim);
                        return attempts;
                    }
                    has_waited = true;
                    next = self.first(claim);
                    continue;
                }
                Ok(Next::Rest | Next::Lost) => return attempts,
                Err(error) => {
                    if !is_outage(&error) {
                        tracing::error!(webhook = %claim.id, %error, "a webhook endpoint cannot be served; it is tried again");
                    }
                    return attempts;
                }
            };
            let attempt = self.attempt(claim, &parcel, &mut poster);
            (attempts, has_waited) = (attempts + 1, false);
            let goes_on = started.elapsed() < STINT && !self.base.bell.is_over();
            next = self.record(claim, &parcel, &attempt, random.u64(..), goes_on);
            if !goes_on {
                // Others that wait are looked for, this one included.
                self.base.bell.ring();
            }
        }
    }

    fn first(&self, claim: Claim) -> Result<Next, AppError> {
        let organization = claim.organization;
        self.base
            .change(organization, move |whole| delivery::first(whole, claim))
    }

    fn give_back(&self, claim: Claim) {
        let released = self.base.change(claim.organization, move |whole| {
            delivery::release(whole, &[claim])
        });
        if let Err(error) = released {
            tracing::warn!(webhook = %claim.id, %error, "a claim could not be released; it runs out");
        }
    }

    fn attempt(&self, claim: Claim, parcel: &Parcel, poster: &mut Poster) -> Attempted {
        let (at, started) = (self.base.guard.now(), Instant::now());
        let reply = match self.setup.keys.read() {
            Err(error) => Reply::none(error),
            Ok(key) => match parcel.secrets(claim, &key) {
                None => Reply::none("the endpoint's secret cannot be read with this key (--secret-key-file)"),
                Some(secrets) => {
                    let _flight = self.tally.takes_off();
                    poster.post(parcel, &secrets, at)
                }
            },
        };
        self.tell(claim, parcel, &reply);
        Attempted {
            at,
            duration_ms: i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX),
            status: reply.status,
            error: reply.error,
            retry_after_seconds: reply.retry_after_seconds,
        }
    }

    fn tell(&self, claim: Claim, parcel: &Parcel, reply: &Reply) {
        let counts = self.tally.deliveries();
        if matches!(reply.status, Some(200..=299)) {
            counts.delivered.fetch_add(1, Ordering::Relaxed);
            return;
        }
        counts.failed.fetch_add(1, Ordering::Relaxed);
        let error = reply.error.as_deref().unwrap_or_default();
        tracing::warn!(
            webhook = %claim.id, event = %parcel.event, attempt = parcel.attempt, status = reply.status, error,
            "delivery to a webhook endpoint failed"
        );
    }

    /// A delivery that the receiver has must not be sent again because the database was unavailable for a moment.
    fn record(
        &self,
        claim: Claim,
        parcel: &Parcel,
        attempt: &Attempted,
        random: u64,
        goes_on: bool,
    ) -> Result<Next, AppError> {
        let (back_off, lease) = (self.setup.back_off, self.lease_seconds);
        let tries = u64::try_from(lease).unwrap_or(1).max(1);
        for _ in 1..tries {
            match self.try_record(claim, parcel, attempt, back_off, random, goes_on) {
                Err(error) if is_outage(&error) && !self.base.bell.pause(Duration::from_secs(1)) => {}
                done => return done,
            }
        }
        self.try_record(claim, parcel, attempt, back_off, random, goes_on)
    }

    fn try_record(
        &self,
        claim: Claim,
        parcel: &Parcel,
        attempt: &Attempted,
        back_off: BackOff,
        random: u64,
        goes_on: bool,
    ) -> Result<Next, AppError> {
        let (parcel, attempt) = (parcel.clone(), attempt.clone());
        let until: Timestamp = self.base.guard.now().plus_seconds(self.lease_seconds);
        let terms = Terms {
            back_off,
            random,
            until,
            goes_on,
        };
        self.base.change(claim.organization, move |whole| {
            delivery::attempted(whole, claim, &parcel, &attempt, terms)
        })
    }
}
