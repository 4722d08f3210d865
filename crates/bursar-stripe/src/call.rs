//! One call of Stripe's API: a form in, JSON out, within limits.

use std::time::Duration;

use bursar_app::online::port::{Access, Trouble};
use serde_json::Value;
use ureq::http::Response;
use ureq::{Agent, Body, Error};
use url::Url;
use url::form_urlencoded::Serializer;

use crate::{API, DEMO_KEY};

/// For the whole call.
const TIMEOUT: Duration = Duration::from_secs(20);
/// More of a response is not read.
const ANSWER_BYTES_MAX: u64 = 4 << 20;
/// The objects of this version are the ones that are read here.
const VERSION: &str = "2024-06-20";
/// Characters of Stripe's words that are kept.
const WORDS_MAX: usize = 300;

#[derive(Debug, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.0.push((name.to_owned(), value.to_owned()));
    }

    fn encoded(&self) -> String {
        let mut encoded = Serializer::new(String::new());
        encoded.extend_pairs(&self.0);
        encoded.finish()
    }
}

/// An address that may stand in for Stripe's. Keys are not sent in the clear, except to this machine.
pub fn parse_base(text: &str) -> Result<String, String> {
    let rule = "must be an https address, or http on this machine, such as http://127.0.0.1:8420";
    let url = Url::parse(text).map_err(|_| rule.to_owned())?;
    let is_here = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let is_plain = url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    match url.scheme() {
        "https" if is_plain => {}
        "http" if is_plain && is_here => {}
        _ => return Err(rule.to_owned()),
    }
    Ok(text.trim_end_matches('/').to_owned())
}

#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    base: String,
}

impl Client {
    pub(crate) fn new(base: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(TIMEOUT))
            .user_agent(concat!("bursar/", env!("CARGO_PKG_VERSION")))
            .proxy(None)
            .build();
        Self {
            agent: config.new_agent(),
            base: base.trim_end_matches('/').to_owned(),
        }
    }

    /// A key of the demo is good for the demo's own provider only.
    fn check(&self, access: &Access) -> Result<(), Trouble> {
        match self.base == API && access.key.starts_with(DEMO_KEY) {
            true => Err(Trouble::Unavailable(
                "the card payments of the demo need `bursar demo` to be running".to_owned(),
            )),
            false => Ok(()),
        }
    }

    pub(crate) fn get(&self, access: &Access, path: &str, query: &Form) -> Result<Value, Trouble> {
        self.check(access)?;
        let query = query.encoded();
        let url = match query.is_empty() {
            true => format!("{}{path}", self.base),
            false => format!("{}{path}?{query}", self.base),
        };
        let sent = self
            .agent
            .get(url)
            .header("authorization", bearer(access))
            .header("stripe-version", VERSION)
            .call();
        read(sent)?.good(path)
    }

    /// Two calls with one key are one.
    pub(crate) fn post(&self, access: &Access, path: &str, form: &Form, key: &str) -> Result<Value, Trouble> {
        self.post_for(access, path, form, key)?.good(path)
    }

    /// The same for a call whose refusal says more than words.
    pub(crate) fn post_for(
        &self,
        access: &Access,
        path: &str,
        form: &Form,
        key: &str,
    ) -> Result<Answer, Trouble> {
        self.check(access)?;
        let sent = self
            .agent
            .post(format!("{}{path}", self.base))
            .header("authorization", bearer(access))
            .header("stripe-version", VERSION)
            .header("idempotency-key", key)
            .header("content-type", "application/x-www-form-urlencoded")
            .send(form.encoded());
        read(sent)
    }
}

fn bearer(access: &Access) -> String {
    format!("Bearer {}", access.key)
}

/// What Stripe answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Null if it is no JSON.
    pub(crate) value: Value,
}

fn read(sent: Result<Response<Body>, Error>) -> Result<Answer, Trouble> {
    let mut response = match sent {
        Ok(response) => response,
        Err(Error::Timeout(_)) => {
            let seconds = TIMEOUT.as_secs();
            return Err(Trouble::Unavailable(format!(
                "Stripe did not respond within {seconds} seconds"
            )));
        }
        Err(error) => {
            return Err(Trouble::Unavailable(format!("Stripe cannot be reached: {error}")));
        }
    };
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(ANSWER_BYTES_MAX);
    let text = body
        .read_to_string()
        .map_err(|error| Trouble::Unavailable(format!("Stripe's response cannot be read: {error}")))?;
    Ok(Answer {
        status,
        value: serde_json::from_str(&text).unwrap_or_default(),
    })
}

impl Answer {
    /// Why it was refused, in Stripe's words.
    pub(crate) fn words(&self) -> String {
        let words = self.value["error"]["message"]
            .as_str()
            .unwrap_or("no reason given");
        words
            .chars()
            .filter(|c| !c.is_control())
            .take(WORDS_MAX)
            .collect()
    }

    pub(crate) fn is_missing(&self) -> bool {
        self.value["error"]["code"] == "resource_missing"
    }

    pub(crate) fn good(self, path: &str) -> Result<Value, Trouble> {
        if (200..300).contains(&self.status) && self.value.is_object() {
            return Ok(self.value);
        }
        let (status, words) = (self.status, self.words());
        let told = format!("Stripe returned {status} for {path}: {words}");
        Err(match status {
            401 => Trouble::Refused(
                "Stripe does not accept the key; set another with `bursar provider set`".to_owned(),
            ),
            403 => Trouble::Refused(format!(
                "the key may not use {path}; give it that permission in the Stripe dashboard ({words})"
            )),
            // A conflict of two calls with one key, too many calls, or trouble at Stripe.
            409 | 424 | 429 | 500..=599 => Trouble::Unavailable(told),
            _ => Trouble::Refused(told),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_keys_may_go() {
        for good in [
            "https://api.stripe.com",
            "http://127.0.0.1:8420/",
            "http://localhost:1",
        ] {
            parse_base(good).unwrap();
        }
        for bad in [
            "http://api.stripe.com",
            "https://a@api.stripe.com",
            "api.stripe.com",
            "ftp://127.0.0.1",
            "https://api.stripe.com/?a=b",
        ] {
            parse_base(bad).unwrap_err();
        }
    }

    #[test]
    fn stripe_gets_no_key_of_the_demo() {
        let access = Access {
            kind: bursar_domain::online::ProviderKind::Stripe,
            key: format!("{DEMO_KEY}org_1"),
        };
        let asked = Client::new(API).get(&access, "/v1/balance", &Form::default());
        let Err(Trouble::Unavailable(why)) = asked else {
            panic!("{asked:?}");
        };
        assert!(why.contains("`bursar demo`"), "{why}");
    }

    #[test]
    fn forms_are_encoded() {
        let mut form = Form::default();
        form.add("line_items[0][name]", "Dues & more é");
        assert_eq!(form.encoded(), "line_items%5B0%5D%5Bname%5D=Dues+%26+more+%C3%A9");
    }
}
