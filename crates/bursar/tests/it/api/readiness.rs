//! A database that cannot be used as it should: `/readyz` says so in time, `/v1` refuses with 503, and the worker
//! leaves its hands off it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use bursar_domain::Timestamp;
use bursar_testing::{Engine, eventually};
use serde_json::json;

use super::bundle::{NATIONAL, member, organization};
use super::http::{self, Reply};
use super::world::{World, on_both_engines};

on_both_engines! {
    a_schema_of_a_newer_program_stops_everything
    a_schema_that_lacks_a_part_is_not_ready
    writes_that_are_stuck_are_told
    many_questions_are_one_probe
}

/// Asks until the database is told as this word; the answer.
fn not_ready(world: &World, word: &str) -> Reply {
    eventually(&format!("the database is told as {word}"), || {
        let since = Instant::now();
        let reply = world.nobody().get("/readyz");
        // The bound is two seconds; a busy machine gets some more.
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        (reply.status == 503 && reply.json()["database"] == word).then_some(reply)
    })
}

fn ready_again(world: &World) {
    eventually("it is ready again", || {
        Some(world.nobody().get("/readyz")).filter(|reply| reply.status == 200)
    });
}

fn create(world: &World, name: &str) -> Reply {
    let body = json!({ "name": name });
    world.editor().post("/v1/groups").key(name).json(body)
}

fn a_schema_of_a_newer_program_stops_everything(engine: Engine) {
    let world = World::apart(engine, &[]);
    let made = create(&world, "before").done(201);
    let now = Timestamp::parse(made["createdAt"].as_str().unwrap()).unwrap();
    let soon = now.plus_seconds(3).to_string();
    world.run(&[
        "reminder",
        "schedule",
        "--organization",
        &organization(NATIONAL),
        "--member",
        &member(1),
        "--at",
        &soon,
        "--subject",
        "Dues",
        "--body",
        "Please pay.",
    ]);
    let version = world.place.count_beside("SELECT version FROM bursar_schema");
    world.place.beside("UPDATE bursar_schema SET version = 1000");
    // A write is refused from that moment on, a read a second later at most.
    create(&world, "first").refused(503, "unavailable");
    eventually("reads are refused", || {
        let reply = world.editor().get("/v1/members");
        (reply.status == 503).then(|| reply.refused(503, "unavailable"))
    });
    let told = not_ready(&world, "another schema").json();
    assert_eq!(told["status"], "not ready");
    let reason = told["reason"].as_str().unwrap();
    assert!(reason.contains("schema version 1000"), "{reason}");
    assert_eq!(world.nobody().get("/healthz").status, 200);
    // The reminder's time comes, and nothing happens.
    thread::sleep(Duration::from_secs(5));
    let groups = "SELECT COUNT(*) FROM groups WHERE name = 'first'";
    assert_eq!(world.place.count_beside(groups), 0);
    assert_eq!(world.place.count_beside("SELECT COUNT(*) FROM outbox_jobs"), 0);
    let log = world.server().log();
    assert_eq!(log.matches("the worker has stopped").count(), 1, "{log}");
    // The old program may go on when the old schema is back.
    world
        .place
        .beside(&format!("UPDATE bursar_schema SET version = {version}"));
    ready_again(&world);
    eventually("reads work again", || {
        Some(world.editor().get("/v1/members")).filter(|reply| reply.status == 200)
    });
    assert_eq!(create(&world, "second").status, 201);
    eventually("the reminder is sent", || {
        let sent = "SELECT COUNT(*) FROM outbox_messages WHERE state = 'written'";
        (world.place.count_beside(sent) == 1).then_some(())
    });
}

fn a_schema_that_lacks_a_part_is_not_ready(engine: Engine) {
    let mut world = World::apart(engine, &[]);
    world.place.beside("DROP INDEX payments_owed");
    let reason = not_ready(&world, "damaged").json()["reason"].clone();
    let reason = reason.as_str().unwrap();
    assert!(
        reason.contains("table payments lacks index payments_owed"),
        "{reason}"
    );
    world.torn();
}

fn writes_that_are_stuck_are_told(engine: Engine) {
    let world = World::apart(engine, &[]);
    assert_eq!(create(&world, "before").status, 201);
    ready_again(&world);
    let held = world
        .place
        .hold_beside("BEGIN IMMEDIATE", "LOCK TABLE payments IN EXCLUSIVE MODE");
    let word = match engine {
        Engine::Sqlite => "no answer",
        Engine::Postgres => "not writable",
    };
    not_ready(&world, word);
    // Reads go on.
    world.editor().get("/v1/members").ok();
    drop(held);
    ready_again(&world);
    assert_eq!(create(&world, "afterwards").status, 201);
}

/// Readiness is free for everybody, so that it must not cost the database anything.
fn many_questions_are_one_probe(engine: Engine) {
    let port = bursar_testing::free_address();
    let world = World::apart(engine, &["--metrics-listen", &port.to_string(), "--no-worker"]);
    let writes = || {
        let request = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let text = http::exchange(port, request).body;
        let line = text.lines().find(|line| line.starts_with("bursar_write_jobs "));
        let count = line.and_then(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        count.unwrap_or_else(|| panic!("{text}"))
    };
    let (before, since) = (writes(), Instant::now());
    for _ in 0..100 {
        assert_eq!(world.nobody().get("/readyz").status, 200);
    }
    let (probes, seconds) = (writes() - before, since.elapsed().as_secs());
    assert!(
        probes >= 1 && probes <= seconds + 1,
        "{probes} probes in {seconds} s"
    );
}

/// The file goes away, or another one comes in its place: what would be written is lost, so nothing is taken.
#[test]
fn a_file_that_was_deleted_or_replaced_takes_no_writes() {
    let mut world = World::apart(Engine::Sqlite, &[]);
    let file = world.place.folder.path().join("bursar.db");
    let (aside, copy) = (file.with_extension("aside"), file.with_extension("copy"));
    world.run(&["backup", copy.to_str().unwrap()]);
    assert_eq!(create(&world, "before").status, 201);

    fs::rename(&file, &aside).unwrap();
    create(&world, "deleted").refused(503, "unavailable");
    let told = not_ready(&world, "replaced").json();
    assert!(
        told["reason"].as_str().unwrap().contains("deleted or replaced"),
        "{told}"
    );
    world.editor().get("/v1/members").refused(503, "unavailable");
    assert_eq!(world.nobody().get("/healthz").status, 200);

    fs::rename(&copy, &file).unwrap();
    create(&world, "replaced").refused(503, "unavailable");
    not_ready(&world, "replaced");

    // The file that it has open comes back, and it goes on.
    fs::rename(&aside, &file).unwrap();
    ready_again(&world);
    eventually("writes work again", || {
        Some(create(&world, "put-back")).filter(|reply| reply.status == 201)
    });

    // Its log is as much a part of it.
    fs::remove_file(world.place.folder.path().join("bursar.db-wal")).unwrap();
    create(&world, "without-its-log").refused(503, "unavailable");
    not_ready(&world, "replaced");
    world.torn();
}

/// A server that takes no writes, as a standby is after a failover the wrong way.
#[test]
fn a_read_only_server_is_not_ready() {
    let world = World::apart(Engine::Postgres, &[]);
    assert_eq!(create(&world, "before").status, 201);
    world.place.database_takes_writes(false);
    not_ready(&world, "not writable");
    create(&world, "read-only").refused(503, "unavailable");
    world.editor().get("/v1/members").ok();
    world.place.database_takes_writes(true);
    ready_again(&world);
}
