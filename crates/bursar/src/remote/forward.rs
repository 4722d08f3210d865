//! Sends an event to a receiver as the webhooks of a server do.

use std::time::{Duration, Instant};

use bursar_domain::Timestamp;
use bursar_domain::webhook::signing::{ID_HEADER, SIGNATURE_HEADER, Secret, TIMESTAMP_HEADER, signatures};
use ureq::Agent;

use super::Told;

/// As for a delivery: from the look-up of the name to the last byte of the response.
const TIMEOUT: Duration = Duration::from_secs(15);
/// The receiver's response is read up to here and dropped.
const RESPONSE_BYTES_MAX: u64 = 64 << 10;

pub(crate) struct Forwarder {
    agent: Agent,
    url: String,
    /// All of them sign.
    secrets: Vec<Secret>,
}

pub(crate) struct Forwarded {
    /// The status, or why there was no response.
    pub(crate) status: Result<u16, String>,
    pub(crate) took: Duration,
}

impl Forwarder {
    pub(crate) fn new(url: &str, secrets: Vec<Secret>) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("bursar/", env!("CARGO_PKG_VERSION")))
            .build();
        Self {
            agent: config.new_agent(),
            url: url.to_owned(),
            secrets,
        }
    }

    pub(crate) fn send(&self, told: &Told<'_>, now: Timestamp) -> Forwarded {
        let (id, seconds) = (&told.envelope.id, now.micros().div_euclid(1_000_000));
        let started = Instant::now();
        let sent = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header(ID_HEADER, id)
            .header(TIMESTAMP_HEADER, seconds.to_string())
            .header(
                SIGNATURE_HEADER,
                signatures(&self.secrets, id, seconds, told.text.as_bytes()),
            )
            .send(told.text);
        let status = match sent {
            Ok(mut response) => {
                let body = response.body_mut().with_config().limit(RESPONSE_BYTES_MAX);
                // A longer one is as good.
                match body.read_to_vec() {
                    Err(error) if !matches!(error, ureq::Error::BodyExceedsLimit(_)) => {
                        Err(error.to_string())
                    }
                    _ => Ok(response.status().as_u16()),
                }
            }
            Err(error) => Err(error.to_string()),
        };
        Forwarded {
            status,
            took: started.elapsed(),
        }
    }
}
