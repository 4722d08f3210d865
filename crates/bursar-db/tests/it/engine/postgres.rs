//! What only the server has: connections that are lost, deadlocks, timeouts, an unavailable server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bursar_db::testing::TestDb;
use bursar_db::{DatabaseUrl, Db, DbError, Opening, Options, Tx};
use bursar_testing::{Engine, Relay};

use super::{A, B, hold, ids, insert, with_table, write_id};

const END_OTHERS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
     WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[test]
fn work_goes_on_after_the_connections_were_ended_between_jobs() {
    let test = TestDb::open(
        Engine::Postgres,
        &Options {
            connections: 4,
            ..Options::default()
        },
    );
    with_table(&test);
    for round in 0..5 {
        write_id(&test.db, A, round).wait().unwrap();
        assert_eq!(ids(&test.db).len(), usize::try_from(round).unwrap() + 1);
        test.place.beside(END_OTHERS);
        for _ in 0..4 {
            let count = |tx: &mut Tx<'_>| tx.first("SELECT COUNT(*) FROM things", &[], |row| row.int(0));
            let reply = if round % 2 == 0 {
                test.db.read(count)
            } else {
                test.db.snapshot(count)
            };
            assert_eq!(reply.wait(), Ok(Some(round + 1)));
        }
    }
}

#[test]
fn a_snapshot_is_taken_anew_only_if_nothing_was_read_from_it() {
    let test = TestDb::postgres();
    with_table(&test);
    let lose_it = |read_before: bool| {
        let (ready, is_ready) = std::sync::mpsc::channel();
        let (ended, is_ended) = std::sync::mpsc::channel();
        let reply = test.db.snapshot(move |tx| {
            let count = "SELECT COUNT(*) FROM things";
            if read_before {
                tx.first(count, &[], |row| row.int(0))?;
            }
            let _ = ready.send(());
            let _ = is_ended.recv();
            tx.first(count, &[], |row| row.int(0))
        });
        is_ready.recv().unwrap();
        test.place.beside(END_OTHERS);
        ended.send(()).unwrap();
        reply.wait()
    };
    assert_eq!(lose_it(false), Ok(Some(0)));
    let mixed = lose_it(true);
    assert!(matches!(mixed, Err(DbError::Unavailable(_))), "{mixed:?}");
}

/// The job has kept them: a page of a list would show them twice.
#[test]
fn rows_of_a_connection_that_broke_are_not_delivered_again() {
    let test = TestDb::postgres();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let delivered = Arc::clone(&seen);
    let reply: Result<(), DbError> = test
        .db
        .read(move |tx| {
            let sql = "SELECT n FROM generate_series(CAST(1 AS BIGINT), 30000) AS n \
                       WHERE n < 20000 OR pg_terminate_backend(pg_backend_pid())";
            tx.each(sql, &[], |row| {
                delivered.lock().unwrap().push(row.int(0)?);
                Ok(())
            })
        })
        .wait();
    assert!(matches!(reply, Err(DbError::Unavailable(_))), "{reply:?}");
    let seen = seen.lock().unwrap();
    assert!(
        !seen.is_empty() && seen.is_sorted_by(|a, b| a < b),
        "{}",
        seen.len()
    );
}

#[test]
fn a_connection_lost_in_the_middle_is_run_again_with_one_effect() {
    let test = TestDb::postgres();
    with_table(&test);
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let reply: Result<i64, DbError> = test
        .db
        .write(A, move |tx| {
            insert(tx, 1)?;
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                let _ = tx.execute("SELECT pg_terminate_backend(pg_backend_pid())", &[]);
                // A job that takes no notice must not go on outside of its transaction.
                insert(tx, 2).unwrap_err();
            }
            Ok(7)
        })
        .wait();
    assert_eq!(reply, Ok(7));
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    assert_eq!(ids(&test.db), [1]);
}

#[test]
fn a_connection_lost_every_time_is_unavailable_after_three_runs() {
    let test = TestDb::postgres();
    with_table(&test);
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let reply: Result<u64, DbError> = test
        .db
        .write(A, move |tx| {
            counted.fetch_add(1, Ordering::SeqCst);
            insert(tx, 1)?;
            tx.execute("SELECT pg_terminate_backend(pg_backend_pid())", &[])
        })
        .wait();
    assert!(matches!(reply, Err(DbError::Unavailable(_))), "{reply:?}");
    assert_eq!(runs.load(Ordering::SeqCst), 3);
    assert_eq!(ids(&test.db), [0; 0]);
}

#[test]
fn a_deadlock_is_run_again_and_both_succeed() {
    let test = TestDb::postgres();
    with_table(&test);
    for id in [1, 2] {
        write_id(&test.db, A, id).wait().unwrap();
    }
    let runs = Arc::new(AtomicUsize::new(0));
    let both_have_one = Arc::new(std::sync::Barrier::new(2));
    let crossing = |organization: [u8; 16], first: i64, second: i64| {
        let (runs, meet) = (Arc::clone(&runs), Arc::clone(&both_have_one));
        let mut is_first_run = true;
        test.db
            .write(organization, move |tx: &mut Tx<'_>| -> Result<(), DbError> {
                runs.fetch_add(1, Ordering::SeqCst);
                let sql = "UPDATE things SET name = COALESCE(name, '') || 'x' WHERE id = ?1";
                tx.execute(sql, &[first.into()])?;
                if std::mem::take(&mut is_first_run) {
                    meet.wait();
                }
                tx.execute(sql, &[second.into()])?;
                Ok(())
            })
    };
    let (one, other) = (crossing(A, 1, 2), crossing(B, 2, 1));
    one.wait().unwrap();
    other.wait().unwrap();
    assert!((3..=5).contains(&runs.load(Ordering::SeqCst)));
    let names: Result<Vec<String>, DbError> = test
        .db
        .read(|tx| tx.rows("SELECT name FROM things", &[], |row| Ok(row.text(0)?.to_owned())))
        .wait();
    assert_eq!(names.unwrap(), ["xx", "xx"]);
}

#[test]
fn a_lock_held_too_long_is_unavailable_and_concerns_only_its_job() {
    let test = TestDb::postgres();
    with_table(&test);
    write_id(&test.db, A, 1).wait().unwrap();
    let held: Result<(), DbError> = test.db.exclusive(|tx| {
        tx.first_locked("SELECT id FROM things WHERE id = ?1", &[1_i64.into()], |row| {
            row.int(0)
        })?;
        let waits = test.db.write(A, |tx| -> Result<Option<i64>, DbError> {
            // The lane's own bound is ten seconds; the test does not wait for it.
            tx.batch("SET LOCAL lock_timeout = '100ms'")?;
            tx.first_locked("SELECT id FROM things WHERE id = ?1", &[1_i64.into()], |row| {
                row.int(0)
            })
        });
        let refused = waits.wait();
        assert!(matches!(refused, Err(DbError::Unavailable(_))), "{refused:?}");
        let claimed: Result<Vec<i64>, DbError> = test
            .db
            .write(B, |tx| {
                insert(tx, 2)?;
                tx.rows_claimed("SELECT id FROM things ORDER BY id", &[], |row| row.int(0))
            })
            .wait();
        assert_eq!(claimed, Ok(vec![2]));
        Ok(())
    });
    held.unwrap();
}

#[test]
fn the_settings_of_the_session_are_ours() {
    let test = TestDb::postgres();
    let settings = |tx: &mut Tx<'_>| -> Result<Vec<String>, DbError> {
        let mut found = Vec::new();
        for sql in [
            "SELECT current_setting('lock_timeout')",
            "SELECT current_setting('statement_timeout')",
            "SELECT current_setting('idle_in_transaction_session_timeout')",
            "SELECT current_setting('application_name')",
            "SELECT current_setting('TimeZone')",
            "SELECT current_setting('transaction_isolation')",
            // A lane keeps plans that were made while tables were small.
            "SELECT current_setting('enable_seqscan')",
        ] {
            found.extend(tx.first(sql, &[], |row| Ok(row.text(0)?.to_owned()))?);
        }
        Ok(found)
    };
    let lane = test.db.write(A, settings).wait().unwrap();
    assert_eq!(
        lane,
        ["10s", "30s", "1min", "bursar", "UTC", "read committed", "off"]
    );
    let snapshot = test.db.snapshot(settings).wait().unwrap();
    assert_eq!(
        snapshot,
        ["10s", "30s", "1min", "bursar", "UTC", "repeatable read", "on"]
    );
    let exclusive = test.db.exclusive(settings).unwrap();
    assert_eq!(
        exclusive,
        ["10s", "0", "0", "bursar", "UTC", "read committed", "on"]
    );
    let survey = test.db.survey(settings).unwrap();
    assert_eq!(
        survey,
        ["10s", "0", "0", "bursar", "UTC", "repeatable read", "on"]
    );
}

#[test]
fn a_server_that_is_away_is_named_quickly() {
    let url: DatabaseUrl = "postgres://u:secret@127.0.0.1:1/d".parse().unwrap();
    let since = Instant::now();
    let error = Db::open(&url, &Options::default(), Opening::Migrate)
        .err()
        .unwrap();
    assert!(since.elapsed() < Duration::from_secs(3));
    let line = error.to_string();
    assert!(matches!(error, DbError::Unavailable(_)));
    assert!(
        line.contains("PostgreSQL at 127.0.0.1:1 is unreachable"),
        "{line}"
    );
    assert!(!line.contains("secret") && !line.contains('\n'), "{line}");
}

#[test]
fn jobs_do_not_hang_when_the_database_goes_away() {
    let test = TestDb::postgres();
    with_table(&test);
    write_id(&test.db, A, 1).wait().unwrap();
    // A database that takes no connections is as good as away, and comes back when we say so.
    test.place.database_allows(false);
    let since = Instant::now();
    let replies: Vec<_> = (0..40_u8)
        .map(|n| write_id(&test.db, [n; 16], 100 + i64::from(n)))
        .collect();
    for reply in replies {
        assert!(matches!(reply.wait(), Err(DbError::Unavailable(_))));
    }
    assert!(matches!(
        test.db.examine_schema().wait(),
        Err(DbError::Unavailable(_))
    ));
    assert!(since.elapsed() < Duration::from_secs(8), "{:?}", since.elapsed());
    test.place.database_allows(true);
    bursar_testing::until("writes work again", || write_id(&test.db, A, 2).wait().is_ok());
    bursar_testing::until("reads work again", || test.db.examine_schema().wait().is_ok());
    assert_eq!(ids(&test.db), [1, 2]);
}

#[test]
fn backup_names_the_tool_to_use() {
    let test = TestDb::postgres();
    let error = test.db.backup(std::path::Path::new("/tmp/x")).unwrap_err();
    assert!(error.to_string().contains("pg_dump"), "{error}");
}

#[test]
fn a_connection_lost_during_commit_is_unavailable_and_not_run_again() {
    let test = TestDb::postgres();
    with_table(&test);
    test.place.beside(
        "CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS \
         $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END $$; \
         CREATE CONSTRAINT TRIGGER last_words AFTER INSERT ON things DEFERRABLE INITIALLY DEFERRED \
         FOR EACH ROW WHEN (NEW.id = 13) EXECUTE FUNCTION die()",
    );
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let reply: Result<(), DbError> = test
        .db
        .write(A, move |tx| {
            counted.fetch_add(1, Ordering::SeqCst);
            insert(tx, 13)
        })
        .wait();
    assert!(
        matches!(&reply, Err(DbError::Unavailable(line)) if line.contains("commit")),
        "{reply:?}"
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    write_id(&test.db, A, 14).wait().unwrap();
    assert_eq!(ids(&test.db), [14]);
}

/// The URL with other hosts.
fn with_hosts(test: &TestDb, hosts: &str) -> DatabaseUrl {
    test.place.with_hosts(hosts).parse().unwrap()
}

#[test]
fn connections_that_go_silent_are_replaced() {
    let test = TestDb::postgres();
    with_table(&test);
    let relay = Relay::to(test.place.server());
    let url = with_hosts(&test, &relay.address.to_string());
    let options = Options {
        flight_max: Some(Duration::from_secs(1)),
        ..Options::default()
    };
    let db = Db::open(&url, &options, Opening::Require).unwrap();
    for id in 0..8 {
        write_id(&db, A, id).wait().unwrap();
        assert_eq!(ids(&db).len(), usize::try_from(id).unwrap() + 1);
    }
    relay.fall_silent();
    let since = Instant::now();
    // The read is asked again on a new connection, and the batch runs again.
    assert_eq!(ids(&db).len(), 8);
    write_id(&db, A, 8).wait().unwrap();
    for id in 9..30 {
        write_id(&db, [u8::try_from(id).unwrap(); 16], id).wait().unwrap();
        assert_eq!(ids(&db).len(), usize::try_from(id).unwrap() + 1);
    }
    assert!(since.elapsed() < Duration::from_secs(20), "{:?}", since.elapsed());
    let since = Instant::now();
    db.shutdown();
    assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
}

#[test]
fn when_one_connection_goes_silent_no_other_is_waited_for() {
    let test = TestDb::postgres();
    with_table(&test);
    let relay = Relay::to(test.place.server());
    let url = with_hosts(&test, &relay.address.to_string());
    let flight_max = Duration::from_secs(4);
    let options = Options {
        flight_max: Some(flight_max),
        ..Options::default()
    };
    let db = Db::open(&url, &options, Opening::Require).unwrap();
    // Every lane has a connection.
    let held: Vec<_> = (1..=4).map(|id| hold(&db, [id; 16])).collect();
    for (release, reply) in held {
        drop(release);
        reply.wait().unwrap();
    }
    relay.fall_silent();
    let since = Instant::now();
    let first = write_id(&db, A, 1);
    std::thread::sleep(Duration::from_secs(3));
    // It waits on a connection of its own, and would do so until the seventh second.
    let second = write_id(&db, B, 2);
    first.wait().unwrap();
    second.wait().unwrap();
    assert!(since.elapsed() < Duration::from_secs(6), "{:?}", since.elapsed());
    // Neither are the lanes that were idle.
    for id in 3..30 {
        write_id(&db, [u8::try_from(id).unwrap(); 16], id).wait().unwrap();
    }
    assert!(since.elapsed() < flight_max * 2, "{:?}", since.elapsed());
    db.shutdown();
}

#[test]
fn a_commit_that_gets_no_answer_is_unknown_and_not_repeated() {
    let test = TestDb::postgres();
    with_table(&test);
    let relay = Arc::new(Relay::to(test.place.server()));
    let url = with_hosts(&test, &relay.address.to_string());
    let options = Options {
        flight_max: Some(Duration::from_secs(1)),
        ..Options::default()
    };
    let db = Db::open(&url, &options, Opening::Require).unwrap();
    let runs = Arc::new(AtomicUsize::new(0));
    let (counted, silenced) = (Arc::clone(&runs), Arc::clone(&relay));
    let reply: Result<(), DbError> = db
        .write(A, move |tx| {
            counted.fetch_add(1, Ordering::SeqCst);
            insert(tx, 1)?;
            silenced.fall_silent();
            Ok(())
        })
        .wait();
    assert!(
        matches!(&reply, Err(DbError::Unavailable(line)) if line.contains("unknown")),
        "{reply:?}"
    );
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    db.shutdown();
}

#[test]
fn a_host_that_accepts_and_says_nothing_does_not_block_the_next() {
    let test = TestDb::postgres();
    with_table(&test);
    // The system accepts connections for a listener that nobody serves.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hosts = format!("{},{}", silent.local_addr().unwrap(), test.place.server());
    let since = Instant::now();
    let db = Db::open(&with_hosts(&test, &hosts), &Options::default(), Opening::Require).unwrap();
    write_id(&db, A, 1).wait().unwrap();
    assert_eq!(ids(&db), [1]);
    assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    db.shutdown();
}

#[test]
fn of_several_hosts_only_one_that_takes_writes_is_used() {
    let test = TestDb::postgres();
    with_table(&test);
    let server = test.place.server();
    let twice = with_hosts(&test, &format!("{server},{server}"));
    let database = test.place.database.rsplit('/').next().unwrap().to_owned();
    let read_only = |word: &str| {
        test.place.beside(&format!(
            "ALTER DATABASE \"{database}\" SET default_transaction_read_only = {word}"
        ));
    };
    let db = Db::open(&twice, &Options::default(), Opening::Require).unwrap();
    write_id(&db, A, 1).wait().unwrap();
    read_only("on");
    let error = Db::open(&twice, &Options::default(), Opening::Require).err();
    assert!(
        matches!(&error, Some(DbError::Unavailable(line)) if line.contains("takes no writes")),
        "{error:?}"
    );
    // A session that began in that time notices at its first write, and is not kept.
    test.place.beside(END_OTHERS);
    let reply = write_id(&test.db, A, 2).wait();
    assert!(matches!(reply, Err(DbError::Unwritable(_))), "{reply:?}");
    test.place.beside(&format!(
        "SET transaction_read_only = off; ALTER DATABASE \"{database}\" RESET default_transaction_read_only"
    ));
    write_id(&test.db, A, 3).wait().unwrap();
    assert_eq!(ids(&test.db), [1, 3]);
    db.shutdown();
}

/// Texts would be lost, or sorted by the rules of a language.
#[test]
fn a_database_of_another_encoding_or_order_is_refused_at_the_start() {
    let test = TestDb::postgres();
    let (host, name) = test.place.database.rsplit_once('/').unwrap();
    for (number, how, part) in [
        (
            1,
            "ENCODING 'LATIN1' LOCALE 'C'",
            "is encoded in LATIN1, not in UTF8",
        ),
        (
            2,
            "ENCODING 'UTF8' LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'",
            "by the rules of a language",
        ),
    ] {
        let other = format!("{name}_{number}");
        test.place
            .beside(&format!("CREATE DATABASE {other} TEMPLATE template0 {how}"));
        let url: DatabaseUrl = format!("{host}/{other}").parse().unwrap();
        let opened = Db::open(&url, &Options::default(), Opening::Migrate);
        let error = opened.map(drop).unwrap_err().to_string();
        // What is in it can be read, and there is nothing.
        let read = Db::open(&url, &Options::default(), Opening::Require)
            .map(drop)
            .unwrap_err();
        test.place.beside(&format!("DROP DATABASE {other} WITH (FORCE)"));
        assert!(
            error.contains(part) && error.contains("--locale=C --encoding=UTF8"),
            "{error}"
        );
        assert!(
            matches!(read, DbError::NoDatabase(_) | DbError::SchemaOlder { .. }),
            "{read:?}"
        );
    }
}

#[test]
fn a_missing_right_is_told_with_the_statement_that_gives_it() {
    let test = TestDb::postgres();
    let (host, name) = test.place.database.rsplit_once('/').unwrap();
    let (_, server) = host.rsplit_once('@').unwrap();
    let user = format!("{name}_user");
    test.place.beside(&format!("CREATE ROLE {user} LOGIN"));
    let url: DatabaseUrl = format!("postgres://{user}@{server}/{name}").parse().unwrap();
    let refused = |opening| {
        let opened = Db::open(&url, &Options::default(), opening);
        let read = opened.and_then(|db| {
            db.read(|tx| tx.first("SELECT COUNT(*) FROM members", &[], |row| row.int(0)))
                .wait()
        });
        read.unwrap_err().to_string()
    };
    let no_table = refused(Opening::Require);
    test.place
        .beside(&format!("REVOKE CONNECT ON DATABASE {name} FROM PUBLIC"));
    let no_database = refused(Opening::Require);
    test.place.beside(&format!(
        "GRANT CONNECT ON DATABASE {name} TO {user}; REVOKE ALL ON SCHEMA public FROM PUBLIC"
    ));
    test.place
        .beside("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
    test.place
        .beside(&format!("GRANT USAGE ON SCHEMA public TO {user}"));
    let no_schema = refused(Opening::Migrate);
    test.place
        .beside(&format!("DROP OWNED BY {user}; DROP ROLE {user}"));
    for (error, statement) in [
        (
            no_table,
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO USER".to_owned(),
        ),
        (
            no_database,
            format!("GRANT CONNECT ON DATABASE \"{name}\" TO USER"),
        ),
        (
            no_schema,
            "GRANT USAGE, CREATE ON SCHEMA public TO USER".to_owned(),
        ),
    ] {
        assert!(error.contains(&statement), "{statement}: {error}");
    }
}
