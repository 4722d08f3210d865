//! Keeps the claims of a worker that is at work: a slow server must not look like a dead worker.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bursar_app::outbox::{self, Claimed};
use bursar_app::{App, AppError, Identity};
use bursar_domain::ids::{MessageId, OrganizationId};

use super::NO_ORGANIZATION;
use super::guard::ClockGuard;

/// The claims of one worker.
#[derive(Clone, Debug, Default)]
pub(super) struct Leases(Arc<(Mutex<Held>, Condvar)>);

#[derive(Debug, Default)]
struct Held {
    claims: Vec<(OrganizationId, MessageId, i64)>,
    is_over: bool,
}

impl Leases {
    /// These are held from now on, until they are cleared. One that has ended meanwhile is left alone.
    pub(super) fn hold(&self, claimed: &[Claimed]) {
        let name = |claim: &Claimed| (claim.message.organization, claim.message.id, claim.attempt);
        self.lock().claims = claimed.iter().map(name).collect();
    }

    /// None is held any more.
    pub(super) fn clear(&self) {
        self.lock().claims.clear();
    }

    pub(super) fn stop(&self) {
        self.lock().is_over = true;
        self.0.1.notify_all();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews what is held three times a lease, on a thread of its own.
    pub(super) fn keep(
        &self,
        app: &App,
        guard: &ClockGuard,
        lease_seconds: i64,
    ) -> std::io::Result<JoinHandle<()>> {
        let (leases, app, guard) = (self.clone(), app.clone(), guard.clone());
        let pause = Duration::from_secs(lease_seconds.unsigned_abs()) / 3;
        thread::Builder::new()
            .name("bursar-leases".into())
            .spawn(move || {
                while let Some(claims) = leases.wait(pause) {
                    let until = guard.now().plus_seconds(lease_seconds);
                    let renewed =
                        app.change::<_, AppError>(Identity::Worker, NO_ORGANIZATION, move |whole| {
                            outbox::renew(whole, &claims, until)
                        });
                    if let Err(error) = renewed.wait() {
                        tracing::warn!(%error, "the worker's claims could not be renewed");
                    }
                }
            })
    }

    /// What is held after a pause, when something is; `None` when it is over.
    fn wait(&self, pause: Duration) -> Option<Vec<(OrganizationId, MessageId, i64)>> {
        loop {
            let held = self.lock();
            let waited = self.0.1.wait_timeout_while(held, pause, |held| !held.is_over);
            let held = waited.unwrap_or_else(PoisonError::into_inner).0;
            if held.is_over {
                return None;
            }
            if !held.claims.is_empty() {
                return Some(held.claims.clone());
            }
        }
    }
}
