//! Accounts' names as other programs write them: valid there, and no two the same.

use std::collections::{HashMap, HashSet};

use bursar_domain::account::{Account, AccountType};
use bursar_domain::ids::AccountId;

pub(super) struct AccountNames {
    /// In the order of the accounts.
    accounts: Vec<(Account, String)>,
    by_id: HashMap<AccountId, usize>,
}

impl AccountNames {
    /// `spell` may spell two names the same; the later one gets a number.
    pub(super) fn of(accounts: &[Account], spell: fn(&Account) -> String) -> Self {
        let mut taken: HashSet<String> = HashSet::new();
        let mut named = Vec::new();
        let mut by_id = HashMap::new();
        for account in accounts {
            let name = spell(account);
            let mut unique = name.clone();
            let mut number = 2;
            while !taken.insert(unique.to_lowercase()) {
                unique = format!("{name}-{number}");
                number += 1;
            }
            by_id.insert(account.id, named.len());
            named.push((account.clone(), unique));
        }
        Self {
            accounts: named,
            by_id,
        }
    }

    pub(super) fn get(&self, id: AccountId) -> Option<(&Account, &str)> {
        let (account, name) = self.accounts.get(*self.by_id.get(&id)?)?;
        Some((account, name))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Account, &str)> {
        self.accounts
            .iter()
            .map(|(account, name)| (account, name.as_str()))
    }
}

/// The top account of a type, which the programs know the type by. Discounts are negative income there.
pub(super) const fn top(account_type: AccountType) -> &'static str {
    match account_type {
        AccountType::Asset => "Assets",
        AccountType::Liability => "Liabilities",
        AccountType::Income | AccountType::ContraIncome => "Income",
        AccountType::Expense => "Expenses",
        AccountType::Equity => "Equity",
    }
}
