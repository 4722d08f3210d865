//! The journal's rules, held by the engine itself: an entry sums to zero, and nothing of it is changed afterwards.

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{DbError, EngineKind, LoadTarget, OwnedValue, Tx, journal};
use bursar_domain::account::Standing;
use bursar_domain::ids::{EntryId, OrganizationId};
use bursar_domain::journal::{About, Entry, EntryKind, Note, Posting, Recorder};
use bursar_domain::{Date, Timestamp};

const OWNER: OrganizationId = OrganizationId::from_bits(1);
const OTHER: OrganizationId = OrganizationId::from_bits(2);

fn entry(bits: u128, amounts: &[i64]) -> Entry {
    let posting = |amount: &i64| Posting {
        account: Standing::Cash.id(),
        amount: *amount,
        about: About::default(),
    };
    Entry {
        id: EntryId::from_bits(bits),
        date: Date::parse("2026-03-01").unwrap(),
        recorded_at: Timestamp::from_micros(7),
        kind: EntryKind::Transfer,
        recorder: Recorder {
            kind: "operator".to_owned(),
            id: None,
        },
        reverses: None,
        receipt: None,
        note: Note {
            memo: Some("Bar".to_owned()),
            ..Note::default()
        },
        postings: amounts.iter().map(posting).collect(),
    }
}

fn refused<T: std::fmt::Debug>(
    test: &TestDb,
    what: &str,
    rule: &str,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, DbError>,
) {
    match test.db.exclusive(work) {
        Err(DbError::Constraint(said)) => assert!(said.contains(rule), "{what}: {said}"),
        other => panic!("{what} on {:?}: {other:?}", test.db.kind()),
    }
}

fn add(test: &TestDb, entry: &Entry) {
    test.db
        .exclusive::<_, DbError>(|tx| journal::add(tx, OWNER, entry))
        .unwrap();
}

fn count(test: &TestDb, table: &str) -> i64 {
    test.place.count_beside(&format!("SELECT COUNT(*) FROM {table}"))
}

#[test]
fn an_entry_that_does_not_sum_to_zero_is_refused() {
    const RULE: &str = "must sum to zero and have its date";
    both_engines(|test| {
        add(test, &entry(1, &[500, -500]));
        add(test, &entry(2, &[500, -300, -200]));
        for amounts in [
            &[500, -499][..],
            &[1, 1],
            &[500],
            &[],
            &[i64::MAX, -i64::MAX, 1],
            &[500, -300, -201],
        ] {
            let wrong = entry(3, amounts);
            refused(test, &format!("{amounts:?}"), RULE, |tx| {
                journal::add(tx, OWNER, &wrong)
            });
            // Many rows at once take another way.
            refused(test, &format!("loaded {amounts:?}"), RULE, |tx| load(tx, &wrong));
        }
        refused(test, "postings of another organization", RULE, |tx| {
            let rows = journal::rows(OTHER, &entry(3, &[500, -500]));
            tx.load(&journal::JOURNAL_POSTINGS, &rows.postings)?;
            let rows = journal::rows(OWNER, &entry(3, &[500, -500]));
            tx.load(&journal::JOURNAL_ENTRIES, &[rows.entry])
        });
        refused(test, "a posting of another day", RULE, |tx| {
            let mut rows = journal::rows(OWNER, &entry(3, &[500, -500]));
            rows.postings[1][3] = OwnedValue::Text("2026-03-02".to_owned());
            tx.load(&journal::JOURNAL_POSTINGS, &rows.postings)?;
            tx.load(&journal::JOURNAL_ENTRIES, &[rows.entry])
        });
        refused(test, "a posting of 0", "journal_postings_form", |tx| {
            journal::add(tx, OWNER, &entry(3, &[500, -500, 0]))
        });
        assert_eq!(
            (count(test, "journal_entries"), count(test, "journal_postings")),
            (2, 5)
        );
        let loaded: Result<(), DbError> = test.db.exclusive(|tx| load(tx, &entry(3, &[500, -500])));
        loaded.unwrap();
        let read: Result<_, DbError> = test
            .db
            .survey(|tx| journal::get(tx, OWNER, EntryId::from_bits(3)));
        assert_eq!(read.unwrap(), Some(entry(3, &[500, -500])));
    });
}

fn load(tx: &mut Tx<'_>, entry: &Entry) -> Result<(), DbError> {
    let rows = journal::rows(OWNER, entry);
    let mut load = |target: &'static LoadTarget, rows: &[Vec<OwnedValue>]| match rows {
        [] => Ok(()),
        rows => tx.load(target, rows),
    };
    load(&journal::JOURNAL_POSTINGS, &rows.postings)?;
    load(&journal::JOURNAL_NOTES, rows.note.as_slice())?;
    load(&journal::JOURNAL_ENTRIES, &[rows.entry])
}

#[test]
fn an_entry_that_is_written_stays_as_it_is() {
    both_engines(|test| {
        add(test, &entry(1, &[500, -500]));
        refused(test, "one more posting", "takes no more postings", |tx| {
            let mut rows = journal::rows(OWNER, &entry(1, &[500, -500, 700, -700]));
            tx.load(&journal::JOURNAL_POSTINGS, &rows.postings.split_off(2))
        });
        let (by_kind, once) = match test.db.kind() {
            EngineKind::Sqlite => (
                [
                    "entry cannot be changed",
                    "entry cannot be deleted",
                    "posting cannot be changed",
                    "posting cannot be deleted",
                ],
                "is written once",
            ),
            EngineKind::Postgres => (
                ["the journal cannot be changed or deleted"; 4],
                "journal_entries_pkey",
            ),
        };
        for (sql, rule) in [
            ("UPDATE journal_entries SET date = '2026-03-02'", by_kind[0]),
            ("DELETE FROM journal_entries", by_kind[1]),
            ("UPDATE journal_postings SET amount = 2 * amount", by_kind[2]),
            ("DELETE FROM journal_postings", by_kind[3]),
        ] {
            refused(test, sql, rule, |tx| tx.batch(sql));
        }
        refused(test, "the same entry again", once, |tx| {
            let again = journal::rows(OWNER, &entry(1, &[500, -500]));
            tx.load(&journal::JOURNAL_ENTRIES, &[again.entry])
        });
        match test.db.kind() {
            EngineKind::Sqlite => {
                let replace = "INSERT OR REPLACE INTO journal_entries (organization_id, id, date, recorded_at, kind, \
                               recorder_kind) SELECT organization_id, id, date, recorded_at + 1, kind, recorder_kind FROM ";
                refused(test, "a replaced entry", "is written once", |tx| {
                    tx.batch(&format!("{replace} journal_entries"))
                });
                refused(test, "a replaced posting", "takes no more postings", |tx| {
                    tx.batch(
                        "INSERT OR REPLACE INTO journal_postings (organization_id, entry_id, number, date, account_id, amount) \
                         SELECT organization_id, entry_id, number, date, account_id, 2 * amount FROM journal_postings",
                    )
                });
            }
            EngineKind::Postgres => {
                for sql in [
                    "TRUNCATE journal_entries",
                    "TRUNCATE journal_postings",
                    "TRUNCATE journal_postings, journal_entries",
                ] {
                    refused(test, sql, "the journal cannot be changed or deleted", |tx| {
                        tx.batch(sql)
                    });
                }
            }
        }
        let read: Result<_, DbError> = test
            .db
            .survey(|tx| journal::get(tx, OWNER, EntryId::from_bits(1)));
        assert_eq!(read.unwrap(), Some(entry(1, &[500, -500])));
        // What names a person can be erased.
        test.place.beside("UPDATE journal_notes SET memo = NULL");
        test.place.beside("DELETE FROM journal_notes");
    });
}

/// Postings that are written before an entry that fails go with it, also in a lane that commits others.
#[test]
fn nothing_of_a_refused_entry_stays() {
    both_engines(|test| {
        let wrong = test.db.write(OWNER.to_bytes(), |tx| {
            journal::add(tx, OWNER, &entry(1, &[500, -499]))
        });
        let right = test.db.write(OWNER.to_bytes(), |tx| {
            journal::add(tx, OWNER, &entry(2, &[500, -500]))
        });
        assert!(matches!(wrong.wait(), Err(DbError::Constraint(_))));
        right.wait().unwrap();
        let counts = ["journal_entries", "journal_postings", "journal_notes"].map(|table| count(test, table));
        assert_eq!(counts, [1, 2, 1]);
        let broken: Result<_, DbError> = test.db.survey(|tx| {
            let mut broken = Vec::new();
            journal::each_broken(tx, OWNER, |id, sum, is_apart| {
                broken.push((id, sum, is_apart));
                Ok(())
            })?;
            Ok(broken)
        });
        assert_eq!(broken.unwrap(), []);
    });
}

/// What the engine refuses is still found where somebody got around it.
#[test]
fn broken_entries_are_named() {
    both_engines(|test| {
        add(test, &entry(1, &[500, -500]));
        let planted: Result<(), DbError> = test.db.exclusive(|tx| {
            bursar_db::testing::without_rules(tx, |tx| {
                journal::add(tx, OWNER, &entry(2, &[i64::MAX, i64::MAX]))?;
                let apart = journal::rows(OWNER, &entry(3, &[500, -500]));
                tx.load(&journal::JOURNAL_POSTINGS, &apart.postings)?;
                let mut elsewhen = journal::rows(OWNER, &entry(4, &[500, -500]));
                elsewhen.postings[0][3] = OwnedValue::Text("2026-03-02".to_owned());
                tx.load(&journal::JOURNAL_POSTINGS, &elsewhen.postings)?;
                tx.load(&journal::JOURNAL_ENTRIES, &[elsewhen.entry])
            })
        });
        planted.unwrap();
        test.open_again().unwrap();
        let broken: Result<Vec<(u128, i128, bool)>, DbError> = test.db.survey(|tx| {
            let mut broken = Vec::new();
            journal::each_broken(tx, OWNER, |id, sum, is_apart| {
                broken.push((id.bits(), sum, is_apart));
                Ok(())
            })?;
            Ok(broken)
        });
        let expected = [(2, 2 * i128::from(i64::MAX), false), (3, 0, true), (4, 0, true)];
        assert_eq!(broken.unwrap(), expected);
        refused(test, "the rules hold again", "cannot be", |tx| {
            tx.batch("DELETE FROM journal_postings")
        });
    });
}
