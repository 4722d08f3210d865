//! The edge of the server: what is read before a request is understood, and the pages beside the API.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use bursar_testing::{Engine, eventually};
use serde_json::Value;

use super::bundle::organization;
use super::http;
use super::world::World;

/// Processor time that a server has used, in seconds.
fn cpu_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit_once(')').unwrap().1;
    let field = |place: usize| -> f64 {
        after_name
            .split_whitespace()
            .nth(place - 3)
            .unwrap()
            .parse()
            .unwrap()
    };
    // Hundredths of a second, on every Linux.
    (field(14) + field(15)) / 100.0
}

/// Anyone may send it, and the price of this endpoint is read from its query before the charge.
#[test]
fn a_query_of_thousands_of_names_costs_next_to_nothing() {
    let world = World::apart(Engine::Sqlite, &["--rate-limit-read", "30"]);
    let names: Vec<String> = (0..6_000).map(|n| format!("{n:x}")).collect();
    let path = format!("/v1/chapters/{}/members?{}", organization(2), names.join("&"));
    let before = cpu_seconds(world.server().pid());
    let statuses: Vec<u16> = (0..60).map(|_| world.nobody().get(&path).status).collect();
    let used = cpu_seconds(world.server().pid()) - before;
    assert_eq!((statuses[0], statuses[59]), (401, 429));
    assert!(used < 2.0, "60 requests used {used} s of the processor");
    // A caller who may know is told the first name.
    assert_eq!(
        world.admin().get(&path).invalid(Some("0"))["code"],
        "invalid_request"
    );
}

/// Sends bytes, closes the sending side, and reads what comes.
fn half_closed(address: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = http::connect(address);
    stream.write_all(bytes).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_whole_request_is_answered_though_its_sender_closed_its_side() {
    let world = World::new(Engine::Sqlite);
    for n in 0..30 {
        let body = format!(r#"{{"name":"half {n}"}}"#);
        let call = world
            .editor()
            .post("/v1/groups")
            .key(&format!("half-{n}"))
            .header("Content-Type", "application/json")
            .header("Content-Length", &body.len().to_string());
        let answer = half_closed(call.address(), format!("{}{body}", call.head()).as_bytes());
        assert!(answer.starts_with("HTTP/1.1 201"), "{n}: {answer}");
    }
    let groups = world.editor().walk("/v1/groups");
    let made = groups.iter().filter(|group| {
        group["name"]
            .as_str()
            .is_some_and(|name| name.starts_with("half "))
    });
    assert_eq!(made.count(), 30);
}

#[test]
fn a_request_that_others_could_read_differently_is_refused() {
    let world = World::new(Engine::Sqlite);
    let address = world.server().address;
    let token = world.editor().token().unwrap().secret;
    let ask = |line: &str, headers: &str, body: &str| {
        let text =
            format!("{line}\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n{headers}\r\n{body}");
        http::exchange(address, text.as_bytes())
    };
    let get = "GET /v1/members HTTP/1.1";
    ask(get, "Host: x\r\n", "").ok();
    ask("GET /v1/members HTTP/1.0", "", "").ok();
    for (headers, param) in [
        ("", "Host"),
        ("Host: x\r\nHost: x\r\n", "Host"),
        ("Host: x\r\nHost: y\r\n", "Host"),
        ("Host: x y\r\n", "Host"),
        ("Host: x\r\nTE: gzip, chunked\r\n", "TE"),
    ] {
        let reply = ask(get, headers, "");
        reply.invalid(Some(param));
        reply.check_v1(false);
        assert_eq!(reply.must("connection"), "close");
        assert_eq!(ask("GET /healthz HTTP/1.1", headers, "").status, 400, "{headers}");
    }
    let post = "POST /v1/groups HTTP/1.1";
    let chunks = "c\r\n{\"name\":\"x\"}\r\n0\r\n\r\n";
    for encoding in [
        "gzip, chunked",
        "chunked\r\nTransfer-Encoding: chunked",
        "identity, chunked",
    ] {
        let headers = format!(
            "Host: x\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nTransfer-Encoding: {encoding}\r\n"
        );
        ask(post, &headers, chunks).invalid(Some("Transfer-Encoding"));
    }
    let headers = "Host: x\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nTransfer-Encoding: chunked\r\nTE: trailers\r\n";
    ask(post, headers, chunks).done(201);
}

#[test]
fn a_long_method_is_logged_short() {
    let world = World::apart(Engine::Sqlite, &[]);
    let method = "M".repeat(20_000);
    let reply = world.editor().ask(&method, "/v1/members").send();
    reply.refused(405, "method_not_allowed");
    let id = reply.must("x-request-id").to_owned();
    let line = eventually("the request is in the log", || {
        let log = world.server().log();
        log.lines().find(|line| line.contains(&id)).map(str::to_owned)
    });
    let line: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["method"], "M".repeat(16));
}

#[test]
fn the_origin_of_pages_that_may_call_has_one_form() {
    let given = "https://App.Example.org:443/";
    let world = World::with(Engine::Sqlite, &["--cors-origin", given]);
    let call = world.nobody().ask("GET", "/v1/openapi.json");
    let call = call.header("Origin", "https://app.example.org");
    let reply = http::exchange(call.address(), call.head().as_bytes());
    assert_eq!(
        reply.must("access-control-allow-origin"),
        "https://app.example.org"
    );
    let refused = world.output(&["serve", "--cors-origin", "https://app.example.org/app"]);
    assert!(!refused.status.success());
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        said.contains("must be an origin such as https://app.example.org"),
        "{said}"
    );
}

#[test]
fn pages_have_tags_are_compressed_and_are_found_with_a_slash() {
    let world = World::new(Engine::Sqlite);
    let nobody = world.nobody();
    for path in [
        "/docs",
        "/docs/guide",
        "/docs/errors",
        "/docs/members",
        "/docs/search.json",
        "/docs/style.css",
        "/docs/docs.js",
    ] {
        let slash = nobody.get(&format!("{path}/"));
        assert_eq!((slash.status, slash.must("location")), (302, path));

        let plain = nobody.get(path);
        let tag = plain.must("etag");
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None));
        assert_eq!(plain.must("vary"), "Accept-Encoding");
        let asked = |header, value: &str| nobody.ask("GET", path).header(header, value).send();
        let known = asked("If-None-Match", &format!("\"other\", W/{tag}"));
        assert_eq!(
            (known.status, &*known.body, known.must("etag"), known.must("vary")),
            (304, "", tag, "Accept-Encoding")
        );
        assert_eq!(asked("If-None-Match", "\"other\"").body, plain.body);

        let small = asked("Accept-Encoding", "br, gzip");
        assert_eq!(small.must("content-encoding"), "gzip");
        assert_ne!(small.must("etag"), tag, "another form, another tag");
        assert!(
            small.number("content-length") < plain.number("content-length") / 2,
            "{path}"
        );
        assert_eq!(small.must("content-type"), plain.must("content-type"));
        let head = nobody.ask("HEAD", path).header("Accept-Encoding", "gzip").send();
        assert_eq!(head.must("content-length"), small.must("content-length"));
    }
    assert_eq!(nobody.get("/docs//").status, 404);
    assert_eq!(nobody.get("/healthz/").status, 404);
}

/// Whatever the system allows, connections that say nothing take no place from those that do.
#[test]
fn idle_connections_lock_nobody_out() {
    let world = World::with_open_files(60, 240);
    let limits = fs::read_to_string(format!("/proc/{}/limits", world.server().pid())).unwrap();
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .unwrap();
    assert_eq!(files.split_whitespace().nth(3), Some("240"), "{files}");
    let address = world.server().address;
    let editor = world.editor();
    editor.get("/v1/groups").ok();
    // Silent ones, and some that stop in the middle of a head.
    let idle: Vec<TcpStream> = (0..400)
        .map(|n| {
            let mut stream = http::connect(address);
            if n % 2 == 0 {
                let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\n");
            }
            stream
        })
        .collect();
    for _ in 0..20 {
        editor.get("/v1/groups").ok();
    }
    assert!(!world.server().log().contains("cannot accept connections"));
    drop(idle);
}
