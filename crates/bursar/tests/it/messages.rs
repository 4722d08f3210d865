//! Messages by the real program: commands, a worker of its own, and workers that are killed at any moment.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bursar_domain::Timestamp;
use bursar_domain::ids::{IdSource, MemberId, OrganizationId, ReminderId};
use serde_json::Value;

use crate::sink::{Deed, Sink, Stage};
use crate::support::{Place, both_engines, is_full, kill, random, roster};

/// The time on the wall, so many seconds later.
#[expect(
    clippy::disallowed_methods,
    reason = "the program under test reads the real clock"
)]
fn in_seconds(seconds: u64) -> Timestamp {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    Timestamp::from_micros(
        i64::try_from(since.as_micros()).unwrap() + i64::try_from(seconds).unwrap() * 1_000_000,
    )
}

fn worker(place: &Place, sink: &Sink) -> Child {
    let mut command = place.command(&[
        "worker",
        "--worker-lease",
        "2s",
        "--log-level",
        "off",
        "--smtp-url",
    ]);
    command
        .arg(sink.url())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

pub(crate) fn terminate(child: &mut Child) {
    let told = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(told.unwrap().success());
    assert!(child.wait().unwrap().success(), "it drains and ends well");
}

/// One reminder to each of this many members, due in three seconds.
fn reminders(count: usize) -> (OrganizationId, String) {
    let mut ids = IdSource::seeded(random());
    let (past, due) = (Timestamp::from_micros(1_735_689_600_000_000), in_seconds(3));
    let organization: OrganizationId = ids.next(past);
    let mut text = format!(
        "{{\"type\":\"organization\",\"id\":\"{organization}\",\"name\":\"Rowers\",\"kind\":\"independent\"}}\n"
    );
    for n in 0..count {
        let (member, reminder): (MemberId, ReminderId) = (ids.next(past), ids.next(past));
        let _ = writeln!(
            text,
            r#"{{"type":"member","id":"{member}","organizationId":"{organization}","firstName":"Ada","lastName":"Łoś","email":"m{n}@example.org"}}"#
        );
        let _ = writeln!(
            text,
            r#"{{"type":"reminder","id":"{reminder}","organizationId":"{organization}","targetMemberId":"{member}","method":"email","subject":"Dues","body":"Pay","scheduledAt":"{due}"}}"#
        );
    }
    (organization, text)
}

/// How many messages are in each state.
fn states(place: &Place, organization: OrganizationId) -> HashMap<String, usize> {
    let listed = place.json(&[
        "messages",
        "--organization",
        &organization.to_string(),
        "--limit",
        "100000",
    ]);
    let mut counts = HashMap::new();
    for message in listed.as_array().unwrap() {
        *counts
            .entry(message["state"].as_str().unwrap().to_owned())
            .or_default() += 1;
    }
    counts
}

/// Two workers share the work while one of them is killed every few hundred milliseconds, and a tenth of the mails
/// lose their reply. Everybody has the mail; one has it twice only where a reply was lost.
fn killed_workers_lose_nothing(place: &Place) {
    let count = if is_full() { 1_000 } else { 100 };
    let (organization, text) = reminders(count);
    place.import(place.bundle("reminders.ndjson", &text));
    let sink = Sink::start(|stage| match stage {
        Stage::Mail(text, 0) if text.contains("0@example.org") => Deed::TakeAndCut,
        Stage::Mail(..) => Deed::Wait(Duration::from_millis(15)),
        _ => Deed::Accept,
    });
    let mut workers = [worker(place, &sink), worker(place, &sink)];
    let (since, mut kills) = (Instant::now(), 0);
    let kills_max = if is_full() { 200 } else { 30 };
    loop {
        std::thread::sleep(Duration::from_millis(150 + random() % 300));
        if kills < kills_max {
            let victim = &mut workers[kills % 2];
            kill(victim.id());
            assert!(!victim.wait().unwrap().success());
            *victim = worker(place, &sink);
            kills += 1;
        } else {
            std::thread::sleep(Duration::from_millis(500));
        }
        // Nothing is made before the time has come, and then all of it is.
        if kills % 5 == 0 && states(place, organization).get("delivered") == Some(&count) {
            break;
        }
        assert!(
            since.elapsed() < Duration::from_secs(240),
            "{:?}",
            states(place, organization)
        );
    }
    workers.iter_mut().for_each(terminate);

    let mut copies: HashMap<String, Vec<String>> = HashMap::new();
    let mut cuts = 0;
    for mail in sink.mails() {
        assert_eq!(mail.to.len(), 1);
        cuts += usize::from(mail.is_reply_lost);
        copies.entry(mail.to[0].clone()).or_default().push(mail.text);
    }
    assert_eq!(copies.len(), count, "everybody has it");
    let duplicates: usize = copies.values().map(|copies| copies.len() - 1).sum();
    println!("{count} recipients, {kills} kills, {cuts} replies cut, {duplicates} duplicates");
    assert!(cuts >= count / 10, "{cuts}");
    // A worker has one mail in hand, so a kill can lose one reply.
    assert!(
        (cuts..=cuts + kills).contains(&duplicates),
        "{duplicates} duplicates, {cuts} cuts, {kills} kills"
    );
    for copies in copies.values() {
        assert!(
            copies.iter().all(|copy| *copy == copies[0]),
            "a copy is the same mail"
        );
    }
    let listed = place.json(&[
        "reminder",
        "list",
        "--organization",
        &organization.to_string(),
        "--status",
        "sent",
    ]);
    assert_eq!(listed.as_array().unwrap().len(), count);
    place.check();
}

#[test]
fn killed_workers_lose_nothing_on_sqlite() {
    killed_workers_lose_nothing(&Place::sqlite());
}

#[test]
fn killed_workers_lose_nothing_on_postgres() {
    killed_workers_lose_nothing(&Place::postgres());
}

#[test]
fn reminders_by_command() {
    both_engines(|place| {
        let roster = roster(2);
        place.import(place.bundle("roster.ndjson", &roster.text));
        let (org, group) = (roster.organization.to_string(), roster.group.to_string());
        let schedule = [
            "reminder",
            "schedule",
            "--organization",
            &org,
            "--group",
            &group,
            "--subject",
            "S",
            "--body",
            "B",
        ];
        let with =
            |more: &[&str]| -> Vec<String> { schedule.iter().chain(more).map(|s| (*s).to_owned()).collect() };
        let later = place.json(&with(&["--at", "2099-01-01T00:00:00Z", "--every-days", "30"]));
        assert_eq!(
            (&later["status"], &later["recurringIntervalDays"]),
            (&"scheduled".into(), &30.into())
        );
        let now = place.json(&with(&["--at", "now"]));
        let now_id = now["id"].as_str().unwrap();
        for (args, said) in [
            (
                with(&["--at", "tomorrow"]),
                "--at must be `now` or a time with an offset",
            ),
            (
                with(&["--at", "2020-01-01T00:00:00Z"]),
                "scheduledAt must not be in the past",
            ),
        ] {
            let refused = place.refused(&args);
            assert!(refused.contains(said), "{refused}");
        }
        let (sink, id) = (Sink::kind(), later["id"].as_str().unwrap());
        let mut worker = worker(place, &sink);
        let since = Instant::now();
        while states(place, roster.organization).get("delivered") != Some(&2) {
            assert!(since.elapsed() < Duration::from_secs(30));
        }
        terminate(&mut worker);
        let cancelled = place.ok(&["reminder", "cancel", id, "--organization", &org]);
        assert_eq!(cancelled.trim(), format!("reminder {id} is called off"));
        let again = place.refused(&["reminder", "cancel", id, "--organization", &org]);
        assert!(
            again.contains("is cancelled and cannot become cancelled"),
            "{again}"
        );
        let retry = place.refused(&["reminder", "retry", now_id, "--organization", &org]);
        assert!(
            retry.contains("is sent; only a failed one can be sent again"),
            "{retry}"
        );
        let listed = place.ok(&["messages", "--organization", &org, "--reminder", now_id]);
        assert_eq!(listed.lines().count(), 3, "{listed}");
        assert!(
            listed.contains("delivered") && listed.contains("250 2.0.0 Ok: queued as 4711"),
            "{listed}"
        );
        let message = place.json(&["messages", "--organization", &org, "--limit", "1"]);
        let message_id = message[0]["id"].as_str().unwrap();
        let refused = place.refused(&["messages", "--organization", &org, "--retry", message_id]);
        assert!(
            refused.contains("is delivered; only a failed message can be sent again"),
            "{refused}"
        );
        let log = place.ok(&["activity", "--organization", &org]);
        assert!(
            log.contains("the operator called off reminder")
                && log.contains("the service delivered reminder"),
            "{log}"
        );
    });
}

#[test]
fn dues_by_command() {
    both_engines(|place| {
        let roster = roster(3);
        place.import(place.bundle("roster.ndjson", &roster.text));
        let (org, group) = (roster.organization.to_string(), roster.group.to_string());
        let today = in_seconds(0).date().to_string();
        let dues = |command: &str, more: &[&str]| -> Vec<String> {
            let args = ["dues", command, "--organization", &org, "--group", &group];
            args.iter().chain(more).map(|s| (*s).to_owned()).collect()
        };
        let none = place.refused(&dues("raise", &[]));
        assert!(
            none.contains("has no dues to raise; give it some with `bursar dues set`"),
            "{none}"
        );
        place.ok(&dues(
            "set",
            &["--amount", "12.5", "--due", &today, "--every", "annual"],
        ));
        let preview: Value = place.json(&dues("raise", &["--dry-run"]));
        assert_eq!(
            (&preview["count"], &preview["total"]),
            (&3.into(), &"37.50".into())
        );
        assert_eq!(preview["periods"][0]["members"].as_array().unwrap().len(), 3);
        let shown = place.ok(&dues("raise", &["--dry-run"]));
        assert!(
            shown.ends_with("total: 3 payments, 37.50 USD; nothing was written\n"),
            "{shown}"
        );
        assert_eq!(place.json(&dues("raise", &[]))["payments"], 3);
        let again = place.refused(&dues("raise", &[]));
        assert!(again.contains("fall due on"), "{again}");
        let shown = place.json(&dues("show", &[]));
        assert_eq!(shown["periods"][0]["isDue"], false);
        place.ok(&dues("set", &["--none"]));
        assert!(place.ok(&dues("show", &[])).contains("has no dues"));
        place.check();
    });
}

#[test]
fn a_worker_says_what_is_wrong_with_its_servers() {
    let place = Place::sqlite();
    place.import(place.bundle("roster.ndjson", &roster(0).text));
    for (args, said) in [
        (
            ["--smtp-url", "http://u:secret@h"],
            "--smtp-url must start with smtp:// or smtps://",
        ),
        (["--smtp-ca", "/nowhere"], "--smtp-ca /nowhere cannot be read"),
    ] {
        let refused = place.refused(&[&["worker"], &args[..]].concat());
        assert!(refused.contains(said) && !refused.contains("secret"), "{refused}");
    }
    let refused = place.refused(&["worker", "--sms-url", "https://h", "--sms-from", "Club"]);
    assert!(
        refused.contains("--sms-url must have the account and its token"),
        "{refused}"
    );
}
