//! The accept loop with clients that are slow, silent or hostile: none of them may hold a socket without limit.

use std::time::{Duration, Instant};

use bursar_http::listen::{Options, Timeouts};
use http_body_util::BodyExt;
use tokio::time::{sleep, timeout};

use crate::listen::{BIG_BYTES, MIDDLING_BYTES, Server, request};

/// Longer than any test: a time limit that is not the one under test.
const MINUTE: Duration = Duration::from_secs(60);

fn short() -> Timeouts {
    Timeouts {
        first_byte: Duration::from_millis(200),
        header_read: Duration::from_millis(400),
        idle: Duration::from_millis(1500),
        write_stall: Duration::from_millis(500),
        closing: Duration::from_millis(300),
        ping_every: Duration::from_millis(200),
        ping_answer: Duration::from_millis(300),
        ..Timeouts::default()
    }
}

/// A generous bound on how late a time limit may be kept on a busy machine.
fn about(millis: u64) -> std::ops::Range<Duration> {
    Duration::from_millis(millis.saturating_sub(20))..Duration::from_millis(millis + 2000)
}

#[tokio::test]
async fn a_client_that_says_nothing_is_closed() {
    let server = Server::with(short()).await;
    let took = server.connect().await.closed().await;
    assert!(about(200).contains(&took), "{took:?}");
}

#[tokio::test]
async fn a_head_that_drips_in_is_cut_off() {
    let server = Server::with(Timeouts {
        idle: MINUTE,
        ..short()
    })
    .await;
    let mut client = server.connect().await;
    let start = Instant::now();
    client.send("GET / HTTP/1.1\r\nx: ").await;
    while client.stays_open(Duration::from_millis(50)).await {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "each byte must not buy more time"
        );
        client.send("y").await;
    }
    assert!(about(400).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test]
async fn so_is_the_head_of_a_later_request() {
    let server = Server::with(Timeouts {
        idle: MINUTE,
        ..short()
    })
    .await;
    let mut client = server.connect().await;
    assert_eq!(client.get("/").await, "ok");
    assert!(
        client.stays_open(Duration::from_millis(700)).await,
        "a pause between requests may be longer"
    );
    assert_eq!(client.get("/").await, "ok");
    client.send("GET / HT").await;
    let took = client.closed().await;
    assert!(about(400).contains(&took), "{took:?}");
}

#[tokio::test]
async fn half_a_preface_is_cut_off() {
    let server = Server::with(short()).await;
    let mut client = server.connect().await;
    client.send("PRI * HTTP/2.0\r\n").await;
    let took = client.closed().await;
    assert!(about(400).contains(&took), "{took:?}");
}

#[tokio::test]
async fn http2_without_a_request_is_cut_off() {
    let server = Server::with(Timeouts {
        ping_every: MINUTE,
        idle: MINUTE,
        ..short()
    })
    .await;
    let mut client = server.connect().await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    client.send([0, 0, 0, 4, 0, 0, 0, 0, 0]).await;
    let took = client.closed().await;
    assert!(about(400).contains(&took), "{took:?}");
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let server = Server::with(short()).await;
    let mut client = server.connect().await;
    assert_eq!(client.get("/").await, "ok");
    let took = client.closed().await;
    assert!(about(1500).contains(&took), "{took:?}");

    // This client answers pings, so only the idle time ends it.
    let mut http2 = server.connect_http2().await;
    let response = http2.send_request(request("/")).await.unwrap();
    response.into_body().collect().await.unwrap();
    let start = Instant::now();
    while !http2.is_closed() {
        assert!(start.elapsed() < Duration::from_secs(10));
        sleep(Duration::from_millis(10)).await;
    }
    assert!(about(1500).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test]
async fn http2_that_answers_no_ping_is_cut_off() {
    let timeouts = Timeouts {
        header_read: MINUTE,
        idle: MINUTE,
        ..short()
    };
    let server = Server::with(timeouts).await;
    let mut client = server.connect().await;
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    client.send([0, 0, 0, 4, 0, 0, 0, 0, 0]).await;
    let took = client.closed().await;
    assert!(about(500).contains(&took), "{took:?}");
}

#[tokio::test]
async fn a_client_that_stops_reading_loses_its_place() {
    // The other ways to lose it are closed.
    let timeouts = Timeouts {
        idle: MINUTE,
        closing: MINUTE,
        ..short()
    };
    let server = Server::start(Options {
        connections_max: 1,
        timeouts,
    })
    .await;
    let mut client = server.connect().await;
    client.ask("/big").await;
    let start = Instant::now();
    assert_eq!(
        server.connect().await.get("/").await,
        "ok",
        "served once the place is free"
    );
    assert!(about(500).contains(&start.elapsed()), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_client_that_reads_slowly_keeps_it() {
    let timeouts = Timeouts {
        idle: Duration::from_millis(800),
        ..short()
    };
    let server = Server::with(timeouts).await;
    let mut client = server.connect().await;
    client.ask("/big").await;
    let taken = client
        .read_slowly(Duration::from_millis(100), Duration::from_millis(2000))
        .await;
    assert_eq!(
        client.read_rest(taken).await,
        BIG_BYTES,
        "twice and four times the limits later, the rest still comes"
    );
}

#[tokio::test]
async fn so_does_an_http2_client_that_reads_slowly() {
    // The response takes longer than any of them, and the machine may stall for a second.
    let limit = Duration::from_secs(2);
    let timeouts = Timeouts {
        idle: limit,
        write_stall: limit,
        ping_answer: limit,
        ..short()
    };
    let server = Server::with(timeouts).await;
    let mut http2 = server.connect_http2().await;
    let mut slow = http2.send_request(request("/middling")).await.unwrap();
    let mut taken = 0;
    while let Some(frame) = slow.body_mut().frame().await {
        let frame = frame.expect("the rest still comes");
        let bytes = frame.data_ref().map_or(0, |data| data.len());
        taken += bytes;
        // 160 KiB a second.
        sleep(Duration::from_micros(bytes as u64 * 6)).await;
    }
    assert_eq!(taken, MIDDLING_BYTES);
}

#[tokio::test]
async fn a_stuck_response_ends_its_connection_whatever_else_is_asked() {
    let server = Server::with(Timeouts {
        idle: MINUTE,
        ..short()
    })
    .await;
    let mut http2 = server.connect_http2().await;
    let mut stuck = http2.send_request(request("/middling")).await.unwrap();
    let start = Instant::now();
    // The window of this stream stays shut, while the others are used.
    while let Ok(other) = http2.send_request(request("/")).await {
        assert!(
            start.elapsed() < Duration::from_secs(10),
            "requests are not progress"
        );
        let _ = other.into_body().collect().await;
        sleep(Duration::from_millis(50)).await;
    }
    assert!(about(500).contains(&start.elapsed()), "{:?}", start.elapsed());
    let rest = timeout(Duration::from_secs(5), async {
        while let Some(frame) = stuck.body_mut().frame().await {
            frame?;
            sleep(Duration::from_secs(1)).await;
        }
        Ok::<_, hyper::Error>(())
    });
    assert!(
        rest.await.expect("an end").is_err(),
        "nothing holds it any longer"
    );
}

#[tokio::test]
async fn an_http2_client_that_opens_no_window_is_cut_off() {
    let server = Server::with(short()).await;
    let mut http2 = server.connect_http2().await;
    let mut stuck = http2.send_request(request("/big")).await.unwrap();
    let start = Instant::now();
    // Reads nothing, so the windows stay shut, while its pings are answered.
    while !http2.is_closed() {
        assert!(start.elapsed() < Duration::from_secs(10));
        sleep(Duration::from_millis(10)).await;
    }
    assert!(about(500).contains(&start.elapsed()), "{:?}", start.elapsed());
    sleep(Duration::from_secs(1)).await;
    let rest = timeout(Duration::from_secs(5), async {
        while let Some(frame) = stuck.body_mut().frame().await {
            frame?;
        }
        Ok::<_, hyper::Error>(())
    });
    assert!(
        rest.await.expect("an end").is_err(),
        "the body breaks off: its connection is gone"
    );
}

#[tokio::test]
async fn a_flood_of_resets_ends_the_connection() {
    let server = Server::with(Timeouts::default()).await;
    let mut client = server.connect().await;
    let mut flood = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    for stream in (1..2000_u32).step_by(2) {
        // HEADERS with `:method: GET`, `:path: /`, `:scheme: http`, then RST_STREAM with CANCEL.
        flood.extend([0, 0, 3, 1, 5]);
        flood.extend(stream.to_be_bytes());
        flood.extend([0x82, 0x84, 0x86]);
        flood.extend([0, 0, 4, 3, 0]);
        flood.extend(stream.to_be_bytes());
        flood.extend([0, 0, 0, 8]);
    }
    client.send(flood).await;
    let took = client.closed().await;
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(server.connect().await.get("/").await, "ok");
}

/// Only giving way frees a place here: each kind of client may stay for a minute.
#[tokio::test(flavor = "multi_thread")]
async fn clients_without_a_request_give_way_to_those_with_one() {
    let patient = Timeouts {
        first_byte: MINUTE,
        header_read: MINUTE,
        idle: MINUTE,
        ..Timeouts::default()
    };
    for opening in [
        "",
        "GET / HTTP/1.1\r\nhost: te",
        "GET / HTTP/1.1\r\nhost: test\r\n\r\n",
    ] {
        let server = Server::start(Options {
            connections_max: 50,
            timeouts: patient,
        })
        .await;
        let mut used = server.connect().await;
        assert_eq!(used.get("/").await, "ok");
        let mut others = Vec::new();
        for _ in 0..120 {
            let mut other = server.connect().await;
            other.send(opening).await;
            others.push(other);
        }
        let used = tokio::spawn(async move {
            for _ in 0..60 {
                assert_eq!(used.get("/").await, "ok");
                sleep(Duration::from_millis(50)).await;
            }
        });
        for _ in 0..5 {
            assert_eq!(server.connect().await.get("/").await, "ok", "{opening}");
        }
        used.await.expect("a connection in use keeps its place");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn silent_clients_do_not_lock_others_out() {
    let server = Server::start(Options {
        connections_max: 50,
        timeouts: short(),
    })
    .await;
    let mut silent = Vec::new();
    for _ in 0..120 {
        silent.push(server.connect().await);
    }
    let start = Instant::now();
    assert_eq!(server.connect().await.get("/").await, "ok");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
}
