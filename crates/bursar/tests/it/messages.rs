//! Messages by the real program: commands, and a worker of its own. scripts/smtp kills workers.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;
use bursar_testing::sink::{Deed, Sink};
use serde_json::Value;

use crate::support::{Place, both_engines, finish, roster};

/// Today, as the program under test sees it.
#[expect(
    clippy::disallowed_methods,
    reason = "the program under test reads the real clock"
)]
fn today() -> String {
    let since = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let now = Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap());
    now.date().to_string()
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
        let later = place.json(&with(&["--at", "2035-01-01T00:00:00Z", "--every-days", "30"]));
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
        assert_eq!(
            cancelled.trim(),
            format!("reminder {id} to All (\"S\") is cancelled")
        );
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
            log.contains("the operator cancelled reminder") && log.contains("the service delivered reminder"),
            "{log}"
        );
    });
}

/// An officer looks at a reminder, sends a test to herself, and then sends it.
#[test]
fn a_reminder_is_looked_at_before_it_is_sent() {
    both_engines(|place| {
        let roster = roster(2);
        place.import(place.bundle("roster.ndjson", &roster.text));
        place.ok(&[
            "payment",
            "raise",
            "--member",
            "m0@example.org",
            "--group",
            "All",
            "--amount",
            "30",
            "--description",
            "Boat",
        ]);
        place.ok(&["payment", "raise", "--member", "m1@example.org", "--amount", "5"]);
        let slip = [
            "reminder",
            "schedule",
            "--group",
            "All",
            "--at",
            "2035-01-01T00:00:00Z",
            "--body",
            "Hi {first}",
        ];
        let refused = place.refused(&slip);
        assert!(
            refused.contains("body has the unknown placeholder {first}; known are {firstName}"),
            "{refused}"
        );
        let scheduled = place.json(&[
            "reminder",
            "schedule",
            "--group",
            "All",
            "--at",
            "2035-01-01T00:00:00Z",
            "--include-payment-info",
            "--subject",
            "{owed}",
            "--body",
            "Please pay.",
        ]);
        let id = scheduled["id"].as_str().unwrap();
        // The charge that carries the group counts, the other one does not.
        for look in [
            &["reminder", "preview", id][..],
            &["reminder", "send", id, "--dry-run"],
        ] {
            let shown = place.ok(look);
            for said in [
                "1 recipient by email, 1 skipped\nskipped, nothing is owed: Ada Larsen\n\nTo: Ada Larsen <m0@example.org>\n\
                 Subject: 30.00 USD\n\nDear Ada Larsen,\n\nPlease pay.\n\nDue now:\n- Boat: 30.00 USD\n",
                "-- \nRowers\n",
            ] {
                assert!(shown.contains(said), "{shown}");
            }
        }
        let seen = place.json(&["reminder", "preview", id]);
        assert_eq!(seen["recipients"][0]["owed"], "30.00 USD");
        assert_eq!(seen["skipped"][0]["reason"], "nothing is owed");
        let mut unattended = place.command(&["reminder", "send", id]);
        unattended.env_remove("BURSAR_YES");
        let asked = finish(&mut unattended).failed();
        assert!(
            asked.contains("Send reminder")
                && asked.contains("now: 1 recipient by email, 1 skipped. Nothing was changed"),
            "{asked}"
        );
        let tested = place.json(&["reminder", "test", id, "--to", "me@example.org"]);
        let sent = place.json(&["reminder", "send", id, "--yes"]);
        assert_eq!(
            (&sent["outcome"], &sent["status"]),
            (&"sent".into(), &"sending".into())
        );
        let refused = place.refused(&["reminder", "send", id, "--dry-run"]);
        assert!(
            refused.contains("is sending; only a scheduled reminder can be sent"),
            "{refused}"
        );

        // Without a mail server the messages are files, and the worker says so.
        let mut worker = place.command(&["worker"]);
        let mut worker = worker
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let since = Instant::now();
        while states(place, roster.organization).get("written") != Some(&2) {
            assert!(since.elapsed() < Duration::from_secs(30));
        }
        terminate(&mut worker);
        let mut log = String::new();
        std::io::Read::read_to_string(&mut worker.stderr.take().unwrap(), &mut log).unwrap();
        assert!(
            log.contains("no mail server is set: e-mail is written to files and reaches nobody"),
            "{log}"
        );
        let outbox = place.folder.path().join("outbox");
        let file = outbox.join(format!("{}.eml", tested["id"].as_str().unwrap()));
        let mail = std::fs::read_to_string(file).unwrap();
        assert!(
            mail.contains("To: me@example.org") && mail.contains("Subject: [Test] 30.00 USD"),
            "{mail}"
        );
        let listed = place.ok(&["reminder", "list"]);
        assert!(listed.contains("sent"), "{listed}");
    });
}

/// A mail server that accepts and never answers: the worker ends within moments, and nothing is lost or sent twice.
#[test]
fn a_worker_does_not_wait_for_a_server_that_hangs_when_it_is_told_to_stop() {
    both_engines(|place| {
        let roster = roster(3);
        place.import(place.bundle("roster.ndjson", &roster.text));
        let (org, group) = (roster.organization.to_string(), roster.group.to_string());
        let schedule = ["reminder", "schedule", "--organization", &org, "--group", &group];
        place.ok(&[&schedule[..], &["--at", "now", "--body", "B"]].concat());
        let silent = Sink::start(|_| Deed::Wait(Duration::from_secs(3_600)));
        let mut hung = worker(place, &silent);
        let wait = |is_so: &dyn Fn() -> bool| {
            let since = Instant::now();
            while !is_so() {
                assert!(since.elapsed() < Duration::from_secs(60));
            }
        };
        wait(&|| silent.connections() > 0);
        let since = Instant::now();
        terminate(&mut hung);
        // Two seconds on a machine that has nothing else to do.
        assert!(since.elapsed() < Duration::from_secs(10), "{:?}", since.elapsed());
        let sink = Sink::kind();
        let mut again = worker(place, &sink);
        wait(&|| states(place, roster.organization).get("delivered") == Some(&3));
        terminate(&mut again);
        assert_eq!(sink.mails().len(), 3);
    });
}

#[test]
fn dues_by_command() {
    both_engines(|place| {
        let roster = roster(3);
        place.import(place.bundle("roster.ndjson", &roster.text));
        let (org, group) = (roster.organization.to_string(), roster.group.to_string());
        let today = today();
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
