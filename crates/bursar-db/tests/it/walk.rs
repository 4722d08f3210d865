//! The promise of a walk, held against a model that remembers every version of every row: whatever is written
//! between its pages, a walk gives each row of its watermark exactly once, in order, as it stood.

mod concurrent;
mod dead;
mod model;
mod sample;
mod upgrade;

use bursar_db::clock::{Clock, EPOCH_CHANGES};
use bursar_db::housekeeping::{HISTORY_SECONDS, prune_history, with_old_history};
use bursar_db::testing::{TestDb, both_engines, is_full};
use bursar_db::walk::{Ask, Page, WalkError, first_page, next_page};
use bursar_db::{Db, DbError, Value, organizations, table};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::chapter::Chapter;
use bursar_domain::cursor::{Cursor, Filters};
use bursar_domain::group::Group;
use bursar_domain::ids::{Id, IdSource, OrganizationId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::order::Order;
use bursar_domain::organization::Organization;
use bursar_domain::page::PageLimit;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::{Stamps, Timestamp};
use fastrand::Rng;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use model::{Model, joined};
use sample::Sample;

/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600_000_000;

#[test]
fn a_walk_is_a_snapshot_on_sqlite() {
    every_list(&TestDb::sqlite());
}

#[test]
fn a_walk_is_a_snapshot_on_postgres() {
    every_list(&TestDb::postgres());
}

fn every_list(test: &TestDb) {
    let times = if is_full() { 6 } else { 1 };
    interleave::<Member>(test, 20 * times);
    interleave::<Payment>(test, 20 * times);
    interleave::<Reimbursement>(test, 8 * times);
    interleave::<Reminder>(test, 8 * times);
    interleave::<Card>(test, 8 * times);
    interleave::<Group>(test, 4 * times);
    interleave::<Campaign>(test, 8 * times);
    interleave::<Listing>(test, 4 * times);
    interleave::<Order>(test, 20 * times);
    interleave::<Chapter>(test, 4 * times);
}

/// Ten of twenty rows change after the first page, and their old versions are pruned: the walk must not go on without
/// them. The next one is complete.
#[test]
fn a_walk_without_its_history_is_refused() {
    both_engines(|test| {
        let mut world = World::<Member>::new(test, &[0; 20]);
        let quiet = World::<Member>::new(test, &[0; 20]);
        let cursor = world.first_page(Filters::default(), 10).next.unwrap();
        let undisturbed = quiet.first_page(Filters::default(), 10).next.unwrap();
        for seed in 0..10 {
            // The eleventh row, which becomes the last.
            world.write(vec![(1 << 31, seed)], None);
        }
        assert_eq!(world.next_page(cursor, 10).count, 10);
        world.prune(0);
        let refused = world.try_next_page(world.organization, cursor, 10);
        assert_eq!(refused.unwrap_err(), WalkError::Pruned);
        assert_eq!(world.walk(Filters::default(), 7).len(), 3);
        // What happens to one organization's history is nothing to another.
        assert_eq!(quiet.next_page(undisturbed, 10).count, 10);
    });
}

/// Picks one of however many there are: 0 the first, the largest the last.
type Pick = u32;

fn picked(pick: Pick, of: usize) -> usize {
    usize::try_from((u64::from(pick) * of as u64) >> 32).unwrap()
}

/// What happens next.
#[derive(Clone, Debug)]
enum Op {
    /// A row is added.
    Add(u64),
    /// A row changes.
    Change(Pick, u64),
    /// One transaction changes several rows and adds one.
    Several(Vec<(Pick, u64)>, u64),
    /// A transaction takes the clock and changes nothing.
    Nothing,
    /// The open epoch of history is about to end.
    EpochEnds,
    /// What an upgrade leaves: all versions in one epoch that has ended.
    Upgrade,
    /// A walk begins.
    Begin(u64, u8),
    /// A walk that is under way goes on.
    Page(Pick, u8),
    /// A client reads everything, and later what changed since.
    Sync(u8),
    /// What was superseded so long before the clock is pruned, though walks may still need it.
    Prune(u8),
}

/// A step of the wall clock, which may be back, and what happens then.
fn ops() -> impl Strategy<Value = Vec<(i64, Op)>> {
    let limit = || prop_oneof![6 => 1u8..=6, 1 => 7u8..=100];
    let op = prop_oneof![
        3 => any::<u64>().prop_map(Op::Add),
        6 => (any::<u32>(), any::<u64>()).prop_map(|(row, seed)| Op::Change(row, seed)),
        2 => (prop::collection::vec((any::<u32>(), any::<u64>()), 1..4), any::<u64>())
            .prop_map(|(rows, seed)| Op::Several(rows, seed)),
        1 => Just(Op::Nothing),
        3 => Just(Op::EpochEnds),
        1 => Just(Op::Upgrade),
        2 => (any::<u64>(), limit()).prop_map(|(seed, limit)| Op::Begin(seed, limit)),
        6 => (any::<u32>(), limit()).prop_map(|(walk, limit)| Op::Page(walk, limit)),
        1 => limit().prop_map(Op::Sync),
        2 => (0u8..24).prop_map(Op::Prune),
    ];
    prop::collection::vec((-20i64..40, op), 1..60)
}

fn interleave<R: Sample>(test: &TestDb, cases: u32) {
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let case = (prop::collection::vec(0i64..4, 0..12), ops());
    let outcome = TestRunner::new(config).run(&case, |(imported, ops)| {
        let mut world = World::<R>::new(test, &imported);
        for (step, op) in ops {
            world.now += step;
            world.run(op);
        }
        world.finish();
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{}: {failure}", R::TYPE);
    }
}

/// An organization with one kind of rows, what they are and were, and walks under way.
struct World<'a, R> {
    db: &'a Db,
    organization: OrganizationId,
    ids: IdSource,
    now: i64,
    clock: i64,
    model: Model<R>,
    walks: Vec<Walk<R>>,
    /// Nothing that was superseded from here on was pruned.
    pruned_before: i64,
}

/// A walk under way, and all that it has to give.
struct Walk<R> {
    cursor: Cursor,
    expected: Vec<R>,
    given: usize,
}

impl<'a, R: Sample> World<'a, R> {
    /// An organization whose first rows were imported with stamps of their own, some of them equal.
    fn new(test: &'a TestDb, imported: &[i64]) -> Self {
        let mut ids = IdSource::seeded(bursar_testing::seed());
        let organization: OrganizationId = ids.next(at(START));
        let mut model = Model::default();
        for stamp in imported {
            let mut row = new_row::<R>(&mut ids, START + stamp);
            row.stamps_mut().updated_at = at(START + stamp);
            model.put(row);
        }
        let clock = imported.iter().max().map_or(0, |stamp| START + stamp);
        let rows: Vec<R> = model.at(at(clock), &Filters::default());
        let made = test.db.write(organization.to_bytes(), move |tx| {
            organizations::insert(tx, &named(organization), at(clock))?;
            rows.iter()
                .try_for_each(|row| table::insert(tx, organization, row).map(drop))
        });
        made.wait().map_err(|error: DbError| error).unwrap();
        Self {
            db: &test.db,
            organization,
            ids,
            now: START,
            clock,
            model,
            walks: Vec::new(),
            pruned_before: i64::MIN,
        }
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Add(seed) => self.write(vec![], Some(seed)),
            Op::Change(row, seed) => self.write(vec![(row, seed)], None),
            Op::Several(rows, seed) => self.write(rows, Some(seed)),
            Op::Nothing => self.write(vec![], None),
            Op::EpochEnds => epoch_ends(self.db, self.organization),
            Op::Upgrade => self.upgrade(),
            Op::Begin(seed, limit) => self.begin(&mut Rng::with_seed(seed), limit),
            Op::Page(walk, limit) => self.go_on(walk, limit),
            Op::Sync(limit) => self.sync(limit),
            Op::Prune(before) => self.prune(i64::from(before)),
        }
    }

    /// One transaction that changes rows, and adds one that is made from a seed.
    fn write(&mut self, changes: Vec<(Pick, u64)>, new: Option<u64>) {
        let mut changed: Vec<R> = Vec::new();
        for (index, seed) in changes {
            let rows = self.model.newest();
            if rows.is_empty() {
                continue;
            }
            let mut row = rows[picked(index, rows.len())].clone();
            // A transaction changes a row once.
            if changed.iter().all(|other| other.id() != row.id()) {
                row.vary(&mut Rng::with_seed(seed));
                changed.push(row);
            }
        }
        let new = new.map(|seed| {
            let mut row = new_row::<R>(&mut self.ids, self.now);
            row.vary(&mut Rng::with_seed(seed));
            row
        });
        for row in commit(self.db, self.organization, at(self.now), changed, new).unwrap() {
            let stamp = row.stamps().updated_at.micros();
            assert!(stamp > self.clock, "a stamp is later than every earlier one");
            assert!(stamp >= self.now, "and not before the wall clock");
            self.clock = stamp;
            self.model.put(row);
        }
    }

    fn upgrade(&self) {
        let organization = self.organization;
        let done = self.db.write(organization.to_bytes(), move |tx| {
            let params = [Value::Bytes(&organization.to_bytes())];
            tx.execute("UPDATE history SET epoch = 0 WHERE organization_id = ?1", &params)?;
            let opened = "UPDATE organizations SET epoch = clock + 1, epoch_changes = 0 WHERE id = ?1";
            tx.execute(opened, &params)
        });
        done.wait().map_err(|error: DbError| error).unwrap();
    }

    fn begin(&mut self, rng: &mut Rng, rows: u8) {
        let filters = Filters {
            updated_since: rng.bool().then(|| at(START + rng.i64(-3..300))),
            ..R::narrow(rng)
        };
        let expected = self.model.at(at(self.clock), &filters);
        let page = self.first_page(filters, rows);
        let given = self.check(&page, &expected, 0, rows);
        if let Some(cursor) = page.next {
            assert_eq!(
                (cursor.watermark, cursor.filters, cursor.started_at),
                (at(self.clock), filters, at(self.now))
            );
            self.walks.push(Walk {
                cursor,
                expected,
                given,
            });
        }
    }

    fn go_on(&mut self, index: Pick, rows: u8) {
        if self.walks.is_empty() {
            return;
        }
        let number = picked(index, self.walks.len());
        let mut walk = self.walks.swap_remove(number);
        let page = match self.try_next_page(self.organization, walk.cursor, rows) {
            // Complete or refused, never short.
            Err(WalkError::Pruned) => {
                assert!(
                    walk.cursor.watermark.micros() < self.pruned_before,
                    "nothing that it needs was pruned"
                );
                return;
            }
            page => page.unwrap(),
        };
        walk.given += self.check(&page, &walk.expected, walk.given, rows);
        if let Some(cursor) = page.next {
            walk.cursor = cursor;
            self.walks.push(walk);
        }
    }

    fn prune(&mut self, before: i64) {
        let cut = self.clock + 1 - before;
        let now = at(cut).plus_seconds(HISTORY_SECONDS);
        let organization = self.organization;
        let prunable = self.db.read(move |tx| with_old_history(tx, now)).wait();
        let pruned = self
            .db
            .write::<_, DbError>(organization.to_bytes(), move |tx| {
                prune_history(tx, organization, now)
            })
            .wait();
        let pruned = pruned.unwrap();
        let is_prunable = prunable
            .unwrap_or_else(|error: DbError| panic!("{error}"))
            .contains(&organization);
        assert_eq!(is_prunable, pruned > 0);
        if pruned > 0 {
            self.pruned_before = self.pruned_before.max(cut);
        }
    }

    /// Holds a page against all that its walk has to give; how many rows it has.
    fn check(&self, page: &Page, expected: &[R], given: usize, rows: u8) -> usize {
        let rest = &expected[given..];
        let shown = &rest[..rest.len().min(rows.into())];
        assert_eq!(text(page.text.clone()), joined(shown));
        assert_eq!(page.count, shown.len());
        assert_eq!(page.next.is_some(), rest.len() > shown.len(), "hasMore");
        shown.len()
    }

    /// All rows of one walk, in pages of this size.
    fn walk(&self, filters: Filters, rows: u8) -> Vec<String> {
        let mut page = self.first_page(filters, rows);
        let mut data = Vec::new();
        loop {
            assert!(data.len() < 10_000, "the walk does not end");
            if page.count > 0 {
                data.push(text(page.text));
            }
            match page.next {
                None => return data,
                Some(cursor) => page = self.next_page(cursor, rows),
            }
        }
    }

    /// The largest stamp of a finished walk is where the next one goes on: it brings what changed and what has
    /// that very stamp, and nothing else.
    fn sync(&mut self, rows: u8) {
        let seen = self.model.at(at(self.clock), &Filters::default());
        assert_eq!(self.walk(Filters::default(), rows).join(","), joined(&seen));
        let since = seen.last().map(|row| row.stamps().updated_at);
        self.write(vec![(0, 1), (u32::MAX, 2)], Some(3));
        let filters = Filters {
            updated_since: since,
            ..Filters::default()
        };
        let brought = self.walk(filters, rows).join(",");
        let after: Vec<R> = self
            .model
            .newest()
            .into_iter()
            .filter(|row| since.is_none_or(|since| row.stamps().updated_at >= since))
            .collect();
        assert_eq!(brought, joined(&after));
        for row in after.iter().filter(|row| Some(row.stamps().updated_at) <= since) {
            assert!(seen.contains(row), "nothing at or before T can still appear");
        }
    }

    fn finish(mut self) {
        while !self.walks.is_empty() {
            self.write(vec![(u32::MAX / 2, 5)], None);
            self.go_on(0, 3);
        }
        self.refuses_another_time();
    }

    /// A watermark ahead of the clock is from before a backup was restored.
    fn refuses_another_time(&self) {
        let ahead = |watermark: i64, after: i64| Cursor {
            filters: Filters::default(),
            watermark: at(watermark),
            started_at: at(self.now),
            after: bursar_domain::cursor::Position {
                updated_at: at(after),
                id: [0; 16],
            },
        };
        for after in [0, self.clock] {
            let refused = self.try_next_page(self.organization, ahead(self.clock + 1, after), 5);
            assert_eq!(refused.unwrap_err(), WalkError::AheadOfClock);
        }
        let foreign = self.try_next_page(OrganizationId::from_bits(1), ahead(0, 0), 5);
        assert_eq!(foreign.unwrap_err(), WalkError::AheadOfClock);
    }

    fn first_page(&self, filters: Filters, rows: u8) -> Page {
        let (organization, now) = (self.organization, at(self.now));
        let read = self
            .db
            .read(move |tx| first_page::<R>(tx, ask(organization, rows), filters, now, begun()));
        read.wait().unwrap()
    }

    fn next_page(&self, cursor: Cursor, rows: u8) -> Page {
        self.try_next_page(self.organization, cursor, rows).unwrap()
    }

    fn try_next_page(
        &self,
        organization: OrganizationId,
        cursor: Cursor,
        rows: u8,
    ) -> Result<Page, WalkError> {
        let read = self
            .db
            .snapshot(move |tx| next_page::<R>(tx, ask(organization, rows), &cursor, begun()));
        read.wait()
    }
}

/// Leaves the open epoch of history room for one change.
fn epoch_ends(db: &Db, organization: OrganizationId) {
    let done = db.write(organization.to_bytes(), move |tx| {
        let params = [
            Value::Bytes(&organization.to_bytes()),
            Value::Int(EPOCH_CHANGES - 1),
        ];
        tx.execute(
            "UPDATE organizations SET epoch_changes = ?2 WHERE id = ?1",
            &params,
        )
    });
    done.wait().map_err(|error: DbError| error).unwrap();
}

/// One transaction as every act makes it: the clock first, one tick a row, the clock back. The rows as stamped.
fn commit<R: Sample>(
    db: &Db,
    organization: OrganizationId,
    now: Timestamp,
    changed: Vec<R>,
    new: Option<R>,
) -> Result<Vec<R>, DbError> {
    let job = move |tx: &mut bursar_db::Tx<'_>| {
        let mut clock = Clock::take(tx, organization, now)?.unwrap();
        let mut stamped = Vec::new();
        for row in &changed {
            let mut row = row.clone();
            row.stamps_mut().updated_at = clock.tick();
            let before = table::get(tx, organization, row.id())?.unwrap();
            table::update(tx, organization, &before, &row, clock.epoch())?;
            stamped.push(row);
        }
        if let Some(row) = &new {
            let mut row = row.clone();
            *row.stamps_mut() = Stamps::at(clock.tick());
            table::insert(tx, organization, &row)?;
            stamped.push(row);
        }
        clock.give_back(tx)?;
        Ok(stamped)
    };
    db.write(organization.to_bytes(), job).wait()
}

fn new_row<R: Sample>(ids: &mut IdSource, now: i64) -> R {
    let id: Id<R::Kind> = ids.next(at(now));
    R::blank(id, Currency::USD, Stamps::at(at(now)))
}

fn named(id: OrganizationId) -> Organization {
    Organization {
        name: "Club".to_owned(),
        ..Organization::blank(id)
    }
}

fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn ask(organization: OrganizationId, rows: u8) -> Ask {
    Ask {
        organization,
        limit: PageLimit::parse(&rows.to_string()).unwrap(),
    }
}

/// What a page is appended to.
fn begun() -> Vec<u8> {
    b"[".to_vec()
}

/// The rows of a page, without what it was appended to.
fn text(page: Vec<u8>) -> String {
    String::from_utf8(page)
        .unwrap()
        .strip_prefix('[')
        .unwrap()
        .to_owned()
}
