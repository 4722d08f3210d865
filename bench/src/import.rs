//! A large bundle through the real program: records a second, and the most memory it had.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::bundle::Size;
use crate::database::Scratch;
use crate::{Args, Outcome, bundle, database, report};

const RECORDS_PER_SECOND_MIN: f64 = 30_000.0;
const ANONYMOUS_MB_MAX: u64 = 400;

/// `bench import`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let scratch = args.scratch()?;
    let size = Size {
        members: args.number("members", 1_000_000)?,
        organizations: args.number("organizations", 20)?,
        charges: 0,
    };
    let bundle = scratch.join("import.ndjson");
    bundle::write(&bundle, size)?;
    let file = scratch.join("import.db");
    database::remove(&file);
    let fsync_before = report::fsync_micros(&scratch)?;
    let sqlite = run(&bundle, &format!("sqlite:{}", file.display()), size)?;
    let fsync_after = report::fsync_micros(&scratch)?;
    let database_bytes = std::fs::metadata(&file).map_or(0, |meta| meta.len());
    database::remove(&file);
    let postgres = match database::server() {
        None => None,
        Some(server) => {
            let target = Scratch::new(&server, "import")?;
            Some(run(&bundle, &target.text(), size)?)
        }
    };
    std::fs::remove_file(&bundle).map_err(|error| error.to_string())?;
    let mut rows = vec![sqlite.row("SQLite")];
    rows.extend(postgres.as_ref().map(|run| run.row("PostgreSQL")));
    println!(
        "import of {} records ({} members, {} organizations, two groups a member); one fsync takes {fsync_before} µs, {fsync_after} after",
        report::grouped(size.records()),
        report::grouped(size.members),
        size.organizations
    );
    report::table(
        &["", "records/s", "seconds", "CPU seconds", "peak anonymous MB"],
        &rows,
    );
    report::save(
        "import",
        &json!({
            "members": size.members, "organizations": size.organizations, "records": size.records(),
            "fsyncMicros": [fsync_before, fsync_after], "sqliteFileMB": database_bytes >> 20,
            "sqlite": sqlite.figures(), "postgres": postgres.as_ref().map(Run::figures),
        }),
    )?;
    let mut missed = Vec::new();
    if sqlite.per_second < RECORDS_PER_SECOND_MIN {
        missed.push(format!("{:.0} records a second on SQLite", sqlite.per_second));
    }
    if sqlite.anonymous_mb >= ANONYMOUS_MB_MAX {
        missed.push(format!(
            "{} MB of anonymous memory on SQLite",
            sqlite.anonymous_mb
        ));
    }
    report::verdict(&missed)
}

struct Run {
    seconds: f64,
    /// Of this process alone, without the server's: what is left of the time when others use the machine too.
    cpu_seconds: f64,
    per_second: f64,
    anonymous_mb: u64,
}

impl Run {
    fn row(&self, name: &str) -> Vec<String> {
        vec![
            name.to_owned(),
            format!("{:.0}", self.per_second),
            format!("{:.1}", self.seconds),
            format!("{:.1}", self.cpu_seconds),
            self.anonymous_mb.to_string(),
        ]
    }

    fn figures(&self) -> Value {
        json!({
            "recordsPerSecond": self.per_second.round(),
            "seconds": (self.seconds * 10.0).round() / 10.0,
            "cpuSeconds": (self.cpu_seconds * 10.0).round() / 10.0,
            "peakAnonymousMB": self.anonymous_mb,
        })
    }
}

/// Runs `bursar import`, which lies beside this program, and watches it.
fn run(bundle: &Path, database: &str, size: Size) -> Outcome<Run> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = program.with_file_name("bursar");
    let since = Instant::now();
    let mut child = Command::new(&program)
        .args(["--json", "--database", database, "import"])
        .arg(bundle)
        .stdout(Stdio::null())
        .spawn()
        .map_err(|error| {
            format!(
                "{}: {error}; build it with cargo build --profile dist -p bursar",
                program.display()
            )
        })?;
    let (status, stat) = (
        format!("/proc/{}/status", child.id()),
        format!("/proc/{}/stat", child.id()),
    );
    let (mut peak_kib, mut cpu_seconds) = (0, 0.0);
    let exit = loop {
        // The kernel keeps no peak of the anonymous part alone.
        peak_kib = peak_kib.max(anonymous_kib(&status).unwrap_or(0));
        cpu_seconds = spent_cpu_seconds(&stat).unwrap_or(cpu_seconds);
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(exit) => break exit,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let seconds = since.elapsed().as_secs_f64();
    if !exit.success() {
        return Err(format!("the import failed: {exit}"));
    }
    let records = f64::from(u32::try_from(size.records()).unwrap_or(u32::MAX));
    Ok(Run {
        seconds,
        cpu_seconds,
        per_second: records / seconds,
        anonymous_mb: peak_kib / 1024,
    })
}

fn anonymous_kib(status: &str) -> Option<u64> {
    let text = std::fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// User and system time: the 14th and 15th fields, in hundredths of a second on every Linux.
fn spent_cpu_seconds(stat: &str) -> Option<f64> {
    let text = std::fs::read_to_string(stat).ok()?;
    // The second field is the program's name in parentheses, and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u32 = fields.get(11)?.parse::<u32>().ok()? + fields.get(12)?.parse::<u32>().ok()?;
    Some(f64::from(ticks) / 100.0)
}
