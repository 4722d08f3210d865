//! `bursar listen`: events arrive at a developer's machine in order, signed as the webhooks of the server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use bursar_domain::access::{Scope, ScopeSet};
use bursar_domain::webhook::signing::Secret;
use bursar_testing::sink::{Posted, Provider, header};
use bursar_testing::{Engine, eventually, until};
use serde_json::{Value, json};

use crate::api::bundle::{NATIONAL, group, member};
use crate::api::world::{World, on_both_engines};
use crate::support::{bursar, finish};

/// A run that goes on until it is dropped, and the lines it has printed.
struct Listening {
    child: Child,
    printed: Arc<Mutex<Vec<String>>>,
    _home: tempfile::TempDir,
}

fn command(world: &World, secret: &str, home: &tempfile::TempDir, args: &[&str]) -> Command {
    let url = format!("http://{}", world.server().address);
    let mut command = bursar(home.path());
    command
        .env("BURSAR_TOKEN", secret)
        .args(["listen", "--url", &url])
        .args(args);
    command
}

impl Listening {
    fn start(world: &World, args: &[&str]) -> Self {
        Self::with(world, &world.admin().token().unwrap().secret, args)
    }

    fn with(world: &World, secret: &str, args: &[&str]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut child = command(world, secret, &home, args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let printed: Arc<Mutex<Vec<String>>> = Arc::default();
        let (lines, to) = (
            BufReader::new(child.stdout.take().unwrap()).lines(),
            Arc::clone(&printed),
        );
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                to.lock().unwrap().push(line);
            }
        });
        Self {
            child,
            printed,
            _home: home,
        }
    }

    fn lines(&self, count: usize) -> Vec<String> {
        eventually(&format!("{count} lines"), || {
            let printed = self.printed.lock().unwrap();
            (printed.len() >= count).then(|| printed.clone())
        })
    }

    /// From the greeting.
    fn secret(&self) -> Secret {
        let greeting = self.lines(2);
        let text = greeting[1].strip_prefix("Signing secret: ").unwrap();
        assert!(text.starts_with("whsec_") && text.len() == 50, "{text}");
        Secret::parse(text).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn posted(provider: &Provider, count: usize) -> Vec<Posted> {
    eventually(&format!("{count} events"), || {
        let posted = provider.posted();
        (posted.len() >= count).then_some(posted)
    })
}

/// The event, if the secret signed it.
fn verified(posted: &Posted, secret: &Secret) -> Option<Value> {
    let of = |name| header(&posted.head, name).unwrap_or_default();
    let (id, seconds) = (of("webhook-id"), of("webhook-timestamp").parse().unwrap());
    let body = posted.body.as_bytes();
    secret
        .verifies(&of("webhook-signature"), &id, seconds, body)
        .then(|| {
            let event: Value = serde_json::from_slice(body).unwrap();
            assert_eq!(event["id"], id.as_str());
            event
        })
}

fn events_arrive_in_order_and_signed(engine: Engine) {
    let world = World::new(engine);
    let provider = Provider::start(vec![(200, "", "{}"), (500, "", "{}"), (204, "", "")]);
    let to = format!("http://{}/hooks?a=1", provider.address);
    let listening = Listening::start(&world, &["--forward-to", &to]);
    let secret = listening.secret();
    let editor = world.editor();
    for name in ["One", "Two", "Three"] {
        let path = format!("/v1/members/{}", member(2));
        editor.patch(&path).json(json!({ "firstName": name })).ok();
    }
    let posted = posted(&provider, 3);
    for (posted, name) in posted.iter().zip(["One", "Two", "Three"]) {
        assert_eq!(posted.line, "POST /hooks?a=1 HTTP/1.1");
        assert_eq!(
            header(&posted.head, "content-type").as_deref(),
            Some("application/json")
        );
        let agent = header(&posted.head, "user-agent").unwrap();
        assert_eq!(agent, concat!("bursar/", env!("CARGO_PKG_VERSION")));
        let event = verified(posted, &secret).unwrap();
        assert_eq!(event["type"], "member.updated");
        assert_eq!(event["data"]["firstName"], name);
        // As the list has it, byte for byte.
        let id = event["id"].as_str().unwrap();
        let listed = world.admin().get(&format!("/v1/events/{id}"));
        assert_eq!(listed.body, posted.body);
        assert!(verified(posted, &Secret::new([7; 32])).is_none());
    }
    let lines = listening.lines(6);
    for (line, status) in lines[3..].iter().zip(["200", "500", "204"]) {
        assert!(
            line.starts_with("member.updated evt_") && line.contains(&format!(": {status} in ")),
            "{line}"
        );
    }
}

fn only_what_is_asked_for_with_the_secret_that_is_given(engine: Engine) {
    let world = World::new(engine);
    let editor = world.editor();
    let renamed = |name: &str| {
        let path = format!("/v1/groups/{}", group(1));
        editor.patch(&path).json(json!({ "name": name })).ok()
    };
    let before = renamed("Before");
    let provider = Provider::start(vec![(200, "", "{}")]);
    let to = format!("http://{}", provider.address);
    // Two, as during a rotation: both sign.
    let (secret, other) = (Secret::new([9; 32]), Secret::new([8; 32]));
    let listening = Listening::start(
        &world,
        &[
            "--json",
            "--forward-to",
            &to,
            "--types",
            "group.updated,group.created",
            "--since",
            before["updatedAt"].as_str().unwrap(),
            "--secret",
            &secret.text(),
            "--secret",
            &other.text(),
        ],
    );
    let greeting: Value = serde_json::from_str(&listening.lines(1)[0]).unwrap();
    assert_eq!(greeting["secret"], format!("{} {}", secret.text(), other.text()));
    let path = format!("/v1/members/{}", member(2));
    editor.patch(&path).json(json!({ "firstName": "Other" })).ok();
    renamed("After");
    let names: Vec<Value> = posted(&provider, 2)
        .iter()
        .map(|posted| {
            assert!(verified(posted, &other).is_some());
            verified(posted, &secret).unwrap()["data"]["name"].clone()
        })
        .collect();
    assert_eq!(names, ["Before", "After"]);
    let told: Value = serde_json::from_str(&listening.lines(3)[2]).unwrap();
    assert_eq!(
        (&told["type"], &told["status"], &told["error"]),
        (&json!("group.updated"), &json!(200), &Value::Null)
    );
}

fn what_is_refused(engine: Engine) {
    let world = World::new(engine);
    let home = tempfile::tempdir().unwrap();
    let secret = world.admin().token().unwrap().secret;
    let run = |secret: &str, args: &[&str]| {
        let done = finish(&mut command(&world, secret, &home, args));
        assert!(matches!(done.code, Some(1 | 2)), "{done:?}");
        done.one_line()
    };
    let to = ["--forward-to", "http://127.0.0.1:1"];
    for (args, said) in [
        (&["--forward-to", "localhost"][..], "must be an address such as"),
        (
            &[&to[..], &["--types", "payment.payed"]].concat(),
            "must be a type of event",
        ),
        (
            &[&to[..], &["--secret", "whsec_short"]].concat(),
            "must be whsec_",
        ),
        (
            &[&to[..], &["--since", "2020-01-01"]].concat(),
            "choose a later time with --since",
        ),
    ] {
        let refused = run(&secret, args);
        assert!(refused.contains(said), "{refused}");
    }
    let scopes = ScopeSet::of(&[Scope::MembersRead]);
    let token = world.personal_token("viewer@people.example", NATIONAL, scopes);
    let refused = run(&token.secret, &to);
    assert!(refused.contains("the token lacks events:read"), "{refused}");
}

/// Nobody is there: the line says so, and it goes on.
fn a_receiver_that_is_down_stops_nothing(engine: Engine) {
    let world = World::new(engine);
    let listening = Listening::start(&world, &["--forward-to", "http://127.0.0.1:1/"]);
    listening.secret();
    let path = format!("/v1/members/{}", member(2));
    for name in ["One", "Two"] {
        world
            .editor()
            .patch(&path)
            .json(json!({ "firstName": name }))
            .ok();
    }
    for line in &listening.lines(5)[3..] {
        assert!(line.contains(": no response ("), "{line}");
    }
}

/// Events are kept from a moment in this second on, and the server tells its time to the second.
fn it_begins_in_the_second_of_an_import(engine: Engine) {
    let world = World::new(engine);
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test reads the real clock"
    )]
    let micros = || {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        i64::try_from(since.as_micros()).unwrap()
    };
    let token = world.admin().token().unwrap();
    let editor = world.editor();
    editor.token().unwrap();
    until("a second begins", || micros() % 1_000_000 < 100_000);
    world
        .place
        .beside(&format!("UPDATE event_horizons SET created_at = {}", micros()));
    let listening = Listening::with(&world, &token.secret, &["--forward-to", "http://127.0.0.1:1/"]);
    listening.secret();
    let path = format!("/v1/members/{}", member(2));
    editor.patch(&path).json(json!({ "firstName": "One" })).ok();
    assert!(listening.lines(4)[3].starts_with("member.updated "));
}

on_both_engines! {
    it_begins_in_the_second_of_an_import
    events_arrive_in_order_and_signed
    only_what_is_asked_for_with_the_secret_that_is_given
    what_is_refused
    a_receiver_that_is_down_stops_nothing
}
