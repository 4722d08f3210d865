//! Whose turn it is to write.
//!
//! Each organization has a queue in order of arrival, and organizations take turns. SQLite's one lane mixes them. On
//! PostgreSQL an organization is never on two lanes at once, and a lane takes all that wait: the larger a batch, the less
//! each of its jobs costs. One whose lock another process holds leaves the batch, so that the others need not wait for
//! it. It tries again in the next ones, and is then alone in one, where it waits.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::ahead::Foreseen;
use super::job::WriteJob;
use crate::error::DbError;

/// One lane begins at once with whatever waits. Another begins at once if many organizations wait; otherwise it gives
/// those at work a moment to take more with them.
const WORTH_A_LANE: usize = 16;
const PATIENCE: Duration = Duration::from_millis(2);
/// How often an organization leaves a batch for another process before it waits for that process.
const YIELDS_MAX: u32 = 3;

pub(super) type Organization = [u8; 16];

pub(super) struct Entry {
    pub(super) organization: Organization,
    pub(super) job: Box<dyn WriteJob>,
    pub(super) ahead: Vec<Foreseen>,
    /// A job that has started is finished even if its caller is gone.
    pub(super) started: bool,
}

#[derive(Default)]
pub(super) struct Batch {
    pub(super) entries: VecDeque<Entry>,
    /// Entries of organizations that have left the batch.
    aside: VecDeque<Entry>,
    /// Whether each of those is alone in its next batch.
    is_parted: bool,
    /// The organizations that this lane holds, if a lane holds any.
    held: Vec<Organization>,
}

impl Batch {
    /// The organizations in it, if there are several.
    pub(super) fn several(&self) -> Option<&[Organization]> {
        (self.held.len() > 1).then_some(&self.held)
    }

    /// Puts all jobs aside, each organization's for a batch of its own.
    pub(super) fn part(&mut self) {
        self.aside.append(&mut self.entries);
        self.is_parted = true;
    }

    /// Puts the jobs of all organizations but these aside: another process has locked those.
    pub(super) fn keep(&mut self, organizations: &[Organization]) {
        let (kept, others) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| organizations.contains(&entry.organization));
        self.entries = kept;
        self.aside.extend::<VecDeque<_>>(others);
    }
}

pub(super) struct Schedule {
    state: Mutex<State>,
    ready: Condvar,
    queue_max: usize,
    batch_max: usize,
    lanes: Lanes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
    /// One, for all organizations.
    Mixed,
    /// Several, and each holds the organizations of its batch.
    Holding,
}

/// An organization is in `rotation` if and only if it has a queue and no lane holds it.
#[derive(Default)]
struct State {
    queues: HashMap<Organization, VecDeque<Entry>>,
    rotation: VecDeque<Organization>,
    held: HashSet<Organization>,
    /// How often those that wait have left a batch.
    yields: HashMap<Organization, u32>,
    /// Lanes that run a batch.
    busy: usize,
    queued: usize,
    closed: bool,
}

impl Schedule {
    pub(super) fn new(queue_max: usize, batch_max: usize, lanes: Lanes) -> Self {
        Schedule {
            state: Mutex::default(),
            ready: Condvar::new(),
            queue_max: queue_max.max(1),
            batch_max: batch_max.max(1),
            lanes,
        }
    }

    /// Queues a job, or fails it at once if there is no room.
    pub(super) fn submit(&self, organization: Organization, ahead: Vec<Foreseen>, job: Box<dyn WriteJob>) {
        if let Err((job, error)) = self.try_submit(organization, ahead, job) {
            job.fail(error);
        }
    }

    fn try_submit(
        &self,
        organization: Organization,
        ahead: Vec<Foreseen>,
        job: Box<dyn WriteJob>,
    ) -> Result<(), (Box<dyn WriteJob>, DbError)> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let own_max = self.queue_max.div_ceil(2);
        let own = state.queues.get(&organization).map_or(0, VecDeque::len);
        let refusal = if state.closed {
            Some("it is shutting down".to_owned())
        } else if state.queued >= self.queue_max {
            Some(format!("{} writes are waiting already", state.queued))
        } else if own >= own_max {
            Some(format!("{own} writes of this organization are waiting already"))
        } else {
            None
        };
        if let Some(why) = refusal {
            return Err((job, DbError::Unavailable(why)));
        }
        if own == 0 && !state.held.contains(&organization) {
            state.rotation.push_back(organization);
        }
        state.queues.entry(organization).or_default().push_back(Entry {
            organization,
            job,
            ahead,
            started: false,
        });
        state.queued += 1;
        drop(guard);
        self.ready.notify_one();
        Ok(())
    }

    /// Waits for the next batch. `None` if the schedule is closed and everything was taken.
    pub(super) fn take(&self) -> Option<Batch> {
        let mut guard = self.lock();
        let mut since = None;
        loop {
            let waiting = guard.rotation.len();
            let patience = match since {
                _ if guard.busy == 0 || waiting >= WORTH_A_LANE || guard.closed => Duration::ZERO,
                None => PATIENCE,
                Some(since) => PATIENCE.saturating_sub(Instant::elapsed(&since)),
            };
            if waiting > 0 && patience.is_zero() {
                let state = &mut *guard;
                state.busy += 1;
                let batch = match self.lanes {
                    Lanes::Mixed => self.take_mixed(state),
                    Lanes::Holding => self.take_waiting(state),
                };
                // Those that are left may have woken this lane.
                if !state.rotation.is_empty() {
                    self.ready.notify_one();
                }
                return Some(batch);
            }
            // A lane that holds an organization may still give jobs back.
            if guard.closed && guard.queued == 0 && guard.held.is_empty() {
                return None;
            }
            guard = if waiting > 0 {
                since = since.or_else(|| Some(Instant::now()));
                let woken = self.ready.wait_timeout(guard, patience);
                woken.unwrap_or_else(PoisonError::into_inner).0
            } else {
                since = None;
                self.ready.wait(guard).unwrap_or_else(PoisonError::into_inner)
            };
        }
    }

    /// The organizations that wait.
    fn take_waiting(&self, state: &mut State) -> Batch {
        let share = state.rotation.len().min(self.batch_max);
        let mut batch = Batch::default();
        while batch.held.len() < share {
            let Some(organization) = state.rotation.pop_front() else {
                break;
            };
            let is_alone = state.yields.get(&organization) >= Some(&YIELDS_MAX);
            if is_alone && !batch.held.is_empty() {
                state.rotation.push_front(organization);
                break;
            }
            state.held.insert(organization);
            batch.held.push(organization);
            let most = self.batch_max / if is_alone { 1 } else { share };
            for _ in 0..most {
                batch.entries.extend(state.pop(organization));
            }
            if is_alone {
                break;
            }
        }
        batch
    }

    fn take_mixed(&self, state: &mut State) -> Batch {
        let mut entries = VecDeque::new();
        while entries.len() < self.batch_max {
            let Some(organization) = state.rotation.pop_front() else {
                break;
            };
            entries.extend(state.pop(organization));
            if state.queues.contains_key(&organization) {
                state.rotation.push_back(organization);
            }
        }
        Batch {
            entries,
            ..Batch::default()
        }
    }

    /// Jobs that the batch did not get to go back to the front of their organization's queue.
    pub(super) fn give_back(&self, batch: Batch) {
        let mut guard = self.lock();
        let state = &mut *guard;
        state.busy -= 1;
        let gone: HashSet<_> = batch.aside.iter().map(|entry| entry.organization).collect();
        for organization in &batch.held {
            if !gone.contains(organization) {
                state.yields.remove(organization);
            } else if batch.is_parted {
                state.yields.insert(*organization, YIELDS_MAX);
            } else {
                *state.yields.entry(*organization).or_default() += 1;
            }
        }
        for entry in batch.aside.into_iter().chain(batch.entries).rev() {
            let organization = entry.organization;
            if !state.queues.contains_key(&organization) && batch.held.is_empty() {
                state.rotation.push_front(organization);
            }
            state.queues.entry(organization).or_default().push_front(entry);
            state.queued += 1;
        }
        for organization in batch.held {
            state.held.remove(&organization);
            if state.queues.contains_key(&organization) {
                state.rotation.push_back(organization);
            }
        }
        let wake_all = state.closed;
        let wake_one = !state.rotation.is_empty();
        drop(guard);
        if wake_all {
            self.ready.notify_all();
        } else if wake_one {
            self.ready.notify_one();
        }
    }

    /// Accepts no more jobs. Lanes end when the queued ones are done.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Removes an empty queue.
    fn pop(&mut self, organization: Organization) -> Option<Entry> {
        let queue = self.queues.get_mut(&organization)?;
        let entry = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&organization);
        }
        self.queued -= usize::from(entry.is_some());
        entry
    }
}
