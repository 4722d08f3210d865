//! The promise of a walk, over HTTP: a snapshot, neither skipped nor repeated, whatever is written meanwhile.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bursar_domain::Timestamp;
use bursar_domain::cursor::{Belongs, Cursor, Filters, Position};
use bursar_domain::ids::OrganizationId;
use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{CELLS, NATIONAL, RIVAL, id, member, organization};
use super::world::{Caller, World, on_both_engines};

on_both_engines! { rows_that_change_between_pages since_a_time cursors_that_are_not_taken a_start_that_was_written_anew a_copy_kept_beside_writers rows_with_one_stamp }

const FAST: &[&str] = &["--rate-limit-read", "100000", "--rate-limit-write", "100000"];

fn rename(caller: &Caller<'_>, n: u32, name: &str) -> Value {
    caller
        .patch(&format!("/v1/members/{}", member(n)))
        .json(json!({ "firstName": name }))
        .ok()
}

fn rows_that_change_between_pages(engine: Engine) {
    let world = World::with(engine, FAST);
    let editor = world.editor();
    let before = editor.walk("/v1/members?limit=100");
    assert_eq!(before.len(), CELLS.len() + 5);
    for filter in ["", "&isActive=true"] {
        let before: Vec<Value> = editor.walk(&format!("/v1/members?limit=100{filter}"));
        let mut seen = Vec::new();
        let mut path = format!("/v1/members?limit=3{filter}");
        let mut turn = 0;
        loop {
            let page = editor.get(&path).ok();
            seen.extend(page["data"].as_array().unwrap().clone());
            let Some(cursor) = page["nextCursor"].as_str() else {
                break;
            };
            turn += 1;
            // What was seen, what is about to come, what comes last, what enters and what leaves the filter.
            for n in [
                CELLS.start + turn % 40,
                CELLS.start + (turn * 7) % 40,
                CELLS.end - 1,
                1,
            ] {
                rename(&editor, n, &format!("Turn {turn}{filter}"));
            }
            for (n, is_active) in [(2, turn % 2 == 0), (3, turn % 2 == 1)] {
                editor
                    .patch(&format!("/v1/members/{}", member(n)))
                    .json(json!({ "isActive": is_active }))
                    .ok();
            }
            // The size of a page may change on the way.
            path = format!("/v1/members?limit={}{filter}&cursor={cursor}", 1 + turn % 5);
        }
        assert_eq!(seen, before, "each row once, as it stood when the walk began");
        // The largest updatedAt of the walk brings exactly what changed since, and the row that has it.
        let seen_up_to = seen.last().unwrap()["updatedAt"].as_str().unwrap().to_owned();
        let mut known: HashMap<String, Value> = seen
            .iter()
            .map(|row| (row["id"].to_string(), row.clone()))
            .collect();
        for row in editor.walk(&format!("/v1/members?limit=4&updatedSince={seen_up_to}")) {
            known.insert(row["id"].to_string(), row);
        }
        let now = editor.walk("/v1/members?limit=100");
        if filter.is_empty() {
            assert_eq!(now.len(), known.len());
            for row in &now {
                assert_eq!(
                    known.get(&row["id"].to_string()),
                    Some(row),
                    "a synced copy equals the source"
                );
            }
        }
        let stamps: Vec<_> = now.iter().map(|row| row["updatedAt"].to_string()).collect();
        assert!(stamps.is_sorted());
    }
    // Groups moved along with archiving, each time to a stamp of its own.
    let groups = editor.walk("/v1/groups?limit=1");
    let mut stamps: Vec<_> = groups
        .iter()
        .chain(&editor.walk("/v1/members?limit=100"))
        .map(|row| row["updatedAt"].to_string())
        .collect();
    let count = stamps.len();
    stamps.sort();
    stamps.dedup();
    assert_eq!(
        stamps.len(),
        count,
        "no two changes of an organization have one stamp"
    );
}

fn since_a_time(engine: Engine) {
    let world = World::with(engine, FAST);
    let editor = world.editor();
    let changed = rename(&editor, 4, "Later");
    let at = &changed["updatedAt"].as_str().unwrap().to_owned();
    let since = |text: &str| editor.walk(&format!("/v1/members?updatedSince={text}"));
    let found = vec![changed];
    assert_eq!(since(at), found, "inclusive");
    let instant: jiff::Timestamp = at.parse().unwrap();
    let next = (instant + jiff::SignedDuration::from_micros(1)).to_string();
    assert_eq!(since(&next), Vec::<Value>::new());
    // Finer than a microsecond: nothing is at or after it either.
    assert_eq!(since(&at.replace('Z', "001Z")), Vec::<Value>::new());
    // Other offsets, and a plus that arrived as it was typed.
    let shifted = |hours: i64, sign: &str| {
        let moved = instant + jiff::SignedDuration::from_hours(hours);
        let text = format!("{moved:.6}");
        format!("{}{sign}0{}:00", text.trim_end_matches('Z'), hours.abs())
    };
    for text in [
        shifted(2, "%2B"),
        shifted(2, "+"),
        shifted(2, "%20"),
        shifted(-3, "-"),
        at.to_lowercase(),
        at.replace(':', "%3A"),
    ] {
        assert_eq!(since(&text), found, "{text}");
    }
    assert_eq!(since("0001-01-01T00:00:00Z").len(), CELLS.len() + 5);
    assert_eq!(since("9999-12-31T23:59:59Z").len(), 0);
    // Every list takes it, the chapter's roster too.
    for path in [
        "members",
        "groups",
        "payments",
        "reimbursements",
        "reminders",
        "cards",
        "store/listings",
        "store/orders",
        "campaigns",
        "chapters",
    ] {
        assert_eq!(
            world
                .admin()
                .get(&format!("/v1/{path}?updatedSince=2099-01-01T00:00:00Z"))
                .ok()["data"],
            json!([]),
            "{path}"
        );
    }
    let roster = format!(
        "/v1/chapters/{}/members?updatedSince=2099-01-01T00:00:00Z",
        organization(2)
    );
    assert_eq!(editor.get(&roster).ok()["data"], json!([]));
}

#[expect(
    clippy::disallowed_methods,
    reason = "a cursor's age is told by the server's clock"
)]
fn cursors_that_are_not_taken(engine: Engine) {
    let world = World::with(engine, FAST);
    let editor = world.editor();
    let cursor_of = |path: &str| editor.get(path).ok()["nextCursor"].as_str().unwrap().to_owned();
    let since = "2026-01-01T00:00:00Z";
    let cursor = cursor_of(&format!(
        "/v1/payments?limit=1&memberId={}&updatedSince={since}",
        member(2)
    ));
    assert!(
        cursor
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    );
    let page = |query: &str| editor.get(&format!("/v1/payments?{query}cursor={cursor}"));
    // Filters left out are the walk's own; repeated they must say the same, compared as values.
    let plain = page("").ok();
    assert_eq!(plain["data"].as_array().unwrap().len(), 2);
    assert!(
        plain["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|row| row["memberId"] == member(2))
    );
    for same in [
        format!("memberId={}&", member(2)),
        format!("updatedSince={since}&memberId={}&", member(2)),
        "updatedSince=2026-01-01T02:00:00.000%2B02:00&".to_owned(),
        "limit=100&".to_owned(),
    ] {
        assert_eq!(page(&same).ok()["data"], plain["data"], "{same}");
    }
    assert_eq!(page("limit=1&").ok()["data"].as_array().unwrap().len(), 1);
    for other in [
        format!("memberId={}&", member(1)),
        "updatedSince=2026-01-02T00:00:00Z&".into(),
        "status=paid&".into(),
    ] {
        let error = page(&other).refused(400, "invalid_cursor");
        assert_eq!(error["param"], "cursor");
    }
    // Of another list, another organization, damaged, or made up.
    let members = cursor_of("/v1/members?limit=1");
    for path in [
        "groups",
        "reminders",
        "payments",
        "reimbursements",
        "store/listings",
        "store/orders",
        "campaigns",
        "chapters",
        "cards",
    ] {
        editor
            .get(&format!("/v1/{path}?cursor={members}"))
            .refused(400, "invalid_cursor");
    }
    world
        .person("editor", RIVAL)
        .get(&format!("/v1/members?cursor={members}"))
        .refused(400, "invalid_cursor");
    world
        .person("second", NATIONAL)
        .get(&format!("/v1/members?cursor={members}"))
        .ok();
    for i in [0, 5, 20, members.len() - 1] {
        let swapped = if &members[i..=i] == "A" { "B" } else { "A" };
        let damaged = format!("{}{swapped}{}", &members[..i], &members[i + 1..]);
        editor
            .get(&format!("/v1/members?cursor={damaged}"))
            .refused(400, "invalid_cursor");
    }
    for made_up in [
        "",
        "x",
        "AAAA",
        &"A".repeat(66),
        &"A".repeat(5_000),
        &format!("{members}="),
        &format!("{members}A"),
        "null",
        "%00",
        "..%2F..",
        &members[..40],
    ] {
        editor
            .get(&format!("/v1/members?cursor={made_up}"))
            .refused(400, "invalid_cursor");
    }
    editor
        .get(&format!("/v1/members?cursor={members}&cursor={members}"))
        .invalid(Some("cursor"));
    // Of a walk that began more than a day ago, and of a time that this database has not seen.
    let now = jiff::Timestamp::now().as_microsecond();
    let forged = |started_ago_seconds: i64, watermark: i64| {
        let belongs = Belongs {
            organization: OrganizationId::parse(&organization(NATIONAL)).unwrap(),
            path: "/v1/members",
            words: &[],
        };
        let at = |micros: i64| Timestamp::from_micros(micros);
        let after = Position {
            updated_at: at(0),
            id: [0; 16],
        };
        let started_at = at(now - started_ago_seconds * 1_000_000);
        let cursor = Cursor {
            filters: Filters::default(),
            watermark: at(watermark),
            started_at,
            after,
        };
        editor.get(&format!("/v1/members?cursor={}", cursor.encode(belongs)))
    };
    forged(0, 1).ok();
    let late = forged(24 * 3_600 + 60, 1).refused(400, "invalid_cursor");
    assert!(late["message"].as_str().unwrap().contains("24 hours"), "{late}");
    forged(0, now + 3_600_000_000).refused(400, "invalid_cursor");
    // A walk without a next page is over for good: its rows stay what they were, and the cursor can be used again.
    let once = editor
        .get(&format!("/v1/members?limit=100&cursor={members}"))
        .ok();
    rename(&editor, CELLS.start, "Meanwhile");
    editor
        .post("/v1/groups")
        .key("g")
        .json(json!({ "name": "New" }))
        .done(201);
    assert_eq!(
        editor
            .get(&format!("/v1/members?limit=100&cursor={members}"))
            .ok(),
        once
    );
}

/// Anyone can compute a cursor's checksum, and so write a later start into it than the walk had.
fn a_start_that_was_written_anew(engine: Engine) {
    let mut world = World::with(engine, FAST);
    let page = world.editor().get("/v1/members?limit=1").ok();
    let text = page["nextCursor"].as_str().unwrap();
    let changed = rename(&world.editor(), 1, "Later");
    let now = Timestamp::parse(changed["updatedAt"].as_str().unwrap()).unwrap();
    world.start_after(2);
    let belongs = Belongs {
        organization: OrganizationId::parse(&organization(NATIONAL)).unwrap(),
        path: "/v1/members",
        words: &[],
    };
    let walk = Cursor::decode(text, belongs, &Filters::default(), now).unwrap();
    let next = |server: usize, started_at: Timestamp| {
        let forged = Cursor { started_at, ..walk }.encode(belongs);
        world
            .editor()
            .through(server)
            .get(&format!("/v1/members?cursor={forged}"))
    };
    next(0, now).ok();
    next(0, now.plus_seconds(3_600)).refused(400, "invalid_cursor");
    // Two days later the cursor is dead, whatever start it claims.
    let later = now.plus_seconds(2 * 24 * 3_600);
    for started_at in [walk.started_at, later.plus_seconds(-23 * 3_600), later] {
        next(1, started_at).refused(400, "invalid_cursor");
    }
}

/// A client that only ever asks for what changed since the largest stamp it saw ends up with the source, though
/// others write all the while: through two servers where there can be two.
fn a_copy_kept_beside_writers(engine: Engine) {
    const WRITERS: u32 = 4;
    const CHANGES: u32 = 25;
    let mut world = World::with(engine, FAST);
    if engine == Engine::Postgres {
        world.start(FAST);
    }
    let servers = if engine == Engine::Postgres { 2 } else { 1 };
    let editor = world.editor();
    editor.token();
    let writing = AtomicUsize::new(WRITERS as usize);
    let mut copy: HashMap<String, Value> = HashMap::new();
    let (mut since, mut rounds) = ("0001-01-01T00:00:00Z".to_owned(), 0);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (writing, editor) = (&writing, editor.clone().through(writer as usize % servers));
            scope.spawn(move || {
                let mut last = String::new();
                for change in 0..CHANGES {
                    // Each has rows of its own and one that all of them fight for.
                    let n = if change % 5 == 0 {
                        CELLS.start
                    } else {
                        CELLS.start + 1 + (writer * 7 + change) % 39
                    };
                    let changed = rename(&editor, n, &format!("{writer}-{change}"));
                    let at = changed["updatedAt"].as_str().unwrap().to_owned();
                    assert!(at > last, "stamps ascend in the order of commits");
                    last = at;
                }
                writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        loop {
            let is_last = writing.load(Ordering::SeqCst) == 0;
            for row in editor
                .clone()
                .through(rounds % servers)
                .walk(&format!("/v1/members?limit=7&updatedSince={since}"))
            {
                since = row["updatedAt"].as_str().unwrap().to_owned();
                copy.insert(row["id"].to_string(), row);
            }
            rounds += 1;
            if is_last {
                break;
            }
        }
    });
    assert!(rounds > 1);
    let source = editor.walk("/v1/members?limit=100");
    assert_eq!(source.len(), copy.len());
    for row in &source {
        assert_eq!(copy.get(&row["id"].to_string()), Some(row));
    }
}

/// Only an import keeps stamps that are equal; then the ids are the order.
fn rows_with_one_stamp(engine: Engine) {
    let world = World::with(engine, FAST);
    let own = organization(60);
    let mut lines = vec![
        json!({ "type": "organization", "id": own, "name": "Twins", "kind": "independent" }),
        json!({ "type": "user", "id": id("usr", 60), "email": "admin60@people.example" }),
        json!({ "type": "role", "organizationId": own, "userId": id("usr", 60), "role": "admin" }),
    ];
    for n in [3005, 3001, 3007, 3003, 3006, 3002, 3004] {
        lines.push(json!({
            "type": "member", "id": member(n), "organizationId": own, "firstName": "A", "lastName": "B",
            "email": "a@members.example", "createdAt": "2025-01-01T00:00:00Z", "updatedAt": "2025-06-01T00:00:00.5+01:00",
        }));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = world.place.folder.path().join("twins.ndjson");
    std::fs::write(&file, text).unwrap();
    world.run(&["import", file.to_str().unwrap()]);
    let admin = world.admin_of(60);
    let ids: Vec<String> = (3001..3008).map(member).collect();
    for limit in 1..=7 {
        let rows = admin.walk(&format!("/v1/members?limit={limit}"));
        assert!(
            rows.iter()
                .all(|row| row["updatedAt"] == "2025-05-31T23:00:00.500000Z")
        );
        assert_eq!(
            rows.iter()
                .map(|row| row["id"].as_str().unwrap())
                .collect::<Vec<_>>(),
            ids
        );
    }
    // One of them moves away in the middle of a walk, and is still shown where it was.
    let first = admin.get("/v1/members?limit=3").ok();
    rename(&admin, 3005, "Moved");
    rename(&admin, 3002, "Moved");
    let rest = admin.walk(&format!(
        "/v1/members?limit=3&cursor={}",
        first["nextCursor"].as_str().unwrap()
    ));
    assert_eq!(
        rest.iter()
            .map(|row| row["id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ids[3..]
    );
    assert!(rest.iter().all(|row| row["firstName"] == "A"));
    let now = admin.walk("/v1/members?limit=2");
    assert_eq!(
        now[5..]
            .iter()
            .map(|row| row["id"].as_str().unwrap())
            .collect::<Vec<_>>(),
        [member(3005), member(3002)]
    );
}
