//! What waits for an officer, in words.

use bursar_app::desk::Waiting;
use bursar_app::tokens;
use bursar_domain::access::Role;

use crate::words;

/// Where it is in the organization, and what there is to do.
pub(crate) fn words(waiting: Waiting, role: Role) -> Vec<(&'static str, String)> {
    let sees_tokens = tokens::LIST_ALL.person.is_some_and(|least| role >= least);
    let all = [
        (
            waiting.submitted,
            ("reimbursement", "reimbursements"),
            "reimbursements",
            "to approve",
        ),
        (
            waiting.lines,
            ("bank statement line", "bank statement lines"),
            "bank",
            "to match",
        ),
        (
            waiting.failed,
            ("message", "messages"),
            "reminders",
            "not delivered in the last 30 days",
        ),
        (
            if sees_tokens { waiting.expiring } else { 0 },
            ("token", "tokens"),
            "tokens",
            "to rotate within 14 days",
        ),
    ];
    let told = |(count, (one, many), end, what): (i64, (&str, &str), &'static str, &str)| {
        let count = usize::try_from(count).unwrap_or(0);
        (count > 0).then(|| (end, format!("{} {what}", words::count(count, one, many))))
    };
    all.into_iter().filter_map(told).collect()
}
