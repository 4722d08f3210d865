//! Databases of earlier schemas, kept in `fixtures/schema-N`, are brought up by the program as it is now: nothing of
//! them is lost, and nothing in them has moved.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::support::{Place, both_engines};

/// The schemas of which a database is kept.
const KEPT: [i64; 3] = [1, 7, 23];

fn fixture(version: i64, name: &str) -> PathBuf {
    [
        env!("CARGO_MANIFEST_DIR"),
        "../../fixtures",
        &format!("schema-{version}"),
        name,
    ]
    .iter()
    .collect()
}

/// Makes the database of that version in this place.
fn restore(place: &Place, version: i64) {
    if place.is_sqlite() {
        let sql = std::fs::read_to_string(fixture(version, "sqlite.sql")).unwrap();
        let connection = rusqlite::Connection::open(place.database_file()).unwrap();
        connection.execute_batch(&sql).unwrap();
    } else {
        let sql = std::fs::read_to_string(fixture(version, "postgres.sql")).unwrap();
        let mut client = postgres::Client::connect(&place.database, postgres::NoTls).unwrap();
        client.batch_execute(&sql).unwrap();
    }
}

fn records(bundle: &str) -> Vec<Map<String, Value>> {
    bundle
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Every record is still there, in its place, and every field it had has the value it had, `updatedAt` too.
fn assert_kept(before: &str, after: &str) {
    let (before, mut after) = (records(before), records(after));
    // The books follow from the other records; they came later.
    let is_book = |record: &Map<String, Value>| {
        ["account", "journalEntry", "receipt"]
            .iter()
            .any(|book| record["type"] == *book)
    };
    if !before.iter().any(is_book) {
        assert!(after.iter().any(is_book));
        after.retain(|record| !is_book(record));
    }
    assert_eq!(before.len(), after.len());
    for (old, new) in before.iter().zip(&after) {
        for (field, value) in old {
            assert_eq!(Some(value), new.get(field), "{field} of {old:?} in {new:?}");
        }
    }
}

/// A step that was edited in place is found here too: what it makes is not what the kept database has.
#[test]
fn a_database_of_every_kept_schema_is_brought_up() {
    let fresh = Place::sqlite();
    fresh.ok(&[
        "organization",
        "create",
        "--name",
        "Club",
        "--kind",
        "independent",
    ]);
    let newest = fresh.count_beside("SELECT version FROM bursar_schema");
    for version in KEPT {
        let bundle = fixture(version, "export.ndjson");
        let before = std::fs::read_to_string(&bundle).unwrap();
        both_engines(|place| {
            restore(place, version);
            if version < newest {
                let said = place.refused(&["check"]);
                assert!(said.contains(&format!("has schema version {version}")), "{said}");
            }
            // The bundle that the earlier program wrote: it changes nothing.
            let said = place.import(&bundle);
            assert!(
                said.ends_with(&format!(
                    "0 added, 0 changed, {} as they were\n",
                    before.lines().count()
                )),
                "{said}"
            );
            place.check();
            assert_kept(&before, &place.export());
        });
    }
}
