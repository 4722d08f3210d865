//! The change clock of a batch: the jobs count on from each other, and it is written once.

use bursar_db::clock::Clock;
use bursar_db::testing::TestDb;
use bursar_db::{Db, DbError, Options, Reply, Tx, Value, organizations};
use bursar_domain::Timestamp;
use bursar_domain::ids::{IdSource, OrganizationId};
use bursar_domain::organization::Organization;
use bursar_testing::Engine;

use super::hold;

/// Before every stamp, so that each is a microsecond after the last.
const LONG_AGO: Timestamp = Timestamp::from_micros(1);
pub(super) const START: i64 = 1_000;

fn organization(db: &Db) -> OrganizationId {
    organizations_of(db, 1)[0]
}

pub(super) fn organizations_of(db: &Db, count: usize) -> Vec<OrganizationId> {
    let mut source = IdSource::seeded(7);
    let ids: Vec<OrganizationId> = (0..count).map(|_| source.next(LONG_AGO)).collect();
    let made: Result<(), DbError> = db.exclusive(|tx| {
        ids.iter().try_for_each(|id| {
            organizations::insert(tx, &Organization::blank(*id), Timestamp::from_micros(START))
        })
    });
    made.unwrap();
    ids
}

/// Clock, changes of the open epoch, last reference.
pub(super) fn row(tx: &mut Tx<'_>, id: OrganizationId) -> Result<(i64, i64, i64), DbError> {
    let sql = "SELECT clock, epoch_changes, last_reference FROM organizations WHERE id = ?1";
    let found = tx.first(sql, &[Value::Bytes(&id.to_bytes())], |row| {
        Ok((row.int(0)?, row.int(1)?, row.int(2)?))
    })?;
    Ok(found.unwrap())
}

/// Ticks so often, and refuses after that if it is told to. The last stamp.
pub(super) fn ticks(db: &Db, id: OrganizationId, count: usize, refuses: bool) -> Reply<i64, DbError> {
    db.write_ahead(id.to_bytes(), vec![Clock::take_foreseen(id)], move |tx| {
        let mut clock = Clock::take(tx, id, LONG_AGO)?.unwrap();
        for _ in 0..count {
            clock.tick();
        }
        clock.next_reference();
        let last = clock.last().micros();
        clock.give_back(tx)?;
        match refuses {
            true => Err(DbError::Internal("the job refuses".to_owned())),
            false => Ok(last),
        }
    })
}

#[test]
fn jobs_of_a_batch_count_on_from_each_other() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let test = TestDb::open(engine, &Options::default());
        let id = organization(&test.db);
        for round in 0..3 {
            let (clock, changes, reference) = test.db.read(move |tx| row(tx, id)).wait().unwrap();
            let (release, held) = hold(&test.db, id.to_bytes());
            let replies = [
                // In the first round nothing is undone, in the second the first job, in the third one in the middle.
                ticks(&test.db, id, 4, round == 1),
                ticks(&test.db, id, 2, false),
                ticks(&test.db, id, 5, round == 2),
                ticks(&test.db, id, 1, false),
            ];
            drop(release);
            held.wait().unwrap();
            let found: Vec<Option<i64>> = replies.map(|reply| reply.wait().ok()).into();
            let at = |stamps: i64| Some(clock + stamps);
            let (expected, stamps, references) = match round {
                0 => ([at(4), at(6), at(11), at(12)], 12, 4),
                1 => ([None, at(2), at(7), at(8)], 8, 3),
                _ => ([at(4), at(6), None, at(7)], 7, 3),
            };
            assert_eq!(found, expected, "{engine:?}, round {round}");
            let after = test.db.read(move |tx| row(tx, id)).wait();
            let expected = (clock + stamps, changes + stamps, reference + references);
            assert_eq!(after, Ok(expected), "{engine:?}, round {round}");
        }
    }
}

/// It could only move if this transaction had lost its lock.
#[test]
fn a_clock_that_somebody_else_moved_is_not_written_back() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let test = TestDb::open(engine, &Options::default());
        let id = organization(&test.db);
        let written: Result<(), DbError> = test.db.exclusive(|tx| {
            let mut clock = Clock::take(tx, id, LONG_AGO)?.unwrap();
            clock.tick();
            let sql = "UPDATE organizations SET clock = clock + 2 WHERE id = ?1";
            tx.execute(sql, &[Value::Bytes(&id.to_bytes())])?;
            clock.give_back(tx)
        });
        written.unwrap_err();
        let found = test.db.read(move |tx| row(tx, id)).wait();
        assert_eq!(found, Ok((START, 0, 0)), "{engine:?}");
    }
}
