//! `bursar sync`: the mirror equals the source, whatever happens on the way.

mod follow;
mod hostile;
mod more_lists;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bursar_domain::access::{Scope, ScopeSet};
use bursar_testing::{Engine, eventually, is_full, seed};
use serde_json::{Value, json};

use crate::api::bundle::{CELLS, NATIONAL, NORTH, ROSTER, group, id, member, organization};
use crate::api::world::{World, on_both_engines};
use crate::support::{Done, bursar, finish};

/// The lists there are, by the names of their files.
const LISTS: [(&str, &str); 10] = [
    ("cards", "/v1/cards"),
    ("reminders", "/v1/reminders"),
    ("members", "/v1/members"),
    ("groups", "/v1/groups"),
    ("chapters", "/v1/chapters"),
    ("reimbursements", "/v1/reimbursements"),
    ("payments", "/v1/payments"),
    ("campaigns", "/v1/campaigns"),
    ("store-listings", "/v1/store/listings"),
    ("store-orders", "/v1/store/orders"),
];

/// A token and a folder beside a server.
struct Mirror {
    url: String,
    secret: String,
    home: tempfile::TempDir,
}

impl Mirror {
    fn new(world: &World, secret: &str) -> Self {
        Self::of(format!("http://{}", world.server().address), secret)
    }

    fn of(url: String, secret: &str) -> Self {
        Mirror {
            url,
            secret: secret.to_owned(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("mirror")
    }

    /// The command, with the token where other users cannot see it, and no database anywhere near.
    fn command(&self, more: &[&str]) -> Command {
        let mut command = bursar(self.home.path());
        command
            .env("BURSAR_TOKEN", &self.secret)
            .args(["sync", "--url", &self.url, "--to", "mirror"])
            .args(more);
        command
    }

    #[track_caller]
    fn run(&self, more: &[&str]) -> Done {
        let done = finish(&mut self.command(more));
        assert!(!done.stdout.contains(&self.secret) && !done.stderr.contains(&self.secret));
        done
    }

    /// Runs it to its end; what it did to each list.
    #[track_caller]
    fn sync(&self, more: &[&str]) -> HashMap<String, Value> {
        let said = self.run(&[&["--json"], more].concat()).succeeded();
        let summary: Value = serde_json::from_str(&said).unwrap();
        let reports = summary["lists"].as_array().unwrap();
        reports
            .iter()
            .map(|report| (report["list"].as_str().unwrap().to_owned(), report.clone()))
            .collect()
    }

    fn spawn(&self, more: &[&str]) -> Child {
        let mut command = self.command(more);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    fn rows(&self, list: &str) -> Vec<Value> {
        read(&self.folder().join(format!("{list}.ndjson")))
    }

    fn state(&self) -> Option<Value> {
        let text = std::fs::read(self.folder().join(".bursar-sync/state.json")).ok()?;
        Some(serde_json::from_slice(&text).unwrap())
    }
}

/// The rows of a file, which must be in the order of their ids.
fn read(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    let rows: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: Vec<&str> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{}: {ids:?}", file.display());
    rows
}

/// Compares every list with a fresh walk of it, field by field; how many rows there are.
fn compare(world: &World, mirror: &Mirror) -> usize {
    let chapter = format!("/v1/chapters/{}/members", organization(NORTH));
    let roster = format!("chapter-{}", organization(NORTH));
    let lists = LISTS.iter().copied().chain([(roster.as_str(), chapter.as_str())]);
    let mut count = 0;
    for (name, path) in lists {
        let mut source = world.admin().walk(&format!("{path}?limit=100"));
        source.sort_by_key(|row| row["id"].as_str().unwrap().to_owned());
        let mirrored = mirror.rows(name);
        assert_eq!(mirrored.len(), source.len(), "{name}");
        for (mirrored, source) in mirrored.iter().zip(&source) {
            assert_eq!(mirrored, source, "{name}");
        }
        count += source.len();
    }
    count
}

/// More members than the world has, so that a walk of them is long.
fn crowd(world: &World, count: u32) {
    let line = |n| {
        json!({
            "type": "member", "id": member(n), "organizationId": organization(NATIONAL), "firstName": "Of", "lastName": "Many",
            "email": "many@members.example", "groups": [group(2)],
        })
        .to_string()
    };
    let text: Vec<String> = (3000..3000 + count).map(line).collect();
    let file = world.place.folder.path().join("crowd.ndjson");
    std::fs::write(&file, text.join("\n")).unwrap();
    world.run(&["import", file.to_str().unwrap()]);
}

/// Changes all that the API can change, again and again, until it is told to stop; how many changes there were.
fn write(world: &World, stop: &AtomicBool, seed: u64) -> u64 {
    let (editor, north) = (world.editor(), world.admin_of(NORTH));
    let mut random = fastrand::Rng::with_seed(seed);
    let mut writes = 0;
    while !stop.load(Ordering::Relaxed) {
        let n = random.u32(..);
        let name = json!({ "firstName": format!("Name {n}"), "isActive": !n.is_multiple_of(5) });
        match random.u32(..8) {
            0 => editor
                .patch(&format!("/v1/members/{}", member(random.u32(CELLS))))
                .json(name)
                .ok(),
            1..4 => editor
                .patch(&format!("/v1/members/{}", member(3000 + random.u32(..200))))
                .json(name)
                .ok(),
            4 => north
                .patch(&format!("/v1/members/{}", member(random.u32(ROSTER))))
                .json(name)
                .ok(),
            5 => editor
                .post("/v1/groups")
                .key(&format!("k{n}-{writes}"))
                .json(json!({ "name": format!("G {n}") }))
                .done(201),
            6 => editor
                .patch(&format!("/v1/groups/{}", group(1)))
                .json(json!({ "name": format!("Rowers {n}") }))
                .ok(),
            _ => {
                let path = format!(
                    "/v1/groups/{}/members/{}",
                    group(2),
                    member(3000 + random.u32(..200))
                );
                // It is 404 the second time.
                let reply = editor.delete(&path).send();
                assert!(matches!(reply.status, 200 | 404), "{}", reply.status);
                Value::Null
            }
        };
        writes += 1;
        thread::sleep(Duration::from_millis(1));
    }
    writes
}

fn killed_and_resumed_it_ends_as_the_source(engine: Engine) {
    let seed = seed();
    let kills = if is_full() { 200 } else { 15 };
    let limits = [
        "--rate-limit-read",
        "1000000",
        "--rate-limit-write",
        "1000000",
        "--rate-limit-messaging",
        "1000000",
    ];
    let world = World::with(engine, &limits);
    crowd(&world, 200);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let north = organization(NORTH);
    let (stop, writes) = (AtomicBool::new(false), AtomicU64::new(0));
    let (mut killed, mut ended, mut resumed) = (0, 0, 0);
    thread::scope(|scope| {
        for writer in 0..2 {
            let (world, stop, writes) = (&world, &stop, &writes);
            scope.spawn(move || writes.fetch_add(write(world, stop, seed + writer), Ordering::Relaxed));
        }
        let mut random = fastrand::Rng::with_seed(seed);
        while killed < kills {
            // Small pages make long walks, and a full one asks for everything again.
            let size = random.u32(1..8).to_string();
            let mut args = vec!["--page-size", &size, "--chapter", &north];
            if random.u32(..4) == 0 {
                args.push("--full");
            }
            if random.bool() {
                args.extend(["--lists", "members,groups"]);
            }
            let mut child = mirror.spawn(&args);
            thread::sleep(Duration::from_millis(random.u64(..1_200)));
            match child.try_wait().unwrap() {
                Some(status) => {
                    let said = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
                    assert!(status.success(), "{said}");
                    ended += 1;
                }
                None => {
                    child.kill().unwrap();
                    child.wait().unwrap();
                    killed += 1;
                }
            }
            let state = mirror.state();
            let lists = state.as_ref().and_then(|state| state["lists"].as_object());
            let under_way = |list: &Value| list["walk"]["cursor"].is_string();
            resumed += u32::from(lists.is_some_and(|lists| lists.values().any(under_way)));
        }
        stop.store(true, Ordering::Relaxed);
    });
    let reports = mirror.sync(&["--chapter", &north]);
    assert_eq!(reports.len(), LISTS.len() + 1);
    let rows = compare(&world, &mirror);
    println!(
        "{killed} kills, {resumed} of them in the midst of a walk, {ended} runs to the end, {} writes, {rows} rows",
        writes.into_inner()
    );
    assert!(resumed > 0, "no kill was in the midst of a walk");
    // What is left over is gone, and a further run finds nothing new.
    for (list, report) in mirror.sync(&["--chapter", &north]) {
        assert_eq!(
            [&report["new"], &report["changed"], &report["removed"]],
            [0, 0, 0],
            "{list}: {report}"
        );
    }
    let mut left: Vec<String> = std::fs::read_dir(mirror.folder().join(".bursar-sync"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["lock", "state.json"]);
}

fn it_brings_what_changed_and_nothing_else(engine: Engine) {
    let world = World::new(engine);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let first = mirror.sync(&["--chapter", &organization(NORTH)]);
    compare(&world, &mirror);
    let members = &first["members"];
    assert_eq!(members["new"], members["rows"]);
    world
        .editor()
        .patch(&format!("/v1/members/{}", member(2)))
        .json(json!({ "firstName": "Other" }))
        .ok();
    let made = world
        .editor()
        .post("/v1/groups")
        .key("k")
        .json(json!({ "name": "New" }))
        .done(201);
    let again = mirror.sync(&[]);
    compare(&world, &mirror);
    let did = |list: &str| {
        let report = &again[list];
        ["new", "changed", "removed"].map(|key| report[key].as_u64().unwrap())
    };
    assert_eq!(
        (did("members"), did("groups"), did("payments")),
        ([0, 1, 0], [1, 0, 0], [0, 0, 0])
    );
    assert_eq!(again["members"]["requests"], 1);
    assert!(mirror.rows("groups").contains(&made));

    // For people it is a table.
    let said = mirror.run(&["--lists", "members,groups"]).succeeded();
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("LIST") && lines.len() == 3, "{said}");
    assert!(
        lines[1].starts_with("members") && lines[2].starts_with("groups"),
        "{said}"
    );

    // Whoever touches a file gets it back; whoever removes a row from it too.
    let file = mirror.folder().join("members.ndjson");
    let text = std::fs::read_to_string(&file).unwrap();
    for touched in [
        text.replacen("Other", "Somebody", 1),
        text.lines().next().unwrap().to_owned(),
    ] {
        std::fs::write(&file, touched).unwrap();
        let said = mirror.run(&[]).succeeded();
        assert!(
            said.contains("members: members.ndjson was changed or removed"),
            "{said}"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    std::fs::remove_file(&file).unwrap();
    mirror.sync(&["--lists", "members"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
}

fn a_cursor_that_is_too_old_costs_nothing(engine: Engine) {
    let mut world = World::with(engine, &["--rate-limit-read", "1000000"]);
    crowd(&world, 200);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let mut child = mirror.spawn(&["--page-size", "1", "--lists", "members"]);
    let seen = |mirror: &Mirror| {
        let journal = mirror.folder().join(".bursar-sync/members.journal");
        std::fs::read_to_string(journal).map_or(0, |text| text.lines().count())
    };
    eventually("some pages have come", || (seen(&mirror) > 20).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = seen(&mirror);
    world.start_after(2);
    let later = Mirror {
        url: format!("http://{}", world.admin().through(1).ask("GET", "/").address()),
        ..mirror
    };
    let refused = later.run(&["--lists", "members"]).failed();
    assert!(
        refused.contains("--moved once if it is the same server"),
        "{refused}"
    );
    let report = &later.sync(&["--moved", "--page-size", "10", "--chapter", &organization(NORTH)])["members"];
    assert_eq!(report["isResumed"], true, "{report}");
    // One request that was refused, only the pages that were missing, and one for what came since.
    let rows = usize::try_from(report["rows"].as_u64().unwrap()).unwrap();
    let pages = usize::try_from(report["pages"].as_u64().unwrap()).unwrap();
    assert!(
        pages <= (rows - before) / 10 + 3,
        "{before} rows were here: {report}"
    );
    assert_eq!(report["requests"].as_u64().unwrap(), pages as u64 + 1, "{report}");
    compare(&world, &later);
}

fn what_the_token_may_not_read_is_left_out(engine: Engine) {
    let world = World::new(engine);
    let scopes = ScopeSet::of(&[Scope::MembersRead, Scope::GroupsRead, Scope::CardsRead]);
    let token = world.personal_token("viewer@people.example", NATIONAL, scopes);
    let mirror = Mirror::new(&world, &token.secret);
    let said = mirror.run(&[]).succeeded();
    assert!(
        said.contains("\ncards: skipped, the token lacks cards:read"),
        "{said}"
    );
    assert!(!mirror.folder().join("payments.ndjson").exists());
    assert_eq!(mirror.rows("groups").len(), 4);
    let refused = mirror.run(&["--lists", "payments,members"]).failed();
    assert!(
        refused.contains("payments cannot be mirrored: the token lacks payments:read"),
        "{refused}"
    );
    let refused = mirror.run(&["--chapter", &organization(NORTH)]).failed();
    assert!(refused.contains("the token lacks chapters:read"), "{refused}");

    // A chapter that is none of ours stops nothing else.
    let admin = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let done = admin.run(&["--chapter", &id("org", 5)]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.one_line().contains("not mirrored: chapter-org_"),
        "{}",
        done.stderr
    );
    assert_eq!(admin.rows("groups").len(), 4);

    // A folder is of one organization, and a revoked token says what to do.
    let other = Mirror {
        secret: world.admin_of(5).token().unwrap().secret,
        ..mirror
    };
    let refused = other.run(&[]).failed();
    assert!(
        refused.contains("mirrors organization") && refused.contains("give --to another folder"),
        "{refused}"
    );
    world.run(&["token", "revoke", &token.id]);
    let gone = Mirror {
        secret: token.secret,
        ..other
    };
    let refused = gone.run(&[]).failed();
    assert!(refused.contains("`bursar token create`"), "{refused}");
}

on_both_engines! {
    killed_and_resumed_it_ends_as_the_source
    it_brings_what_changed_and_nothing_else
    a_cursor_that_is_too_old_costs_nothing
    what_the_token_may_not_read_is_left_out
}

#[test]
fn the_token_comes_from_a_file_or_a_variable() {
    let world = World::new(Engine::Sqlite);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let file = mirror.home.path().join("token");
    std::fs::write(&file, format!("{}\n", mirror.secret)).unwrap();
    let with_file = || {
        let mut command = mirror.command(&["--token-file", "token", "--lists", "groups"]);
        command.env_remove("BURSAR_TOKEN");
        command
    };
    finish(&mut with_file()).succeeded();
    // The file goes before the variable.
    finish(with_file().env("BURSAR_TOKEN", "wrong")).succeeded();
    std::fs::write(&file, "two words").unwrap();
    let refused = finish(&mut with_file()).failed();
    assert!(
        refused.contains("one word") && !refused.contains("two words"),
        "{refused}"
    );
    std::fs::remove_file(&file).unwrap();
    assert!(
        finish(&mut with_file())
            .failed()
            .contains("--token-file token cannot be read")
    );
    let none = finish(mirror.command(&[]).env_remove("BURSAR_TOKEN")).failed();
    assert!(none.contains("a token is needed: --token-file FILE"), "{none}");
}

/// A kill leaves the kernel's buffers whole; a power cut does not. So the calls that write and sync are put on record.
#[test]
fn a_page_is_on_the_disk_before_the_place_after_it_is_noted() {
    let world = World::new(Engine::Sqlite);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let record = mirror.home.path().join("record");
    let mut command = mirror.command(&["--page-size", "5"]);
    command
        .env("LD_PRELOAD", crate::crash::recorder(mirror.home.path()))
        .env("BURSAR_TEST_RECORD", &record);
    finish(&mut command).succeeded();

    let record = std::fs::read_to_string(record).unwrap();
    // What was written or renamed and is not known to be on the disk.
    let mut loose: Vec<&str> = Vec::new();
    let (mut notes, mut merges) = (0, 0);
    for line in record.lines() {
        let (call, path) = line.split_once(' ').unwrap();
        let name = path.rsplit('/').next().unwrap();
        let is_ours = name.ends_with(".journal") || name.ends_with(".merged") || name == "state.json.new";
        match call {
            "write" if is_ours => {
                let others: Vec<&&str> = loose.iter().filter(|other| **other != name).collect();
                assert!(
                    others.is_empty(),
                    "{name} was written before {others:?} was on the disk"
                );
                if !loose.contains(&name) {
                    loose.push(name);
                }
            }
            "sync" => {
                loose.retain(|other| *other != name);
                // The next thing done to these is a rename, which is on the disk with its folder.
                if name == "state.json.new" {
                    loose.push(".bursar-sync");
                    notes += 1;
                }
                if name.ends_with(".merged") {
                    loose.push("mirror");
                    merges += 1;
                }
            }
            _ => {}
        }
    }
    assert_eq!(loose, [""; 0]);
    // Each list is noted at its beginning, after each page, and at its end.
    assert!(notes > 30 && merges == LISTS.len(), "{notes} {merges}\n{record}");
}

#[test]
fn two_do_not_work_in_one_folder() {
    let world = World::with(Engine::Sqlite, &["--rate-limit-read", "1000000"]);
    crowd(&world, 200);
    let mirror = Mirror::new(&world, &world.admin().token().unwrap().secret);
    let mut child = mirror.spawn(&["--page-size", "1"]);
    eventually("it is at work", || mirror.state());
    let refused = mirror.run(&[]).failed();
    assert!(
        refused.contains("another bursar sync is at work in mirror"),
        "{refused}"
    );
    assert!(child.wait().unwrap().success());
}

/// A window is a minute, so only the long tests wait for its end.
#[test]
fn low_limits_are_waited_for() {
    let world = World::apart(Engine::Sqlite, &["--rate-limit-read", "30"]);
    let scopes = ScopeSet::of(&[Scope::MembersRead]);
    let token = world.service_token(bursar_domain::access::Role::Viewer, NATIONAL, scopes);
    let mirror = Mirror::new(&world, &token.secret);
    let refused = || world.server().log().matches("\"status\":429").count();
    if is_full() {
        let report = &mirror.sync(&["--page-size", "1"])["members"];
        assert!(
            report["waits"].as_u64() >= Some(1) && report["waitedSeconds"].as_f64() > Some(1.0),
            "{report}"
        );
        assert_eq!(report["rows"], 45);
        assert_eq!(refused() as u64, report["waits"].as_u64().unwrap(), "{report}");
        return;
    }
    let mut child = mirror.spawn(&["--page-size", "1"]);
    eventually("the bucket is empty", || (refused() > 0).then_some(()));
    // Whoever asks again at once would be refused hundreds of times by now.
    thread::sleep(Duration::from_secs(2));
    assert_eq!(refused(), 1);
    child.kill().unwrap();
    child.wait().unwrap();
}
