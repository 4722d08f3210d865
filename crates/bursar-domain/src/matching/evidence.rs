//! What a line tells about who paid, and for what.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Charge, Person, Situation};
use crate::creditor_reference::find_all;
use crate::ids::{MemberId, PaymentId};
use crate::statement::StatementLine;

/// What charges and people are found by.
pub(super) struct Index<'a> {
    charges: HashMap<PaymentId, &'a Charge>,
    by_reference: HashMap<&'a str, Owner>,
    by_account: HashMap<String, BTreeSet<MemberId>>,
    /// By the last word of the family name: what else the name must have, and who it is.
    by_name: HashMap<String, Vec<(Vec<String>, MemberId)>>,
    payers: HashMap<MemberId, MemberId>,
    of_household: HashMap<MemberId, Vec<PaymentId>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Charge(PaymentId),
    Member(MemberId),
}

impl Owner {
    fn household(self, index: &Index<'_>) -> Option<MemberId> {
        match self {
            Self::Charge(id) => index.household_of(id),
            Self::Member(id) => Some(index.household(id)),
        }
    }
}

impl<'a> Index<'a> {
    pub(super) fn new(situation: &'a Situation) -> Self {
        let mut index = Self {
            charges: HashMap::new(),
            by_reference: HashMap::new(),
            by_account: HashMap::new(),
            by_name: HashMap::new(),
            payers: HashMap::new(),
            of_household: HashMap::new(),
        };
        for person in &situation.people {
            index.add_person(person);
        }
        for charge in &situation.charges {
            index.charges.insert(charge.id, charge);
            if let Some(reference) = &charge.reference {
                index.by_reference.insert(reference, Owner::Charge(charge.id));
            }
            if let Some(member) = charge.member {
                let household = index.household(member);
                index.of_household.entry(household).or_default().push(charge.id);
            }
        }
        index
    }

    fn add_person(&mut self, person: &'a Person) {
        let household = person.payer.unwrap_or(person.id);
        self.payers.insert(person.id, household);
        if let Some(reference) = &person.reference {
            self.by_reference.insert(reference, Owner::Member(person.id));
        }
        for account in &person.bank_accounts {
            let known = self.by_account.entry(account_key(account)).or_default();
            known.insert(household);
        }
        // Banks often leave out second given names.
        let given = words_of(&person.first_name).into_iter().next();
        let mut names = words_of(&person.last_name);
        if let (Some(given), Some(family)) = (given, names.pop()) {
            names.push(given);
            self.by_name.entry(family).or_default().push((names, household));
        }
    }

    /// Who pays for a member.
    pub(super) fn household(&self, member: MemberId) -> MemberId {
        self.payers.get(&member).copied().unwrap_or(member)
    }

    pub(super) fn household_of(&self, payment: PaymentId) -> Option<MemberId> {
        let member = self.charges.get(&payment)?.member?;
        Some(self.household(member))
    }

    /// The one household that owes all of them.
    pub(super) fn payer_of(&self, payments: &[PaymentId]) -> Option<MemberId> {
        let households: BTreeSet<Option<MemberId>> =
            payments.iter().map(|id| self.household_of(*id)).collect();
        match households.len() {
            1 => households.into_iter().next().flatten(),
            _ => None,
        }
    }

    /// Of a household, by due day.
    pub(super) fn charges_of(&self, household: MemberId) -> Vec<PaymentId> {
        self.of_household.get(&household).cloned().unwrap_or_default()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Mentioned {
    pub owner: Owner,
    /// False where it may be the beginning of another reference.
    pub is_whole: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Evidence {
    pub mentioned: Vec<Mentioned>,
    /// Households that money came from this account for.
    pub by_account: BTreeSet<MemberId>,
    /// Households of the people whose names are in it.
    pub by_name: BTreeSet<MemberId>,
    pub words: HashSet<String>,
}

impl Evidence {
    pub(super) fn of(line: &StatementLine, index: &Index<'_>) -> Self {
        let name = line.counterparty_name.as_deref().unwrap_or_default();
        let words: HashSet<String> = words_of(&format!("{name} {}", line.text)).into_iter().collect();
        let account = line.counterparty_account.as_deref().map(account_key);
        let mut by_name = BTreeSet::new();
        for word in &words {
            for (others, household) in index.by_name.get(word).into_iter().flatten() {
                if others.iter().all(|other| words.contains(other)) {
                    by_name.insert(*household);
                }
            }
        }
        let by_account = account
            .and_then(|account| index.by_account.get(&account).cloned())
            .unwrap_or_default();
        let mut mentioned = mentioned(line, index);
        // What may be the beginning of a foreign reference counts only if something else points to its owner.
        mentioned.retain(|mentioned| {
            let owner = mentioned.owner.household(index);
            let is_pointed_to = |owner| by_account.contains(&owner) || by_name.contains(&owner);
            mentioned.is_whole || owner.is_some_and(is_pointed_to)
        });
        Self {
            mentioned,
            by_account,
            by_name,
            words,
        }
    }

    /// Everybody that the line points to.
    pub(super) fn households(&self, index: &Index<'_>) -> BTreeSet<MemberId> {
        if self.mentioned.is_empty() {
            return self.by_account.union(&self.by_name).copied().collect();
        }
        let owner = |mentioned: &Mentioned| mentioned.owner.household(index);
        self.mentioned.iter().filter_map(owner).collect()
    }
}

/// Our references in a line. One that is only the beginning of another one of ours is left out.
fn mentioned(line: &StatementLine, index: &Index<'_>) -> Vec<Mentioned> {
    let mut found: Vec<(String, Mentioned)> = Vec::new();
    let places = [Some(line.text.as_str()), line.end_to_end.as_deref()];
    for mention in places.into_iter().flatten().flat_map(find_all) {
        let Some(owner) = index.by_reference.get(mention.reference.as_str()) else {
            continue;
        };
        let is_beginning = found
            .iter()
            .any(|(longer, _)| longer.starts_with(&mention.reference));
        if !is_beginning {
            let mentioned = Mentioned {
                owner: *owner,
                is_whole: mention.is_whole,
            };
            found.push((mention.reference, mentioned));
        }
    }
    found.into_iter().map(|(_, mentioned)| mentioned).collect()
}

fn account_key(account: &str) -> String {
    account
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_uppercase)
        .collect()
}

/// The words of a text without case and accents. `ä`, `ae` and `a` are one letter, on both sides of a comparison.
pub(crate) fn words_of(text: &str) -> Vec<String> {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            'à'..='å' | 'ā' | 'ă' | 'ą' => folded.push('a'),
            'æ' => folded.push_str("ae"),
            'ç' | 'ć' | 'č' => folded.push('c'),
            'ď' | 'đ' | 'ð' => folded.push('d'),
            'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => folded.push('e'),
            'ğ' | 'ģ' => folded.push('g'),
            'ì'..='ï' | 'ī' | 'į' | 'ı' => folded.push('i'),
            'ķ' => folded.push('k'),
            'ł' | 'ļ' | 'ľ' => folded.push('l'),
            'ñ' | 'ń' | 'ň' | 'ņ' => folded.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => folded.push('o'),
            'œ' => folded.push_str("oe"),
            'ř' => folded.push('r'),
            'ś' | 'š' | 'ş' | 'ș' => folded.push('s'),
            'ß' => folded.push_str("ss"),
            'ť' | 'ţ' | 'ț' => folded.push('t'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' | 'ų' => folded.push('u'),
            'ý' | 'ÿ' => folded.push('y'),
            'ź' | 'ż' | 'ž' => folded.push('z'),
            c if c.is_alphanumeric() => folded.push(c),
            // Marks that stand on the letter before them, and the apostrophe of O'Brien.
            '\u{300}'..='\u{36f}' | '\'' | '’' => {}
            _ => folded.push(' '),
        }
    }
    let plain = folded.replace("ae", "a").replace("oe", "o").replace("ue", "u");
    plain.split_whitespace().map(str::to_owned).collect()
}
