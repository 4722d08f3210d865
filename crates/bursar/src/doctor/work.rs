//! The worker's backlog, failed messages, and tokens that expire soon.

use std::time::Duration;

use bursar_app::backlog::{self, Report};
use bursar_app::{App, AppError, Identity};

use super::{Finding, Setup, between, span};

/// A worker starts due work within seconds.
const LATE: Duration = Duration::from_secs(600);
/// How long before its expiry a token's owner is notified.
const NOTICE_DAYS: i64 = 14;
/// How far back failures are reported.
const FAILED_DAYS: i64 = 7;

pub(super) fn check(setup: &Setup<'_>, app: Option<&App>) -> Vec<Finding> {
    let Some(app) = app else {
        return Vec::new();
    };
    let now = setup.now;
    let seen = app.survey::<_, AppError>(Identity::Operator, |whole| {
        backlog::report(whole, FAILED_DAYS, NOTICE_DAYS)
    });
    let Report {
        waiting,
        failed,
        expiring: (expiring, first),
    } = match seen {
        Ok(seen) => seen,
        Err(error) => {
            return vec![Finding::problem(
                "worker",
                error.to_string(),
                "see what is said of the database above",
            )];
        }
    };
    let mut findings = Vec::new();
    let late = waiting.since.map_or(Duration::ZERO, |since| between(since, now));
    findings.push(if late > LATE {
        Finding::warning(
            "worker",
            format!("due and not sent: {}, the first for {}", waiting.count, span(late)),
            "run `bursar serve` without --no-worker, or `bursar worker`; `bursar messages` says what went wrong",
        )
    } else {
        Finding::ok("worker", "nothing is late")
    });
    if failed > 0 {
        findings.push(Finding::warning(
            "messages",
            format!("given up in the last {FAILED_DAYS} days: {failed}"),
            "`bursar messages --organization ORG` says why; `--retry ID` sends one again",
        ));
    }
    if let Some(first) = first {
        findings.push(Finding::warning(
            "tokens",
            format!(
                "expiring within {NOTICE_DAYS} days: {expiring}, the first in {}",
                span(between(now, first))
            ),
            "`bursar token list --organization ORG` names them; rotate service tokens, make new personal ones",
        ));
    }
    findings
}
