//! The only place that reads the system's clock, its randomness and the variables of switches; everything else is given
//! them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bursar_domain::Timestamp;
use bursar_domain::ids::IdSource;
use clap::Command;
use clap::builder::{FalseyValueParser, TypedValueParser};

#[expect(
    clippy::disallowed_methods,
    reason = "the edge reads the clock, once an act, and passes it on"
)]
pub(crate) fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// How long the machine has run, including sleep, whatever its wall clock is set to.
#[cfg(target_os = "linux")]
pub(crate) fn running() -> Duration {
    let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::try_from(uptime).unwrap_or_default()
}

/// Only Linux counts sleep.
#[cfg(not(target_os = "linux"))]
pub(crate) fn running() -> Duration {
    static STARTED: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    STARTED.get_or_init(std::time::Instant::now).elapsed()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the edge asks the system for randomness and passes it on"
)]
pub(crate) fn entropy<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no randomness: {error}"))?;
    Ok(bytes)
}

/// Whether a switch's variable says 0, false, no and the like.
#[expect(
    clippy::disallowed_methods,
    reason = "clap reads the variables of flags; this one it must not see"
)]
pub(crate) fn turns_off(variable: &str) -> bool {
    let said = std::env::var_os(variable);
    said.is_some_and(|said| {
        let is_on = FalseyValueParser::new().parse_ref(&Command::default(), None, &said);
        is_on.is_ok_and(|is_on| !is_on)
    })
}

pub(crate) fn ids() -> Result<IdSource, String> {
    Ok(IdSource::seeded(u64::from_le_bytes(entropy()?)))
}
