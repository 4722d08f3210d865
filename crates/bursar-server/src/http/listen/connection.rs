//! One connection, from its first byte to its end.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::net::TcpStream;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep};

use super::guarded::{Guarded, Protocol, recognise};
use super::{Service, Stage, Timeouts, catch_panic};

/// A request's head, of HTTP/1 as sent and of HTTP/2 as decoded.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// What one HTTP/1 connection buffers, in each direction.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
const STREAMS_MAX: u32 = 128;
/// Bodies are small, so a wide window would only let one client park bytes in our memory.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// Streams that a client opened and reset before we looked at them; beyond this it is a flood, and the
/// connection ends (CVE-2023-44487).
const RESETS_PENDING_MAX: usize = 20;
/// Streams that we had to reset because of what the client sent; beyond this the connection ends.
const RESETS_OWN_MAX: usize = 128;
/// Idle for less than this is a pause between two requests, not an offer of the place.
const RESTING_AFTER: Duration = Duration::from_secs(1);

/// What all connections of a listener share.
pub(super) struct Host<S> {
    service: Arc<S>,
    timeouts: Timeouts,
    pressure: Arc<Notify>,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
}

impl<S: Service> Host<S> {
    pub(super) fn new(service: Arc<S>, timeouts: Timeouts, pressure: Arc<Notify>) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            // Hyper's own timer also runs while a connection is idle, and is made anew for every request.
            .header_read_timeout(None)
            // A client that has sent its whole request may close its side and wait for the response.
            .half_close(true)
            // More than 100 headers are refused with 431 by default; setting it would cost an allocation.
            .max_header_size(HEAD_BYTES_MAX)
            .max_buf_size(BUFFER_BYTES_MAX);
        let mut http2 = http2::Builder::new(TokioExecutor::new());
        http2
            .timer(TokioTimer::new())
            .max_concurrent_streams(STREAMS_MAX)
            .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .max_pending_accept_reset_streams(RESETS_PENDING_MAX)
            .max_local_error_reset_streams(RESETS_OWN_MAX)
            .keep_alive_interval(timeouts.ping_every)
            .keep_alive_timeout(timeouts.ping_answer);
        Self {
            service,
            timeouts,
            pressure,
            http1,
            http2,
        }
    }

    /// Serves one client until it leaves, breaks a time limit, or the listener ends.
    pub(super) async fn receive(
        self: Arc<Self>,
        mut stream: TcpStream,
        peer: SocketAddr,
        mut stage: watch::Receiver<Stage>,
    ) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let recognised = tokio::select! {
            recognised = recognise(&mut stream, &self.timeouts) => recognised,
            // Nothing was asked yet, so there is nothing to finish.
            _ = stage.changed() => return,
        };
        let Some((protocol, opening)) = recognised else {
            return;
        };
        let pulse = Arc::new(Pulse::new(protocol));
        let io = TokioIo::new(Guarded::new(
            stream,
            opening,
            Arc::clone(&pulse),
            self.timeouts.write_stall,
        ));
        let visit = Arc::new(Visit {
            host: Arc::clone(&self),
            peer,
            pulse: Arc::clone(&pulse),
        });
        let service = service_fn(move |request| {
            let call = InFlight::new(&visit);
            async move { Ok::<_, Infallible>(call.answer(request).await) }
        });
        match protocol {
            Protocol::Http1 => {
                self.supervise(self.http1.serve_connection(io, service), &pulse, stage)
                    .await;
            }
            // Boxed, because its state is much larger than that of the common case, whose task has to hold it.
            Protocol::Http2 => {
                let connection = self.http2.serve_connection(io, service);
                Box::pin(self.supervise(connection, &pulse, stage)).await;
            }
        }
    }

    /// Runs the connection and looks at it now and then. Dropping it is what cuts it.
    async fn supervise<C>(&self, connection: C, pulse: &Pulse, mut stage: watch::Receiver<Stage>)
    where
        C: GracefulConnection<Error: fmt::Display>,
    {
        let every = (self.timeouts.header_read.min(self.timeouts.idle) / 4).max(Duration::from_millis(1));
        let mut connection = pin!(connection);
        let mut look = pin!(sleep(every));
        let mut place_wanted = pin!(self.pressure.notified());
        let mut resting = false;
        let mut asked_to_end: Option<Instant> = None;
        loop {
            tokio::select! {
                biased;
                end = connection.as_mut() => {
                    if let Err(error) = end {
                        tracing::debug!(%error, "a connection failed");
                    }
                    return;
                }
                () = place_wanted.as_mut(), if resting => {
                    resting = false;
                    asked_to_end = Some(Instant::now());
                    connection.as_mut().graceful_shutdown();
                }
                news = stage.changed() => {
                    if news.is_err() || *stage.borrow() == Stage::Cutting {
                        return;
                    }
                    asked_to_end = Some(Instant::now());
                    connection.as_mut().graceful_shutdown();
                }
                () = look.as_mut() => {
                    let now = Instant::now();
                    look.as_mut().reset(now + every);
                    if asked_to_end.is_some_and(|since| now.duration_since(since) >= self.timeouts.closing) {
                        tracing::debug!("cut a connection that did not end when asked");
                        return;
                    }
                    let verdict = pulse.verdict(now, &self.timeouts);
                    if verdict == Verdict::Cut {
                        tracing::debug!("cut a connection whose request head did not come in time");
                        return;
                    }
                    if verdict == Verdict::End && asked_to_end.is_none() {
                        asked_to_end = Some(now);
                        connection.as_mut().graceful_shutdown();
                    }
                    let rests = verdict == Verdict::Resting && asked_to_end.is_none();
                    if resting && !rests {
                        // Leaves the queue; a call that already came goes to the next in it.
                        place_wanted.set(self.pressure.notified());
                    }
                    resting = rests;
                }
            }
        }
    }
}

/// What the requests of one connection share.
struct Visit<S> {
    host: Arc<Host<S>>,
    peer: SocketAddr,
    pulse: Arc<Pulse>,
}

/// A request being answered; counts as such until it is dropped, also by a client that left.
struct InFlight<S>(Arc<Visit<S>>);

impl<S> InFlight<S> {
    fn new(visit: &Arc<Visit<S>>) -> Self {
        visit.pulse.request_came();
        Self(Arc::clone(visit))
    }
}

impl<S> Drop for InFlight<S> {
    fn drop(&mut self) {
        self.0.pulse.request_left();
    }
}

impl<S: Service> InFlight<S> {
    async fn answer(&self, request: Request<Incoming>) -> Response<S::Body> {
        let service = &*self.0.host.service;
        // The call is made inside the future, so that what it does before its first await is covered too.
        let call = pin!(async { service.call(request, self.0.peer).await });
        match catch_panic(call).await {
            Ok(response) => response,
            Err(panicked) => service.on_panic(panicked),
        }
    }
}

/// The signs of life of a connection, written by its socket and its requests, read by its supervisor. Times are
/// microseconds since its start.
pub(super) struct Pulse {
    protocol: Protocol,
    born: Instant,
    in_flight: AtomicU32,
    /// Whether a request ever came.
    used: AtomicBool,
    /// When the last response was handed over.
    idle_since: AtomicU64,
    /// When the first byte of a head came that is not complete yet; [`NEVER`] if there is none.
    head_since: AtomicU64,
}

const NEVER: u64 = u64::MAX;

/// What a connection deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// To go on.
    Active,
    /// To go on, unless its place is wanted.
    Resting,
    /// To end after what it is doing.
    End,
    /// To end at once.
    Cut,
}

impl Pulse {
    fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            born: Instant::now(),
            in_flight: AtomicU32::new(0),
            used: AtomicBool::new(false),
            idle_since: AtomicU64::new(0),
            // The bytes that told the protocol are the first of the first head.
            head_since: AtomicU64::new(0),
        }
    }

    fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.duration_since(self.born).as_micros()).unwrap_or(NEVER - 1)
    }

    pub(super) fn bytes_came(&self) {
        if self.in_flight.load(Ordering::Relaxed) == 0 && self.head_since.load(Ordering::Relaxed) == NEVER {
            self.head_since
                .store(self.micros(Instant::now()), Ordering::Relaxed);
        }
    }

    /// While a response is still being taken, the client may already have sent the next head; hyper reads that
    /// only afterwards, so its time starts then.
    pub(super) fn bytes_left(&self) {
        if self.head_since.load(Ordering::Relaxed) != NEVER {
            self.head_since
                .store(self.micros(Instant::now()), Ordering::Relaxed);
        }
    }

    fn request_came(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.used.store(true, Ordering::Relaxed);
        self.head_since.store(NEVER, Ordering::Relaxed);
    }

    fn request_left(&self) {
        self.idle_since
            .store(self.micros(Instant::now()), Ordering::Relaxed);
        // The time must be seen by whoever sees that the request has left.
        self.in_flight.fetch_sub(1, Ordering::Release);
    }

    fn verdict(&self, now: Instant, timeouts: &Timeouts) -> Verdict {
        let now_micros = self.micros(now);
        let since = |then: u64| Duration::from_micros(now_micros.saturating_sub(then));
        if since(0) >= timeouts.age {
            return Verdict::End;
        }
        if self.in_flight.load(Ordering::Acquire) > 0 {
            return Verdict::Active;
        }
        let head_since = match self.protocol {
            Protocol::Http1 => self.head_since.load(Ordering::Relaxed),
            // Bytes may be pings and settings here, so only the first request has a time limit of its own.
            Protocol::Http2 if self.used.load(Ordering::Relaxed) => NEVER,
            Protocol::Http2 => 0,
        };
        if head_since != NEVER && since(head_since) >= timeouts.header_read {
            return Verdict::Cut;
        }
        match since(self.idle_since.load(Ordering::Relaxed)) {
            idle if idle >= timeouts.idle => Verdict::End,
            idle if idle >= RESTING_AFTER && head_since == NEVER => Verdict::Resting,
            _ => Verdict::Active,
        }
    }
}
