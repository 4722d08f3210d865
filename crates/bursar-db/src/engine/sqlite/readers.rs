//! The reader connections, lent to the calling threads.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::super::fault::sqlite_error;
use super::super::job::guarded;
use super::super::memo::Memo;
use super::super::migrate;
use super::super::tx::Tx;
use super::{Files, Role};
use crate::error::DbError;

/// How long a caller waits for a connection that others use.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// Opens connections when they are first needed.
pub(in super::super) struct Readers {
    files: Arc<Files>,
    connections_max: usize,
    state: Mutex<State>,
    returned: Condvar,
}

#[derive(Default)]
struct State {
    #[expect(clippy::vec_box, reason = "every read takes one out and puts it back")]
    idle: Vec<Box<Reader>>,
    open: usize,
    closed: bool,
    /// Callers that wait for a connection. Without any, none is woken: waking is a system call.
    waiting: usize,
}

struct Reader {
    connection: Connection,
    memo: Memo,
}

impl Reader {
    /// Returns false if the connection is not fit for another read.
    fn read<T, E: From<DbError>>(
        &mut self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> (Result<T, E>, bool) {
        let connection = &self.connection;
        let versions = connection.prepare_cached("PRAGMA data_version");
        let begun = versions.and_then(|mut versions| {
            // The row is not released yet: until then SQLite keeps the snapshot it was read in, which saves BEGIN and
            // ROLLBACK.
            let mut rows = versions.query([])?;
            let version = rows.next()?.map_or(Ok(0), |row| row.get(0))?;
            if self.memo.renew(version)
                && let Err(error) = migrate::require_version(&mut Tx::sqlite(connection))
            {
                self.memo = Memo::default();
                return Ok((Err(error.into()), true));
            }
            Ok(guarded(work, &mut Tx::sqlite_reader(connection, &mut self.memo)))
        });
        begun.unwrap_or_else(|error| (Err(sqlite_error(&error).into()), false))
    }
}

impl Readers {
    pub(super) fn new(files: &Arc<Files>, connections_max: usize) -> Self {
        Readers {
            files: Arc::clone(files),
            connections_max: connections_max.max(1),
            state: Mutex::default(),
            returned: Condvar::new(),
        }
    }

    /// Runs on the caller's thread. All statements see one snapshot.
    pub(in super::super) fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.files.look()?;
        let mut reader = self.take()?;
        let (result, intact) = reader.read(work);
        if intact {
            self.give_back(reader);
        } else {
            self.discard();
        }
        result
    }

    /// Closes idle connections now, and those in use when they come back.
    pub(in super::super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.open -= state.idle.len();
        state.idle.clear();
        drop(state);
        self.returned.notify_all();
    }

    fn take(&self) -> Result<Box<Reader>, DbError> {
        let mut state = self.lock();
        let mut since = None;
        loop {
            if state.closed {
                return Err(DbError::Unavailable("it is shutting down".to_owned()));
            }
            if let Some(reader) = state.idle.pop() {
                return Ok(reader);
            }
            if state.open < self.connections_max {
                state.open += 1;
                break;
            }
            let waited = since.get_or_insert_with(Instant::now).elapsed();
            let Some(left) = WAIT_MAX.checked_sub(waited) else {
                return Err(DbError::Unavailable("all its readers are busy".to_owned()));
            };
            state.waiting += 1;
            state = self
                .returned
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.waiting -= 1;
        }
        drop(state);
        let connection = self.files.open(Role::Reader).inspect_err(|_| self.discard())?;
        Ok(Box::new(Reader {
            connection,
            memo: Memo::default(),
        }))
    }

    fn give_back(&self, reader: Box<Reader>) {
        let mut state = self.lock();
        if state.closed {
            state.open -= 1;
        } else {
            state.idle.push(reader);
        }
        self.wake_one(state);
    }

    fn discard(&self) {
        let mut state = self.lock();
        state.open -= 1;
        self.wake_one(state);
    }

    fn wake_one(&self, state: MutexGuard<'_, State>) {
        let is_waited_for = state.waiting > 0;
        drop(state);
        if is_waited_for {
            self.returned.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
