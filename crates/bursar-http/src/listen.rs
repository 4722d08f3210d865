//! The accept loop and the limits on connections.
//!
//! Speaks HTTP/1.1 and HTTP/2 with prior knowledge; TLS ends at the proxy. Owns how many connections there are,
//! how long each may be silent, and how they end. The service decides what a request means, and how long it may
//! take once its head has been read.

mod connection;
mod guarded;
mod panics;
mod places;
mod pulse;
mod sending;

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
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use self::connection::Host;
pub use self::panics::{Panicked, catch_panic};
use self::places::Places;
use self::pulse::Pulse;

/// Handles requests. One value serves all connections.
pub trait Service: Send + Sync + 'static {
    type Body: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static;

    /// The future is dropped when the client disconnects.
    fn call(
        self: &Arc<Self>,
        request: Request<Incoming>,
        peer: SocketAddr,
    ) -> impl Future<Output = Response<Self::Body>> + Send;

    /// The response to a request whose `call` panicked. This is the last resort: a service that knows more about the
    /// request catches the panic itself with [`catch_panic`].
    fn on_panic(&self, panicked: Panicked) -> Response<Self::Body>;
}

/// Time limits of a connection. It is checked four times within the shortest of `header_read`, `idle` and
/// `write_stall`, so those may last a quarter longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From accepting the connection.
    pub first_byte: Duration,
    /// From a request's first byte to the end of its head; on HTTP/2, from the preface to the first request.
    pub header_read: Duration,
    /// From the moment the client has received the last response to the next request.
    pub idle: Duration,
    /// Without the client receiving a byte of a response. Progress on other requests does not count: on HTTP/2 the whole
    /// connection is asked to end, and cut `closing` later.
    pub write_stall: Duration,
    /// The age at which a connection is asked to end, so that clients spread over new replicas.
    pub age: Duration,
    /// From asking a connection to end until it is cut.
    pub closing: Duration,
    /// HTTP/2 only.
    pub ping_every: Duration,
    /// HTTP/2 only.
    pub ping_answer: Duration,
    /// For all requests in flight together at shutdown.
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub connections_max: usize,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drained {
    /// Connections that did not finish within the drain time.
    pub cut: usize,
}

/// What the listener tells its connections. Stages only go forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Serving,
    /// Still serving, but clients are told to use other connections.
    Leaving,
    Draining,
    Cutting,
}

/// Serves until `leave` and then `stop` resolve. Between the two, every request is still served, and clients are told
/// to use other connections, so that a load balancer notices in time. Then it stops accepting, lets requests in flight
/// finish, and cuts what is left after the drain time.
///
/// When the server is full, the next connection waits for a place, those after it wait in the kernel's queue, and
/// the most expendable connection is asked to end. So a client is delayed rather than refused, and idle
/// connections cannot lock others out.
pub async fn serve<S: Service>(
    listener: TcpListener,
    service: Arc<S>,
    options: Options,
    leave: impl Future<Output = ()>,
    stop: impl Future<Output = ()>,
) -> Drained {
    let stage = watch::Sender::new(Stage::Serving);
    let mut places = Places::new(options.connections_max);
    let host = Arc::new(Host::new(service, options.timeouts));
    {
        let mut end = pin!(async {
            leave.await;
            host.leave();
            stage.send_replace(Stage::Leaving);
            stop.await;
        });
        loop {
            let next = async {
                let (stream, peer) = accept(&listener, &places).await;
                let pulse = Arc::new(Pulse::new());
                let place = places.take(Arc::clone(&pulse)).await;
                (stream, peer, pulse, place)
            };
            let (stream, peer, pulse, place) = tokio::select! {
                biased;
                () = &mut end => break,
                next = next => next,
            };
            // The task alone holds the place and the receiver, so both are released with it.
            let stage = stage.subscribe();
            let visit = Arc::clone(&host).receive(stream, peer, pulse, stage);
            tokio::spawn(async move {
                visit.await;
                drop(place);
            });
        }
    }
    drop(listener);
    drain(&stage, options.timeouts.drain).await
}

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

/// The next connection. Errors are not fatal: they concern one client or pass.
async fn accept(listener: &TcpListener, places: &Places) -> (TcpStream, SocketAddr) {
    let mut wait = Duration::from_millis(10);
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if concerns_one_client(&error) => {
                tracing::debug!(%error, "a client left before it was accepted");
            }
            Err(error) => {
                // Out of file descriptors or memory; connections that end free some. The doubling wait keeps the log
                // short.
                places.ask_one_to_end();
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
