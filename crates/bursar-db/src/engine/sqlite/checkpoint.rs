//! Moves committed pages from the write-ahead log to the file, mostly in the background so that the lane need not wait.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use super::super::Options;
use super::super::fault::sqlite_error;
use super::{Role, open};
use crate::error::DbError;

/// New pages in the log after which a background checkpoint is due.
const PAGES_BETWEEN: u64 = 1_000;

/// Wakes the background thread.
pub(in super::super) struct Checkpointer {
    state: Mutex<State>,
    bell: Condvar,
}

#[derive(Default)]
struct State {
    due: bool,
    closed: bool,
}

impl Checkpointer {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Checkpointer {
            state: Mutex::default(),
            bell: Condvar::new(),
        })
    }

    /// The background thread: sleeps until a checkpoint is due, and makes one more at the end.
    pub(in super::super) fn run(&self, path: &Path) {
        let connection = match open(path, Role::Checkpoint) {
            Ok(connection) => connection,
            Err(error) => {
                // The lane's own limit still holds.
                tracing::warn!(%error, "no background checkpoints");
                return;
            }
        };
        loop {
            let mut state = self.lock();
            while !state.due && !state.closed {
                state = self.bell.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            state.due = false;
            let closed = state.closed;
            drop(state);
            if let Err(error) = checkpoint(&connection, "PRAGMA wal_checkpoint(PASSIVE)") {
                tracing::warn!(%error, "a background checkpoint failed");
            }
            if closed {
                return;
            }
        }
    }

    pub(in super::super) fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    fn ring(&self) {
        self.lock().due = true;
        self.bell.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lane's side: wakes the background thread, and truncates the log itself if it exceeds its limit.
pub(super) struct LaneCheckpoint {
    pages: Arc<AtomicU64>,
    rung_at_pages: u64,
    pages_max: u64,
    /// Grows if readers keep the log from being truncated, so that the lane does not wait for them at every batch.
    next_cut_pages: u64,
    checkpointer: Arc<Checkpointer>,
    connection: Connection,
}

impl LaneCheckpoint {
    pub(super) fn new(
        path: &Path,
        lane: &mut Connection,
        checkpointer: Arc<Checkpointer>,
        options: &Options,
    ) -> Result<Self, DbError> {
        let pages = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&pages);
        lane.wal_hook(Some(
            move |_: &mut rusqlite::hooks::Wal, count: std::ffi::c_int| {
                seen.store(u64::try_from(count).unwrap_or(0), Ordering::Relaxed);
                Ok(())
            },
        ))
        .map_err(|error| sqlite_error(&error))?;
        let page_bytes: i64 = lane
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .map_err(|e| sqlite_error(&e))?;
        let pages_max = (options.wal_bytes_max / u64::try_from(page_bytes).unwrap_or(4_096).max(512)).max(1);
        Ok(LaneCheckpoint {
            pages,
            rung_at_pages: 0,
            pages_max,
            next_cut_pages: pages_max,
            checkpointer,
            connection: open(path, Role::Checkpoint)?,
        })
    }

    pub(super) fn after_commit(&mut self) {
        let pages = self.pages.load(Ordering::Relaxed);
        if pages < self.rung_at_pages {
            // The log has started over.
            self.rung_at_pages = 0;
            self.next_cut_pages = self.pages_max;
        }
        if pages >= self.next_cut_pages {
            self.cut(pages);
        } else if pages >= self.rung_at_pages + PAGES_BETWEEN {
            self.rung_at_pages = pages;
            self.checkpointer.ring();
        }
    }

    fn cut(&mut self, pages: u64) {
        match checkpoint(&self.connection, "PRAGMA wal_checkpoint(TRUNCATE)") {
            Ok(true) => {
                self.pages.store(0, Ordering::Relaxed);
                self.rung_at_pages = 0;
                self.next_cut_pages = self.pages_max;
            }
            Ok(false) => self.next_cut_pages = pages + self.pages_max / 8 + 1,
            Err(error) => {
                tracing::warn!(%error, "a checkpoint failed");
                self.next_cut_pages = pages + self.pages_max / 8 + 1;
            }
        }
    }
}

/// Returns false if another connection was in the way.
pub(super) fn checkpoint(connection: &Connection, sql: &str) -> Result<bool, DbError> {
    let busy: i64 = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(|error| sqlite_error(&error))?;
    Ok(busy == 0)
}
