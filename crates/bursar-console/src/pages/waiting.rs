//! Needs attention for an officer, in words.

use bursar_app::desk::Waiting;
use bursar_app::resources::Readable;
use bursar_app::{Rule, messages, online, statements, tokens};
use bursar_domain::access::Role;
use bursar_domain::reimbursement::Reimbursement;

use crate::words;

/// Where it is in the organization, and what there is to do. Each is for those who may read that list.
pub(crate) fn words(waiting: Waiting, role: Role) -> Vec<(&'static str, String)> {
    let all: [(i64, &Rule, _, _, _); 7] = [
        (
            waiting.submitted,
            &Reimbursement::READ,
            ("reimbursement", "reimbursements"),
            "reimbursements",
            "to approve",
        ),
        (
            waiting.lines,
            &statements::READ,
            ("bank statement line", "bank statement lines"),
            "bank/open",
            "to match",
        ),
        (
            waiting.disputes,
            &online::READ,
            ("dispute of a card payment", "disputes of card payments"),
            "online/disputes",
            "to respond to",
        ),
        (
            waiting.stuck,
            &online::READ,
            ("card payment", "card payments"),
            "online?show=problem",
            "with a problem",
        ),
        (
            waiting.unasked,
            &online::providers::SHOW,
            ("payment provider", "payment providers"),
            "provider",
            "that cannot be asked",
        ),
        (
            waiting.failed,
            &messages::LIST,
            ("message", "messages"),
            "reminders?show=failed",
            "not delivered in the last 30 days",
        ),
        (
            waiting.expiring,
            &tokens::LIST_ALL,
            ("token", "tokens"),
            "tokens",
            "to rotate within 14 days",
        ),
    ];
    let may = |rule: &Rule| rule.person.is_some_and(|least| role >= least);
    let shown = all
        .into_iter()
        .filter(|(count, rule, ..)| *count > 0 && may(rule));
    shown
        .map(|(count, _, (one, many), end, what)| {
            let count = usize::try_from(count).unwrap_or(0);
            (end, format!("{} {what}", words::count(count, one, many)))
        })
        .collect()
}
