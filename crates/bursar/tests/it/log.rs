//! The log of a server whose standard error nobody reads: requests go on, and what was lost is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use bursar_testing::eventually;
use serde_json::Value;

use crate::messages::terminate;
use crate::support::Place;

/// More than a pipe and the queue hold: 64 KiB and 1 MiB, with lines of some 200 bytes.
const REQUESTS: usize = 12_000;

struct Server {
    child: Child,
    address: String,
    metrics: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that failed leaves nothing running.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server with its log in a pipe.
fn serve(place: &Place) -> Server {
    let metrics = bursar_testing::free_address().to_string();
    let mut child = place
        .command(&[
            "serve",
            "--drain-delay",
            "0s",
            "--listen",
            "127.0.0.1:0",
            "--log-format",
            "json",
            "--metrics-listen",
            &metrics,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line
        .trim()
        .strip_prefix("listening on http://")
        .unwrap()
        .to_owned();
    Server {
        child,
        address,
        metrics,
    }
}

/// Asks for something that needs a token, without one, many times over one connection.
fn ask(server: &Server, times: usize) {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .unwrap();
    let mut reader = BufReader::new(&stream);
    for n in 0..times {
        let request = format!("GET /v1/token HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
        (&stream).write_all(request.as_bytes()).unwrap();
        let (mut length, mut line) = (0, String::new());
        while line != "\r\n" {
            line.clear();
            let read = reader.read_line(&mut line);
            assert!(read.is_ok_and(|bytes| bytes > 0), "request {n} has no answer");
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = text.trim().parse().unwrap();
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
    }
}

fn dropped(server: &Server) -> u64 {
    let mut stream = TcpStream::connect(&server.metrics).unwrap();
    let request = format!(
        "GET /metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        server.metrics
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(
        text.contains("# TYPE bursar_log_lines_dropped_total counter\n"),
        "{text}"
    );
    let value = text
        .lines()
        .find_map(|line| line.strip_prefix("bursar_log_lines_dropped_total "));
    value.unwrap().trim().parse().unwrap()
}

#[test]
fn a_log_that_nobody_reads_stops_no_request() {
    let place = Place::sqlite();
    let mut server = serve(&place);
    ask(&server, REQUESTS);
    let lost = dropped(&server);
    assert!(lost > 0, "{REQUESTS} lines fit");

    // Somebody reads again: what was kept comes, each line whole, then how many were lost, then what follows.
    let mut lines = BufReader::new(server.child.stderr.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let mut requests = 0;
    let told = loop {
        let line = next();
        match line["message"].as_str().unwrap() {
            "request" => requests += 1,
            message if message.contains("dropped") => break line,
            _ => {}
        }
    };
    assert_eq!(told["level"], "WARN", "{told}");
    assert_eq!(told["dropped"], lost, "{told}");
    let all = u64::try_from(REQUESTS).unwrap();
    assert!(requests > 0 && requests + lost >= all, "{requests} were kept");
    ask(&server, 1);
    assert!((0..10).any(|_| next()["message"] == "request"));
    assert_eq!(dropped(&server), lost);
    terminate(&mut server.child);
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(
        rest.last().unwrap().contains("stopping"),
        "the end is told: {rest:?}"
    );
}

#[test]
fn a_log_that_nobody_reads_stops_no_shutdown() {
    let place = Place::sqlite();
    let mut server = serve(&place);
    ask(&server, 1_000);
    let stderr = server.child.stderr.take();
    terminate(&mut server.child);
    drop(stderr);
}

/// A log that is closed is as good as one that nobody reads.
#[test]
fn a_log_that_is_closed_stops_nothing() {
    let place = Place::sqlite();
    let mut server = serve(&place);
    drop(server.child.stderr.take());
    // A process that another test is just starting may have our end of the pipe for a moment, and then lines fit.
    eventually("the lines are counted", || {
        ask(&server, 100);
        (dropped(&server) >= 100).then_some(())
    });
    terminate(&mut server.child);
}

/// Why a server did not start comes after what it logged, and is not lost with it.
#[test]
fn what_ends_a_server_is_the_last_line() {
    let place = Place::sqlite();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let done = place.run(&["serve", "--listen", &taken.local_addr().unwrap().to_string()]);
    assert_eq!(done.code, Some(1));
    let last = done.stderr.lines().last().unwrap();
    assert!(last.starts_with("bursar: cannot listen on "), "{}", done.stderr);
}
