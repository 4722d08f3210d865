//! Commands beside a running server: it obeys on the next request.

use std::fs;

use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::Engine;
use serde_json::json;

use super::bundle::{NATIONAL, member, organization};
use super::world::{World, on_both_engines};

on_both_engines! { obeyed_on_the_next_request imported_beside_the_server }

fn obeyed_on_the_next_request(engine: Engine) {
    let world = World::new(engine);
    let national = organization(NATIONAL);
    let all = ScopeSet::of(Scope::ALL);
    let editor = world.editor();
    let path = format!("/v1/members/{}", member(1));
    let write = || editor.patch(&path).json(json!({}));
    write().ok();
    // A lowered role makes writes fail at once; reads go on.
    let role = |role: &str| {
        world.run(&[
            "role",
            "set",
            "--organization",
            &national,
            "--user",
            "editor@people.example",
            "--role",
            role,
        ])
    };
    role("viewer");
    let error = write().refused(403, "insufficient_scope");
    assert_eq!(error["requiredScopes"], json!(["members:write"]));
    assert!(
        error["message"].as_str().unwrap().contains("role viewer"),
        "{error}"
    );
    editor.get(&path).ok();
    editor.get("/v1/cards").refused(403, "insufficient_scope");
    role("admin");
    write().ok();
    editor
        .post("/v1/cards")
        .key("k")
        .json(json!({ "name": "C", "spendLimit": 1, "spendLimitFrequency": "daily" }))
        .done(201);
    // A blocked scope is dropped from tokens that hold it, and comes back.
    world.run(&[
        "policy",
        "set",
        "--organization",
        &national,
        "--block-scope",
        "members:write",
    ]);
    let error = write().refused(403, "insufficient_scope");
    assert!(error["message"].as_str().unwrap().contains("policy"), "{error}");
    editor.get(&path).ok();
    let asked = world.output(&[
        "token",
        "create",
        "--organization",
        &national,
        "--user",
        "editor@people.example",
        "--scopes",
        "members:write",
    ]);
    assert!(!asked.status.success(), "a blocked scope cannot be asked for");
    world.run(&[
        "policy",
        "set",
        "--organization",
        &national,
        "--allow-scope",
        "members:write",
    ]);
    write().ok();
    // Revoked, once and again.
    let spare = world.personal_token("editor@people.example", NATIONAL, all);
    world.bearer(&spare.secret).get(&path).ok();
    world.run(&["token", "revoke", &spare.id]);
    world
        .bearer(&spare.secret)
        .get(&path)
        .refused(401, "invalid_token");
    world.run(&["token", "revoke", &spare.id]);
    write().ok();
    // Rotated without an overlap: the successor works, the predecessor does not.
    let old = world.service_token(Role::Viewer, NATIONAL, all);
    world.bearer(&old.secret).get(&path).ok();
    let new = world.token(&["token", "rotate", &old.id, "--overlap-days", "0"]);
    world.bearer(&old.secret).get(&path).refused(401, "invalid_token");
    world.bearer(&new.secret).get(&path).ok();
    // Left: the personal token stops for good, though its owner comes back; tokens elsewhere go on.
    let elsewhere = world.person("editor", super::bundle::RIVAL);
    elsewhere.get("/v1/members").ok();
    world.run(&[
        "role",
        "remove",
        "--organization",
        &national,
        "--user",
        "editor@people.example",
    ]);
    write().refused(401, "invalid_token");
    role("editor");
    write().refused(401, "invalid_token");
    elsewhere.get("/v1/members").ok();
}

fn imported_beside_the_server(engine: Engine) {
    let world = World::new(engine);
    let viewer = world.viewer();
    let path = format!("/v1/members/{}", member(1));
    let before = viewer.get(&path).ok();
    let line = |name: &str| {
        json!({ "type": "member", "id": member(1), "organizationId": organization(NATIONAL), "firstName": name }).to_string()
    };
    let file = world.place.folder.path().join("more.ndjson");
    fs::write(&file, line("First 1")).unwrap();
    world.run(&["import", file.to_str().unwrap()]);
    assert_eq!(viewer.get(&path).ok(), before, "an equal row does not move");
    fs::write(&file, line("Renamed")).unwrap();
    world.run(&["import", file.to_str().unwrap()]);
    let after = viewer.get(&path).ok();
    assert_eq!(
        (&after["firstName"], &after["email"]),
        (&json!("Renamed"), &before["email"])
    );
    assert!(after["updatedAt"].as_str() > before["updatedAt"].as_str());
    assert_eq!(viewer.walk("/v1/members?limit=100").last(), Some(&after));
}
