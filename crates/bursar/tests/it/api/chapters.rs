//! The rosters of child chapters: who may read them, what it costs, and what the chapter sees of it.

use bursar_domain::access::Scope::{ChaptersRead, MembersRead};
use bursar_testing::Engine;
use serde_json::json;

use super::bundle::{LOWER, NATIONAL, NORTH, RIVAL, ROSTER, SOUTH, member, organization};
use super::world::{World, on_both_engines};

on_both_engines! { who_may_read the_chapter_sees_it what_it_costs }

fn roster(of: u32, query: &str) -> String {
    format!("/v1/chapters/{}/members{query}", organization(of))
}

fn who_may_read(engine: Engine) {
    let world = World::new(engine);
    let viewer = world.viewer();
    let all = viewer.walk(&roster(NORTH, "?limit=100"));
    assert_eq!(all.len(), ROSTER.len());
    let own = world.admin_of(NORTH).walk("/v1/members?limit=100");
    assert_eq!(
        all, own,
        "the same shape and the same rows as the chapter's own list"
    );
    assert_eq!(viewer.walk(&roster(NORTH, "?isActive=false")).len(), 1);
    assert_eq!(
        viewer.walk(&roster(NORTH, "?isActive=true&limit=7")).len(),
        ROSTER.len() - 1
    );
    assert_eq!(
        viewer.get(&roster(NORTH, "")).ok()["data"]
            .as_array()
            .unwrap()
            .len(),
        50
    );
    assert_eq!(viewer.walk(&roster(SOUTH, "")).len(), 1);
    // National only, direct children only; all else is one 404.
    let mut messages = Vec::new();
    for of in [LOWER, NATIONAL, RIVAL, 999] {
        messages.push(viewer.get(&roster(of, "")).refused(404, "not_found")["message"].clone());
    }
    for (reader, of) in [(SOUTH, LOWER), (NORTH, NORTH), (NORTH, SOUTH), (RIVAL, NORTH)] {
        messages.push(
            world
                .admin_of(reader)
                .get(&roster(of, ""))
                .refused(404, "not_found")["message"]
                .clone(),
        );
    }
    messages.push(
        viewer
            .get(&format!("/v1/chapters/{}/members", member(1)))
            .refused(404, "not_found")["message"]
            .clone(),
    );
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    for one in [ChaptersRead, MembersRead] {
        viewer
            .clone()
            .scopes([one])
            .get(&roster(NORTH, ""))
            .refused(403, "insufficient_scope");
    }
    viewer
        .clone()
        .scopes([ChaptersRead, MembersRead])
        .get(&roster(NORTH, "?limit=1"))
        .ok();
    viewer
        .get(&roster(NORTH, "?status=active"))
        .invalid(Some("status"));
    // The cursor belongs to this chapter and this reader.
    let cursor = viewer.get(&roster(NORTH, "?limit=5")).ok()["nextCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    viewer.get(&roster(NORTH, &format!("?cursor={cursor}"))).ok();
    viewer
        .get(&roster(SOUTH, &format!("?cursor={cursor}")))
        .refused(400, "invalid_cursor");
    viewer
        .get(&format!("/v1/members?cursor={cursor}"))
        .refused(400, "invalid_cursor");
    world
        .admin_of(NORTH)
        .get(&format!("/v1/members?cursor={cursor}"))
        .refused(400, "invalid_cursor");
    let own = world.admin_of(NORTH).get("/v1/members?limit=5").ok()["nextCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    viewer
        .get(&roster(NORTH, &format!("?cursor={own}")))
        .refused(400, "invalid_cursor");
    // With a cursor to a chapter one may not read, the chapter's absence is not told by the cursor.
    viewer
        .get(&roster(LOWER, &format!("?cursor={cursor}")))
        .refused(400, "invalid_cursor");
}

fn the_chapter_sees_it(engine: Engine) {
    let world = World::new(engine);
    let viewer = world.viewer();
    let before = world.activity(NORTH).len();
    let first = viewer.get(&roster(NORTH, "?limit=40"));
    let cursor = first.ok()["nextCursor"].as_str().unwrap().to_owned();
    let second = viewer.get(&roster(NORTH, &format!("?limit=40&cursor={cursor}")));
    assert_eq!(second.ok()["data"].as_array().unwrap().len(), 20);
    viewer.get(&roster(NORTH, "?limit=0")).invalid(Some("limit"));
    viewer.get(&roster(LOWER, "")).refused(404, "not_found");
    let lines = world.activity(NORTH);
    assert_eq!(
        lines.len(),
        before + 2,
        "one line a page, none for what was refused"
    );
    let token = viewer.token().unwrap().id;
    for (line, reply, count) in [(&lines[0], &second, 20), (&lines[1], &first, 40)] {
        assert_eq!(line["action"], "roster.read");
        assert_eq!(
            line["actor"],
            json!({ "kind": "token", "id": token, "organizationId": organization(NATIONAL) })
        );
        assert_eq!(
            (&line["count"], &line["requestId"]),
            (&json!(count), &json!(reply.must("x-request-id")))
        );
    }
    assert!(
        world
            .activity(LOWER)
            .iter()
            .chain(&world.activity(NATIONAL))
            .all(|line| line["action"] != "roster.read")
    );
    // A reader changes nothing in the chapter: its members stay where they were.
    assert_eq!(
        world.admin_of(NORTH).walk("/v1/members?limit=100").len(),
        ROSTER.len()
    );
}

fn what_it_costs(engine: Engine) {
    let world = World::new(engine);
    let viewer = world.viewer();
    let left = |query: &str, of: u32| viewer.get(&roster(of, query)).number("ratelimit-remaining");
    let mut expected = 600;
    for (query, of, cost) in [
        ("?limit=1", NORTH, 1),
        ("?limit=25", NORTH, 1),
        ("?limit=26", NORTH, 2),
        ("", NORTH, 2),
        ("?limit=75", NORTH, 3),
        ("?limit=100", NORTH, 4),
        ("?limit=100&isActive=false", NORTH, 4),
        ("?limit=100", LOWER, 4),
        ("?limit=0", NORTH, 1),
        ("?limit=101", NORTH, 1),
        ("?limit=100&x=1", NORTH, 1),
        ("?limit=100&limit=100", NORTH, 1),
        ("?limit=100&isActive=yes", NORTH, 1),
        ("?limit=100&cursor=bad", NORTH, 4),
    ] {
        expected -= cost;
        assert_eq!(left(query, of), expected, "{query}");
    }
    // 403 costs the same as success; other lists cost one, whatever their limit.
    let weak = viewer.clone().scopes([MembersRead]);
    assert_eq!(
        weak.get(&roster(NORTH, "?limit=100"))
            .number("ratelimit-remaining"),
        596
    );
    assert_eq!(
        weak.get("/v1/members?limit=100").number("ratelimit-remaining"),
        595
    );
    assert_eq!(
        weak.ask("HEAD", &roster(NORTH, "?limit=100"))
            .send()
            .number("ratelimit-remaining"),
        591
    );
    // What does not fit is refused and charges nothing; a smaller page still fits.
    let tight = World::with(engine, &["--rate-limit-read", "6"]);
    let reader = tight.viewer();
    assert_eq!(
        reader
            .get(&roster(NORTH, "?limit=100"))
            .number("ratelimit-remaining"),
        2
    );
    let refused = reader.get(&roster(NORTH, "?limit=100"));
    let error = refused.refused(429, "rate_limited");
    assert!(
        error["message"].as_str().unwrap().contains("read")
            && error["message"].as_str().unwrap().contains('6'),
        "{error}"
    );
    assert_eq!(refused.number("ratelimit-remaining"), 2);
    assert_eq!(
        reader
            .get(&roster(NORTH, "?limit=50"))
            .number("ratelimit-remaining"),
        0
    );
    reader.get("/v1/token").refused(429, "rate_limited");
    assert_eq!(
        tight
            .activity(NORTH)
            .iter()
            .filter(|line| line["action"] == "roster.read")
            .count(),
        2
    );
}
