//! The system's limits on us, and our rate limits on clients.

use bursar_http::listen;

use super::{Finding, Setup, span};
use crate::open_files;

/// Less than one read a second delays even a single well-behaved client.
const READS_LOW: u32 = 60;

pub(super) fn check(setup: &Setup<'_>) -> Vec<Finding> {
    let serve = setup.serve;
    let wanted = listen::Options::default().connections_max as u64 + open_files::beside(serve);
    let kept = |seconds| {
        span(std::time::Duration::from_secs(
            u64::try_from(seconds).unwrap_or(0),
        ))
    };
    vec![
        // A server raises its limit to the maximum when it starts.
        files(open_files::allowed(), wanted),
        rates(
            serve.rate_limit_read,
            serve.rate_limit_write,
            serve.rate_limit_messaging,
        ),
        Finding::ok(
            "retention",
            format!(
                "idempotency records {}, texts of messages {}, events {}",
                kept(serve.send.idempotency_retention),
                kept(serve.send.message_retention),
                kept(serve.send.event_retention)
            ),
        ),
    ]
}

fn files(allowed: Option<u64>, wanted: u64) -> Finding {
    let Some(allowed) = allowed else {
        return Finding::ok("open files", "no limit");
    };
    let found = format!("limit {allowed}; {wanted} needed at full load");
    match allowed {
        0..256 => Finding::problem(
            "open files",
            found,
            format!("raise the hard limit to {wanted}: ulimit -Hn, or LimitNOFILE= in the unit"),
        ),
        _ if allowed < wanted => Finding::warning(
            "open files",
            found,
            format!("raise the hard limit to {wanted}: ulimit -Hn, or LimitNOFILE= in the unit"),
        ),
        _ => Finding::ok("open files", found),
    }
}

fn rates(read: u32, write: u32, messaging: u32) -> Finding {
    let found = format!("{read} reads, {write} writes, {messaging} messages a minute for each token");
    if read < READS_LOW {
        return Finding::warning(
            "rate limits",
            found,
            "raise --rate-limit-read to 60 or more: a chapter's roster costs 4 a page",
        );
    }
    Finding::ok("rate limits", found)
}

#[cfg(test)]
mod tests {
    use super::super::Status;
    use super::*;

    #[test]
    fn limits_are_judged() {
        for (allowed, status) in [
            (None, Status::Ok),
            (Some(20_000), Status::Ok),
            (Some(1_024), Status::Warning),
            (Some(64), Status::Problem),
        ] {
            assert_eq!(files(allowed, 10_088).status, status, "{allowed:?}");
        }
        assert_eq!(rates(600, 120, 20).status, Status::Ok);
        assert_eq!(rates(59, 120, 20).status, Status::Warning);
    }
}
