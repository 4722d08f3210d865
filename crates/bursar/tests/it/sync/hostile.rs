//! Servers that answer badly: what is promised is waited for, what may pass is tried again, and the mirror is right.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Mirror;

const SECRET: &str = "bursar_pat_00000000000000000000000000000000";

/// How a request is answered.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// As a bursar would.
    Well,
    /// The same, over many lines.
    Pretty,
    /// With this status and these header lines.
    Status(u16, &'static str),
    /// With an error of this status and code.
    Error(u16, &'static str),
    /// Not at all: the connection is closed.
    Nothing,
    /// Half of it.
    Half,
    /// Something else.
    Nonsense,
    /// A page with these numbers of rows, that says there is more, and this cursor for it.
    Page(&'static [u32], &'static str),
}

use Answer::{Error, Half, Nonsense, Nothing, Page, Pretty, Status, Well};

/// A server with members, each a minute after the one before.
struct Server {
    address: SocketAddr,
    data: Arc<Mutex<Data>>,
}

#[derive(Default)]
struct Data {
    /// The number of each member and the minute of its last change.
    rows: Vec<(u32, u32)>,
    answers: Vec<Answer>,
    asked: Vec<(Instant, String)>,
}

fn row((number, minute): (u32, u32)) -> Value {
    json!({
        "id": format!("mem_{number:026}"), "firstName": format!("a\"\\\n{number}"),
        "updatedAt": format!("2026-01-01T{:02}:{:02}:00.000000Z", minute / 60, minute % 60),
    })
}

impl Server {
    /// The answers are given in this order; all others are as they should be.
    fn start(members: u32, answers: &[Answer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let data = Data {
            rows: (1..=members).map(|n| (n, n)).collect(),
            answers: answers.to_vec(),
            asked: Vec::new(),
        };
        let server = Server {
            address: listener.local_addr().unwrap(),
            data: Arc::new(Mutex::new(data)),
        };
        let data = Arc::clone(&server.data);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (Ok(stream), data) = (stream, Arc::clone(&data)) else {
                    return;
                };
                std::thread::spawn(move || while serve(&stream, &data).is_some() {});
            }
        });
        server
    }

    fn mirror(&self) -> Mirror {
        Mirror::of(format!("http://{}", self.address), SECRET)
    }

    fn answer(&self, answers: &[Answer]) {
        self.data.lock().unwrap().answers = answers.to_vec();
    }

    fn set(&self, rows: &[(u32, u32)]) {
        self.data.lock().unwrap().rows = rows.to_vec();
    }

    /// What was asked since the last look: when, and the first line with the headers.
    fn asked(&self) -> Vec<(Instant, String)> {
        std::mem::take(&mut self.data.lock().unwrap().asked)
    }

    /// The rows in the order of ids.
    fn rows(&self) -> Vec<Value> {
        let mut rows = self.data.lock().unwrap().rows.clone();
        rows.sort_unstable();
        rows.into_iter().map(row).collect()
    }
}

/// Answers one request; nothing when the connection is over.
fn serve(mut stream: &TcpStream, data: &Mutex<Data>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let (answer, body) = {
        let mut data = data.lock().unwrap();
        data.asked.push((Instant::now(), head.clone()));
        let answer = match data.answers.is_empty() {
            true => Well,
            false => data.answers.remove(0),
        };
        (answer, right_answer(head.split(' ').nth(1)?, &data.rows))
    };
    let text = body.to_string();
    let (status, more, text) = match answer {
        Well => (200, "", text),
        Pretty => (
            200,
            "",
            serde_json::to_string_pretty(&body).unwrap().replace('\n', "\r\n"),
        ),
        Status(status, more) => (status, more, String::new()),
        Error(status, code) => {
            let error = json!({ "error": { "code": code, "message": "It is so.", "requestId": "req_1" } });
            (status, "", error.to_string())
        }
        Nothing => return None,
        Half => {
            let half = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}",
                text.len(),
                &text[..text.len() / 2]
            );
            stream.write_all(half.as_bytes()).ok()?;
            return None;
        }
        Nonsense => (200, "", "<html>".to_owned()),
        Page(numbers, cursor) => {
            // Changed all at one time.
            let rows: Vec<Value> = numbers.iter().map(|n| row((*n, 1))).collect();
            let page = json!({ "data": rows, "hasMore": true, "nextCursor": cursor });
            (200, "", page.to_string())
        }
    };
    let reply = format!(
        "HTTP/1.1 {status} X\r\n{more}Content-Length: {}\r\n\r\n{text}",
        text.len()
    );
    stream.write_all(reply.as_bytes()).ok()
}

/// What a bursar would say; its cursor is how many rows came before.
fn right_answer(path: &str, rows: &[(u32, u32)]) -> Value {
    if path == "/v1/token" {
        return json!({
            "organizationId": "org_1", "expiresAt": "2099-01-01T00:00:00.000000Z", "effectiveScopes": ["members:read"],
        });
    }
    let (path, query) = path.split_once('?').unwrap();
    assert_eq!(path, "/v1/members");
    let value = |name: &str| {
        let value = query
            .split('&')
            .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
        Some(value.replace("%3A", ":"))
    };
    let since = value("updatedSince").unwrap_or_default();
    let mut rows = rows.to_vec();
    rows.sort_by_key(|(number, minute)| (*minute, *number));
    let rows: Vec<Value> = rows
        .into_iter()
        .map(row)
        .filter(|row| row["updatedAt"].as_str().unwrap() >= since.as_str())
        .collect();
    let start = value("cursor").map_or(0, |cursor| cursor.parse().unwrap());
    let end = rows
        .len()
        .min(start + value("limit").unwrap().parse::<usize>().unwrap());
    let has_more = end < rows.len();
    json!({ "data": rows[start..end], "hasMore": has_more, "nextCursor": has_more.then(|| end.to_string()) })
}

#[test]
fn it_waits_and_tries_again_and_ends_right() {
    let answers = [
        Status(503, "Retry-After: 0\r\n"),
        Well,
        Status(429, "Retry-After: 2\r\n"),
        Well,
        Error(500, "internal"),
        Nothing,
        Half,
        Nonsense,
        Pretty,
        Status(502, ""),
        Status(408, ""),
        Well,
        Status(429, "Retry-After: 1\r\n"),
        Status(429, "Retry-After: 1\r\n"),
    ];
    let server = Server::start(25, &answers);
    let mirror = server.mirror();
    let report = &mirror.sync(&["--page-size", "5"])["members"];
    assert_eq!(mirror.rows("members"), server.rows());
    assert_eq!(
        (&report["rows"], &report["pages"], &report["waits"]),
        (&25.into(), &5.into(), &9.into())
    );
    let asked = server.asked();
    assert_eq!(asked.len(), 16);
    for (n, answer) in answers.iter().enumerate() {
        // At least as long as it was asked to; how much longer is not for a test to say.
        let least = match answer {
            Status(429, "Retry-After: 2\r\n") => 2,
            Status(429, _) => 1,
            _ => 0,
        };
        assert!(
            asked[n + 1].0 - asked[n].0 >= Duration::from_secs(least),
            "{n}: {answer:?}"
        );
    }
    for (_, head) in &asked {
        let head = head.to_ascii_lowercase();
        assert!(
            head.contains(&format!("authorization: bearer {SECRET}\r\n")),
            "{head}"
        );
        assert!(
            head.contains(&format!(
                "user-agent: bursar-sync/{}\r\n",
                env!("CARGO_PKG_VERSION")
            )),
            "{head}"
        );
    }
}

#[test]
fn it_gives_up_and_says_how_to_go_on() {
    let server = Server::start(25, &[]);
    let mirror = server.mirror();
    for (answers, said) in [
        (
            vec![Error(500, "internal"); 3],
            "500 It is so. (req_1), at attempt 3; run the same command again later",
        ),
        (vec![Nothing; 3], "no response ("),
        (vec![Nonsense; 3], "a response that is not from bursar"),
        (
            vec![Status(429, "Retry-After: 86400\r\n")],
            "for 86400 s; run the same command again later",
        ),
        (
            vec![Status(302, "Location: https://elsewhere.example.org/\r\n")],
            "sends elsewhere, to https://elsewhere",
        ),
        (vec![Error(401, "invalid_token")], "does not take the token"),
        (vec![Status(404, "")], "has no /v1/token: is it a bursar server"),
        (vec![Status(418, "")], "status 418"),
    ] {
        server.answer(&answers);
        let refused = mirror.run(&["--attempts", "3"]).failed();
        assert!(refused.contains(said), "{refused}");
        // In the midst of the list, a run that is told so goes on from there.
        server.answer(&[&[Well, Well], &answers[..]].concat());
        let done = mirror.run(&["--attempts", "3", "--page-size", "1", "--full"]);
        assert_eq!(done.code, Some(1), "{answers:?}");
    }
    let report = &mirror.sync(&["--page-size", "5"])["members"];
    assert_eq!(
        (&report["isResumed"], &report["rows"]),
        (&true.into(), &25.into())
    );
    assert_eq!(mirror.rows("members"), server.rows());
}

#[test]
fn refused_cursors_begin_a_new_leg() {
    let server = Server::start(25, &[Well, Well, Well, Error(400, "invalid_cursor")]);
    let mirror = server.mirror();
    let report = &mirror.sync(&["--page-size", "5"])["members"];
    assert_eq!(mirror.rows("members"), server.rows());
    assert_eq!((&report["new"], &report["requests"]), (&25.into(), &7.into()));
    let asked: Vec<String> = server.asked().into_iter().map(|(_, head)| head).collect();
    assert!(
        asked[4].contains("updatedSince=2026-01-01T00%3A10%3A00.000000Z HTTP"),
        "{}",
        asked[4]
    );
    // A server that never takes one is not asked without limit.
    let answers: Vec<Answer> = [Well]
        .into_iter()
        .chain([Well, Error(400, "invalid_cursor")].repeat(20))
        .collect();
    server.answer(&answers);
    let refused = mirror.run(&["--page-size", "1", "--full"]).failed();
    assert!(
        refused.contains("the server ends every walk before its end"),
        "{refused}"
    );
}

#[test]
fn a_source_that_was_set_back_is_asked_for_everything() {
    let server = Server::start(5, &[]);
    let mirror = server.mirror();
    mirror.sync(&[]);
    // Members 2 and 5 change, and a sixth comes.
    server.set(&[(1, 1), (3, 3), (4, 4), (5, 10), (2, 11), (6, 12)]);
    mirror.sync(&[]);
    assert_eq!(mirror.rows("members"), server.rows());
    // A backup from before is restored, and somebody new comes after it.
    server.set(&[(1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (7, 30)]);
    let report = &mirror.sync(&[])["members"];
    assert_eq!(mirror.rows("members"), server.rows());
    assert!(
        report["notes"][0]
            .as_str()
            .unwrap()
            .contains("as after a backup was restored"),
        "{report}"
    );
    assert_eq!(
        ["new", "changed", "removed", "unchanged"].map(|key| report[key].as_u64().unwrap()),
        [1, 2, 1, 3]
    );
    // And nothing at all.
    server.set(&[]);
    let report = &mirror.sync(&[])["members"];
    assert_eq!((&report["removed"], &report["rows"]), (&6.into(), &0.into()));
    assert_eq!(mirror.sync(&[])["members"]["notes"], json!([]));
}

#[test]
fn a_server_that_breaks_the_order_is_not_believed() {
    let server = Server::start(5, &[]);
    let mirror = server.mirror();
    mirror.sync(&["--page-size", "2"]);
    let before = mirror.rows("members");
    // The cursor counts rows: one that moves to the front meanwhile makes the server repeat a row.
    let asked_and_moved = {
        server.answer(&[Well, Well, Nothing, Nothing]);
        mirror
            .run(&["--page-size", "2", "--full", "--attempts", "2"])
            .failed()
    };
    assert!(asked_and_moved.contains("no response"), "{asked_and_moved}");
    server.set(&[(9, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
    let refused = mirror.run(&["--page-size", "2"]).failed();
    assert!(refused.contains("out of the order of change"), "{refused}");
    assert_eq!(mirror.rows("members"), before, "the file stays as it was");
}

/// A server that always has more and never comes on is told from one that has much.
#[test]
fn a_server_that_makes_no_progress_is_not_asked_for_ever() {
    let server = Server::start(5, &[]);
    for (pages, said) in [
        // More than anybody would wait for.
        (vec![Page(&[], "1"); 500], "an empty page that is not the last"),
        (vec![Page(&[1], "1"), Page(&[2], "1")], "the same cursor again"),
        (
            [Page(&[1], "1"), Page(&[2], "2")].repeat(250),
            "out of the order of change",
        ),
    ] {
        let mirror = server.mirror();
        server.answer(&[&[Well], &pages[..]].concat());
        server.asked();
        let refused = mirror.run(&[]).failed();
        assert!(refused.contains(said), "{refused}");
        assert!(server.asked().len() <= 4, "{said}");
        // The same folder is brought up to date once the server is itself again: it ends that walk, and begins another.
        server.answer(&[]);
        mirror.sync(&["--full"]);
        mirror.sync(&["--full"]);
        assert_eq!(mirror.rows("members"), server.rows());
    }
}
