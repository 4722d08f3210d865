//! A server whose clock is a year ahead for some seconds leaves no trace, on both engines.

use std::thread;
use std::time::Duration;

use bursar_domain::Timestamp;
use bursar_testing::{Engine, eventually};
use serde_json::{Value, json};

use super::bundle::{CELLS, NATIONAL, group, member, organization, reminder};
use super::http;
use super::world::{World, on_both_engines};

on_both_engines! { a_year_ahead_for_eight_seconds }

/// Mail goes nowhere.
const UNREACHABLE: &[&str] = &["--smtp-url", "smtp://127.0.0.1:9?tls=none"];

fn a_year_ahead_for_eight_seconds(engine: Engine) {
    let mut world = World::apart(engine, UNREACHABLE);
    let own = organization(NATIONAL);
    let editor = world.editor();
    let name = json!({"name": "Once"});
    let made = editor.post("/v1/groups").key("leap").json(name.clone()).done(201);
    let now = Timestamp::parse(made["createdAt"].as_str().unwrap()).unwrap();
    let in_days = |days: i64| now.plus_days(days).date().to_string();

    // Next year's dues, reminder and end of a campaign.
    let run = |args: &[&str]| world.run(&[args, &["--organization", &own]].concat());
    let (group, due) = (group(2), in_days(200));
    run(&[
        "dues", "set", "--group", &group, "--amount", "10", "--due", &due, "--every", "annual",
    ]);
    let at = now.plus_days(200).to_string();
    let next = run(&[
        "reminder", "schedule", "--group", &group, "--at", &at, "--body", "B",
    ]);
    let campaign = run(&[
        "campaign",
        "create",
        "--name",
        "Boat",
        "--end-date",
        &in_days(100),
    ]);
    world.run(&["campaign", "start", campaign["id"].as_str().unwrap()]);

    // A walk is under way whose next pages need old versions, and mail that could not be delivered waits.
    let page = editor.get("/v1/members?limit=10").ok();
    let cursor = page["nextCursor"].as_str().unwrap().to_owned();
    for n in CELLS {
        let path = format!("/v1/members/{}", member(n));
        editor.patch(&path).json(json!({"firstName": "Changed"})).ok();
    }
    let path = format!("/v1/reminders/{}/send", reminder(CELLS.start));
    editor.post(&path).key("send").send().ok();
    let message = || -> Value { world.run(&["messages", "--organization", &own])[0].clone() };
    eventually("the mail was tried", || {
        (message()["attempts"].as_i64() >= Some(1)).then_some(())
    });
    world.server().signal("INT");
    world.server_mut().ended();

    let metrics = bursar_testing::free_address().to_string();
    let flags = [UNREACHABLE, &["--metrics-listen", &metrics]].concat();
    world.start_after_with(365, &flags);
    let leapt = world.server_of(1);
    eventually("it says what is wrong", || {
        leapt.log().contains("the clock cannot be trusted").then_some(())
    });
    let scraped = http::exchange(
        metrics.parse().unwrap(),
        b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    );
    assert!(
        scraped.body.contains("\nbursar_worker_clock_held 1\n"),
        "{}",
        scraped.body
    );
    thread::sleep(Duration::from_secs(8));
    assert_eq!(
        leapt.log().matches("the clock cannot be trusted").count(),
        1,
        "once a change of state"
    );
    leapt.signal("INT");
    world.server_of_mut(1).ended();

    world.start(&[]);
    let editor = world.editor().through(2);
    let replayed = editor.post("/v1/groups").key("leap").json(name);
    assert_eq!(
        replayed.header("idempotent-replayed"),
        Some("true"),
        "{}",
        replayed.body
    );
    assert_eq!(replayed.json(), made);
    let rest = editor.walk(&format!("/v1/members?limit=10&cursor={cursor}"));
    assert_eq!(rest.len(), CELLS.len() + 5 - 10, "a walk is complete");
    let raised = editor.walk("/v1/payments?limit=100");
    assert!(
        raised.iter().all(|payment| payment["dueDate"] != due),
        "{raised:?}"
    );
    let reminders = editor.walk("/v1/reminders?limit=100");
    let kept = reminders.iter().find(|row| row["id"] == next["id"]).unwrap();
    assert_eq!(
        (&kept["status"], &kept["scheduledAt"]),
        (&json!("scheduled"), &json!(at))
    );
    let campaigns = world.run(&["campaign", "list", "--organization", &own]);
    let kept = campaigns
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["id"] == campaign["id"]);
    assert_eq!(kept.unwrap()["status"], "active");
    let message = world.run(&["messages", "--organization", &own])[0].clone();
    let next = message["nextAttemptAt"].as_str().or(message["endedAt"].as_str());
    let next = Timestamp::parse(next.unwrap()).unwrap();
    assert!(next < now.plus_days(1), "{message}");
    assert!(!world.server_of(2).log().contains("cannot be trusted"));
}
