//! Changes that travel with the statements after them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use bursar_db::testing::TestDb;
use bursar_db::{DbError, Foreseen, Options, Reply, Tx, Value};
use bursar_testing::{Engine, seed};

use super::{A, hold, ids, with_table};

const INSERT: &str = "INSERT INTO things (id) VALUES (?1)";
const RENAME: &str = "UPDATE things SET name = ?2 WHERE id = ?1";
const NAME: &str = "SELECT name FROM things WHERE id = ?1";

const ENGINES: [Engine; 2] = [Engine::Sqlite, Engine::Postgres];

fn add(tx: &mut Tx<'_>, id: i64) -> Result<(), DbError> {
    tx.send(INSERT, &[id.into()])
}

fn name(tx: &mut Tx<'_>, id: i64) -> Result<Option<String>, DbError> {
    let found = tx.first(NAME, &[id.into()], |row| Ok(row.text_opt(0)?.map(str::to_owned)))?;
    Ok(found.flatten())
}

#[test]
fn a_change_that_fails_fails_its_own_job() {
    ENGINES.into_iter().for_each(fails_alone);
}

fn fails_alone(engine: Engine) {
    let test = TestDb::open(engine, &Options::default());
    with_table(&test);
    // All of them wait for the lane, and are one batch.
    let (release, held) = hold(&test.db, A);
    let first = test.db.write(A, |tx| add(tx, 1));
    let twice = test.db.write(A, |tx| add(tx, 1));
    let nothing = test.db.write(A, |tx| {
        add(tx, 3)?;
        tx.send_one(RENAME, &[99.into(), "nobody".into()])
    });
    let refused: Reply<(), DbError> = test.db.write(A, |tx| {
        add(tx, 4)?;
        Err(DbError::Internal("the job refuses".to_owned()))
    });
    let last = test.db.write(A, |tx| {
        add(tx, 5)?;
        tx.send_one(RENAME, &[5.into(), "five".into()])
    });
    drop(release);
    held.wait().unwrap();
    assert_eq!(first.wait(), Ok(()));
    let twice = twice.wait();
    assert!(matches!(twice, Err(DbError::Constraint(_))), "{twice:?}");
    let nothing = nothing.wait();
    assert!(matches!(nothing, Err(DbError::Internal(_))), "{nothing:?}");
    assert!(refused.wait().is_err());
    assert_eq!(last.wait(), Ok(()));
    assert_eq!(ids(&test.db), [1, 5]);
}

/// Also if the text returns rows.
#[test]
fn what_a_refused_job_changed_is_undone() {
    for engine in ENGINES {
        let test = TestDb::open(engine, &Options::default());
        with_table(&test);
        test.db.write(A, |tx| add(tx, 1)).wait().unwrap();
        let (release, held) = hold(&test.db, A);
        let beside = test.db.write(A, |tx| add(tx, 2));
        let refused: Reply<(), DbError> = test.db.write(A, |tx| {
            let sql = "UPDATE things SET name = 'changed' WHERE id = ?1 RETURNING id";
            assert_eq!(tx.first(sql, &[1.into()], |row| row.int(0))?, Some(1));
            Err(DbError::Internal("the job refuses".to_owned()))
        });
        let after = test.db.write(A, |tx| add(tx, 3));
        drop(release);
        held.wait().unwrap();
        assert!(refused.wait().is_err());
        assert_eq!((beside.wait(), after.wait()), (Ok(()), Ok(())));
        assert_eq!(test.db.read(|tx| name(tx, 1)).wait(), Ok(None), "{engine:?}");
        assert_eq!(ids(&test.db), [1, 2, 3]);
    }
}

#[test]
fn a_job_sees_its_own_changes() {
    ENGINES.into_iter().for_each(sees_its_own);
}

fn sees_its_own(engine: Engine) {
    let test = TestDb::open(engine, &Options::default());
    with_table(&test);
    test.db.write(A, |tx| add(tx, 1)).wait().unwrap();
    for round in 0..5 {
        let ahead = vec![Foreseen::new(NAME, &[Value::Int(1)])];
        let (before, after) = test
            .db
            .write_ahead(A, ahead, move |tx| {
                let before = if round % 2 == 0 { name(tx, 1)? } else { None };
                tx.send_one(RENAME, &[1.into(), (&format!("round {round}")).into()])?;
                // What was foreseen is older than the change.
                Ok::<_, DbError>((before, name(tx, 1)?))
            })
            .wait()
            .unwrap();
        let last = (round > 0 && round % 2 == 0).then(|| format!("round {}", round - 1));
        assert_eq!((before, after), (last, Some(format!("round {round}"))));
    }
}

/// What a job does after it has read its row.
#[derive(Clone, Copy, Debug)]
enum Step {
    Rename,
    Add,
    /// Without telling which row.
    RenameUntold,
    RenameAll,
    Refuse,
}

/// Everything is asked before the first job runs, and each job still finds what those before it left.
#[test]
fn jobs_of_a_batch_find_what_those_before_them_left() {
    ENGINES.into_iter().for_each(finds_what_was_left);
}

fn finds_what_was_left(engine: Engine) {
    let seed = seed();
    let mut random = fastrand::Rng::with_seed(seed);
    let test = TestDb::open(engine, &Options::default());
    with_table(&test);
    let mut names: BTreeMap<i64, String> = BTreeMap::new();
    for batch in 0..30 {
        let (release, held) = hold(&test.db, A);
        let mut expected = Vec::new();
        let mut replies = Vec::new();
        for job in 0..random.usize(1..20) {
            let id = random.i64(1..6);
            let step = match (names.contains_key(&id), random.u8(0..12)) {
                (_, 0) => Step::Refuse,
                (_, 1) => Step::RenameAll,
                (true, 2) => Step::RenameUntold,
                (true, _) => Step::Rename,
                (false, _) => Step::Add,
            };
            let new = format!("{batch}.{job}");
            expected.push((step, names.get(&id).cloned()));
            match step {
                Step::Rename | Step::RenameUntold | Step::Add => drop(names.insert(id, new.clone())),
                Step::RenameAll => names.values_mut().for_each(|name| name.clone_from(&new)),
                Step::Refuse => {}
            }
            let ahead = vec![Foreseen::of_row(1, NAME, &[Value::Int(id)])];
            replies.push(test.db.write_ahead(A, ahead, move |tx| {
                let found = name(tx, id)?;
                let new = Value::Text(&new);
                match step {
                    Step::Rename => tx.send_update(1, RENAME, &[id.into(), new])?,
                    Step::RenameUntold => tx.send_one(RENAME, &[id.into(), new])?,
                    Step::Add => tx.send_of_row(
                        1,
                        "INSERT INTO things (id, name) VALUES (?1, ?2)",
                        &[id.into(), new],
                    )?,
                    Step::RenameAll => tx.send("UPDATE things SET name = ?1", &[new])?,
                    Step::Refuse => {
                        tx.send("UPDATE things SET name = 'undone'", &[])?;
                        return Err(DbError::Internal(found.unwrap_or_default()));
                    }
                }
                Ok(found)
            }));
        }
        drop(release);
        held.wait().unwrap();
        for (number, (reply, (step, before))) in replies.into_iter().zip(expected).enumerate() {
            let found = match reply.wait() {
                Err(DbError::Internal(found)) => Ok(Some(found).filter(|found| !found.is_empty())),
                other => other,
            };
            assert_eq!(
                found,
                Ok(before),
                "seed {seed}, {engine:?}, batch {batch}, job {number}, {step:?}"
            );
        }
    }
}

#[test]
fn a_batch_waits_once_for_all_that_its_jobs_ask() {
    const JOBS: i64 = 40;
    let test = TestDb::postgres();
    with_table(&test);
    let run = |round: i64| {
        let (release, held) = hold(&test.db, A);
        let replies: Vec<Reply<(), DbError>> = (0..JOBS)
            .map(|job| {
                let id = 1 + job;
                let ahead = vec![Foreseen::of_row(1, NAME, &[Value::Int(id)])];
                test.db.write_ahead(A, ahead, move |tx| match round {
                    0 => add(tx, id),
                    _ => {
                        name(tx, id)?;
                        tx.send_update(1, RENAME, &[id.into(), "again".into()])
                    }
                })
            })
            .collect();
        let before = test.db.stats().round_trips;
        drop(release);
        held.wait().unwrap();
        for reply in replies {
            reply.wait().unwrap();
        }
        test.db.stats().round_trips - before
    };
    // Each lane prepares its statements once.
    let least = (0..12).map(run).min().unwrap();
    // To look, to change, to commit; and the one that held the lane.
    assert!(least <= 6, "{least} round trips for {JOBS} jobs");
}

/// Jobs that end well, fail, refuse and panic, while connections end on PostgreSQL. What was acknowledged is there, what
/// was refused is not.
#[test]
fn many_jobs_of_all_kinds() {
    ENGINES.into_iter().for_each(all_kinds);
}

fn all_kinds(engine: Engine) {
    let test = TestDb::open(engine, &Options::default());
    with_table(&test);
    let seed = seed();
    let is_over = AtomicBool::new(false);
    let mut there = BTreeSet::new();
    let mut unknown = BTreeSet::new();
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..12_i64)
            .map(|caller| {
                let db = &test.db;
                scope.spawn(move || {
                    let mut random = fastrand::Rng::with_seed(seed ^ caller.unsigned_abs());
                    let (mut kept, mut doubtful) = (Vec::new(), Vec::new());
                    for number in 0..60 {
                        let id = 1_000 * (caller + 1) + number;
                        let kind = random.u8(0..8);
                        let ahead = vec![Foreseen::new(NAME, &[Value::Int(id)])];
                        let organization = [u8::try_from(caller % 3).unwrap(); 16];
                        let reply: Reply<(), DbError> = db.write_ahead(organization, ahead, move |tx| {
                            if kind != 0 {
                                assert_eq!(name(tx, id)?, None);
                            }
                            add(tx, id)?;
                            match kind {
                                1 => add(tx, id)?,
                                2 => return Err(DbError::Internal("it refuses".to_owned())),
                                3 => panic!("a job that panics"),
                                4 => tx.send_one(RENAME, &[(-id).into(), "x".into()])?,
                                5 => drop(tx.execute(INSERT, &[id.into()])),
                                _ => {}
                            }
                            tx.send_one(RENAME, &[id.into(), "named".into()])
                        });
                        let is_refused = (1..=5).contains(&kind);
                        match reply.wait() {
                            Ok(()) => {
                                assert!(!is_refused, "seed {seed}: kind {kind}");
                                kept.push(id);
                            }
                            Err(DbError::Unavailable(_)) if !is_refused => doubtful.push(id),
                            Err(error) => {
                                let is_lost = matches!(error, DbError::Unavailable(_));
                                assert!(is_refused || is_lost, "seed {seed}: kind {kind}: {error:?}");
                            }
                        }
                    }
                    (kept, doubtful)
                })
            })
            .collect();
        let (is_over, place) = (&is_over, &test.place);
        if engine == Engine::Postgres {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    std::thread::sleep(std::time::Duration::from_millis(150));
                    place.beside(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                         WHERE datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.3",
                    );
                }
            });
        }
        let ended: Vec<_> = callers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        is_over.store(true, Ordering::Relaxed);
        for ended in ended {
            let (kept, doubtful) = ended.unwrap();
            there.extend(kept);
            unknown.extend(doubtful);
        }
    });
    let found: BTreeSet<i64> = ids(&test.db).into_iter().collect();
    assert!(there.is_subset(&found), "seed {seed}");
    let more: Vec<_> = found
        .difference(&there)
        .filter(|id| !unknown.contains(id))
        .collect();
    assert!(more.is_empty(), "seed {seed}: {more:?}");
    assert!(!there.is_empty());
}
