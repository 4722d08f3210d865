//! Bad input: never a 5xx, never a panic, and always the shape of an error, but for what is no HTTP request.

use std::io::{Read, Write};
use std::thread;

use bursar_api::routes::ROUTES;
use bursar_testing::Engine;
use serde_json::json;

use super::bundle::{group, id, member, organization, reminder};
use super::http::{self, Reply};
use super::world::{Call, World};

fn healthy(world: &World) {
    assert_eq!(world.nobody().get("/healthz").status, 200);
}

#[test]
fn bodies() {
    let world = World::with(Engine::Sqlite, &["--rate-limit-write", "10000"]);
    let editor = world.editor();
    let post = || {
        editor
            .post("/v1/groups")
            .key("k")
            .header("Content-Type", "application/json")
    };
    let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
    let no_param: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b" ".to_vec(),
        b"null".to_vec(),
        b"[]".to_vec(),
        b"1".to_vec(),
        b"\"x\"".to_vec(),
        b"{".to_vec(),
        b"{\"name\":\"x\"".to_vec(),
        b"{\"name\":\"x\"}}".to_vec(),
        b"{\"name\":\"x\"} {}".to_vec(),
        b"{name:\"x\"}".to_vec(),
        b"{'name':'x'}".to_vec(),
        b"{\"name\":\"x\",}".to_vec(),
        b"{\"name\":01}".to_vec(),
        b"{\"name\":NaN}".to_vec(),
        b"{\"name\":\"a\nb\"}".to_vec(),
        b"{\"name\":\"\\x\"}".to_vec(),
        b"\xef\xbb\xbf{\"name\":\"x\"}".to_vec(),
        b"{\"name\":\"\xff\"}".to_vec(),
        b"{\"name\":\"\xed\xa0\x80\"}".to_vec(),
        b"\0".to_vec(),
        b"{\"\\ud800\":1}".to_vec(),
        deep(30_000).into_bytes(),
        "{\"a\":".repeat(10_000).into_bytes(),
    ];
    for body in no_param {
        post().bytes(&body).invalid(None);
    }
    for (body, param) in [
        (r#"{"name":"a","name":"a"}"#.to_owned(), "name"),
        (r#"{"name":"a","n\u0061me":"a"}"#.to_owned(), "name"),
        (r#"{"x":1,"x":1,"name":"a"}"#.to_owned(), "x"),
        (format!(r#"{{"name":{}}}"#, deep(30_000)), "name"),
        (r#"{"name":"\ud800"}"#.to_owned(), "name"),
        (r#"{"name":"a\u0000b"}"#.to_owned(), "name"),
        (r#"{"name":"a\u001bb"}"#.to_owned(), "name"),
        (r#"{"name":"a\u007fb"}"#.to_owned(), "name"),
        (r#"{"name":"a\nb"}"#.to_owned(), "name"),
        (r#"{"name":"a","description":"a\rb"}"#.to_owned(), "description"),
        (
            r#"{"name":"a","description":"a\u0000b"}"#.to_owned(),
            "description",
        ),
        (format!(r#"{{"name":{}}}"#, "9".repeat(1_000)), "name"),
        (r#"{"Name":"a"}"#.to_owned(), "Name"),
        (r#"{"":1}"#.to_owned(), ""),
    ] {
        post().bytes(body.as_bytes()).invalid(Some(param));
    }
    let long = post().bytes(format!(r#"{{"{}":1}}"#, "k".repeat(60_000)).as_bytes());
    long.refused(400, "invalid_request");
    assert!(long.body.len() < 1_000, "a long name is not repeated");
    // Many fields, each of them new.
    let many: Vec<String> = (0..6_000).map(|n| format!("\"{n}\":0")).collect();
    post()
        .bytes(format!("{{{}}}", many.join(",")).as_bytes())
        .invalid(Some("0"));

    for digits in [
        "9".repeat(1_000),
        format!("0.{}1", "0".repeat(1_000)),
        format!("1e{}", "9".repeat(1_000)),
        format!("-{}", "9".repeat(1_000)),
    ] {
        let body = format!(r#"{{"name":"x","spendLimit":{digits},"spendLimitFrequency":"daily"}}"#);
        let reply = world.admin().post("/v1/cards").key("k").text(&body);
        reply.invalid(Some("spendLimit"));
        assert!(reply.body.len() < 500, "{}", reply.body);
    }
    // An endless tail of zeros is still an exact number.
    let exact = format!(
        r#"{{"name":"x","spendLimit":10.10{},"spendLimitFrequency":"daily"}}"#,
        "0".repeat(1_000)
    );
    assert_eq!(
        world.admin().post("/v1/cards").key("k2").text(&exact).done(201)["card"]["spendLimit"],
        "10.10"
    );

    // Where the body is an empty object: nothing, or exactly that.
    let send = |n: u32| {
        editor
            .post(&format!("/v1/reminders/{}/send", reminder(n)))
            .key(&format!("send-{n}"))
    };
    for body in ["[]", "null", "{\"a\":1}", " ", "{}{}", "0", "\"\""] {
        send(1).text(body).refused(400, "invalid_request");
    }
    send(1).text(" {\n} ").ok();
    send(8).send().ok();
    send(10).header("Content-Length", "0").go(b"").ok();
    healthy(&world);
}

#[test]
fn sizes_and_encodings() {
    let world = World::new(Engine::Sqlite);
    let editor = world.editor();
    let post = || editor.post("/v1/groups").key("k");
    let json = || post().header("Content-Type", "application/json");
    let filled = |length: usize| {
        let frame = r#"{"name":"x","description":""}"#.len();
        format!(r#"{{"name":"x","description":"{}"}}"#, " ".repeat(length - frame))
    };
    assert_eq!(json().bytes(filled(65_537).as_bytes()).status, 413);
    for length in [65_537, 300_000, 1 << 20, (1 << 20) + 1, 3 << 20] {
        json()
            .bytes(&vec![b'x'; length])
            .refused(413, "payload_too_large");
    }
    let chunked = |length: usize| {
        let mut body = Vec::new();
        for part in vec![b'x'; length].chunks(10_000) {
            body.extend_from_slice(format!("{:x}\r\n", part.len()).as_bytes());
            body.extend_from_slice(part);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"0\r\n\r\n");
        body
    };
    for length in [65_537, 300_000, 2 << 20] {
        json()
            .header("Transfer-Encoding", "chunked")
            .go(&chunked(length))
            .refused(413, "payload_too_large");
    }
    let gzip = [
        0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0,
    ];
    json()
        .header("Content-Encoding", "gzip")
        .bytes(&gzip)
        .refused(415, "unsupported_media_type");
    json()
        .header("Content-Encoding", "br")
        .bytes(b"{}")
        .refused(415, "unsupported_media_type");
    for kind in [
        "text/plain",
        "application/json5",
        "application/x-www-form-urlencoded",
        "application/jsonx; a=b",
        "",
        ";",
        "json",
        "application/vnd.api+json",
    ] {
        post()
            .header("Content-Type", kind)
            .bytes(b"{\"name\":\"x\"}")
            .refused(415, "unsupported_media_type");
    }
    post()
        .bytes(b"{\"name\":\"x\"}")
        .refused(415, "unsupported_media_type");
    json()
        .header("Content-Type", "application/json")
        .bytes(b"{\"name\":\"x\"}")
        .refused(415, "unsupported_media_type");

    // What is right, in the largest size, in chunks, and with parameters.
    json().bytes(filled(65_536).as_bytes()).done(201);
    let chunks = b"5\r\n{\"nam\r\n8;ext=1\r\ne\": \"x\"}\r\n0\r\nTrailer: x\r\n\r\n";
    editor
        .post("/v1/groups")
        .key("k3")
        .header("Content-Type", "application/json")
        .header("Transfer-Encoding", "chunked")
        .go(chunks)
        .done(201);
    for (key, kind) in [
        ("t1", "application/json; charset=utf-8"),
        ("t2", "APPLICATION/JSON"),
        ("t3", "application/json ; x=y"),
    ] {
        editor
            .post("/v1/groups")
            .key(key)
            .header("Content-Type", kind)
            .header("Content-Encoding", "identity")
            .bytes(b"{\"name\":\"x\"}")
            .done(201);
    }
    let tight = World::with(Engine::Sqlite, &["--body-limit", "20"]);
    let post = |body: &str| tight.editor().post("/v1/groups").key("k").text(body);
    assert!(post(r#"{"name":"x"        }"#).status == 201 && post(r#"{"name":"x"         }"#).status == 413);
    // An endpoint without a body does not read one.
    editor.ask("GET", "/v1/groups").bytes(b"whatever").ok();
    healthy(&world);
}

#[test]
fn a_body_that_breaks_off() {
    let world = World::new(Engine::Sqlite);
    let editor = world.editor();
    // The client promises more than it sends and closes its side.
    let call = editor
        .post("/v1/groups")
        .key("k")
        .header("Content-Type", "application/json")
        .header("Content-Length", "100");
    let mut stream = http::connect(call.address());
    stream
        .write_all(format!("{}{{\"name\"", call.head()).as_bytes())
        .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(
        !answer.contains(" 5") || answer.starts_with("HTTP/1.1 4"),
        "{answer}"
    );
    // A chunk whose length is no number.
    let call = editor
        .post("/v1/groups")
        .key("k")
        .header("Content-Type", "application/json")
        .header("Transfer-Encoding", "chunked");
    let reply = http::exchange(
        call.address(),
        format!("{}zz\r\nx\r\n0\r\n\r\n", call.head()).as_bytes(),
    );
    assert_eq!(reply.status, 400, "{}", reply.body);
    // Nothing was made.
    editor
        .post("/v1/groups")
        .key("k")
        .json(json!({ "name": "first" }))
        .done(201);
    healthy(&world);
}

#[test]
fn paths_and_methods() {
    let world = World::with(Engine::Sqlite, &["--rate-limit-write", "10000"]);
    let admin = world.admin();
    let own = member(1);
    for path in [
        "/v1",
        "/v1/",
        "/v1//members",
        "/v1/members//",
        "/v1/Members",
        "/v1/%6dembers",
        "/v1/members/..",
        "/v1/members/.",
        "/v1/x/../members",
        "/v1/members;x=1",
        "/v1/members/%2e%2e/groups",
        "/v1/store",
        "/v1/reminders/x",
        "/v1/members%00",
    ] {
        admin.get(path).refused(404, "not_found");
    }
    let tricks = [
        own.to_uppercase(),
        format!("{own}%00"),
        format!("{own}%20"),
        format!("%20{own}"),
        format!("{own}%2f"),
        format!("{own}%2Fx"),
        format!("{own}%252f"),
        format!("{own}%"),
        format!("{own}%z"),
        "%ff".to_owned(),
        "%c0%af".to_owned(),
        "mem_".to_owned(),
        own.replace("mem_", "MEM_"),
        own.replace("mem_0", "mem_8"),
        own.replace("mem_01", "mem_0l"),
        "x".repeat(8_000),
        "'%20OR%201=1--".to_owned(),
        group(1),
    ];
    for trick in tricks {
        let error = admin
            .get(&format!("/v1/members/{trick}"))
            .refused(404, "not_found");
        assert_eq!(error.get("param"), None);
    }
    // An escaped letter is the same letter.
    let escaped = own.replace('_', "%5F");
    assert_eq!(admin.get(&format!("/v1/members/{escaped}")).ok()["id"], own);
    let first = admin
        .patch(&format!("/v1/members/{own}"))
        .key("p")
        .json(json!({ "firstName": "Ann" }))
        .ok();
    let again = admin
        .patch(&format!("/v1/members/{escaped}"))
        .key("p")
        .json(json!({ "firstName": "Ann" }));
    assert_eq!(
        (again.ok(), again.header("idempotent-replayed")),
        (first, Some("true"))
    );

    let events = admin.get("/v1/events?limit=1").ok();
    let event = events["data"][0]["id"].as_str().unwrap();
    for route in &ROUTES {
        let path = route
            .path
            .replace("{eventId}", event)
            .replace("{chapterId}", &organization(2))
            .replace("{reminderId}", &reminder(1))
            .replace("{memberId}", &own)
            .replace("{groupId}", &group(1))
            .replace("{campaignId}", &id("cmp", 1))
            .replace("{listingId}", &id("lst", 1))
            .replace("{orderId}", &id("ord", 1));
        let has: Vec<&str> = ROUTES
            .iter()
            .filter(|other| other.path == route.path)
            .map(|other| other.method.as_str())
            .collect();
        for method in ["PUT", "OPTIONS", "TRACE", "BREW", "PROPFIND", "get"] {
            let reply = admin.ask(method, &path).send();
            reply.refused(405, "method_not_allowed");
            let mut allow: Vec<&str> = reply.must("allow").split(", ").collect();
            let mut expected = has.clone();
            if has.contains(&"GET") {
                expected.push("HEAD");
            }
            allow.sort_unstable();
            expected.sort_unstable();
            assert_eq!(allow, expected, "{path}");
        }
        // HEAD is GET without the body.
        let head = admin.ask("HEAD", &path).send();
        if has.contains(&"GET") {
            let get = admin.get(&path);
            assert_eq!(head.status, 200, "{path}");
            assert_eq!(head.must("content-length"), get.must("content-length"), "{path}");
        } else {
            assert_eq!(
                (head.status, head.must("allow")),
                (405, has.join(", ").as_str()),
                "{path}"
            );
        }
    }
    assert_eq!(admin.ask("HEAD", "/v1/nothing").send().status, 404);
    assert_eq!(admin.ask("HEAD", "/v1/members?limit=0").send().status, 400);
    healthy(&world);
}

fn raw(call: &Call, head: &str) -> Reply {
    http::exchange(call.address(), head.as_bytes())
}

#[test]
fn heads_and_versions() {
    let world = World::new(Engine::Sqlite);
    let admin = world.admin();
    let call = admin.ask("GET", "/v1/groups");
    let secret = admin.token().unwrap().secret;

    let old = raw(
        &call,
        &format!("GET /v1/groups HTTP/1.0\r\nAuthorization: Bearer {secret}\r\n\r\n"),
    );
    assert_eq!(old.status, 200, "HTTP/1.0, without a Host: {}", old.body);
    old.check_v1(false);
    let absolute = raw(
        &call,
        &call.head().replace("GET /v1", "GET http://other.example/v1"),
    );
    assert_eq!(absolute.status, 200);
    let fragment = raw(&call, &call.head().replace("/v1/groups", "/v1/groups#x"));
    assert!((200..500).contains(&fragment.status), "{}", fragment.status);

    // A head within the limits, and several beyond: those never reach us as a request.
    admin
        .ask("GET", "/v1/groups")
        .header("X-Long", &"x".repeat(20_000))
        .send()
        .ok();
    let mut many = admin.ask("GET", "/v1/groups");
    for n in 0..90 {
        many = many.header(&format!("X-{n}"), "x");
    }
    many.clone().send().ok();
    for n in 90..120 {
        many = many.header(&format!("X-{n}"), "x");
    }
    for head in [
        many.head(),
        admin
            .ask("GET", "/v1/groups")
            .header("X-Long", &"x".repeat(40_000))
            .head(),
        format!(
            "GET /v1/groups?{} HTTP/1.1\r\nHost: x\r\n\r\n",
            "x".repeat(70_000)
        ),
    ] {
        let reply = raw(&call, &head);
        assert!([400, 414, 431].contains(&reply.status), "{}", reply.status);
    }
    for head in [
        "GET\r\n\r\n".to_owned(),
        "GET /v1/groups\r\n\r\n".to_owned(),
        "GET /v1/groups HTTP/9.9\r\n\r\n".to_owned(),
        "GET /v1/gr oups HTTP/1.1\r\n\r\n".to_owned(),
        "GET /v1/groups HTTP/1.1\r\nNo colon\r\n\r\n".to_owned(),
        "GET /v1/groups HTTP/1.1\r\nX: a\0b\r\n\r\n".to_owned(),
        "POST /v1/groups HTTP/1.1\r\nIdempotency-Key: a\u{7f}b\r\n\r\n".to_owned(),
        "POST /v1/groups HTTP/1.1\r\nContent-Length: x\r\n\r\n".to_owned(),
        "POST /v1/groups HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab".to_owned(),
        "POST /v1/groups HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n".to_owned(),
        "\u{1}\u{2}\u{3}\u{4}\r\n\r\n".to_owned(),
        "G\u{e9}T /v1/groups HTTP/1.1\r\n\r\n".to_owned(),
    ] {
        let mut stream = http::connect(call.address());
        stream.write_all(head.as_bytes()).unwrap();
        // The server may have closed already.
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 4"),
            "{head:?}: {answer}"
        );
    }
    // Bytes beyond ASCII in a header are nobody's token and nobody's key.
    let strange = call.head().replace(&secret, "\u{e9}\u{e9}");
    assert_eq!(raw(&call, &strange).status, 401);
    let posted = admin
        .post("/v1/groups")
        .key("\u{e9}")
        .json(json!({ "name": "x" }));
    posted.refused(400, "idempotency_key_invalid");
    healthy(&world);
}

/// The statuses of the answers on one connection to which all this is written before anything is read.
fn statuses(call: &Call, bytes: Vec<u8>) -> Vec<String> {
    let mut stream = http::connect(call.address());
    let writer = stream.try_clone().unwrap();
    let writing = thread::spawn(move || (&writer).write_all(&bytes));
    let written = writing.join().unwrap();
    let mut answer = String::new();
    let read = stream.read_to_string(&mut answer);
    assert!(written.is_ok() && read.is_ok(), "{written:?} {read:?} {answer}");
    let parts = answer.split("HTTP/1.1 ").skip(1);
    parts
        .filter_map(|part| part.get(..3))
        .map(str::to_owned)
        .collect()
}

#[test]
fn many_requests_on_one_connection() {
    let world = World::new(Engine::Sqlite);
    let admin = world.admin();
    let call = admin.ask("GET", "/v1/token");
    let open = |call: &Call| call.head().replace("Connection: close\r\n", "");
    let mut bytes = open(&call).repeat(3);
    // A body that was not looked at is never taken for the next request.
    let smuggled = "GET /v1/smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    let length = smuggled.len().to_string();
    bytes.push_str(&open(
        &world
            .nobody()
            .post("/v1/groups")
            .header("Content-Length", &length),
    ));
    bytes.push_str(smuggled);
    bytes.push_str(&call.head());
    assert_eq!(
        statuses(&call, bytes.into_bytes()),
        ["200", "200", "200", "401", "200"]
    );

    // A long body does not keep its sender from seeing an early refusal, nor from using the connection again.
    let (nobody, viewer) = (world.nobody(), world.viewer());
    for (refused, status) in [
        (nobody.post("/v1/groups"), "401"),
        (admin.post("/v1/nothing"), "404"),
        (admin.ask("PUT", "/v1/groups"), "405"),
        (viewer.post("/v1/groups"), "403"),
        (admin.post("/v1/groups"), "400"),
        (admin.post("/v1/groups").key("k"), "413"),
    ] {
        for is_chunked in [false, true] {
            let body = vec![b'x'; 900_000];
            let (name, value) = if is_chunked {
                ("Transfer-Encoding", "chunked".into())
            } else {
                ("Content-Length", body.len().to_string())
            };
            let mut bytes = open(&refused.clone().header(name, &value)).into_bytes();
            if is_chunked {
                bytes.extend(format!("{:x}\r\n", body.len()).bytes());
            }
            bytes.extend(&body);
            if is_chunked {
                bytes.extend(b"\r\n0\r\n\r\n");
            }
            bytes.extend(call.head().bytes());
            assert_eq!(
                statuses(&call, bytes),
                [status, "200"],
                "{refused:?} {is_chunked}"
            );
        }
    }
}

#[test]
fn clients_that_wait_and_clients_that_are_slow() {
    let world = World::with(Engine::Sqlite, &["--request-timeout", "1s"]);
    let editor = world.editor();
    let body = r#"{"name":"x"}"#;
    let call = |length: usize| {
        let call = editor
            .post("/v1/groups")
            .key("k")
            .header("Content-Type", "application/json");
        call.header("Content-Length", &length.to_string())
            .header("Expect", "100-continue")
    };
    // A client that asks first is told to go on, or gets its refusal without having sent the body.
    let mut stream = http::connect(call(0).address());
    stream.write_all(call(body.len()).head().as_bytes()).unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).unwrap();
    http::read_reply(&mut stream, "the rest").done(201);
    let refused = http::exchange(call(0).address(), call(5 << 20).head().as_bytes());
    refused.refused(413, "payload_too_large");
    let nobody = world
        .nobody()
        .post("/v1/groups")
        .header("Content-Length", "10")
        .header("Expect", "100-continue")
        .send();
    nobody.refused(401, "invalid_token");
    // A body that does not come is given up after the request's time.
    let waiting = call(100);
    let mut stream = http::connect(waiting.address());
    stream
        .write_all(waiting.head().replace("Expect: 100-continue\r\n", "").as_bytes())
        .unwrap();
    stream.write_all(b"{").unwrap();
    let reply = http::read_reply(&mut stream, "a slow client");
    waiting.check(&reply);
    reply.refused(503, "unavailable");
    assert_eq!(reply.must("retry-after"), "1");
    // A request's id is ours, whatever the client calls it.
    let named = editor
        .ask("GET", "/v1/token")
        .header("X-Request-Id", "req_00000000000000000000000000")
        .send();
    assert!(named.status == 200 && named.must("x-request-id") != "req_00000000000000000000000000");
    healthy(&world);
}
