//! What is known to name one person, and what of it names somebody else too.

use std::collections::HashSet;

use super::{Naming, account_key, digits_of};
use crate::matching::words_of;
use crate::organization::address_key;

/// Everything that names or named one person.
#[derive(Clone, Debug, Default)]
pub struct Person {
    /// Given and family names, as they are and as they were.
    pub names: Vec<(String, String)>,
    pub emails: Vec<String>,
    pub phones: Vec<String>,
    pub accounts: Vec<String>,
    /// More words that an officer asks to look for.
    pub also: Vec<String>,
    /// Do not look for the family name by itself.
    pub is_full_name_only: bool,
}

/// What names everybody else.
#[derive(Clone, Debug, Default)]
pub struct Others {
    full: HashSet<Vec<String>>,
    words: HashSet<String>,
    emails: HashSet<String>,
    phones: HashSet<String>,
    accounts: HashSet<String>,
}

impl Others {
    pub fn add_name(&mut self, name: [&str; 2]) {
        let words: Vec<String> = name.into_iter().flat_map(words_of).collect();
        self.words.extend(words.iter().cloned());
        self.full.insert(words);
    }

    pub fn add_email(&mut self, email: &str) {
        self.emails.insert(address_key(email));
    }

    pub fn add_phone(&mut self, phone: &str) {
        self.phones.insert(digits_of(phone));
    }

    pub fn add_account(&mut self, account: &str) {
        self.accounts.insert(account_key(account));
    }

    pub fn has_email(&self, email: &str) -> bool {
        self.emails.contains(&address_key(email))
    }
}

impl Person {
    /// What to look for in texts that are not about the person, and what is left out because somebody else has it too.
    pub fn naming(&self, others: &Others) -> (Naming, Vec<String>) {
        let (mut naming, mut shared) = (Naming::default(), Vec::new());
        for (first, last) in &self.names {
            let full: Vec<String> = [first, last]
                .into_iter()
                .flat_map(|name| words_of(name))
                .collect();
            if others.full.contains(&full) {
                shared.push(format!("{first} {last}"));
                continue;
            }
            naming.add_name(first, last);
            let is_own = words_of(last).iter().any(|word| !others.words.contains(word));
            match (self.is_full_name_only, is_own) {
                (false, true) => naming.add_phrase(last),
                (false, false) => shared.push(last.clone()),
                (true, _) => {}
            }
        }
        let mut add = |texts: &[String], is_shared: &dyn Fn(&str) -> bool, add: fn(&mut Naming, &str)| {
            for text in texts {
                match is_shared(text) {
                    true => shared.push(text.clone()),
                    false => add(&mut naming, text),
                }
            }
        };
        add(&self.emails, &|email| others.has_email(email), Naming::add_email);
        let is_phone = |phone: &str| others.phones.contains(&digits_of(phone));
        add(&self.phones, &is_phone, Naming::add_phone);
        let is_account = |account: &str| others.accounts.contains(&account_key(account));
        add(&self.accounts, &is_account, Naming::add_account);
        for phrase in &self.also {
            naming.add_phrase(phrase);
        }
        shared.sort_unstable();
        shared.dedup();
        (naming, shared)
    }
}
