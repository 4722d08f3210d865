//! Asks payment providers what became of online payments. Reports of a provider ring the bell; without them it is asked
//! with growing waits, so that a lost report delays a booking and nothing else.

use std::thread;
use std::time::Duration;

use bursar_app::online::{self, Task, Teller};
use bursar_app::{AppError, NO_ORGANIZATION};

use super::base::{Base, is_outage};

/// Questions at once. A provider that is slow for one organization is so for all.
const AT_ONCE: i64 = 8;
/// The longest rest.
const REST_MAX: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Asking {
    base: Base,
    teller: Teller,
    lease_seconds: i64,
}

impl Asking {
    pub(super) fn new(base: Base, teller: Teller, lease_seconds: i64) -> Self {
        Self {
            teller: teller.with(base.app.clone()),
            base,
            lease_seconds,
        }
    }

    pub(super) fn run(self) {
        let base = self.base.clone();
        base.run_paced(
            || {
                self.step().map(|done| match done {
                    0 => REST_MAX,
                    _ => Duration::ZERO,
                })
            },
            |error| {
                // The due-work loop reports an unavailable database.
                if !is_outage(error) {
                    tracing::error!(%error, "payment providers cannot be asked; it is tried again");
                }
            },
        );
    }

    /// Asks what is due now; returns how much that was.
    pub(super) fn step(&self) -> Result<usize, AppError> {
        let due = self.base.look(online::next_due)?;
        let now = self.base.guard.now();
        if due.is_none_or(|at| now < at) {
            return Ok(0);
        }
        let until = now.plus_seconds(self.lease_seconds);
        let tasks = self
            .base
            .change(NO_ORGANIZATION, move |whole| online::claim(whole, until, AT_ONCE))?;
        thread::scope(|scope| {
            for task in &tasks {
                scope.spawn(|| self.perform(*task));
            }
        });
        Ok(tasks.len())
    }

    fn perform(&self, task: Task) {
        if let Err(error) = self.teller.perform(task)
            && !is_outage(&error)
        {
            tracing::error!(?task, %error, "a payment provider could not be asked; it is tried again");
        }
    }
}
