//! `bursar doctor`: examines everything that a server with these settings would use, changes nothing, and gives
//! advice. A check is a small function that returns findings; none stops the others.

mod address;
mod clock;
mod database;
mod disk;
mod files;
mod limits;
mod redis;
mod send;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use bursar_app::DatabaseUrl;
use bursar_domain::Timestamp;
use serde::Serialize;

use crate::cli::serve::ServeArgs;
use crate::cli::worker::outbox_folder;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Status {
    Ok,
    /// It works, but something should be known or changed.
    Warning,
    /// A server with these settings would not start, or not do its work.
    Problem,
    NotConfigured,
}

impl Status {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::NotConfigured => "not set",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) check: &'static str,
    pub(crate) status: Status,
    pub(crate) found: String,
    pub(crate) advice: Option<String>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            check,
            status: Status::Ok,
            found: found.into(),
            advice: None,
        }
    }

    fn not_configured(check: &'static str, found: impl Into<String>) -> Self {
        Self {
            status: Status::NotConfigured,
            ..Self::ok(check, found)
        }
    }

    fn warning(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            status: Status::Warning,
            advice: Some(advice.into()),
            ..Self::ok(check, found)
        }
    }

    fn problem(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            status: Status::Problem,
            ..Self::warning(check, found, advice)
        }
    }
}

pub(crate) struct Setup<'a> {
    pub(crate) database: &'a str,
    pub(crate) serve: &'a ServeArgs,
    pub(crate) now: Timestamp,
}

impl Setup<'_> {
    fn url(&self) -> Option<DatabaseUrl> {
        self.database.parse().ok()
    }

    fn database_file(&self) -> Option<PathBuf> {
        match self.url()? {
            DatabaseUrl::Sqlite(path) => Some(path),
            DatabaseUrl::Postgres(_) => None,
        }
    }

    fn outbox(&self) -> PathBuf {
        self.url()
            .map_or_else(|| PathBuf::from("outbox"), |url| outbox_folder(&url))
    }

    fn uses_outbox(&self) -> bool {
        let send = &self.serve.send;
        !self.serve.no_worker && (!matches!(send.smtp(), Ok(Some(_))) || !matches!(send.sms(), Ok(Some(_))))
    }
}

/// In the order in which a server would need them.
pub(crate) fn examine(setup: &Setup<'_>) -> Vec<Finding> {
    let (mut findings, app) = database::check(setup);
    findings.extend(clock::check(setup, app.as_ref()));
    findings.extend(disk::check(setup));
    findings.extend(files::check(setup));
    findings.extend(address::check(setup));
    findings.extend(limits::check(setup));
    findings.push(redis::check(setup));
    findings.extend(send::check(setup));
    findings.extend(work::check(setup, app.as_ref()));
    if let Some(app) = app {
        app.shutdown();
    }
    findings
}

/// `3.2 GiB`.
fn bytes(count: u64) -> String {
    let mut units = ["bytes", "KiB", "MiB", "GiB", "TiB"].into_iter();
    let (mut unit, mut tenths) = (units.next().unwrap_or_default(), count.saturating_mul(10));
    for larger in units {
        if tenths < 10_240 {
            break;
        }
        (unit, tenths) = (larger, tenths / 1_024);
    }
    match tenths % 10 {
        0 => format!("{} {unit}", tenths / 10),
        tenth => format!("{}.{tenth} {unit}", tenths / 10),
    }
}

/// `3 days`, `2 h`, `5 min`, `12 s`.
fn span(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds @ 7_200..172_800 => format!("{} h", seconds / 3_600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// Zero if `later` is before `earlier`.
fn between(earlier: Timestamp, later: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(later.micros().saturating_sub(earlier.micros())).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_for_people() {
        for (count, text) in [
            (0, "0 bytes"),
            (1_023, "1023 bytes"),
            (1_024, "1 KiB"),
            (1_600, "1.5 KiB"),
            (64 << 20, "64 MiB"),
            (u64::MAX, "1677721.5 TiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
        for (seconds, text) in [
            (0, "0 s"),
            (119, "119 s"),
            (120, "2 min"),
            (7_200, "2 h"),
            (172_800, "2 days"),
        ] {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
    }
}
