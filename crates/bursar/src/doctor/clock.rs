//! Clocks: this machine's, the database server's, and the change clocks.

use std::time::Duration;

use bursar_app::{App, AppError, Identity, worker_clock};
use bursar_domain::Timestamp;
use bursar_worker::guard::{self, Doubt};

use super::{Finding, Setup, between, span};
use crate::ambient;

/// 2026-01-01: no bursar ran before this.
const BEGINNING: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
/// A larger difference is reported.
const APART_MAX: Duration = Duration::from_secs(2);
/// A larger difference moves due dates and expiries.
const APART_BADLY: Duration = Duration::from_secs(60);
/// A change clock is a little ahead after a large import.
const AHEAD_MAX: Duration = Duration::from_secs(60);

pub(super) fn check(setup: &Setup<'_>, app: Option<&App>) -> Vec<Finding> {
    if setup.now < BEGINNING {
        return vec![Finding::problem(
            "clock",
            format!("this machine says that it is {}", setup.now.date()),
            "set the clock, by NTP: expiries, due dates and reminders go by it",
        )];
    }
    let mut findings = Vec::new();
    if let Some(app) = app {
        findings.extend(of_server(app));
        findings.extend(of_worker(app, setup));
        findings.extend(of_changes(app, setup.now));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("clock", "no clock is ahead of another"));
    }
    findings
}

fn of_server(app: &App) -> Option<Finding> {
    let before = ambient::now();
    let known = app.survey::<_, AppError>(Identity::Operator, worker_clock::known);
    let (server, after) = (known.ok()?.server_now?, ambient::now());
    // The server's clock was read at some moment in between.
    let apart = between(server, before).max(between(after, server));
    let found = format!("the database server's clock is {} off from this one", span(apart));
    let advice = "set both by NTP";
    match apart {
        apart if apart > APART_BADLY => Some(Finding::problem("clock", found, advice)),
        apart if apart > APART_MAX => Some(Finding::warning("clock", found, advice)),
        _ => None,
    }
}

/// The last time that a worker trusted. Reports nothing that the other checks found.
fn of_worker(app: &App, setup: &Setup<'_>) -> Option<Finding> {
    let known = app.survey::<_, AppError>(Identity::Operator, worker_clock::known);
    match guard::doubt(setup.now, None, &known.ok()?, setup.serve.send.clock_tolerance)? {
        doubt @ (Doubt::Ahead(_) | Doubt::Behind(_)) => Some(Finding::problem(
            "clock",
            format!("automatic work waits, because this clock is not trusted: {doubt}"),
            "set the clock by NTP; if it is right, run `bursar clock --accept`",
        )),
        Doubt::Server(_) | Doubt::Leapt(_) | Doubt::BehindChanges(_) => None,
    }
}

fn of_changes(app: &App, now: Timestamp) -> Option<Finding> {
    let furthest = app.survey::<_, AppError>(Identity::Operator, worker_clock::furthest_change);
    let (organization, at) = furthest.ok()??;
    let ahead = between(now, at);
    (ahead > AHEAD_MAX).then(|| {
        Finding::warning(
            "clock",
            format!(
                "the last change of {organization} is stamped {} ahead of this machine's clock",
                span(ahead)
            ),
            "set the clock by NTP: it is behind now, or was ahead once; changes count on from there and none is lost",
        )
    })
}
