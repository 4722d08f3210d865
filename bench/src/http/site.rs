//! bursar on one engine, with a database of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use bursar_db::{DatabaseUrl, Options};

use super::process::Server;
use super::scenario::{Scenario, TENANTS, World};
use crate::bundle::{self, Size};
use crate::database::{self, Scratch};
use crate::{Outcome, report};

const ORGANIZATIONS: u64 = 20;
const SCOPES: &str = "members:read,members:write,groups:read,groups:write";
/// More than any run asks for.
pub(crate) const NO_LIMIT: &str = "4000000000";

/// A server with all that is asked of it.
pub(crate) struct Site {
    pub(crate) name: &'static str,
    pub(crate) server: Server,
    /// The same with a limit of one read a minute.
    limited: Server,
    pub(crate) world: Rc<World>,
    database: String,
    /// What its servers were started with besides.
    more: Vec<String>,
    _scratch: Option<Scratch>,
}

impl Site {
    /// On a copy of a database that is kept from run to run.
    pub(crate) fn sqlite(scratch: &Path, members: u64) -> Outcome<Self> {
        Self::sqlite_named(scratch, members, "http.db")
    }

    /// The same, under another name.
    pub(crate) fn sqlite_named(scratch: &Path, members: u64, name: &str) -> Outcome<Self> {
        let kept = scratch.join(format!("http-{members}.db"));
        let bundle = scratch.join(format!("http-{members}.ndjson"));
        let tenants = bundle::write(&bundle, size(members))?;
        if !kept.exists() {
            eprintln!("building a database of {} members", report::grouped(members));
            let db = database::open(&DatabaseUrl::Sqlite(kept.clone()), &Options::default())?;
            let filled = database::fill(&db, &bundle);
            db.shutdown();
            if filled.is_err() {
                database::remove(&kept);
            }
            filled?;
        }
        let copy = scratch.join(name);
        database::remove(&copy);
        std::fs::copy(&kept, &copy).map_err(|error| format!("{}: {error}", copy.display()))?;
        std::fs::remove_file(&bundle).map_err(|error| error.to_string())?;
        Self::open(
            "sqlite",
            scratch,
            &format!("sqlite:{}", copy.display()),
            &[],
            tenants,
            None,
        )
    }

    /// On a new database of the test server, with Redis beside it where there is one.
    pub(crate) fn postgres(
        scratch: &Path,
        members: u64,
        server: &str,
        redis: Option<String>,
    ) -> Outcome<Self> {
        let database = Scratch::new(server, "http")?;
        let bundle = scratch.join(format!("http-{members}.ndjson"));
        let tenants = bundle::write(&bundle, size(members))?;
        let db = database::open(&database.url, &Options::default())?;
        database::fill(&db, &bundle)?;
        db.shutdown();
        database.settle()?;
        std::fs::remove_file(&bundle).map_err(|error| error.to_string())?;
        let redis: Vec<String> = redis.map_or_else(Vec::new, |url| vec!["--redis".to_owned(), url]);
        let url = database.text();
        Self::open("postgres", scratch, &url, &redis, tenants, Some(database))
    }

    fn open(
        name: &'static str,
        scratch: &Path,
        url: &str,
        more: &[String],
        mut tenants: Vec<bundle::Tenant>,
        database: Option<Scratch>,
    ) -> Outcome<Self> {
        tenants.truncate(TENANTS);
        let server = start(scratch, name, url, NO_LIMIT, more)?;
        let limited = start(scratch, &format!("{name}-limited"), url, "1", more)?;
        let mut tokens = Vec::new();
        for tenant in &tenants {
            tokens.push(make_token(url, &tenant.id.to_string())?.1);
        }
        let (id, revoked) = make_token(url, &tenants[0].id.to_string())?;
        command(url, &["token", "revoke", &id])?;
        let run = format!("{:x}", database::now().micros());
        let world = World::prepare(server.address, tokens, revoked, tenants, run)?;
        Ok(Self {
            name,
            server,
            limited,
            world: Rc::new(world),
            database: url.to_owned(),
            more: more.to_vec(),
            _scratch: database,
        })
    }

    /// One more server on the same database.
    pub(crate) fn replica(&self, scratch: &Path, number: usize) -> Outcome<Server> {
        let name = format!("{}-{number}", self.name);
        start(scratch, &name, &self.database, NO_LIMIT, &self.more)
    }

    /// The database's address, for another process.
    pub(crate) fn address(&self) -> String {
        self.database.clone()
    }

    /// The database's address.
    pub(crate) fn url(&self) -> Outcome<DatabaseUrl> {
        self.database.parse().map_err(|error| format!("{error}"))
    }

    /// The process that answers this as wanted.
    pub(crate) fn server_for(&self, scenario: Scenario) -> &Server {
        if scenario == Scenario::TooMany {
            &self.limited
        } else {
            &self.server
        }
    }
}

pub(crate) fn start(scratch: &Path, name: &str, url: &str, reads: &str, more: &[String]) -> Outcome<Server> {
    let mut command = Command::new(bursar()?);
    command
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--no-worker",
            "--database",
            url,
        ])
        .args(["--rate-limit-read", reads, "--rate-limit-write", NO_LIMIT])
        .args(more);
    Server::start(name, &mut command, &scratch.join(format!("{name}.log")))
}

pub(crate) fn size(members: u64) -> Size {
    Size {
        members,
        organizations: ORGANIZATIONS,
        charges: 0,
    }
}

/// The program to measure, beside this one.
pub(crate) fn bursar() -> Outcome<PathBuf> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = here.with_file_name("bursar");
    if program.exists() {
        return Ok(program);
    }
    Err(format!(
        "{} is missing: cargo build --profile dist -p bursar -p bench",
        program.display()
    ))
}

/// Runs one of bursar's commands; what it printed.
pub(crate) fn command(url: &str, words: &[&str]) -> Outcome<serde_json::Value> {
    let done = Command::new(bursar()?)
        .args(["--database", url, "--json"])
        .args(words)
        .output()
        .map_err(|error| error.to_string())?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).trim().to_owned());
    }
    serde_json::from_slice(&done.stdout).map_err(|error| error.to_string())
}

/// A service token: its id and its text.
pub(crate) fn make_token(url: &str, organization: &str) -> Outcome<(String, String)> {
    let words = [
        "token",
        "create",
        "--organization",
        organization,
        "--service",
        "--role",
        "editor",
        "--scopes",
        SCOPES,
    ];
    let made = command(url, &words)?;
    match (made["id"].as_str(), made["secret"].as_str()) {
        (Some(id), Some(secret)) => Ok((id.to_owned(), secret.to_owned())),
        _ => Err(format!("not a token: {made}")),
    }
}
