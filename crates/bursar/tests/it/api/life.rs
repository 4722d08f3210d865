//! The life of a server: health, metrics, logs, and a clean end.

use std::io::Write;
use std::process::Command;

use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::{Engine, eventually};
use serde_json::{Value, json};

use super::bundle::{member, organization};
use super::http;
use super::world::{World, on_both_engines};

on_both_engines! { health_and_readiness a_request_in_flight_finishes last_used_times_are_stored_without_a_worker }

fn last_used_times_are_stored_without_a_worker(engine: Engine) {
    let mut world = World::apart(engine, &["--no-worker", "--drain-delay", "0"]);
    let token = world.service_token(Role::Viewer, 1, ScopeSet::of(&[Scope::MembersRead]));
    assert_eq!(world.bearer(&token.secret).get("/v1/members").status, 200);
    world.server().signal("TERM");
    assert_eq!(world.server_mut().ended(), Some(0));
    let listed = world.run(&["token", "list", "--organization", &organization(1)]);
    let record = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|record| record["id"] == token.id.as_str());
    assert!(record.unwrap()["lastUsedAt"].is_string(), "{listed}");
}

fn health_and_readiness(engine: Engine) {
    let world = World::new(engine);
    let nobody = world.nobody();
    assert_eq!(nobody.get("/healthz").ok()["status"], "ok");
    assert_eq!(
        nobody.get("/readyz").ok(),
        json!({ "status": "ready", "database": "ok", "rateLimits": "local", "stopping": false })
    );
    for path in ["/healthz", "/readyz"] {
        assert_eq!(nobody.ask("HEAD", path).send().status, 200);
        assert_eq!(nobody.post(path).send().must("allow"), "GET, HEAD");
    }
    assert_eq!(
        nobody.get("/nothing").refused(404, "not_found")["docsUrl"],
        format!("http://{}/docs/errors#not_found", world.server().address)
    );
}

fn a_request_in_flight_finishes(engine: Engine) {
    let metrics = bursar_testing::free_address().to_string();
    let mut world = World::apart(engine, &["--metrics-listen", &metrics, "--drain-delay", "0"]);
    let metrics = metrics.parse().unwrap();
    let scrape = || {
        http::exchange(
            metrics,
            b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        )
    };
    let gauge = |name: &str| {
        scrape()
            .body
            .lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse::<i64>().ok())
    };
    let body = r#"{"name":"Last"}"#;
    let length = body.len().to_string();
    let call = world
        .editor()
        .post("/v1/groups")
        .key("k")
        .header("Content-Type", "application/json")
        .header("Content-Length", &length);
    let mut stream = http::connect(call.address());
    stream.write_all(call.head().as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..5]).unwrap();
    eventually("the request is in flight", || {
        gauge("bursar_requests_in_flight ").filter(|count| *count == 1)
    });
    world.server().signal("TERM");
    eventually("the server says that it stops", || {
        world.server().log().contains("stopping").then_some(())
    });
    eventually("it accepts no more", || {
        std::net::TcpStream::connect(call.address())
            .is_err()
            .then_some(())
    });
    stream.write_all(&body.as_bytes()[5..]).unwrap();
    let reply = http::read_reply(&mut stream, "the last request");
    call.check(&reply);
    assert_eq!(reply.done(201)["name"], "Last");
    assert_eq!(world.server_mut().ended(), Some(0));
    // What was answered is there.
    let groups = world.output(&["export", "--organization", &organization(1)]);
    assert!(String::from_utf8_lossy(&groups.stdout).contains("\"Last\""));
}

#[test]
fn metrics_and_logs() {
    let metrics = bursar_testing::free_address().to_string();
    let world = World::apart(Engine::Sqlite, &["--metrics-listen", &metrics]);
    let editor = world.editor();
    let listed = editor.get("/v1/members?limit=1&updatedSince=2020-01-01T00:00:00Z");
    editor
        .get("/v1/members?QUERYVALUE=QUERYVALUE")
        .invalid(Some("QUERYVALUE"));
    editor.get("/v1/members?limit=QUERYVALUE").invalid(Some("limit"));
    editor.get("/v1/QUERYVALUE").refused(404, "not_found");
    let patched = editor
        .patch(&format!("/v1/members/{}", member(1)))
        .json(json!({ "email": "new.address@members.example" }));
    patched.ok();
    editor
        .patch(&format!("/v1/members/{}", member(1)))
        .json(json!({ "email": "QUERYVALUE@" }))
        .invalid(Some("email"));
    let refused = world.nobody().get("/v1/members");
    world
        .bearer("bursar_pat_QUERYVALUE")
        .get("/v1/members")
        .refused(401, "invalid_token");
    // An answer is sent before its line is surely in the file.
    let lines = || -> Vec<Value> {
        let log = world.server().log();
        log.lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|line| line["message"] == "request")
            .collect()
    };
    let lines = eventually("a line a request", || {
        Some(lines()).filter(|lines| lines.len() >= 8)
    });
    assert_eq!(lines.len(), 8);
    let line_of = |id: &str| lines.iter().find(|line| line["request_id"] == id).unwrap();
    let line = line_of(patched.must("x-request-id"));
    assert_eq!(
        (
            &line["method"],
            &line["route"],
            &line["status"],
            &line["organization"],
            &line["token"]
        ),
        (
            &json!("PATCH"),
            &json!("/v1/members/{memberId}"),
            &json!(200),
            &json!(organization(1)),
            &json!(editor.token().unwrap().id)
        )
    );
    assert!(line["micros"].as_u64().is_some());
    assert_eq!(line_of(listed.must("x-request-id"))["route"], "/v1/members");
    let line = line_of(refused.must("x-request-id"));
    assert_eq!(
        (&line["status"], &line["organization"], &line["token"]),
        (&json!(401), &json!("-"), &json!("-"))
    );

    let scrape = http::exchange(
        metrics.parse().unwrap(),
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert!(scrape.must("content-type").starts_with("text/plain"));
    for line in [
        r#"bursar_requests_total{route="/v1/members",method="GET",status="200"} 1"#,
        r#"bursar_requests_total{route="/v1/members",method="GET",status="400"} 2"#,
        r#"bursar_requests_total{route="/v1/members",method="GET",status="401"} 2"#,
        r#"bursar_requests_total{route="/v1/members/{memberId}",method="PATCH",status="200"} 1"#,
        r#"bursar_requests_total{route="none",method="any",status="404"} 1"#,
        r#"bursar_request_duration_seconds_count{route="/v1/members/{memberId}",method="PATCH"} 2"#,
        "# TYPE bursar_worker_messages_total counter",
        r#"bursar_worker_messages_total{method="email",outcome="retried"} 0"#,
        r#"bursar_worker_paused{method="sms"} 0"#,
    ] {
        assert!(
            scrape.body.lines().any(|other| other == line),
            "{line} in\n{}",
            scrape.body
        );
    }
    assert!(!scrape.body.contains("QUERYVALUE"));
    // The API's own listener does not tell them.
    assert_eq!(world.nobody().get("/metrics").status, 404);
}

/// A balancer has to see that a server stops before the server is gone.
#[test]
fn a_server_that_is_told_to_stop_goes_on_until_balancers_have_noticed() {
    let mut world = World::apart(Engine::Sqlite, &["--drain-delay", "300"]);
    let editor = world.editor();
    let call = editor.ask("GET", "/v1/groups");
    // A connection that is kept, as proxies do.
    let head = call.head().replace("Connection: close\r\n", "");
    let mut kept = http::connect(call.address());
    kept.write_all(head.as_bytes()).unwrap();
    http::read_one(&mut kept);
    world.server().signal("TERM");
    eventually("it is not ready", || {
        let ready = world.nobody().get("/readyz");
        (ready.status == 503 && ready.json()["stopping"] == true).then_some(())
    });
    assert_eq!(world.nobody().get("/healthz").status, 200);
    kept.write_all(head.as_bytes()).unwrap();
    let last = http::read_reply(&mut kept, "on the kept connection");
    last.ok();
    assert_eq!(last.must("connection"), "close");
    editor
        .post("/v1/groups")
        .key("k")
        .json(json!({ "name": "Late" }))
        .done(201);
    // Asked again, it does not wait any longer.
    world.server().signal("TERM");
    assert_eq!(world.server_mut().ended(), Some(0));

    let refused = world.output(&["serve", "--drain-delay", "301"]);
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("from 0 to 300 seconds"), "{said}");
}

#[test]
fn an_idle_server_ends_at_once_and_a_used_port_is_told() {
    let mut world = World::apart(Engine::Sqlite, &[]);
    let address = world.server().address.to_string();
    let second = Command::new(env!("CARGO_BIN_EXE_bursar"))
        .current_dir(world.place.folder.path())
        .args(["serve", "--listen", &address, "--database", "sqlite:other.db"])
        .output()
        .unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains(&format!("cannot listen on {address}")), "{said}");
    world.server().signal("INT");
    assert_eq!(world.server_mut().ended(), Some(0));
}

#[test]
fn the_document_is_for_everybody() {
    let world = World::with(Engine::Sqlite, &["--base-url", "https://dues.example"]);
    let served = world.nobody().get("/v1/openapi.json").ok();
    assert_eq!(
        (
            &served["openapi"].as_str().unwrap()[..3],
            &served["info"]["version"]
        ),
        ("3.1", &json!("1.0.0"))
    );
    assert_eq!(
        world.run(&["openapi", "--base-url", "https://dues.example"]),
        served
    );
    let page = world.nobody().get("/docs");
    assert!(page.status == 200 && page.must("content-type").starts_with("text/html"));
    let way_in = world.nobody().get("/");
    assert_eq!((way_in.status, way_in.must("location")), (302, "/docs"));
}

/// PostgreSQL goes away and comes back: refusals in the API's own shape meanwhile, and no restart afterwards.
#[test]
fn the_database_goes_away_and_comes_back() {
    let world = World::with(Engine::Postgres, &["--request-timeout", "5s"]);
    let editor = world.editor();
    editor.get("/v1/members").ok();
    world.place.database_allows(false);
    for reply in [
        editor.get("/v1/members"),
        editor.post("/v1/groups").key("k").json(json!({ "name": "x" })),
    ] {
        reply.refused(503, "unavailable");
        assert!(reply.number("retry-after") >= 1);
    }
    eventually("it is not ready", || {
        let ready = world.nobody().get("/readyz");
        (ready.status == 503 && ready.json()["database"] == "away").then_some(())
    });
    assert_eq!(world.nobody().get("/healthz").status, 200);
    world.nobody().get("/v1/members").refused(401, "invalid_token");
    world.place.database_allows(true);
    // Each of its connections comes back by itself; until then a client does as it was told, and tries again.
    let create = || editor.post("/v1/groups").key("k").json(json!({ "name": "x" }));
    eventually("reads work again", || {
        Some(editor.get("/v1/members")).filter(|reply| reply.status == 200)
    });
    eventually("writes work again", || {
        Some(create()).filter(|reply| reply.status == 201)
    });
    eventually("it is ready", || {
        Some(world.nobody().get("/readyz")).filter(|reply| reply.status == 200)
    });
}
