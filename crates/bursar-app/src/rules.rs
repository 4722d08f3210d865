//! The list of all rules: every operation, whoever may call it.

use crate::rule::Rule;
use crate::{
    campaigns, cards, groups, members, payments, reimbursements, reports, resources, roster, store, undo,
};

/// The rules of each module, by the module's name.
const MODULES: &[&[&Rule]] = &[
    campaigns::RULES,
    cards::RULES,
    groups::RULES,
    members::RULES,
    payments::RULES,
    reimbursements::RULES,
    reports::RULES,
    resources::RULES,
    roster::RULES,
    store::RULES,
    undo::RULES,
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
