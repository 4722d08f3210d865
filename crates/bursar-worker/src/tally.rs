//! The metrics of a worker.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use bursar_app::backlog::Waiting;
use bursar_app::webhooks::delivery::Lag;
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
    deliveries: Deliveries,
    lags: Mutex<Vec<Lag>>,
}

/// To webhook endpoints.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    pub(super) delivered: AtomicU64,
    pub(super) failed: AtomicU64,
    in_flight: AtomicU64,
}

/// Counts as in flight until it is dropped.
pub(super) struct Flight<'a>(&'a AtomicU64);

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
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

    pub(super) const fn deliveries(&self) -> &Deliveries {
        &self.deliveries
    }

    pub(super) fn takes_off(&self) -> Flight<'_> {
        let in_flight = &self.deliveries.in_flight;
        in_flight.fetch_add(1, Ordering::Relaxed);
        Flight(in_flight)
    }

    pub(super) fn lags(&self, lags: Vec<Lag>) {
        *self.lags.lock().unwrap_or_else(PoisonError::into_inner) = lags;
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
                "Attempts to send a message, by outcome.",
                messages,
            ),
            (
                "bursar_worker_paused",
                "1 while nothing is sent because the server refuses the login or cannot be reached.",
                paused,
            ),
            (
                "bursar_worker_webhook_attempts_total",
                "Attempts to deliver an event to a webhook endpoint, by outcome.",
                vec![
                    (
                        "outcome=\"delivered\"".to_owned(),
                        count(&self.deliveries.delivered),
                    ),
                    ("outcome=\"failed\"".to_owned(), count(&self.deliveries.failed)),
                ],
            ),
            (
                "bursar_worker_webhook_in_flight",
                "Deliveries to webhook endpoints that are under way.",
                vec![(String::new(), count(&self.deliveries.in_flight))],
            ),
            (
                "bursar_worker_webhook_lag_seconds",
                "For how long the next event of an enabled webhook endpoint has been waiting.",
                self.lag_lines(now),
            ),
        ]
    }

    fn lag_lines(&self, now: Timestamp) -> Vec<(String, u64)> {
        let lags = self.lags.lock().unwrap_or_else(PoisonError::into_inner);
        let seconds = |lag: &Lag| {
            let micros = lag.since.map_or(0, |since| now.micros() - since.micros());
            u64::try_from(micros / 1_000_000).unwrap_or(0)
        };
        let line = |lag: &Lag| (format!("webhook=\"{}\"", lag.id), seconds(lag));
        lags.iter().map(line).collect()
    }
}

fn count(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

fn age(waiting: &Waiting, now: Timestamp) -> u64 {
    let micros = waiting.since.map_or(0, |since| now.micros() - since.micros());
    u64::try_from(micros / 1_000_000).unwrap_or(0)
}
