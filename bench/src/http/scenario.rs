//! What the servers are asked.

use std::cell::Cell;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use bursar_domain::ids::MemberId;

use super::client::{Requests, head};
use crate::Outcome;
use crate::bundle::Tenant;

/// What a run asks for. Each has an organization of its own where it writes, so that it does not change what
/// another one reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    Get,
    ListFirst,
    ListActive,
    ListDeep,
    ListMidWalk,
    ListNothingNew,
    Patch,
    Create,
    Replay,
    Unauthorized,
    TooMany,
    Mixed,
}

impl Scenario {
    pub(crate) const ALL: [Self; 12] = [
        Self::Get,
        Self::ListFirst,
        Self::ListActive,
        Self::ListDeep,
        Self::ListMidWalk,
        Self::ListNothingNew,
        Self::Patch,
        Self::Create,
        Self::Replay,
        Self::Unauthorized,
        Self::TooMany,
        Self::Mixed,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::ListFirst => "list-first",
            Self::ListActive => "list-active",
            Self::ListDeep => "list-deep",
            Self::ListMidWalk => "list-mid-walk",
            Self::ListNothingNew => "list-nothing-new",
            Self::Patch => "patch",
            Self::Create => "create",
            Self::Replay => "replay",
            Self::Unauthorized => "401",
            Self::TooMany => "429",
            Self::Mixed => "mixed-day",
        }
    }

    pub(crate) fn parse(text: &str) -> Outcome<Self> {
        let found = Self::ALL.into_iter().find(|scenario| scenario.name() == text);
        found.ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|scenario| scenario.name()).collect();
            format!("{text} is none of {}", names.join(", "))
        })
    }

    /// The status of every answer; a mixed day has several.
    pub(crate) fn status(self) -> Option<u16> {
        match self {
            Self::Create | Self::Replay => Some(201),
            Self::Unauthorized => Some(401),
            Self::TooMany => Some(429),
            Self::Mixed => None,
            _ => Some(200),
        }
    }
}

/// A database under a server, ready to be asked.
pub(crate) struct World {
    /// One for each of the organizations below.
    pub(crate) tokens: Vec<String>,
    pub(crate) revoked: String,
    /// For reading, patching, creating, and a mixed day.
    pub(crate) tenants: Vec<Tenant>,
    /// A page near the end of the walk, with nothing changed since its start.
    pub(crate) deep: String,
    /// A page in the middle of a walk that many changes came after.
    pub(crate) mid_walk: String,
    /// After all changes of the reading organization.
    pub(crate) now: String,
    /// Makes keys that no run before had, with the number of the key.
    pub(crate) run: String,
    keys: Cell<u64>,
}

/// Organizations that a world uses.
pub(crate) const TENANTS: usize = 4;
const READING: usize = 0;
const PATCHING: usize = 1;
const CREATING: usize = 2;
const MIXING: usize = 3;

/// What a walk met.
#[derive(Default)]
struct Walked {
    cursors: Vec<String>,
    members: Vec<MemberId>,
    /// The last row's time.
    last: String,
}

/// Changes that come after the start of the walk that is in its middle.
const CHANGES: usize = 1_000;

impl World {
    /// Walks and changes what the scenarios need walked and changed.
    pub(crate) fn prepare(
        server: SocketAddr,
        tokens: Vec<String>,
        revoked: String,
        tenants: Vec<Tenant>,
        run: String,
    ) -> Outcome<Self> {
        let mut world = Self {
            tokens,
            revoked,
            tenants,
            deep: String::new(),
            mid_walk: String::new(),
            now: String::new(),
            run,
            keys: Cell::new(0),
        };
        let mut client = Client::connect(server)?;
        let walked = world.walk(&mut client)?;
        let cursors = &walked.cursors;
        world.mid_walk = cursors
            .get(cursors.len() / 2)
            .ok_or("the list has one page only")?
            .clone();
        for n in 0..CHANGES {
            let mut request = Vec::new();
            // Spread over the whole walk, so that every page of it has some of them.
            let member = walked.members[n * walked.members.len() / CHANGES];
            world.patch(READING, member, n as u64, &mut request);
            client.call(&request)?;
        }
        let walked = world.walk(&mut client)?;
        let mut cursors = walked.cursors.iter().rev();
        world.deep = cursors.nth(1).ok_or("the list has one page only")?.clone();
        world.now = walked.last;
        Ok(world)
    }

    /// Walks a whole list.
    fn walk(&self, client: &mut Client) -> Outcome<Walked> {
        let mut walked = Walked::default();
        let mut query = String::new();
        loop {
            let mut request = Vec::new();
            self.ask(READING, &format!("/v1/members?limit=50{query}"), &mut request);
            let body: serde_json::Value =
                serde_json::from_slice(&client.call(&request)?).map_err(|error| error.to_string())?;
            for row in body["data"].as_array().into_iter().flatten() {
                let text = |name: &str| row[name].as_str().unwrap_or_default();
                walked.members.extend(MemberId::parse(text("id")));
                text("updatedAt").clone_into(&mut walked.last);
            }
            let Some(next) = body["nextCursor"].as_str() else {
                return Ok(walked);
            };
            walked.cursors.push(next.to_owned());
            query = format!("&cursor={next}");
        }
    }

    fn ask(&self, tenant: usize, target: &str, out: &mut Vec<u8>) {
        let token = &self.tokens[tenant];
        head_lines(out, "GET", target, token);
        out.extend_from_slice(b"\r\n");
    }

    fn patch(&self, tenant: usize, member: MemberId, n: u64, out: &mut Vec<u8>) {
        patch(out, &self.tokens[tenant], member, &format!("{}{n}", self.run));
    }

    fn create(&self, tenant: usize, key: &str, out: &mut Vec<u8>) {
        create(out, &self.tokens[tenant], key);
    }

    fn fresh_key(&self) -> String {
        self.keys.set(self.keys.get() + 1);
        format!("{}-{}", self.run, self.keys.get())
    }

    /// The requests of a scenario.
    pub(crate) fn requests(self: &std::rc::Rc<Self>, scenario: Scenario) -> Requests {
        let world = std::rc::Rc::clone(self);
        let member = move |world: &Self, tenant: usize, n: u64| {
            let members = &world.tenants[tenant].members;
            members[usize::try_from(n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33).unwrap_or(0) % members.len()]
        };
        let fixed = |tenant: usize, target: String| -> Requests {
            let mut request = Vec::new();
            world.ask(tenant, &target, &mut request);
            Box::new(move |_, _, out| out.extend_from_slice(&request))
        };
        match scenario {
            Scenario::Get => Box::new(move |connection, n, out| {
                let member = member(&world, READING, n * 1_009 + connection as u64);
                world.ask(READING, &format!("/v1/members/{member}"), out);
            }),
            Scenario::ListFirst | Scenario::TooMany => fixed(READING, "/v1/members?limit=50".to_owned()),
            Scenario::ListActive => fixed(READING, "/v1/members?isActive=true&limit=50".to_owned()),
            Scenario::ListDeep => fixed(READING, format!("/v1/members?limit=50&cursor={}", world.deep)),
            Scenario::ListMidWalk => {
                fixed(READING, format!("/v1/members?limit=50&cursor={}", world.mid_walk))
            }
            Scenario::ListNothingNew => fixed(
                READING,
                format!("/v1/members?updatedSince={}&limit=50", after(&world.now)),
            ),
            Scenario::Patch => Box::new(move |connection, n, out| {
                // A member a connection: two changes of one row at a time are not what is measured.
                let members = &world.tenants[PATCHING].members;
                world.patch(PATCHING, members[connection % members.len()], n, out);
            }),
            Scenario::Create => Box::new(move |_, _, out| world.create(CREATING, &world.fresh_key(), out)),
            Scenario::Replay => Box::new(move |_, _, out| world.create(CREATING, "the-same-key", out)),
            Scenario::Unauthorized => {
                let mut request = Vec::new();
                head_lines(&mut request, "GET", "/v1/members?limit=50", &world.revoked);
                request.extend_from_slice(b"\r\n");
                Box::new(move |_, _, out| out.extend_from_slice(&request))
            }
            // Of a hundred requests: 55 single members, 25 pages, 10 syncs, 7 changes, 3 new groups.
            Scenario::Mixed => Box::new(move |connection, n, out| {
                let place = n * 1_009 + connection as u64;
                match place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40 {
                    part if part % 100 < 55 => {
                        let member = member(&world, MIXING, place);
                        world.ask(MIXING, &format!("/v1/members/{member}"), out);
                    }
                    part if part % 100 < 80 => world.ask(MIXING, "/v1/members?limit=50", out),
                    part if part % 100 < 90 => {
                        let target = format!("/v1/members?updatedSince={}&limit=50", after(&world.now));
                        world.ask(MIXING, &target, out);
                    }
                    part if part % 100 < 97 => {
                        let members = &world.tenants[MIXING].members;
                        world.patch(MIXING, members[connection % members.len()], n, out);
                    }
                    _ => world.create(MIXING, &world.fresh_key(), out),
                }
            }),
        }
    }
}

/// The next microsecond: `updatedSince` includes its instant.
fn after(instant: &str) -> String {
    let later = bursar_domain::Timestamp::parse(instant)
        .map(|at| bursar_domain::Timestamp::from_micros(at.micros() + 1));
    later.map_or_else(|| instant.to_owned(), |at| at.to_string())
}

/// A request that changes a member's name.
pub(crate) fn patch(out: &mut Vec<u8>, token: &str, member: MemberId, name: &str) {
    head_lines(out, "PATCH", &format!("/v1/members/{member}"), token);
    body(out, &format!(r#"{{"firstName":"Name {name}"}}"#));
}

/// A request that makes a group.
pub(crate) fn create(out: &mut Vec<u8>, token: &str, key: &str) {
    head_lines(out, "POST", "/v1/groups", token);
    out.extend_from_slice(format!("Idempotency-Key: {key}\r\n").as_bytes());
    body(out, r#"{"name":"A committee"}"#);
}

pub(super) fn head_lines(out: &mut Vec<u8>, method: &str, target: &str, token: &str) {
    // Writing to a Vec cannot fail.
    let _ = write!(
        out,
        "{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: bench\r\nAccept: application/json\r\nAuthorization: Bearer {token}\r\n"
    );
}

pub(super) fn body(out: &mut Vec<u8>, text: &str) {
    let _ = write!(
        out,
        "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
}

/// One connection that waits for each answer.
pub(crate) struct Client(TcpStream);

impl Client {
    pub(crate) fn connect(server: SocketAddr) -> Outcome<Self> {
        let stream = TcpStream::connect(server).map_err(|error| format!("{server}: {error}"))?;
        stream.set_nodelay(true).map_err(|error| error.to_string())?;
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .map_err(|error| error.to_string())?;
        Ok(Self(stream))
    }

    /// The whole answer as it is on the wire.
    pub(crate) fn exchange(&mut self, request: &[u8]) -> Outcome<Vec<u8>> {
        self.0.write_all(request).map_err(|error| error.to_string())?;
        let (mut bytes, mut part) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            if let Some((_, whole)) = head(&bytes)?
                && bytes.len() >= whole
            {
                return Ok(bytes);
            }
            match self.0.read(&mut part).map_err(|error| error.to_string())? {
                0 => return Err("the server closed the connection".to_owned()),
                length => bytes.extend_from_slice(&part[..length]),
            }
        }
    }

    /// The body of a success.
    pub(crate) fn call(&mut self, request: &[u8]) -> Outcome<Vec<u8>> {
        let mut bytes = self.exchange(request)?;
        let (status, whole) = head(&bytes)?.ok_or("half an answer")?;
        if !(200..300).contains(&status) {
            return Err(format!("not a success: {}", String::from_utf8_lossy(&bytes)));
        }
        let length = bytes
            .windows(4)
            .position(|four| four == b"\r\n\r\n")
            .map_or(0, |end| end + 4);
        bytes.truncate(whole);
        Ok(bytes.split_off(length))
    }
}
