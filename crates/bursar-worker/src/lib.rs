//! The part of bursar that acts on its own: it expands jobs to messages and delivers them.
//!
//! One thread in every server. It claims with leases, so that several workers never send the same message and a
//! dead one's claims come back. It wakes when something is queued and sleeps until the next due time otherwise.

mod dues;
pub mod guard;
mod html;
mod lease;
pub mod mail;
pub mod outlet;
pub mod sms;
pub mod smtp;
mod url;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bursar_app::housekeeping::{self, Retention};
use bursar_app::outbox::{self, Attempt, Claimed};
use bursar_app::tokens::last_used::{self, LastUsed};
use bursar_app::{Act, App, AppError, Identity, Whole, campaigns, notices, reminders};
use bursar_domain::Timestamp;
use bursar_domain::ids::{Id, OrganizationId};

pub use dues::DuesPass;
use guard::ClockGuard;
use lease::Leases;
use outlet::{Outlet, Undelivered};

/// How long the claims of a worker that died are held back, in seconds, unless it is told otherwise.
pub const LEASE_SECONDS: i64 = 60;
/// Messages that are claimed at a time.
const CLAIM_MAX: i64 = 20;
/// The longest sleep, so that what another process queued is seen.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// Seconds before the second, third … attempt, give or take a fifth; after the last one a message has failed.
const BACK_OFF_SECONDS: [i64; 6] = [5, 300, 1_800, 7_200, 18_000, 36_000];
/// Housekeeping comes once a minute.
const HOUSEKEEPING: Duration = Duration::from_secs(60);
/// The order of work that belongs to no organization.
const NO_ORGANIZATION: OrganizationId = Id::from_bits(0);

/// Wakes a worker and tells it to stop.
#[derive(Clone, Debug, Default)]
pub struct Bell(Arc<(Mutex<Rung>, Condvar)>);

#[derive(Clone, Copy, Debug, Default)]
struct Rung {
    is_due: bool,
    is_over: bool,
}

impl Bell {
    /// Something was queued.
    pub fn ring(&self) {
        self.set(|rung| rung.is_due = true);
    }

    /// The worker is to stop after what it has in hand.
    pub fn stop(&self) {
        self.set(|rung| rung.is_over = true);
    }

    fn set(&self, change: impl FnOnce(&mut Rung)) {
        change(&mut self.0.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.1.notify_all();
    }

    fn is_over(&self) -> bool {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner).is_over
    }

    /// Waits until it rings, at most so long.
    fn wait(&self, at_most: Duration) {
        let rung = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .0
            .1
            .wait_timeout_while(rung, at_most, |rung| !rung.is_due && !rung.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_due = false;
    }
}

/// The worker.
pub struct Worker {
    /// The database, at the time of the guard.
    pub app: App,
    /// Where messages go.
    pub outlet: Outlet,
    /// Tells the time, and whether it can be believed.
    pub guard: ClockGuard,
    /// Spreads retries.
    pub random: fastrand::Rng,
    /// Wakes it.
    pub bell: Bell,
    /// When tokens were last used.
    pub last_used: Arc<LastUsed>,
    /// How long things are kept.
    pub retention: Retention,
    /// How long the claims of a worker that died are held back.
    pub lease_seconds: i64,
    /// How far dues are raised.
    pub dues: DuesPass,
    /// Attempts that the database could not take down yet.
    pub unrecorded: Vec<(Claimed, Attempt)>,
}

impl Worker {
    /// Starts it on a thread of its own.
    pub fn start(mut self) -> std::io::Result<JoinHandle<()>> {
        thread::Builder::new()
            .name("bursar-worker".into())
            .spawn(move || self.run())
    }

    fn run(&mut self) {
        let leases = Leases::default();
        let keeper = leases.keep(&self.app, &self.guard, self.lease_seconds);
        let mut kept_house = None;
        let mut told = None;
        while !self.bell.is_over() {
            let now = self.guard.running();
            if kept_house.is_none_or(|at| now < at || now - at >= HOUSEKEEPING) {
                kept_house = Some(now);
                self.noting(Self::keep_house);
            }
            // A panic is told of by its hook; the worker is not to die of it while the server lives on.
            let step = catch_unwind(AssertUnwindSafe(|| self.step_with(&leases)));
            match step {
                Ok(Ok(done)) => {
                    told = None;
                    if done == 0 {
                        self.rest();
                    }
                }
                Err(_) => self.rest(),
                Ok(Err(error)) => {
                    // A database that a newer program has taken over stays so: once is enough.
                    let error = error.to_string();
                    if told.as_ref() != Some(&error) {
                        tracing::error!(error, "the worker has stopped; it goes on when this is over");
                        told = Some(error);
                    }
                    self.rest();
                }
            }
        }
        if let Err(error) = self.record() {
            tracing::error!(%error, count = self.unrecorded.len(), "messages were sent that could not be recorded");
        }
        leases.stop();
        if let Ok(keeper) = keeper {
            let _ = keeper.join();
        }
        self.noting(Self::flush_last_used);
    }

    fn rest(&mut self) {
        if let Some(smtp) = &mut self.outlet.smtp {
            smtp.rest();
        }
        self.bell.wait(SLEEP_MAX);
    }

    fn noting(&mut self, work: fn(&mut Self) -> Result<(), AppError>) {
        if let Err(error) = work(self) {
            tracing::warn!(%error, "housekeeping was put off");
        }
    }

    /// Does what is due; how much that was.
    pub fn step(&mut self) -> Result<usize, AppError> {
        self.step_with(&Leases::default())
    }

    fn step_with(&mut self, leases: &Leases) -> Result<usize, AppError> {
        self.record()?;
        leases.clear();
        self.guard.check(&self.app)?;
        let mut done = self.queue_notices()?;
        match self.guard.is_held() {
            // Mail that a request queues by a wrong clock is sent at once all the same.
            true => self.pull_in()?,
            false => done += self.start_what_is_due()?,
        }
        if self.look(outbox::is_due)? {
            done += self.expand_jobs()? + self.deliver_messages(leases)?;
        }
        Ok(done)
    }

    /// What goes by the time, and so waits while the clock cannot be believed. Dues come before reminders, which tell what
    /// is owed.
    fn start_what_is_due(&mut self) -> Result<usize, AppError> {
        let (mut done, complete_at) = self.raise_dues()?;
        if let Some(at) = complete_at {
            done += self.start_reminders(at)?;
        }
        Ok(done + self.end_campaigns()?)
    }

    fn pull_in(&mut self) -> Result<(), AppError> {
        self.change(outbox::pull_in)
    }

    fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.look(Identity::Worker, work).wait()
    }

    fn change<T: Send + 'static>(
        &self,
        work: impl FnMut(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.change(Identity::Worker, NO_ORGANIZATION, work).wait()
    }

    /// Runs one piece of work for an organization. One that fails is told of and left for later, so that it does not
    /// keep the others waiting; a database that is away ends the step.
    fn act<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<Option<T>, AppError> {
        judge(
            organization,
            self.app.act(Identity::Worker, organization, work).wait(),
        )
    }

    fn start_reminders(&mut self, now: Timestamp) -> Result<usize, AppError> {
        let mut done = 0;
        for (organization, reminder) in self.look(move |whole| reminders::due(whole, now, CLAIM_MAX))? {
            let run = self.act(organization, move |act| reminders::run_due(act, reminder))?;
            done += usize::from(run.is_some());
        }
        Ok(done)
    }

    /// Notices go by the wall clock, also by one in doubt: tokens expire by it.
    fn queue_notices(&mut self) -> Result<usize, AppError> {
        let now = self.guard.wall();
        let mut done = 0;
        for expiring in self.look(move |whole| notices::due(whole, now, CLAIM_MAX))? {
            let organization = expiring.token.organization_id;
            let queued = self.app.change(Identity::Worker, organization, move |whole| {
                notices::queue(whole, &expiring, now)
            });
            done += usize::from(judge(organization, queued.wait())?.is_some());
        }
        Ok(done)
    }

    fn end_campaigns(&mut self) -> Result<usize, AppError> {
        let today = self.guard.now().date();
        let mut done = 0;
        for (organization, id) in self.look(move |whole| campaigns::over(whole, today, CLAIM_MAX))? {
            let ended = self.act(organization, move |act| campaigns::end_if_over(act, id))?;
            done += usize::from(ended.is_some());
        }
        Ok(done)
    }

    /// Goes on with each job by one transaction, so that a large one does not keep deliveries waiting.
    fn expand_jobs(&mut self) -> Result<usize, AppError> {
        let until = self.guard.now().plus_seconds(self.lease_seconds);
        let mut done = 0;
        for job in self.change(move |whole| outbox::claim_jobs(whole, until, CLAIM_MAX))? {
            let organization = job.organization;
            let expanded = self.act(organization, move |act| outbox::expand(act, &job))?;
            done += usize::from(expanded.is_some());
        }
        Ok(done)
    }

    fn deliver_messages(&mut self, leases: &Leases) -> Result<usize, AppError> {
        let until = self.guard.now().plus_seconds(self.lease_seconds);
        let claimed = self.change(move |whole| outbox::claim(whole, until, CLAIM_MAX))?;
        let count = claimed.len();
        leases.hold(&claimed);
        let mut waiting = claimed.into_iter();
        for claim in waiting.by_ref() {
            let attempt = self.deliver(&claim);
            self.unrecorded.push((claim, attempt));
            self.record()?;
            if self.bell.is_over() {
                break;
            }
        }
        let untried: Vec<Claimed> = waiting.collect();
        if !untried.is_empty() {
            self.change(move |whole| outbox::release(whole, &untried))?;
        }
        Ok(count)
    }

    /// Writes down how attempts ended. What cannot be written stays for the next step: a message that was taken must
    /// not be sent again because the database was away for a moment.
    fn record(&mut self) -> Result<(), AppError> {
        while let Some((claim, attempt)) = self.unrecorded.last().cloned() {
            let organization = claim.message.organization;
            let (again, kept) = (claim.clone(), attempt.clone());
            let recorded = self.act(organization, move |act| outbox::attempted(act, &claim, &attempt))?;
            if recorded.is_none() {
                // What could not be done is the rest of it: the end of a run, which is looked at again. The attempt
                // itself must be kept, or the message would be sent for ever.
                let only = self
                    .app
                    .change::<_, AppError>(Identity::Worker, organization, move |whole| {
                        outbox::attempted_only(whole, &again, &kept)
                    });
                only.wait()?;
            }
            self.unrecorded.pop();
        }
        Ok(())
    }

    fn deliver(&mut self, claimed: &Claimed) -> Attempt {
        let undelivered = match self.outlet.send(claimed) {
            Ok(answer) => return Attempt::Delivered(answer),
            Err(undelivered) => undelivered,
        };
        let Undelivered {
            reason,
            is_final,
            retry_after_seconds,
        } = undelivered;
        let tried = usize::try_from(claimed.tries).unwrap_or(usize::MAX);
        let back_off = tried.checked_sub(1).and_then(|i| BACK_OFF_SECONDS.get(i));
        let attempt = match back_off.filter(|_| !is_final) {
            Some(seconds) => {
                let wait = jittered(*seconds, &mut self.random).max(micros(retry_after_seconds.unwrap_or(0)));
                let at = Timestamp::from_micros(self.guard.now().micros().saturating_add(wait));
                Attempt::Again(reason, at)
            }
            None => Attempt::Failed(reason),
        };
        let id = claimed.message.id;
        match &attempt {
            Attempt::Again(reason, at) => {
                tracing::warn!(message = %id, %reason, again = %at, "a message was not taken");
            }
            Attempt::Failed(reason) => tracing::warn!(message = %id, %reason, "a message has failed"),
            Attempt::Delivered(_) => {}
        }
        attempt
    }

    /// Prunes what has served its time, and writes down what waited for it.
    pub fn keep_house(&mut self) -> Result<(), AppError> {
        self.flush_last_used()?;
        self.guard.check(&self.app)?;
        self.pull_in()?;
        if !self.guard.may_prune() {
            return Ok(());
        }
        let retention = self.retention;
        while self.change(move |whole| housekeeping::prune(whole, retention))? && !self.bell.is_over() {}
        Ok(())
    }

    fn flush_last_used(&mut self) -> Result<(), AppError> {
        let uses = if self.bell.is_over() {
            self.last_used.take_all()
        } else {
            self.last_used.take_due(self.guard.wall())
        };
        for uses in uses {
            let stored = self
                .app
                .change(Identity::Worker, uses.organization, move |whole| {
                    last_used::store(whole, &uses)
                });
            stored.wait()?;
        }
        Ok(())
    }
}

/// What one piece of work came to, unless the database as a whole is unavailable.
fn judge<T>(organization: OrganizationId, worked: Result<T, AppError>) -> Result<Option<T>, AppError> {
    match worked {
        Ok(value) => Ok(Some(value)),
        Err(AppError::Db(error)) if error.is_outage() => Err(error.into()),
        Err(error) => {
            tracing::error!(%organization, %error, "a piece of the worker's work failed; it is tried again");
            Ok(None)
        }
    }
}

const fn micros(seconds: i64) -> i64 {
    seconds.saturating_mul(1_000_000)
}

/// So many seconds, in microseconds, give or take a fifth.
fn jittered(seconds: i64, random: &mut fastrand::Rng) -> i64 {
    let fifth = micros(seconds) / 5;
    micros(seconds) + random.i64(-fifth..=fifth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_is_a_fifth_at_most_and_spreads() {
        let mut random = fastrand::Rng::with_seed(1);
        for seconds in BACK_OFF_SECONDS {
            let waits: Vec<i64> = (0..1_000).map(|_| jittered(seconds, &mut random)).collect();
            let (least, most) = (waits.iter().min().unwrap(), waits.iter().max().unwrap());
            assert!(*least >= micros(seconds) * 4 / 5 && *most <= micros(seconds) * 6 / 5);
            assert!(most - least > micros(seconds) * 3 / 10);
        }
    }
}
