//! What was acknowledged is there after `kill -9`, and it was on the disk before it was acknowledged.

use std::collections::HashSet;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{BURSAR, Place, Roster, finish, kill, roster};
use bursar_testing::{is_full, seed};

/// Kills on one database, before it is thrown away: what is checked must not grow without end.
const KILLS_EACH: usize = 10;

/// The writer is an example of this package: `cargo test` builds it beside the tests.
fn writer() -> PathBuf {
    let path = Path::new(BURSAR).with_file_name("examples").join("acks");
    assert!(
        path.exists(),
        "{} is missing: run plain `cargo test`, which builds it",
        path.display()
    );
    path
}

fn writer_on(place: &Place, roster: &Roster, threads: usize) -> Command {
    let mut command = Command::new(writer());
    command.arg(&place.database).arg(roster.organization.to_string());
    command.arg(roster.group.to_string()).arg(threads.to_string());
    command
}

/// Lets the writer run until it has acknowledged some writes, and a random moment longer; kills it; what it had
/// acknowledged.
fn write_and_kill(place: &Place, roster: &Roster, random: &mut fastrand::Rng) -> Vec<String> {
    let mut child = writer_on(place, roster, 16)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut acknowledged: Vec<String> = Vec::new();
    let before = random.usize(1..=300);
    for _ in 0..before {
        acknowledged.push(lines.next().expect("the writer ended by itself").unwrap());
    }
    std::thread::sleep(Duration::from_micros(random.u64(..20_000)));
    kill(child.id());
    // What was in the pipe was acknowledged too; the kill may have cut the last line.
    acknowledged.extend(
        lines
            .map_while(Result::ok)
            .filter(|line| line.len() == before_cut()),
    );
    assert!(!child.wait().unwrap().success());
    acknowledged
}

/// The length of a member's id.
fn before_cut() -> usize {
    "mem_".len() + 26
}

fn nothing_acknowledged_is_lost(new_place: fn() -> Place) {
    let kills = if is_full() { 100 } else { 10 };
    let mut random = fastrand::Rng::with_seed(seed());
    for _ in 0..kills / KILLS_EACH {
        let (place, roster) = (new_place(), roster(0));
        place.import(place.bundle("roster.ndjson", &roster.text));
        let mut acknowledged = Vec::new();
        for _ in 0..KILLS_EACH {
            acknowledged.extend(write_and_kill(&place, &roster, &mut random));
            place.check();
            let exported = place.export();
            let there: HashSet<&str> = exported
                .lines()
                .filter_map(|line| line.strip_prefix(r#"{"type":"member","id":""#)?.split('"').next())
                .collect();
            let lost: Vec<&String> = acknowledged
                .iter()
                .filter(|id| !there.contains(id.as_str()))
                .collect();
            assert!(
                lost.is_empty(),
                "{} of {} lost: {lost:?}",
                lost.len(),
                acknowledged.len()
            );
        }
    }
}

#[test]
fn kill_9_during_group_commits_loses_nothing_acknowledged_on_sqlite() {
    nothing_acknowledged_is_lost(Place::sqlite);
}

#[test]
fn kill_9_during_group_commits_loses_nothing_acknowledged_on_postgres() {
    nothing_acknowledged_is_lost(Place::postgres);
}

/// A kill leaves the kernel's buffers whole, so that it cannot show durability. This does: the calls that write and
/// sync are put on record, in order, by a library loaded before the system's own.
#[test]
fn the_log_is_synced_before_each_acknowledgement() {
    let place = Place::sqlite();
    let roster = roster(0);
    place.import(place.bundle("roster.ndjson", &roster.text));
    let library = recorder(place.folder.path());
    let record = place.file("record");
    let writes = 25;
    let mut command = writer_on(&place, &roster, 1);
    command.arg(writes.to_string());
    command
        .env("LD_PRELOAD", library)
        .env("BURSAR_TEST_RECORD", &record);
    let acknowledged = finish(&mut command).succeeded();
    assert_eq!(acknowledged.lines().count(), writes);

    let record = std::fs::read_to_string(record).unwrap();
    let (mut acknowledgements, mut written, mut synced) = (0, false, false);
    for call in record.lines() {
        match call.split_once(' ').unwrap() {
            ("write", path) if path.ends_with("bursar.db-wal") => (written, synced) = (true, false),
            ("sync", path) if path.ends_with("bursar.db-wal") => synced = written,
            ("write", path) if path.starts_with("pipe:") => {
                assert!(
                    written && synced,
                    "acknowledgement {acknowledgements} was not on the disk:\n{record}"
                );
                acknowledgements += 1;
                (written, synced) = (false, false);
            }
            _ => {}
        }
    }
    assert_eq!(acknowledgements, writes, "{record}");
}

/// Builds the library that records.
pub(crate) fn recorder(folder: &Path) -> PathBuf {
    let (source, library) = (folder.join("recorder.c"), folder.join("recorder.so"));
    std::fs::write(&source, include_str!("recorder.c")).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
        .arg(&library)
        .arg(&source)
        .arg("-ldl")
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    library
}
