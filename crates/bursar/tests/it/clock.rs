//! `bursar clock`: what the clocks say, and the operator's word.

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use bursar_domain::Timestamp;
use bursar_testing::eventually;

use crate::support::{Place, both_engines, finish, other_time};

#[test]
fn a_clock_that_is_not_trusted_is_named_and_can_be_accepted() {
    both_engines(|place: &Place| {
        place.ok(&[
            "organization",
            "create",
            "--name",
            "Club",
            "--kind",
            "independent",
        ]);
        assert_eq!(
            place.json(&["clock"])["isTrusted"],
            true,
            "nobody has seen another time"
        );
        let long_ago = Timestamp::parse("2024-11-27T00:00:00Z").unwrap().micros();
        place.damage(&format!(
            "INSERT INTO worker_clock (id, seen_at, steady_since) VALUES (1, {long_ago}, {long_ago})"
        ));
        let told = place.json(&["clock"]);
        assert_eq!(told["isTrusted"], false);
        assert!(
            told["doubt"]
                .as_str()
                .unwrap()
                .contains("it is far ahead of 2024-11-27"),
            "{told}"
        );
        assert_eq!(told["serverNow"].is_string(), !place.is_sqlite());
        let doctor = place.run(&["doctor", "--listen", "127.0.0.1:0"]);
        assert_eq!(doctor.code, Some(1), "{doctor:?}");
        assert!(
            doctor.stdout.contains("automatic work waits"),
            "{}",
            doctor.stdout
        );

        assert!(place.ok(&["clock", "--accept"]).starts_with("Accepted 20"));
        assert_eq!(place.json(&["clock"])["isTrusted"], true);
        let doctor = place.run(&["doctor", "--listen", "127.0.0.1:0"]);
        assert!(
            !doctor.stdout.contains("automatic work waits"),
            "{}",
            doctor.stdout
        );

        // Nobody's word makes two clocks agree.
        let mut ahead = place.command(&["clock", "--accept"]);
        let done = finish(ahead.envs(other_time("+365d")));
        match place.is_sqlite() {
            true => assert_eq!(done.code, Some(0), "{done:?}"),
            false => assert!(done.failed().contains("--clock-tolerance")),
        }
    });
}

/// A running worker with its log in a file; ended when dropped.
struct Worker {
    child: Child,
    log: PathBuf,
}

impl Worker {
    fn start(place: &Place, name: &str, variables: &[(&str, String)]) -> Self {
        let log = place.file(name);
        let mut command = place.command(&["worker"]);
        let child = command
            .envs(variables.iter().cloned())
            .stdout(Stdio::null())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        Self { child, log }
    }

    fn log(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_worker_whose_clock_is_not_the_database_servers_raises_no_dues() {
    let place = Place::postgres();
    place.ok(&[
        "organization",
        "create",
        "--name",
        "Club",
        "--kind",
        "independent",
    ]);
    place.ok(&["group", "create", "--name", "All"]);
    let ada = [
        "--first-name",
        "Ada",
        "--last-name",
        "Ek",
        "--email",
        "ada@example.org",
    ];
    place.ok(&[&["member", "add", "--group", "all"], &ada[..]].concat());
    let now = Timestamp::parse(place.json(&["clock"])["serverNow"].as_str().unwrap()).unwrap();
    let today = now.date().to_string();
    place.ok(&["dues", "set", "--group", "all", "--amount", "5", "--due", &today]);
    let raised = || place.json(&["payment", "list"]).as_array().unwrap().len();

    let ahead = Worker::start(&place, "ahead.log", &other_time("+75s"));
    eventually("it says why it waits", || {
        let log = ahead.log();
        (log.contains("the clock cannot be trusted") && log.contains("the database server's clock says"))
            .then_some(())
    });
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(raised(), 0, "{}", ahead.log());
    drop(ahead);
    let mut doctor = place.command(&["doctor", "--listen", "127.0.0.1:0"]);
    let doctor = finish(doctor.envs(other_time("+75s")));
    assert!(
        doctor.stdout.contains("the database server's clock is"),
        "{doctor:?}"
    );

    let _right = Worker::start(&place, "right.log", &[]);
    eventually("dues are raised", || (raised() == 1).then_some(()));
}
