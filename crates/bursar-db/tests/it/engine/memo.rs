//! What a read of SQLite relies on. The row of `PRAGMA data_version` that it leaves standing keeps one snapshot until it
//! ends, and the version tells whether another connection has committed, so that what readers remember is never older
//! than the database.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, EngineKind, Tx};

use super::{A, insert, with_table, write_id};

fn count(tx: &mut Tx<'_>) -> Result<Option<i64>, DbError> {
    tx.first("SELECT COUNT(*) FROM things", &[], |row| row.int(0))
}

/// How many rows there are, by a look-up that counts itself.
fn remembered(tx: &mut Tx<'_>, asked: &AtomicUsize) -> Result<Option<i64>, DbError> {
    let found = tx.remembered([7; 32], |tx| {
        asked.fetch_add(1, Ordering::SeqCst);
        count(tx)
    });
    found.map(|found| found.map(|count| *count))
}

fn rows(db: &Db, asked: &Arc<AtomicUsize>) -> i64 {
    let asked = Arc::clone(asked);
    let found = db.read::<_, DbError>(move |tx| remembered(tx, &asked));
    found.wait().unwrap().unwrap()
}

/// Every way to commit something, each with its name.
type Commit = fn(&TestDb, i64);
const COMMITS: [(&str, Commit); 4] = [
    ("a write", |test, id| write_id(&test.db, A, id).wait().unwrap()),
    ("a long write", |test, id| {
        test.db.exclusive::<_, DbError>(|tx| insert(tx, id)).unwrap();
    }),
    ("another process", |test, id| {
        let other = test.open_again().unwrap();
        write_id(&other, A, id).wait().unwrap();
        other.shutdown();
    }),
    (
        "another program, which moves the log into the file",
        |test, id| {
            test.place.beside(&format!(
                "INSERT INTO things (id) VALUES ({id}); PRAGMA wal_checkpoint(TRUNCATE)"
            ));
        },
    ),
];

#[test]
fn a_read_keeps_the_snapshot_that_it_began_with() {
    let test = TestDb::sqlite();
    with_table(&test);
    let (asked, mut written) = (Arc::new(AtomicUsize::new(0)), 0);
    let mut commit = |commit: Commit| {
        written += 1;
        commit(&test, written);
    };
    for (expected, (name, by)) in (0..).step_by(2).zip(COMMITS) {
        let seen = test.db.read_here::<_, DbError>(|tx| {
            // So far the work has asked for nothing.
            commit(by);
            let first = count(tx)?;
            commit(by);
            Ok([first, remembered(tx, &asked)?, count(tx)?])
        });
        assert_eq!(seen.unwrap().unwrap(), [Some(expected); 3], "{name}");
        assert_eq!(
            rows(&test.db, &asked),
            expected + 2,
            "the next read, after {name}"
        );
    }
}

#[test]
fn a_look_up_is_made_again_after_a_commit_by_whomever() {
    both_engines(|test| {
        with_table(test);
        let asked = Arc::new(AtomicUsize::new(0));
        assert_eq!(rows(&test.db, &asked), 0);
        assert_eq!(rows(&test.db, &asked), 0);
        // Nothing was committed in between; PostgreSQL cannot tell, and asks each time.
        let once = if test.db.kind() == EngineKind::Sqlite {
            1
        } else {
            2
        };
        assert_eq!(asked.load(Ordering::SeqCst), once);
        let ways = if test.db.kind() == EngineKind::Sqlite {
            4
        } else {
            3
        };
        for (id, (name, commit)) in (1..).zip(&COMMITS[..ways]) {
            commit(test, id);
            assert_eq!(rows(&test.db, &asked), id, "after {name}");
            assert_eq!(rows(&test.db, &asked), id, "once more after {name}");
        }
    });
}

#[test]
fn a_commit_that_was_acknowledged_is_seen_by_every_reader() {
    let test = TestDb::sqlite();
    with_table(&test);
    // More threads than connections, so that each of these is used by all and remembers for all.
    let (threads, writes) = (12, 200);
    let barrier = Barrier::new(threads + 1);
    let written = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                barrier.wait();
                let asked = Arc::new(AtomicUsize::new(0));
                loop {
                    let at_least = written.load(Ordering::SeqCst);
                    let found = usize::try_from(rows(&test.db, &asked)).unwrap();
                    assert!(found >= at_least, "{found} rows, {at_least} were acknowledged");
                    if at_least == writes {
                        break;
                    }
                }
            });
        }
        barrier.wait();
        for n in 0..writes {
            write_id(&test.db, A, i64::try_from(n).unwrap()).wait().unwrap();
            written.store(n + 1, Ordering::SeqCst);
        }
    });
}

#[test]
fn nothing_found_is_not_remembered_and_a_failure_is_told() {
    both_engines(|test| {
        with_table(test);
        let ask = |answer: Result<Option<i64>, DbError>| {
            let found = test
                .db
                .read::<_, DbError>(move |tx| tx.remembered([9; 32], |_| answer));
            found.wait().map(|found| found.map(|number| *number))
        };
        assert_eq!(ask(Ok(None)), Ok(None));
        assert!(ask(Err(DbError::Internal("no".to_owned()))).is_err());
        assert_eq!(ask(Ok(Some(5))), Ok(Some(5)));
    });
}
