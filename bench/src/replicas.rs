//! `bench replicas`: one, two and three processes on one PostgreSQL and one Redis.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};

use crate::http::client::{self, Load};
use crate::http::scenario::Scenario;
use crate::http::site::Site;
use crate::{Args, Outcome, database, report};

const SCENARIOS: [Scenario; 4] = [
    Scenario::Get,
    Scenario::ListFirst,
    Scenario::Create,
    Scenario::Mixed,
];
const REPLICAS_MAX: usize = 3;

/// `bench replicas`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let server = database::server().ok_or("it needs a PostgreSQL: scripts/test --services")?;
    let scratch = args.scratch()?;
    let members = args.number("members", 100_000)?;
    let load = Load {
        connections: usize::try_from(args.number("connections", 48)?).unwrap_or(48),
        time: Duration::from_millis(args.number("milliseconds", 1_500)?),
        rate: None,
    };
    let site = Site::postgres(&scratch, members, &server, database::redis())?;
    let mut more = Vec::new();
    for replica in 1..REPLICAS_MAX {
        more.push(site.replica(&scratch, replica)?);
    }
    let mut addresses: Vec<SocketAddr> = vec![site.server.address];
    addresses.extend(more.iter().map(|server| server.address));
    let mut found: Vec<(Scenario, usize, Vec<f64>)> = Vec::new();
    for scenario in SCENARIOS {
        found.extend((1..=REPLICAS_MAX).map(|count| (scenario, count, Vec::new())));
    }
    for _ in 0..args.number("rounds", 3)? {
        for (scenario, count, rates) in &mut found {
            let tally = client::drive(&addresses[..*count], load, site.world.requests(*scenario))?;
            if let Some(status) = scenario.status() {
                tally.expect(status)?;
            }
            rates.push(tally.per_second());
        }
    }
    let rate = |scenario: Scenario, count: usize| {
        let one = found.iter().find(|(s, c, _)| *s == scenario && *c == count);
        report::rounded(report::median(
            one.map(|(.., rates)| rates.clone()).unwrap_or_default(),
        ))
    };
    println!(
        "requests a second by replicas, PostgreSQL and Redis, {} connections",
        load.connections
    );
    let rows: Vec<Vec<String>> = SCENARIOS
        .iter()
        .map(|scenario| {
            let mut row = vec![scenario.name().to_owned()];
            row.extend((1..=REPLICAS_MAX).map(|count| report::grouped(rate(*scenario, count))));
            row
        })
        .collect();
    report::table(&["scenario", "1", "2", "3"], &rows);
    let figures: Vec<Value> = found
        .iter()
        .map(|(scenario, count, _)| {
            json!({ "scenario": scenario.name(), "replicas": count, "requestsPerSecond": rate(*scenario, *count) })
        })
        .collect();
    report::save(
        "replicas",
        &json!({ "members": members, "connections": load.connections, "figures": figures }),
    )
}
