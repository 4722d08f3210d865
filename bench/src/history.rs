//! What a page costs as history and one member's payments grow, over HTTP on both engines: a part of `bench growth`.
//!
//! The page that is read is the second of its walk, and what was superseded before the walk began lies in the middle of
//! it. One connection asks, cases are asked in turns, and the least time of all rounds counts: what the machine does beside
//! only adds to it.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Instant;

use bursar_db::clock::Clock;
use bursar_db::{DatabaseUrl, Db, DbError, Options, Stored, Tx, organizations, table};
use bursar_domain::ids::{IdSource, MemberId, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::Organization;
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::{Resource, Stamps};
use serde_json::{Value, json};

use crate::database::Scratch;
use crate::http::scenario::Client;
use crate::http::site;
use crate::{Args, Outcome, database, report};

/// What the larger case may cost more; and where there were many changes since the walk began, and the page looks into
/// every epoch since.
const RATIO_MAX: f64 = 1.5;
const RATIO_MANY_MAX: f64 = 3.5;
/// Versions that were superseded before the walk began.
const DEAD: usize = 200_000;
/// Rows before them in the list: a page and a half.
const BEFORE: usize = 75;
/// Changes since the walk began.
const MANY: usize = 10_000;
const PAYMENTS: usize = 200_000;
const FAILED: usize = 10;
/// Pages a sample.
const PAGES: u32 = 50;

/// `bench growth --part history`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let rounds = args.number("rounds", 9)?;
    let folder = args.scratch()?;
    let path = folder.join("history.db");
    database::remove(&path);
    let mut missed = Vec::new();
    let address = format!("sqlite:{}", path.display());
    let sqlite = on("sqlite", &folder, &address, None, rounds, &mut missed)?;
    database::remove(&path);
    let postgres = match database::server() {
        None => Value::Null,
        Some(server) => {
            let scratch = Scratch::new(&server, "history")?;
            on(
                "postgres",
                &folder,
                &scratch.text(),
                Some(&scratch),
                rounds,
                &mut missed,
            )?
        }
    };
    report::save(
        "growth-history",
        &json!({ "unit": "microseconds a request, one connection", "sqlite": sqlite, "postgres": postgres }),
    )?;
    report::verdict(&missed)
}

fn on(
    name: &str,
    folder: &Path,
    address: &str,
    scratch: Option<&Scratch>,
    rounds: u64,
    missed: &mut Vec<String>,
) -> Outcome<Value> {
    eprintln!(
        "{name}: building histories of {} versions",
        report::grouped(DEAD as u64)
    );
    let url: DatabaseUrl = address.parse().map_err(|error| format!("{error}"))?;
    let db = database::open(&url, &Options::default())?;
    let settle = || scratch.map_or(Ok(()), Scratch::settle);
    let mut world = World {
        db: &db,
        address,
        ids: IdSource::seeded(3),
    };
    let server = site::start(folder, &format!("history-{name}"), address, site::NO_LIMIT, &[])?;
    let walks = [
        world.walk(server.address, Change::Nothing)?,
        world.walk(server.address, Change::One)?,
        world.walk(server.address, Change::AllTwice)?,
    ];
    let payments = [world.payments(FAILED)?, world.payments(PAYMENTS)?];
    let mut pairs = Vec::new();
    for since in [1, MANY] {
        for walk in &walks {
            world.change_since(walk, since)?;
        }
        settle()?;
        let requests: Vec<&[u8]> = walks.iter().map(|walk| &walk.second_page[..]).collect();
        let least = least(server.address, rounds, &requests, 50)?;
        let changes = format!("{} changed since", report::grouped(since as u64));
        let limit = if since == MANY { RATIO_MANY_MAX } else { RATIO_MAX };
        let one = format!("one row 200,000 times, {changes}");
        pairs.push((one, least[0], least[1], limit));
        pairs.push((
            format!("100,000 rows twice, {changes}"),
            least[0],
            least[2],
            limit,
        ));
    }
    let requests: Vec<&[u8]> = payments.iter().map(|request| &request[..]).collect();
    let least = least(server.address, rounds, &requests, FAILED)?;
    let title = "10 failed payments of a member, of 10 and of 200,000";
    pairs.push((title.to_owned(), least[0], least[1], RATIO_MAX));
    db.shutdown();

    println!("{name}: µs a request for a page");
    let rows: Vec<Vec<String>> = pairs
        .iter()
        .map(|(title, small, large, _)| {
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
    for (title, small, large, limit) in pairs {
        if large / small > limit {
            missed.push(format!("{name}, {title}: {:.2}", large / small));
        }
        figures.push(json!({ "case": title, "without": small.round(), "with": large.round() }));
    }
    Ok(Value::Array(figures))
}

/// The least time of a request in each case, in microseconds.
fn least(server: SocketAddr, rounds: u64, requests: &[&[u8]], rows: usize) -> Outcome<Vec<f64>> {
    let mut client = Client::connect(server)?;
    for request in requests {
        let page = json_of(&mut client, request)?;
        let found = page["data"].as_array().map_or(0, Vec::len);
        if found != rows {
            return Err(format!("a page has {found} rows, not {rows}"));
        }
    }
    let mut least = vec![f64::INFINITY; requests.len()];
    for _ in 0..rounds {
        for (request, least) in requests.iter().zip(&mut least) {
            let since = Instant::now();
            for _ in 0..PAGES {
                client.call(request)?;
            }
            *least = least.min(since.elapsed().as_secs_f64() * 1e6 / f64::from(PAGES));
        }
    }
    Ok(least)
}

fn get(target: &str, token: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n\r\n").into_bytes()
}

fn json_of(client: &mut Client, request: &[u8]) -> Outcome<Value> {
    serde_json::from_slice(&client.call(request)?).map_err(|error| error.to_string())
}

/// What is superseded before a walk begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Nothing,
    /// The last of the first rows, so often.
    One,
    /// All behind the first rows, at once.
    AllTwice,
}

/// A walk that has read its first page.
struct Walk {
    organization: OrganizationId,
    /// Those behind the first rows.
    rows: Vec<Member>,
    second_page: Vec<u8>,
}

struct World<'a> {
    db: &'a Db,
    address: &'a str,
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

    fn token(&self, organization: OrganizationId) -> Outcome<String> {
        let organization = organization.to_string();
        let made = site::command(
            self.address,
            &[
                "token",
                "create",
                "--organization",
                &organization,
                "--service",
                "--role",
                "editor",
                "--scopes",
                "members:read,payments:read",
            ],
        )?;
        let secret = made["secret"].as_str();
        secret
            .map(str::to_owned)
            .ok_or_else(|| format!("not a token: {made}"))
    }

    /// An organization with rows behind the first ones, what `change` does to them, and a walk.
    fn walk(&mut self, server: SocketAddr, change: Change) -> Outcome<Walk> {
        let organization = self.organization()?;
        let all: Vec<Member> = (0..BEFORE + DEAD / 2)
            .map(|n| {
                let stamps = Stamps::at(database::now());
                let mut member = Member::blank(self.ids.next(database::now()), Currency::USD, stamps);
                member.first_name = format!("Member {n}");
                member.last_name = "Featherstone".to_owned();
                member.email = Some(format!("member{n}@example.org"));
                member.is_active = true;
                member
            })
            .collect();
        let (first, rest) = all.split_at(BEFORE);
        self.commit(organization, first.to_vec(), insert)?;
        if change == Change::One {
            for _ in 0..DEAD / 100 {
                self.commit(organization, vec![first[BEFORE - 1].clone(); 100], replace)?;
            }
        }
        for some in rest.chunks(10_000) {
            self.commit(organization, some.to_vec(), insert)?;
        }
        if change == Change::AllTwice {
            for _ in 0..2 {
                self.commit(organization, rest.to_vec(), replace)?;
            }
        }
        let token = self.token(organization)?;
        let page = json_of(
            &mut Client::connect(server)?,
            &get("/v1/members?limit=50", &token),
        )?;
        let cursor = page["nextCursor"].as_str().ok_or("the list has one page only")?;
        Ok(Walk {
            organization,
            rows: rest.to_vec(),
            second_page: get(&format!("/v1/members?limit=50&cursor={cursor}"), &token),
        })
    }

    /// Rows of the whole list behind the first ones, a few in a transaction.
    fn change_since(&self, walk: &Walk, count: usize) -> Outcome {
        let rows = &walk.rows;
        let step = rows.len() / count;
        let changed: Vec<Member> = rows
            .iter()
            .skip(step / 2)
            .step_by(step)
            .take(count)
            .cloned()
            .collect();
        for some in changed.chunks(5) {
            self.commit(walk.organization, some.to_vec(), replace)?;
        }
        Ok(())
    }

    /// The request for some failed payments of a member, who has so many payments: the others are paid.
    fn payments(&mut self, count: usize) -> Outcome<Vec<u8>> {
        let organization = self.organization()?;
        let member: MemberId = self.ids.next(database::now());
        let every = count / FAILED;
        let all: Vec<Payment> = (0..count)
            .map(|n| {
                let stamps = Stamps::at(database::now());
                let mut payment = Payment::blank(self.ids.next(database::now()), Currency::USD, stamps);
                payment.member_id = Some(member);
                payment.amount = Money::new(2_500, Currency::USD);
                if n % every == every - 1 {
                    payment.status = PaymentStatus::Failed;
                } else {
                    payment.status = PaymentStatus::Paid;
                    payment.paid_to_date = payment.amount;
                }
                payment
            })
            .collect();
        for some in all.chunks(10_000) {
            self.commit(organization, some.to_vec(), insert)?;
        }
        let token = self.token(organization)?;
        Ok(get(
            &format!("/v1/payments?memberId={member}&status=failed"),
            &token,
        ))
    }

    /// One transaction as every act makes it.
    fn commit<R: Stored>(
        &self,
        organization: OrganizationId,
        rows: Vec<R>,
        put: fn(&mut Tx<'_>, OrganizationId, &R, &Clock) -> Result<String, DbError>,
    ) -> Outcome {
        let job = move |tx: &mut Tx<'_>| {
            let clock = Clock::take(tx, organization, database::now())?;
            let mut clock = clock.ok_or_else(|| DbError::Internal("no organization".to_owned()))?;
            for row in &rows {
                let mut row = row.clone();
                row.stamps_mut().updated_at = clock.tick();
                put(tx, organization, &row, &clock)?;
            }
            clock.give_back(tx)
        };
        self.db
            .write(organization.to_bytes(), job)
            .wait()
            .map_err(|error: DbError| error.to_string())
    }
}

fn insert<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    row: &R,
    _: &Clock,
) -> Result<String, DbError> {
    table::insert(tx, organization, row)
}

fn replace<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    row: &R,
    clock: &Clock,
) -> Result<String, DbError> {
    let before = table::get::<R>(tx, organization, row.id())?;
    let before = before.ok_or_else(|| DbError::Internal("no such row".to_owned()))?;
    table::update(tx, organization, &before, row, clock.epoch())
}
