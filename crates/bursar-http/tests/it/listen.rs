//! The accept loop with clients that behave: both protocols, panics, bounds, and the end.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_http::listen::{Drained, Options, Panicked, Service, Timeouts, serve};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::SendRequest;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// Larger than what the kernel buffers between two sockets.
pub(crate) const BIG_BYTES: usize = 32 << 20;

/// Larger than a window of HTTP/2, and less than what a connection may hold.
pub(crate) const MIDDLING_BYTES: usize = 512 << 10;

/// A service with one path for each thing that a connection can meet.
struct Paths;

impl Service for Paths {
    type Body = Full<Bytes>;

    async fn call(self: &Arc<Self>, request: Request<Incoming>, peer: SocketAddr) -> Response<Full<Bytes>> {
        let body = match request.uri().path() {
            "/panic" => panic!("this request panics"),
            "/panic-later" => {
                tokio::task::yield_now().await;
                panic!("{} panics after an await", request.uri().path())
            }
            "/slow" => {
                sleep(Duration::from_millis(300)).await;
                Bytes::from_static(b"slow")
            }
            "/never" => std::future::pending().await,
            "/big" => Bytes::from(vec![b'x'; BIG_BYTES]),
            "/middling" => Bytes::from(vec![b'x'; MIDDLING_BYTES]),
            "/peer" => Bytes::from(peer.to_string()),
            "/echo" => match request.into_body().collect().await {
                Ok(body) => body.to_bytes(),
                Err(_) => Bytes::new(),
            },
            _ => Bytes::from_static(b"ok"),
        };
        Response::new(Full::new(body))
    }

    fn on_panic(&self, panicked: Panicked) -> Response<Full<Bytes>> {
        let body = Full::new(Bytes::from(format!("caught: {panicked}")));
        Response::builder().status(500).body(body).unwrap()
    }
}

/// A listener in this process, which ends when the test says so.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    leave: oneshot::Sender<()>,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Drained>,
}

impl Server {
    pub(crate) async fn start(options: Options) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel();
        let (leave, left) = oneshot::channel::<()>();
        let leaving = async {
            let _ = left.await;
        };
        let ended = tokio::spawn(serve(listener, Arc::new(Paths), options, leaving, async {
            // A test that drops the sender is over.
            let _ = stopped.await;
        }));
        Self {
            address,
            leave,
            stop,
            ended,
        }
    }

    pub(crate) async fn with(timeouts: Timeouts) -> Self {
        Self::start(Options {
            timeouts,
            ..Options::default()
        })
        .await
    }

    pub(crate) async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.unwrap())
    }

    pub(crate) async fn connect_http2(&self) -> SendRequest<Empty<Bytes>> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        // The windows that the protocol begins with.
        let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(65_535)
            .initial_connection_window_size(65_535)
            .handshake(TokioIo::new(stream))
            .await
            .unwrap();
        tokio::spawn(connection);
        sender
    }

    async fn stop(self) -> Drained {
        let _ = self.leave.send(());
        self.stop.send(()).unwrap();
        timeout(Duration::from_secs(10), self.ended)
            .await
            .expect("the listener ends")
            .unwrap()
    }
}

/// A client that speaks HTTP/1 by hand.
pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(crate) async fn ask(&mut self, path: &str) {
        self.send(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"))
            .await;
    }

    /// One response with a body that is short and has a length: its head, and its body.
    pub(crate) async fn answer(&mut self) -> (String, String) {
        let mut bytes = Vec::new();
        loop {
            let text = String::from_utf8(bytes.clone()).unwrap();
            if let Some((head, body)) = text.split_once("\r\n\r\n") {
                let head = head.to_ascii_lowercase();
                let length = head.split("content-length: ").nth(1).map_or(0, |rest| {
                    rest.split("\r\n").next().unwrap().parse::<usize>().unwrap()
                });
                if body.len() >= length {
                    return (head, body.to_owned());
                }
            }
            let byte = timeout(Duration::from_secs(10), self.0.read_u8())
                .await
                .expect("an answer in time");
            bytes.push(byte.unwrap_or_else(|error| panic!("{error} after {text:?}")));
        }
    }

    pub(crate) async fn get(&mut self, path: &str) -> String {
        self.ask(path).await;
        self.answer().await.1
    }

    /// Whether the connection is still open after this long, without a byte arriving.
    pub(crate) async fn stays_open(&mut self, at_least: Duration) -> bool {
        timeout(at_least, self.0.read_u8()).await.is_err()
    }

    /// Takes a little of the response, pauses, and so on; tells how many bytes that were.
    pub(crate) async fn read_slowly(&mut self, pause: Duration, at_least: Duration) -> usize {
        let start = Instant::now();
        let mut buffer = vec![0; 1 << 20];
        let mut read = 0;
        while start.elapsed() < at_least {
            read += self.0.read(&mut buffer).await.unwrap();
            sleep(pause).await;
        }
        read
    }

    /// Takes the rest of the big response, of which so many bytes were taken; tells the length of its body.
    pub(crate) async fn read_rest(&mut self, taken: usize) -> usize {
        let mut read = taken;
        let mut buffer = vec![0; 1 << 20];
        while read < BIG_BYTES {
            let more = timeout(Duration::from_secs(10), self.0.read(&mut buffer))
                .await
                .expect("bytes in time");
            let more = more.unwrap();
            assert!(more > 0, "it breaks off after {read} bytes");
            read += more;
        }
        read.min(BIG_BYTES)
    }

    /// Waits until the server closed the connection; tells how long that took.
    pub(crate) async fn closed(&mut self) -> Duration {
        let start = Instant::now();
        let mut rest = Vec::new();
        // A reset ends it as well as a close does.
        let _ = timeout(Duration::from_secs(10), self.0.read_to_end(&mut rest))
            .await
            .expect("it is closed");
        start.elapsed()
    }
}

pub(crate) fn request(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("http://test{path}"))
        .body(Empty::new())
        .unwrap()
}

async fn text(response: Response<Incoming>) -> (u16, String) {
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn http1_keeps_the_connection() {
    let server = Server::start(Options::default()).await;
    let mut client = server.connect().await;
    assert_eq!(client.get("/").await, "ok");
    assert_eq!(
        client.get("/peer").await,
        client.0.local_addr().unwrap().to_string()
    );
    client
        .send("POST /echo HTTP/1.1\r\nhost: test\r\ncontent-length: 5\r\n\r\nhello")
        .await;
    assert_eq!(client.answer().await.1, "hello");
    client
        .send("POST /echo HTTP/1.1\r\nhost: test\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")
        .await;
    assert_eq!(client.answer().await.1, "hi");
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(Options::default()).await;
    let mut client = server.connect().await;
    let ask = |path| format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n");
    client.send([ask("/slow"), ask("/"), ask("/slow")].concat()).await;
    for want in ["slow", "ok", "slow"] {
        assert_eq!(client.answer().await.1, want);
    }
}

#[tokio::test]
async fn a_request_that_comes_byte_by_byte_but_in_time_is_served() {
    let server = Server::start(Options::default()).await;
    for opening in [
        "GET / HTTP/1.1\r\nhost: test\r\n\r\n",
        "PRI / HTTP/1.1\r\nhost: test\r\n\r\n",
    ] {
        let mut client = server.connect().await;
        for byte in opening.as_bytes() {
            client.send([*byte]).await;
            tokio::task::yield_now().await;
        }
        assert_eq!(
            client.answer().await.1,
            "ok",
            "{opening}: looks like HTTP/2 for a while"
        );
    }
}

#[tokio::test]
async fn http2_with_prior_knowledge_on_the_same_port() {
    let server = Server::start(Options::default()).await;
    let mut http1 = server.connect().await;
    let mut http2 = server.connect_http2().await;
    let start = Instant::now();
    let streams: Vec<_> = (0..100)
        .map(|_| tokio::spawn(http2.send_request(request("/slow"))))
        .collect();
    assert_eq!(http1.get("/").await, "ok");
    for stream in streams {
        assert_eq!(
            text(stream.await.unwrap().unwrap()).await,
            (200, "slow".to_owned())
        );
    }
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "the streams run side by side: {:?}",
        start.elapsed()
    );
    let big = http2.send_request(request("/big")).await.unwrap();
    assert_eq!(
        big.into_body().collect().await.unwrap().to_bytes().len(),
        BIG_BYTES
    );
}

#[tokio::test]
async fn a_panic_is_one_answer_and_nothing_else() {
    let server = Server::start(Options::default()).await;
    let mut client = server.connect().await;
    let mut bystander = server.connect().await;
    bystander.ask("/slow").await;
    for (path, body) in [
        ("/panic", "caught: this request panics"),
        ("/panic-later", "caught: /panic-later panics after an await"),
    ] {
        client.ask(path).await;
        let (head, answer) = client.answer().await;
        assert!(head.starts_with("http/1.1 500"), "{head}");
        assert_eq!(answer, body);
    }
    assert_eq!(client.get("/").await, "ok", "the connection goes on");
    assert_eq!(bystander.answer().await.1, "slow");

    let mut http2 = server.connect_http2().await;
    let bystander = tokio::spawn(http2.send_request(request("/slow")));
    let panicked = http2.send_request(request("/panic-later")).await.unwrap();
    assert_eq!(text(panicked).await.0, 500);
    assert_eq!(text(bystander.await.unwrap().unwrap()).await.1, "slow");
}

#[tokio::test]
async fn shutdown_finishes_what_is_in_flight_and_nothing_more() {
    let server = Server::start(Options::default()).await;
    let address = server.address;
    let (mut busy, mut idle, mut silent) = (
        server.connect().await,
        server.connect().await,
        server.connect().await,
    );
    let mut http2 = server.connect_http2().await;
    assert_eq!(idle.get("/").await, "ok");
    busy.ask("/slow").await;
    let stream = tokio::spawn(http2.send_request(request("/slow")));
    sleep(Duration::from_millis(100)).await;

    let start = Instant::now();
    let stopped = tokio::spawn(server.stop());
    idle.closed().await;
    silent.closed().await;
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "idle connections do not wait for their time: {:?}",
        start.elapsed()
    );
    assert!(
        TcpStream::connect(address).await.is_err(),
        "nobody new is accepted"
    );
    let (head, body) = busy.answer().await;
    assert_eq!(body, "slow");
    assert!(head.contains("connection: close"), "{head}");
    assert_eq!(text(stream.await.unwrap().unwrap()).await.1, "slow");
    assert_eq!(stopped.await.unwrap(), Drained { cut: 0 });
}

#[tokio::test]
async fn shutdown_cuts_what_does_not_finish() {
    let timeouts = Timeouts {
        drain: Duration::from_millis(200),
        ..Timeouts::default()
    };
    let server = Server::with(timeouts).await;
    let mut client = server.connect().await;
    let mut http2 = server.connect_http2().await;
    client.ask("/never").await;
    let stream = tokio::spawn(http2.send_request(request("/never")));
    sleep(Duration::from_millis(50)).await;
    let start = Instant::now();
    assert_eq!(server.stop().await, Drained { cut: 2 });
    assert!(
        (200..2000).contains(&start.elapsed().as_millis()),
        "{:?}",
        start.elapsed()
    );
    client.closed().await;
    assert!(stream.await.unwrap().is_err());
}

#[tokio::test]
async fn a_server_that_is_leaving_answers_and_sends_its_clients_elsewhere() {
    let server = Server::start(Options::default()).await;
    let (mut idle, mut silent) = (server.connect().await, server.connect().await);
    let mut http2 = server.connect_http2().await;
    assert_eq!(idle.get("/").await, "ok");
    let stream = tokio::spawn(http2.send_request(request("/slow")));
    sleep(Duration::from_millis(100)).await;

    let Server {
        address,
        leave,
        stop,
        ended,
    } = server;
    leave.send(()).unwrap();
    let start = Instant::now();
    while !http2.is_closed() {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "a GOAWAY comes at once"
        );
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(text(stream.await.unwrap().unwrap()).await.1, "slow");
    // Old and new connections are answered once more each, and nobody is cut off in the middle of sending.
    for client in [
        &mut idle,
        &mut silent,
        &mut Client(TcpStream::connect(address).await.unwrap()),
    ] {
        client.ask("/").await;
        let (head, body) = client.answer().await;
        assert_eq!(body, "ok");
        assert!(head.contains("connection: close"), "{head}");
        client.closed().await;
    }
    stop.send(()).unwrap();
    assert_eq!(ended.await.unwrap(), Drained { cut: 0 });
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_request_waits_while_its_connection_holds_too_much() {
    let server = Server::start(Options::default()).await;
    let mut http2 = server.connect_http2().await;
    let mut big = http2.send_request(request("/big")).await.unwrap();
    let mut next = tokio::spawn(http2.send_request(request("/")));
    assert!(
        timeout(Duration::from_millis(300), &mut next).await.is_err(),
        "32 MiB are enough for one connection"
    );
    while let Some(frame) = big.body_mut().frame().await {
        frame.unwrap();
    }
    assert_eq!(text(next.await.unwrap().unwrap()).await.1, "ok");
}

#[tokio::test]
async fn beyond_the_bound_a_connection_waits_for_a_place() {
    let server = Server::start(Options {
        connections_max: 2,
        ..Options::default()
    })
    .await;
    let (mut one, mut two) = (server.connect().await, server.connect().await);
    one.ask("/slow").await;
    two.ask("/never").await;
    sleep(Duration::from_millis(50)).await;
    let mut three = server.connect().await;
    three.ask("/").await;
    assert!(
        three.stays_open(Duration::from_millis(100)).await,
        "nothing yet, and not refused"
    );
    assert_eq!(one.answer().await.1, "slow");
    drop(one);
    assert_eq!(three.answer().await.1, "ok");
}

#[tokio::test]
async fn an_idle_connection_gives_its_place_up_when_it_is_wanted() {
    let timeouts = Timeouts {
        header_read: Duration::from_secs(1),
        ..Timeouts::default()
    };
    let server = Server::start(Options {
        connections_max: 2,
        timeouts,
    })
    .await;
    let mut older = server.connect().await;
    assert_eq!(older.get("/").await, "ok");
    sleep(Duration::from_millis(800)).await;
    let mut newer = server.connect().await;
    assert_eq!(newer.get("/").await, "ok");
    sleep(Duration::from_millis(1100)).await;
    let start = Instant::now();
    let mut third = server.connect().await;
    assert_eq!(third.get("/").await, "ok");
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "long before the idle time: {:?}",
        start.elapsed()
    );
    older.closed().await;
    assert_eq!(
        newer.get("/").await,
        "ok",
        "only the one that was idle for longest"
    );
}

#[tokio::test]
async fn an_old_connection_ends_after_its_request() {
    let timeouts = Timeouts {
        age: Duration::from_millis(500),
        header_read: Duration::from_millis(200),
        ..Timeouts::default()
    };
    let server = Server::with(timeouts).await;
    let mut client = server.connect().await;
    let mut told = false;
    for _ in 0..10 {
        client.ask("/slow").await;
        let (head, body) = client.answer().await;
        assert_eq!(body, "slow");
        told = head.contains("connection: close");
        if told {
            break;
        }
    }
    assert!(told);
    client.closed().await;
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = Server::start(Options::default()).await;
    let many = |count| {
        (0..count)
            .map(|number| format!("x-{number}: y\r\n"))
            .collect::<String>()
    };
    for (headers, want) in [
        (format!("x: {}\r\n", "y".repeat(20_000)), "http/1.1 200"),
        (format!("x: {}\r\n", "y".repeat(40_000)), "http/1.1 431"),
        (many(99), "http/1.1 200"),
        (many(101), "http/1.1 431"),
    ] {
        let mut client = server.connect().await;
        client
            .send(format!("GET / HTTP/1.1\r\nhost: test\r\n{headers}\r\n"))
            .await;
        let (head, _) = client.answer().await;
        assert!(head.starts_with(want), "{head}");
    }
    for (bytes, want) in [(20_000, Some(200)), (40_000, Some(431)), (1_000_000, None)] {
        let mut http2 = server.connect_http2().await;
        let mut large = request("/");
        large
            .headers_mut()
            .insert("x", "y".repeat(bytes).parse().unwrap());
        let status = http2
            .send_request(large)
            .await
            .ok()
            .map(|response| response.status().as_u16());
        // A client may learn our limit before it sends, and then refuses by itself.
        assert!(
            status == want || (bytes > 32_768 && status.is_none()),
            "{bytes}: {status:?}"
        );
    }
}

#[tokio::test]
async fn what_is_not_http_is_refused_and_harms_nobody() {
    let server = Server::start(Options::default()).await;
    for rubbish in [
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}rubbish\r\n\r\n",
        "GET\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    ] {
        let mut client = server.connect().await;
        client.send(rubbish).await;
        client.closed().await;
    }
    assert_eq!(server.connect().await.get("/").await, "ok");
}
