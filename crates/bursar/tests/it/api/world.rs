//! A world: a database with the bundle, a server on it within this process or more of them in processes of their own,
//! and people with tokens.
//!
//! Requests read as stories: `world.editor().scopes([GroupsWrite]).post("/v1/groups").key("k1").json(…)`. Every
//! answer is checked for what all answers have, and at its end a world reads its servers' logs: no secret, no
//! e-mail address and no query value may be in them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, OnceLock};
use std::thread;

use bursar::here::{self, Served};
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_testing::{Engine, eventually};
use serde_json::Value;

use super::bundle::{self, NATIONAL, organization};
use super::http::{self, Reply};
use crate::support::{Place, other_time};

/// Makes a test of each function on each engine.
macro_rules! on_both_engines {
    ($($test:ident)*) => {
        mod sqlite {
            $(#[test] fn $test() { super::$test(bursar_testing::Engine::Sqlite); })*
        }
        mod postgres {
            $(#[test] fn $test() { super::$test(bursar_testing::Engine::Postgres); })*
        }
    };
}
pub(crate) use on_both_engines;

pub(crate) struct World {
    pub(crate) place: Place,
    servers: Vec<Server>,
    tokens: Mutex<HashMap<(String, i64), Token>>,
    secrets: Mutex<Vec<String>>,
    is_torn: bool,
}

/// A token as `token create` prints it.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) id: String,
    pub(crate) secret: String,
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    runs: Runs,
}

enum Runs {
    /// Within this process, with a log that all servers in it share; where that was when this one started.
    Here {
        _served: Served,
        log_from: u64,
    },
    Apart {
        child: Child,
        log: PathBuf,
    },
}

/// The log of the servers within this process.
fn log_here() -> &'static File {
    static LOG: OnceLock<File> = OnceLock::new();
    LOG.get_or_init(|| {
        let file = tempfile::tempfile().unwrap();
        here::log_to(file.try_clone().unwrap());
        file
    })
}

const LOGGED: [&str; 4] = ["--log-format", "json", "--log-level", "debug"];

impl Server {
    fn here(place: &Place, flags: &[&str]) -> Self {
        let log_from = log_here().metadata().unwrap().len();
        let words = ["--database", &place.database, "--listen", "127.0.0.1:0"];
        let served = here::serve(&[&words, &LOGGED, flags].concat(), place.folder.path()).unwrap();
        Self {
            address: served.address,
            runs: Runs::Here {
                _served: served,
                log_from,
            },
        }
    }

    fn apart(
        mut command: Command,
        home: &Path,
        number: usize,
        flags: &[&str],
        variables: &[(&str, &str)],
    ) -> Self {
        let log = home.join(format!("server-{number}.log"));
        let mut child = command
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(LOGGED)
            .args(flags)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .expect("bursar starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let address = line
            .trim()
            .strip_prefix("listening on http://")
            .and_then(|address| address.parse().ok());
        let address =
            address.unwrap_or_else(|| panic!("{line:?}: {}", fs::read_to_string(&log).unwrap_or_default()));
        Self {
            address,
            runs: Runs::Apart { child, log },
        }
    }

    /// What it has logged, and what other servers within this process have meanwhile.
    pub(crate) fn log(&self) -> String {
        match &self.runs {
            Runs::Apart { log, .. } => fs::read_to_string(log).unwrap(),
            Runs::Here { log_from, .. } => {
                here::flush_log();
                let file = log_here();
                let length = file.metadata().unwrap().len() - log_from;
                let mut bytes = vec![0; usize::try_from(length).unwrap()];
                file.read_exact_at(&mut bytes, *log_from).unwrap();
                String::from_utf8(bytes).unwrap()
            }
        }
    }

    fn child(&self) -> &Child {
        match &self.runs {
            Runs::Apart { child, .. } => child,
            Runs::Here { .. } => panic!("the server has no process of its own; start it with World::apart"),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child().id()
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args(["-s", name, "--", &self.pid().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Waits for its end; the exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let Runs::Apart { child, .. } = &mut self.runs else {
            panic!("it ends with this process");
        };
        eventually("the server ends", || child.try_wait().unwrap()).code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Runs::Apart { child, .. } = &mut self.runs {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The binary under test, without the settings of whoever runs the tests.
fn bursar(place: &Place) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bursar"));
    command
        .current_dir(place.folder.path())
        .env_clear()
        .args(["--database", &place.database, "--json"])
        .stdin(Stdio::null());
    command
}

impl World {
    /// The bundle on this engine, with one server as it comes.
    pub(crate) fn new(engine: Engine) -> Self {
        Self::with(engine, &[])
    }

    /// The bundle on this engine, with one server with these flags, within this process.
    pub(crate) fn with(engine: Engine, flags: &[&str]) -> Self {
        let mut world = Self::without_server(engine);
        world.servers.push(Server::here(&world.place, flags));
        world
    }

    /// The same with a server in a process of its own: one to signal, to measure, or to read the log of.
    pub(crate) fn apart(engine: Engine, flags: &[&str]) -> Self {
        let mut world = Self::without_server(engine);
        world.start(flags);
        world
    }

    fn without_server(engine: Engine) -> Self {
        let world = Self {
            place: Place::new(engine),
            servers: Vec::new(),
            tokens: Mutex::default(),
            secrets: Mutex::default(),
            is_torn: false,
        };
        let file = world.place.bundle("bundle.ndjson", &bundle::text());
        world.run(&["import", file.to_str().unwrap()]);
        world
    }

    /// One more server on the same database, in a process of its own.
    pub(crate) fn start(&mut self, flags: &[&str]) {
        self.start_with(flags, &[]);
    }

    fn start_with(&mut self, flags: &[&str], variables: &[(&str, &str)]) {
        let number = self.servers.len();
        let server = Server::apart(
            bursar(&self.place),
            self.place.folder.path(),
            number,
            flags,
            variables,
        );
        self.servers.push(server);
    }

    /// The bundle on SQLite, with a server that may have so many files open and begins with fewer.
    pub(crate) fn with_open_files(first: u32, most: u32) -> Self {
        let mut world = Self::without_server(Engine::Sqlite);
        let home = world.place.folder.path();
        let mut command = Command::new("sh");
        command
            .current_dir(home)
            .env_clear()
            .arg("-c")
            .arg(format!(
                "ulimit -Sn {first} && ulimit -Hn {most} && exec \"$0\" \"$@\""
            ))
            .arg(env!("CARGO_BIN_EXE_bursar"))
            .args(["--database", &world.place.database, "--json"])
            .stdin(Stdio::null());
        let server = Server::apart(command, home, 0, &[], &[]);
        world.servers.push(server);
        world
    }

    /// One more server, whose clock on the wall is so many days ahead; the monotonic clock is left as it is.
    pub(crate) fn start_after(&mut self, days: u32) {
        self.start_after_with(days, &["--no-worker"]);
    }

    /// The same with these flags.
    pub(crate) fn start_after_with(&mut self, days: u32, flags: &[&str]) {
        let variables = other_time(&format!("+{days}d"));
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        self.start_with(flags, &variables);
    }

    pub(crate) fn server(&self) -> &Server {
        self.server_of(0)
    }

    /// The server with this number, in the order of their starts.
    pub(crate) fn server_of(&self, number: usize) -> &Server {
        &self.servers[number]
    }

    pub(crate) fn server_of_mut(&mut self, number: usize) -> &mut Server {
        &mut self.servers[number]
    }

    pub(crate) fn server_mut(&mut self) -> &mut Server {
        &mut self.servers[0]
    }

    /// Runs a command that must succeed; what it printed, as JSON.
    pub(crate) fn run(&self, args: &[&str]) -> Value {
        let output = self.output(args);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"))
    }

    /// Runs a command.
    pub(crate) fn output(&self, args: &[&str]) -> Output {
        bursar(&self.place).args(args).output().unwrap()
    }

    /// A new token of a person in an organization.
    pub(crate) fn personal_token(&self, email: &str, of: u32, scopes: ScopeSet) -> Token {
        let (of, scopes) = (organization(of), scopes.to_string().replace(' ', ""));
        self.token(&[
            "token",
            "create",
            "--organization",
            &of,
            "--user",
            email,
            "--scopes",
            &scopes,
        ])
    }

    /// A new token of an organization.
    pub(crate) fn service_token(&self, role: Role, of: u32, scopes: ScopeSet) -> Token {
        let (of, scopes) = (organization(of), scopes.to_string().replace(' ', ""));
        let role = role.to_string();
        self.token(&[
            "token",
            "create",
            "--organization",
            &of,
            "--service",
            "--role",
            &role,
            "--scopes",
            &scopes,
        ])
    }

    /// A token that a command prints.
    pub(crate) fn token(&self, args: &[&str]) -> Token {
        let made = self.run(args);
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        let token = Token {
            id: text("id"),
            secret: text("secret"),
        };
        self.secrets.lock().unwrap().push(token.secret.clone());
        token
    }

    pub(crate) fn viewer(&self) -> Caller<'_> {
        self.person("viewer", NATIONAL)
    }

    pub(crate) fn editor(&self) -> Caller<'_> {
        self.person("editor", NATIONAL)
    }

    pub(crate) fn admin(&self) -> Caller<'_> {
        self.person("admin", NATIONAL)
    }

    /// The admin of another organization.
    pub(crate) fn admin_of(&self, of: u32) -> Caller<'_> {
        self.person(&format!("admin{of}"), of)
    }

    pub(crate) fn person(&self, name: &str, of: u32) -> Caller<'_> {
        let who = Who::Person(format!("{name}@people.example"), of);
        Caller {
            world: self,
            who,
            scopes: ScopeSet::of(Scope::ALL),
            server: 0,
        }
    }

    pub(crate) fn service(&self, role: Role) -> Caller<'_> {
        Caller {
            world: self,
            who: Who::Service(role),
            scopes: ScopeSet::of(Scope::ALL),
            server: 0,
        }
    }

    /// Whoever sends this secret.
    pub(crate) fn bearer(&self, secret: &str) -> Caller<'_> {
        Caller {
            world: self,
            who: Who::Secret(secret.to_owned()),
            scopes: ScopeSet::NONE,
            server: 0,
        }
    }

    /// Somebody without a token.
    pub(crate) fn nobody(&self) -> Caller<'_> {
        Caller {
            world: self,
            who: Who::Nobody,
            scopes: ScopeSet::NONE,
            server: 0,
        }
    }

    /// The newest lines of an organization's activity log.
    pub(crate) fn activity(&self, of: u32) -> Vec<Value> {
        let lines = self.run(&["activity", "--organization", &organization(of)]);
        lines.as_array().unwrap().clone()
    }

    /// Says that the data was damaged on purpose.
    pub(crate) fn torn(&mut self) {
        self.is_torn = true;
    }

    fn check_logs(&self) {
        let secrets = self.secrets.lock().unwrap();
        for server in &self.servers {
            for line in server.log().lines() {
                let told = secrets.iter().any(|secret| line.contains(&secret[..20]));
                assert!(!told, "a secret is in the log: {line}");
                assert!(
                    !line.contains('@') && !line.contains("QUERYVALUE"),
                    "the log tells too much: {line}"
                );
                assert!(!line.contains("panicked"), "{line}");
                if let Ok(entry) = serde_json::from_str::<Value>(line)
                    && entry["message"] == "request"
                {
                    assert!(
                        entry["request_id"]
                            .as_str()
                            .is_some_and(|id| id.starts_with("req_")),
                        "{line}"
                    );
                }
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !thread::panicking() {
            self.check_logs();
            if !self.is_torn {
                self.run(&["check"]);
            }
        } else if let Some(server) = self.servers.first() {
            let log = server.log();
            let tail: Vec<&str> = log.lines().rev().take(8).collect();
            eprintln!("the server's last lines, newest first:\n{}", tail.join("\n"));
        }
        self.servers.clear();
    }
}

/// Who sends a request.
#[derive(Clone)]
pub(crate) struct Caller<'w> {
    world: &'w World,
    who: Who,
    scopes: ScopeSet,
    server: usize,
}

#[derive(Clone)]
enum Who {
    Person(String, u32),
    Service(Role),
    Secret(String),
    Nobody,
}

impl<'w> Caller<'w> {
    /// With a token that has these scopes only.
    pub(crate) fn scopes<const N: usize>(mut self, scopes: [Scope; N]) -> Self {
        self.scopes = ScopeSet::of(&scopes);
        self
    }

    /// With a token that has all scopes but these.
    pub(crate) fn without(mut self, scopes: ScopeSet) -> Self {
        self.scopes = ScopeSet::of(Scope::ALL).without(scopes);
        self
    }

    /// Through another server.
    pub(crate) fn through(mut self, server: usize) -> Self {
        self.server = server;
        self
    }

    /// The caller's token: made at the first use and kept.
    pub(crate) fn token(&self) -> Option<Token> {
        let world = self.world;
        let name = match &self.who {
            Who::Nobody => return None,
            Who::Secret(secret) => {
                return Some(Token {
                    id: String::new(),
                    secret: secret.clone(),
                });
            }
            Who::Person(email, of) => format!("{email} {of}"),
            Who::Service(role) => role.to_string(),
        };
        let mut tokens = world.tokens.lock().unwrap();
        let token = tokens
            .entry((name, self.scopes.bits()))
            .or_insert_with(|| match &self.who {
                Who::Person(email, of) => world.personal_token(email, *of, self.scopes),
                Who::Service(role) => world.service_token(*role, NATIONAL, self.scopes),
                Who::Secret(_) | Who::Nobody => unreachable!(),
            });
        Some(token.clone())
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.ask("GET", path).send()
    }

    pub(crate) fn post(&self, path: &str) -> Call {
        self.ask("POST", path)
    }

    pub(crate) fn patch(&self, path: &str) -> Call {
        self.ask("PATCH", path)
    }

    pub(crate) fn delete(&self, path: &str) -> Call {
        self.ask("DELETE", path)
    }

    /// A request.
    pub(crate) fn ask(&self, method: &str, path: &str) -> Call {
        let headers = self
            .token()
            .map(|token| ("Authorization".to_owned(), format!("Bearer {}", token.secret)));
        Call {
            address: self.world.servers[self.server].address,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: headers.into_iter().collect(),
        }
    }

    /// All pages of a list, by following cursors; a cursor that is given comes last in the path.
    pub(crate) fn walk(&self, path: &str) -> Vec<Value> {
        let (mut rows, mut page) = (Vec::new(), self.get(path).ok());
        for _ in 0..200 {
            rows.extend(page["data"].as_array().unwrap().clone());
            let Some(cursor) = page["nextCursor"].as_str() else {
                assert_eq!(page["hasMore"], false);
                return rows;
            };
            assert_eq!(page["hasMore"], true);
            let rest = path.split("&cursor=").next().unwrap_or(path);
            let joint = if rest.contains('?') { '&' } else { '?' };
            page = self.get(&format!("{rest}{joint}cursor={cursor}")).ok();
        }
        panic!("{path} does not end");
    }
}

/// A request being written.
#[derive(Clone, Debug)]
#[must_use]
pub(crate) struct Call {
    address: SocketAddr,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
}

impl Call {
    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends it with a JSON body.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "it reads better with json!(…) in the call"
    )]
    pub(crate) fn json(self, body: Value) -> Reply {
        self.text(&body.to_string())
    }

    /// Sends it with a body that says it is JSON.
    pub(crate) fn text(self, body: &str) -> Reply {
        self.header("Content-Type", "application/json")
            .bytes(body.as_bytes())
    }

    /// Sends it without a body.
    pub(crate) fn send(self) -> Reply {
        self.go(b"")
    }

    /// Sends it with a body, and its length.
    pub(crate) fn bytes(self, body: &[u8]) -> Reply {
        self.header("Content-Length", &body.len().to_string()).go(body)
    }

    /// Sends it as it stands.
    pub(crate) fn go(self, body: &[u8]) -> Reply {
        let mut bytes = self.head().into_bytes();
        bytes.extend_from_slice(body);
        let reply = http::exchange(self.address, &bytes);
        self.check(&reply);
        reply
    }

    /// Checks what all answers have.
    pub(crate) fn check(&self, reply: &Reply) {
        if self.path == "/v1" || self.path.starts_with("/v1/") || self.path.starts_with("/v1?") {
            reply.check_v1(self.method == "HEAD");
        }
    }

    /// The head, ready to be sent.
    pub(crate) fn head(&self) -> String {
        let mut head = format!(
            "{} {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n",
            self.method, self.path
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        head
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}
