//! The key of stored secrets beside a SQLite database: made once, never in place of one that is lost.

use std::fs;
use std::process::Stdio;

use bursar_domain::webhook::signing::Secret;
use bursar_testing::eventually;
use bursar_testing::receiver::Receiver;

use crate::messages::terminate;
use crate::support::{Place, roster};

#[test]
fn a_lost_key_is_told_and_no_other_takes_its_place() {
    let (place, roster, receiver) = (Place::sqlite(), roster(1), Receiver::kind());
    place.import(place.bundle("roster.ndjson", &roster.text));
    let (organization, url) = (roster.organization.to_string(), receiver.url());
    let create = [
        "webhook",
        "create",
        "--organization",
        &organization,
        "--webhook-allow",
        "127.0.0.1",
        "--url",
        &url,
    ];
    let made = place.json(&create);
    let id = made["id"].as_str().unwrap();
    let (key, kept) = (place.file("bursar.db.secret-key"), place.file("kept"));
    fs::rename(&key, &kept).unwrap();
    for args in [&create[..], &["webhook", "rotate", id]] {
        let refused = place.refused(args);
        for words in [
            "bursar.db.secret-key is missing",
            "Restore the file",
            "--overlap-hours 0",
        ] {
            assert!(refused.contains(words), "{refused}");
        }
        assert!(!key.exists(), "{args:?}");
    }
    // Restored, it is as before.
    fs::rename(&kept, &key).unwrap();
    place.json(&["webhook", "rotate", id]);

    // Lost for good: another one is made on purpose, and what signs is made anew with it.
    fs::write(&key, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n").unwrap();
    let rotated = place.json(&["webhook", "rotate", id, "--overlap-hours", "0"]);
    let secret = Secret::parse(rotated["secret"].as_str().unwrap()).unwrap();
    place.json(&["webhook", "test", id]);
    let mut worker = place
        .command(&["worker", "--webhook-allow", "127.0.0.1", "--log-level", "off"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let got = eventually("the test event", || receiver.got().pop());
    terminate(&mut worker);
    let seconds = got.headers["webhook-timestamp"].parse().unwrap();
    let signature = &got.headers["webhook-signature"];
    assert!(secret.verifies(signature, got.id(), seconds, got.body.as_bytes()));
    place.check();
}
