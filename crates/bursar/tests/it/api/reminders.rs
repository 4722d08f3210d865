//! Send-now: from which states, to whom, and what is left on disk.

use std::fs;
use std::thread;

use bursar_testing::{Engine, eventually};
use serde_json::{Value, json};

use super::bundle::{NATIONAL, NORTH, reminder};
use super::http::Reply;
use super::world::{Caller, World, on_both_engines};

on_both_engines! { every_target_and_every_disqualification one_offs_and_recurring replays_do_not_send_twice many_at_once_send_once }

fn send(caller: &Caller<'_>, n: u32, key: &str) -> Reply {
    caller
        .post(&format!("/v1/reminders/{}/send", reminder(n)))
        .key(key)
        .send()
}

fn read(caller: &Caller<'_>, n: u32) -> Value {
    let all = caller.walk("/v1/reminders?limit=100");
    all.into_iter().find(|row| row["id"] == reminder(n)).unwrap()
}

/// The messages that were written to files, by whom they are for.
fn letters(world: &World) -> Vec<(String, String)> {
    let Ok(folder) = fs::read_dir(world.place.folder.path().join("outbox")) else {
        return Vec::new();
    };
    let files = folder.map(|entry| entry.unwrap().path());
    let mut letters: Vec<_> = files
        .filter(|file| {
            file.extension()
                .is_some_and(|kind| kind == "eml" || kind == "sms")
        })
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let to = text
                .lines()
                .find_map(|line| line.strip_prefix("To: "))
                .unwrap_or_default()
                .to_owned();
            (to, text)
        })
        .collect();
    letters.sort();
    letters
}

/// The addresses of the messages, once there are so many.
fn wait_for(world: &World, count: usize) -> Vec<String> {
    let found = eventually("the messages are there", || {
        Some(letters(world)).filter(|found| found.len() >= count)
    });
    assert_eq!(found.len(), count, "{found:?}");
    let address = |to: &str| {
        to.rsplit(['<', ' '])
            .next()
            .unwrap_or_default()
            .trim_end_matches('>')
            .to_owned()
    };
    let mut all: Vec<String> = found.iter().map(|(to, _)| address(to)).collect();
    all.sort();
    all
}

fn settled(caller: &Caller<'_>, n: u32) -> Value {
    eventually("the reminder is no longer sending", || {
        Some(read(caller, n)).filter(|row| row["status"] != "sending")
    })
}

fn every_target_and_every_disqualification(engine: Engine) {
    let world = World::with(engine, &["--rate-limit-messaging", "100"]);
    let editor = world.editor();
    // Nobody qualifies: archived, no number for an SMS, a number without a country, nothing owed, nothing owed in
    // this group, an empty group, an organization without a contact, and one that is no neighbour.
    for n in [4, 3, 22, 5, 20, 9, 11, 21] {
        let answer = send(&editor, n, &format!("skip-{n}")).ok();
        assert_eq!(
            (&answer["outcome"], &answer["status"], &answer["sentAt"]),
            (&json!("skipped"), &json!("completed"), &Value::Null),
            "{n}"
        );
        let mut plain = answer.clone();
        plain.as_object_mut().unwrap().shift_remove("outcome");
        assert_eq!(
            read(&editor, n),
            plain,
            "the answer is the reminder, and the outcome after it"
        );
        send(&editor, n, &format!("again-{n}")).refused(409, "conflict");
    }
    assert_eq!(letters(&world).len(), 0);
    let mut expected = Vec::new();
    for (n, addresses) in [
        (1, &["m1@members.example"][..]),
        (2, &["+12025550101"]),
        (6, &["m1@members.example"]),
        (7, &["m1@members.example"]),
        (8, &["m1@members.example", "m2@members.example"]),
        (10, &["north@chapters.example"]),
        (12, &["office@national.example"]),
        (23, &["m4@members.example"]),
    ] {
        let answer = send(&editor, n, &format!("send-{n}")).ok();
        assert_eq!(
            (&answer["outcome"], &answer["status"]),
            (&json!("sent"), &json!("sending")),
            "{n}"
        );
        expected.extend(addresses.iter().map(|address| (*address).to_owned()));
        let done = settled(&editor, n);
        assert_eq!(done["status"], "sent", "{n}");
        assert!(
            done["sentAt"].is_string() && done["updatedAt"].as_str() > answer["updatedAt"].as_str(),
            "{n}"
        );
        expected.sort();
        assert_eq!(wait_for(&world, expected.len()), expected, "{n}");
        send(&editor, n, &format!("again-{n}")).refused(409, "conflict");
    }
    // A chapter may write to its parent.
    let answer = send(&world.admin_of(NORTH), 90, "k").ok();
    assert_eq!(answer["outcome"], "sent");
    expected.push("office@national.example".into());
    expected.sort();
    assert_eq!(wait_for(&world, expected.len()), expected);
    // What is owed is told where the reminder says so: of the group's own payments, or of all.
    let owed: Vec<String> = letters(&world)
        .into_iter()
        .filter(|(_, text)| text.contains("Total owed: "))
        .map(|(_, text)| text)
        .collect();
    assert_eq!(owed.len(), 3);
    assert_eq!(
        owed.iter()
            .filter(|text| text.contains("Total owed: 100.00 USD"))
            .count(),
        2
    );
    assert_eq!(
        owed.iter()
            .filter(|text| text.contains("Total owed: 60.00 USD"))
            .count(),
        1
    );
    assert!(
        letters(&world)
            .iter()
            .any(|(_, text)| text.contains("Subject: Subject 1\r\n"))
    );
}

fn one_offs_and_recurring(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    for (n, status) in [
        (15, "sending"),
        (16, "sent"),
        (17, "failed"),
        (18, "completed"),
        (19, "cancelled"),
    ] {
        let before = read(&editor, n);
        assert_eq!(before["status"], status);
        let error = send(&editor, n, "k").refused(409, "conflict");
        assert!(error["message"].as_str().unwrap().contains(status), "{error}");
        assert_eq!(read(&editor, n), before);
    }
    for n in [900, 999] {
        send(&editor, n, "k").refused(404, "not_found");
    }
    let micros = |value: &Value| {
        value
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
            .as_microsecond()
    };
    let days = |n: i64| n * 86_400_000_000;
    // A delivered run of a recurring reminder: scheduled again, the run's time and 30 days later.
    let answer = send(&editor, 13, "now").ok();
    assert_eq!(
        (&answer["outcome"], &answer["status"]),
        (&json!("sent"), &json!("sending"))
    );
    let after = settled(&editor, 13);
    assert_eq!(after["status"], "scheduled");
    let run_at = micros(&after["scheduledAt"]) - days(30);
    assert!(
        (0..60_000_000).contains(&(micros(&answer["updatedAt"]) - run_at)),
        "{answer} {after}"
    );
    assert!(micros(&after["sentAt"]) >= run_at && micros(&after["sentAt"]) <= micros(&after["updatedAt"]));
    assert_eq!(wait_for(&world, 1), ["m1@members.example"]);
    // Its next run is a new one.
    assert_eq!(send(&editor, 13, "once-more").ok()["outcome"], "sent");
    assert_eq!(wait_for(&world, 2).len(), 2);
    assert!(micros(&settled(&editor, 13)["scheduledAt"]) > micros(&after["scheduledAt"]));
    // A skipped run: scheduled again at once, and never delivered.
    let answer = send(&editor, 14, "skip").ok();
    assert_eq!(
        (&answer["outcome"], &answer["status"], &answer["sentAt"]),
        (&json!("skipped"), &json!("scheduled"), &Value::Null)
    );
    assert!((micros(&answer["updatedAt"]) - (micros(&answer["scheduledAt"]) - days(7))).abs() < 60_000_000);
    let actions: Vec<String> = world
        .activity(NATIONAL)
        .iter()
        .map(|line| line["action"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        actions[..5],
        [
            "reminder.skip",
            "reminder.delivered",
            "reminder.send",
            "reminder.delivered",
            "reminder.send"
        ]
    );
}

fn replays_do_not_send_twice(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    let first = send(&editor, 1, "once");
    settled(&editor, 1);
    for _ in 0..3 {
        let again = send(&editor, 1, "once");
        assert_eq!(
            (again.status, &again.body, again.header("idempotent-replayed")),
            (200, &first.body, Some("true"))
        );
    }
    assert_eq!(
        first.ok()["status"],
        "sending",
        "a replay tells what was, not what is"
    );
    // Another one after it: were there a second copy of the first, it would be there by then.
    send(&editor, 12, "other").ok();
    settled(&editor, 12);
    assert_eq!(
        wait_for(&world, 2),
        ["m1@members.example", "office@national.example"]
    );
    // The messaging bucket pays, and not the write bucket.
    let reply = send(&editor, 999, "k");
    assert_eq!(
        (
            reply.must("ratelimit-policy"),
            reply.number("ratelimit-remaining")
        ),
        ("\"messaging\";q=20;w=60", 14)
    );
}

fn many_at_once_send_once(engine: Engine) {
    let mut world = World::new(engine);
    if engine == Engine::Postgres {
        world.start(&[]);
    }
    let servers = if engine == Engine::Postgres { 2 } else { 1 };
    let editor = world.editor();
    editor.token();
    let replies: Vec<Reply> = thread::scope(|scope| {
        let all: Vec<_> = (0..12)
            .map(|n| {
                let caller = editor.clone().through(n % servers);
                scope.spawn(move || send(&caller, 1, &format!("key-{n}")))
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    for reply in replies.iter().filter(|reply| reply.status != 200) {
        reply.refused(409, "conflict");
    }
    settled(&editor, 1);
    send(&editor, 12, "other").ok();
    settled(&editor, 12);
    assert_eq!(
        wait_for(&world, 2),
        ["m1@members.example", "office@national.example"]
    );
}
