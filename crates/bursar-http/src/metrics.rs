//! Metrics in Prometheus text format, kept in atomics: a request costs three additions.

use std::fmt::Write as _;
use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, StatusCode};
use tokio::net::TcpListener;

use crate::listen::{self, Panicked, Service};
use crate::log;
use crate::reply::{self, Reply};

/// Upper bounds of the duration buckets.
const BOUNDS_MICROS: [u64; 12] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000,
];
/// Statuses with a counter of their own; one more counter is for all others.
const STATUSES: [u16; 14] = [
    200, 201, 204, 400, 401, 403, 404, 405, 409, 413, 415, 429, 500, 503,
];

/// For scrapers. These file descriptors are not available to the API.
pub const CONNECTIONS_MAX: usize = 32;

#[derive(Debug)]
pub struct Metrics {
    /// One per endpoint, and a last one for requests that matched none.
    routes: Vec<RouteCounts>,
    in_flight: AtomicU64,
}

#[derive(Debug)]
struct RouteCounts {
    path: &'static str,
    method: &'static str,
    by_status: [AtomicU64; STATUSES.len() + 1],
    by_duration: [AtomicU64; BOUNDS_MICROS.len() + 1],
    micros: AtomicU64,
}

impl RouteCounts {
    fn new((path, method): (&'static str, &'static str)) -> Self {
        Self {
            path,
            method,
            by_status: Default::default(),
            by_duration: Default::default(),
            micros: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    pub fn new(routes: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        let named = routes.into_iter().chain([("none", "any")]);
        Self {
            routes: named.map(RouteCounts::new).collect(),
            in_flight: AtomicU64::new(0),
        }
    }

    /// Counts a request as in flight until the guard is dropped.
    pub fn enter(&self) -> InFlightGuard<'_> {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self)
    }

    /// `route` is the endpoint's index.
    pub fn count(&self, route: Option<usize>, status: u16, took: Duration) {
        let none = self.routes.len() - 1;
        let counts = &self.routes[route.map_or(none, |place| place.min(none))];
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

    fn render(&self, others: &[Figure]) -> String {
        let mut out = String::with_capacity(16 << 10);
        out.push_str(
            "# HELP bursar_requests_total Requests completed.\n# TYPE bursar_requests_total counter\n",
        );
        for counts in self.asked() {
            let RouteCounts { path, method, .. } = counts;
            for (i, count) in counts.by_status.iter().enumerate() {
                let count = count.load(Ordering::Relaxed);
                if count > 0 {
                    let status = STATUSES.get(i).map_or_else(|| "other".to_owned(), u16::to_string);
                    let _ = writeln!(
                        out,
                        "bursar_requests_total{{route=\"{path}\",method=\"{method}\",status=\"{status}\"}} {count}"
                    );
                }
            }
        }
        out.push_str("# HELP bursar_request_duration_seconds Time to respond.\n# TYPE bursar_request_duration_seconds histogram\n");
        for counts in self.asked() {
            let RouteCounts { path, method, .. } = counts;
            let mut total = 0;
            for (i, count) in counts.by_duration.iter().enumerate() {
                total += count.load(Ordering::Relaxed);
                let bound = BOUNDS_MICROS
                    .get(i)
                    .map_or_else(|| "+Inf".to_owned(), |micros| seconds(*micros));
                let _ = writeln!(
                    out,
                    "bursar_request_duration_seconds_bucket{{route=\"{path}\",method=\"{method}\",le=\"{bound}\"}} {total}"
                );
            }
            let sum = seconds(counts.micros.load(Ordering::Relaxed));
            let _ = writeln!(
                out,
                "bursar_request_duration_seconds_sum{{route=\"{path}\",method=\"{method}\"}} {sum}"
            );
            let _ = writeln!(
                out,
                "bursar_request_duration_seconds_count{{route=\"{path}\",method=\"{method}\"}} {total}"
            );
        }
        let own = [
            figure(
                "bursar_log_lines_dropped_total",
                "Lines of the log that could not be written.",
                log::dropped(),
            ),
            figure(
                "bursar_requests_in_flight",
                "Requests in progress.",
                self.in_flight.load(Ordering::Relaxed),
            ),
        ];
        for (name, help, values) in own.iter().chain(others) {
            let kind = if name.ends_with("_total") {
                "counter"
            } else {
                "gauge"
            };
            let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in values {
                let _ = match labels.as_str() {
                    "" => writeln!(out, "{name} {value}"),
                    labels => writeln!(out, "{name}{{{labels}}} {value}"),
                };
            }
        }
        out
    }

    /// Endpoints with at least one request.
    fn asked(&self) -> impl Iterator<Item = &RouteCounts> {
        let is_counted = |count: &AtomicU64| count.load(Ordering::Relaxed) > 0;
        self.routes
            .iter()
            .filter(move |counts| counts.by_duration.iter().any(is_counted))
    }
}

fn seconds(micros: u64) -> String {
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[derive(Debug)]
pub struct InFlightGuard<'a>(&'a Metrics);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An additional metric: name, help text, and a value for each set of labels (`kind="mail"`, or empty). A name that
/// ends in `_total` is a counter, any other a gauge.
pub type Figure = (&'static str, &'static str, Vec<(String, u64)>);

/// A metric without labels.
pub fn figure(name: &'static str, help: &'static str, value: u64) -> Figure {
    (name, help, vec![(String::new(), value)])
}

/// Serves the metrics on their own listener. `others` provides additional metrics.
pub async fn serve<F>(listener: TcpListener, metrics: Arc<Metrics>, others: F)
where
    F: Fn() -> Vec<Figure> + Send + Sync + 'static,
{
    let options = listen::Options {
        connections_max: CONNECTIONS_MAX,
        ..listen::Options::default()
    };
    let service = Arc::new(Exposition { metrics, others });
    listen::serve(listener, service, options, pending(), pending()).await;
}

struct Exposition<F> {
    metrics: Arc<Metrics>,
    others: F,
}

impl<F: Fn() -> Vec<Figure> + Send + Sync + 'static> Service for Exposition<F> {
    type Body = Full<Bytes>;

    async fn call(self: &Arc<Self>, request: Request<Incoming>, _: SocketAddr) -> Reply {
        let mut reply = reply::json(200, String::new());
        if request.uri().path() == "/metrics" {
            *reply.body_mut() = self.metrics.render(&(self.others)()).into();
            let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
            reply.headers_mut().insert(CONTENT_TYPE, kind);
        } else {
            *reply.status_mut() = StatusCode::NOT_FOUND;
        }
        reply
    }

    fn on_panic(&self, _: Panicked) -> Reply {
        reply::json(500, String::new())
    }
}
