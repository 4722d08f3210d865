//! `bench start`: from the command to the first answer.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::http::client::as_f64;
use crate::http::process::anonymous_kib;
use crate::http::scenario::{Client, Scenario};
use crate::http::site::{Site, bursar};
use crate::{Args, Outcome, report};

const MILLISECONDS_MAX: f64 = 50.0;
const IDLE_KIB_MAX: u64 = 30 * 1_024;

/// `bench start`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let scratch = args.scratch()?;
    let members = args.number("members", 100_000)?;
    let site = Site::sqlite(&scratch, members)?;
    let mut request = Vec::new();
    site.world.requests(Scenario::Get)(0, 0, &mut request);
    let url = site.address();
    drop(site);
    let mut times = Vec::new();
    let mut idle = 0;
    for _ in 0..args.number("rounds", 20)? {
        let since = Instant::now();
        let mut child = Command::new(bursar()?)
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &url])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut line = String::new();
        let out = child.stdout.take().ok_or("no output")?;
        BufReader::new(out)
            .read_line(&mut line)
            .map_err(|error| error.to_string())?;
        let address = line
            .trim()
            .rsplit("http://")
            .next()
            .and_then(|text| text.parse().ok());
        let answer = address
            .ok_or_else(|| format!("did not start: {line}"))
            .and_then(|address| Client::connect(address)?.exchange(&request));
        times.push(since.elapsed());
        std::thread::sleep(Duration::from_millis(200));
        idle = idle.max(anonymous_kib(child.id()));
        let _ = Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .status();
        let _ = child.wait();
        if !answer?.starts_with(b"HTTP/1.1 200") {
            return Err("the first answer is not a success".to_owned());
        }
    }
    times.sort_unstable();
    let milliseconds = |percent: usize| as_f64(report::micros(report::percentile(&times, percent))) / 1_000.0;
    println!(
        "from the command to the first answer, {} members: median {:.1} ms, slowest {:.1} ms; idle memory {:.1} MB",
        report::grouped(members),
        milliseconds(50),
        milliseconds(100),
        as_f64(idle) / 1_024.0
    );
    report::save(
        "start",
        &json!({ "members": members, "medianMilliseconds": milliseconds(50), "slowestMilliseconds": milliseconds(100), "idleAnonymousKiB": idle }),
    )?;
    let mut missed = Vec::new();
    if milliseconds(50) > MILLISECONDS_MAX {
        missed.push(format!("start: {:.1} ms", milliseconds(50)));
    }
    if idle > IDLE_KIB_MAX {
        missed.push(format!("idle memory: {idle} KiB"));
    }
    report::verdict(&missed)
}
