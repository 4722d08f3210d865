//! `bench console`: what pages cost with very many members, beside the API's page of 50.

use std::path::Path;
use std::time::Duration;

use bursar_db::{DatabaseUrl, Options};
use serde_json::{Value, json};

use crate::bundle::{self, Size, Tenant};
use crate::database::{self, Scratch};
use crate::http::client::{self, Load, Requests, as_f64};
use crate::http::process::{self, Server};
use crate::http::scenario::Client;
use crate::http::site::{self, NO_LIMIT};
use crate::{Args, Outcome, report};

/// Charges of each member.
const CHARGES: u64 = 4;
/// CPU of the overview, the database's included.
const OVERVIEW_MICROS_MAX: f64 = 5_000.0;
const PERSON: &str = "treasurer@example.org";

/// What is asked for. The first is what the others stand beside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    Api,
    Overview,
    Members,
    Owing,
    Member,
    Charges,
    SearchName,
    SearchEmail,
}

impl Asked {
    const ALL: [Self; 8] = [
        Self::Api,
        Self::Overview,
        Self::Members,
        Self::Owing,
        Self::Member,
        Self::Charges,
        Self::SearchName,
        Self::SearchEmail,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Api => "API, 50 members",
            Self::Overview => "overview",
            Self::Members => "members",
            Self::Owing => "members who owe",
            Self::Member => "a member",
            Self::Charges => "open charges",
            Self::SearchName => "search a name",
            Self::SearchEmail => "search an e-mail",
        }
    }

    fn path(self, tenant: &Tenant, n: u64) -> String {
        let member = tenant.members[usize::try_from(n * 7).unwrap_or(0) % tenant.members.len()];
        let end = match self {
            Self::Api => return "/v1/members?limit=50".to_owned(),
            Self::Overview => String::new(),
            Self::Members => "/members".to_owned(),
            Self::Owing => "/members?state=owing".to_owned(),
            Self::Member => format!("/members/{member}"),
            Self::Charges => "/charges?show=open".to_owned(),
            Self::SearchName => "/search?q=featherstone".to_owned(),
            Self::SearchEmail => format!("/search?q=member{}%40example.org", n * 101 % 10_000),
        };
        format!("/console/{}{end}", tenant.id)
    }
}

/// A server with somebody signed in.
struct Site {
    name: &'static str,
    server: Server,
    /// The database's own process, if it has one.
    database: Option<u32>,
    cookie: String,
    token: String,
    _scratch: Option<Scratch>,
}

impl Site {
    fn open(
        name: &'static str,
        scratch: &Path,
        url: &str,
        organization: &str,
        database: Option<(Scratch, u32)>,
    ) -> Outcome<Self> {
        let role = [
            "role",
            "set",
            "--organization",
            organization,
            "--user",
            PERSON,
            "--role",
            "admin",
        ];
        site::command(url, &role)?;
        let server = site::start(scratch, &format!("console-{name}"), url, NO_LIMIT, &[])?;
        let token = site::make_token(url, organization)?.1;
        let cookie = sign_in(&server, url)?;
        let (scratch, database) = database.unzip();
        Ok(Self {
            name,
            server,
            database,
            cookie,
            token,
            _scratch: scratch,
        })
    }

    fn cpu_nanos(&self) -> u64 {
        self.server.cpu_nanos() + self.database.map_or(0, process::cpu_nanos_of_family)
    }

    fn request(&self, asked: Asked, path: &str) -> Vec<u8> {
        let who = match asked {
            Asked::Api => format!("Authorization: Bearer {}", self.token),
            _ => format!("Cookie: {}\r\nAccept-Encoding: gzip", self.cookie),
        };
        format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\n{who}\r\n\r\n",
            self.server.address
        )
        .into_bytes()
    }
}

/// Opens a link that works once, as a browser does; the session's cookie.
fn sign_in(server: &Server, url: &str) -> Outcome<String> {
    let base = format!("http://{}", server.address);
    let made = site::command(url, &["sign-in-link", "--user", PERSON, "--base-url", &base])?;
    let link = made["link"].as_str().ok_or("no link")?;
    let path = link.strip_prefix(&base).ok_or("a link to another server")?;
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nOrigin: {base}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 0\r\n\r\n",
        server.address
    );
    let answer = Client::connect(server.address)?.exchange(request.as_bytes())?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let cookie = answer.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("set-cookie")
            .then(|| value.split(';').next().unwrap_or("").to_owned())
    });
    cookie.ok_or_else(|| format!("no session: {answer}"))
}

/// The samples of one question on one site.
struct Asking {
    site: usize,
    asked: Asked,
    cpu_micros: Vec<f64>,
    p50: Vec<f64>,
    bytes: usize,
}

/// `bench console`.
pub(crate) fn measure(args: &Args) -> Outcome {
    let scratch = args.scratch()?;
    let members = args.number("members", 100_000)?;
    let load = Load {
        connections: usize::try_from(args.number("connections", 2)?).unwrap_or(2),
        time: Duration::from_millis(args.number("milliseconds", 700)?),
        rate: None,
    };
    let bundle = scratch.join(format!("console-{members}.ndjson"));
    let size = Size {
        members,
        organizations: 1,
        charges: CHARGES,
    };
    let tenant = bundle::write(&bundle, size)?
        .into_iter()
        .next()
        .ok_or("no organization")?;
    let sites = sites(&scratch, &bundle, &tenant.id.to_string());
    std::fs::remove_file(&bundle).map_err(|error| error.to_string())?;
    let sites = sites?;

    let mut found = Vec::new();
    for asked in Asked::ALL {
        for (place, site) in sites.iter().enumerate() {
            let request = site.request(asked, &asked.path(&tenant, 0));
            let answer = Client::connect(site.server.address)?.exchange(&request)?;
            found.push(Asking {
                site: place,
                asked,
                cpu_micros: Vec::new(),
                p50: Vec::new(),
                bytes: answer.len(),
            });
        }
    }
    for round in 0..args.number("rounds", 5)? {
        eprintln!("round {}", round + 1);
        for asking in &mut found {
            let site = &sites[asking.site];
            let asked = asking.asked;
            let all: Vec<Vec<u8>> = (0..1_000)
                .map(|n| site.request(asked, &asked.path(&tenant, n)))
                .collect();
            let requests: Requests = Box::new(move |caller, n, out| {
                let place = (caller as u64 * 37 + n) % all.len() as u64;
                out.extend_from_slice(&all[usize::try_from(place).unwrap_or(0)]);
            });
            let before = site.cpu_nanos();
            let tally = client::drive(&[site.server.address], load, requests)?;
            let cpu = site.cpu_nanos().saturating_sub(before);
            tally
                .expect(200)
                .map_err(|error| format!("{}: {error}", asked.name()))?;
            asking
                .cpu_micros
                .push(as_f64(cpu) / 1_000.0 / as_f64(tally.requests.max(1)));
            asking.p50.push(tally.micros_at(500));
        }
    }
    tell(members, &sites, found)
}

fn sites(scratch: &Path, bundle: &Path, organization: &str) -> Outcome<Vec<Site>> {
    let file = scratch.join("console.db");
    database::remove(&file);
    let db = database::open(&DatabaseUrl::Sqlite(file.clone()), &Options::default())?;
    database::fill(&db, bundle)?;
    db.shutdown();
    let url = format!("sqlite:{}", file.display());
    let mut sites = vec![Site::open("sqlite", scratch, &url, organization, None)?];
    if let Some(server) = database::server() {
        let database = Scratch::new(&server, "console")?;
        let db = database::open(&database.url, &Options::default())?;
        database::fill(&db, bundle)?;
        db.shutdown();
        database.settle()?;
        let process = database.process()?;
        let url = database.text();
        sites.push(Site::open(
            "postgres",
            scratch,
            &url,
            organization,
            Some((database, process)),
        )?);
    }
    Ok(sites)
}

fn tell(members: u64, sites: &[Site], found: Vec<Asking>) -> Outcome {
    let (mut rows, mut figures, mut missed) = (Vec::new(), Vec::new(), Vec::<String>::new());
    let mut api = vec![0.0; sites.len()];
    for asking in found {
        let (cpu, p50) = (report::median(asking.cpu_micros), report::median(asking.p50));
        let site = &sites[asking.site];
        if asking.asked == Asked::Api {
            api[asking.site] = cpu;
        }
        let ratio = cpu / api[asking.site].max(1e-9);
        if asking.asked == Asked::Overview && cpu > OVERVIEW_MICROS_MAX {
            missed.push(format!("overview on {}: {cpu:.0} µs", site.name));
        }
        rows.push(vec![
            asking.asked.name().to_owned(),
            site.name.to_owned(),
            format!("{cpu:.0}"),
            format!("{ratio:.1}"),
            format!("{p50:.0}"),
            format!("{:.1}", as_f64(asking.bytes as u64) / 1_024.0),
        ]);
        figures.push(json!({
            "page": asking.asked.name(),
            "engine": site.name,
            "cpuMicros": report::rounded(cpu),
            "toApi": (ratio * 10.0).round() / 10.0,
            "p50Micros": report::rounded(p50),
            "bytes": asking.bytes,
        }));
    }
    println!(
        "{} members, {} charges; CPU of the server and the database",
        report::grouped(members),
        report::grouped(members * CHARGES)
    );
    report::table(
        &["page", "engine", "CPU µs", "to the API's", "p50 µs", "KiB sent"],
        &rows,
    );
    let figures = Value::Array(figures);
    report::save(
        "console",
        &json!({ "members": members, "charges": members * CHARGES, "pages": figures }),
    )?;
    report::verdict(&missed)
}
