//! The list of all rules.

use crate::rule::Rule;
use crate::{
    act, activity, attachments, audit, backlog, books, campaigns, cards, chapters, check, copy, desk, dues,
    events, export, groups, housekeeping, import, inspect, journal_export, late_fees, member_access,
    member_page, member_statement, members, messages, notices, online, organizations, outbox, payments,
    policy, preview, privacy, pro_rata, reimbursements, reminders, reports, resources, roles, roster, setup,
    sign_in, statements, store, tokens, undo, uploads, webhooks, worker_clock,
};

const MODULES: &[&[&Rule]] = &[
    act::RULES,
    activity::RULES,
    attachments::RULES,
    audit::RULES,
    backlog::RULES,
    campaigns::RULES,
    books::accounts::RULES,
    books::count::RULES,
    books::credit::RULES,
    books::entries::RULES,
    books::periods::RULES,
    books::receipts::RULES,
    books::refunds::RULES,
    cards::RULES,
    chapters::RULES,
    check::RULES,
    copy::RULES,
    desk::RULES,
    dues::RULES,
    export::RULES,
    events::RULES,
    groups::RULES,
    housekeeping::RULES,
    import::RULES,
    inspect::RULES,
    journal_export::RULES,
    late_fees::RULES,
    member_access::RULES,
    member_page::RULES,
    member_statement::RULES,
    members::RULES,
    messages::RULES,
    notices::RULES,
    online::RULES,
    online::providers::RULES,
    online::autopay::RULES,
    organizations::RULES,
    outbox::RULES,
    payments::RULES,
    policy::RULES,
    privacy::RULES,
    pro_rata::RULES,
    reimbursements::RULES,
    reminders::RULES,
    preview::RULES,
    reports::RULES,
    resources::RULES,
    roles::RULES,
    roster::RULES,
    statements::RULES,
    setup::RULES,
    sign_in::RULES,
    store::RULES,
    tokens::RULES,
    undo::RULES,
    uploads::RULES,
    webhooks::RULES,
    worker_clock::RULES,
];

pub fn rules() -> impl Iterator<Item = &'static Rule> {
    MODULES.iter().copied().flatten().copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_operations_have_one_name() {
        let mut names = BTreeSet::new();
        for rule in rules() {
            assert!(names.insert(rule.name), "{} is in the list twice", rule.name);
        }
    }
}
