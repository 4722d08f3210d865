//! What people would otherwise choose, where it is installed. A peer answers the paths, tokens and bodies that bursar
//! is asked for, so that all get the same requests; `bench/peers/README.md` says how each is set up.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};

use super::process::Server;
use super::scenario::{Client, Scenario, World};
use super::site::{self, Site};
use crate::{Outcome, bundle};

/// How one kind of server is found, filled and started.
trait Adapter {
    fn name(&self) -> &'static str;

    /// What it can be asked.
    fn scenarios(&self) -> &'static [Scenario];

    /// Its versions; fails when it is not installed.
    fn version(&self) -> Outcome<String>;

    /// Makes its data in a new folder, and the command that serves them.
    fn prepare(&self, data: &Data, folder: &Path, port: u16) -> Outcome<Command>;
}

const ADAPTERS: [&dyn Adapter; 3] = [&Nginx, &Django, &Fastify];

/// What all peers are given.
struct Data {
    /// The members, as bursar imported them.
    bundle: PathBuf,
    /// The organizations by token, as a JSON object.
    tokens: PathBuf,
    /// bursar's own answers.
    get: Vec<u8>,
    list: Vec<u8>,
}

/// A peer that runs until it is dropped.
pub(crate) struct Peer {
    pub(crate) server: Server,
    pub(crate) version: String,
    scenarios: &'static [Scenario],
}

impl Peer {
    pub(crate) fn can(&self, scenario: Scenario) -> bool {
        self.scenarios.contains(&scenario)
    }

    /// Starts those of the named peers that are installed, and says which are left out.
    pub(crate) fn start_all(names: &str, site: &Site, scratch: &Path, members: u64) -> Outcome<Vec<Self>> {
        let mut installed = Vec::new();
        for adapter in parse(names)? {
            match adapter.version() {
                Ok(version) => installed.push((adapter, version)),
                Err(reason) => eprintln!(
                    "{} is left out, as it is not installed ({reason}): bench/peers/set-up installs it",
                    adapter.name()
                ),
            }
        }
        if installed.is_empty() {
            return Ok(Vec::new());
        }
        let folder = scratch.canonicalize().map_err(|error| error.to_string())?;
        let folder = folder.join("peer-data");
        let data = Data::write(&empty(&folder)?, site, members)?;
        let start = |(adapter, version): (&dyn Adapter, String)| {
            eprintln!("starting {version}");
            Self::start(adapter, version, &data, &folder, &site.world)
                .map_err(|error| format!("{}: {error}", adapter.name()))
        };
        let started = installed.into_iter().map(start).collect();
        std::fs::remove_file(&data.bundle).map_err(|error| error.to_string())?;
        started
    }

    fn start(
        adapter: &dyn Adapter,
        version: String,
        data: &Data,
        folder: &Path,
        world: &std::rc::Rc<World>,
    ) -> Outcome<Self> {
        let name = adapter.name();
        let address = free_address()?;
        let mut command = adapter.prepare(data, &empty(&folder.join(name))?, address.port())?;
        let log = folder.join(format!("{name}.log"));
        let peer = Self {
            server: Server::start_at(name, &mut command, &log, address)?,
            version,
            scenarios: adapter.scenarios(),
        };
        for scenario in peer.scenarios {
            peer.check(*scenario, world)
                .map_err(|error| format!("{}: {error} (its log is {})", scenario.name(), log.display()))?;
        }
        Ok(peer)
    }

    /// Asks once, and looks at the answer: one that is quick because it is wrong is not worth measuring.
    fn check(&self, scenario: Scenario, world: &std::rc::Rc<World>) -> Outcome {
        let mut request = Vec::new();
        world.requests(scenario)(0, 0, &mut request);
        let answer = Client::connect(self.server.address)?.call(&request)?;
        let body: Value = serde_json::from_slice(&answer).map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&request);
        let right = match scenario {
            Scenario::ListFirst => {
                // Django REST Framework has its own word for it.
                let rows = body["data"].as_array().or_else(|| body["results"].as_array());
                rows.is_some_and(|rows| rows.len() == 50 && rows.iter().all(is_member))
            }
            Scenario::Get => is_member(&body) && body["id"].as_str().is_some_and(|id| text.contains(id)),
            Scenario::Patch => {
                let name = body["firstName"].as_str();
                is_member(&body) && name.is_some_and(|name| text.contains(name))
            }
            Scenario::Create => body["id"].is_string() && body["name"] == "A committee",
            _ => false,
        };
        if right {
            return Ok(());
        }
        Err(format!("the answer is not what was asked for: {body}"))
    }
}

fn is_member(row: &Value) -> bool {
    let texts = [
        "id",
        "firstName",
        "lastName",
        "email",
        "joinDate",
        "createdAt",
        "updatedAt",
    ];
    texts.iter().all(|name| row[name].is_string())
        && row["isActive"].is_boolean()
        && row["groups"].as_array().is_some_and(|groups| !groups.is_empty())
}

fn parse(names: &str) -> Outcome<Vec<&'static dyn Adapter>> {
    if names == "all" {
        return Ok(ADAPTERS.to_vec());
    }
    let find = |name: &str| {
        let found = ADAPTERS.into_iter().find(|adapter| adapter.name() == name);
        found.ok_or_else(|| {
            let names: Vec<_> = ADAPTERS.iter().map(|adapter| adapter.name()).collect();
            format!("--peers must be all or some of {}, got {name}", names.join(","))
        })
    };
    names.split(',').map(find).collect()
}

impl Data {
    fn write(folder: &Path, site: &Site, members: u64) -> Outcome<Self> {
        let ask = |scenario: Scenario| {
            let mut request = Vec::new();
            site.world.requests(scenario)(0, 0, &mut request);
            Client::connect(site.server.address)?.call(&request)
        };
        let world = &site.world;
        let tokens: Map<String, Value> = world
            .tokens
            .iter()
            .zip(&world.tenants)
            .map(|(token, tenant)| (token.clone(), json!(tenant.id.to_string())))
            .collect();
        let data = Self {
            bundle: folder.join("members.ndjson"),
            tokens: folder.join("tokens.json"),
            get: ask(Scenario::Get)?,
            list: ask(Scenario::ListFirst)?,
        };
        bundle::write(&data.bundle, site::size(members))?;
        write(&data.tokens, Value::Object(tokens).to_string().as_bytes())?;
        Ok(data)
    }
}

/// Static files: no token is looked at, and nothing is written.
struct Nginx;

impl Nginx {
    /// Debian keeps it off the PATH of users.
    fn program() -> Option<&'static str> {
        let works = |program: &&str| said(Command::new(program).arg("-v")).is_ok();
        ["nginx", "/usr/sbin/nginx"].into_iter().find(works)
    }
}

impl Adapter for Nginx {
    fn name(&self) -> &'static str {
        "nginx"
    }

    fn scenarios(&self) -> &'static [Scenario] {
        &[Scenario::Get, Scenario::ListFirst]
    }

    fn version(&self) -> Outcome<String> {
        let program = Self::program().ok_or("no nginx on the PATH or in /usr/sbin")?;
        let said = said(Command::new(program).arg("-v"))?;
        Ok(said.rsplit(": ").next().unwrap_or_default().replace('/', " "))
    }

    fn prepare(&self, data: &Data, folder: &Path, port: u16) -> Outcome<Command> {
        write(&folder.join("get.json"), &data.get)?;
        write(&folder.join("list.json"), &data.list)?;
        let template = files("nginx").join("nginx.conf");
        let template =
            std::fs::read_to_string(&template).map_err(|error| format!("{}: {error}", template.display()))?;
        let settings = folder.join("nginx.conf");
        write(
            &settings,
            template.replace("@PORT@", &port.to_string()).as_bytes(),
        )?;
        let mut command = Command::new(Self::program().unwrap_or("nginx"));
        // It opens this log before it reads its settings.
        command.arg("-e").arg(folder.join("error.log"));
        command.arg("-p").arg(folder).arg("-c").arg(settings);
        Ok(command)
    }
}

/// Django REST Framework under gunicorn, on SQLite.
struct Django;

impl Django {
    fn program(name: &str, folder: &Path) -> Command {
        let mut command = Command::new(installed("django").join("bin").join(name));
        command
            .current_dir(files("django"))
            .env("DJANGO_SETTINGS_MODULE", "settings")
            .env("PEER_DATABASE", folder.join("members.db"))
            // What Python compiles does not belong beside the sources.
            .env("PYTHONPYCACHEPREFIX", folder.join("pycache"));
        command
    }
}

impl Adapter for Django {
    fn name(&self) -> &'static str {
        "django"
    }

    fn scenarios(&self) -> &'static [Scenario] {
        &[
            Scenario::Get,
            Scenario::ListFirst,
            Scenario::Patch,
            Scenario::Create,
        ]
    }

    fn version(&self) -> Outcome<String> {
        let script = "import platform, sqlite3; from importlib.metadata import version; \
            print('Django', version('django'), 'with djangorestframework', version('djangorestframework'), \
            'and gunicorn', version('gunicorn'), 'on Python', platform.python_version(), \
            'and SQLite', sqlite3.sqlite_version)";
        said(Command::new(installed("django").join("bin/python")).args(["-c", script]))
    }

    fn prepare(&self, data: &Data, folder: &Path, port: u16) -> Outcome<Command> {
        let mut load = Self::program("python", folder);
        said(load.arg("load.py").args([&data.bundle, &data.tokens]))?;
        let mut command = Self::program("gunicorn", folder);
        command
            .args(["--bind", &format!("127.0.0.1:{port}"), "--no-control-socket"])
            .args(["--workers", "2", "--worker-class", "gthread", "--threads", "4"])
            // The other kind of worker closes the connection after each answer, and this one after two idle seconds.
            .args(["--keep-alive", "75", "--graceful-timeout", "2"])
            .arg("--access-logfile")
            .arg(folder.join("access.log"))
            .arg("django.core.wsgi:get_wsgi_application()");
        Ok(command)
    }
}

/// Fastify with better-sqlite3.
struct Fastify;

impl Fastify {
    fn node() -> Command {
        let mut command = Command::new(installed("fastify").join("node"));
        command
            .current_dir(files("fastify"))
            .env("NODE_PATH", installed("fastify").join("node_modules"))
            .env("NODE_ENV", "production");
        command
    }
}

impl Adapter for Fastify {
    fn name(&self) -> &'static str {
        "fastify"
    }

    fn scenarios(&self) -> &'static [Scenario] {
        &[
            Scenario::Get,
            Scenario::ListFirst,
            Scenario::Patch,
            Scenario::Create,
        ]
    }

    fn version(&self) -> Outcome<String> {
        let script = "const db = new (require('better-sqlite3'))(':memory:'); \
            `Fastify ${require('fastify/package.json').version} with better-sqlite3 \
            ${require('better-sqlite3/package.json').version} on Node ${process.versions.node} \
            and SQLite ${db.prepare('SELECT sqlite_version()').pluck().get()}`";
        said(Self::node().args(["-p", script]))
    }

    fn prepare(&self, data: &Data, folder: &Path, port: u16) -> Outcome<Command> {
        let database = folder.join("members.db");
        let load = [&PathBuf::from("load.js"), &database, &data.bundle, &data.tokens];
        said(Self::node().args(load))?;
        let mut command = Self::node();
        command.arg("server.js").arg(database).arg(port.to_string());
        Ok(command)
    }
}

/// The part of a peer that is ours.
pub(super) fn files(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}

/// Where `bench/peers/set-up` puts the part that is not.
pub(super) fn installed(name: &str) -> PathBuf {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR"));
    bench.with_file_name("target").join("bench/peers").join(name)
}

/// A port that nothing listens on: not every server says which one the system gave it.
pub(super) fn free_address() -> Outcome<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    listener.local_addr().map_err(|error| error.to_string())
}

/// Runs a program to its end; what it printed.
pub(super) fn said(command: &mut Command) -> Outcome<String> {
    let program = Path::new(command.get_program()).display().to_string();
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    let out = [done.stdout, done.stderr].concat();
    let text = String::from_utf8_lossy(&out).trim().to_owned();
    if done.status.success() {
        return Ok(text);
    }
    Err(format!(
        "{program}: {}",
        text.lines().last().unwrap_or("it failed")
    ))
}

/// Makes a folder anew.
pub(super) fn empty(folder: &Path) -> Outcome<PathBuf> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(failed)?;
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    Ok(folder.to_owned())
}

fn write(path: &Path, bytes: &[u8]) -> Outcome {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
