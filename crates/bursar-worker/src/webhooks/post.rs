//! One delivery over HTTP: resolves and checks the address, connects to what was checked and to nothing else, and reads the
//! response. Redirects are not followed, and proxies of the environment are not used.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use bursar_app::webhooks::Reach;
use bursar_app::webhooks::delivery::Parcel;
use bursar_domain::Timestamp;
use bursar_domain::webhook::address::Target;
use bursar_domain::webhook::retry_after;
use bursar_domain::webhook::signing::{ID_HEADER, SIGNATURE_HEADER, Secret, TIMESTAMP_HEADER, signatures};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Agent, Error};

/// From the look-up of the name to the last byte of the response.
pub(super) const TIMEOUT: Duration = Duration::from_secs(15);
/// More of a response is not read.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// Characters of an error that are kept.
const ERROR_MAX: usize = 300;

/// What came back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    /// `None` if there was no complete response in time.
    pub(super) status: Option<u16>,
    pub(super) error: Option<String>,
    pub(super) retry_after_seconds: Option<i64>,
}

impl Reply {
    pub(super) fn none(error: impl std::fmt::Display) -> Self {
        let error = error.to_string().replace(|c: char| c.is_control(), " ");
        Self {
            status: None,
            error: Some(error.chars().take(ERROR_MAX).collect()),
            retry_after_seconds: None,
        }
    }
}

/// Posts to one endpoint. Its connection is kept as long as the name leads to the same addresses.
#[derive(Debug)]
pub(super) struct Poster {
    reach: Reach,
    kept: Option<(Vec<SocketAddr>, Agent)>,
}

impl Poster {
    pub(super) fn new(reach: Reach) -> Self {
        Self { reach, kept: None }
    }

    pub(super) fn post(&mut self, parcel: &Parcel, secrets: &[Secret], now: Timestamp) -> Reply {
        let started = Instant::now();
        let target = match Target::parse(&parcel.url) {
            Ok(target) => target,
            Err(rule) => return Reply::none(format!("the URL {rule}")),
        };
        let addresses = match self.reach.addresses(&target, TIMEOUT) {
            Ok(addresses) => addresses,
            Err(rule) => {
                self.kept = None;
                return Reply::none(format!("the URL {rule}"));
            }
        };
        let left = TIMEOUT
            .saturating_sub(started.elapsed())
            .max(Duration::from_millis(1));
        let agent = self.agent(&target, &addresses);
        let (id, seconds) = (parcel.event.to_string(), now.micros().div_euclid(1_000_000));
        let body = parcel.document.as_bytes();
        let sent = agent
            .post(target.url())
            .config()
            .timeout_global(Some(left))
            .build()
            .header("content-type", "application/json")
            .header(ID_HEADER, &id)
            .header(TIMESTAMP_HEADER, seconds.to_string())
            .header(SIGNATURE_HEADER, signatures(secrets, &id, seconds, body))
            .send(body);
        let reply = match sent {
            Ok(response) => read(response, now),
            Err(error) => failed(&error),
        };
        if reply.status.is_none() {
            self.kept = None;
        }
        reply
    }

    fn agent(&mut self, target: &Target, addresses: &[IpAddr]) -> Agent {
        let mut checked: Vec<SocketAddr> = addresses
            .iter()
            .map(|address| SocketAddr::new(*address, target.port()))
            .collect();
        // Round-robin names list the same addresses in another order each time.
        checked.sort_unstable();
        match &self.kept {
            Some((kept, agent)) if *kept == checked => agent.clone(),
            _ => {
                let agent = pinned(checked.clone());
                self.kept = Some((checked, agent.clone()));
                agent
            }
        }
    }
}

/// Connects to these addresses alone, whatever the URL says.
fn pinned(addresses: Vec<SocketAddr>) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(1)
        .user_agent(concat!("bursar/", env!("CARGO_PKG_VERSION")))
        .proxy(None)
        .build();
    Agent::with_parts(config, DefaultConnector::default(), Pinned(addresses))
}

#[derive(Debug)]
struct Pinned(Vec<SocketAddr>);

impl Resolver for Pinned {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut found = self.empty();
        for address in &self.0 {
            // More than it holds are not needed.
            if found.try_push(*address).is_err() {
                break;
            }
        }
        match found.is_empty() {
            true => Err(Error::HostNotFound),
            false => Ok(found),
        }
    }
}

/// The body is read, because a response counts when its last byte is there, and dropped.
fn read(mut response: ureq::http::Response<ureq::Body>, now: Timestamp) -> Reply {
    let status = response.status().as_u16();
    let header = response.headers().get("retry-after");
    let retry_after_seconds = header.and_then(|value| retry_after::parse(value.to_str().ok()?, now));
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
    match body.read_to_vec() {
        Ok(_) | Err(Error::BodyExceedsLimit(_)) => Reply {
            status: Some(status),
            error: None,
            retry_after_seconds,
        },
        Err(error) => failed(&error),
    }
}

fn failed(error: &Error) -> Reply {
    match error {
        Error::Timeout(_) => Reply::none(format!(
            "no complete response within {} seconds",
            TIMEOUT.as_secs()
        )),
        other => Reply::none(other),
    }
}
