//! The lists that differ: orders do not show when they changed, and chapters can move away.

use bursar_testing::Engine;
use serde_json::{Value, json};

use super::Mirror;
use crate::api::bundle::{NATIONAL, NORTH, RIVAL, SOUTH, id, member, organization};
use crate::api::world::{World, on_both_engines};

on_both_engines! { orders_and_campaigns_that_change chapters_that_move only_nationals_have_chapters }

fn import(world: &World, records: &[Value]) {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let file = world.place.bundle("more.ndjson", &lines);
    world.run(&["import", file.to_str().unwrap()]);
}

/// What a report says of new, changed, unchanged and removed rows.
fn told(report: &Value) -> [u64; 4] {
    ["new", "changed", "unchanged", "removed"].map(|field| report[field].as_u64().unwrap())
}

fn orders_and_campaigns_that_change(engine: Engine) {
    let world = World::new(engine);
    let order = |n: u32| {
        json!({
            "type": "storeOrder", "id": id("ord", n), "organizationId": organization(NATIONAL),
            "listingId": id("lst", 1), "memberId": member(1), "totalAmount": "15.00", "status": "pending",
        })
    };
    import(&world, &(10..30).map(order).collect::<Vec<_>>());
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let lists = ["--lists", "store-orders,campaigns", "--page-size", "3"];
    let first = mirror.sync(&lists);
    assert_eq!(told(&first["store-orders"]), [21, 0, 0, 0]);
    assert_eq!(told(&first["campaigns"]), [1, 0, 0, 0]);
    // Nothing changed: the newest order comes once more.
    assert_eq!(told(&mirror.sync(&lists)["store-orders"]), [0, 0, 1, 0]);
    // The oldest one, one in the middle and the newest one change, and there is a new one.
    for n in [10, 20, 29] {
        world.run(&["order", "pay", &id("ord", n)]);
    }
    import(&world, &[order(40)]);
    world.run(&["campaign", "end", &id("cmp", 1)]);
    let second = mirror.sync(&lists);
    assert_eq!(told(&second["store-orders"]), [1, 3, 0, 0]);
    assert_eq!(told(&second["campaigns"]), [0, 1, 0, 0]);
    for (list, path) in [("store-orders", "store/orders"), ("campaigns", "campaigns")] {
        let mut source = world.admin().walk(&format!("/v1/{path}"));
        source.sort_by_key(|row| row["id"].to_string());
        assert_eq!(mirror.rows(list), source, "{list}");
    }
    // An order that changes again comes again, though its `createdAt` stays.
    world.run(&["order", "fulfil", &id("ord", 29)]);
    assert_eq!(told(&mirror.sync(&lists)["store-orders"])[1], 1);
}

fn chapters_that_move(engine: Engine) {
    let world = World::new(engine);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    assert_eq!(
        told(&mirror.sync(&["--lists", "chapters"])["chapters"]),
        [2, 0, 0, 0]
    );
    let chapter = |n: u32, name: &str, parent: u32| {
        json!({
            "type": "organization", "id": organization(n), "name": name, "kind": "chapter",
            "parentId": organization(parent),
        })
    };
    import(
        &world,
        &[chapter(NORTH, "North", NATIONAL), chapter(SOUTH, "South", RIVAL)],
    );
    assert_eq!(
        told(&mirror.sync(&["--lists", "chapters"])["chapters"]),
        [0, 1, 0, 1]
    );
    let rows = mirror.rows("chapters");
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["id"], &rows[0]["name"]),
        (&json!(organization(NORTH)), &json!("North"))
    );
}

fn only_nationals_have_chapters(engine: Engine) {
    let world = World::new(engine);
    let mirror = Mirror::new(&world, &world.admin_of(NORTH).token().unwrap().secret);
    let reports = mirror.sync(&[]);
    let why = reports["chapters"]["skipped"].as_str().unwrap();
    assert!(why.contains("national"), "{why}");
    assert!(reports["members"]["skipped"].is_null());
    // Who names the list wants it.
    let done = mirror.run(&["--lists", "chapters"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.stderr.contains("not mirrored: chapters: "),
        "{}",
        done.stderr
    );
}
