//! `bench pgbench`: durable writes on PostgreSQL beside `pgbench -N`, in turns on one server, and beside PocketBase.

use std::net::SocketAddr;
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use bursar_db::Options;
use serde_json::{Value, json};

use crate::bundle::{self, Size, Tenant};
use crate::database::{self, Scratch};
use crate::http::client::{self, Load, Requests};
use crate::http::pocketbase::PocketBase;
use crate::http::scenario;
use crate::http::site::{self, NO_LIMIT};
use crate::{Args, Outcome, report};

const CLIENTS: usize = 64;
const PROCESSES_MAX: usize = 3;
/// Of pgbench's transactions a second.
const PATCH_MIN: f64 = 1.0;
const CREATE_MIN: f64 = 0.8;
/// Of what one process makes with as many clients: several make no less, as far as a run can tell.
const SEVERAL_MIN: f64 = 0.95;
/// Several processes are for more clients than one has.
const MORE_CLIENTS: usize = CLIENTS * PROCESSES_MAX;
/// pgbench's scale: two million rows, so that its clients do not wait for each other's rows.
const SCALE: &str = "20";

/// Writes that are measured.
struct Kind {
    is_patch: bool,
    organizations: usize,
    /// Each has its share of the clients. Those of an organization are all with one process.
    processes: usize,
    clients: usize,
    /// By round.
    rates: Vec<f64>,
}

impl Kind {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for is_patch in [true, false] {
            let more = (1..=PROCESSES_MAX).map(|processes| (CLIENTS, processes, MORE_CLIENTS));
            for (organizations, processes, clients) in
                [(1, 1, CLIENTS), (CLIENTS, 1, CLIENTS)].into_iter().chain(more)
            {
                all.push(Self {
                    is_patch,
                    organizations,
                    processes,
                    clients,
                    rates: Vec::new(),
                });
            }
        }
        all
    }

    fn write(&self) -> &'static str {
        if self.is_patch { "patch" } else { "create" }
    }

    fn rate(&self) -> f64 {
        report::median(self.rates.clone())
    }

    /// The organization of a client.
    fn organization(&self, client: usize) -> usize {
        let process = client % self.processes;
        let share = (self.organizations - process).div_ceil(self.processes);
        process + self.processes * (client / self.processes % share)
    }
}

/// Where they are sent.
struct Place {
    servers: Vec<SocketAddr>,
    callers: Rc<Vec<(String, Tenant)>>,
}

impl Place {
    fn drive(&self, kind: &Kind, load: Load) -> Outcome<f64> {
        let status = if kind.is_patch { 200 } else { 201 };
        let requests = requests(&self.callers, kind, new_run());
        let load = Load {
            connections: kind.clients,
            ..load
        };
        rate(&self.servers[..kind.processes], load, requests, status)
    }
}

/// PocketBase and its rates.
struct Peer {
    pocketbase: PocketBase,
    patches: Vec<f64>,
    creates: Vec<f64>,
}

impl Peer {
    fn round(&mut self, load: Load) -> Outcome {
        let peer = &self.pocketbase;
        let servers = [peer.server.address];
        self.patches
            .push(rate(&servers, load, peer.patches(new_run()), 200)?);
        self.creates.push(rate(&servers, load, peer.creates(), 200)?);
        Ok(())
    }

    fn rate(&self, is_patch: bool) -> f64 {
        report::median(if is_patch { &self.patches } else { &self.creates }.clone())
    }
}

pub(crate) fn measure(args: &Args) -> Outcome {
    let server = database::server().ok_or("it needs a PostgreSQL: scripts/test --services")?;
    let seconds = args.number("seconds", 5)?;
    let scratch = args.scratch()?;
    let (own, theirs) = (Scratch::new(&server, "own")?, Scratch::new(&server, "pgbench")?);
    let tenants = fill(&scratch, &own)?;
    let url = own.text();
    let mut callers = Vec::new();
    for tenant in tenants {
        let (_, token) = site::make_token(&url, &tenant.id.to_string())?;
        callers.push((token, tenant));
    }
    let mut processes = Vec::new();
    for number in 1..=PROCESSES_MAX {
        processes.push(site::start(
            &scratch,
            &format!("pgbench-{number}"),
            &url,
            NO_LIMIT,
            &[],
        )?);
    }
    let place = Place {
        servers: processes.iter().map(|process| process.address).collect(),
        callers: Rc::new(callers),
    };
    let mut peer = PocketBase::start(&scratch)?.map(|pocketbase| Peer {
        pocketbase,
        patches: Vec::new(),
        creates: Vec::new(),
    });
    pgbench(&theirs.text(), &["-i", "-q", "-s", SCALE])?;
    let load = Load {
        connections: CLIENTS,
        time: Duration::from_secs(seconds),
        rate: None,
    };
    let mut kinds = Kind::all();
    // PostgreSQL plans by what it knows of its tables, and some of them are empty in a new database.
    for kind in &kinds {
        let time = Duration::from_secs(1);
        place.drive(kind, Load { time, ..load })?;
    }
    own.settle()?;
    let mut beside = Vec::new();
    for _ in 0..args.number("rounds", 3)? {
        beside.push(transactions(&theirs.text(), seconds)?);
        for kind in &mut kinds {
            let rate = place.drive(kind, load)?;
            kind.rates.push(rate);
        }
        if let Some(peer) = &mut peer {
            peer.round(load)?;
        }
    }
    tell(seconds, report::median(beside), &kinds, peer.as_ref())
}

/// For names and keys that no run before had.
fn new_run() -> String {
    format!("{:x}", database::now().micros())
}

fn rate(servers: &[SocketAddr], load: Load, requests: Requests, status: u16) -> Outcome<f64> {
    let tally = client::drive(servers, load, requests)?;
    tally.expect(status)?;
    Ok(tally.per_second())
}

fn tell(seconds: u64, pgbench: f64, kinds: &[Kind], peer: Option<&Peer>) -> Outcome {
    println!(
        "writes a second beside pgbench -N with {CLIENTS} clients, {} transactions",
        report::rounded(pgbench)
    );
    let rounded = |ratio: f64| json!((ratio * 100.0).round() / 100.0);
    let (mut rows, mut figures, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    let mut alone = 0.0;
    for kind in kinds {
        let (rate, organizations, processes) = (kind.rate(), kind.organizations, kind.processes);
        let clients = kind.clients;
        let mut require = |ratio: f64, least: f64, what: &str| {
            if ratio < least {
                missed.push(format!(
                    "{} in {organizations} organizations by {processes} processes and {clients} clients: {ratio:.2} of {what}, must be {least}",
                    kind.write()
                ));
            }
        };
        let ratio = rate / pgbench;
        let least = if kind.is_patch { PATCH_MIN } else { CREATE_MIN };
        let mut row = vec![
            kind.write().to_owned(),
            organizations.to_string(),
            clients.to_string(),
            processes.to_string(),
            report::grouped(report::rounded(rate)),
            format!("{ratio:.2}"),
        ];
        let mut figure = json!({
            "write": kind.write(),
            "organizations": organizations,
            "clients": clients,
            "processes": processes,
            "perSecond": report::rounded(rate),
            "ratio": rounded(ratio),
        });
        match (processes, clients) {
            (1, CLIENTS) => require(ratio, least, "pgbench"),
            (1, _) => alone = rate,
            _ => require(rate / alone, SEVERAL_MIN, "one process"),
        }
        if let Some(peer) = peer {
            let ratio = rate / peer.rate(kind.is_patch);
            require(ratio, 1.0, "PocketBase");
            row.push(format!("{ratio:.2}"));
            figure["ofPocketBase"] = rounded(ratio);
        }
        rows.push(row);
        figures.push(figure);
    }
    let mut header = vec![
        "write",
        "organizations",
        "clients",
        "processes",
        "a second",
        "of pgbench",
    ];
    header.extend(peer.map(|_| "of PocketBase"));
    report::table(&header, &rows);
    println!(
        "limits, of pgbench with one process and {CLIENTS} clients: patch {PATCH_MIN}, create {CREATE_MIN}; \
         several processes, of one: {SEVERAL_MIN}"
    );
    let mut figures: Value = json!({
        "seconds": seconds,
        "pgbenchPerSecond": report::rounded(pgbench),
        "writes": figures,
    });
    if let Some(peer) = peer {
        let [patches, creates] = [true, false].map(|is_patch| report::rounded(peer.rate(is_patch)));
        let version = &peer.pocketbase.version;
        println!("{version}: {patches} patches, {creates} creates a second");
        figures["pocketBase"] =
            json!({ "version": version, "patchesPerSecond": patches, "createsPerSecond": creates });
    }
    report::save("pgbench", &figures)?;
    report::verdict(&missed)
}

/// An organization for each client, in a database of its own.
fn fill(scratch: &std::path::Path, own: &Scratch) -> Outcome<Vec<Tenant>> {
    let file = scratch.join("pgbench.ndjson");
    let size = Size {
        members: 1_000 * CLIENTS as u64,
        organizations: CLIENTS as u64,
        charges: 0,
    };
    let tenants = bundle::write(&file, size)?;
    let db = database::open(&own.url, &Options::default())?;
    database::fill(&db, &file)?;
    db.shutdown();
    own.settle()?;
    std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    Ok(tenants)
}

/// Each changes another member than the others under way, or has a key of its own.
fn requests(callers: &Rc<Vec<(String, Tenant)>>, kind: &Kind, run: String) -> Requests {
    let callers = Rc::clone(callers);
    let (is_patch, clients) = (kind.is_patch, kind.clients);
    let organizations: Vec<usize> = (0..clients).map(|client| kind.organization(client)).collect();
    Box::new(move |client, n, out| {
        let (token, tenant) = &callers[organizations[client]];
        if is_patch {
            // From row to row, as pgbench does.
            let place = client + clients * usize::try_from(n).unwrap_or(0);
            let member = tenant.members[place % tenant.members.len()];
            scenario::patch(out, token, member, &format!("{run}{n}"));
        } else {
            scenario::create(out, token, &format!("{run}-{client}-{n}"));
        }
    })
}

fn transactions(url: &str, seconds: u64) -> Outcome<f64> {
    let clients = CLIENTS.to_string();
    let printed = pgbench(
        url,
        &[
            "-N",
            "-M",
            "prepared",
            "-c",
            &clients,
            "-j",
            "2",
            "-T",
            &seconds.to_string(),
        ],
    )?;
    let tps = printed
        .lines()
        .find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    tps.ok_or_else(|| format!("pgbench printed no rate: {printed}"))
}

fn pgbench(url: &str, words: &[&str]) -> Outcome<String> {
    let done = Command::new("pgbench").args(words).arg(url).output();
    let done = done.map_err(|error| format!("pgbench: {error}"))?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).trim().to_owned());
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
