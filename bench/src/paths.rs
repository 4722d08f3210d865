//! `bench paths`: instructions of the hot paths, by callgrind, so that a change in cost shows on a busy machine too.
//!
//! A whole request goes through a connection within the process, its client included; the ceiling pays for the same
//! client, so the difference is what bursar does. As in `page`, a run of `2 K` less a run of `K` leaves the cost of `K`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bursar_api::serve::Edge;
use bursar_api::{Readiness, Site as Pages, routes};
use bursar_app::App;
use bursar_app::tokens::last_used::LastUsed;
use bursar_db::{DatabaseUrl, Db, DbError, Opening, Options, table, tokens};
use bursar_domain::ids::{IdSource, MemberId, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::token;
use bursar_http::address::TrustedProxies;
use bursar_http::limits::{Capacity, Limiter, Limits, Memory, monotonic_clock};
use bursar_http::listen::{self, Service};
use bursar_http::request_log::RequestLog;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::http::ceiling::Ceiling;
use crate::http::client::head;
use crate::http::scenario::Scenario;
use crate::http::site::Site;
use crate::http::start_ceiling;
use crate::{Args, Outcome, callgrind, database, report};

/// What is counted, and the most that it may be. The writes come last, because what they leave behind would count in
/// the others.
const SCENARIOS: [(Scenario, Option<u64>); 10] = [
    (Scenario::Get, Some(55_000)),
    (Scenario::ListFirst, Some(138_000)),
    (Scenario::ListActive, None),
    (Scenario::ListDeep, Some(152_000)),
    (Scenario::ListMidWalk, None),
    (Scenario::ListNothingNew, None),
    (Scenario::Replay, Some(63_000)),
    (Scenario::Unauthorized, None),
    (Scenario::Patch, None),
    (Scenario::Create, None),
];

/// Ends a request in a file of them; no request contains it.
const END: u8 = 0;

/// `bench paths`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let scratch = args.scratch()?;
    let members = args.number("members", 10_000)?;
    let requests = args.number("requests", 300)?;
    let site = Site::sqlite(&scratch, members)?;
    let mut asked = Vec::new();
    for (scenario, max) in SCENARIOS {
        let file = scratch.join(format!("request-{}", scenario.name()));
        // A write is not asked for twice: the run of `2 K` has others than the run of `K`.
        let different = match scenario {
            Scenario::Patch | Scenario::Create => 3 * requests,
            _ => 1,
        };
        let (write, mut asked_for) = (site.world.requests(scenario), Vec::new());
        for n in 1..=different {
            write(0, n, &mut asked_for);
            asked_for.push(END);
        }
        std::fs::write(&file, asked_for).map_err(|error| format!("{}: {error}", file.display()))?;
        // Only for the answer that it takes down.
        drop(start_ceiling(&scratch, &site, scenario)?);
        asked.push((scenario, max, file));
    }
    let (organization, member) = (site.world.tenants[0].id, site.world.tenants[0].members[0]);
    let token = site.world.tokens[0].clone();
    // Its server lets go of the file.
    drop(site);
    let database = scratch.join("http.db");
    let (mut rows, mut figures, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for (name, more) in [
        ("engine: token look-up", vec!["--token".to_owned(), token]),
        (
            "engine: get",
            vec![
                "--organization".to_owned(),
                organization.to_string(),
                "--member".to_owned(),
                member.to_string(),
            ],
        ),
    ] {
        let count = callgrind::of_one(requests * 4, |count| {
            let mut words = more.clone();
            words.extend(["--database".to_owned(), database.display().to_string()]);
            self::count(&words, count, None)
        })?;
        rows.push(vec![
            name.to_owned(),
            report::grouped(count),
            String::new(),
            String::new(),
            String::new(),
        ]);
        figures.push(json!({ "path": name, "instructions": count }));
    }
    for (scenario, max, file) in asked {
        let status = scenario.status().unwrap_or(200).to_string();
        let request = [
            "--request".to_owned(),
            file.display().to_string(),
            "--status".to_owned(),
            status,
        ];
        let run = |more: [String; 2], profile: Option<PathBuf>| {
            let words = [&request[..], &more].concat();
            callgrind::of_one(requests, |count| {
                let is_second = count > requests;
                let skip = if is_second { requests } else { 0 };
                let mut words = words.clone();
                words.extend(["--skip".to_owned(), skip.to_string()]);
                self::count(&words, count, profile.as_deref().filter(|_| is_second))
            })
        };
        let answer = scratch.join(format!("answer-{}", scenario.name()));
        let ceiling = run(["--answer".to_owned(), answer.display().to_string()], None)?;
        let profile = args
            .text("profiles")
            .map(|folder| Path::new(folder).join(scenario.name()));
        let whole = run(["--database".to_owned(), database.display().to_string()], profile)?;
        rows.push(vec![
            format!("request: {}", scenario.name()),
            report::grouped(whole),
            max.map_or_else(String::new, report::grouped),
            report::grouped(ceiling),
            format!(
                "{:.2}",
                crate::http::client::as_f64(whole) / crate::http::client::as_f64(ceiling.max(1))
            ),
        ]);
        figures.push(json!({ "path": scenario.name(), "instructions": whole, "ceiling": ceiling }));
        if let Some(max) = max.filter(|max| whole > *max) {
            missed.push(format!(
                "{}: {whole} instructions (at most {max})",
                scenario.name()
            ));
        }
    }
    println!("instructions, SQLite, {} members", report::grouped(members));
    report::table(&["path", "instructions", "at most", "ceiling", "ratio"], &rows);
    report::save(
        "paths",
        &json!({ "unit": "instructions, callgrind, client included", "members": members, "paths": figures }),
    )?;
    report::verdict(&missed)
}

fn count(words: &[String], count: u64, profile: Option<&Path>) -> Outcome<u64> {
    let mut all = vec!["path".to_owned(), "--count".to_owned(), count.to_string()];
    all.extend_from_slice(words);
    callgrind::instructions(&all, profile)
}

/// `bench path`, which `bench paths` runs under callgrind.
pub(crate) fn walk(args: &Args) -> Outcome {
    let count = args.number("count", 1)?;
    let Some(request) = args.text("request") else {
        return engine(args, count);
    };
    let skip = usize::try_from(args.number("skip", 0)?).map_err(|error| error.to_string())?;
    let requests = std::fs::read(request).map_err(|error| format!("{request}: {error}"))?;
    let requests: Vec<&[u8]> = requests
        .split(|byte| *byte == END)
        .filter(|one| !one.is_empty())
        .collect();
    let status = args.number("status", 200)?;
    let asked = requests.iter().copied().cycle().skip(skip).zip(0..count);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    match args.text("answer") {
        Some(answer) => runtime.block_on(exchange(Arc::new(Ceiling::open(answer)?), asked, status)),
        None => {
            let db = open(args)?;
            let done = runtime.block_on(exchange(Arc::new(edge(&db)), asked, status));
            db.shutdown();
            done
        }
    }
}

fn open(args: &Args) -> Outcome<Db> {
    let path = args.text("database").ok_or("--database is required")?;
    let url = DatabaseUrl::Sqlite(PathBuf::from(path));
    Db::open(&url, &Options::default(), Opening::Require).map_err(|error| error.to_string())
}

/// The edge as `bursar serve` makes it.
fn edge(db: &Db) -> Edge {
    let limits = Limits {
        read: 4_000_000_000,
        write: 4_000_000_000,
        messaging: 4_000_000_000,
    };
    Edge {
        app: App::new(db.clone(), Arc::new(database::now), IdSource::seeded(2)),
        limiter: Arc::new(Limiter::memory(Memory::new(
            limits,
            Capacity::default(),
            monotonic_clock(),
            7,
        ))),
        base_url: "http://127.0.0.1:8080".to_owned(),
        trusted_proxies: TrustedProxies::default(),
        cors_origin: None,
        body_limit: 64 << 10,
        request_timeout: Duration::from_secs(30),
        ids: Mutex::new(IdSource::seeded(1)),
        idempotency_seconds: 7 * 86_400,
        lookups: None,
        metrics: Arc::new(routes::metrics()),
        request_log: RequestLog::Text,
        last_used: Arc::new(LastUsed::default()),
        is_ready: AtomicBool::new(true),
        readiness: Readiness::default(),
        site: Pages::new("http://127.0.0.1:8080"),
        on_queued: Arc::new(|| {}),
    }
}

/// Asks a server in this process.
async fn exchange<'a, S: Service>(
    service: Arc<S>,
    asked: impl Iterator<Item = (&'a [u8], u64)>,
    status: u64,
) -> Outcome {
    let failed = |error: std::io::Error| error.to_string();
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0)))
        .await
        .map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let told = async {
        let _ = stopped.await;
    };
    let server = tokio::spawn(listen::serve(
        listener,
        service,
        listen::Options::default(),
        told,
        std::future::ready(()),
    ));
    let mut stream = TcpStream::connect(address).await.map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    let mut buffer = Vec::with_capacity(64 << 10);
    for (request, _) in asked {
        stream.write_all(request).await.map_err(failed)?;
        buffer.clear();
        let mut whole = None;
        while whole.is_none_or(|whole| buffer.len() < whole) {
            if stream.read_buf(&mut buffer).await.map_err(failed)? == 0 {
                return Err("the server closed the connection".to_owned());
            }
            if whole.is_none() {
                let told = head(&buffer)?;
                if let Some((other, _)) = told.filter(|(told, _)| u64::from(*told) != status) {
                    return Err(format!("the status is {other}, not {status}"));
                }
                whole = told.map(|(_, whole)| whole);
            }
        }
    }
    drop(stream);
    let _ = stop.send(());
    server.await.map(drop).map_err(|error| error.to_string())
}

/// One statement of the engine, without HTTP.
fn engine(args: &Args, count: u64) -> Outcome {
    let db = open(args)?;
    let hash = args.text("token").map(token::hash);
    let organization = args.text("organization").and_then(OrganizationId::parse);
    let member = args.text("member").and_then(MemberId::parse);
    for _ in 0..count {
        let found = match (hash, organization, member) {
            (Some(hash), ..) => db
                .read::<_, DbError>(move |tx| Ok(tokens::by_hash(tx, &hash)?.is_some()))
                .wait(),
            (_, Some(organization), Some(member)) => db
                .read::<_, DbError>(move |tx| {
                    Ok(table::document::<Member>(tx, organization, member)?.is_some())
                })
                .wait(),
            _ => return Err("--token, or --organization and --member".to_owned()),
        };
        if !found.map_err(|error| error.to_string())? {
            return Err("nothing was found".to_owned());
        }
    }
    Ok(())
}
