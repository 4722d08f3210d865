//! Reports to bursar that something happened, signed as Stripe signs them.

use std::time::Duration;

use bursar_stripe::signature;
use bursar_worker::Heard;
use ureq::Agent;

use super::state::Hook;
use super::{Counter, TICK};
use crate::ambient;

/// After so many tries a report is dropped. bursar asks by itself, later.
const TRIES_MAX: u32 = 8;
const TIMEOUT: Duration = Duration::from_secs(5);

impl Counter {
    /// Does what is due and sends reports, until the provider ends.
    pub(super) fn keep_reporting(&self) {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(TIMEOUT))
            .proxy(None)
            .build()
            .new_agent();
        let mut heard = Heard::default();
        while !self.bell.is_over() {
            // What happened before bursar serves is played, and its time comes by itself.
            if let Some((_, base)) = self.site.get() {
                self.tick();
                while !self.bell.is_over() && self.send_one(&agent, base) {}
            }
            self.bell.wait(&mut heard, TICK);
        }
    }

    /// Returns whether there was something to send.
    fn send_one(&self, agent: &Agent, base: &str) -> bool {
        let now = self.now();
        let mut state = self.state();
        let due = state.accounts.iter().find_map(|(key, account)| {
            let report = account.reports.front().filter(|report| report.at <= now)?;
            Some((key.clone(), account.hook.clone()?, report.body.to_string()))
        });
        let Some((key, hook, body)) = due else {
            return false;
        };
        drop(state);
        let is_taken = post(agent, base, &hook, &body);
        state = self.state();
        if let Some(account) = state.accounts.get_mut(&key)
            && let Some(mut report) = account.reports.pop_front()
        {
            report.tries += 1;
            report.at = now + (1 << report.tries);
            if !is_taken && report.tries < TRIES_MAX {
                account.reports.push_back(report);
            }
        }
        self.save(&state);
        true
    }
}

fn post(agent: &Agent, base: &str, hook: &Hook, body: &str) -> bool {
    let seconds = ambient::now().micros().div_euclid(1_000_000);
    let Some(signed) = signature::sign(body.as_bytes(), &hook.secret, seconds) else {
        return false;
    };
    let sent = agent
        .post(format!("{base}{}", hook.path))
        .header("content-type", "application/json")
        .header(signature::HEADER, signed)
        .send(body);
    sent.is_ok_and(|response| response.status().is_success())
}
