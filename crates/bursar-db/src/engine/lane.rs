//! A lane: one thread with one connection that commits many jobs together.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::ahead::Foreseen;
use super::fault::{Class, Fault};
use super::job::Outcome;
use super::schedule::{Batch, Organization, Schedule};
use super::tx::Tx;
use crate::error::DbError;

/// How often a batch runs if its transaction loses against another one or loses its connection.
const RUNS_MAX: u32 = 3;
const RERUN_PAUSE: Duration = Duration::from_millis(10);

/// How a batch runs. It begins with the first way and takes a later one when it has to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    /// Without savepoints where they cost something: few jobs are undone after they changed something.
    Quick,
    /// With a savepoint for each job.
    Marked,
    /// It also waits for every statement, so that each failure is known where it happens.
    Careful,
}

pub(super) trait Session {
    /// If there are `many` jobs, one of them may have to be undone.
    fn begin(&mut self, many: bool, way: Way) -> Result<(), Fault>;
    /// Locks those of these organizations that nobody else has locked. Returns them, or `None` if none has to be.
    fn claim(&mut self, _: &[Organization]) -> Result<Option<Vec<Organization>>, Fault> {
        Ok(None)
    }
    /// These jobs run next, and will probably ask this.
    fn foresee<'e>(&mut self, _: impl Iterator<Item = &'e [Foreseen]> + Clone) -> Result<(), Fault> {
        Ok(())
    }
    /// The job with this number of them runs next.
    fn turn_to(&mut self, _job: usize) {}
    /// Keeps what the jobs have done so far.
    fn mark(&mut self) -> Result<(), Fault>;
    /// Undoes what was done since the last mark. After a statement that failed, `is_broken` is set.
    fn undo(&mut self, is_broken: bool) -> Result<(), Fault>;
    /// A connection lost here is not `Lost`: nobody knows what happened, so the batch must not run again.
    fn commit(&mut self) -> Result<(), Fault>;
    /// Does nothing without a transaction.
    fn rollback(&mut self);
    fn in_transaction(&self) -> bool;
    fn tx(&mut self) -> Tx<'_>;
    fn between(&mut self) {}
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    batches: AtomicU64,
    jobs: AtomicU64,
}

impl Counters {
    pub(super) fn read(&self) -> Stats {
        Stats {
            batches: self.batches.load(Ordering::Relaxed),
            jobs: self.jobs.load(Ordering::Relaxed),
            round_trips: 0,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    pub batches: u64,
    pub jobs: u64,
    /// How often PostgreSQL was sent something and waited for, by readers and lanes. On SQLite 0.
    pub round_trips: u64,
}

pub(super) fn run(
    session: &mut impl Session,
    schedule: &Schedule,
    counters: &Counters,
    batch_duration_max: Duration,
) {
    while let Some(mut batch) = schedule.take() {
        run_batch(session, &mut batch, counters, batch_duration_max);
        schedule.give_back(batch);
        session.between();
    }
}

/// Runs the batch and sends the results. Jobs it did not get to stay in the batch.
fn run_batch(
    session: &mut impl Session,
    batch: &mut Batch,
    counters: &Counters,
    batch_duration_max: Duration,
) {
    batch.entries.retain(|entry| !entry.job.is_abandoned());
    let mut way = Way::Quick;
    let mut run = 0;
    while !batch.entries.is_empty() {
        run += 1;
        match attempt(session, batch, batch_duration_max, way) {
            Ok(finished) => {
                if finished.committed {
                    counters.batches.fetch_add(1, Ordering::Relaxed);
                }
                for entry in batch.entries.drain(..finished.jobs) {
                    counters
                        .jobs
                        .fetch_add(u64::from(entry.started), Ordering::Relaxed);
                    entry.job.answer();
                }
                return;
            }
            Err(fault) => {
                session.rollback();
                // A lock that is not given or a full disk fails every job, whichever was the first.
                let is_hopeless = fault.class == Class::Late
                    && matches!(fault.error, DbError::Unavailable(_) | DbError::Full(_));
                // What is wrong may be wrong with one of them: each goes on alone.
                let is_theirs = is_hopeless || matches!(fault.class, Class::Late | Class::Retryable);
                if is_theirs && batch.several().is_some() {
                    batch.part();
                    return;
                }
                let is_last = run >= RUNS_MAX && fault.class != Class::Unmarked;
                if !fault.may_run_again() || is_hopeless || is_last {
                    for entry in batch.entries.drain(..) {
                        entry.job.fail(fault.error.clone());
                    }
                    return;
                }
                match fault.class {
                    Class::Late => way = Way::Careful,
                    // Once a batch, and nothing was wrong with it.
                    Class::Unmarked => (way, run) = (Way::Marked, run - 1),
                    // Gives the other transaction time to finish, so that they do not collide again.
                    Class::Retryable => std::thread::sleep(RERUN_PAUSE * run),
                    Class::Lost | Class::Caller | Class::Statement => {}
                }
                tracing::debug!(run, error = %fault.error, "a batch of writes runs again");
            }
        }
    }
}

struct Finished {
    /// How many of the batch's entries get their result.
    jobs: usize,
    committed: bool,
}

fn attempt(
    session: &mut impl Session,
    batch: &mut Batch,
    batch_duration_max: Duration,
    way: Way,
) -> Result<Finished, Fault> {
    let many = batch.entries.len() > 1;
    session.begin(many, way)?;
    if let Some(several) = batch.several()
        && let Some(claimed) = session.claim(several)?
    {
        batch.keep(&claimed);
    }
    session.foresee(batch.entries.iter().map(|entry| &*entry.ahead))?;
    let begun_at = Instant::now();
    let mut kept = false;
    let mut kept_unmarked = false;
    let mut jobs = 0;
    for entry in &mut batch.entries {
        if jobs > 0 && begun_at.elapsed() >= batch_duration_max {
            break;
        }
        jobs += 1;
        if !entry.started && entry.job.is_abandoned() {
            continue;
        }
        entry.started = true;
        if kept_unmarked {
            session.mark()?;
            kept_unmarked = false;
        }
        session.turn_to(jobs - 1);
        let outcome = entry.job.run(session.tx());
        if let Outcome::Failed(fault) = &outcome
            && fault.may_run_again()
        {
            return Err(fault.clone());
        }
        if !session.in_transaction() {
            return Err(transaction_gone(outcome));
        }
        match outcome {
            Outcome::Done => {
                kept = true;
                kept_unmarked = many;
            }
            Outcome::Refused if many => session.undo(false)?,
            Outcome::Failed(_) if many => session.undo(true)?,
            Outcome::Refused | Outcome::Failed(_) => {}
        }
    }
    if kept {
        session.commit()?;
    } else {
        session.rollback();
    }
    Ok(Finished {
        jobs,
        committed: kept,
    })
}

/// For a transaction that the engine ended itself, as it does when the disk is full: the whole batch is undone.
fn transaction_gone(outcome: Outcome) -> Fault {
    let error = match outcome {
        Outcome::Failed(Fault {
            error: error @ (DbError::Full(_) | DbError::Unavailable(_)),
            ..
        }) => error,
        Outcome::Failed(fault) => DbError::Unavailable(fault.error.to_string()),
        Outcome::Done | Outcome::Refused => DbError::Unavailable("the transaction was undone".to_owned()),
    };
    Fault {
        class: Class::Statement,
        error,
    }
}
