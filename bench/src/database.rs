//! Databases to measure on, built through the real import.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use bursar_app::import::{Imported, Source, import};
use bursar_app::{App, Identity};
use bursar_db::{DatabaseUrl, Db, Opening, Options};
use bursar_domain::Timestamp;
use bursar_domain::ids::IdSource;

use crate::Outcome;

/// The time on the wall.
#[expect(clippy::disallowed_methods, reason = "the benchmark is an edge of its own")]
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// The test server's address, if there is one.
#[expect(clippy::disallowed_methods, reason = "the benchmark is an edge of its own")]
pub(crate) fn server() -> Option<String> {
    std::env::var("BURSAR_TEST_POSTGRES").ok()
}

/// The test Redis's address, if there is one.
#[expect(clippy::disallowed_methods, reason = "the benchmark is an edge of its own")]
pub(crate) fn redis() -> Option<String> {
    std::env::var("BURSAR_TEST_REDIS").ok()
}

pub(crate) fn open(url: &DatabaseUrl, options: &Options) -> Outcome<Db> {
    Db::open(url, options, Opening::Migrate).map_err(|error| error.to_string())
}

/// Imports a bundle.
pub(crate) fn fill(db: &Db, bundle: &Path) -> Outcome<Imported> {
    let open = || {
        File::open(bundle).map(|file| Box::new(BufReader::with_capacity(1 << 16, file)) as Box<dyn BufRead>)
    };
    let app = App::new(db.clone(), Arc::new(now), IdSource::seeded(2));
    import(&app, Identity::Operator, &Source { open: &open }, &mut |_| {}).map_err(|error| error.to_string())
}

/// Removes an SQLite database with its log.
pub(crate) fn remove(path: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        // It may not be there.
        let _ = std::fs::remove_file(PathBuf::from(name));
    }
}

/// An empty PostgreSQL database on the test server, dropped at the end.
pub(crate) struct Scratch {
    pub(crate) url: DatabaseUrl,
    admin: String,
    name: String,
}

impl Scratch {
    pub(crate) fn new(admin: &str, purpose: &str) -> Outcome<Self> {
        let name = format!("bursar_bench_{purpose}_{}", std::process::id());
        psql(
            admin,
            &format!("CREATE DATABASE {name} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C' ENCODING 'UTF8'"),
        )?;
        let (server, _) = admin
            .rsplit_once('/')
            .ok_or("BURSAR_TEST_POSTGRES names no database")?;
        let url = format!("{server}/{name}")
            .parse()
            .map_err(|error| format!("{error}"))?;
        Ok(Self {
            url,
            admin: admin.to_owned(),
            name,
        })
    }

    /// Gathers the planner's figures and writes out what is dirty, so that neither falls into a measure.
    pub(crate) fn settle(&self) -> Outcome {
        psql(&self.text(), "VACUUM ANALYZE")?;
        psql(&self.text(), "CHECKPOINT")
    }

    /// The server's first process, which is of this machine.
    pub(crate) fn process(&self) -> Outcome<u32> {
        let file = "SELECT split_part(pg_read_file('postmaster.pid'), chr(10), 1)";
        let text = asked(&self.text(), file)?;
        text.trim().parse().map_err(|_| format!("not a process: {text}"))
    }

    /// The address as text, for another process.
    pub(crate) fn text(&self) -> String {
        let (server, _) = self.admin.rsplit_once('/').unwrap_or((&self.admin, ""));
        format!("{server}/{}", self.name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = psql(
            &self.admin,
            &format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name),
        ) {
            eprintln!("bench: {error}");
        }
    }
}

fn psql(server: &str, sql: &str) -> Outcome {
    asked(server, sql).map(drop)
}

/// What `psql` prints for a statement.
fn asked(server: &str, sql: &str) -> Outcome<String> {
    let done = std::process::Command::new("psql")
        .args([
            "-q",
            "-X",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-d",
            server,
            "-c",
            sql,
        ])
        .output()
        .map_err(|error| format!("psql: {error}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    Err(format!("psql: {}", String::from_utf8_lossy(&done.stderr).trim()))
}
