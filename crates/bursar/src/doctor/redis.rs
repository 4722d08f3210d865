//! Redis: whether it responds and supports what rate limits need.

use std::time::Duration;

use bursar_http::limits::{RedisOptions, probe};

use super::{Finding, Setup};

const CHECK: &str = "redis";
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn check(setup: &Setup<'_>) -> Finding {
    let Some(url) = &setup.serve.redis else {
        return Finding::not_configured(
            CHECK,
            "rate limits are counted in the process; enough for one server",
        );
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let seen = match runtime {
        Ok(runtime) => runtime.block_on(probe(url, TIMEOUT)),
        Err(error) => Err(error.to_string()),
    };
    let deadline = RedisOptions::default().deadline;
    match seen {
        Ok(seen) if seen.charge > deadline => Finding::warning(
            CHECK,
            format!(
                "Redis {} takes {} ms for a count, and a request waits {} ms",
                seen.version,
                seen.charge.as_millis(),
                deadline.as_millis()
            ),
            "move it closer: slow counts fall back to this process alone",
        ),
        Ok(seen) => Finding::ok(
            CHECK,
            format!("Redis {} responds and counts requests", seen.version),
        ),
        Err(why) => Finding::problem(
            CHECK,
            why,
            "start it, or correct --redis; until then each server counts separately",
        ),
    }
}
