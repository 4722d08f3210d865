//! The lists of campaigns, store orders and chapters.

use std::collections::BTreeSet;

use bursar_domain::access::Scope::{ChaptersRead, FundraiseRead, MembersRead, StoreRead};
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{LOWER, NATIONAL, NORTH, RIVAL, SOUTH, YEN, id, member, organization};
use super::world::{Caller, World, on_both_engines};

on_both_engines! { campaigns orders orders_that_change chapters chapters_that_change a_chapter_moves_mid_walk }

fn import(world: &World, records: &[Value]) {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let file = world.place.bundle("more.ndjson", &lines);
    world.run(&["import", file.to_str().unwrap()]);
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["id"].as_str().unwrap()).collect()
}

fn chapter(n: u32, name: &str, parent: u32) -> Value {
    json!({
        "type": "organization", "id": organization(n), "name": name, "kind": "chapter",
        "parentId": organization(parent),
    })
}

fn campaigns(engine: Engine) {
    let world = World::new(engine);
    let of = |n: u32, status: &str| {
        json!({
            "type": "campaign", "id": id("cmp", n), "organizationId": organization(NATIONAL),
            "name": format!("Campaign {n}"), "status": status,
        })
    };
    let states = ["draft", "active", "ended"];
    let records: Vec<Value> = (10..40).map(|n| of(n, states[n as usize % 3])).collect();
    import(&world, &records);
    let viewer = world.viewer().scopes([FundraiseRead]);
    let all = viewer.walk("/v1/campaigns?limit=7");
    assert_eq!(all.len(), 31);
    let order: Vec<_> = all
        .iter()
        .map(|row| (row["updatedAt"].as_str(), row["id"].as_str()))
        .collect();
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(
        all[3],
        viewer
            .get(&format!("/v1/campaigns/{}", all[3]["id"].as_str().unwrap()))
            .ok()
    );
    for status in states {
        let expected: Vec<&Value> = all.iter().filter(|row| row["status"] == status).collect();
        let found = viewer.walk(&format!("/v1/campaigns?limit=4&status={status}"));
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{status}");
    }
    let last = all.last().unwrap()["updatedAt"].as_str().unwrap();
    assert_eq!(
        viewer.walk(&format!("/v1/campaigns?updatedSince={last}")).len(),
        1
    );
    viewer.get("/v1/campaigns?status=paid").invalid(Some("status"));
    viewer.get("/v1/campaigns?memberId=x").invalid(Some("memberId"));
    world
        .viewer()
        .scopes([StoreRead])
        .get("/v1/campaigns")
        .refused(403, "insufficient_scope");
    assert_eq!(world.admin_of(RIVAL).walk("/v1/campaigns").len(), 1);
}

/// The orders of `World::new`, and forty more of two members and two listings in all states.
fn with_orders(engine: Engine) -> World {
    let world = World::new(engine);
    let states = ["pending", "paid", "fulfilled", "cancelled", "refunded"];
    let orders: Vec<Value> = (10..50u32)
        .map(|n| {
            json!({
                "type": "storeOrder", "id": id("ord", n), "organizationId": organization(NATIONAL),
                "listingId": id("lst", 1 + n / 5 % 2), "memberId": member(1 + n / 10 % 2), "totalAmount": "15.00",
                "currency": "USD", "status": states[n as usize % 5], "lines": [],
            })
        })
        .collect();
    let second = json!({
        "type": "storeListing", "id": id("lst", 2), "organizationId": organization(NATIONAL), "name": "Mug",
    });
    import(&world, &[&[second], &orders[..]].concat());
    world
}

fn orders(engine: Engine) {
    let world = with_orders(engine);
    let viewer = world.viewer().scopes([StoreRead]);
    let all = viewer.walk("/v1/store/orders?limit=6");
    assert_eq!(all.len(), 41);
    assert_eq!(ids(&all).into_iter().collect::<BTreeSet<_>>().len(), 41);
    assert!(all.iter().all(|row| row.get("updatedAt").is_none()));
    let one = format!("/v1/store/orders/{}", id("ord", 12));
    assert!(all.contains(&viewer.get(&one).ok()));
    // Every set of filters gives what all of them let through, in the order of the whole list.
    for status in ["", "pending", "refunded"] {
        for of_member in ["", &member(1), &member(2)] {
            for listing in ["", &id("lst", 1), &id("lst", 2)] {
                let given = [
                    ("status", status),
                    ("memberId", of_member),
                    ("listingId", listing),
                ];
                let given = given.iter().filter(|(_, value)| !value.is_empty());
                let expected: Vec<&Value> = all
                    .iter()
                    .filter(|row| given.clone().all(|(field, value)| row[field] == *value))
                    .collect();
                let query: String = given
                    .clone()
                    .map(|(field, value)| format!("&{field}={value}"))
                    .collect();
                let found = viewer.walk(&format!("/v1/store/orders?limit=3{query}"));
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{query}");
            }
        }
    }
    viewer
        .get("/v1/store/orders?status=active")
        .invalid(Some("status"));
    viewer
        .get(&format!("/v1/store/orders?listingId={}", member(1)))
        .invalid(Some("listingId"));
    viewer
        .get("/v1/store/orders?isActive=true")
        .invalid(Some("isActive"));
    // A cursor carries the filters, and is of this list only.
    let filtered = format!("/v1/store/orders?limit=2&listingId={}", id("lst", 2));
    let cursor = viewer.get(&filtered).ok()["nextCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let page = viewer.get(&format!("/v1/store/orders?cursor={cursor}")).ok();
    assert!(
        page["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["listingId"] == id("lst", 2)),
        "{page}"
    );
    viewer
        .get(&format!(
            "/v1/store/orders?cursor={cursor}&listingId={}",
            id("lst", 1)
        ))
        .refused(400, "invalid_cursor");
    viewer
        .get(&format!("/v1/store/listings?cursor={cursor}"))
        .refused(400, "invalid_cursor");
    world
        .viewer()
        .scopes([FundraiseRead])
        .get("/v1/store/orders")
        .refused(403, "insufficient_scope");
}

fn orders_that_change(engine: Engine) {
    let world = with_orders(engine);
    let viewer = world.viewer();
    let all = viewer.walk("/v1/store/orders?limit=100");
    let newest = all
        .iter()
        .map(|row| row["createdAt"].as_str().unwrap())
        .max()
        .unwrap();
    let since = format!("/v1/store/orders?updatedSince={newest}");
    let page = viewer.get("/v1/store/orders?limit=20&status=pending").ok();
    let first = viewer.get("/v1/store/orders?limit=10").ok();
    let cursor = first["nextCursor"].as_str().unwrap();
    // A row that the walk has not come to yet changes: it is shown once, as it was.
    let changed = ids(&all)[30].to_owned();
    let pending = ids(page["data"].as_array().unwrap())[5].to_owned();
    let before = viewer.get(&format!("/v1/store/orders/{pending}")).ok();
    world.run(&["order", "pay", &pending]);
    let rest = viewer.walk(&format!("/v1/store/orders?limit=10&cursor={cursor}"));
    let walked = [first["data"].as_array().unwrap().clone(), rest].concat();
    assert_eq!(walked, all);
    assert!(walked.contains(&before) && ids(&walked).contains(&changed.as_str()));
    // The change is what `updatedSince` brings, though the order does not show when it changed.
    let now = viewer.walk(&since);
    assert_eq!(ids(&now).last(), Some(&pending.as_str()), "{now:?}");
    assert_eq!(now.last().unwrap()["status"], "paid");
    assert_eq!(
        ids(&viewer.walk("/v1/store/orders")).last(),
        Some(&pending.as_str())
    );
}

fn chapters(engine: Engine) {
    let world = World::new(engine);
    let viewer = world.viewer().scopes([ChaptersRead]);
    let all = viewer.walk("/v1/chapters?limit=1");
    let mut found = ids(&all);
    found.sort_unstable();
    // LOWER is a chapter of a chapter.
    assert_eq!(found, [organization(NORTH), organization(SOUTH)]);
    for row in &all {
        let fields: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields.len(), 4, "{row}");
        for field in ["id", "name", "createdAt", "updatedAt"] {
            assert!(row[field].is_string(), "{row}");
        }
        assert_eq!(row["createdAt"], row["updatedAt"]);
    }
    assert_ne!(all[0]["updatedAt"], all[1]["updatedAt"]);
    // National organizations only, also those without chapters.
    assert_eq!(world.admin_of(RIVAL).walk("/v1/chapters"), [] as [Value; 0]);
    for of in [NORTH, SOUTH, YEN] {
        world.admin_of(of).get("/v1/chapters").refused(404, "not_found");
    }
    viewer.get("/v1/chapters?status=active").invalid(Some("status"));
    world
        .admin_of(NORTH)
        .get("/v1/chapters?limit=0")
        .invalid(Some("limit"));
    world
        .viewer()
        .scopes([MembersRead])
        .get("/v1/chapters")
        .refused(403, "insufficient_scope");
    // Whatever its limit, a page costs one.
    let left = |query: &str| viewer.get(query).number("ratelimit-remaining");
    assert_eq!(left("/v1/chapters?limit=100"), left("/v1/chapters?limit=100") + 1);
    // It shows no person, and reading it is nobody's business.
    for of in [NATIONAL, NORTH, SOUTH] {
        let lines = world.activity(of);
        assert!(
            lines.iter().all(|line| line["action"] != "chapter.read"),
            "{lines:?}"
        );
    }
}

/// What `updatedSince` brings, and the time to ask from next.
fn news(caller: &Caller<'_>, since: &mut String) -> Vec<Value> {
    let rows: Vec<Value> = caller
        .walk(&format!("/v1/chapters?updatedSince={since}"))
        .into_iter()
        .filter(|row| row["updatedAt"].as_str().unwrap() > since.as_str())
        .collect();
    if let Some(last) = rows.last() {
        *since = last["updatedAt"].as_str().unwrap().to_owned();
    }
    rows
}

fn chapters_that_change(engine: Engine) {
    let world = World::new(engine);
    let (viewer, rival) = (world.viewer(), world.admin_of(RIVAL));
    let mut since = "2000-01-01T00:00:00Z".to_owned();
    let mut since_of_rival = since.clone();
    assert_eq!(news(&viewer, &mut since).len(), 2);
    assert_eq!(news(&rival, &mut since_of_rival).len(), 0);
    // Created by a command.
    let parent = organization(NATIONAL);
    let args = [
        "organization",
        "create",
        "--name",
        "East",
        "--kind",
        "chapter",
        "--parent",
        &parent,
    ];
    let made = world.run(&args);
    let east = news(&viewer, &mut since);
    assert_eq!(ids(&east), [made["id"].as_str().unwrap()]);
    assert_eq!(
        (&east[0]["name"], &east[0]["createdAt"]),
        (&json!("East"), &east[0]["updatedAt"])
    );
    // Created by an import.
    import(&world, &[chapter(20, "West", NATIONAL)]);
    assert_eq!(ids(&news(&viewer, &mut since)), [organization(20)]);
    // Renamed.
    import(&world, &[chapter(20, "West Bank", NATIONAL)]);
    let west = news(&viewer, &mut since);
    assert_eq!(
        (ids(&west), &west[0]["name"]),
        (vec![organization(20).as_str()], &json!("West Bank"))
    );
    assert!(west[0]["createdAt"].as_str() < west[0]["updatedAt"].as_str());
    // Other changes of the chapter, and an import that changes nothing, leave it where it is.
    let mut with_contact = chapter(20, "West Bank", NATIONAL);
    with_contact["contactEmail"] = json!("west@example.org");
    for _ in 0..2 {
        import(&world, &[with_contact.clone()]);
        assert_eq!(news(&viewer, &mut since).len(), 0);
    }
    // Moved to another national: it leaves one list and arrives in the other, by that one's clock.
    import(&world, &[chapter(20, "West Bank", RIVAL)]);
    assert_eq!(news(&viewer, &mut since).len(), 0);
    assert!(!ids(&viewer.walk("/v1/chapters")).contains(&organization(20).as_str()));
    let arrived = news(&rival, &mut since_of_rival);
    assert_eq!(ids(&arrived), [organization(20)]);
    assert_eq!(arrived[0]["createdAt"], arrived[0]["updatedAt"]);
    // Below a chapter it is in no list; and back again it is new.
    import(&world, &[chapter(20, "West Bank", NORTH)]);
    assert_eq!(rival.walk("/v1/chapters").len(), 0);
    assert_eq!(viewer.walk("/v1/chapters").len(), 3);
    import(
        &world,
        &[chapter(20, "West", NATIONAL), chapter(LOWER, "Lower", NATIONAL)],
    );
    let mut back = news(&viewer, &mut since);
    back.sort_by_key(|row| row["id"].to_string());
    assert_eq!(ids(&back), [organization(LOWER), organization(20)]);
    assert_eq!(back[1]["name"], "West");
    assert_eq!(world.run(&["check"])["problems"], json!([]));
}

/// A walk shows the list as it was when it began: who moves away meanwhile is still in it, who arrives is not.
fn a_chapter_moves_mid_walk(engine: Engine) {
    let world = World::new(engine);
    let more: Vec<Value> = (20..32)
        .map(|n| chapter(n, &format!("Chapter {n}"), NATIONAL))
        .collect();
    import(&world, &more);
    let viewer = world.viewer();
    let all = viewer.walk("/v1/chapters?limit=5");
    assert_eq!(all.len(), 14);
    let first = viewer.get("/v1/chapters?limit=5").ok();
    let cursor = first["nextCursor"].as_str().unwrap();
    let moved = all[7]["id"].clone();
    let renamed = all[9]["id"].clone();
    let of = |id: &Value, name: &str, parent: u32| {
        json!({
            "type": "organization", "id": id, "name": name, "kind": "chapter", "parentId": organization(parent),
        })
    };
    import(
        &world,
        &[
            of(&moved, all[7]["name"].as_str().unwrap(), RIVAL),
            of(&renamed, "Renamed", NATIONAL),
            chapter(40, "New", NATIONAL),
        ],
    );
    // There and back again is new, and yet it is in the old walk once.
    import(&world, &[of(&moved, "Back", NATIONAL)]);
    let rest = viewer.walk(&format!("/v1/chapters?limit=5&cursor={cursor}"));
    assert_eq!([first["data"].as_array().unwrap().clone(), rest].concat(), all);
    let now = viewer.walk("/v1/chapters?limit=5");
    assert_eq!(now.len(), 15);
    let names: Vec<&str> = now[12..]
        .iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["Renamed", "New", "Back"]);
}
