//! A client of the API, for commands that work with a server elsewhere: what is retried, how often, and what each error
//! means for the caller.

mod backoff;
mod events;
mod forward;
mod token;

use std::fmt;
use std::time::Duration;

use bursar_domain::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

pub(crate) use self::events::{Follower, Told};
pub(crate) use self::forward::{Forwarded, Forwarder};
pub(crate) use self::token::Token;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For a request and its whole response.
const TIMEOUT: Duration = Duration::from_secs(60);
/// More than a hundred rows of the longest text can take.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// How often in a row a server may ask to wait.
const ASKED_MAX: u32 = 60;
const CREATED_SINCE: &str = "createdSince";

pub(crate) struct Settings {
    /// The command, as in `bursar sync`.
    pub(crate) command: &'static str,
    /// Running the command again goes on where it stopped.
    pub(crate) can_resume: bool,
    /// Without a trailing slash.
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) attempts: u32,
    /// PEM certificates to trust instead of the public ones.
    pub(crate) ca: Option<Vec<u8>>,
    pub(crate) random: fastrand::Rng,
    pub(crate) clock: fn() -> Timestamp,
}

pub(crate) struct Client {
    agent: Agent,
    url: String,
    authorization: String,
    attempts: u32,
    random: fastrand::Rng,
    clock: fn() -> Timestamp,
    again: &'static str,
    /// The server's time at its last response.
    served_at: Option<Timestamp>,
    pub(crate) counts: Counts,
}

/// Called before a wait, with its reason.
pub(crate) type Waits<'a> = dyn FnMut(Duration, &str) + 'a;

/// A page of a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Page {
    pub(crate) data: Vec<Box<RawValue>>,
    pub(crate) has_more: bool,
    pub(crate) next_cursor: Option<String>,
}

impl Page {
    /// A page with more to follow must make progress, or the walk would never end. `cursor` is of this page.
    pub(crate) fn expect_progress(&self, cursor: Option<&str>) -> Result<(), &'static str> {
        match &self.next_cursor {
            _ if !self.has_more => Ok(()),
            None => Err("more pages, and no cursor for them"),
            Some(_) if self.data.is_empty() => Err("an empty page that is not the last"),
            next if next.as_deref() == cursor => Err("the same cursor again"),
            Some(_) => Ok(()),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) requests: u64,
    pub(crate) waits: u64,
    pub(crate) waited: Duration,
}

impl Counts {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests - before.requests,
            waits: self.waits - before.waits,
            waited: self.waited.saturating_sub(before.waited),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// 400 `invalid_cursor`.
    Cursor,
    /// 400 for a `createdSince` from before the events that are kept.
    Behind(String),
    /// 403.
    Withheld(String),
    /// 404.
    NotFound(String),
    /// Retries are exhausted or useless; the message says how to continue.
    GivenUp(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cursor => f.write_str("the server does not take its own cursor"),
            Self::Behind(why) | Self::Withheld(why) | Self::NotFound(why) | Self::GivenUp(why) => {
                f.write_str(why)
            }
        }
    }
}

enum Attempt<T> {
    Answered(T),
    Refused(RequestError),
    /// May be temporary.
    Failed(String),
    /// The server asks to wait so many seconds.
    Asked(u64, String),
}

#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorFields,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ErrorFields {
    code: String,
    message: String,
    #[serde(default)]
    request_id: String,
    #[serde(default)]
    param: String,
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Result<Self, String> {
        let mut tls = TlsConfig::builder();
        if let Some(pem) = &settings.ca {
            tls = tls.root_certs(root_certificates(pem)?);
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would send the token to another server.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(TIMEOUT))
            .user_agent(format!(
                "bursar-{}/{}",
                settings.command,
                env!("CARGO_PKG_VERSION")
            ))
            .tls_config(tls.build())
            .build();
        Ok(Self {
            agent: config.new_agent(),
            authorization: format!("Bearer {}", settings.token),
            url: settings.url,
            attempts: settings.attempts,
            random: settings.random,
            clock: settings.clock,
            again: match settings.can_resume {
                true => ", it continues where it stopped",
                false => "",
            },
            served_at: None,
            counts: Counts::default(),
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// By the server's clock, to the second; by this machine's if the server does not say.
    pub(crate) fn server_time(&self) -> Timestamp {
        self.served_at.unwrap_or_else(self.clock)
    }

    /// Retries until there is a response, a refusal, or no attempts are left.
    pub(crate) fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        waits: &mut Waits<'_>,
    ) -> Result<T, RequestError> {
        let (mut failures, mut asked) = (0, 0);
        loop {
            self.counts.requests += 1;
            let (pause, why) = match self.attempt(path) {
                Attempt::Answered(answer) => return Ok(answer),
                Attempt::Refused(refusal) => return Err(refusal),
                Attempt::Failed(why) => {
                    failures += 1;
                    if failures >= self.attempts {
                        return Err(self.given_up(&format!("{why}, at attempt {failures}")));
                    }
                    (backoff::after_failure(failures, &mut self.random), why)
                }
                Attempt::Asked(seconds, why) => {
                    asked += 1;
                    match backoff::as_asked(seconds, &mut self.random) {
                        Some(pause) if asked < ASKED_MAX => (pause, why),
                        Some(_) => return Err(self.given_up(&format!("{why}, at attempt {asked}"))),
                        None => return Err(self.given_up(&format!("{why}, for {seconds} s"))),
                    }
                }
            };
            waits(pause, &why);
            self.counts.waits += 1;
            self.counts.waited += pause;
            std::thread::sleep(pause);
        }
    }

    fn given_up(&self, why: &str) -> RequestError {
        RequestError::GivenUp(format!(
            "{}: {why}; run the same command again later{}",
            self.url, self.again
        ))
    }

    fn attempt<T: DeserializeOwned>(&mut self, path: &str) -> Attempt<T> {
        let sent = self
            .agent
            .get(format!("{}{path}", self.url))
            .header("Authorization", &self.authorization)
            .header("Accept", "application/json")
            .call();
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return self.unsent(&error),
        };
        let status = response.status().as_u16();
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let retry_after =
            header("retry-after").and_then(|text| backoff::parse_retry_after(&text, (self.clock)()));
        let location = header("location");
        self.served_at = header("date").and_then(|text| backoff::parse_date(&text));
        let body = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES_MAX)
            .read_to_vec();
        let body = match body {
            Ok(body) => body,
            Err(error) => return Attempt::Failed(format!("the response was cut off ({error})")),
        };
        if status == 200 {
            return match serde_json::from_slice(&body) {
                Ok(answer) => Attempt::Answered(answer),
                Err(error) => Attempt::Failed(format!(
                    "a response that is not from bursar, or was cut off ({error})"
                )),
            };
        }
        self.refused(status, retry_after, location, &body)
    }

    /// No response. An error of ours or of the configuration is not retried.
    fn unsent<T>(&self, error: &ureq::Error) -> Attempt<T> {
        let is_untrusted = match error {
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => true,
            ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::InvalidData,
            _ => false,
        };
        match error {
            _ if is_untrusted => Attempt::Refused(RequestError::GivenUp(format!(
                "{}: no safe connection ({error}); --ca FILE names a certificate authority of your own",
                self.url
            ))),
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::RequireHttpsOnly(_) => {
                Attempt::Refused(RequestError::GivenUp(format!(
                    "{} cannot be asked: {error}",
                    self.url
                )))
            }
            _ => Attempt::Failed(format!("no response ({error})")),
        }
    }

    fn refused<T>(
        &self,
        status: u16,
        retry_after: Option<u64>,
        location: Option<String>,
        body: &[u8],
    ) -> Attempt<T> {
        let told = serde_json::from_slice::<ErrorBody>(body)
            .ok()
            .map(|body| body.error);
        let code = told.as_ref().map_or("", |error| error.code.as_str());
        let words = match &told {
            Some(error) if error.request_id.is_empty() => format!("{status} {}", error.message),
            Some(error) => format!("{status} {} ({})", error.message, error.request_id),
            None => format!("status {status}"),
        };
        let refuse = |refusal| Attempt::Refused(refusal);
        match (status, retry_after) {
            (429 | 503, Some(seconds)) => Attempt::Asked(seconds, words),
            // A proxy may drop the header; a rate-limit window is a minute.
            (429, None) => Attempt::Asked(60, words),
            (408 | 500..=599, _) => Attempt::Failed(words),
            (400, _) if code == "invalid_cursor" => refuse(RequestError::Cursor),
            (400, _) if told.as_ref().is_some_and(|error| error.param == CREATED_SINCE) => {
                refuse(RequestError::Behind(words))
            }
            (401, _) => refuse(RequestError::GivenUp(format!(
                "{} does not take the token: it is wrong, expired or revoked; make one with `bursar token create` \
                 and run the same command with it{}",
                self.url, self.again
            ))),
            (403, _) => refuse(RequestError::Withheld(words)),
            (404, _) => refuse(RequestError::NotFound(words)),
            (300..=399, _) => refuse(RequestError::GivenUp(format!(
                "{} sends elsewhere{}; give --url the address itself",
                self.url,
                location.map_or_else(String::new, |place| format!(", to {place}"))
            ))),
            _ => refuse(RequestError::GivenUp(format!("{}: {words}", self.url))),
        }
    }
}

fn root_certificates(pem: &[u8]) -> Result<RootCerts, String> {
    let mut certificates = Vec::new();
    for item in ureq::tls::parse_pem(pem) {
        if let ureq::tls::PemItem::Certificate(certificate) =
            item.map_err(|error| format!("--ca is not PEM: {error}"))?
        {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err("--ca has no certificate in PEM".to_owned());
    }
    Ok(RootCerts::from(certificates))
}
