//! Servers as processes of their own, and what they use.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

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

    /// Starts a program that was told where to listen, and waits until it does.
    pub(crate) fn start_at(
        name: &str,
        command: &mut Command,
        log: &Path,
        address: SocketAddr,
    ) -> Outcome<Self> {
        let unwritable = |error: std::io::Error| format!("{}: {error}", log.display());
        let out = File::create(log).map_err(unwritable)?;
        let child = command
            .stdin(Stdio::null())
            .stderr(out.try_clone().map_err(unwritable)?)
            .stdout(out)
            .spawn()
            .map_err(|error| format!("{name}: {error}"))?;
        let mut server = Self {
            name: name.to_owned(),
            address,
            child,
        };
        for _ in 0..600 {
            if TcpStream::connect(address).is_ok() {
                return Ok(server);
            }
            if server.child.try_wait().is_ok_and(|ended| ended.is_some()) {
                return Err(format!("it ended; its log is {}", log.display()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(format!("it did not listen; its log is {}", log.display()))
    }

    /// The process, those it started, and so on.
    fn processes(&self) -> Vec<u32> {
        family(self.child.id())
    }

    /// Time on a processor so far, of all its processes and their threads, in nanoseconds.
    pub(crate) fn cpu_nanos(&self) -> u64 {
        cpu_nanos_of_family(self.child.id())
    }

    /// Memory of its own that is resident, without mapped files, in KiB. What several processes share counts once.
    pub(crate) fn anonymous_kib(&self) -> u64 {
        match &self.processes()[..] {
            [process] => anonymous_kib(*process),
            several => several.iter().copied().map(share_kib).sum(),
        }
    }
}

/// A process, those it started, and so on.
fn family(first: u32) -> Vec<u32> {
    let parents = parents();
    let mut found = vec![first];
    let mut place = 0;
    while let Some(&parent) = found.get(place) {
        let children = parents.iter().filter(|(_, of)| *of == parent);
        found.extend(children.map(|(process, _)| process));
        place += 1;
    }
    found
}

/// Time on a processor so far, of a process and those it started that still run, in nanoseconds.
pub(crate) fn cpu_nanos_of_family(first: u32) -> u64 {
    family(first).into_iter().map(cpu_nanos).sum()
}

/// Every process with its parent.
fn parents() -> Vec<(u32, u32)> {
    let parent = |entry: std::fs::DirEntry| {
        let process = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // The program's name is in brackets and may itself have some; the state and the parent come next.
        let (_, rest) = stat.rsplit_once(')')?;
        Some((process, rest.split_whitespace().nth(1)?.parse().ok()?))
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(parent).collect()
}

fn cpu_nanos(process: u32) -> u64 {
    let Ok(tasks) = std::fs::read_dir(format!("/proc/{process}/task")) else {
        return 0;
    };
    let of_task = |path: &Path| -> Option<u64> {
        let text = std::fs::read_to_string(path.join("schedstat")).ok()?;
        text.split(' ').next()?.parse().ok()
    };
    tasks.flatten().filter_map(|task| of_task(&task.path())).sum()
}

/// A page that several processes have counts in each by its part.
fn share_kib(process: u32) -> u64 {
    let shares = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")).unwrap_or_default();
    kib(&shares, "Pss_Anon:").unwrap_or_else(|| anonymous_kib(process))
}

pub(crate) fn anonymous_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    kib(&status, "RssAnon:").unwrap_or(0)
}

fn kib(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
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
