//! Members: changing, archiving, and what moves with them.

use std::thread;

use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{CELLS, NATIONAL, group, member};
use super::world::{Caller, World, on_both_engines};

on_both_engines! { changing archiving_moves_groups_then_the_member texts_are_trimmed_and_counted many_at_once_keep_the_counts }

fn at(value: &Value) -> i64 {
    let text = value["updatedAt"].as_str().unwrap();
    text.parse::<jiff::Timestamp>().unwrap().as_microsecond()
}

fn get(caller: &Caller<'_>, n: u32) -> Value {
    caller.get(&format!("/v1/members/{}", member(n))).ok()
}

fn changing(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    let path = format!("/v1/members/{}", member(4));
    let before = get(&editor, 4);
    // Nothing said and nothing new said change nothing.
    let own = json!({ "firstName": " First 4 ", "lastName": "Last", "email": "m4@members.example", "isActive": true });
    for body in [json!({}), json!({ "firstName": "First 4" }), own] {
        assert_eq!(editor.patch(&path).json(body).ok(), before);
    }
    assert_eq!(get(&editor, 4), before);
    let after = editor
        .patch(&path)
        .json(json!({ "firstName": "Łucja", "email": "Lucja+x@Example.org" }))
        .ok();
    assert_eq!(
        (&after["firstName"], &after["lastName"], &after["email"]),
        (&json!("Łucja"), &json!("Last"), &json!("Lucja+x@Example.org"))
    );
    assert!(at(&after) > at(&before) && after["createdAt"] == before["createdAt"]);
    assert_eq!(get(&editor, 4), after);
    // Two members may have one address.
    editor
        .patch(&format!("/v1/members/{}", member(5)))
        .json(json!({ "email": "Lucja+x@Example.org" }))
        .ok();
    for (body, param) in [
        (json!({ "firstName": null }), "firstName"),
        (json!({ "lastName": null }), "lastName"),
        (json!({ "email": null }), "email"),
        (json!({ "isActive": null }), "isActive"),
        (json!({ "isActive": "false" }), "isActive"),
        (json!({ "isActive": 0 }), "isActive"),
        (json!({ "firstName": "" }), "firstName"),
        (json!({ "firstName": "  " }), "firstName"),
        (json!({ "lastName": 5 }), "lastName"),
        (json!({ "email": "no address" }), "email"),
        (json!({ "email": "a@b" }), "email"),
        (json!({ "email": "A <a@example.org>" }), "email"),
        (json!({ "email": "a@example.org,b@example.org" }), "email"),
        (
            json!({ "email": format!("{}@{}.example.org", "a".repeat(60), ["b".repeat(60), "c".repeat(60), "d".repeat(60), "e".repeat(60)].join(".")) }),
            "email",
        ),
        (json!({ "phone": "+12025550123" }), "phone"),
        (json!({ "groups": [] }), "groups"),
        (json!({ "joinDate": "2024-01-01" }), "joinDate"),
        (json!({ "id": member(4) }), "id"),
    ] {
        editor.patch(&path).json(body).invalid(Some(param));
    }
    assert_eq!(get(&editor, 4), after, "what was refused changed nothing");
    let line = world
        .activity(NATIONAL)
        .into_iter()
        .find(|line| line["subject"] == member(4))
        .unwrap();
    assert_eq!(
        (&line["action"], &line["actor"]["kind"], &line["actor"]["id"]),
        (
            &json!("member.change"),
            &json!("token"),
            &json!(editor.token().unwrap().id)
        )
    );
    assert!(line["requestId"].as_str().unwrap().starts_with("req_"));
}

fn archiving_moves_groups_then_the_member(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    let counts = || [1, 2].map(|n| editor.get(&format!("/v1/groups/{}", group(n))).ok());
    let path = format!("/v1/members/{}", member(1));
    let before = counts();
    assert_eq!([&before[0]["memberCount"], &before[1]["memberCount"]], [2, 2]);
    let archived = editor.patch(&path).json(json!({ "isActive": false })).ok();
    assert_eq!(
        (&archived["isActive"], &archived["groups"]),
        (&json!(false), &json!([group(1), group(2)])),
        "archived members keep their groups"
    );
    let after = counts();
    assert_eq!([&after[0]["memberCount"], &after[1]["memberCount"]], [1, 1]);
    // One transaction, one microsecond a row, the row that the request names last.
    assert_eq!(
        [at(&after[0]), at(&after[1])],
        [at(&archived) - 2, at(&archived) - 1]
    );
    assert!(at(&after[0]) > at(&before[0]));
    // Again: nothing to do.
    assert_eq!(
        editor.patch(&path).json(json!({ "isActive": false })).ok(),
        archived
    );
    assert_eq!(counts(), after);
    // An archived member may be changed; that moves no group.
    let renamed = editor.patch(&path).json(json!({ "lastName": "Gone" })).ok();
    assert!(at(&renamed) > at(&archived));
    assert_eq!(counts(), after);
    // Taken out of a group, only the member moves.
    let removed = editor
        .delete(&format!("/v1/groups/{}/members/{}", group(1), member(1)))
        .json(json!({}))
        .ok();
    assert_eq!(removed, after[0], "memberCount and the group stay as they are");
    let moved = get(&editor, 1);
    assert_eq!(moved["groups"], json!([group(2)]));
    assert!(at(&moved) > at(&renamed));
    // Restored: the group that is left moves, then the member.
    let restored = editor
        .patch(&path)
        .json(json!({ "isActive": true, "lastName": "Back" }))
        .ok();
    let last = counts();
    assert_eq!([&last[0]["memberCount"], &last[1]["memberCount"]], [1, 2]);
    assert_eq!(
        (last[0].clone(), at(&last[1])),
        (after[0].clone(), at(&restored) - 1)
    );
    // Payments are untouched, and the member can always be found.
    assert_eq!(
        editor.get(&format!("/v1/payments?memberId={}", member(1))).ok()["data"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let actions: Vec<String> = world
        .activity(NATIONAL)
        .iter()
        .map(|line| line["action"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        actions[..4],
        [
            "member.restore",
            "group.remove_member",
            "member.change",
            "member.archive"
        ]
    );
}

fn texts_are_trimmed_and_counted(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    let path = format!("/v1/members/{}", member(2));
    let name = |text: &str| editor.patch(&path).json(json!({ "firstName": text }));
    for (given, kept) in [
        ("  Zoë\u{3000}", "Zoë".to_owned()),
        ("\t山田\n", "山田".to_owned()),
        (&"é".repeat(100), "é".repeat(100)),
        (&"🚣".repeat(100), "🚣".repeat(100)),
        (&format!("  {}  ", "x".repeat(100)), "x".repeat(100)),
        ("\"Bo\" \\ </script>", "\"Bo\" \\ </script>".to_owned()),
        ("e\u{301}", "e\u{301}".to_owned()),
        ("\u{202e}rtl", "\u{202e}rtl".to_owned()),
    ] {
        assert_eq!(name(given).ok()["firstName"], kept, "{given:?}");
        assert_eq!(get(&editor, 2)["firstName"], kept);
    }
    for bad in [
        "é".repeat(101),
        "🚣".repeat(101),
        "a\nb".into(),
        "a\tb".into(),
        "a\u{85}b".into(),
        "a\u{9f}b".into(),
        "\u{7f}".into(),
    ] {
        name(&bad).invalid(Some("firstName"));
    }
    let group = |text: &str, key: &str| {
        editor
            .post("/v1/groups")
            .key(key)
            .json(json!({ "name": "G", "description": text }))
    };
    assert_eq!(
        group("\r\na\r\nb\tc\r\n", "1").done(201)["description"],
        "a\nb\tc"
    );
    assert_eq!(
        group(&"é".repeat(2_000), "2").done(201)["description"]
            .as_str()
            .unwrap()
            .chars()
            .count(),
        2_000
    );
    group(&"é".repeat(2_001), "3").invalid(Some("description"));
    assert_eq!(group("  ", "4").done(201)["description"], "");
}

fn many_at_once_keep_the_counts(engine: Engine) {
    let mut world = World::with(engine, &["--rate-limit-write", "10000"]);
    if engine == Engine::Postgres {
        world.start(&["--rate-limit-write", "10000"]);
    }
    let servers = if engine == Engine::Postgres { 2 } else { 1 };
    let editor = world.editor();
    editor.token();
    thread::scope(|scope| {
        for worker in 0..6u32 {
            let editor = editor.clone().through(worker as usize % servers);
            scope.spawn(move || {
                for turn in 0..8 {
                    // Two workers fight for each member; one of four turns takes it out of the group for good.
                    let n = CELLS.start + (worker / 2) * 8 + turn;
                    let path = format!("/v1/members/{}", member(n));
                    editor
                        .patch(&path)
                        .json(json!({ "isActive": worker % 2 == 0 && turn % 2 == 0 }))
                        .ok();
                    if turn % 4 == 3 {
                        let left = editor
                            .delete(&format!("/v1/groups/{}/members/{}", group(50), member(n)))
                            .send();
                        assert!([200, 404].contains(&left.status), "{}", left.body);
                    }
                }
            });
        }
    });
    let members = editor.walk("/v1/members?limit=100");
    let active = |row: &&Value| {
        row["isActive"] == true && row["groups"].as_array().unwrap().contains(&json!(group(50)))
    };
    let count = members.iter().filter(active).count();
    assert!((1..CELLS.len()).contains(&count));
    assert_eq!(
        editor.get(&format!("/v1/groups/{}", group(50))).ok()["memberCount"],
        count
    );
    assert_eq!(
        members.iter().filter(|row| row["groups"] == json!([])).count(),
        1 + 6,
        "each was taken out once"
    );
}
