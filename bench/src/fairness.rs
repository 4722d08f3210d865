//! One organization floods PostgreSQL with writes while another reads and writes: what the second one notices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bursar_db::{Db, Options};
use bursar_domain::ids::{IdSource, MemberId, OrganizationId};
use serde_json::{Value, json};

use crate::bundle::Size;
use crate::database::Scratch;
use crate::{Args, Outcome, bundle, database, load, report};

const RATIO_MAX: f64 = 3.0;

/// Times of the second organization's calls.
#[derive(Default)]
struct Times {
    reads: Vec<Duration>,
    writes: Vec<Duration>,
}

/// `bench fairness`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let server =
        database::server().ok_or("set BURSAR_TEST_POSTGRES, or run it by scripts/test --services")?;
    let scratch = args.scratch()?;
    let time = Duration::from_secs(args.number("seconds", 4)?);
    let rounds = args.number("rounds", 5)?;
    let callers = usize::try_from(args.number("callers", 64)?.min(1_000)).unwrap_or(1);
    let target = Scratch::new(&server, "fairness")?;
    let db = database::open(&target.url, &Options::default())?;
    let bundle = scratch.join("fairness.ndjson");
    let size = Size {
        members: 20_000,
        organizations: 2,
        charges: 0,
    };
    let tenants = bundle::write(&bundle, size)?;
    let [flooded, other] = &tenants[..] else {
        return Err("two organizations were asked for".to_owned());
    };
    database::fill(&db, &bundle)?;
    let (flooding, own) = (&flooded.members[..callers], other.members[0]);
    let (mut quiet, mut busy) = (Times::default(), Times::default());
    let (mut flood_writes, mut fsyncs) = (0, Vec::new());
    for _ in 0..rounds {
        fsyncs.push(report::fsync_micros(&scratch)?);
        work(&db, other.id, own, time, &mut quiet)?;
        let stop = AtomicBool::new(false);
        flood_writes += std::thread::scope(|scope| {
            let flood = scope.spawn(|| load::patch_until(&db, flooded.id, flooding, &stop));
            let worked = work(&db, other.id, own, time, &mut busy);
            stop.store(true, Ordering::Relaxed);
            worked?;
            flood
                .join()
                .map_err(|_| "the flood panicked")?
                .map(|times| times.len())
        })?;
    }
    db.shutdown();
    let (mut rows, mut figures, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for (name, quiet, busy) in [
        ("read", &mut quiet.reads, &mut busy.reads),
        ("write", &mut quiet.writes, &mut busy.writes),
    ] {
        quiet.sort_unstable();
        busy.sort_unstable();
        for percent in [50, 99] {
            let (q, b) = (
                report::percentile(quiet, percent),
                report::percentile(busy, percent),
            );
            let ratio = b.as_secs_f64() / q.as_secs_f64();
            rows.push(vec![
                format!("{name} p{percent}"),
                report::micros(q).to_string(),
                report::micros(b).to_string(),
                format!("{ratio:.2}"),
            ]);
            figures.push(figure(name, percent, q, b, ratio));
            if ratio > RATIO_MAX {
                missed.push(format!(
                    "{name} p{percent}: {ratio:.2} times, at most {RATIO_MAX}"
                ));
            }
        }
    }
    println!(
        "PostgreSQL: one organization flooded by {callers} callers ({flood_writes} writes), another works; \
         one fsync takes {fsyncs:?} µs"
    );
    report::table(&["second organization", "quiet µs", "flooded µs", "ratio"], &rows);
    let counts =
        json!({ "quiet": quiet.reads.len(), "flooded": busy.reads.len(), "floodWrites": flood_writes });
    report::save(
        "fairness",
        &json!({ "callers": callers, "rounds": rounds, "calls": counts, "fsyncMicros": fsyncs, "latency": figures }),
    )?;
    report::verdict(&missed)
}

fn figure(name: &str, percent: usize, quiet: Duration, flooded: Duration, ratio: f64) -> Value {
    json!({
        "call": name,
        "percentile": percent,
        "quietMicros": report::micros(quiet),
        "floodedMicros": report::micros(flooded),
        "ratio": (ratio * 100.0).round() / 100.0,
    })
}

/// The second organization reads a page and patches a member, in turns.
fn work(
    db: &Db,
    organization: OrganizationId,
    member: MemberId,
    time: Duration,
    times: &mut Times,
) -> Outcome {
    let mut ids = IdSource::seeded(9);
    let until = Instant::now() + time;
    for n in 0.. {
        let since = Instant::now();
        if since > until {
            break;
        }
        load::list(db, organization)?;
        times.reads.push(since.elapsed());
        let since = Instant::now();
        load::patch(db, organization, member, &mut ids, n)
            .wait()
            .map_err(|error| error.to_string())?;
        times.writes.push(since.elapsed());
    }
    Ok(())
}
