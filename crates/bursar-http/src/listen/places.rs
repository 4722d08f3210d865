//! The limit on connections, and which one gives way when it is reached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout};

use super::pulse::Pulse;

/// How often a full server logs it.
const FULL_TOLD_EVERY: Duration = Duration::from_secs(10);
/// How long a connection that was asked to give way has before another one is asked.
const GIVING_WAY_MAX: Duration = Duration::from_millis(50);

pub(super) struct Places {
    free: Arc<Semaphore>,
    taken: Arc<Taken>,
    number: u64,
    told_full: Option<Instant>,
}

type Taken = Mutex<HashMap<u64, Arc<Pulse>>>;

/// Held by a connection until dropped.
pub(super) struct Place {
    number: u64,
    taken: Arc<Taken>,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.taken).remove(&self.number);
    }
}

impl Places {
    pub(super) fn new(connections_max: usize) -> Self {
        let places = connections_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(places)),
            taken: Arc::default(),
            number: 0,
            told_full: None,
        }
    }

    /// When the server is full, asks the most expendable connections to end, one after the other.
    pub(super) async fn take(&mut self, pulse: Arc<Pulse>) -> Place {
        let permit = match Arc::clone(&self.free).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => self.wait().await,
        };
        self.number += 1;
        lock(&self.taken).insert(self.number, pulse);
        Place {
            number: self.number,
            taken: Arc::clone(&self.taken),
            _permit: permit,
        }
    }

    async fn wait(&mut self) -> Option<OwnedSemaphorePermit> {
        if self.told_full.is_none_or(|at| at.elapsed() >= FULL_TOLD_EVERY) {
            self.told_full = Some(Instant::now());
            tracing::warn!("all connections are taken: idle ones are closed for new ones");
        }
        loop {
            self.ask_one_to_end();
            let permit = Arc::clone(&self.free).acquire_owned();
            if let Ok(permit) = timeout(GIVING_WAY_MAX, permit).await {
                // The semaphore is never closed, so this is always a place.
                return permit.ok();
            }
        }
    }

    /// Asks the most expendable connection to end, if there is one.
    pub(super) fn ask_one_to_end(&self) {
        let now = Instant::now();
        let taken = lock(&self.taken);
        let rests = taken.values().filter_map(|pulse| Some((pulse.rest(now)?, pulse)));
        if let Some((_, pulse)) = rests.max_by_key(|(rest, _)| *rest) {
            pulse.ask_to_end();
        }
    }
}

fn lock(taken: &Taken) -> MutexGuard<'_, HashMap<u64, Arc<Pulse>>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}
