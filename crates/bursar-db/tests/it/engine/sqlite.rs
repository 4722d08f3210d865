//! What only the embedded engine has: files, the write-ahead log, a disk that fills up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bursar_db::testing::TestDb;
use bursar_db::{DatabaseUrl, Db, DbError, Opening, Options, Reply, Tx, Value};
use bursar_testing::{Engine, until};

use super::{A, hold, ids, insert, with_table, write_id};

#[test]
fn two_handles_on_one_file_see_each_others_commits_at_once() {
    let test = TestDb::sqlite();
    with_table(&test);
    let other = test.open_again().unwrap();
    for id in 0..50 {
        let (writer, reader) = if id % 2 == 0 {
            (&test.db, &other)
        } else {
            (&other, &test.db)
        };
        write_id(writer, A, id).wait().unwrap();
        assert_eq!(ids(reader).last(), Some(&id));
    }
}

#[test]
fn a_write_waits_for_another_process_that_holds_the_lock() {
    let test = TestDb::sqlite();
    with_table(&test);
    let db = test.db.clone();
    let waiting = test
        .db
        .exclusive(|tx| -> Result<_, DbError> {
            insert(tx, 1)?;
            let waiting = write_id(&db, A, 2);
            std::thread::sleep(std::time::Duration::from_millis(300));
            Ok(waiting)
        })
        .unwrap();
    waiting.wait().unwrap();
    assert_eq!(ids(&test.db), [1, 2]);
}

#[test]
fn synchronous_is_full_on_every_writing_connection() {
    let test = TestDb::sqlite();
    let level = |tx: &mut Tx<'_>| -> Result<(i64, String), DbError> {
        let level = tx.first("PRAGMA synchronous", &[], |row| row.int(0))?;
        let mode = tx.first("PRAGMA journal_mode", &[], |row| Ok(row.text(0)?.to_owned()))?;
        Ok((level.unwrap(), mode.unwrap()))
    };
    assert_eq!(test.db.write(A, level).wait().unwrap(), (2, "wal".to_owned()));
    assert_eq!(test.db.exclusive(level).unwrap(), (2, "wal".to_owned()));
}

/// SQLite keeps what a job could undo in memory, and from some size on in a file.
#[test]
fn a_job_of_any_size_is_undone_alone() {
    let test = TestDb::sqlite();
    with_table(&test);
    // A row has a page and more.
    let rows = 600;
    let fill = |tx: &mut Tx<'_>, rows: i64, with: u8| -> Result<(), DbError> {
        for id in 0..rows {
            let body = vec![with; 5_000];
            tx.execute("DELETE FROM things WHERE id = ?1", &[id.into()])?;
            tx.execute(
                "INSERT INTO things (id, body) VALUES (?1, ?2)",
                &[id.into(), Value::Bytes(&body)],
            )?;
        }
        Ok(())
    };
    let write = |rows: i64, with: u8, is_kept: bool| -> Reply<(), DbError> {
        test.db.write(A, move |tx| {
            fill(tx, rows, with)?;
            match is_kept {
                true => Ok(()),
                false => Err(DbError::Internal("the job refuses".to_owned())),
            }
        })
    };
    write(rows, 1, true).wait().unwrap();
    let (release, held) = hold(&test.db, A);
    let jobs = [
        (40, 2, false),
        (30, 3, true),
        (rows, 4, false),
        (20, 5, true),
        (40, 6, false),
    ];
    let replies = jobs.map(|(rows, with, is_kept)| (write(rows, with, is_kept), is_kept));
    release.send(()).unwrap();
    held.wait().unwrap();
    for (reply, is_kept) in replies {
        let outcome = reply.wait();
        assert_eq!(outcome.is_ok(), is_kept, "{outcome:?}");
    }
    let bodies: Result<Vec<Vec<u8>>, DbError> = test
        .db
        .read(|tx| {
            tx.rows("SELECT body FROM things ORDER BY id", &[], |row| {
                Ok(row.bytes(0)?.to_vec())
            })
        })
        .wait();
    for (id, body) in bodies.unwrap().into_iter().enumerate() {
        let with = match id {
            0..20 => 5,
            20..30 => 3,
            _ => 1,
        };
        assert_eq!(body, vec![with; 5_000], "{id}");
    }
}

#[test]
fn a_full_disk_fails_the_job_or_the_batch_and_the_engine_lives_on() {
    let test = TestDb::sqlite();
    with_table(&test);
    let pages: i64 = test
        .db
        .read(|tx| tx.first("PRAGMA page_count", &[], |row| row.int(0)))
        .wait()
        .map(|p: Option<i64>| p.unwrap())
        .map_err(|e: DbError| e)
        .unwrap();
    let options = Options {
        page_count_max: Some(u32::try_from(pages).unwrap() + 20),
        ..Options::default()
    };
    let small = Db::open(&test.url, &options, Opening::Require).unwrap();
    let big = |id: i64| {
        small.write(A, move |tx| {
            let body = vec![7_u8; 200_000];
            tx.execute(
                "INSERT INTO things (id, body) VALUES (?1, ?2)",
                &[id.into(), Value::Bytes(&body)],
            )
        })
    };
    let (release, held) = hold(&small, A);
    let before = write_id(&small, A, 1);
    let full = big(2);
    let after = write_id(&small, A, 3);
    drop(release);
    held.wait().unwrap();
    let answers = [before.wait(), after.wait()];
    assert!(matches!(full.wait(), Err(DbError::Full(_))));
    // Whoever was told yes is there, whoever was told no is not.
    let told: Vec<i64> = [1, 3]
        .into_iter()
        .zip(&answers)
        .filter(|(_, a)| a.is_ok())
        .map(|(id, _)| id)
        .collect();
    assert_eq!(ids(&small), told);
    assert!(matches!(big(4).wait(), Err(DbError::Full(_))));
    write_id(&small, A, 5).wait().unwrap();
    assert!(ids(&small).contains(&5));
}

#[test]
fn a_transaction_that_the_engine_gave_up_fails_the_whole_batch() {
    let test = TestDb::sqlite();
    with_table(&test);
    let (release, held) = hold(&test.db, A);
    let before = write_id(&test.db, A, 1);
    // What SQLite does by itself on an I/O error: the transaction is gone and the connection commits by itself.
    let gone = test
        .db
        .write(A, |tx| tx.batch("ROLLBACK").map_err(|error: DbError| error));
    let after = write_id(&test.db, A, 2);
    drop(release);
    held.wait().unwrap();
    assert!(matches!(before.wait(), Err(DbError::Unavailable(_))));
    assert!(matches!(gone.wait(), Err(DbError::Unavailable(_))));
    assert!(matches!(after.wait(), Err(DbError::Unavailable(_))));
    assert_eq!(ids(&test.db), [0; 0]);
    write_id(&test.db, A, 3).wait().unwrap();
    assert_eq!(ids(&test.db), [3]);
}

#[test]
fn a_backup_taken_while_others_write_is_consistent() {
    let test = TestDb::sqlite();
    let made: Result<(), DbError> = test.db.exclusive(|tx| {
        tx.batch("CREATE TABLE pairs (id BIGINT, half BIGINT, PRIMARY KEY (id, half)) CLUSTERED")
    });
    made.unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (db, stop) = (test.db.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            let mut id = 0_i64;
            while !stop.load(Ordering::Relaxed) {
                let both = db.write(A, move |tx| -> Result<(), DbError> {
                    tx.execute("INSERT INTO pairs (id, half) VALUES (?1, 1)", &[id.into()])?;
                    tx.execute("INSERT INTO pairs (id, half) VALUES (?1, 2)", &[id.into()])?;
                    Ok(())
                });
                both.wait().unwrap();
                id += 1;
            }
        })
    };
    let to = test.place.file("copy.db");
    let jobs_before = test.db.stats().jobs;
    for round in 1..=5 {
        // However slow the machine is, each copy is taken after some writes and before others.
        until("more was written", || {
            test.db.stats().jobs >= jobs_before + 5 * round
        });
        test.db.backup(&to).unwrap();
        let copy = Db::open(
            &DatabaseUrl::Sqlite(to.clone()),
            &Options::default(),
            Opening::Require,
        )
        .unwrap();
        let counts: Result<Option<(i64, i64)>, DbError> = copy.survey(|tx| {
            tx.first("SELECT COUNT(*), COUNT(DISTINCT id) FROM pairs", &[], |row| {
                Ok((row.int(0)?, row.int(1)?))
            })
        });
        let (halves, pairs) = counts.unwrap().unwrap();
        assert!(pairs > 0, "what was committed before the copy is in it");
        assert_eq!(halves, 2 * pairs);
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let left: Vec<_> = std::fs::read_dir(test.place.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("part"))
        .collect();
    assert_eq!(left, [""; 0]);
    assert!(matches!(
        test.db.backup(&test.place.database_file()),
        Err(DbError::Unwritable(_))
    ));
    assert!(matches!(
        test.db.backup(&test.place.file("none/copy.db")),
        Err(DbError::Unwritable(_))
    ));
}

#[test]
fn the_write_ahead_log_stays_bounded_with_readers_about() {
    let bound = 2 << 20;
    let test = TestDb::open(
        Engine::Sqlite,
        &Options {
            wal_bytes_max: bound,
            ..Options::default()
        },
    );
    with_table(&test);
    let log = test.place.database_file().with_file_name("bursar.db-wal");
    let stop = Arc::new(AtomicBool::new(false));
    let reader = {
        let (db, stop) = (test.db.clone(), Arc::clone(&stop));
        std::thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                let count: Result<_, DbError> = db
                    .snapshot(|tx| tx.rows("SELECT id FROM things", &[], |row| row.int(0)))
                    .wait();
                count.unwrap();
            }
        })
    };
    let mut largest = 0;
    for id in 0..400 {
        let wrote: Result<u64, DbError> = test
            .db
            .write(A, move |tx| {
                let body = vec![1_u8; 50_000];
                tx.execute(
                    "INSERT INTO things (id, body) VALUES (?1, ?2)",
                    &[id.into(), Value::Bytes(&body)],
                )
            })
            .wait();
        wrote.unwrap();
        largest = largest.max(std::fs::metadata(&log).unwrap().len());
    }
    stop.store(true, Ordering::Relaxed);
    reader.join().unwrap();
    // 20 MB went through it. On a busy machine the checkpointer's turn comes late.
    assert!(largest < 6 * bound, "the log grew to {largest} bytes");
    test.db.shutdown();
    let left = std::fs::metadata(&log).map_or(0, |metadata| metadata.len());
    assert_eq!(left, 0, "the last to close leaves no log behind");
}

/// What is committed to a file that nobody will find again is not acknowledged, and later writes do not begin.
#[test]
fn a_write_to_a_file_that_was_deleted_or_replaced_is_refused() {
    let test = TestDb::sqlite();
    with_table(&test);
    let file = test.place.database_file();
    let (aside, copy) = (file.with_extension("aside"), file.with_extension("copy"));
    test.db.backup(&copy).unwrap();
    let is_replaced =
        |error: &DbError| matches!(error, DbError::FileReplaced(line) if line.contains("bursar.db"));
    let refused = |id| {
        let error = write_id(&test.db, A, id).wait().unwrap_err();
        assert!(is_replaced(&error), "{error:?}");
        // What the lane has seen, the readers know.
        let error = test.db.examine_schema().wait().unwrap_err();
        assert!(is_replaced(&error), "{error:?}");
        let error = test.db.exclusive(|tx| insert(tx, id)).unwrap_err();
        assert!(is_replaced(&error), "{error:?}");
    };
    write_id(&test.db, A, 1).wait().unwrap();
    std::fs::rename(&file, &aside).unwrap();
    refused(2);
    std::fs::rename(&copy, &file).unwrap();
    refused(3);
    std::fs::rename(&aside, &file).unwrap();
    until("writes work again", || write_id(&test.db, A, 4).wait().is_ok());
    let log = file.with_file_name("bursar.db-wal");
    let log_aside = file.with_file_name("wal.aside");
    std::fs::rename(&log, &log_aside).unwrap();
    refused(5);
    std::fs::rename(&log_aside, &log).unwrap();
    until("writes work once more", || {
        write_id(&test.db, A, 6).wait().is_ok()
    });
}
