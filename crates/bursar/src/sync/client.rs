//! Requests to a bursar server: what is tried again, how often, and what each refusal means for whoever asked.

use std::fmt;
use std::time::Duration;

use bursar_domain::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

use super::backoff;
use super::{Event, Watch};

/// For a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// For a request and its whole answer.
const TIMEOUT: Duration = Duration::from_secs(60);
/// More than a hundred rows of the longest text can take.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// How often in a row a server may ask to wait.
const ASKED_MAX: u32 = 60;

/// Where a client asks, as whom, and what it takes from outside.
pub(crate) struct Settings {
    /// The server's address, without a slash at its end.
    pub(crate) url: String,
    pub(crate) token: String,
    /// How often a request is tried.
    pub(crate) attempts: u32,
    /// Certificates in PEM to trust instead of the public ones.
    pub(crate) ca: Option<Vec<u8>>,
    pub(crate) random: fastrand::Rng,
    pub(crate) clock: fn() -> Timestamp,
}

/// A server, asked as one token.
pub(crate) struct Client {
    agent: Agent,
    url: String,
    authorization: String,
    attempts: u32,
    random: fastrand::Rng,
    clock: fn() -> Timestamp,
    pub(super) counts: Counts,
}

/// What was asked and waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) requests: u64,
    pub(super) waits: u64,
    pub(super) waited: Duration,
}

impl Counts {
    /// What came on top since then.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            requests: self.requests - before.requests,
            waits: self.waits - before.waits,
            waited: self.waited.saturating_sub(before.waited),
        }
    }
}

/// Why there is no answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RequestError {
    /// 400 `invalid_cursor`.
    Cursor,
    /// 403: the token may not.
    Withheld(String),
    /// 404.
    NotFound(String),
    /// Nothing more can be done now; how to go on.
    GivenUp(String),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cursor => f.write_str("the server does not take its own cursor"),
            Self::Withheld(why) | Self::NotFound(why) | Self::GivenUp(why) => f.write_str(why),
        }
    }
}

/// What one attempt came to.
enum Attempt<T> {
    Answered(T),
    Refused(RequestError),
    /// May pass by itself.
    Failed(String),
    /// The server asks to wait so many seconds.
    Asked(u64, String),
}

/// An error as every bursar tells it.
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
}

impl Client {
    pub(crate) fn new(settings: Settings) -> Result<Self, String> {
        let mut tls = TlsConfig::builder();
        if let Some(pem) = &settings.ca {
            tls = tls.root_certs(root_certificates(pem)?);
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the token to wherever it points.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_connect(Some(CONNECT_TIMEOUT))
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("bursar-sync/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls.build())
            .build();
        Ok(Self {
            agent: config.new_agent(),
            authorization: format!("Bearer {}", settings.token),
            url: settings.url,
            attempts: settings.attempts,
            random: settings.random,
            clock: settings.clock,
            counts: Counts::default(),
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Asks until there is an answer, a refusal, or no hope of either.
    pub(super) fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        watch: &mut Watch<'_>,
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
            watch(Event::Waiting(pause, &why));
            self.counts.waits += 1;
            self.counts.waited += pause;
            std::thread::sleep(pause);
        }
    }

    fn given_up(&self, why: &str) -> RequestError {
        RequestError::GivenUp(format!(
            "{}: {why}; run the same command again later, it goes on where it stopped",
            self.url
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
        let body = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES_MAX)
            .read_to_vec();
        let body = match body {
            Ok(body) => body,
            Err(error) => return Attempt::Failed(format!("the answer broke off ({error})")),
        };
        if status == 200 {
            return match serde_json::from_slice(&body) {
                Ok(answer) => Attempt::Answered(answer),
                Err(error) => Attempt::Failed(format!(
                    "an answer that is not a bursar's, or that broke off ({error})"
                )),
            };
        }
        self.refused(status, retry_after, location, &body)
    }

    /// A request that got no answer. A mistake of ours or of the configuration does not pass by itself.
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
            _ => Attempt::Failed(format!("no answer ({error})")),
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
            // A proxy may leave the header out; the window of a rate is a minute.
            (429, None) => Attempt::Asked(60, words),
            (408 | 500..=599, _) => Attempt::Failed(words),
            (400, _) if code == "invalid_cursor" => refuse(RequestError::Cursor),
            (401, _) => refuse(RequestError::GivenUp(format!(
                "{} does not take the token: it is wrong, expired or revoked; make one with `bursar token create` \
                 and run the same command with it, it goes on where it stopped",
                self.url
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
