//! `bench pgbench`: durable writes on PostgreSQL beside `pgbench -N`, in turns on one server.

use std::process::Command;
use std::rc::Rc;
use std::time::Duration;

use bursar_db::Options;
use serde_json::{Value, json};

use crate::bundle::{self, Size, Tenant};
use crate::database::{self, Scratch};
use crate::http::client::{self, Load, Requests};
use crate::http::scenario;
use crate::http::site::{self, NO_LIMIT};
use crate::{Args, Outcome, report};

const CLIENTS: usize = 64;
/// Of pgbench's transactions a second.
const PATCH_MIN: f64 = 1.0;
const CREATE_MIN: f64 = 0.8;
/// pgbench's scale: two million rows, so that its clients do not wait for each other's rows.
const SCALE: &str = "20";

#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    is_patch: bool,
    organizations: usize,
    least: f64,
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "patch, 1 organization",
        is_patch: true,
        organizations: 1,
        least: PATCH_MIN,
    },
    Kind {
        name: "patch, 64 organizations",
        is_patch: true,
        organizations: CLIENTS,
        least: PATCH_MIN,
    },
    Kind {
        name: "create, 1 organization",
        is_patch: false,
        organizations: 1,
        least: CREATE_MIN,
    },
    Kind {
        name: "create, 64 organizations",
        is_patch: false,
        organizations: CLIENTS,
        least: CREATE_MIN,
    },
];

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
    let callers = Rc::new(callers);
    let bursar = site::start(&scratch, "pgbench", &url, NO_LIMIT, &[])?;
    pgbench(&theirs.text(), &["-i", "-q", "-s", SCALE])?;
    let load = Load {
        connections: CLIENTS,
        time: Duration::from_secs(seconds),
        rate: None,
    };
    let drive = |kind: &Kind, load: Load| -> Outcome<f64> {
        let run = format!("{:x}", database::now().micros());
        let tally = client::drive(&[bursar.address], load, requests(&callers, *kind, run))?;
        tally.expect(if kind.is_patch { 200 } else { 201 })?;
        Ok(tally.per_second())
    };
    // PostgreSQL plans by what it knows of its tables, and some of them are empty in a new database.
    for kind in &KINDS {
        let time = Duration::from_secs(1);
        drive(kind, Load { time, ..load })?;
    }
    own.settle()?;
    let mut found: [Vec<f64>; KINDS.len()] = Default::default();
    let mut beside = Vec::new();
    for _ in 0..args.number("rounds", 3)? {
        beside.push(transactions(&theirs.text(), seconds)?);
        for (kind, rates) in KINDS.iter().zip(&mut found) {
            rates.push(drive(kind, load)?);
        }
    }
    tell(seconds, &beside, &found)
}

fn tell(seconds: u64, beside: &[f64], found: &[Vec<f64>]) -> Outcome {
    let pgbench = report::median(beside.to_vec());
    println!(
        "writes a second by {CLIENTS} clients beside pgbench -N, {} transactions",
        report::rounded(pgbench)
    );
    let (mut rows, mut figures, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for (kind, rates) in KINDS.iter().zip(found) {
        let rate = report::median(rates.clone());
        let ratio = rate / pgbench;
        rows.push(vec![
            kind.name.to_owned(),
            report::grouped(report::rounded(rate)),
            format!("{ratio:.2}"),
            kind.least.to_string(),
        ]);
        figures.push(json!({ "write": kind.name, "perSecond": report::rounded(rate), "ratio": (ratio * 100.0).round() / 100.0 }));
        if ratio < kind.least {
            missed.push(format!(
                "{}: {ratio:.2} of pgbench, must be {}",
                kind.name, kind.least
            ));
        }
    }
    report::table(&["write", "a second", "of pgbench", "least"], &rows);
    let figures: Value = json!({ "clients": CLIENTS, "seconds": seconds, "pgbenchPerSecond": report::rounded(pgbench), "writes": figures });
    report::save("pgbench", &figures)?;
    report::verdict(&missed)
}

/// An organization for each client, in a database of its own.
fn fill(scratch: &std::path::Path, own: &Scratch) -> Outcome<Vec<Tenant>> {
    let file = scratch.join("pgbench.ndjson");
    let size = Size {
        members: 20_000,
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

/// A member or a key of its own for each request of a client.
fn requests(callers: &Rc<Vec<(String, Tenant)>>, kind: Kind, run: String) -> Requests {
    let callers = Rc::clone(callers);
    Box::new(move |client, n, out| {
        let (token, tenant) = &callers[client % kind.organizations];
        if kind.is_patch {
            let member = tenant.members[client % tenant.members.len()];
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
