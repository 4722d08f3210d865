//! Servers as processes of their own, and what they use.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::Outcome;

/// A server that runs until it is dropped.
pub(crate) struct Server {
    pub(crate) name: String,
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Server {
    /// Starts a program that prints `listening on http://ADDRESS`. Its log goes to a file, as it would in earnest.
    pub(crate) fn start(name: &str, command: &mut Command, log: &Path) -> Outcome<Self> {
        let log = File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{name}: {error}"))?;
        let out = child.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        // What else it prints is not read: a server prints this line only.
        let _ = BufReader::new(out).read_line(&mut line);
        let address = line
            .trim()
            .rsplit("http://")
            .next()
            .and_then(|text| text.parse().ok());
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("{name} did not start: {line}"));
        };
        Ok(Self {
            name: name.to_owned(),
            address,
            child,
        })
    }

    /// Time on a processor so far, of all its threads, in nanoseconds.
    pub(crate) fn cpu_nanos(&self) -> u64 {
        let tasks = format!("/proc/{}/task", self.child.id());
        let Ok(tasks) = std::fs::read_dir(tasks) else {
            return 0;
        };
        let of_task = |path: &Path| -> Option<u64> {
            let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
            text.split(' ').next()?.parse().ok()
        };
        tasks.flatten().filter_map(|task| of_task(&task.path())).sum()
    }

    /// Memory of its own that is resident, without mapped files, in KiB.
    pub(crate) fn anonymous_kib(&self) -> u64 {
        anonymous_kib(self.child.id())
    }
}

pub(crate) fn anonymous_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

impl Drop for Server {
    fn drop(&mut self) {
        // Asked first, so that it closes its files; a server that does not end is not waited for.
        let asked = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        if !asked.is_ok_and(|status| status.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
