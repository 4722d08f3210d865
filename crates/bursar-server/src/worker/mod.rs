//! The part of bursar that acts on its own: it expands jobs to messages and delivers them.
//!
//! One thread in every server. It claims with leases, so that several workers never send the same message and a
//! dead one's claims come back. It wakes when something is queued and sleeps until the next due time otherwise.

pub mod mail;

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bursar_app::tokens::last_used::{self, LastUsed};
use bursar_app::dues::Raised;
use bursar_app::{Actor, AppError, Context, dues, notices, outbox as app_outbox, reminders};
use bursar_db::outbox::{self, Attempt, Message};
use bursar_db::{Db, DbError, Tx, due, housekeeping};
use bursar_domain::Timestamp;
use bursar_domain::ids::{IdSource, OrganizationId};

use crate::http::serve::WallClock;
use mail::Outlet;

/// How long a claim holds, in seconds: longer than any delivery takes.
const LEASE_SECONDS: i64 = 120;
/// Messages that are claimed at a time.
const CLAIM_MAX: i64 = 20;
/// The longest sleep, so that what another process queued is seen.
const SLEEP_MAX: Duration = Duration::from_secs(1);
/// Seconds before the second, third … attempt; after the last one a message has failed.
const BACK_OFF_SECONDS: [i64; 6] = [5, 300, 1_800, 7_200, 18_000, 36_000];
/// Housekeeping comes once a minute.
const HOUSEKEEPING_SECONDS: i64 = 60;
/// The lane of work that belongs to no organization.
const NO_ORGANIZATION: [u8; 16] = [0; 16];

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
        let waited = self.0.1.wait_timeout_while(rung, at_most, |rung| !rung.is_due && !rung.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_due = false;
    }
}

/// The worker.
pub struct Worker {
    /// The database.
    pub db: Db,
    /// Where messages go.
    pub outlet: Outlet,
    /// Tells the time.
    pub clock: WallClock,
    /// Makes ids.
    pub ids: IdSource,
    /// Wakes it.
    pub bell: Bell,
    /// When tokens were last used.
    pub last_used: Arc<LastUsed>,
    /// How long idempotency records are kept.
    pub idempotency_seconds: i64,
}

impl Worker {
    /// Starts it on a thread of its own.
    pub fn start(mut self) -> std::io::Result<JoinHandle<()>> {
        thread::Builder::new().name("bursar-worker".into()).spawn(move || self.run())
    }

    fn run(&mut self) {
        let mut kept_house = None;
        while !self.bell.is_over() {
            let now = (self.clock)();
            if kept_house.is_none_or(|at: Timestamp| now >= at.plus_seconds(HOUSEKEEPING_SECONDS)) {
                kept_house = Some(now);
                self.noting(Self::keep_house);
            }
            match self.step() {
                Ok(0) => self.bell.wait(SLEEP_MAX),
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "the worker could not go on; it tries again");
                    self.bell.wait(SLEEP_MAX);
                }
            }
        }
        self.noting(Self::flush_last_used);
    }

    fn noting(&mut self, work: fn(&mut Self) -> Result<(), AppError>) {
        if let Err(error) = work(self) {
            tracing::warn!(%error, "housekeeping was put off");
        }
    }

    /// Does what is due; how much that was.
    pub fn step(&mut self) -> Result<usize, AppError> {
        let mut done = self.start_reminders()? + self.raise_dues()? + self.queue_notices()?;
        let now = (self.clock)();
        // Claiming writes, so it is looked for first.
        let next = self.db.read::<_, DbError>(outbox::next_due).wait()?;
        if next.is_some_and(|at| at <= now) {
            done += self.expand_jobs()? + self.deliver_messages()?;
        }
        Ok(done)
    }

    fn context(&mut self) -> Context {
        Context { now: (self.clock)(), ids: self.ids.fork(), actor: Actor::Worker, request_id: None }
    }

    /// Runs one piece of work for an organization. One that fails is told of and left for later, so that it does not
    /// keep the others waiting; a database that is away ends the step.
    fn act<T: Send + 'static>(
        &mut self,
        organization: OrganizationId,
        mut work: impl FnMut(&mut Tx<'_>, &mut Context) -> Result<T, AppError> + Send + 'static,
    ) -> Result<Option<T>, AppError> {
        let mut context = self.context();
        match self.db.write(organization.to_bytes(), move |tx| work(tx, &mut context)).wait() {
            Ok(value) => Ok(Some(value)),
            Err(AppError::Db(error @ (DbError::Unavailable(_) | DbError::Full(_)))) => Err(error.into()),
            Err(error) => {
                tracing::error!(%organization, %error, "a piece of the worker's work failed; it is tried again");
                Ok(None)
            }
        }
    }

    fn start_reminders(&mut self) -> Result<usize, AppError> {
        let now = (self.clock)();
        let mut done = 0;
        for (organization, reminder) in self.db.read::<_, DbError>(move |tx| due::reminders(tx, now, CLAIM_MAX)).wait()? {
            let run = self.act(organization, move |tx, context| reminders::run_due(tx, context, organization, reminder))?;
            done += usize::from(run.is_some());
        }
        Ok(done)
    }

    /// After downtime a group can be several periods behind: each is raised.
    fn raise_dues(&mut self) -> Result<usize, AppError> {
        let today = (self.clock)().date();
        let mut done = 0;
        for (organization, group) in self.db.read::<_, DbError>(move |tx| due::groups(tx, today, CLAIM_MAX)).wait()? {
            let mut after = None;
            while !self.bell.is_over() {
                let raising = self.act(organization, move |tx, context| dues::raise(tx, context, organization, group, after))?;
                after = match raising {
                    Some(Raised::Some(_, last)) => Some(last),
                    Some(Raised::Period(_)) => None,
                    Some(Raised::Nothing) | None => break,
                };
                done += 1;
            }
        }
        Ok(done)
    }

    fn queue_notices(&mut self) -> Result<usize, AppError> {
        let now = (self.clock)();
        let mut done = 0;
        for expiring in self.db.read(move |tx| notices::due(tx, now, CLAIM_MAX)).wait()? {
            let organization = expiring.token.organization_id;
            let queued = self.act(organization, move |tx, context| notices::queue(tx, context, &expiring))?;
            done += usize::from(queued.is_some());
        }
        Ok(done)
    }

    fn expand_jobs(&mut self) -> Result<usize, AppError> {
        let now = (self.clock)();
        let lease = now.plus_seconds(LEASE_SECONDS);
        let jobs = self.db.write::<_, DbError>(NO_ORGANIZATION, move |tx| outbox::claim_jobs(tx, now, lease, CLAIM_MAX)).wait()?;
        let mut done = 0;
        for job in jobs {
            loop {
                let claimed = job.clone();
                let expanded = self.act(job.organization, move |tx, context| app_outbox::expand(tx, context, &claimed))?;
                done += usize::from(expanded.is_some());
                if expanded.unwrap_or(true) || self.bell.is_over() {
                    break;
                }
            }
        }
        Ok(done)
    }

    fn deliver_messages(&mut self) -> Result<usize, AppError> {
        let now = (self.clock)();
        let lease = now.plus_seconds(LEASE_SECONDS);
        let messages = self.db.write::<_, DbError>(NO_ORGANIZATION, move |tx| outbox::claim(tx, now, lease, CLAIM_MAX)).wait()?;
        let count = messages.len();
        for message in messages {
            let attempt = self.deliver(&message);
            self.act(message.organization, move |tx, context| app_outbox::attempted(tx, context, &message, &attempt))?;
        }
        Ok(count)
    }

    fn deliver(&mut self, message: &Message) -> Attempt {
        match self.outlet.send(message, (self.clock)()) {
            Ok(()) => Attempt::Delivered,
            Err(mail::Undelivered { reason, is_final: true }) => Attempt::Failed(reason),
            Err(mail::Undelivered { reason, is_final: false }) => {
                let tried = usize::try_from(message.attempts).unwrap_or(usize::MAX);
                match tried.checked_sub(1).and_then(|i| BACK_OFF_SECONDS.get(i)) {
                    Some(seconds) => Attempt::Again(reason, (self.clock)().plus_seconds(*seconds)),
                    None => Attempt::Failed(reason),
                }
            }
        }
    }

    fn keep_house(&mut self) -> Result<(), AppError> {
        self.flush_last_used()?;
        let (now, keep) = ((self.clock)(), self.idempotency_seconds);
        loop {
            let pruned = self.db.write::<_, DbError>(NO_ORGANIZATION, move |tx| {
                if !housekeeping::may_keep_house(tx)? {
                    return Ok(0);
                }
                Ok(housekeeping::prune_history(tx, now)?.max(housekeeping::prune_idempotency(tx, now, keep)?))
            });
            if pruned.wait()? < housekeeping::PRUNE_ROWS_MAX || self.bell.is_over() {
                return Ok(());
            }
        }
    }

    fn flush_last_used(&mut self) -> Result<(), AppError> {
        let uses = if self.bell.is_over() { self.last_used.take_all() } else { self.last_used.take_due((self.clock)()) };
        for uses in uses {
            self.db.write(uses.organization.to_bytes(), move |tx| last_used::flush(tx, &uses)).wait()?;
        }
        Ok(())
    }
}
