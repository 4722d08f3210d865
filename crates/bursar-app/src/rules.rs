//! The list of all rules: every operation, whoever may call it.

use crate::groups;
use crate::rule::Rule;

/// The rules of each module, by the module's name.
const MODULES: &[&[&Rule]] = &[groups::RULES];

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
