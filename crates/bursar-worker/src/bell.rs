//! Wakes the threads of a worker, and tells them to stop.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Clones share one bell.
#[derive(Clone, Debug, Default)]
pub struct Bell(Arc<(Mutex<Rung>, Condvar)>);

#[derive(Clone, Copy, Debug, Default)]
struct Rung {
    times: u64,
    is_over: bool,
}

/// How often one listener has heard the bell.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heard(u64);

impl Bell {
    pub fn ring(&self) {
        self.lock().times += 1;
        self.0.1.notify_all();
    }

    /// Everybody stops after the work in hand.
    pub fn stop(&self) {
        self.lock().is_over = true;
        self.0.1.notify_all();
    }

    pub fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Waits until it rings, at most so long. A ring while the listener was busy counts too.
    pub fn wait(&self, heard: &mut Heard, at_most: Duration) {
        let listening = |rung: &mut Rung| rung.times == heard.0 && !rung.is_over;
        let waited = self.0.1.wait_timeout_while(self.lock(), at_most, listening);
        heard.0 = waited.unwrap_or_else(PoisonError::into_inner).0.times;
    }

    /// Waits so long, or until the worker stops. Returns whether it stops.
    pub fn pause(&self, long: Duration) -> bool {
        let waited = self
            .0
            .1
            .wait_timeout_while(self.lock(), long, |rung| !rung.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    fn lock(&self) -> MutexGuard<'_, Rung> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
