//! The order of the checks: each step answers before the next one looks.

use bursar_domain::access::Scope::{GroupsRead, MembersRead};
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{group, member, reminder};
use super::http::Reply;
use super::world::World;

/// Everything about this request is wrong; what is answered shows which check came first.
fn all_wrong(call: super::world::Call) -> Reply {
    call.header("Content-Type", "text/plain").bytes(b"not json")
}

#[test]
fn the_token_comes_first() {
    let world = World::new(Engine::Sqlite);
    let nobody = world.nobody();
    for (method, path) in [
        ("GET", "/v1"),
        ("GET", "/v1/"),
        ("GET", "/v1/nothing"),
        ("PUT", "/v1/groups"),
        ("BREW", "/v1/groups"),
        ("OPTIONS", "/v1/groups"),
        ("GET", "/v1/members/wrong-shape?limit=0&x=y"),
        ("GET", "/v1/groups?limit=0"),
        ("POST", "/v1/openapi.json"),
        ("HEAD", "/v1/groups"),
    ] {
        let reply = nobody.ask(method, path).send();
        assert_eq!(reply.status, 401, "{method} {path}: {}", reply.body);
    }
    nobody
        .ask("POST", "/v1/groups")
        .bytes(&vec![b'x'; 70_000])
        .refused(401, "invalid_token");
    // All ways to have no token are one answer, apart from the request's id.
    let revoked = world.personal_token(
        "second@people.example",
        1,
        bursar_domain::access::ScopeSet::of(&[GroupsRead]),
    );
    let left = world.personal_token(
        "viewer@people.example",
        1,
        bursar_domain::access::ScopeSet::of(&[GroupsRead]),
    );
    world.run(&["token", "revoke", &revoked.id]);
    world.run(&[
        "role",
        "remove",
        "--organization",
        &super::bundle::organization(1),
        "--user",
        "viewer@people.example",
    ]);
    let editor = world.editor().token().unwrap().secret;
    let same = |reply: &Reply| {
        let mut body = reply.json();
        body["error"]["requestId"] = Value::Null;
        let of_limits =
            |name: &str| name.starts_with("ratelimit") || name == "date" || name == "x-request-id";
        let headers: Vec<_> = reply
            .headers
            .iter()
            .filter(|(name, _)| !of_limits(name))
            .cloned()
            .collect();
        (reply.status, body.to_string(), headers)
    };
    let first = same(&nobody.get("/v1/groups"));
    for authorization in [
        format!("Bearer {}", revoked.secret),
        format!("Bearer {}", left.secret),
        format!("Basic {editor}"),
        format!("Bearer{editor}"),
        format!("Bearer {editor}x"),
        format!("Bearer {editor} {editor}"),
        format!("Bearer {editor},"),
        format!("bearer: {editor}"),
        editor.clone(),
        "Bearer".to_owned(),
        "Bearer bursar_pat_".to_owned(),
        format!("Bearer bursar_pat_{}", "0".repeat(36)),
        format!("Bearer bursar_pat_{}2C8GjS", "0".repeat(30)),
    ] {
        let reply = nobody
            .ask("GET", "/v1/groups")
            .header("Authorization", &authorization)
            .send();
        assert_eq!(same(&reply), first, "{authorization}");
    }
    // Only the header is read, and only one of it.
    for path in [
        format!("/v1/groups?access_token={editor}"),
        format!("/v1/groups?token={editor}"),
    ] {
        assert_eq!(same(&nobody.get(&path)), first, "a token in the query");
    }
    let cookie = nobody
        .ask("GET", "/v1/groups")
        .header("Cookie", &format!("token={editor}; session={editor}"))
        .send();
    assert_eq!(same(&cookie), first);
    let twice = world
        .editor()
        .ask("GET", "/v1/groups")
        .header("Authorization", &format!("Bearer {editor}"))
        .send();
    assert_eq!(same(&twice), first, "two Authorization headers");
    for scheme in ["bearer", "BEARER", "Bearer  "] {
        let reply = nobody
            .ask("GET", "/v1/groups")
            .header("Authorization", &format!("{scheme} {editor}"))
            .send();
        assert_eq!(
            reply.status, 200,
            "the scheme's name is case-insensitive: {scheme}"
        );
    }
    let plain = world
        .editor()
        .ask("GET", "/v1/groups")
        .header("Cookie", "session=x")
        .header("Origin", "https://evil.example")
        .send();
    assert_eq!(plain.status, 200, "cookies and origins mean nothing");
}

#[test]
fn path_then_permission_then_what_is_asked() {
    let world = World::new(Engine::Sqlite);
    let (editor, viewer) = (world.editor(), world.viewer());
    // 404 and 405 come before permission.
    let weak = viewer.clone().scopes([MembersRead]);
    weak.get("/v1/nothing?limit=0").refused(404, "not_found");
    assert_eq!(
        weak.ask("PUT", "/v1/cards").send().must("allow"),
        "POST, GET, HEAD"
    );
    // 403 comes before 404 and before validation, so that ids cannot be guessed.
    for number in [1, 999] {
        let path = format!("/v1/groups/{}", group(number));
        weak.get(&path).refused(403, "insufficient_scope");
        all_wrong(weak.patch(&path)).refused(403, "insufficient_scope");
    }
    weak.get("/v1/groups/wrong-shape?x=1")
        .refused(403, "insufficient_scope");
    all_wrong(viewer.post("/v1/groups?x=1").key("a b")).refused(403, "insufficient_scope");

    // Then, for each endpoint that writes: path ids, query, key, size, type, JSON, fields.
    let reminders = |id: &str, query: &str| format!("/v1/reminders/{id}/send{query}");
    let groups = |id: &str, query: &str| format!("/v1/groups/{id}{query}");
    let memberships =
        |group: &str, member: &str, query: &str| format!("/v1/groups/{group}/members/{member}{query}");
    let big = vec![b' '; 70_000];

    for path in [
        reminders("wrong", "?x=1"),
        reminders(&member(1), "?x=1"),
        reminders("%ff", "?x=1"),
        reminders("", "?x=1"),
    ] {
        all_wrong(editor.post(&path).key("a b")).refused(404, "not_found");
    }
    for path in [
        groups("wrong", "?x=1"),
        groups(&member(1), "?x=1"),
        groups("%zz", "?x=1"),
    ] {
        all_wrong(editor.patch(&path).key("a b")).refused(404, "not_found");
    }
    for path in [
        memberships("wrong", &member(1), "?x=1"),
        memberships(&group(1), "wrong", "?x=1"),
        memberships(&group(1), &group(1), "?x=1"),
    ] {
        all_wrong(editor.delete(&path).key("a b")).refused(404, "not_found");
    }
    all_wrong(editor.patch("/v1/members/wrong?x=1").key("a b")).refused(404, "not_found");

    for (method, path) in [
        ("POST", "/v1/groups?x=1".to_owned()),
        ("POST", reminders(&reminder(999), "?x=1")),
        ("PATCH", groups(&group(999), "?x=1")),
        ("PATCH", format!("/v1/members/{}?x=1", member(999))),
        ("DELETE", memberships(&group(999), &member(999), "?x=1")),
    ] {
        let reply = editor
            .ask(method, &path)
            .key("a b")
            .header("Content-Type", "text/plain")
            .bytes(&big);
        reply.invalid(Some("x"));
    }
    world
        .admin()
        .post("/v1/cards?x=1")
        .key("a b")
        .bytes(&big)
        .invalid(Some("x"));

    let created = |call: super::world::Call| call;
    created(editor.post("/v1/groups"))
        .header("Content-Type", "text/plain")
        .bytes(&big)
        .refused(400, "idempotency_key_required");
    editor
        .post("/v1/groups")
        .key("a b")
        .bytes(&big)
        .refused(400, "idempotency_key_invalid");
    editor
        .patch(&groups(&group(999), ""))
        .key("a b")
        .bytes(&big)
        .refused(400, "idempotency_key_invalid");
    editor
        .post("/v1/groups")
        .key("k")
        .header("Content-Type", "text/plain")
        .bytes(&big)
        .refused(413, "payload_too_large");
    editor
        .post("/v1/groups")
        .key("k")
        .header("Content-Type", "text/plain")
        .bytes(b"not json")
        .refused(415, "unsupported_media_type");
    editor.post("/v1/groups").key("k").text("not json").invalid(None);
    editor
        .post("/v1/groups")
        .key("k")
        .text(r#"{"name":5,"naem":1,"name":2}"#)
        .invalid(Some("name"));
    // A field nobody knows explains best why another is missing; then the schema's order.
    editor
        .post("/v1/groups")
        .key("k")
        .json(json!({ "naem": 1 }))
        .invalid(Some("naem"));
    editor
        .post("/v1/groups")
        .key("k")
        .json(json!({ "description": 5, "name": 5 }))
        .invalid(Some("name"));
    world.admin().post("/v1/cards").key("k").json(json!({ "assignedMemberId": 1, "transactionLimit": "x", "spendLimitFrequency": 5, "spendLimit": "1" })).invalid(Some("name"));
    // The operation comes last.
    editor
        .patch(&groups(&group(999), ""))
        .json(json!({ "name": "" }))
        .invalid(Some("name"));
    editor
        .patch(&groups(&group(999), ""))
        .json(json!({ "name": "x" }))
        .refused(404, "not_found");
    editor
        .post(&reminders(&reminder(999), ""))
        .key("k")
        .text("[]")
        .invalid(None);
    editor
        .post(&reminders(&reminder(999), ""))
        .key("k")
        .send()
        .refused(404, "not_found");
    // A used key answers before the resource is looked at.
    editor.post(&reminders(&reminder(1), "")).key("sent").send().ok();
    editor
        .post(&reminders(&reminder(999), ""))
        .key("sent")
        .send()
        .refused(409, "idempotency_key_reused");
    // A wrong id in the path is told before a wrong query, also of a read.
    editor.get("/v1/members/wrong?x=1").refused(404, "not_found");
    editor
        .get("/v1/chapters/wrong/members?limit=0")
        .refused(404, "not_found");
    editor
        .get(&format!("/v1/members/{}?x=1", member(999)))
        .invalid(Some("x"));
    editor
        .get(&format!(
            "/v1/chapters/{}/members?limit=0",
            super::bundle::organization(999)
        ))
        .invalid(Some("limit"));
    editor
        .get("/v1/members?limit=0&cursor=bad")
        .invalid(Some("limit"));
}

#[test]
fn what_a_query_may_say() {
    let world = World::new(Engine::Sqlite);
    let viewer = world.viewer();
    for (query, param) in [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=-1", "limit"),
        ("limit=1.0", "limit"),
        ("limit=", "limit"),
        ("limit", "limit"),
        ("limit=1&limit=1", "limit"),
        ("limit=1&lim%69t=1", "limit"),
        ("limit=%31%30%30%30", "limit"),
        ("limit=1%00", "limit"),
        ("limit=٣", "limit"),
        ("isActive=TRUE", "isActive"),
        ("isActive=1", "isActive"),
        ("isActive=", "isActive"),
        ("isactive=true", "isactive"),
        ("updatedSince=2026-11-15", "updatedSince"),
        ("updatedSince=2026-11-15T01:39:08", "updatedSince"),
        ("updatedSince=1763170748", "updatedSince"),
        ("updatedSince=2026-02-30T00:00:00Z", "updatedSince"),
        ("updatedSince=", "updatedSince"),
        ("status=active", "status"),
        ("memberId=x", "memberId"),
        ("page=2", "page"),
        ("%00=1", "\0"),
        ("=1", ""),
        ("limit=1;isActive=true", "limit"),
    ] {
        viewer.get(&format!("/v1/members?{query}")).invalid(Some(param));
    }
    // Where not even the name can be read, there is none to tell.
    for query in ["%ff=1", "%zz", "%"] {
        viewer.get(&format!("/v1/members?{query}")).invalid(None);
    }
    let long = "n".repeat(5_000);
    for query in [
        format!("{long}=1"),
        format!("{long}=1&{long}=1"),
        format!("{long}=%ff"),
    ] {
        let reply = viewer.get(&format!("/v1/members?{query}"));
        reply.refused(400, "invalid_request");
        assert!(
            reply.body.len() < 1_000,
            "a long name is not repeated: {}",
            reply.body.len()
        );
    }
    for (path, query, param) in [
        ("payments", "status=PAID", "status"),
        ("payments", "status=active", "status"),
        ("payments", "memberId=mem_1", "memberId"),
        ("payments", "memberId=grp_01jbst1c00e008000000000001", "memberId"),
        ("payments", "isActive=true", "isActive"),
        ("cards", "status=cancelled", "status"),
        ("reminders", "status=canceled", "status"),
        ("reimbursements", "status=pending", "status"),
        ("groups", "status=active", "status"),
        ("store/listings", "isActive=true", "isActive"),
        ("store/orders", "listingId=lst_1", "listingId"),
        ("store/orders", "status=active", "status"),
        ("campaigns", "status=paid", "status"),
        ("chapters", "isActive=true", "isActive"),
    ] {
        world
            .editor()
            .get(&format!("/v1/{path}?{query}"))
            .invalid(Some(param));
    }
    viewer.get("/v1/token?x=1").invalid(Some("x"));
    world.nobody().get("/v1/openapi.json?x=1").invalid(Some("x"));
    assert_eq!(
        viewer.get("/v1/members?&&limit=3&").ok()["data"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}
