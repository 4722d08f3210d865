//! Statements that are sent before the read that asks them runs.

use std::sync::atomic::{AtomicBool, Ordering};

use bursar_db::testing::TestDb;
use bursar_db::{Db, DbError, Foreseen, Options, Reply, Tx, Value};
use bursar_testing::{Engine, seed};

use super::{insert, with_table};

const NAME: &str = "SELECT name FROM things WHERE id = ?1";
const TWICE: &str = "SELECT 2 * id FROM things WHERE id = ?1";
const FAILS: &str = "SELECT id / (id - ?1) FROM things WHERE id = ?1";

fn name(tx: &mut Tx<'_>, id: i64) -> Result<Option<String>, DbError> {
    tx.first(NAME, &[id.into()], |row| row.text(0).map(str::to_owned))
}

fn number(tx: &mut Tx<'_>, sql: &'static str, id: i64) -> Result<Option<i64>, DbError> {
    tx.first(sql, &[id.into()], |row| row.int(0))
}

fn foreseen(sqls: &[&'static str], id: i64) -> Vec<Foreseen> {
    sqls.iter()
        .map(|sql| Foreseen::new(sql, &[Value::Int(id)]))
        .collect()
}

fn things(test: &TestDb, count: i64) {
    with_table(test);
    let filled: Result<(), DbError> = test.db.exclusive(|tx| {
        for id in 1..=count {
            insert(tx, id)?;
        }
        tx.batch("UPDATE things SET name = 'thing ' || id")
    });
    filled.unwrap();
}

fn one_reader() -> TestDb {
    // Two of each is the least there is; a read at a time leaves the second alone or warms it up.
    TestDb::open(
        Engine::Postgres,
        &Options {
            connections: 2,
            ..Options::default()
        },
    )
}

/// How often the server was waited for, once all statements are prepared on all connections.
fn trips(db: &Db, read: impl Fn() -> Reply<(), DbError>) -> u64 {
    let mut least = u64::MAX;
    for _ in 0..20 {
        let before = db.stats().round_trips;
        read().wait().unwrap();
        least = least.min(db.stats().round_trips - before);
    }
    least
}

#[test]
fn what_is_foreseen_is_waited_for_once() {
    let test = one_reader();
    things(&test, 3);
    let both = |ahead: Vec<Foreseen>| {
        test.db.read_ahead(ahead, |tx| {
            assert_eq!(name(tx, 2)?.as_deref(), Some("thing 2"));
            assert_eq!(number(tx, TWICE, 2)?, Some(4));
            Ok(())
        })
    };
    assert_eq!(trips(&test.db, || both(foreseen(&[NAME, TWICE], 2))), 1);
    assert_eq!(trips(&test.db, || both(foreseen(&[NAME], 2))), 2);
    assert_eq!(trips(&test.db, || both(Vec::new())), 2);
    // Wrong guesses cost, and are never taken for right ones.
    assert_eq!(trips(&test.db, || both(foreseen(&[NAME, TWICE], 3))), 3);
    // The second guess was sent behind the first, which nobody asks.
    let second = || {
        test.db
            .read_ahead(foreseen(&[NAME, TWICE], 2), |tx| number(tx, TWICE, 2).map(drop))
    };
    assert_eq!(trips(&test.db, second), 1);
}

#[test]
fn a_read_finds_what_it_asks_whatever_was_foreseen() {
    let test = one_reader();
    things(&test, 9);
    let seed = seed();
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..300 {
        let guessed: Vec<Foreseen> = (0..random.usize(0..4))
            .map(|_| {
                let sql = *random.choice([NAME, TWICE, FAILS].as_slice()).unwrap();
                Foreseen::new(sql, &[Value::Int(random.i64(1..4))])
            })
            .collect();
        let asked: Vec<(&str, i64)> = (0..random.usize(0..4))
            .map(|_| {
                (
                    *random.choice([NAME, TWICE, FAILS].as_slice()).unwrap(),
                    random.i64(1..4),
                )
            })
            .collect();
        let reply: Reply<(), DbError> = test.db.read_ahead(guessed, move |tx| {
            for (sql, id) in asked {
                match sql {
                    NAME => assert_eq!(name(tx, id)?, Some(format!("thing {id}"))),
                    TWICE => assert_eq!(number(tx, TWICE, id)?, Some(2 * id)),
                    _ => assert!(number(tx, FAILS, id).is_err()),
                }
            }
            Ok(())
        });
        let result = reply.wait();
        assert!(result.is_ok(), "seed {seed}: {result:?}");
    }
}

#[test]
fn reads_that_share_a_flight_keep_their_own_results_and_errors() {
    let test = TestDb::postgres();
    things(&test, 200);
    let seed = seed();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..24_u64)
            .map(|reader| {
                let db = &test.db;
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed ^ reader);
                    for _ in 0..150 {
                        let id = random.i64(1..=200);
                        let kind = random.u8(0..6);
                        let ahead = match kind {
                            0 => foreseen(&[NAME, FAILS], id),
                            1 => foreseen(&[NAME, TWICE], 201 - id),
                            _ => foreseen(&[NAME, TWICE], id),
                        };
                        let reply: Reply<_, DbError> = db.read_ahead(ahead, move |tx| {
                            assert!(kind != 5, "a read that panics");
                            let found = name(tx, id)?;
                            // A connection that ends in between is no answer either.
                            let second = match kind {
                                0 => number(tx, FAILS, id).ok().flatten(),
                                _ => number(tx, TWICE, id)?,
                            };
                            Ok((found, second))
                        });
                        if kind == 4 {
                            drop(reply);
                            continue;
                        }
                        let result = reply.wait();
                        let expected = (Some(format!("thing {id}")), (kind != 0).then_some(2 * id));
                        match kind {
                            5 => assert!(matches!(result, Err(DbError::Panicked(_))), "seed {seed}"),
                            // It was repeated once, and the second connection was ended too.
                            _ if matches!(result, Err(DbError::Unavailable(_))) => {}
                            _ => assert_eq!(result, Ok(expected), "seed {seed}"),
                        }
                    }
                })
            })
            .collect();
        let (is_over, place) = (&is_over, &test.place);
        scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                std::thread::sleep(std::time::Duration::from_millis(100));
                place.beside(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                     WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3",
                );
            }
        });
        let ended: Vec<_> = readers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        is_over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok), "seed {seed}");
    });
}
