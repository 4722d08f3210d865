//! The reader threads and their queue.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::super::ahead::Foreseen;
use super::super::job::ReadJob;
use super::super::migrate;
use super::super::tx::Tx;
use super::super::watch::Watch;
use super::{Mode, PgSession, Server};
use crate::error::DbError;

pub(in super::super) struct Readers {
    state: Mutex<State>,
    ready: Condvar,
    queue_max: usize,
    threads: usize,
    watch: Watch,
}

/// Reads that share a flight. A flight is answered as a whole, so the first of them waits for the last.
const FLIGHT_JOBS_MAX: usize = 8;

#[derive(Default)]
struct State {
    jobs: VecDeque<Queued>,
    closed: bool,
    /// Threads that wait for a job. Without any, none is woken: waking is a system call.
    waiting: usize,
}

struct Queued {
    job: Box<dyn ReadJob>,
    snapshot: bool,
    ahead: Vec<Foreseen>,
}

impl Queued {
    /// Whether all that it will ask can be sent with other reads: it delays none of them.
    fn is_foreseen(&self) -> bool {
        self.ahead.len() > 1
    }
}

impl Readers {
    /// For this many threads.
    pub(in super::super) fn new(queue_max: usize, threads: usize) -> Self {
        Readers {
            state: Mutex::default(),
            ready: Condvar::new(),
            queue_max: queue_max.max(1),
            threads: threads.max(1),
            watch: Watch::new(),
        }
    }

    /// Queues a read, or fails it at once if there is no room.
    pub(in super::super) fn submit(&self, job: Box<dyn ReadJob>, snapshot: bool, ahead: Vec<Foreseen>) {
        let mut state = self.lock();
        let refusal = if state.closed {
            "it is shutting down".to_owned()
        } else if state.jobs.len() >= self.queue_max {
            format!("{} reads are waiting already", state.jobs.len())
        } else {
            state.jobs.push_back(Queued { job, snapshot, ahead });
            let is_waited_for = state.waiting > 0;
            drop(state);
            if is_waited_for {
                self.ready.notify_one();
            }
            return;
        };
        drop(state);
        job.fail(DbError::Unavailable(refusal));
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "the thread owns its share of the server"
    )]
    pub(in super::super) fn run(&self, server: Arc<Server>) {
        let mut session = PgSession::new(Arc::clone(&server), Mode::Read);
        let mut jobs = Vec::new();
        while self.take(&mut jobs) {
            let found = self.look(&mut session);
            if found.is_ok() {
                session.send_ahead(jobs.iter().map(|queued| &*queued.ahead));
            }
            for Queued { job, snapshot, .. } in jobs.drain(..) {
                if !job.is_abandoned() {
                    let started = found
                        .clone()
                        .and_then(|()| session.start(snapshot).map_err(|fault| fault.error));
                    match started {
                        Ok(()) => {
                            let intact = job.run(Tx::postgres(&mut session));
                            session.finish(intact);
                        }
                        Err(error) => job.fail(error),
                    }
                }
                session.end_turn();
            }
        }
    }

    /// Refuses a schema of another version, once one of the threads has seen it.
    fn look(&self, session: &mut PgSession) -> Result<(), DbError> {
        self.watch.look(|| {
            session.start(false).map_err(|fault| fault.error)?;
            let found = migrate::require_version(&mut Tx::postgres(session));
            session.finish(true);
            found
        })
    }

    /// Accepts no more reads. The threads end when the queued ones are done.
    pub(in super::super) fn close(&self) {
        self.lock().closed = true;
        self.ready.notify_all();
    }

    /// Waits for a read. If it is foreseen, takes its share of those behind it that are foreseen too. Returns false
    /// after the last.
    fn take(&self, jobs: &mut Vec<Queued>) -> bool {
        let mut state = self.lock();
        loop {
            if let Some(first) = state.jobs.pop_front() {
                let mut more = match first.is_foreseen() {
                    true => (state.jobs.len() / self.threads).min(FLIGHT_JOBS_MAX - 1),
                    false => 0,
                };
                jobs.push(first);
                while more > 0
                    && let Some(next) = state.jobs.pop_front_if(|next| next.is_foreseen())
                {
                    jobs.push(next);
                    more -= 1;
                }
                return true;
            }
            if state.closed {
                return false;
            }
            state.waiting += 1;
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
