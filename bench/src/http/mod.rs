//! `bench http`: bursar beside a ceiling and peers, asked the same by the same load generator, in turns.

pub(crate) mod ceiling;
pub(crate) mod client;
pub(crate) mod peer;
pub(crate) mod pocketbase;
pub(crate) mod process;
pub(crate) mod scenario;
pub(crate) mod site;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use self::client::{Load, as_f64};
use self::peer::Peer;
use self::process::Server;
use self::scenario::{Client, Scenario};
use self::site::Site;
use crate::{Args, Outcome, database, plot, report};

/// A peer is warm when this many runs in a row did not lower its CPU a request by a twentieth, or after so many runs.
const WARM_RUNS: usize = 2;
const WARM_RUNS_MAX: usize = 10;
const WARM_RUN: Duration = Duration::from_secs(1);

/// What one run of one scenario on one server showed.
pub(crate) struct Sample {
    pub(crate) per_second: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) cpu_micros: f64,
    pub(crate) anonymous_kib: u64,
}

/// Loads a server and reads what it used meanwhile.
pub(crate) fn sample(server: &Server, load: Load, site: &Site, scenario: Scenario) -> Outcome<Sample> {
    let before = server.cpu_nanos();
    let tally = client::drive(&[server.address], load, site.world.requests(scenario))
        .map_err(|error| format!("{} on {}: {error}", scenario.name(), server.name))?;
    let cpu = server.cpu_nanos().saturating_sub(before);
    if let Some(status) = scenario.status() {
        tally
            .expect(status)
            .map_err(|error| format!("{} on {}: {error}", scenario.name(), server.name))?;
    }
    Ok(Sample {
        per_second: tally.per_second(),
        p50: tally.micros_at(500),
        p99: tally.micros_at(990),
        cpu_micros: as_f64(cpu) / 1_000.0 / as_f64(tally.requests.max(1)),
        anonymous_kib: server.anonymous_kib(),
    })
}

/// Which server.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    Ceiling,
    Site(usize),
    Peer(usize),
}

/// All servers of a run.
struct Servers {
    sites: Vec<Site>,
    /// With what each one answers.
    ceilings: Vec<(Scenario, Server)>,
    peers: Vec<Peer>,
}

impl Servers {
    /// Those that can be asked this, with their names.
    fn of(&self, scenario: Scenario) -> Vec<(On, String)> {
        let ceiling = self.ceilings.iter().filter(|(of, _)| *of == scenario);
        let ceiling = ceiling.map(|_| (On::Ceiling, "ceiling".to_owned()));
        let sites = self.sites.iter().enumerate();
        let sites = sites.map(|(index, site)| (On::Site(index), site.name.to_owned()));
        let peers = self
            .peers
            .iter()
            .enumerate()
            .filter(|(_, peer)| peer.can(scenario));
        let peers = peers.map(|(index, peer)| (On::Peer(index), peer.server.name.clone()));
        ceiling.chain(sites).chain(peers).collect()
    }

    fn sample(&self, on: On, load: Load, scenario: Scenario) -> Outcome<Sample> {
        let first = &self.sites[0];
        match on {
            On::Site(index) => {
                let site = &self.sites[index];
                sample(site.server_for(scenario), load, site, scenario)
            }
            On::Peer(index) => sample(&self.peers[index].server, load, first, scenario),
            On::Ceiling => {
                let found = self.ceilings.iter().find(|(of, _)| *of == scenario);
                let (_, server) = found.ok_or("no ceiling")?;
                sample(server, load, first, scenario)
            }
        }
    }
}

/// The samples of one scenario on one server, over all rounds.
struct Series {
    on: On,
    server: String,
    scenario: Scenario,
    samples: Vec<Sample>,
}

impl Series {
    fn median(&self, of: impl Fn(&Sample) -> f64) -> f64 {
        report::median(self.samples.iter().map(of).collect())
    }

    fn figures(&self) -> Value {
        json!({
            "server": self.server,
            "scenario": self.scenario.name(),
            "requestsPerSecond": self.median(|s| s.per_second).round(),
            "p50Micros": self.median(|s| s.p50).round(),
            "p99Micros": self.median(|s| s.p99).round(),
            "cpuMicros": (self.median(|s| s.cpu_micros) * 10.0).round() / 10.0,
            "anonymousKiB": self.samples.iter().map(|s| s.anonymous_kib).max(),
        })
    }
}

/// `bench http`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let scratch = args.scratch()?;
    let members = args.number("members", 100_000)?;
    let load = Load {
        connections: usize::try_from(args.number("connections", 32)?).unwrap_or(32),
        time: Duration::from_millis(args.number("milliseconds", 1_500)?),
        rate: None,
    };
    let scenarios: Vec<Scenario> = match args.text("scenarios") {
        None => Scenario::ALL.to_vec(),
        Some(names) => names.split(',').map(Scenario::parse).collect::<Outcome<_>>()?,
    };
    let mut sites = vec![Site::sqlite(&scratch, members)?];
    if let Some(server) = database::server() {
        sites.push(Site::postgres(&scratch, members, &server, database::redis())?);
    }
    let mut ceilings = Vec::new();
    for scenario in &scenarios {
        let ceiling = start_ceiling(&scratch, &sites[0], *scenario)?;
        ceilings.extend(ceiling.map(|server| (*scenario, server)));
    }
    let peers = match args.text("peers") {
        None => Vec::new(),
        Some(names) => Peer::start_all(names, &sites[0], &scratch, members)?,
    };
    let servers = Servers {
        sites,
        ceilings,
        peers,
    };
    let mut all: Vec<Series> = Vec::new();
    for scenario in scenarios {
        all.extend(servers.of(scenario).into_iter().map(|(on, server)| Series {
            on,
            server,
            scenario,
            samples: Vec::new(),
        }));
    }
    for series in all.iter().filter(|series| matches!(series.on, On::Peer(_))) {
        warm_up(&servers, series, load)?;
    }
    let mut fsyncs = Vec::new();
    for round in 0..args.number("rounds", 3)? {
        eprintln!("round {}", round + 1);
        fsyncs.push(as_f64(report::fsync_micros(&scratch)?));
        for series in &mut all {
            series
                .samples
                .push(servers.sample(series.on, load, series.scenario)?);
        }
    }
    let paced = paced(&all, &servers, load)?;
    show(&all, &servers.peers, &fsyncs, &paced, members, load)
}

/// A runtime that compiles while it runs gets faster by the requests it has had, so no fixed time fits all.
fn warm_up(servers: &Servers, series: &Series, load: Load) -> Outcome {
    let load = Load {
        time: WARM_RUN,
        ..load
    };
    let (mut least, mut steady) = (f64::INFINITY, 0);
    for _ in 0..WARM_RUNS_MAX {
        let cpu = servers.sample(series.on, load, series.scenario)?.cpu_micros;
        steady = if cpu < least * 0.95 { 0 } else { steady + 1 };
        least = least.min(cpu);
        if steady == WARM_RUNS {
            break;
        }
    }
    Ok(())
}

/// The times at half of the load that saturates, of what people wait for most.
fn paced(all: &[Series], servers: &Servers, load: Load) -> Outcome<Vec<Value>> {
    let mut found = Vec::new();
    for series in all {
        if series.on == On::Ceiling
            || !matches!(
                series.scenario,
                Scenario::Get | Scenario::ListFirst | Scenario::Patch | Scenario::Mixed
            )
        {
            continue;
        }
        let rate = series.median(|s| s.per_second) / 2.0;
        let load = Load {
            rate: Some(rate),
            ..load
        };
        let half = servers.sample(series.on, load, series.scenario)?;
        found.push(json!({
            "server": series.server,
            "scenario": series.scenario.name(),
            "requestsPerSecond": half.per_second.round(),
            "p50Micros": half.p50.round(),
            "p99Micros": half.p99.round(),
        }));
    }
    Ok(found)
}

/// Takes bursar's own answer down and starts a server that knows nothing else. A mixed day has no one answer.
pub(crate) fn start_ceiling(scratch: &Path, site: &Site, scenario: Scenario) -> Outcome<Option<Server>> {
    if scenario == Scenario::Mixed {
        return Ok(None);
    }
    let file = scratch.join(format!("answer-{}", scenario.name()));
    let mut request = Vec::new();
    site.world.requests(scenario)(0, 0, &mut request);
    let mut client = Client::connect(site.server_for(scenario).address)?;
    let mut answer = client.exchange(&request)?;
    // The first of its kind may still be within the limit, or make what is replayed later.
    if matches!(scenario, Scenario::TooMany | Scenario::Replay) {
        answer = client.exchange(&request)?;
    }
    std::fs::write(&file, answer).map_err(|error| format!("{}: {error}", file.display()))?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["ceiling", "--answer"]).arg(&file);
    Server::start(
        "ceiling",
        &mut command,
        &scratch.join(format!("ceiling-{}.log", scenario.name())),
    )
    .map(Some)
}

fn show(
    all: &[Series],
    peers: &[Peer],
    fsyncs: &[f64],
    paced: &[Value],
    members: u64,
    load: Load,
) -> Outcome {
    let ceiling_of = |scenario: Scenario| {
        all.iter()
            .find(|series| series.scenario == scenario && series.on == On::Ceiling)
            .map(|series| series.median(|s| s.cpu_micros))
    };
    let mut rows = Vec::new();
    let mut missed = Vec::new();
    for series in all {
        let cpu = series.median(|s| s.cpu_micros);
        let ratio = ceiling_of(series.scenario)
            .filter(|_| series.on != On::Ceiling)
            .map(|ceiling| cpu / ceiling);
        rows.push(vec![
            series.scenario.name().to_owned(),
            series.server.clone(),
            whole(series.median(|s| s.per_second)),
            whole(series.median(|s| s.p50)),
            whole(series.median(|s| s.p99)),
            format!("{cpu:.1}"),
            format!(
                "{:.1}",
                as_f64(series.samples.iter().map(|s| s.anonymous_kib).max().unwrap_or(0)) / 1_024.0
            ),
            ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")),
        ]);
        if series.server == "sqlite"
            && let (Some(ratio), Some(limit)) = (ratio, limit(series.scenario))
            && ratio > limit
        {
            missed.push(format!(
                "{}: {ratio:.2} of the ceiling (limit {limit})",
                series.scenario.name()
            ));
        }
    }
    println!(
        "{} members, {} connections, fsync {} µs",
        report::grouped(members),
        load.connections,
        whole(report::median(fsyncs.to_vec()))
    );
    report::table(
        &[
            "scenario",
            "server",
            "req/s",
            "p50 µs",
            "p99 µs",
            "CPU µs",
            "RSS MB",
            "CPU/ceiling",
        ],
        &rows,
    );
    println!("at half of that load");
    let half: Vec<Vec<String>> = paced
        .iter()
        .map(|one| {
            [
                "scenario",
                "server",
                "requestsPerSecond",
                "p50Micros",
                "p99Micros",
            ]
            .iter()
            .map(|name| {
                one[name]
                    .as_str()
                    .map_or_else(|| one[name].to_string(), str::to_owned)
            })
            .collect()
        })
        .collect();
    report::table(&["scenario", "server", "req/s", "p50 µs", "p99 µs"], &half);
    let figures: Vec<Value> = all.iter().map(Series::figures).collect();
    report::save(
        "http",
        &json!({
            "members": members,
            "connections": load.connections,
            "fsyncMicros": report::median(fsyncs.to_vec()),
            "peers": peers.iter().map(|peer| json!({ "server": peer.server.name, "version": peer.version })).collect::<Vec<_>>(),
            "scenarios": figures,
            "atHalfLoad": paced,
        }),
    )?;
    plot::bars(
        "http",
        "Server CPU a request, in microseconds",
        &all.iter()
            .map(|series| plot::Bar {
                group: series.scenario.name().to_owned(),
                name: series.server.clone(),
                value: series.median(|s| s.cpu_micros),
            })
            .collect::<Vec<_>>(),
    )?;
    report::verdict(&missed)
}

/// At most this many times the ceiling's CPU for the same bytes, headers and log line.
fn limit(scenario: Scenario) -> Option<f64> {
    match scenario {
        Scenario::Get => Some(2.5),
        Scenario::ListFirst | Scenario::ListActive | Scenario::ListDeep | Scenario::ListMidWalk => Some(3.5),
        _ => None,
    }
}

fn whole(number: f64) -> String {
    report::grouped(report::rounded(number))
}
