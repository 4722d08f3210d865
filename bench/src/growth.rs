//! `bench growth`: the same questions as the database and the number of connections grow.

use std::time::Duration;

use serde_json::{Value, json};

use crate::http::client::{Load, as_f64};
use crate::http::scenario::Scenario;
use crate::http::site::Site;
use crate::http::{Sample, sample};
use crate::plot::Line;
use crate::{Args, Outcome, history, plot, report};

const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
const CONNECTIONS: [usize; 5] = [1, 16, 64, 256, 1_000];
const SCENARIOS: [Scenario; 9] = [
    Scenario::Get,
    Scenario::ListFirst,
    Scenario::ListActive,
    Scenario::ListDeep,
    Scenario::ListMidWalk,
    Scenario::ListNothingNew,
    Scenario::Patch,
    Scenario::Create,
    Scenario::Mixed,
];
/// What a page may cost more, deep against first and in the largest database against the smallest.
const RATIO_MAX: f64 = 1.1;
/// Anonymous memory with a million members and 256 connections, and at rest.
const LOADED_KIB_MAX: u64 = 150 * 1_024;
const IDLE_KIB_MAX: u64 = 30 * 1_024;

/// Of one organization 512 writes may wait; what comes beyond is refused at once with 503, which is not measured here.
fn fits(scenario: Scenario, connections: usize) -> bool {
    connections <= 512 || !matches!(scenario, Scenario::Patch | Scenario::Create)
}

/// `bench growth`.
pub(crate) fn measure(args: &Args) -> Outcome {
    match args.text("part") {
        None => {}
        Some("history") => return history::measure(args),
        Some(other) => return Err(format!("--part must be history, got {other}")),
    }
    let scratch = args.scratch()?;
    let time = Duration::from_millis(args.number("milliseconds", 500)?);
    let rounds = args.number("rounds", 9)?;
    let mut missed = Vec::new();
    let mut by_size: Vec<(u64, Scenario, f64, Sample)> = Vec::new();
    let (mut idle, mut loaded) = (Vec::new(), Vec::new());
    let mut sites = Vec::new();
    for members in SIZES {
        let site = Site::sqlite_named(&scratch, members, &format!("growth-{members}.db"))?;
        std::thread::sleep(Duration::from_millis(300));
        idle.push(site.server.anonymous_kib());
        sites.push((members, site));
    }
    // The sizes in turns, so that a slow moment of the machine falls on all of them.
    let mut samples: Vec<Vec<Sample>> = (0..SIZES.len() * SCENARIOS.len()).map(|_| Vec::new()).collect();
    for round in 0..rounds {
        eprintln!("sizes, round {}", round + 1);
        for (s, scenario) in SCENARIOS.iter().enumerate() {
            for (m, (_, site)) in sites.iter().enumerate() {
                let load = Load {
                    connections: 32,
                    time,
                    rate: None,
                };
                samples[m * SCENARIOS.len() + s].push(sample(&site.server, load, site, *scenario)?);
            }
        }
    }
    for (m, (members, _)) in sites.iter().enumerate() {
        for (s, scenario) in SCENARIOS.iter().enumerate() {
            let all = std::mem::take(&mut samples[m * SCENARIOS.len() + s]);
            let cpu = report::median(all.iter().map(|one| one.cpu_micros).collect());
            let last = all.into_iter().next_back().ok_or("--rounds must be at least 1")?;
            by_size.push((*members, *scenario, cpu, last));
        }
    }
    let mut by_connections: Vec<(usize, Scenario, Sample)> = Vec::new();
    let mut memory = Vec::new();
    let (_, middle) = &sites[1];
    for connections in CONNECTIONS {
        eprintln!("{connections} connections");
        for scenario in SCENARIOS
            .into_iter()
            .filter(|scenario| fits(*scenario, connections))
        {
            let load = Load {
                connections,
                time,
                rate: None,
            };
            by_connections.push((
                connections,
                scenario,
                sample(&middle.server, load, middle, scenario)?,
            ));
        }
        memory.push((
            connections,
            by_connections.last().map_or(0, |(_, _, one)| one.anonymous_kib),
        ));
    }
    let (_, largest) = &sites[2];
    for scenario in SCENARIOS {
        let load = Load {
            connections: 256,
            time,
            rate: None,
        };
        loaded.push(sample(&largest.server, load, largest, scenario)?.anonymous_kib);
    }
    let loaded = loaded.into_iter().max().unwrap_or(0);

    println!("CPU µs a request, by members (32 connections)");
    let cpu = |members: u64, scenario: Scenario| {
        by_size
            .iter()
            .find(|(m, s, ..)| *m == members && *s == scenario)
            .map_or(0.0, |(_, _, cpu, _)| *cpu)
    };
    let rows: Vec<Vec<String>> = SCENARIOS
        .iter()
        .map(|scenario| {
            let mut row = vec![scenario.name().to_owned()];
            row.extend(
                SIZES
                    .iter()
                    .map(|members| format!("{:.1}", cpu(*members, *scenario))),
            );
            row.push(format!(
                "{:.2}",
                cpu(SIZES[2], *scenario) / cpu(SIZES[0], *scenario)
            ));
            row
        })
        .collect();
    report::table(&["scenario", "10,000", "100,000", "1,000,000", "1M/10k"], &rows);
    for scenario in [Scenario::ListFirst, Scenario::ListActive, Scenario::ListDeep] {
        let ratio = cpu(SIZES[2], scenario) / cpu(SIZES[0], scenario);
        if ratio > RATIO_MAX {
            missed.push(format!("{}, 1 M to 10 k members: {ratio:.2}", scenario.name()));
        }
    }
    for members in SIZES {
        let ratio = cpu(members, Scenario::ListDeep) / cpu(members, Scenario::ListFirst);
        if ratio > RATIO_MAX {
            missed.push(format!("deep to first page of {members}: {ratio:.2}"));
        }
    }
    println!("requests a second, by connections (100,000 members)");
    let rows: Vec<Vec<String>> = SCENARIOS
        .iter()
        .map(|scenario| {
            let mut row = vec![scenario.name().to_owned()];
            row.extend(CONNECTIONS.iter().map(|count| {
                let of = by_connections
                    .iter()
                    .find(|(c, s, _)| c == count && s == scenario);
                of.map_or_else(
                    || "–".to_owned(),
                    |(_, _, one)| report::grouped(report::rounded(one.per_second)),
                )
            }));
            row
        })
        .collect();
    report::table(&["scenario", "1", "16", "64", "256", "1,000"], &rows);
    let (few, many) = (memory[0].1, memory[CONNECTIONS.len() - 1].1);
    let each = as_f64(many.saturating_sub(few)) / as_f64((CONNECTIONS[4] - CONNECTIONS[0]) as u64);
    println!(
        "anonymous memory: idle {:.1} MB with 10 k and {:.1} MB with 1 M members; {:.1} MB with 1 M members under 256 connections; {each:.1} KiB a connection",
        as_f64(idle[0]) / 1_024.0,
        as_f64(idle[2]) / 1_024.0,
        as_f64(loaded) / 1_024.0
    );
    if idle[2] > IDLE_KIB_MAX {
        missed.push(format!("idle: {} KiB", idle[2]));
    }
    if loaded > LOADED_KIB_MAX {
        missed.push(format!("under load: {loaded} KiB"));
    }
    let line = |scenario: Scenario, points: Vec<(f64, f64)>| Line {
        name: scenario.name().to_owned(),
        points,
    };
    let drawn = [
        Scenario::Get,
        Scenario::ListFirst,
        Scenario::ListDeep,
        Scenario::ListMidWalk,
        Scenario::Patch,
        Scenario::Create,
    ];
    let sizes: Vec<Line> = drawn
        .iter()
        .map(|s| {
            line(
                *s,
                SIZES
                    .iter()
                    .map(|members| (as_f64(*members), cpu(*members, *s)))
                    .collect(),
            )
        })
        .collect();
    plot::lines(
        "growth-members",
        "Server CPU a request, in microseconds",
        "members",
        &sizes,
    )?;
    let connections: Vec<Line> = drawn
        .iter()
        .map(|s| {
            let of = by_connections.iter().filter(|(_, scenario, _)| scenario == s);
            line(
                *s,
                of.map(|(count, _, one)| (as_f64(*count as u64), one.per_second))
                    .collect(),
            )
        })
        .collect();
    plot::lines(
        "growth-connections",
        "Requests a second",
        "connections",
        &connections,
    )?;
    let figures = |one: &Sample| json!({ "requestsPerSecond": one.per_second.round(), "p50Micros": one.p50.round(), "p99Micros": one.p99.round() });
    let sizes: Vec<Value> = by_size.iter().map(|(members, scenario, cpu, one)| {
        json!({ "members": members, "scenario": scenario.name(), "cpuMicros": (cpu * 10.0).round() / 10.0, "last": figures(one) })
    }).collect();
    let connections: Vec<Value> = by_connections.iter().map(|(count, scenario, one)| {
        json!({ "connections": count, "scenario": scenario.name(), "figures": figures(one), "anonymousKiB": one.anonymous_kib })
    }).collect();
    report::save(
        "growth",
        &json!({
            "byMembers": sizes,
            "byConnections": connections,
            "idleKiB": SIZES.iter().zip(&idle).map(|(members, kib)| json!({ "members": members, "anonymousKiB": kib })).collect::<Vec<_>>(),
            "loadedKiB": loaded,
            "kibAConnection": (each * 10.0).round() / 10.0,
        }),
    )?;
    let of_history = history::measure(args);
    missed.extend(of_history.err());
    report::verdict(&missed)
}
