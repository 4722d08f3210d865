//! Group commit against one transaction a call: the same callers, the same statements, in turns.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use bursar_db::{DatabaseUrl, Db, Options};
use bursar_domain::ids::{MemberId, OrganizationId};
use serde_json::{Value, json};

use crate::bundle::Size;
use crate::database::Scratch;
use crate::{Args, Outcome, bundle, database, load, report};

const RATIO_MIN: f64 = 2.0;
/// Of the slowest hundredth to the median, with group commit.
const TAIL_MAX: f64 = 10.0;

/// `bench writes`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let mut missed = Vec::new();
    let scratch = args.scratch()?;
    let (path_a, path_b) = (
        scratch.join("writes-grouped.db"),
        scratch.join("writes-single.db"),
    );
    database::remove(&path_a);
    database::remove(&path_b);
    let urls = (
        DatabaseUrl::Sqlite(path_a.clone()),
        DatabaseUrl::Sqlite(path_b.clone()),
    );
    let (sqlite, ratio, tail) = compare(args, "SQLite", &urls.0, &urls.1)?;
    database::remove(&path_a);
    database::remove(&path_b);
    if ratio < RATIO_MIN {
        missed.push(format!("SQLite: {ratio:.2} times, must be {RATIO_MIN}"));
    }
    if tail > TAIL_MAX {
        missed.push(format!("SQLite: p99 is {tail:.1} times p50, at most {TAIL_MAX}"));
    }
    let postgres = match database::server() {
        None => Value::Null,
        Some(server) => {
            let (a, b) = (
                Scratch::new(&server, "grouped")?,
                Scratch::new(&server, "single")?,
            );
            compare(args, "PostgreSQL", &a.url, &b.url)?.0
        }
    };
    report::save("writes", &json!({ "sqlite": sqlite, "postgres": postgres }))?;
    report::verdict(&missed)
}

struct Side {
    db: Db,
    organization: OrganizationId,
    members: Vec<MemberId>,
    rates: Vec<f64>,
    p50_micros: Vec<f64>,
    p99_micros: Vec<f64>,
}

impl Side {
    fn new(args: &Args, url: &DatabaseUrl, batch_max: usize) -> Outcome<Self> {
        let callers = usize::try_from(args.number("callers", 64)?).unwrap_or(usize::MAX);
        let bundle = args.scratch()?.join("writes.ndjson");
        let size = Size {
            members: 10_000,
            organizations: 1,
            charges: 0,
        };
        let tenant = bundle::write(&bundle, size)?.pop().ok_or("no organization")?;
        let options = Options {
            batch_max,
            ..Options::default()
        };
        let db = database::open(url, &options)?;
        database::fill(&db, &bundle)?;
        Ok(Self {
            db,
            organization: tenant.id,
            members: tenant.members.into_iter().take(callers).collect(),
            rates: Vec::new(),
            p50_micros: Vec::new(),
            p99_micros: Vec::new(),
        })
    }

    fn round(&mut self, time: Duration) -> Outcome {
        let stop = AtomicBool::new(false);
        let since = Instant::now();
        let mut times = std::thread::scope(|scope| {
            scope.spawn(|| load::stop_after(&stop, time));
            load::patch_until(&self.db, self.organization, &self.members, &stop)
        })?;
        let seconds = since.elapsed().as_secs_f64();
        times.sort_unstable();
        let count = u32::try_from(times.len()).unwrap_or(u32::MAX);
        self.rates.push(f64::from(count) / seconds);
        for (percent, found) in [(50, &mut self.p50_micros), (99, &mut self.p99_micros)] {
            found.push(report::percentile(&times, percent).as_secs_f64() * 1e6);
        }
        Ok(())
    }

    /// Of the p99 to the p50.
    fn tail(&self) -> f64 {
        report::median(self.p99_micros.clone()) / report::median(self.p50_micros.clone()).max(1.0)
    }

    fn row(&self, name: &str) -> Vec<String> {
        let rates = self.rates.iter().map(|rate| format!("{rate:.0}"));
        vec![
            name.to_owned(),
            format!("{:.0}", report::median(self.rates.clone())),
            format!("{:.1}", report::median(self.p50_micros.clone()) / 1_000.0),
            format!("{:.1}", report::median(self.p99_micros.clone()) / 1_000.0),
            rates.collect::<Vec<_>>().join(" "),
        ]
    }

    fn figures(&self) -> Value {
        let rounded = |numbers: &[f64]| numbers.iter().map(|n| n.round()).collect::<Vec<f64>>();
        json!({
            "writesPerSecond": report::median(self.rates.clone()).round(),
            "rounds": rounded(&self.rates),
            "p50Micros": report::median(self.p50_micros.clone()).round(),
            "p99Micros": report::median(self.p99_micros.clone()).round(),
        })
    }
}

fn compare(
    args: &Args,
    name: &str,
    grouped: &DatabaseUrl,
    single: &DatabaseUrl,
) -> Outcome<(Value, f64, f64)> {
    let time = Duration::from_secs(args.number("seconds", 3)?);
    let rounds = args.number("rounds", 5)?;
    let scratch = args.scratch()?;
    let mut grouped = Side::new(args, grouped, Options::default().batch_max)?;
    let mut single = Side::new(args, single, 1)?;
    let mut fsyncs = Vec::new();
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        fsyncs.push(report::fsync_micros(&scratch)?);
        grouped.round(time)?;
        single.round(time)?;
        ratios.push(grouped.rates[grouped.rates.len() - 1] / single.rates[single.rates.len() - 1]);
    }
    let ratio = report::median(ratios);
    println!(
        "{name}: durable writes a second, {} callers, {rounds} rounds in turns; one fsync takes {fsyncs:?} µs",
        grouped.members.len()
    );
    report::table(
        &["", "writes/s", "p50 ms", "p99 ms", "rounds"],
        &[grouped.row("group commit"), single.row("one a call")],
    );
    let tail = grouped.tail();
    println!(
        "ratio {ratio:.2} (at least {RATIO_MIN} on SQLite), p99 to p50 {tail:.1} (at most {TAIL_MAX} on SQLite)\n"
    );
    let figures = json!({
        "callers": grouped.members.len(),
        "fsyncMicros": fsyncs,
        "groupCommit": grouped.figures(),
        "transactionPerCall": single.figures(),
        "ratio": (ratio * 100.0).round() / 100.0,
    });
    Ok((figures, ratio, tail))
}
