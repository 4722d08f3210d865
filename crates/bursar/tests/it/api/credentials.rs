//! Credentials from outside: what a token says of itself, commands under load, and time that passes.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{NATIONAL, member, organization};
use super::world::{Token, World, on_both_engines};

on_both_engines! { none_is_accepted_after_the_command_returned time_ends_tokens }

/// Each layer explains itself: what is granted, what is left of it, and who withholds the rest.
#[test]
fn a_token_explains_itself() {
    let world = World::new(Engine::Sqlite);
    let national = organization(NATIONAL);
    let mut told = String::new();
    let mut tell = |title: &str, answer: &Value| {
        let mut answer = answer.clone();
        for field in ["id", "organizationId", "expiresAt", "name"] {
            assert!(answer[field].is_string(), "{answer}");
            answer[field] = json!(format!("<{field}>"));
        }
        let _ = writeln!(told, "{title}\n{answer:#}\n");
    };
    tell("an admin with every scope", &world.admin().get("/v1/token").ok());
    tell("a viewer with every scope", &world.viewer().get("/v1/token").ok());
    tell(
        "a service editor with every scope",
        &world.service(Role::Editor).get("/v1/token").ok(),
    );
    // A token is made before its scopes are blocked: afterwards it would be refused.
    let editor = world.editor();
    editor.get("/v1/token").ok();
    let block = [
        "policy",
        "set",
        "--organization",
        &national,
        "--block-scope",
        "members:read",
        "--block-scope",
        "cards:write",
    ];
    world.run(&block);
    tell(
        "an editor, with two scopes blocked",
        &editor.get("/v1/token").ok(),
    );
    bursar_testing::snapshot!("snapshots/token.txt", &told);
    let path = format!("/v1/members/{}", member(1));
    let error = editor.get(&path).refused(403, "insufficient_scope");
    assert!(error["message"].as_str().unwrap().contains("policy"), "{error}");
}

/// One process revokes, demotes, removes and blocks while requests run against another.
fn none_is_accepted_after_the_command_returned(engine: Engine) {
    let world = World::with(engine, &["--rate-limit-read", "1000000"]);
    let national = organization(NATIONAL);
    let all = ScopeSet::of(Scope::ALL);
    let revoked = world.personal_token("viewer@people.example", NATIONAL, all);
    let of = ["--organization", national.as_str()];
    let user = ["--user", "editor@people.example"];
    let path = format!("/v1/members/{}", member(1));
    let read = |token: &Token| world.bearer(&token.secret).get(&path).status;
    let cards = |token: &Token| world.bearer(&token.secret).get("/v1/cards").status;
    let editor = world.personal_token("editor@people.example", NATIONAL, all);

    let after = under_load(
        || read(&revoked),
        || drop(world.run(&["token", "revoke", &revoked.id])),
    );
    assert!(after.iter().all(|status| *status == 401), "{after:?}");
    let demote = [&["role", "set"], &of[..], &user[..], &["--role", "viewer"]].concat();
    let after = under_load(|| cards(&editor), || drop(world.run(&demote)));
    assert!(after.iter().all(|status| *status == 403), "{after:?}");
    let block = [&["policy", "set"], &of[..], &["--block-scope", "members:read"]].concat();
    let after = under_load(|| read(&editor), || drop(world.run(&block)));
    assert!(after.iter().all(|status| *status == 403), "{after:?}");
    world.run(&[&["policy", "set"], &of[..], &["--allow-scope", "members:read"]].concat());
    let leave = [&["role", "remove"], &of[..], &user[..]].concat();
    let after = under_load(|| read(&editor), || drop(world.run(&leave)));
    assert!(after.iter().all(|status| *status == 401), "{after:?}");
}

/// Asks about 50 times a second, runs the command when some were accepted, and tells the answers to what was asked
/// after it returned.
fn under_load(ask: impl Fn() -> u16 + Sync, command: impl FnOnce()) -> Vec<u16> {
    let (answers, is_over) = (Mutex::new(Vec::<(Instant, u16)>::new()), AtomicBool::new(false));
    let asked_since = |since: Instant| {
        answers
            .lock()
            .unwrap()
            .iter()
            .filter(|(at, _)| *at > since)
            .count()
    };
    let patiently = |what: &str, done: &dyn Fn() -> bool| {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed() < Duration::from_secs(30), "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    };
    let returned = thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let at = Instant::now();
                    let status = ask();
                    answers.lock().unwrap().push((at, status));
                    thread::sleep(Duration::from_millis(40));
                }
            });
        }
        let accepted = || {
            answers
                .lock()
                .unwrap()
                .iter()
                .filter(|(_, status)| *status == 200)
                .count()
                >= 5
        };
        patiently("requests are accepted first", &accepted);
        command();
        let returned = Instant::now();
        patiently("requests go on", &|| asked_since(returned) >= 10);
        is_over.store(true, Ordering::Relaxed);
        returned
    });
    let answers = answers.into_inner().unwrap();
    answers
        .iter()
        .filter(|(at, _)| *at > returned)
        .map(|(_, status)| *status)
        .collect()
}

/// The end of an overlap and of a life, with the clock on the wall moved and the monotonic one left as it is.
fn time_ends_tokens(engine: Engine) {
    let mut world = World::new(engine);
    let all = ScopeSet::of(Scope::ALL);
    let old = world.service_token(Role::Viewer, NATIONAL, all);
    let short = world.token(&[
        "token",
        "create",
        "--organization",
        &organization(NATIONAL),
        "--service",
        "--role",
        "viewer",
        "--scopes",
        "members:read",
        "--days",
        "5",
    ]);
    let new = world.token(&["token", "rotate", &old.id, "--overlap-days", "7"]);
    world.start_after(6);
    world.start_after(8);
    world.start_after(91);
    let path = format!("/v1/members/{}", member(1));
    // Now, six days, eight days and ninety-one days from now.
    for (token, expected) in [
        (&old, [200, 200, 401, 401]),
        (&new, [200, 200, 200, 401]),
        (&short, [200, 401, 401, 401]),
    ] {
        for (server, status) in expected.into_iter().enumerate() {
            let reply = world.bearer(&token.secret).through(server).get(&path);
            assert_eq!(reply.status, status, "server {server}");
        }
    }
}
