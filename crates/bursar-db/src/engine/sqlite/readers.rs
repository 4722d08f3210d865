//! The reader connections, lent to the threads that call.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::super::job::guarded;
use super::super::tx::Tx;
use super::{Role, open};
use crate::error::DbError;

/// How long a caller waits for a connection that others use.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// A pool that opens connections when they are first needed.
pub(in super::super) struct Readers {
    path: PathBuf,
    connections_max: usize,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    open: usize,
    closed: bool,
}

impl Readers {
    pub(super) fn new(path: &Path, connections_max: usize) -> Self {
        Readers {
            path: path.to_owned(),
            connections_max: connections_max.max(1),
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Runs a read on the caller's thread.
    pub(in super::super) fn read<T, E: From<DbError>>(
        &self,
        snapshot: bool,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let connection = self.take()?;
        if snapshot && let Err(error) = run(&connection, "BEGIN DEFERRED") {
            self.discard();
            return Err(error.into());
        }
        let (result, intact) = guarded(work, &mut Tx::sqlite(&connection));
        let reset = intact && (connection.is_autocommit() || run(&connection, "ROLLBACK").is_ok());
        if reset {
            self.give_back(connection);
        } else {
            self.discard();
        }
        result
    }

    /// Closes what is idle now, and what is in use when it comes back.
    pub(in super::super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.open -= state.idle.len();
        state.idle.clear();
        drop(state);
        self.returned.notify_all();
    }

    fn take(&self) -> Result<Connection, DbError> {
        let since = Instant::now();
        let mut state = self.lock();
        loop {
            if state.closed {
                return Err(DbError::Unavailable("it is shutting down".to_owned()));
            }
            if let Some(connection) = state.idle.pop() {
                return Ok(connection);
            }
            if state.open < self.connections_max {
                state.open += 1;
                break;
            }
            let Some(left) = WAIT_MAX.checked_sub(since.elapsed()) else {
                return Err(DbError::Unavailable("all its readers are busy".to_owned()));
            };
            state = self
                .returned
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        drop(state);
        open(&self.path, Role::Reader).inspect_err(|_| self.discard())
    }

    fn give_back(&self, connection: Connection) {
        let mut state = self.lock();
        if state.closed {
            state.open -= 1;
        } else {
            state.idle.push(connection);
        }
        drop(state);
        self.returned.notify_one();
    }

    fn discard(&self) {
        self.lock().open -= 1;
        self.returned.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(connection: &Connection, sql: &str) -> Result<(), DbError> {
    let result = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute([]));
    result
        .map(|_| ())
        .map_err(|error| super::super::fault::sqlite_error(&error))
}
