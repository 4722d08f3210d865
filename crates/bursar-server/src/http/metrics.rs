//! Counters in Prometheus' text form, kept in atomics: a request costs three additions.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::routes::{ROUTES, Route};
use crate::worker::guard::ClockGuard;

/// Upper bounds of the duration buckets, in microseconds.
const BOUNDS_MICROS: [u64; 12] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000,
];
/// Statuses that are counted by name; the last place is for all others.
const STATUSES: [u16; 14] = [
    200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503,
];

/// Connections of those who read the metrics: files that the API cannot have.
pub const CONNECTIONS_MAX: usize = 32;

/// What a server counts.
#[derive(Debug)]
pub struct Metrics {
    /// One per endpoint, and one for requests that reached none.
    routes: Vec<RouteCounts>,
    in_flight: AtomicU64,
}

#[derive(Debug, Default)]
struct RouteCounts {
    by_status: [AtomicU64; STATUSES.len() + 1],
    by_duration: [AtomicU64; BOUNDS_MICROS.len() + 1],
    micros: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            routes: (0..=ROUTES.len()).map(|_| RouteCounts::default()).collect(),
            in_flight: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// Counts a request in until the guard is dropped.
    pub fn enter(&self) -> InFlightGuard<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self)
    }

    /// Counts an answered request.
    pub fn count(&self, route: Option<&'static Route>, status: u16, took: Duration) {
        let index =
            route.and_then(|route| ROUTES.iter().position(|other| other.operation == route.operation));
        let counts = &self.routes[index.unwrap_or(ROUTES.len())];
        let status = STATUSES
            .iter()
            .position(|other| *other == status)
            .unwrap_or(STATUSES.len());
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_MICROS
            .iter()
            .position(|bound| micros <= *bound)
            .unwrap_or(BOUNDS_MICROS.len());
        counts.by_status[status].fetch_add(1, Ordering::Relaxed);
        counts.by_duration[bucket].fetch_add(1, Ordering::Relaxed);
        counts.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// The text that Prometheus reads. `gauges` are further values, by name.
    pub fn render(&self, gauges: &[(&str, &str, u64)]) -> String {
        let mut out = String::with_capacity(16 << 10);
        out.push_str(
            "# HELP bursar_requests_total Requests answered.\n# TYPE bursar_requests_total counter\n",
        );
        for (name, method, counts) in self.named() {
            for (i, count) in counts.by_status.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let status = STATUSES.get(i).map_or_else(|| "other".to_owned(), u16::to_string);
                    let _ = writeln!(
                        out,
                        "bursar_requests_total{{route=\"{name}\",method=\"{method}\",status=\"{status}\"}} {count}"
                    );
                }
            }
        }
        out.push_str("# HELP bursar_request_duration_seconds Time to answer.\n# TYPE bursar_request_duration_seconds histogram\n");
        for (name, method, counts) in self.named() {
            let mut total = 0;
            for (i, count) in counts.by_duration.iter().enumerate() {
                total += count.load(Ordering::Relaxed);
                let bound = BOUNDS_MICROS
                    .get(i)
                    .map_or_else(|| "+Inf".to_owned(), |micros| seconds(*micros));
                let _ = writeln!(
                    out,
                    "bursar_request_duration_seconds_bucket{{route=\"{name}\",method=\"{method}\",le=\"{bound}\"}} {total}"
                );
            }
            let sum = seconds(counts.micros.load(Ordering::Relaxed));
            let _ = writeln!(
                out,
                "bursar_request_duration_seconds_sum{{route=\"{name}\",method=\"{method}\"}} {sum}"
            );
            let _ = writeln!(
                out,
                "bursar_request_duration_seconds_count{{route=\"{name}\",method=\"{method}\"}} {total}"
            );
        }
        let _ = writeln!(
            out,
            "# HELP bursar_log_lines_dropped_total Lines of the log that could not be written.\n\
             # TYPE bursar_log_lines_dropped_total counter\nbursar_log_lines_dropped_total {}",
            crate::log::dropped()
        );
        let in_flight = self.in_flight.load(Ordering::Relaxed);
        let own = [("bursar_requests_in_flight", "Requests being answered.", in_flight)];
        for (name, help, value) in own.iter().chain(gauges) {
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        out
    }

    /// The endpoints that were asked for at least once.
    fn named(&self) -> impl Iterator<Item = (&'static str, &'static str, &RouteCounts)> {
        let names = ROUTES
            .iter()
            .map(|route| (route.path, route.method.as_str()))
            .chain([("none", "any")]);
        let asked = |counts: &RouteCounts| {
            counts
                .by_duration
                .iter()
                .any(|count| count.load(Ordering::Relaxed) > 0)
        };
        names
            .zip(&self.routes)
            .map(|((path, method), counts)| (path, method, counts))
            .filter(move |(_, _, counts)| asked(counts))
    }
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// A request being answered.
#[derive(Debug)]
pub struct InFlightGuard<'a>(&'a Metrics);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Serves the metrics on a listener of their own, for as long as the process runs.
pub async fn serve(
    listener: tokio::net::TcpListener,
    metrics: std::sync::Arc<Metrics>,
    db: bursar_db::Db,
    guard: ClockGuard,
) {
    struct Exposition {
        metrics: std::sync::Arc<Metrics>,
        db: bursar_db::Db,
        guard: ClockGuard,
    }
    impl super::listen::Service for Exposition {
        type Body = http_body_util::Full<hyper::body::Bytes>;

        async fn call(
            &self,
            request: hyper::Request<hyper::body::Incoming>,
            _: std::net::SocketAddr,
        ) -> super::reply::Reply {
            let mut reply = super::reply::json(200, String::new());
            if request.uri().path() == "/metrics" {
                let stats = self.db.stats();
                let gauges = [
                    (
                        "bursar_write_batches",
                        "Transactions committed for writes.",
                        stats.batches,
                    ),
                    ("bursar_write_jobs", "Writes that ran in them.", stats.jobs),
                    (
                        "bursar_worker_clock_held",
                        "1 while automatic work waits because the clock cannot be trusted.",
                        u64::from(self.guard.is_held()),
                    ),
                ];
                *reply.body_mut() = self.metrics.render(&gauges).into();
                let kind =
                    hyper::header::HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
                reply.headers_mut().insert(hyper::header::CONTENT_TYPE, kind);
            } else {
                *reply.status_mut() = hyper::StatusCode::NOT_FOUND;
            }
            reply
        }

        fn on_panic(&self, _: super::listen::Panicked) -> super::reply::Reply {
            super::reply::json(500, String::new())
        }
    }
    let service = std::sync::Arc::new(Exposition { metrics, db, guard });
    let options = super::listen::Options {
        connections_max: CONNECTIONS_MAX,
        ..super::listen::Options::default()
    };
    super::listen::serve(
        listener,
        service,
        options,
        std::future::pending(),
        std::future::pending(),
    )
    .await;
}
