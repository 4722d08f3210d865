//! SMS by an HTTP provider with Twilio's API: a form with `To`, `From` and `Body`, posted with the account's token.

use std::fmt;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use ureq::Agent;

use super::outlet::{Fault, Undelivered};
use super::url::ServerUrl;

/// For the whole request and its response.
const TIMEOUT: Duration = Duration::from_secs(30);
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// The longest wait in seconds that a provider may ask for.
const RETRY_AFTER_MAX: i64 = 24 * 3_600;

pub struct Sms {
    agent: Agent,
    endpoint: String,
    authorization: String,
    from: String,
}

impl fmt::Debug for Sms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sms")
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

impl Sms {
    /// Parses `https://ACCOUNT:TOKEN@HOST/BASE`: messages are posted to
    /// `https://HOST/BASE/2010-04-01/Accounts/ACCOUNT/Messages.json`. `from` is the sender's number or name.
    pub fn parse(text: &str, from: &str) -> Result<Self, String> {
        let url = ServerUrl::parse(text)?;
        let is_safe = url.scheme == "https" || (url.scheme == "http" && url.is_local());
        if !is_safe || !url.query.is_empty() {
            return Err("must be https://ACCOUNT:TOKEN@HOST (http:// only to this machine)".into());
        }
        let (account, token) = url
            .credentials
            .ok_or("must have the account and its token: https://ACCOUNT:TOKEN@HOST")?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if account.is_empty() || !account.chars().all(is_plain) {
            return Err("must have an account of letters, digits, -, _ and . only".into());
        }
        let host = if url.host.contains(':') {
            format!("[{}]", url.host)
        } else {
            url.host
        };
        let port = url.port.map_or_else(String::new, |port| format!(":{port}"));
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("bursar/", env!("CARGO_PKG_VERSION")))
            .proxy(None)
            .build();
        Ok(Self {
            agent: config.new_agent(),
            endpoint: format!(
                "{}://{host}{port}{}/2010-04-01/Accounts/{account}/Messages.json",
                url.scheme, url.path
            ),
            authorization: format!("Basic {}", STANDARD.encode(format!("{account}:{token}"))),
            from: from.to_owned(),
        })
    }

    /// Requests the account itself, which sends nothing. Returns the status.
    pub fn check(&self) -> Result<u16, String> {
        let account = self.endpoint.trim_end_matches("/Messages.json");
        let asked = self
            .agent
            .get(format!("{account}.json"))
            .header("Authorization", &self.authorization)
            .header("Accept", "application/json")
            .call();
        match asked {
            Ok(response) => Ok(response.status().as_u16()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Returns the provider's reply.
    pub fn send(&self, to: &str, text: &str) -> Result<String, Undelivered> {
        let sent = self
            .agent
            .post(&self.endpoint)
            .header("Authorization", &self.authorization)
            .header("Accept", "application/json")
            .send_form([("To", to), ("From", self.from.as_str()), ("Body", text)]);
        let unreachable = |error| Undelivered::new(Fault::Unreachable, format!("the SMS provider: {error}"));
        let mut response = sent.map_err(unreachable)?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse::<i64>().ok())
            .filter(|seconds| *seconds >= 0)
            .map(|seconds| seconds.min(RETRY_AFTER_MAX));
        let body = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES_MAX)
            .lossy_utf8(true)
            .read_to_string()
            // The status alone decides about delivery, so an incomplete body is fine.
            .unwrap_or_default();
        let answer = format!("{status} {}", words(&body)).trim_end().to_owned();
        match status {
            200..=299 => Ok(answer),
            _ => Err(Undelivered {
                retry_after_seconds: retry_after,
                ..Undelivered::new(fault_of(status), answer)
            }),
        }
    }
}

/// 429, 408 and server errors are temporary. A refused token must be fixed by the operator
/// and says nothing about the message.
const fn fault_of(status: u16) -> Fault {
    match status {
        401 => Fault::Login,
        408 | 429 | 500..=599 => Fault::Passing,
        _ => Fault::Final,
    }
}

/// `SM… queued`, or `21211: The 'To' number is not valid`.
fn words(body: &str) -> String {
    let Ok(answer) = serde_json::from_str::<Value>(body) else {
        return body.chars().take(200).collect();
    };
    let text = |key: &str| answer[key].as_str().map(str::to_owned);
    if let Some(message) = text("message") {
        return match answer["code"].as_i64() {
            Some(code) => format!("{code}: {message}"),
            None => message,
        };
    }
    [text("sid"), text("status")]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let sms = Sms::parse("https://AC1:s%2Fecret@sms.example.org/twilio/", "+12025550100").unwrap();
        assert_eq!(
            sms.endpoint,
            "https://sms.example.org/twilio/2010-04-01/Accounts/AC1/Messages.json"
        );
        assert_eq!(sms.authorization, "Basic QUMxOnMvZWNyZXQ=");
        assert!(!format!("{sms:?}").contains("ecret"));
        for bad in [
            "http://AC1:t@sms.example.org",
            "https://sms.example.org",
            "https://A%2F..:t@sms.example.org",
            "https://AC1:t@sms.example.org?x=1",
        ] {
            assert!(Sms::parse(bad, "x").is_err(), "{bad}");
        }
    }

    #[test]
    fn answers() {
        assert_eq!(words(r#"{"sid":"SM1","status":"queued"}"#), "SM1 queued");
        assert_eq!(
            words(r#"{"code":21211,"message":"bad number"}"#),
            "21211: bad number"
        );
        assert_eq!(words("<html>"), "<html>");
    }
}
