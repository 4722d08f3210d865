//! `bursar sync --follow`: the mirror is seconds behind, at the cost of one request, and survives kills.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use bursar_domain::access::{Scope, ScopeSet};
use bursar_testing::{Engine, eventually, is_full, seed, until};
use serde_json::{Value, json};

use super::{LISTS, Mirror, World, crowd, write};
use crate::api::bundle::{NATIONAL, group, member, organization};
use crate::api::world::on_both_engines;

const FAST: &[&str] = &[
    "--rate-limit-read",
    "1000000",
    "--rate-limit-write",
    "1000000",
    "--rate-limit-messaging",
    "1000000",
];

/// A run that goes on until it is dropped, and what it has printed.
struct Following {
    child: Child,
    printed: Arc<Mutex<Vec<Value>>>,
}

impl Following {
    fn start(mirror: &Mirror, more: &[&str]) -> Self {
        let args = [&["--json", "--follow", "--every", "1"], more].concat();
        let mut child = mirror
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let printed: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (lines, to) = (
            BufReader::new(child.stdout.take().unwrap()).lines(),
            Arc::clone(&printed),
        );
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                to.lock().unwrap().push(serde_json::from_str(&line).unwrap());
            }
        });
        Self { child, printed }
    }

    /// What events brought, without the passes.
    fn applied(&self) -> Vec<Value> {
        let printed = self.printed.lock().unwrap();
        let of_events = printed.iter().filter(|line| line.get("events").is_some());
        of_events.cloned().collect()
    }

    fn has_passed(&self) -> bool {
        !self.printed.lock().unwrap().is_empty()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether every list that has events equals a fresh walk.
fn is_current(world: &World, mirror: &Mirror) -> bool {
    let with_events = LISTS.iter().filter(|(name, _)| *name != "chapters");
    with_events.into_iter().all(|(name, path)| {
        let mut source = world.admin().walk(&format!("{path}?limit=100"));
        source.sort_by_key(|row| row["id"].as_str().unwrap().to_owned());
        mirror.rows(name) == source
    })
}

fn a_change_is_there_within_seconds_at_the_cost_of_one_request(engine: Engine) {
    let world = World::with(engine, FAST);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let following = Following::start(&mirror, &[]);
    until("the first pass is over", || following.has_passed());
    let editor = world.editor();
    let rename = |name: &str| {
        let path = format!("/v1/members/{}", member(2));
        editor.patch(&path).json(json!({ "firstName": name })).ok()
    };
    // A second pass follows the first and may bring what is done meanwhile.
    until("it follows events", || {
        rename("Again and again");
        rename("And again");
        !following.applied().is_empty()
    });
    let before = following.applied().len();
    rename("Once");
    rename("Twice");
    let made = editor
        .post("/v1/groups")
        .key("k")
        .json(json!({ "name": "New" }))
        .done(201);
    until("the mirror is current", || is_current(&world, &mirror));
    assert!(mirror.rows("groups").contains(&made));
    let applied = eventually("both lists are told", || {
        let applied = following.applied().split_off(before);
        let lists = applied.iter().flat_map(|line| line["lists"].as_array().unwrap());
        let is_made = |list: &Value| list["list"] == "groups" && list["new"] == 1;
        lists.clone().any(is_made).then(|| applied.clone())
    });
    for line in &applied {
        assert_eq!(line["requests"], 1, "{line}");
    }
    // The next pass finds nothing that events did not bring.
    drop(following);
    assert!(is_current(&world, &mirror));
    for (list, report) in mirror.sync(&[]) {
        assert_eq!(
            [&report["new"], &report["changed"], &report["removed"]],
            [0, 0, 0],
            "{list}: {report}"
        );
    }
}

fn a_file_that_somebody_touched_is_made_anew(engine: Engine) {
    let world = World::with(engine, FAST);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let _following = Following::start(&mirror, &["--lists", "members,groups"]);
    until("the first pass is over", || {
        mirror.folder().join("groups.ndjson").exists()
    });
    // Two passes begin it. Both are over when an event has come.
    let patch = |name: &str| {
        let path = format!("/v1/groups/{}", group(1));
        world.editor().patch(&path).json(json!({ "name": name })).ok()
    };
    let has = |name: &str| mirror.rows("groups").iter().any(|row| row["name"] == name);
    patch("First");
    until("the change is there", || has("First"));
    let file = mirror.folder().join("groups.ndjson");
    std::fs::write(&file, "").unwrap();
    patch("Second");
    until("everything is there again", || {
        let rows = mirror.rows("groups");
        rows.len() == 4 && rows.iter().any(|row| row["name"] == "Second")
    });
}

fn killed_while_it_follows_it_ends_as_the_source(engine: Engine) {
    let seed = seed();
    let kills = if is_full() { 60 } else { 5 };
    let world = World::with(engine, FAST);
    crowd(&world, 200);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let (stop, mut applied) = (AtomicBool::new(false), 0);
    thread::scope(|scope| {
        for writer in 0..2 {
            let (world, stop) = (&world, &stop);
            scope.spawn(move || write(world, stop, seed + writer));
        }
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..kills {
            let following = Following::start(&mirror, &[]);
            thread::sleep(Duration::from_millis(random.u64(500..6_000)));
            applied += following.applied().len();
        }
        // One more, with writers at work, so that events are applied whatever the chance.
        let following = Following::start(&mirror, &[]);
        until("events are applied", || following.applied().len() > 2);
        stop.store(true, Ordering::Relaxed);
    });
    println!("{kills} kills, {applied} times events were applied before one");
    let _following = Following::start(&mirror, &[]);
    until("the mirror is current", || is_current(&world, &mirror));
}

fn it_needs_events(engine: Engine) {
    let world = World::new(engine);
    let scopes = ScopeSet::of(&[Scope::MembersRead]);
    let token = world.personal_token("viewer@people.example", NATIONAL, scopes);
    let refused = Mirror::new(&world, &token.secret).run(&["--follow"]).failed();
    assert!(
        refused.contains("--follow needs a token with events:read"),
        "{refused}"
    );
    // One with nothing newer than the events that are kept can follow too.
    let scopes = ScopeSet::of(&[Scope::CardsRead, Scope::GroupsRead, Scope::EventsRead]);
    let token = world.personal_token("admin@people.example", NATIONAL, scopes);
    let mirror = Mirror::new(&world, &token.secret);
    let following = Following::start(&mirror, &["--lists", "groups"]);
    until("the first pass is over", || following.has_passed());
    let path = format!("/v1/groups/{}", group(1));
    let changed = world.editor().patch(&path).json(json!({ "name": "Other" })).ok();
    until("the change is there", || mirror.rows("groups").contains(&changed));
    assert_eq!(
        mirror.state().unwrap()["organizationId"],
        organization(NATIONAL).as_str()
    );
}

on_both_engines! {
    a_change_is_there_within_seconds_at_the_cost_of_one_request
    a_file_that_somebody_touched_is_made_anew
    killed_while_it_follows_it_ends_as_the_source
    it_needs_events
}
