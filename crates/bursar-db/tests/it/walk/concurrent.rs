//! The same promise while others write: several processes on one database, writers that stall between the clock
//! and the commit, and wall clocks that disagree and step back.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bursar_db::clock::Clock;
use bursar_db::testing::{TestDb, is_full};
use bursar_db::walk::{Page, WalkError, first_page, next_page};
use bursar_db::{Db, DbError, Opening, Options, organizations, table};
use bursar_domain::cursor::{Cursor, Filters};
use bursar_domain::ids::{IdSource, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::payment::Payment;
use bursar_domain::{Stamps, Timestamp};
use fastrand::Rng;

use super::model::{Model, joined};
use super::sample::Sample;
use super::{START, ask, at, begun, epoch_ends, named, new_row, text};

const PROCESSES: usize = 3;
const WRITERS: usize = 4;

#[test]
fn members_on_sqlite() {
    race::<Member>(&TestDb::sqlite());
}

#[test]
fn members_on_postgres() {
    race::<Member>(&TestDb::postgres());
}

#[test]
fn payments_on_sqlite() {
    race::<Payment>(&TestDb::sqlite());
}

#[test]
fn payments_on_postgres() {
    race::<Payment>(&TestDb::postgres());
}

/// What was committed, in the order of the commits: a job adds itself while it holds the clock. One that ran
/// again is in it again, and the last one counts.
type Log<R> = Arc<Mutex<Vec<(usize, Vec<R>)>>>;

struct Race<R> {
    organization: OrganizationId,
    log: Log<R>,
    jobs: AtomicUsize,
    over: AtomicBool,
}

fn race<R: Sample>(test: &TestDb) {
    let processes: Vec<Db> = (0..PROCESSES)
        .map(|_| {
            let options = Options {
                connections: 4,
                ..Options::default()
            };
            Db::open(&test.url, &options, Opening::Require).unwrap()
        })
        .collect();
    let race = Race::<R> {
        organization: OrganizationId::from_bits(7),
        log: Log::default(),
        jobs: AtomicUsize::new(0),
        over: AtomicBool::new(false),
    };
    let organization = race.organization;
    let made = test.db.write(organization.to_bytes(), move |tx| {
        organizations::insert(tx, &named(organization), at(START))
    });
    made.wait().map_err(|error: DbError| error).unwrap();

    let (walks, mirrors) = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|n| {
                let db = &processes[n % PROCESSES];
                let race = &race;
                scope.spawn(move || race.write(db, n as u64))
            })
            .collect();
        let walkers: Vec<_> = (0..2)
            .map(|n| {
                let db = &processes[n % PROCESSES];
                let race = &race;
                scope.spawn(move || race.walk_on(db, n as u64))
            })
            .collect();
        let syncs: Vec<_> = (0..2)
            .map(|n| {
                let db = &processes[(n + 1) % PROCESSES];
                let race = &race;
                scope.spawn(move || race.sync_on(db, n as u64))
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(|thread| thread.join()).collect();
        // The others stop before a failure is told, or they would never end.
        race.over.store(true, Ordering::SeqCst);
        written.into_iter().for_each(|result| result.unwrap());
        let walks: Vec<Walked> = walkers
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect();
        let mirrors: Vec<Mirror> = syncs.into_iter().map(|thread| thread.join().unwrap()).collect();
        (walks, mirrors)
    });

    let model = race.model();
    assert!(walks.iter().any(|walk| walk.pages.len() > 1));
    for walk in &walks {
        walk.check(&model);
    }
    let newest: BTreeMap<String, String> = model
        .newest()
        .iter()
        .map(|row| (row.id().to_string(), row.document()))
        .collect();
    for mirror in mirrors {
        assert_eq!(mirror.rows, newest, "a client that only syncs has everything");
    }
}

impl<R: Sample> Race<R> {
    fn write(&self, db: &Db, seed: u64) {
        let mut rng = Rng::with_seed(seed);
        let mut ids = IdSource::seeded(seed);
        for round in 0..if is_full() { 200 } else { 50 } {
            // The wall clocks of the processes differ by up to a second, and each of them steps back at times.
            let now = at(START + round * 20_000 + rng.i64(-1_000_000..1_000_000));
            let new: R = new_row(&mut ids, now.micros());
            let number = self.jobs.fetch_add(1, Ordering::SeqCst);
            let (organization, log, seed) = (self.organization, Arc::clone(&self.log), rng.u64(..));
            let job = move |tx: &mut bursar_db::Tx<'_>| {
                let mut rng = Rng::with_seed(seed);
                let mut clock = Clock::take(tx, organization, now)?.unwrap();
                std::thread::sleep(Duration::from_micros(rng.u64(..2_000)));
                let mut rows = Vec::new();
                table::each::<R>(tx, organization, |row| {
                    rows.push(row.resource?);
                    Ok(())
                })?;
                rng.shuffle(&mut rows);
                rows.truncate(rng.usize(..4));
                for row in &mut rows {
                    let before = row.clone();
                    row.vary(&mut rng);
                    row.stamps_mut().updated_at = clock.tick();
                    table::update(tx, organization, &before, row, clock.epoch())?;
                }
                if rows.is_empty() || rng.u8(..3) == 0 {
                    let mut row = new.clone();
                    *row.stamps_mut() = Stamps::at(clock.tick());
                    table::insert(tx, organization, &row)?;
                    rows.push(row);
                }
                std::thread::sleep(Duration::from_micros(rng.u64(..2_000)));
                clock.give_back(tx)?;
                log.lock().unwrap().push((number, rows));
                Ok::<_, DbError>(())
            };
            db.write(organization.to_bytes(), job).wait().unwrap();
            if round % 4 == 0 {
                epoch_ends(db, organization);
            }
        }
    }

    /// Every version that was committed. Their stamps ascend strictly in the order of the commits.
    fn model(&self) -> Model<R> {
        let log = self.log.lock().unwrap();
        let last: BTreeMap<usize, usize> = log.iter().enumerate().map(|(i, (job, _))| (*job, i)).collect();
        assert_eq!(last.len(), self.jobs.load(Ordering::SeqCst));
        let mut model = Model::default();
        let mut clock = Timestamp::from_micros(START);
        for (i, (job, rows)) in log.iter().enumerate() {
            for row in rows.iter().filter(|_| last[job] == i) {
                assert!(row.stamps().updated_at > clock, "stamps ascend in commit order");
                clock = row.stamps().updated_at;
                model.put(row.clone());
            }
        }
        model
    }

    /// Walks with all kinds of filters until the writers are done.
    fn walk_on(&self, db: &Db, seed: u64) -> Vec<Walked> {
        let mut rng = Rng::with_seed(seed);
        let mut walks = Vec::new();
        while !self.over.load(Ordering::SeqCst) {
            let filters = Filters {
                updated_since: (rng.u8(..3) == 0).then(|| at(START + rng.i64(0..1_000_000))),
                ..R::narrow(&mut rng)
            };
            walks.push(self.walk(db, filters, &mut rng));
        }
        walks
    }

    fn walk(&self, db: &Db, filters: Filters, rng: &mut Rng) -> Walked {
        let organization = self.organization;
        let rows = rng.u8(1..=20);
        // The clock is read in the same snapshot, because a walk of one page does not tell its watermark.
        let first = db.snapshot(move |tx| {
            let page = first_page::<R>(tx, ask(organization, rows), filters, at(START), begun())?;
            let clock = organizations::clock(tx, organization)?.unwrap();
            Ok::<_, WalkError>((page, clock))
        });
        let (mut page, clock) = first.wait().unwrap();
        let mut walked = Walked {
            filters,
            watermark: at(clock),
            pages: Vec::new(),
        };
        loop {
            let next = walked.note(page);
            let Some(cursor) = next else { return walked };
            std::thread::sleep(Duration::from_micros(rng.u64(..1_500)));
            let rows = rng.u8(1..=20);
            let read = db.snapshot(move |tx| next_page::<R>(tx, ask(organization, rows), &cursor, begun()));
            page = read.wait().unwrap();
        }
    }

    /// A client that has everything once, and then only asks for what changed since the last it saw.
    fn sync_on(&self, db: &Db, seed: u64) -> Mirror {
        let mut rng = Rng::with_seed(seed);
        let mut mirror = Mirror::default();
        loop {
            let is_last = self.over.load(Ordering::SeqCst);
            let filters = Filters {
                updated_since: mirror.since,
                ..Filters::default()
            };
            mirror.take(&self.walk(db, filters, &mut rng));
            if is_last {
                return mirror;
            }
        }
    }
}

/// A walk that was read to its end.
struct Walked {
    filters: Filters,
    watermark: Timestamp,
    pages: Vec<String>,
}

impl Walked {
    fn note(&mut self, page: Page) -> Option<Cursor> {
        let watermark = page.next.map_or(self.watermark, |cursor| cursor.watermark);
        assert_eq!(
            watermark, self.watermark,
            "the watermark is the clock of the first page"
        );
        if page.count > 0 {
            self.pages.push(text(page.text));
        }
        page.next
    }

    fn check<R: Sample>(&self, model: &Model<R>) {
        let expected = model.at(self.watermark, &self.filters);
        assert_eq!(self.pages.join(","), joined(&expected), "{:?}", self.filters);
    }
}

/// What a client keeps: each row's representation by id, and the largest stamp it saw.
#[derive(Default)]
struct Mirror {
    since: Option<Timestamp>,
    rows: BTreeMap<String, String>,
}

impl Mirror {
    fn take(&mut self, walked: &Walked) {
        let seen_to = self.since;
        let json = format!("[{}]", walked.pages.join(","));
        let rows: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
        let documents = rows.iter().map(ToString::to_string);
        for (row, document) in rows.iter().zip(documents) {
            let stamp = Timestamp::parse(row["updatedAt"].as_str().unwrap()).unwrap();
            let id = row["id"].as_str().unwrap().to_owned();
            if Some(stamp) <= seen_to {
                assert_eq!(
                    self.rows.get(&id),
                    Some(&document),
                    "nothing at or before T can still appear"
                );
            }
            self.since = self.since.max(Some(stamp));
            self.rows.insert(id, document);
        }
    }
}
