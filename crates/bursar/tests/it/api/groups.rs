//! Groups: made, renamed, and left.

use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{NATIONAL, group, member};
use super::world::{World, on_both_engines};

on_both_engines! { making_and_renaming leaving }

fn at(value: &Value, field: &str) -> i64 {
    value[field]
        .as_str()
        .unwrap()
        .parse::<jiff::Timestamp>()
        .unwrap()
        .as_microsecond()
}

fn making_and_renaming(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    let made = editor
        .post("/v1/groups")
        .key("k1")
        .json(json!({ "name": "  Sailors ", "description": null }))
        .done(201);
    let id = made["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("grp_") && made["createdAt"] == made["updatedAt"]);
    assert_eq!(
        (
            &made["name"],
            &made["description"],
            &made["amountDue"],
            &made["dueDate"],
            &made["isRecurring"],
            &made["recurringInterval"],
            &made["memberCount"]
        ),
        (
            &json!("Sailors"),
            &json!(""),
            &Value::Null,
            &Value::Null,
            &json!(false),
            &Value::Null,
            &json!(0)
        )
    );
    let path = format!("/v1/groups/{id}");
    assert_eq!(editor.get(&path).ok(), made);
    assert_eq!(
        editor.walk("/v1/groups?limit=2").last(),
        Some(&made),
        "the newest change is last"
    );
    for body in [
        json!({}),
        json!({ "name": "Sailors" }),
        json!({ "description": " " }),
    ] {
        assert_eq!(editor.patch(&path).json(body).ok(), made);
    }
    let renamed = editor
        .patch(&path)
        .json(json!({ "name": "Sailors", "description": "At sea" }))
        .ok();
    assert!(at(&renamed, "updatedAt") > at(&made, "updatedAt") && renamed["createdAt"] == made["createdAt"]);
    assert_eq!(renamed["description"], "At sea");
    for field in [
        "amountDue",
        "dueDate",
        "isRecurring",
        "recurringInterval",
        "memberCount",
    ] {
        for value in [json!(null), json!("1.00"), json!(true)] {
            let body = json!({ "name": "x", field: value, "unknown": 1 });
            let post = editor
                .post("/v1/groups")
                .key("k2")
                .json(body.clone())
                .invalid(Some(field));
            let patch = editor.patch(&path).json(body).invalid(Some(field));
            for error in [post, patch] {
                assert!(
                    error["message"].as_str().unwrap().contains("read-only"),
                    "{error}"
                );
            }
        }
    }
    for body in [
        json!({}),
        json!({ "name": null }),
        json!({ "name": "" }),
        json!({ "description": "x" }),
        json!({ "name": "x".repeat(101) }),
    ] {
        editor
            .post("/v1/groups")
            .key("k2")
            .json(body)
            .invalid(Some("name"));
    }
    for (body, field) in [
        (json!({ "name": null }), "name"),
        (json!({ "description": null }), "description"),
        (json!({ "id": id }), "id"),
        (json!({ "createdAt": "2026-01-01T00:00:00Z" }), "createdAt"),
        (json!({ "name": ["x"] }), "name"),
    ] {
        editor.patch(&path).json(body).invalid(Some(field));
    }
    assert_eq!(editor.get(&path).ok(), renamed);
    // Two groups may have one name; each key makes one.
    let twin = editor
        .post("/v1/groups")
        .key("k3")
        .json(json!({ "name": "Sailors" }))
        .done(201);
    assert_ne!(twin["id"], made["id"]);
    assert!(at(&twin, "updatedAt") > at(&renamed, "updatedAt"));
    let lines = world.activity(NATIONAL);
    let actions: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["action"].as_str())
        .take(3)
        .collect();
    assert_eq!(
        actions,
        ["group.create", "group.change", "group.create"],
        "what changed nothing left no line"
    );
}

fn leaving(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    let of = |g: &str, m: &str| format!("/v1/groups/{g}/members/{m}");
    let before = editor.get(&format!("/v1/groups/{}", group(1))).ok();
    let left = editor.delete(&of(&group(1), &member(1))).send().ok();
    assert_eq!((&left["id"], &left["memberCount"]), (&json!(group(1)), &json!(1)));
    assert!(at(&left, "updatedAt") > at(&before, "updatedAt"));
    let person = editor.get(&format!("/v1/members/{}", member(1))).ok();
    assert_eq!(
        (&person["groups"], &person["isActive"]),
        (&json!([group(2)]), &json!(true))
    );
    assert_eq!(
        at(&person, "updatedAt"),
        at(&left, "updatedAt") - 1,
        "the member, then the group that the request names"
    );
    assert_eq!(editor.get(&format!("/v1/groups/{}", group(1))).ok(), left);
    assert_eq!(
        editor.get(&format!("/v1/payments?memberId={}", member(1))).ok()["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    for (g, m) in [
        (group(1), member(1)),
        (group(1), member(4)),
        (group(1), member(999)),
        (group(999), member(1)),
        (group(900), member(900)),
        (group(900), member(1)),
        (group(1), member(900)),
    ] {
        editor
            .delete(&of(&g, &m))
            .json(json!({}))
            .refused(404, "not_found");
    }
    editor
        .delete(&of(&group(2), &member(1)))
        .json(json!({ "force": true }))
        .invalid(Some("force"));
    editor.delete(&of(&group(2), &member(1))).text("[]").invalid(None);
    // With a key it can be repeated, without one it cannot.
    let first = editor.delete(&of(&group(2), &member(1))).key("bye").text("{}");
    let again = editor.delete(&of(&group(2), &member(1))).key("bye").send();
    assert_eq!(
        (first.ok(), first.header("idempotent-replayed")),
        (again.ok(), None)
    );
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    editor
        .delete(&of(&group(2), &member(1)))
        .send()
        .refused(404, "not_found");
}
