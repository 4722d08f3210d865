//! What a page costs as history and one member's payments grow, straight from both engines: a part of `bench growth`.
//!
//! The page that is read is the second of its walk, and what was superseded before the walk began lies in the middle of
//! it. Cases are asked in turns, and the least time of all rounds counts: what the machine does beside only adds to it.

use std::time::Instant;

use bursar_db::clock::Clock;
use bursar_db::walk::{self, Page, WalkError};
use bursar_db::{DatabaseUrl, Db, DbError, Options, Stored, Tx, organizations, table};
use bursar_domain::cursor::{Cursor, Filters};
use bursar_domain::ids::{IdSource, MemberId, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::Organization;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::{Resource, Stamps};
use serde_json::{Value, json};

use crate::database::Scratch;
use crate::page::ask;
use crate::{Args, Outcome, database, report};

/// What the larger case may cost more.
const RATIO_MAX: f64 = 1.5;
/// Versions that were superseded before the walk began.
const DEAD: usize = 200_000;
/// Rows before them in the list: a page and a half.
const BEFORE: usize = 75;
/// Changes since the walk began.
const MANY: usize = 10_000;
const PAYMENTS: usize = 200_000;
const PENDING: usize = 10;
/// Pages a sample.
const PAGES: u32 = 50;

/// `bench growth --part history`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let rounds = args.number("rounds", 9)?;
    let path = args.scratch()?.join("history.db");
    database::remove(&path);
    let mut missed = Vec::new();
    let sqlite = on(
        "SQLite",
        &DatabaseUrl::Sqlite(path.clone()),
        None,
        rounds,
        &mut missed,
    )?;
    database::remove(&path);
    let postgres = match database::server() {
        None => Value::Null,
        Some(server) => {
            let scratch = Scratch::new(&server, "history")?;
            on("PostgreSQL", &scratch.url, Some(&scratch), rounds, &mut missed)?
        }
    };
    report::save(
        "growth-history",
        &json!({ "unit": "microseconds a page of 50", "sqlite": sqlite, "postgres": postgres }),
    )?;
    report::verdict(&missed)
}

fn on(
    name: &str,
    url: &DatabaseUrl,
    scratch: Option<&Scratch>,
    rounds: u64,
    missed: &mut Vec<String>,
) -> Outcome<Value> {
    eprintln!(
        "{name}: building histories of {} versions",
        report::grouped(DEAD as u64)
    );
    let db = database::open(url, &Options::default())?;
    let settle = || scratch.map_or(Ok(()), Scratch::settle);
    let mut world = World {
        db: &db,
        ids: IdSource::seeded(3),
    };
    let walks = [
        world.walk(DEAD / 10, |_, _| Ok(()))?,
        world.walk(DEAD / 10, World::change_one)?,
        world.walk(DEAD / 2, |_, _| Ok(()))?,
        world.walk(DEAD / 2, World::change_all_twice)?,
    ];
    let payments = [world.payments(PENDING)?, world.payments(PAYMENTS)?];
    let mut pairs = Vec::new();
    for since in [1, MANY] {
        for walk in &walks {
            world.change_since(walk, since)?;
        }
        settle()?;
        let least = least(rounds, walks.len(), |n| walks[n].second_page(&db))?;
        let changes = format!("{} changed since", report::grouped(since as u64));
        pairs.push((format!("one row 200,000 times, {changes}"), least[0], least[1]));
        pairs.push((format!("100,000 rows twice, {changes}"), least[2], least[3]));
    }
    let least = least(rounds, payments.len(), |n| payments[n].first_page(&db))?;
    let title = "10 pending payments of a member, of 10 and of 200,000";
    pairs.push((title.to_owned(), least[0], least[1]));
    db.shutdown();

    println!("{name}: µs a page");
    let rows: Vec<Vec<String>> = pairs
        .iter()
        .map(|(title, small, large)| {
            vec![
                title.clone(),
                format!("{small:.1}"),
                format!("{large:.1}"),
                format!("{:.2}", large / small),
            ]
        })
        .collect();
    report::table(&["superseded before the walk", "without", "with", "ratio"], &rows);
    let mut figures = Vec::new();
    for (title, small, large) in pairs {
        if large / small > RATIO_MAX {
            missed.push(format!("{name}, {title}: {:.2}", large / small));
        }
        figures.push(json!({ "case": title, "without": small.round(), "with": large.round() }));
    }
    Ok(Value::Array(figures))
}

/// The least time of a page in each case, in microseconds.
fn least(rounds: u64, cases: usize, read: impl Fn(usize) -> Outcome<Page>) -> Outcome<Vec<f64>> {
    let mut least = vec![f64::INFINITY; cases];
    for _ in 0..rounds {
        for (case, least) in least.iter_mut().enumerate() {
            let since = Instant::now();
            for _ in 0..PAGES {
                read(case)?;
            }
            *least = least.min(since.elapsed().as_secs_f64() * 1e6 / f64::from(PAGES));
        }
    }
    Ok(least)
}

/// A walk that has read its first page.
struct Walk {
    organization: OrganizationId,
    rows: Vec<Member>,
    cursor: Cursor,
}

impl Walk {
    fn second_page(&self, db: &Db) -> Outcome<Page> {
        let (organization, cursor) = (self.organization, self.cursor);
        let read = db.snapshot(move |tx| walk::next_page::<Member>(tx, ask(organization), &cursor));
        let page = read.wait().map_err(|error: WalkError| format!("{error:?}"))?;
        if page.count == 50 {
            Ok(page)
        } else {
            Err(format!("a page has {} rows", page.count))
        }
    }
}

/// The payments of one member.
struct Payments {
    organization: OrganizationId,
    member: MemberId,
}

impl Payments {
    fn first_page(&self, db: &Db) -> Outcome<Page> {
        let filters = Filters {
            member_id: Some(self.member),
            status: Some("pending"),
            ..Filters::default()
        };
        let page = first_page::<Payment>(db, self.organization, filters)?;
        if page.count == PENDING {
            Ok(page)
        } else {
            Err(format!("a page has {} payments", page.count))
        }
    }
}

fn first_page<R: Stored>(db: &Db, organization: OrganizationId, filters: Filters) -> Outcome<Page> {
    let read = db.read(move |tx| walk::first_page::<R>(tx, ask(organization), filters, database::now()));
    read.wait().map_err(|error: WalkError| format!("{error:?}"))
}

struct World<'a> {
    db: &'a Db,
    ids: IdSource,
}

impl World<'_> {
    fn organization(&mut self) -> Outcome<OrganizationId> {
        let id: OrganizationId = self.ids.next(database::now());
        let organization = Organization {
            name: "Club".to_owned(),
            ..Organization::blank(id)
        };
        self.db
            .write(id.to_bytes(), move |tx| {
                organizations::insert(tx, &organization, database::now())
            })
            .wait()
            .map_err(|error: DbError| error.to_string())?;
        Ok(id)
    }

    /// An organization with this many rows behind the first ones, what `change` does to those, and a walk.
    fn walk(&mut self, rows: usize, change: impl Fn(&Self, &mut Walk) -> Outcome) -> Outcome<Walk> {
        let organization = self.organization()?;
        let all: Vec<Member> = (0..BEFORE + rows)
            .map(|n| {
                let stamps = Stamps::at(database::now());
                let mut member = Member::blank(self.ids.next(database::now()), Currency::USD, stamps);
                member.first_name = format!("Member {n}");
                member.last_name = "Featherstone".to_owned();
                member.email = format!("member{n}@example.org");
                member.is_active = true;
                member
            })
            .collect();
        for some in all.chunks(10_000) {
            self.commit(organization, some.to_vec(), table::insert)?;
        }
        let page = first_page::<Member>(self.db, organization, Filters::default())?;
        let mut walk = Walk {
            organization,
            rows: all,
            cursor: page.next.ok_or("the list has one page only")?,
        };
        change(self, &mut walk)?;
        let page = first_page::<Member>(self.db, organization, Filters::default())?;
        walk.cursor = page.next.ok_or("the list has one page only")?;
        Ok(walk)
    }

    /// The first row behind the first ones, so often.
    fn change_one(&self, walk: &mut Walk) -> Outcome {
        for _ in 0..DEAD / 100 {
            let row = &walk.rows[BEFORE];
            self.commit(walk.organization, vec![row.clone(); 100], table::update)?;
        }
        Ok(())
    }

    fn change_all_twice(&self, walk: &mut Walk) -> Outcome {
        for _ in 0..2 {
            self.commit(walk.organization, walk.rows[BEFORE..].to_vec(), table::update)?;
        }
        Ok(())
    }

    /// Rows of the whole list behind the first ones, a few in a transaction.
    fn change_since(&self, walk: &Walk, count: usize) -> Outcome {
        let rows = &walk.rows[BEFORE..];
        let step = rows.len() / count;
        let changed: Vec<Member> = rows
            .iter()
            .skip(step / 2)
            .step_by(step)
            .take(count)
            .cloned()
            .collect();
        for some in changed.chunks(5) {
            self.commit(walk.organization, some.to_vec(), table::update)?;
        }
        Ok(())
    }

    /// Some pending payments of a member, and as many that are paid that there are so many.
    fn payments(&mut self, count: usize) -> Outcome<Payments> {
        let organization = self.organization()?;
        let member: MemberId = self.ids.next(database::now());
        let every = count / PENDING;
        let all: Vec<Payment> = (0..count)
            .map(|n| {
                let stamps = Stamps::at(database::now());
                let mut payment = Payment::blank(self.ids.next(database::now()), Currency::USD, stamps);
                payment.member_id = Some(member);
                payment.amount = Money::new(2_500, Currency::USD);
                if n % every == every - 1 {
                    payment.status = PaymentStatus::Pending;
                } else {
                    payment.status = PaymentStatus::Paid;
                    payment.paid_to_date = payment.amount;
                }
                payment
            })
            .collect();
        for some in all.chunks(10_000) {
            self.commit(organization, some.to_vec(), table::insert)?;
        }
        Ok(Payments { organization, member })
    }

    /// One transaction as every act makes it.
    fn commit<R: Stored>(
        &self,
        organization: OrganizationId,
        rows: Vec<R>,
        put: fn(&mut Tx<'_>, OrganizationId, &R) -> Result<(), DbError>,
    ) -> Outcome {
        let job = move |tx: &mut Tx<'_>| {
            let clock = Clock::take(tx, organization, database::now())?;
            let mut clock = clock.ok_or_else(|| DbError::Internal("no organization".to_owned()))?;
            for row in &rows {
                let mut row = row.clone();
                row.stamps_mut().updated_at = clock.tick();
                put(tx, organization, &row)?;
            }
            clock.give_back(tx)
        };
        self.db
            .write(organization.to_bytes(), job)
            .wait()
            .map_err(|error: DbError| error.to_string())
    }
}
