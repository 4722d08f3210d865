//! `bursar clock`: what the clocks say, and the operator's word.

use bursar_domain::Timestamp;

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
