//! What readers remember is never older than the database.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};

use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, EngineKind};

use super::{A, insert, with_table, write_id};

/// How many rows there are, by a look-up that counts itself.
fn rows(db: &Db, asked: &Arc<AtomicUsize>) -> i64 {
    let asked = Arc::clone(asked);
    let found = db.read::<_, DbError>(move |tx| {
        tx.remembered([7; 32], |tx| {
            asked.fetch_add(1, Ordering::SeqCst);
            tx.first("SELECT COUNT(*) FROM things", &[], |row| row.int(0))
        })
    });
    *found.wait().unwrap().unwrap()
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
        write_id(&test.db, A, 1).wait().unwrap();
        assert_eq!(rows(&test.db, &asked), 1, "after a write of this process");
        let other = test.open_again().unwrap();
        write_id(&other, A, 2).wait().unwrap();
        other.shutdown();
        assert_eq!(rows(&test.db, &asked), 2, "after a write of another one");
        test.db.exclusive::<_, DbError>(|tx| insert(tx, 3)).unwrap();
        assert_eq!(rows(&test.db, &asked), 3, "after a long write");
        assert_eq!(rows(&test.db, &asked), 3);
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
