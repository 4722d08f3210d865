//! The demo's card provider, as browsers and bursar meet it.

use std::path::PathBuf;

use bursar::CardDesk;
use ureq::Agent;

use crate::api::world::World;
use crate::support::secret_key_file;

/// One that is on a port of its own.
pub(crate) fn desk(file: Option<PathBuf>) -> CardDesk {
    CardDesk::start("127.0.0.1:0".parse().unwrap(), file, 0).unwrap()
}

/// Begins a payment of a charge by command: the id, and the page to pay on.
pub(crate) fn start_payment(
    world: &World,
    desk: &CardDesk,
    (organization, payer): (&str, &str),
    charge: &str,
) -> (String, String) {
    let url = desk.url();
    let begun = world.run(&[
        "online",
        "start",
        "--organization",
        organization,
        "--member",
        payer,
        "--payment",
        charge,
        "--success-url",
        "https://club.example/",
        "--stripe-api",
        &url,
        "--secret-key-file",
        secret_key_file(),
    ]);
    let text = |name: &str| begun[name].as_str().unwrap().to_owned();
    (text("id"), text("url"))
}

/// What a call or a page answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) location: Option<String>,
    pub(crate) text: String,
}

pub(crate) fn agent() -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .build()
        .new_agent()
}

pub(crate) fn answer(sent: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Answer {
    let mut response = sent.unwrap();
    let location = response.headers().get("location");
    Answer {
        status: response.status().as_u16(),
        location: location.map(|value| value.to_str().unwrap().to_owned()),
        text: response.body_mut().read_to_string().unwrap(),
    }
}

/// The payer chooses this card on the page.
pub(crate) fn choose(page: &str, last4: &str) -> Answer {
    answer(agent().post(page).send_form([("card", last4)]))
}
