//! The metrics of a worker.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bursar_app::backlog::Waiting;
use bursar_domain::Timestamp;
use bursar_domain::message::Queue;
use bursar_domain::reminder::Method;

/// A metric: name, help text, and a value for each set of labels.
pub type Figure = (&'static str, &'static str, Vec<(String, u64)>);

/// One per process.
#[derive(Debug, Default)]
pub struct Tally {
    mail: Counts,
    sms: Counts,
    queues: Mutex<Vec<(Queue, Waiting)>>,
}

/// Per transport.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) sent: AtomicU64,
    /// To files.
    pub(super) written: AtomicU64,
    pub(super) failed: AtomicU64,
    pub(super) retried: AtomicU64,
    pub(super) is_paused: AtomicBool,
}

impl Tally {
    pub(super) const fn of(&self, method: Method) -> &Counts {
        match method {
            Method::Email => &self.mail,
            Method::Sms => &self.sms,
        }
    }

    pub(super) fn measured(&self, queues: Vec<(Queue, Waiting)>) {
        *self.queues.lock().unwrap_or_else(PoisonError::into_inner) = queues;
    }

    /// The queues were measured some seconds ago; their age is extrapolated to `now`.
    pub fn figures(&self, now: Timestamp) -> Vec<Figure> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        let of_queue = |value: fn(&Waiting, Timestamp) -> u64| {
            let line =
                |(queue, waiting): &(Queue, Waiting)| (format!("queue=\"{queue}\""), value(waiting, now));
            queues.iter().map(line).collect()
        };
        let mut messages = Vec::new();
        let mut paused = Vec::new();
        for method in Method::ALL {
            let counts = self.of(*method);
            for (outcome, count) in [
                ("sent", &counts.sent),
                ("written", &counts.written),
                ("failed", &counts.failed),
                ("retried", &counts.retried),
            ] {
                let labels = format!("method=\"{method}\",outcome=\"{outcome}\"");
                messages.push((labels, count.load(Ordering::Relaxed)));
            }
            let is_paused = u64::from(counts.is_paused.load(Ordering::Relaxed));
            paused.push((format!("method=\"{method}\""), is_paused));
        }
        vec![
            (
                "bursar_worker_queue_length",
                "Work that is due and not done.",
                of_queue(|waiting, _| waiting.count.unsigned_abs()),
            ),
            (
                "bursar_worker_queue_oldest_seconds",
                "For how long the oldest of it has been due.",
                of_queue(age),
            ),
            (
                "bursar_worker_messages_total",
                "Attempts to send a message, by what came of them.",
                messages,
            ),
            (
                "bursar_worker_paused",
                "1 while nothing is sent because the server refuses the login or cannot be reached.",
                paused,
            ),
        ]
    }
}

fn age(waiting: &Waiting, now: Timestamp) -> u64 {
    let micros = waiting.since.map_or(0, |since| now.micros() - since.micros());
    u64::try_from(micros / 1_000_000).unwrap_or(0)
}
