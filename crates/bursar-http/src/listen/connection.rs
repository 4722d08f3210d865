//! One connection from its first byte to its end.

use std::convert::Infallible;
use std::fmt;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONNECTION, HeaderValue};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulConnection;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::guarded::{Guarded, Protocol, recognise};
use super::pulse::{Pulse, Verdict};
use super::sending::Watched;
use super::{Service, Stage, Timeouts, catch_panic};

/// Of a request's head: as sent on HTTP/1, decoded on HTTP/2.
const HEAD_BYTES_MAX: usize = 32 * 1024;
/// Buffered by one HTTP/1 connection in each direction.
const BUFFER_BYTES_MAX: usize = 64 * 1024;
const STREAMS_MAX: u32 = 128;
/// Buffered by one HTTP/2 stream of its response; the rest stays with the response.
const STREAM_BUFFER_BYTES_MAX: usize = 64 * 1024;
/// Bodies are small, so a larger window would only let a client fill our memory.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 256 * 1024;
/// Streams that a client opened and reset before we handled them. More is a flood, and the connection ends
/// (CVE-2023-44487).
const RESETS_PENDING_MAX: usize = 20;
/// Streams that we had to reset because of what the client sent. Beyond this the connection ends.
const RESETS_OWN_MAX: usize = 128;

/// Shared by all connections of a listener.
pub(super) struct Host<S> {
    service: Arc<S>,
    timeouts: Timeouts,
    /// Set before the server stops: clients are told to use other connections.
    is_leaving: AtomicBool,
    http1: http1::Builder,
    http2: http2::Builder<TokioExecutor>,
}

impl<S: Service> Host<S> {
    pub(super) fn new(service: Arc<S>, timeouts: Timeouts) -> Self {
        let mut http1 = http1::Builder::new();
        http1
            // Hyper's own timer also runs while a connection is idle, and is created anew for every request.
            .header_read_timeout(None)
            // A client may close its side after sending its request and wait for the response.
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
            .max_send_buf_size(STREAM_BUFFER_BYTES_MAX)
            .keep_alive_interval(timeouts.ping_every)
            .keep_alive_timeout(timeouts.ping_answer);
        Self {
            service,
            timeouts,
            is_leaving: AtomicBool::new(false),
            http1,
            http2,
        }
    }

    /// From now on responses tell clients to use other connections.
    pub(super) fn leave(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
    }

    /// Serves one client until it disconnects, exceeds a time limit, or the listener ends.
    pub(super) async fn receive(
        self: Arc<Self>,
        mut stream: TcpStream,
        peer: SocketAddr,
        pulse: Arc<Pulse>,
        mut stage: watch::Receiver<Stage>,
    ) {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let recognised = tokio::select! {
            recognised = recognise(&mut stream, &self.timeouts) => recognised,
            // No request yet, so there is nothing to finish.
            () = pulse.asked_to_end() => return,
            _ = stage.wait_for(|stage| *stage >= Stage::Draining) => return,
        };
        let Some((protocol, opening)) = recognised else {
            return;
        };
        pulse.recognised(protocol);
        let io = TokioIo::new(Guarded::new(
            stream,
            opening,
            Arc::clone(&pulse),
            self.timeouts.write_stall,
        ));
        let visit = Arc::new(Visit {
            host: Arc::clone(&self),
            peer,
            protocol,
            pulse: Arc::clone(&pulse),
        });
        let service = service_fn(move |request| {
            let call = InFlight::new(&visit);
            async move { Ok::<_, Infallible>(call.answer(request).await) }
        });
        match protocol {
            Protocol::Http1 => {
                self.supervise(self.http1.serve_connection(io, service), protocol, &pulse, stage)
                    .await;
            }
            // Boxed, because its state is much larger than that of the common case, which shares the task's memory.
            Protocol::Http2 => {
                let connection = self.http2.serve_connection(io, service);
                Box::pin(self.supervise(connection, protocol, &pulse, stage)).await;
            }
        }
    }

    /// Runs the connection and checks it periodically. Dropping the connection cuts it.
    async fn supervise<C>(
        &self,
        connection: C,
        protocol: Protocol,
        pulse: &Pulse,
        mut stage: watch::Receiver<Stage>,
    ) where
        C: GracefulConnection<Error: fmt::Display>,
    {
        let Timeouts {
            header_read,
            idle,
            write_stall,
            closing,
            ..
        } = self.timeouts;
        let every = (header_read.min(idle).min(write_stall) / 4).max(Duration::from_millis(1));
        let mut connection = pin!(connection);
        let mut look = pin!(sleep(every));
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
                () = pulse.asked_to_end() => {
                    // Hyper would wait for the rest of a first head without limit.
                    if pulse.waits_for_head() {
                        return;
                    }
                    asked_to_end.get_or_insert_with(Instant::now);
                    connection.as_mut().graceful_shutdown();
                }
                news = stage.changed() => {
                    let stage = *stage.borrow_and_update();
                    if news.is_err() || stage == Stage::Cutting {
                        return;
                    }
                    // HTTP/1 can announce the end of a connection only in a response, so an idle one
                    // stays open until the server stops: its client may be sending a request.
                    if stage >= Stage::Draining || protocol == Protocol::Http2 {
                        asked_to_end.get_or_insert_with(Instant::now);
                        connection.as_mut().graceful_shutdown();
                    }
                }
                () = look.as_mut() => {
                    let now = Instant::now();
                    look.as_mut().reset(now + every);
                    if asked_to_end.is_some_and(|since| now.duration_since(since) >= closing) {
                        tracing::debug!("cut a connection that did not end when asked");
                        return;
                    }
                    match pulse.verdict(now, &self.timeouts) {
                        Verdict::Cut => {
                            tracing::debug!("cut a connection whose request head did not come in time");
                            return;
                        }
                        Verdict::End if asked_to_end.is_none() => {
                            asked_to_end = Some(now);
                            connection.as_mut().graceful_shutdown();
                        }
                        Verdict::End | Verdict::Active => {}
                    }
                }
            }
        }
    }
}

/// Shared by the requests of one connection.
struct Visit<S> {
    host: Arc<Host<S>>,
    peer: SocketAddr,
    protocol: Protocol,
    pulse: Arc<Pulse>,
}

/// A request in flight until dropped, also when the client disconnects.
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
    async fn answer(&self, request: Request<Incoming>) -> Response<Watched<S::Body>> {
        let visit = &*self.0;
        if visit.protocol == Protocol::Http2 {
            visit.pulse.room().await;
        }
        let service = &visit.host.service;
        // Called inside the future, so that panics before its first await are caught too.
        let call = pin!(async { service.call(request, visit.peer).await });
        let mut response = match catch_panic(call).await {
            Ok(response) => response,
            Err(panicked) => service.on_panic(panicked),
        };
        let is_leaving = visit.host.is_leaving.load(Ordering::Relaxed);
        match visit.protocol {
            Protocol::Http1 => {
                if is_leaving {
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(CONNECTION, close);
                }
                response.map(Watched::not)
            }
            Protocol::Http2 => {
                if is_leaving {
                    visit.pulse.ask_to_end();
                }
                response.map(|body| Watched::by(&visit.pulse, body))
            }
        }
    }
}
