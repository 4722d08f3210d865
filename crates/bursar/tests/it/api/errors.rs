//! Every code of an error, by a request that earns it, as a snapshot of head and body.

use std::fmt::Write as _;
use std::thread;

use bursar_domain::access::Scope::{GroupsRead, GroupsWrite, StoreRead};
use bursar_testing::Engine;
use serde_json::json;

use super::bundle::{NORTH, group, member, organization, reminder};
use super::http::Reply;
use super::world::World;

/// The codes of the contract, with their status.
const CODES: [(u16, &str); 16] = [
    (400, "invalid_request"),
    (400, "invalid_cursor"),
    (400, "idempotency_key_required"),
    (400, "idempotency_key_invalid"),
    (401, "invalid_token"),
    (403, "insufficient_scope"),
    (404, "not_found"),
    (405, "method_not_allowed"),
    (409, "conflict"),
    (409, "idempotency_key_reused"),
    (409, "idempotency_key_in_use"),
    (413, "payload_too_large"),
    (415, "unsupported_media_type"),
    (429, "rate_limited"),
    (500, "internal"),
    (503, "unavailable"),
];

#[test]
fn every_code() {
    let mut world = World::with(
        Engine::Sqlite,
        &[
            "--base-url",
            "https://dues.example/",
            "--request-timeout",
            "4s",
            "--rate-limit-messaging",
            "2",
        ],
    );
    world.torn();
    let (editor, viewer) = (world.editor(), world.viewer());
    let name = json!({ "name": "Group" });
    let mut replies = vec![
        editor.post("/v1/groups").key("k").json(json!({ "name": 5 })),
        editor.get("/v1/groups?cursor=abc"),
        editor.post("/v1/groups").json(name.clone()),
        editor.post("/v1/groups").key("a b").json(name.clone()),
        world.nobody().get("/v1/groups"),
        viewer.post("/v1/groups").key("k").json(name.clone()),
        viewer.clone().scopes([GroupsRead]).get("/v1/store/listings"),
        editor.get(&format!("/v1/members/{}", member(999))),
        world.admin().post("/v1/cards").key("k").json(json!({
            "name": "C", "spendLimit": 1, "spendLimitFrequency": "daily", "assignedMemberId": member(999),
        })),
        editor.ask("PUT", &format!("/v1/groups/{}", group(1))).send(),
        editor
            .post(&format!("/v1/reminders/{}/send", reminder(16)))
            .key("k")
            .send(),
    ];
    editor.post("/v1/groups").key("used").json(name.clone()).done(201);
    replies.push(
        editor
            .post("/v1/groups")
            .key("used")
            .json(json!({ "name": "Other" })),
    );
    replies.push(editor.post("/v1/groups").key("k").bytes(&vec![b' '; 70_000]));
    replies.push(editor.post("/v1/groups").key("k").bytes(b"{}"));
    editor
        .post(&format!("/v1/reminders/{}/send", reminder(16)))
        .key("k")
        .send();
    replies.push(
        editor
            .post(&format!("/v1/reminders/{}/send", reminder(16)))
            .key("k")
            .send(),
    );

    // A first request that cannot end, because somebody else holds the database's only pen.
    let held_name = json!({ "name": "Held" });
    let held = world.place.hold_beside("BEGIN IMMEDIATE", "");
    thread::scope(|scope| {
        let first = scope.spawn(|| editor.post("/v1/groups").key("held").json(held_name.clone()));
        let second = scope.spawn(|| editor.post("/v1/groups").key("held").json(held_name.clone()));
        // A roster is read only if the chapter sees it; other reads need no pen.
        let roster = scope.spawn(|| viewer.get(&format!("/v1/chapters/{}/members", organization(NORTH))));
        viewer.get("/v1/members").ok();
        for reply in [first, second, roster] {
            replies.push(reply.join().unwrap());
        }
    });
    drop(held);
    // Whatever became of the first request, the same key tried again has one effect.
    let retried = editor.post("/v1/groups").key("held").json(held_name).done(201);
    let made = editor
        .walk("/v1/groups")
        .into_iter()
        .filter(|row| row["name"] == "Held")
        .collect::<Vec<_>>();
    assert_eq!(made, [retried]);

    world
        .place
        .damage("UPDATE groups SET due_date = 'often' WHERE name = 'Rowers'");
    replies.push(editor.patch(&format!("/v1/groups/{}", group(1))).json(name));
    replies.push(
        world
            .admin()
            .scopes([StoreRead, GroupsWrite])
            .get("/v1/store/orders/x?limit=1"),
    );

    replies.sort_by_key(|reply| {
        CODES
            .iter()
            .position(|(_, code)| reply.code().as_deref() == Some(*code))
    });
    let mut seen: Vec<(u16, String)> = replies
        .iter()
        .map(|reply| (reply.status, reply.code().unwrap()))
        .collect();
    seen.dedup();
    assert_eq!(
        seen,
        CODES.map(|(status, code)| (status, code.to_owned())),
        "each code was answered"
    );
    let mut out = String::new();
    for reply in &replies {
        writeln!(out, "{}", shown(reply)).unwrap();
        assert!(
            !["SELECT", "UPDATE", "often", "panicked", "src/"]
                .iter()
                .any(|word| reply.body.contains(word)),
            "{}",
            reply.body
        );
    }
    bursar_testing::snapshot!("snapshots/errors.txt", &out);
}

#[test]
fn docs_url_opens() {
    let world = World::new(Engine::Sqlite);
    let page = world.nobody().get("/docs/errors");
    assert_eq!(page.status, 200, "{}", page.body);
    for (_, code) in CODES {
        assert!(page.body.contains(&format!("id=\"{code}\"")), "{code}");
    }
}

/// What was asked and answered, without what differs from run to run.
fn shown(reply: &Reply) -> String {
    let mut out = format!("> {}\n{}\n", reply.asked, reply.status);
    let mut headers = reply.headers.clone();
    headers.sort();
    for (name, value) in headers {
        let value = match name.as_str() {
            "date" | "content-length" | "connection" => continue,
            "x-request-id" => "req_…".to_owned(),
            "ratelimit-remaining" | "ratelimit-reset" => "N".to_owned(),
            "retry-after" if reply.status == 429 => "N".to_owned(),
            "ratelimit" => value.split(';').next().unwrap_or_default().to_owned() + ";r=N;t=N",
            _ => value,
        };
        writeln!(out, "{name}: {value}").unwrap();
    }
    let mut body = reply.json();
    body["error"]["requestId"] = "req_…".into();
    let message = body["error"]["message"].as_str().unwrap_or_default();
    if let Some((before, _)) = message
        .split_once("try again in ")
        .filter(|_| reply.status == 429)
    {
        body["error"]["message"] = format!("{before}try again in N seconds").into();
    }
    writeln!(out, "{}", serde_json::to_string_pretty(&body).unwrap()).unwrap();
    out
}
