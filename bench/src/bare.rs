//! What the engines do without HTTP: the same statements, called from threads.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bursar_app::{App, AppError, Identity, Next, Once, Output, groups};
use bursar_db::{Db, EngineKind, table, tokens, walk};
use bursar_domain::Resource;
use bursar_domain::cursor::Filters;
use bursar_domain::group::NewGroup;
use bursar_domain::ids::{IdSource, MemberId, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::token::{self, TokenHash};
use postgres::{Client, NoTls};
use serde_json::{Value, json};

use crate::http::client::{self, Load, as_f64};
use crate::http::scenario::Scenario;
use crate::http::site::Site;
use crate::{Args, Outcome, database, load, report};

/// bursar's share of the bare engine's durable writes.
const WRITE_SHARE_MIN: f64 = 0.7;
/// bursar's share of the bare driver's reads: single members, and pages.
const READ_SHARES_MIN: [f64; 2] = [0.65, 0.6];
/// Half of the connections that `bursar serve` opens by default: those it reads with.
const READERS: usize = 4;

/// `bench bare`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let scratch = args.scratch()?;
    let members = args.number("members", 100_000)?;
    let rounds = args.number("rounds", 5)?;
    let time = Duration::from_millis(args.number("milliseconds", 1_500)?);
    let callers = usize::try_from(args.number("callers", 64)?).unwrap_or(64);
    let (mut rows, mut figures, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    let mut tell = |what: &str, bare: Vec<f64>, http: Vec<f64>, fsync: Option<f64>, least: f64| {
        let shares = http
            .iter()
            .zip(&bare)
            .map(|(http, bare)| http / bare.max(1.0))
            .collect();
        let (bare, http, share) = (report::median(bare), report::median(http), report::median(shares));
        rows.push(vec![
            what.to_owned(),
            whole(bare),
            whole(http),
            format!("{share:.2}"),
            format!("{least:.2}"),
        ]);
        figures.push(json!({ "what": what, "barePerSecond": bare.round(), "httpPerSecond": http.round(), "share": (share * 100.0).round() / 100.0, "fsyncMicros": fsync }));
        if share < least {
            missed.push(format!(
                "{what}: {share:.2} of the bare engine (at least {least})"
            ));
        }
    };
    let load = Load {
        connections: callers,
        time,
        rate: None,
    };
    {
        let site = Site::sqlite(&scratch, members)?;
        let db = database::open(&site.url()?, &bursar_db::Options::default())?;
        let (bare, http, fsync) = writes(&scratch, &db, &site, load, rounds)?;
        db.shutdown();
        tell("create, SQLite", bare, http, Some(fsync), WRITE_SHARE_MIN);
    }
    if let Some(server) = database::server() {
        // Without Redis: the bare driver counts no limits either.
        let site = Site::postgres(&scratch, members, &server, None)?;
        let tenant = &site.world.tenants[0];
        let asked = Asked {
            hash: token::hash(&site.world.tokens[0]),
            organization: tenant.id,
            member: tenant.members[0],
        };
        for (what, scenario, least) in [
            ("get, PostgreSQL", Scenario::Get, READ_SHARES_MIN[0]),
            ("list 50, PostgreSQL", Scenario::ListFirst, READ_SHARES_MIN[1]),
        ] {
            let (mut bare, mut http) = (Vec::new(), Vec::new());
            for _ in 0..rounds {
                bare.push(asked.drive(&site.address(), scenario, time)?);
                http.push(over_http(site.server.address, &site, scenario, load)?);
            }
            tell(what, bare, http, None, least);
        }
        let db = database::open(&site.url()?, &bursar_db::Options::default())?;
        let (bare, http, fsync) = writes(&scratch, &db, &site, load, rounds)?;
        db.shutdown();
        tell("create, PostgreSQL", bare, http, Some(fsync), 0.0);
    }
    println!("a second, {callers} callers");
    report::table(&["what", "bare", "over HTTP", "share", "at least"], &rows);
    report::save(
        "bare",
        &json!({ "callers": callers, "members": members, "figures": Value::Array(figures) }),
    )?;
    report::verdict(&missed)
}

fn whole(number: f64) -> String {
    report::grouped(report::rounded(number))
}

fn over_http(server: SocketAddr, site: &Site, scenario: Scenario, load: Load) -> Outcome<f64> {
    let tally = client::drive(&[server], load, site.world.requests(scenario))?;
    if let Some(status) = scenario.status() {
        tally.expect(status)?;
    }
    Ok(tally.per_second())
}

/// Rounds of new groups, bare and over HTTP in turns, and the fsync beside them.
fn writes(
    scratch: &std::path::Path,
    db: &Db,
    site: &Site,
    load: Load,
    rounds: u64,
) -> Outcome<(Vec<f64>, Vec<f64>, f64)> {
    let (mut bare, mut http, mut fsyncs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        fsyncs.push(as_f64(report::fsync_micros(scratch)?));
        bare.push(create(db, token::hash(&site.world.tokens[2]), load, round)?);
        http.push(over_http(site.server.address, site, Scenario::Create, load)?);
    }
    Ok((bare, http, report::median(fsyncs)))
}

/// Makes groups as `POST /v1/groups` does, from as many threads as there are connections; how many a second.
fn create(db: &Db, hash: TokenHash, load: Load, round: u64) -> Outcome<f64> {
    let (stop, made) = (AtomicBool::new(false), AtomicU64::new(0));
    let since = Instant::now();
    let app = App::new(db.clone(), Arc::new(database::now), IdSource::seeded(round));
    let caller = app
        .ask::<_, AppError>(hash, app.now(), None, |found| Ok(found.map(|(caller, _)| caller)))
        .wait()
        .map_err(|error| error.to_string())?
        .ok_or("the token is not in force")?;
    let call = |key: String| {
        let new = NewGroup {
            name: "A committee".to_owned(),
            description: String::new(),
        };
        let once = Once::new(&caller, key, [7; 32], 7 * 86_400);
        let doing = app.once::<AppError>(
            Identity::Token(hash),
            &groups::CREATE,
            once,
            Some(Next::own()),
            move |act| {
                let body = groups::create(act, &new)?.document();
                Ok(Output { status: 201, body })
            },
        );
        doing.reply
    };
    std::thread::scope(|scope| {
        scope.spawn(|| load::stop_after(&stop, load.time));
        let callers: Vec<_> = (0..load.connections as u64)
            .map(|caller| {
                let (stop, made, call) = (&stop, &made, &call);
                scope.spawn(move || -> Outcome {
                    for n in 0_u64.. {
                        if stop.load(Ordering::Relaxed) {
                            break;
                        }
                        let key = format!("bare-{}-{round}-{caller}-{n}", std::process::id());
                        call(key).wait().map_err(|error| error.to_string())?;
                        made.fetch_add(1, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        for caller in callers {
            caller.join().map_err(|_| "a caller panicked")??;
        }
        Ok::<_, String>(())
    })?;
    Ok(as_f64(made.load(Ordering::Relaxed)) / since.elapsed().as_secs_f64())
}

/// What a read asks PostgreSQL.
struct Asked {
    hash: TokenHash,
    organization: OrganizationId,
    member: MemberId,
}

impl Asked {
    /// The same statements from as many threads as bursar reads with, and nothing around them.
    fn drive(&self, url: &str, scenario: Scenario, time: Duration) -> Outcome<f64> {
        let (stop, made) = (AtomicBool::new(false), AtomicU64::new(0));
        let since = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| load::stop_after(&stop, time));
            let readers: Vec<_> = (0..READERS)
                .map(|_| scope.spawn(|| self.read(url, scenario, &stop, &made)))
                .collect();
            for reader in readers {
                reader.join().map_err(|_| "a reader panicked")??;
            }
            Ok::<_, String>(())
        })?;
        Ok(as_f64(made.load(Ordering::Relaxed)) / since.elapsed().as_secs_f64())
    }

    fn read(&self, url: &str, scenario: Scenario, stop: &AtomicBool, made: &AtomicU64) -> Outcome {
        let failed = |error: postgres::Error| error.to_string();
        let mut client = Client::connect(url, NoTls).map_err(failed)?;
        let by_hash = client
            .prepare(&numbered(tokens::statements()[0]))
            .map_err(failed)?;
        let one = client
            .prepare(&numbered(table::statements::<Member>()[1]))
            .map_err(failed)?;
        let page = client
            .prepare(&numbered(
                walk::statements::<Member>(EngineKind::Postgres, &Filters::default()).live[0],
            ))
            .map_err(failed)?;
        let (organization, member) = (self.organization.to_bytes(), self.member.to_bytes());
        let (organization, member): (&[u8], &[u8]) = (&organization, &member);
        let nothing: &[u8] = &[];
        while !stop.load(Ordering::Relaxed) {
            let hash: &[u8] = &self.hash;
            let mut bytes = client.query(&by_hash, &[&hash]).map_err(failed)?.len();
            let rows = if scenario == Scenario::Get {
                client.query(&one, &[&organization, &member])
            } else {
                client.query(&page, &[&organization, &i64::MIN, &nothing, &i64::MAX, &51_i64])
            };
            let place = if scenario == Scenario::Get { 0 } else { 1 };
            for row in rows.map_err(failed)? {
                bytes += row.get::<_, &str>(place).len();
            }
            made.fetch_add(u64::from(bytes > 100), Ordering::Relaxed);
        }
        Ok(())
    }
}

/// The text as PostgreSQL takes it.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
        .replace("CAST(document AS BLOB)", "document")
}
