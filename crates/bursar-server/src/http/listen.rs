//! The accept loop: sockets in, requests to one service, nothing held for ever.
//!
//! HTTP/1.1 and HTTP/2 with prior knowledge; TLS ends at the proxy. Owns the life of connections: how many there
//! are, how long each may say nothing, and how all of them end. What a request means is the service's business,
//! and so is the time that a request may take once its head has been read.

mod connection;
mod guarded;
mod panics;

use std::error::Error;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Bytes, Incoming};
use hyper::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};

use self::connection::Host;
pub use self::panics::{Panicked, catch_panic};

/// What answers requests. One value serves all connections.
pub trait Service: Send + Sync + 'static {
    /// The body of its responses.
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static;

    /// Answers one request. The future is dropped when the client goes away.
    fn call(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// The answer to a request whose `call` panicked. A service that can say more about the request catches the
    /// panic itself, with [`catch_panic`]; this is the last line of defence.
    fn on_panic(&self, panicked: Panicked) -> Response<Self::Body>;
}

/// How long a connection may take for what. A connection is looked at four times within the shortest of
/// `header_read` and `idle`, so those two may last a quarter longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From accepting to the first byte.
    pub first_byte: Duration,
    /// From a request's first byte to the end of its head; on HTTP/2, from the preface to the first request.
    pub header_read: Duration,
    /// From the last response to the next request. A response that the client has not taken by then is given
    /// `closing` more.
    pub idle: Duration,
    /// Without a byte of the response taken by the client.
    pub write_stall: Duration,
    /// The age at which a connection is asked to end, so that clients spread over new replicas.
    pub age: Duration,
    /// For a connection that was asked to end, before it is cut.
    pub closing: Duration,
    /// Between pings on HTTP/2.
    pub ping_every: Duration,
    /// For the answer to a ping.
    pub ping_answer: Duration,
    /// For all requests in flight together, once the server shuts down.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first_byte: Duration::from_secs(10),
            header_read: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            write_stall: Duration::from_secs(30),
            age: Duration::from_secs(3600),
            closing: Duration::from_secs(25),
            ping_every: Duration::from_secs(30),
            ping_answer: Duration::from_secs(10),
            drain: Duration::from_secs(25),
        }
    }
}

/// The bounds of a listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Connections served at one time.
    pub connections_max: usize,
    /// The time limits of each.
    pub timeouts: Timeouts,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            connections_max: 10_000,
            timeouts: Timeouts::default(),
        }
    }
}

/// How a listener ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Connections that did not finish within the drain time and were cut.
    pub cut: usize,
}

/// A server that stays full says so this often.
const FULL_TOLD_EVERY: Duration = Duration::from_secs(10);

/// What the listener tells its connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Serving,
    Draining,
    Cutting,
}

/// Serves until `shutdown` resolves; then accepts no more, lets the requests in flight finish, and cuts what is
/// left after the drain time.
///
/// When all places are taken, the next connection waits for one, those after it in the kernel's queue, and the
/// connection that has been idle the longest is asked to give its place up: a client is delayed rather than
/// refused, and idle connections cannot lock others out.
pub async fn serve<S: Service>(
    listener: TcpListener,
    service: Arc<S>,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Drained {
    let stage = watch::Sender::new(Stage::Serving);
    let mut places = Places::new(options.connections_max);
    let host = Arc::new(Host::new(service, options.timeouts, Arc::clone(&places.pressure)));
    {
        let mut shutdown = pin!(shutdown);
        loop {
            let next = async {
                let (stream, peer) = accept(&listener).await;
                (stream, peer, places.take().await)
            };
            let (stream, peer, place) = tokio::select! {
                biased;
                () = &mut shutdown => break,
                next = next => next,
            };
            // The task is the only holder of the place and of the receiver, so both end with it.
            let stage = stage.subscribe();
            let visit = Arc::clone(&host).receive(stream, peer, stage);
            tokio::spawn(async move {
                visit.await;
                drop(place);
            });
        }
    }
    drop(listener);
    drain(&stage, options.timeouts.drain).await
}

/// Asks every connection to end, waits, and cuts the rest.
async fn drain(stage: &watch::Sender<Stage>, at_most: Duration) -> Drained {
    stage.send_replace(Stage::Draining);
    let in_time = timeout(at_most, stage.closed()).await.is_ok();
    let cut = if in_time { 0 } else { stage.receiver_count() };
    if cut > 0 {
        tracing::warn!(
            connections = cut,
            "cut connections that did not finish in the drain time"
        );
        stage.send_replace(Stage::Cutting);
        stage.closed().await;
    }
    Drained { cut }
}

/// The next connection. An error here is never the end: it concerns one client, or passes.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    let mut wait = Duration::from_millis(10);
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if concerns_one_client(&error) => {
                tracing::debug!(%error, "a client left before it was accepted");
            }
            Err(error) => {
                // Out of file descriptors or memory: connections that end make room, so waiting is the cure, and
                // the doubling wait keeps the log short.
                tracing::error!(%error, wait_ms = wait.as_millis(), "cannot accept connections");
                sleep(wait).await;
                wait = wait.saturating_mul(2).min(Duration::from_secs(1));
            }
        }
    }
}

fn concerns_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

/// The bound on connections.
struct Places {
    free: Arc<Semaphore>,
    /// Each notification asks one idle connection, the one idle for longest, to end.
    pressure: Arc<Notify>,
    told_full: Option<Instant>,
}

impl Places {
    fn new(connections_max: usize) -> Self {
        let places = connections_max.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            free: Arc::new(Semaphore::new(places)),
            pressure: Arc::new(Notify::new()),
            told_full: None,
        }
    }

    async fn take(&mut self) -> Option<OwnedSemaphorePermit> {
        if let Ok(place) = Arc::clone(&self.free).try_acquire_owned() {
            return Some(place);
        }
        if self.told_full.is_none_or(|at| at.elapsed() >= FULL_TOLD_EVERY) {
            self.told_full = Some(Instant::now());
            tracing::warn!("all connections are taken: new ones wait for a place");
        }
        loop {
            self.pressure.notify_one();
            let place = Arc::clone(&self.free).acquire_owned();
            if let Ok(place) = timeout(Duration::from_secs(1), place).await {
                // The semaphore is never closed, so this is always a place.
                return place.ok();
            }
        }
    }
}
