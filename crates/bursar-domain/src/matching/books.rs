//! Entries that are in the journal already and account for a line.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{Owner, words_of};
use super::{LooseEntry, Matching, Proposal, Reason, What, only_subset};
use crate::ids::EntryId;
use crate::statement::StatementLine;

/// How many days an entry may be before and after the line: where it settles the charge that the line names, where it
/// is of the same payer, and where only the amount tells.
const SAME_CHARGE_DAYS: (i64, i64) = (60, 60);
const SAME_PAYER_DAYS: (i64, i64) = (7, 14);
const SAME_AMOUNT_DAYS: (i64, i64) = (7, 7);
/// Checks lie in a drawer for a while.
const CHECK_DAYS: (i64, i64) = (45, 5);

fn is_near(entry: &LooseEntry, line: &StatementLine, (before, after): (i64, i64)) -> bool {
    let (before, after) = match entry.is_check {
        true => (before.max(CHECK_DAYS.0), after.max(CHECK_DAYS.1)),
        false => (before, after),
    };
    (-before..=after).contains(&(entry.date.days() - line.date.days()))
}

fn in_the_books(entries: Vec<EntryId>) -> Proposal {
    Proposal {
        reason: Reason::Books,
        what: What::Entries(entries),
        is_exact: false,
    }
}

impl<'a> Matching<'a> {
    fn free_entries(&self) -> impl Iterator<Item = &'a LooseEntry> {
        self.situation
            .entries
            .iter()
            .filter(|entry| !self.taken.contains(&entry.id))
    }

    /// The entry of the charge or payer that the line names, with its amount. Of several equal ones the nearest.
    pub(super) fn entry_of_payer(&mut self, at: usize) -> Option<Proposal> {
        let (line, evidence) = (self.line(at), &self.evidence[at]);
        let nearest = |entries: Vec<&LooseEntry>| {
            let distance = |entry: &&LooseEntry| ((entry.date.days() - line.date.days()).abs(), entry.id);
            let nearest = entries.into_iter().min_by_key(distance)?;
            Some(in_the_books(vec![nearest.id]))
        };
        let equal: Vec<&LooseEntry> = self
            .free_entries()
            .filter(|entry| entry.amount == line.amount && is_near(entry, line, SAME_CHARGE_DAYS))
            .collect();
        let settles = |entry: &&LooseEntry| {
            let mut owners = evidence.mentioned.iter().map(|mentioned| mentioned.owner);
            owners.any(|owner| matches!(owner, Owner::Charge(id) if entry.payments.contains(&id)))
        };
        let of_charge: Vec<_> = equal.iter().copied().filter(settles).collect();
        if !of_charge.is_empty() {
            return nearest(of_charge);
        }
        let near: Vec<_> = equal
            .into_iter()
            .filter(|entry| is_near(entry, line, SAME_PAYER_DAYS))
            .collect();
        let has_reference = |entry: &&LooseEntry| {
            let own = [line.reference.as_deref(), line.end_to_end.as_deref()];
            let is_same = |text: &str| {
                let given = own.iter().flatten();
                text.len() >= 4 && given.clone().any(|own| own.eq_ignore_ascii_case(text))
            };
            entry.reference.as_deref().is_some_and(is_same)
        };
        if let [only] = near.iter().copied().filter(has_reference).collect::<Vec<_>>()[..] {
            return Some(in_the_books(vec![only.id]));
        }
        // Money for an open charge of exactly this amount that the line names is not what was recorded for another.
        let is_other = evidence.mentioned.iter().any(|mentioned| match mentioned.owner {
            Owner::Charge(id) => self.left.get(&id) == Some(&line.amount),
            Owner::Member(_) => false,
        });
        let households = evidence.households(&self.index);
        let of_payer: Vec<_> = near
            .iter()
            .copied()
            .filter(|entry| {
                let mut members = entry.members.iter();
                members.any(|member| households.contains(&self.index.household(*member)))
            })
            .filter(|entry| !is_other || entry.date == line.date)
            .collect();
        let payers: BTreeSet<_> = of_payer
            .iter()
            .flat_map(|entry| &entry.members)
            .map(|member| self.index.household(*member))
            .collect();
        if payers.len() == 1 {
            return nearest(of_payer);
        }
        let is_named = |entry: &&LooseEntry| {
            let words = entry.payer_name.as_deref().map(words_of).unwrap_or_default();
            !words.is_empty() && words.iter().all(|word| evidence.words.contains(word))
        };
        let named: Vec<_> = near.into_iter().filter(is_named).collect();
        let names: BTreeSet<_> = named.iter().map(|entry| &entry.payer_name).collect();
        match names.len() {
            1 => nearest(named),
            _ => None,
        }
    }

    /// The only entry with the amount of the line, if it is the only line with that amount too, and neither names
    /// somebody that the other does not.
    pub(super) fn only_entry(&mut self, at: usize) -> Option<Proposal> {
        let (line, evidence) = (self.line(at), &self.evidence[at]);
        if !evidence.mentioned.is_empty() {
            return None;
        }
        let is_nameless = line.counterparty_name.is_none() && line.counterparty_account.is_none();
        let is_unknown = evidence.households(&self.index).is_empty();
        let mut fitting = self
            .free_entries()
            .filter(|entry| entry.amount == line.amount && is_near(entry, line, SAME_AMOUNT_DAYS));
        let (only, None) = (fitting.next()?, fitting.next()) else {
            return None;
        };
        let is_plain = only.members.is_empty() && only.payer_name.is_none();
        let may_be = match is_plain {
            // Money from a member is more likely for a charge than what somebody booked without a name.
            true => is_unknown || line.amount < 0,
            false => is_nameless && is_unknown,
        };
        let rivals = self
            .situation
            .lines
            .iter()
            .zip(&self.found)
            .filter(|(other, found)| {
                found.is_none() && other.amount == line.amount && is_near(only, other, SAME_AMOUNT_DAYS)
            });
        (may_be && rivals.count() == 1).then(|| in_the_books(vec![only.id]))
    }

    /// A deposit of several checks, or several receipts of one payer.
    pub(super) fn entries_together(&mut self, at: usize) -> Option<Proposal> {
        let (line, evidence) = (self.line(at), &self.evidence[at]);
        if line.amount <= 0 || !evidence.mentioned.is_empty() {
            return None;
        }
        let households = evidence.households(&self.index);
        let parts: Vec<&LooseEntry> = match households.is_empty() {
            true if line.counterparty_account.is_some() => return None,
            true => self
                .free_entries()
                .filter(|entry| entry.is_check && entry.amount > 0 && is_near(entry, line, CHECK_DAYS))
                .collect(),
            false => self
                .free_entries()
                .filter(|entry| {
                    let mut members = entry.members.iter();
                    entry.amount > 0
                        && is_near(entry, line, SAME_PAYER_DAYS)
                        && members.any(|member| households.contains(&self.index.household(*member)))
                })
                .collect(),
        };
        let total = i128::from(line.amount);
        let is_whole = |group: &[&LooseEntry]| {
            let sum: i128 = group.iter().map(|entry| i128::from(entry.amount)).sum();
            group.len() > 1 && sum == total
        };
        let mut groups: BTreeMap<String, Vec<&LooseEntry>> = BTreeMap::new();
        for entry in &parts {
            groups.entry(entry.date.to_string()).or_default().push(entry);
            if let Some(reference) = &entry.reference {
                groups.entry(format!("by {reference}")).or_default().push(entry);
            }
        }
        groups.insert("all".to_owned(), parts.clone());
        let sets: BTreeSet<Vec<EntryId>> = groups
            .values()
            .filter(|group| is_whole(group))
            .map(|group| group.iter().map(|entry| entry.id).collect())
            .collect();
        match sets.len() {
            1 => sets.into_iter().next().map(in_the_books),
            0 => {
                let amounts: Vec<i64> = parts.iter().map(|entry| entry.amount).collect();
                let chosen = only_subset(&amounts, line.amount).filter(|chosen| chosen.len() > 1)?;
                Some(in_the_books(chosen.into_iter().map(|i| parts[i].id).collect()))
            }
            _ => None,
        }
    }
}
