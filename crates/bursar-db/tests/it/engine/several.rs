//! Batches of several organizations.

use std::sync::mpsc;
use std::time::Duration;

use bursar_db::clock::Clock;
use bursar_db::testing::{TestDb, both_engines};
use bursar_db::{Db, DbError, EngineKind, Reply, Tx, Value};
use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;
use bursar_testing::seed;

use super::held::{START, organizations_of, row, ticks};
use super::{hold, ids, with_table, write_id};

/// How many lanes PostgreSQL has.
const LANES: u8 = 4;
const INSERT: &str = "INSERT INTO things (id) VALUES (?1)";

/// Submits jobs while every lane is busy, so that they wait together.
fn together<T>(db: &Db, submit: impl FnOnce() -> T) -> T {
    let releases: Vec<_> = match db.kind() {
        EngineKind::Sqlite => vec![hold(db, [1; 16])],
        EngineKind::Postgres => (1..=LANES).map(|n| hold(db, [n; 16])).collect(),
    };
    let submitted = submit();
    let replies: Vec<Reply<(), DbError>> = releases.into_iter().map(|(_, reply)| reply).collect();
    replies.into_iter().for_each(|reply| reply.wait().unwrap());
    submitted
}

#[test]
fn organizations_that_wait_share_a_batch() {
    both_engines(|test| {
        let organizations = organizations_of(&test.db, 40);
        let before = test.db.stats();
        let replies = together(&test.db, || {
            let of_each = organizations.iter().flat_map(|id| [*id, *id]);
            of_each
                .map(|id| ticks(&test.db, id, 3, false))
                .collect::<Vec<_>>()
        });
        let stamps: Vec<i64> = replies.into_iter().map(|reply| reply.wait().unwrap()).collect();
        assert_eq!(stamps, [START + 3, START + 6].repeat(40));
        for id in organizations {
            let found = test.db.read(move |tx| row(tx, id)).wait();
            assert_eq!(found, Ok((START + 6, 6, 2)));
        }
        let after = test.db.stats();
        let holders = match test.db.kind() {
            EngineKind::Sqlite => 1,
            EngineKind::Postgres => u64::from(LANES),
        };
        assert_eq!(after.jobs - before.jobs, 80 + holders);
        let batches = after.batches - before.batches;
        assert!(batches < 30, "{batches} batches for 40 organizations");
    });
}

#[test]
fn one_that_is_locked_elsewhere_keeps_no_other_waiting() {
    let test = TestDb::postgres();
    let organizations = organizations_of(&test.db, 20);
    let locked = organizations[7];
    let (release, wait) = mpsc::channel::<()>();
    let (began, has_begun) = mpsc::channel();
    std::thread::scope(|scope| {
        let db = &test.db;
        // As an import does.
        scope.spawn(move || {
            let held: Result<(), DbError> = db.exclusive(|tx| {
                Clock::take(tx, locked, Timestamp::from_micros(1))?.unwrap();
                began.send(()).unwrap();
                let _ = wait.recv();
                Ok(())
            });
            held.unwrap();
        });
        has_begun.recv().unwrap();
        let mut replies = together(&test.db, || {
            let each = organizations.iter();
            each.map(|id| (*id, ticks(&test.db, *id, 1, false)))
                .collect::<Vec<_>>()
        });
        let (_, waiting) = replies.remove(7);
        for (id, reply) in replies {
            assert_eq!(reply.wait(), Ok(START + 1), "{id}");
        }
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(test.db.read(move |tx| row(tx, locked)).wait(), Ok((START, 0, 0)));
        drop(release);
        assert_eq!(waiting.wait(), Ok(START + 1));
    });
}

/// Each alone would be a commit for one job.
#[test]
fn those_that_another_process_writes_are_one_batch_after_it() {
    const STUCK: &str = "SELECT COUNT(*) FROM pg_stat_activity \
                         WHERE datname = current_database() AND wait_event_type = 'Lock'";
    let test = TestDb::postgres();
    let organizations = organizations_of(&test.db, 12);
    let (release, wait) = mpsc::channel::<()>();
    let (began, has_begun) = mpsc::channel();
    let before = test.db.stats();
    std::thread::scope(|scope| {
        let (db, organizations) = (&test.db, &organizations);
        scope.spawn(move || {
            let held: Result<(), DbError> = db.exclusive(|tx| {
                for id in organizations {
                    Clock::take(tx, *id, Timestamp::from_micros(1))?.unwrap();
                }
                began.send(()).unwrap();
                let _ = wait.recv();
                Ok(())
            });
            held.unwrap();
        });
        has_begun.recv().unwrap();
        let replies = together(db, || {
            let each = organizations.iter();
            each.map(|id| ticks(db, *id, 1, false)).collect::<Vec<_>>()
        });
        let stuck = || db.read(|tx| tx.rows(STUCK, &[], |row| row.int(0))).wait();
        while stuck() == Ok(vec![0]) {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(release);
        for reply in replies {
            assert_eq!(reply.wait(), Ok(START + 1));
        }
    });
    let batches = test.db.stats().batches - before.batches - u64::from(LANES);
    assert!(batches <= 3, "{batches} batches for 12 organizations");
}

/// When a job is undone, the locks of the batch stay: another process would write in between.
#[test]
fn a_job_that_is_undone_takes_no_lock_with_it() {
    let test = TestDb::postgres();
    with_table(&test);
    let organizations = organizations_of(&test.db, 4);
    let (one, two) = (organizations[0], organizations[1]);
    the_lock_stays(&test, &organizations, one, two);
    // Of one organization, and alone.
    the_lock_stays(&test, &organizations[..2], one, one);
}

fn the_lock_stays(
    test: &TestDb,
    organizations: &[OrganizationId],
    first: OrganizationId,
    second: OrganizationId,
) {
    let (began, has_begun) = mpsc::channel();
    let (release, wait) = mpsc::channel::<()>();
    // They wait at the same time, so they are one batch.
    let (refused, second_job, others) = together(&test.db, || {
        let refused = job(&test.db, first, 1, End::Refused);
        let second_job = test.db.write_ahead(
            second.to_bytes(),
            vec![Clock::take_foreseen(second)],
            move |tx: &mut Tx<'_>| {
                Clock::take(tx, second, Timestamp::from_micros(1))?.unwrap();
                // Waits for everything before it, the undoing too.
                tx.first("SELECT COUNT(*) FROM organizations", &[], |row| row.int(0))?;
                began.send(()).unwrap();
                let _ = wait.recv();
                Ok::<_, DbError>(())
            },
        );
        let others = organizations[2..].iter();
        let others: Vec<_> = others.map(|id| ticks(&test.db, *id, 1, false)).collect();
        (refused, second_job, others)
    });
    has_begun.recv().unwrap();
    let free: Result<Vec<Vec<u8>>, DbError> = test.db.exclusive(|tx| {
        let sql = "SELECT id FROM organizations WHERE id = ?1";
        tx.rows_claimed(sql, &[Value::Bytes(&second.to_bytes())], |row| {
            row.bytes(0).map(<[u8]>::to_vec)
        })
    });
    assert_eq!(free, Ok(Vec::new()), "the organization is not locked any more");
    drop(release);
    assert_eq!(second_job.wait(), Ok(()));
    assert!(refused.wait().is_err());
    for reply in others {
        assert_eq!(reply.wait(), Ok(START + 1));
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Well,
    /// Before and after a change.
    RefusedAtOnce,
    Refused,
    /// Nobody waits for the statement that fails.
    Failed,
    Panicked,
}

/// A job takes three stamps, adds a row, and ends in some way. What ended well is there, once, and nothing else.
#[test]
fn whatever_a_job_does_is_its_own_matter() {
    both_engines(|test| {
        with_table(test);
        let seed = seed();
        let mut random = fastrand::Rng::with_seed(seed);
        let organizations = organizations_of(&test.db, 12);
        let mut expected: Vec<(i64, Vec<i64>)> = vec![(START, Vec::new()); organizations.len()];
        let mut number = 0;
        for round in 0..12 {
            let jobs: Vec<(usize, i64, End)> = (0..random.i64(10..60))
                .map(|_| {
                    let end = match random.u8(0..20) {
                        0 => End::RefusedAtOnce,
                        1 => End::Refused,
                        2 => End::Failed,
                        3 => End::Panicked,
                        _ => End::Well,
                    };
                    number += 1;
                    (random.usize(0..organizations.len()), number, end)
                })
                .collect();
            let replies = together(&test.db, || {
                let submit =
                    |(at, number, end): &(usize, i64, End)| job(&test.db, organizations[*at], *number, *end);
                jobs.iter().map(submit).collect::<Vec<_>>()
            });
            for ((at, number, end), reply) in jobs.into_iter().zip(replies) {
                let found = reply.wait();
                let says = format!("seed {seed}, round {round}, job {number}, {end:?}: {found:?}");
                assert_eq!(found.is_ok(), end == End::Well, "{says}");
                if let Ok(stamp) = found {
                    let (clock, there) = &mut expected[at];
                    *clock += 3;
                    there.push(number);
                    assert_eq!(stamp, *clock, "{says}");
                }
            }
        }
        let mut all: Vec<i64> = expected.iter().flat_map(|(_, there)| there.clone()).collect();
        all.sort_unstable();
        assert_eq!(ids(&test.db), all, "seed {seed}");
        for (id, (clock, _)) in organizations.into_iter().zip(expected) {
            let found = test.db.read(move |tx| row(tx, id)).wait().unwrap();
            assert_eq!(found.0, clock, "seed {seed}");
        }
    });
}

fn job(db: &Db, organization: OrganizationId, number: i64, end: End) -> Reply<i64, DbError> {
    let ahead = vec![Clock::take_foreseen(organization)];
    db.write_ahead(organization.to_bytes(), ahead, move |tx: &mut Tx<'_>| {
        let refusal = || Err(DbError::Internal("the job refuses".to_owned()));
        let mut clock = Clock::take(tx, organization, Timestamp::from_micros(1))?.unwrap();
        if end == End::RefusedAtOnce {
            return refusal();
        }
        for _ in 0..3 {
            clock.tick();
        }
        let last = clock.last().micros();
        tx.send_of_row(1, INSERT, &[Value::Int(number)])?;
        clock.give_back(tx)?;
        match end {
            End::Refused => refusal(),
            End::Panicked => panic!("a job that panics"),
            End::Failed => tx.send_of_row(1, INSERT, &[Value::Int(number)]).map(|()| last),
            End::Well | End::RefusedAtOnce => Ok(last),
        }
    })
}

#[test]
fn lanes_that_are_stuck_keep_nobody_waiting() {
    let test = TestDb::postgres();
    with_table(&test);
    for number in 0..20 {
        let stuck = [hold(&test.db, [1; 16]), hold(&test.db, [2; 16])];
        let (began, has_begun) = mpsc::channel();
        let (release, wait) = mpsc::channel::<()>();
        let third: Reply<(), DbError> = test.db.write([3; 16], move |_: &mut Tx<'_>| {
            let _ = began.send(());
            let _ = wait.recv();
            Ok(())
        });
        has_begun.recv().unwrap();
        write_id(&test.db, [4; 16], number).wait().unwrap();
        drop(release);
        third.wait().unwrap();
        for (release, reply) in stuck {
            drop(release);
            reply.wait().unwrap();
        }
    }
    assert_eq!(ids(&test.db), (0..20).collect::<Vec<_>>());
}
