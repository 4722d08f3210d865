//! The list of all rules: every operation, whoever may call it.

use crate::rule::Rule;
use crate::{
    backlog, campaigns, cards, chapters, dues, groups, housekeeping, members, messages, notices, outbox,
    payments, reimbursements, reminders, reports, resources, roster, store, undo, worker_clock,
};

/// The rules of each module, by the module's name.
const MODULES: &[&[&Rule]] = &[
    backlog::RULES,
    campaigns::RULES,
    cards::RULES,
    chapters::RULES,
    dues::RULES,
    groups::RULES,
    housekeeping::RULES,
    members::RULES,
    messages::RULES,
    notices::RULES,
    outbox::RULES,
    payments::RULES,
    reimbursements::RULES,
    reminders::RULES,
    reports::RULES,
    resources::RULES,
    roster::RULES,
    store::RULES,
    undo::RULES,
    worker_clock::RULES,
];

/// Every rule, module by module.
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
