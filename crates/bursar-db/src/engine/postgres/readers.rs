//! The reader threads and their queue.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

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
    watch: Watch,
}

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
}

impl Readers {
    pub(in super::super) fn new(queue_max: usize) -> Self {
        Readers {
            state: Mutex::default(),
            ready: Condvar::new(),
            queue_max: queue_max.max(1),
            watch: Watch::new(),
        }
    }

    /// Queues a read, or fails it at once if there is no room.
    pub(in super::super) fn submit(&self, job: Box<dyn ReadJob>, snapshot: bool) {
        let mut state = self.lock();
        let refusal = if state.closed {
            "it is shutting down".to_owned()
        } else if state.jobs.len() >= self.queue_max {
            format!("{} reads are waiting already", state.jobs.len())
        } else {
            state.jobs.push_back(Queued { job, snapshot });
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
        while let Some(Queued { job, snapshot }) = self.take() {
            if job.is_abandoned() {
                continue;
            }
            let started = self
                .look(&mut session)
                .and_then(|()| session.start(snapshot).map_err(|fault| fault.error));
            if let Err(error) = started {
                job.fail(error);
                continue;
            }
            let intact = job.run(Tx::postgres(&mut session));
            session.finish(intact);
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

    fn take(&self) -> Option<Queued> {
        let mut state = self.lock();
        loop {
            if let Some(queued) = state.jobs.pop_front() {
                return Some(queued);
            }
            if state.closed {
                return None;
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
