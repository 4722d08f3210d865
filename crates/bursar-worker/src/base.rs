//! What every thread of a worker shares.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bursar_app::{Act, App, AppError, Identity, Whole};
use bursar_domain::ids::OrganizationId;

use super::bell::{Bell, Heard};
use super::guard::ClockGuard;

/// The longest sleep, so that messages queued by another process are noticed.
const SLEEP_MAX: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub(super) struct Base {
    pub(super) app: App,
    pub(super) guard: ClockGuard,
    pub(super) bell: Bell,
}

impl Base {
    pub(super) fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.look(Identity::Worker, work).wait()
    }

    pub(super) fn change<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnMut(&mut Whole<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.change(Identity::Worker, organization, work).wait()
    }

    pub(super) fn act<T: Send + 'static>(
        &self,
        organization: OrganizationId,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, AppError> + Send + 'static,
    ) -> Result<T, AppError> {
        self.app.act(Identity::Worker, organization, work).wait()
    }

    /// Runs steps until the worker stops, and sleeps when there is nothing to do. `tell` gets the reason why a step
    /// failed, once for each reason.
    pub(super) fn run(&self, mut step: impl FnMut() -> Result<usize, AppError>, tell: fn(&AppError)) {
        let paced = || {
            step().map(|done| match done {
                0 => SLEEP_MAX,
                _ => Duration::ZERO,
            })
        };
        self.run_paced(paced, tell);
    }

    /// The same for steps that say how long there is nothing to do.
    pub(super) fn run_paced(
        &self,
        mut step: impl FnMut() -> Result<Duration, AppError>,
        tell: fn(&AppError),
    ) {
        let (mut heard, mut told) = (Heard::default(), None);
        while !self.bell.is_over() {
            // The panic hook has logged it; the worker must not die while the server lives on.
            let rest = match catch_unwind(AssertUnwindSafe(&mut step)) {
                Ok(Ok(rest)) => {
                    told = None;
                    rest
                }
                Ok(Err(error)) => {
                    let reason = error.to_string();
                    if told.as_ref() != Some(&reason) {
                        tell(&error);
                        told = Some(reason);
                    }
                    SLEEP_MAX
                }
                Err(_) => SLEEP_MAX,
            };
            if !rest.is_zero() {
                self.bell.wait(&mut heard, rest);
            }
        }
    }
}

/// Whether the database as a whole is unavailable, so that no other work can be done either.
pub(super) fn is_outage(error: &AppError) -> bool {
    matches!(error, AppError::Db(error) if error.is_outage())
}
