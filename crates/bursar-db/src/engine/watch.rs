//! Whether the open database may still be used. Whichever read comes along checks once a second, so that all others
//! only compare the time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::error::DbError;

const PAUSE_MILLIS: u64 = 1_000;

pub(super) struct Watch {
    since: Instant,
    looked_at_millis: AtomicU64,
    is_troubled: AtomicBool,
    trouble: Mutex<Option<DbError>>,
}

impl Watch {
    /// Opening the database was the first check.
    pub(super) fn new() -> Self {
        Watch {
            since: Instant::now(),
            looked_at_millis: AtomicU64::new(0),
            is_troubled: AtomicBool::new(false),
            trouble: Mutex::default(),
        }
    }

    /// Checks if it is time to, and returns the last finding.
    pub(super) fn look(&self, check: impl FnOnce() -> Result<(), DbError>) -> Result<(), DbError> {
        let now = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.looked_at_millis.load(Ordering::Relaxed);
        let is_time = now >= last.saturating_add(PAUSE_MILLIS);
        let claim = |at| {
            self.looked_at_millis
                .compare_exchange(last, at, Ordering::Relaxed, Ordering::Relaxed)
        };
        if is_time && claim(now).is_ok() {
            return self.note(check());
        }
        if !self.is_troubled.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.lock().clone().map_or(Ok(()), Err)
    }

    /// Stores the result of a check. A check that could not be made found nothing.
    pub(super) fn note(&self, found: Result<(), DbError>) -> Result<(), DbError> {
        if !matches!(found, Err(DbError::Unavailable(_))) {
            let mut trouble = self.lock();
            trouble.clone_from(&found.clone().err());
            self.is_troubled.store(trouble.is_some(), Ordering::Relaxed);
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, Option<DbError>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
