//! Events: one for every write of a row, in the order of the change clock, for those who may read it.

use std::collections::BTreeMap;

use bursar_domain::access::Scope::{self, EventsRead, GroupsRead, MembersRead, PaymentsRead};
use bursar_domain::access::ScopeSet;
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{NATIONAL, RIVAL, group, id, member, organization};
use super::world::{Caller, World, on_both_engines};

on_both_engines! { every_write_has_its_event what_an_import_tells a_copy_follows filters_and_scopes a_walk_is_a_snapshot }

const FAST: &[&str] = &["--rate-limit-read", "100000", "--rate-limit-write", "100000"];

fn events(caller: &Caller<'_>) -> Vec<Value> {
    caller.walk("/v1/events?limit=7")
}

/// What happened since there were so many.
fn since(caller: &Caller<'_>, known: &mut usize) -> Vec<Value> {
    let all = events(caller);
    let new = all[*known..].to_vec();
    *known = all.len();
    new
}

fn types(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

fn import(world: &World, records: &[Value]) {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let file = world.place.bundle("more.ndjson", &lines);
    world.run(&["import", file.to_str().unwrap()]);
}

fn change(caller: &Caller<'_>, n: u32, fields: Value) {
    let path = format!("/v1/members/{}", member(n));
    caller.patch(&path).json(fields).ok();
}

fn create(caller: &Caller<'_>, path: &str, key: &str, fields: Value) {
    caller.post(path).key(key).json(fields).done(201);
}

fn every_write_has_its_event(engine: Engine) {
    let world = World::with(engine, FAST);
    let admin = world.admin();
    let mut known = 0;
    assert_eq!(
        since(&admin, &mut known),
        [Value::Null; 0],
        "a new organization brings no news"
    );
    let path = format!("/v1/members/{}", member(5));
    let reply = admin
        .patch(&path)
        .json(json!({ "firstName": "Grace", "lastName": "Hopper" }));
    let changed = reply.ok();
    let new = since(&admin, &mut known);
    assert_eq!(new.len(), 1);
    let expected = json!({
        "id": new[0]["id"], "type": "member.updated", "createdAt": changed["updatedAt"],
        "organizationId": organization(NATIONAL), "resource": "member", "resourceId": member(5), "data": changed,
        "changed": ["firstName", "lastName"],
        "actor": { "kind": "token", "id": admin.token().unwrap().id }, "requestId": reply.must("x-request-id"),
    });
    assert_eq!(new[0], expected);
    let one = format!("/v1/events/{}", new[0]["id"].as_str().unwrap());
    assert_eq!(admin.get(&one).ok(), new[0]);

    // What writes no row makes no event.
    admin.patch(&path).json(json!({})).ok();
    admin.patch(&path).json(json!({ "firstName": "Grace" })).ok();
    assert_eq!(types(&since(&admin, &mut known)), [""; 0]);

    let made = admin
        .post("/v1/groups")
        .key("k1")
        .json(json!({ "name": "Alumni" }));
    admin
        .post("/v1/groups")
        .key("k1")
        .json(json!({ "name": "Alumni" }));
    let new = since(&admin, &mut known);
    assert_eq!(types(&new), ["group.created"], "a replay writes nothing");
    assert_eq!(
        (&new[0]["data"], &new[0]["changed"]),
        (&made.done(201), &json!([]))
    );

    // Archiving changes the groups' counts and freezes the card; what the request names comes last.
    let card = json!({
        "name": "Travel", "spendLimit": 100, "spendLimitFrequency": "monthly", "assignedMemberId": member(4),
    });
    let card = admin.post("/v1/cards").key("k2").json(card).done(201)["card"]["id"].clone();
    world.run(&[
        "card",
        "activate",
        card.as_str().unwrap(),
        "--organization",
        &organization(NATIONAL),
    ]);
    let new = since(&admin, &mut known);
    assert_eq!(types(&new), ["card.created", "card.active"]);
    assert_eq!(new[1]["changed"], json!(["status", "activatedAt"]));
    assert_eq!(new[1]["actor"], json!({ "kind": "operator", "id": null }));
    assert_eq!(new[1]["requestId"], Value::Null);
    let path = format!("/v1/members/{}", member(4));
    admin.patch(&path).json(json!({ "isActive": false })).ok();
    let new = since(&admin, &mut known);
    assert_eq!(types(&new), ["group.updated", "card.frozen", "member.archived"]);
    assert_eq!(new[0]["changed"], json!(["memberCount"]));
    admin
        .patch(&path)
        .json(json!({ "isActive": true, "lastName": "Back" }))
        .ok();
    assert_eq!(
        types(&since(&admin, &mut known)),
        ["group.updated", "member.restored"]
    );
    admin
        .delete(&format!("/v1/groups/{}/members/{}", group(2), member(4)))
        .send()
        .ok();
    assert_eq!(
        types(&since(&admin, &mut known)),
        ["member.updated", "group.updated"]
    );

    // A hidden field: nothing that v1 shows has changed.
    world.run(&[
        "member",
        "set",
        &member(4),
        "--organization",
        &organization(NATIONAL),
        "--phone",
        "+12025550177",
    ]);
    let new = since(&admin, &mut known);
    assert_eq!(types(&new), ["member.updated"]);
    assert_eq!(new[0]["changed"], json!([]));
    assert!(!new[0].to_string().contains("5550177"), "{}", new[0]);

    // A part payment, another one, and the rest.
    let own = organization(NATIONAL);
    let raised = world.run(&[
        "payment",
        "raise",
        "--organization",
        &own,
        "--member",
        &member(5),
        "--amount",
        "30.00",
        "--description",
        "Fee",
    ]);
    let payment = raised["payments"][0]["id"].as_str().unwrap().to_owned();
    for amount in ["10.00", "10.00", "10.00"] {
        world.run(&[
            "receipt",
            "record",
            "--organization",
            &own,
            "--payer",
            &member(5),
            "--amount",
            amount,
            "--method",
            "cash",
            "--payment",
            &payment,
            "--again",
        ]);
    }
    let new = since(&admin, &mut known);
    assert_eq!(
        types(&new),
        [
            "payment.created",
            "payment.partially_paid",
            "payment.updated",
            "payment.paid"
        ]
    );
    assert_eq!(new[2]["changed"], json!(["paidToDate"]));
    assert_eq!(new[3]["changed"], json!(["paidToDate", "status", "paidAt"]));

    // Paid too much, and credit is applied by itself: the next charge is met at once.
    world.run(&["organization", "set", &own, "--auto-credit", "on"]);
    world.run(&[
        "receipt",
        "record",
        "--organization",
        &own,
        "--payer",
        &member(5),
        "--amount",
        "1000.00",
        "--method",
        "cash",
    ]);
    since(&admin, &mut known);
    world.run(&[
        "payment",
        "raise",
        "--organization",
        &own,
        "--member",
        &member(5),
        "--amount",
        "20.00",
        "--description",
        "Tie",
    ]);
    assert_eq!(
        types(&since(&admin, &mut known)),
        ["payment.created", "payment.paid"]
    );
    let stamps: Vec<String> = events(&admin)
        .iter()
        .map(|event| event["createdAt"].to_string())
        .collect();
    assert!(stamps.windows(2).all(|pair| pair[0] < pair[1]), "{stamps:?}");
    assert_eq!(events(&world.admin_of(RIVAL)), [Value::Null; 0]);
}

fn what_an_import_tells(engine: Engine) {
    let world = World::with(engine, FAST);
    let admin = world.admin();
    let own = organization(NATIONAL);
    let fresh = organization(90);
    import(
        &world,
        &[
            json!({ "type": "member", "id": member(8001), "organizationId": own, "firstName": "New", "lastName": "One", "email": "n@members.example", "groups": [group(1)] }),
            json!({ "type": "member", "id": member(5), "organizationId": own, "isActive": false }),
            json!({ "type": "reminder", "id": id("rem", 500), "organizationId": own, "status": "cancelled" }),
            json!({ "type": "organization", "id": fresh, "name": "Fresh", "kind": "independent" }),
            json!({ "type": "role", "organizationId": fresh, "userId": id("usr", 3), "role": "admin" }),
            json!({ "type": "member", "id": member(8002), "organizationId": fresh, "firstName": "New", "lastName": "Two", "email": "m@members.example" }),
        ],
    );
    let new = events(&admin);
    assert_eq!(
        types(&new),
        [
            "member.created",
            "member.archived",
            "reminder.cancelled",
            "group.updated"
        ]
    );
    assert_eq!(new[2]["changed"], json!(["status"]));
    assert!(new.iter().all(|event| event["actor"]["kind"] == "operator"));
    let of_fresh = world.person("admin", 90);
    assert_eq!(events(&of_fresh), [Value::Null; 0]);
    of_fresh
        .get("/v1/events?createdSince=2026-01-01T00:00:00Z")
        .invalid(Some("createdSince"));
    // The same again changes nothing.
    import(
        &world,
        &[json!({ "type": "member", "id": member(5), "organizationId": own, "isActive": false })],
    );
    assert_eq!(events(&admin).len(), 4);
    let file = world.place.bundle(
        "roster.csv",
        "First name,Last name,Email\nAnn,One,ann@members.example\nBob,Two,bob@members.example\n",
    );
    world.run(&["import", file.to_str().unwrap(), "--organization", &own]);
    assert_eq!(types(&events(&admin)[4..]), ["member.created", "member.created"]);
}

/// Whoever applies events to a copy has what a fresh walk gives.
fn a_copy_follows(engine: Engine) {
    let world = World::with(engine, FAST);
    let admin = world.admin();
    let lists = ["members", "groups", "cards"];
    let walk = || -> BTreeMap<String, Value> {
        let rows = lists
            .iter()
            .flat_map(|list| admin.walk(&format!("/v1/{list}?limit=100")));
        rows.map(|row| (row["id"].to_string(), row)).collect()
    };
    let mut copy = walk();
    std::thread::scope(|scope| {
        for writer in 0..4u32 {
            let admin = &admin;
            scope.spawn(move || {
                for turn in 0..12u32 {
                    let n = 500 + (writer * 7 + turn) % 20;
                    let is_active = turn % 3 != 0;
                    let fields = json!({ "firstName": format!("W{writer} {turn}"), "isActive": is_active });
                    change(admin, n, fields);
                    let fields = json!({ "name": format!("Group {writer} {turn}") });
                    create(admin, "/v1/groups", &format!("k{writer}-{turn}"), fields);
                }
            });
        }
    });
    let all = admin.walk("/v1/events?limit=100");
    assert!(all.len() >= 96, "{}", all.len());
    for event in &all {
        let before = copy.insert(event["resourceId"].to_string(), event["data"].clone());
        let changed: Vec<&str> = event["changed"]
            .as_array()
            .unwrap()
            .iter()
            .map(|name| name.as_str().unwrap())
            .collect();
        let differs: Vec<&str> = match &before {
            None => Vec::new(),
            Some(before) => {
                let data = event["data"].as_object().unwrap();
                let differing = data
                    .iter()
                    .filter(|(name, value)| *name != "updatedAt" && before[*name] != **value);
                differing.map(|(name, _)| name.as_str()).collect()
            }
        };
        assert_eq!(changed, differs, "{event}");
        assert_eq!(event["createdAt"], event["data"]["updatedAt"]);
    }
    assert_eq!(copy, walk());
    let ids: std::collections::BTreeSet<String> = all.iter().map(|event| event["id"].to_string()).collect();
    assert_eq!(ids.len(), all.len());
}

fn filters_and_scopes(engine: Engine) {
    let world = World::with(engine, FAST);
    let admin = world.admin();
    for turn in 0..6u32 {
        let fields = json!({ "firstName": format!("Turn {turn}"), "isActive": turn % 2 == 1 });
        change(&admin, 500 + turn % 3, fields);
        let fields = json!({ "name": format!("Group {turn}") });
        create(&admin, "/v1/groups", &format!("g{turn}"), fields);
        let fields =
            json!({ "name": format!("Card {turn}"), "spendLimit": 5, "spendLimitFrequency": "daily" });
        create(&admin, "/v1/cards", &format!("c{turn}"), fields);
    }
    let all = admin.walk("/v1/events?limit=100");
    let subset = |keep: &dyn Fn(&Value) -> bool| -> Vec<Value> {
        all.iter().filter(|event| keep(event)).cloned().collect()
    };
    for limit in [1, 3, 100] {
        for name in [
            "member.archived",
            "member.updated",
            "group.created",
            "card.created",
            "payment.paid",
        ] {
            let found = admin.walk(&format!("/v1/events?limit={limit}&type={name}"));
            assert_eq!(found, subset(&|event| event["type"] == name), "{name}");
        }
        let of_group = format!("/v1/events?limit={limit}&resourceId={}", group(50));
        assert_eq!(
            admin.walk(&of_group),
            subset(&|event| event["resourceId"] == group(50).as_str())
        );
        let both = format!(
            "/v1/events?limit={limit}&resourceId={}&type=member.archived",
            member(501)
        );
        let expected = subset(&|event| {
            event["resourceId"] == member(501).as_str() && event["type"] == "member.archived"
        });
        assert_eq!(admin.walk(&both), expected);
        assert!(!expected.is_empty());
        for scopes in [&[MembersRead][..], &[GroupsRead, PaymentsRead], &[]] {
            let reads: Vec<Scope> = scopes.iter().copied().chain([EventsRead]).collect();
            let caller = admin
                .clone()
                .without(ScopeSet::of(Scope::ALL).without(ScopeSet::of(&reads)));
            let has = |scope: Scope| scopes.contains(&scope);
            let expected = subset(&|event| match event["resource"].as_str() {
                Some("member") => has(MembersRead),
                Some("group") => has(GroupsRead),
                _ => false,
            });
            assert_eq!(
                caller.walk(&format!("/v1/events?limit={limit}")),
                expected,
                "{scopes:?}"
            );
            let hidden = format!("/v1/events?limit={limit}&type=card.created");
            assert_eq!(caller.walk(&hidden), [Value::Null; 0]);
        }
    }
    // A viewer's role withholds cards, whatever the token was given.
    let viewer = world.viewer();
    assert_eq!(
        viewer.walk("/v1/events?limit=4"),
        subset(&|event| event["resource"] != "card")
    );
    let card = all.iter().find(|event| event["resource"] == "card").unwrap();
    let one = format!("/v1/events/{}", card["id"].as_str().unwrap());
    assert_eq!(admin.get(&one).ok(), *card);
    viewer.get(&one).refused(404, "not_found");
    world.admin_of(RIVAL).get(&one).refused(404, "not_found");
    admin
        .get("/v1/events/evt_01h455vb4pex5vsknk084sn02q")
        .refused(404, "not_found");
    admin
        .get(&format!("/v1/events/{}", member(1)))
        .refused(404, "not_found");
    viewer
        .clone()
        .scopes([MembersRead])
        .get("/v1/events")
        .refused(403, "insufficient_scope");
    for (query, param) in [
        ("type=member", "type"),
        ("type=test", "type"),
        ("resourceId=org_01h455vb4pex5vsknk084sn02q", "resourceId"),
        ("updatedSince=2026-11-15T01:39:08Z", "updatedSince"),
        ("createdSince=2026-11-15", "createdSince"),
        ("status=paid", "status"),
    ] {
        admin.get(&format!("/v1/events?{query}")).invalid(Some(param));
    }
}

fn a_walk_is_a_snapshot(engine: Engine) {
    let world = World::with(engine, FAST);
    let admin = world.admin();
    let write = |turn: u32| {
        let fields = json!({ "firstName": format!("Turn {turn}") });
        change(&admin, 500 + turn % 5, fields);
    };
    for turn in 0..10 {
        write(turn);
    }
    let before = admin.walk("/v1/events?limit=100");
    let (mut seen, mut path) = (Vec::new(), "/v1/events?limit=3".to_owned());
    for turn in 10.. {
        let page = admin.get(&path).ok();
        seen.extend(page["data"].as_array().unwrap().clone());
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        write(turn);
        path = format!("/v1/events?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, before);
    let last = before.last().unwrap()["createdAt"].as_str().unwrap();
    let next = admin.walk(&format!("/v1/events?createdSince={last}"));
    assert_eq!(next[0], *before.last().unwrap(), "inclusive");
    assert_eq!(next.len(), events(&admin).len() - before.len() + 1);
    // A cursor carries its filters, and is of this list only.
    let first = admin.get("/v1/events?limit=2&type=member.updated").ok();
    let cursor = first["nextCursor"].as_str().unwrap();
    admin
        .get(&format!("/v1/events?cursor={cursor}&type=member.updated"))
        .ok();
    admin
        .get(&format!("/v1/events?cursor={cursor}&type=group.created"))
        .refused(400, "invalid_cursor");
    admin
        .get(&format!("/v1/members?cursor={cursor}"))
        .refused(400, "invalid_cursor");
    // Permissions are those of each page's own request.
    let narrow = admin.clone().scopes([EventsRead]);
    assert_eq!(
        narrow.get(&format!("/v1/events?cursor={cursor}")).ok()["data"],
        json!([])
    );
}
