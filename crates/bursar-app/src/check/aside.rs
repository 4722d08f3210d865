//! What stands beside the rows must be what the rows say.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bursar_db::{DbError, Tx, aside};
use bursar_domain::aside::{Aside, Sums};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId};
use bursar_domain::{Date, Invariants};

use super::Check;

/// What the rows say.
#[derive(Default)]
pub(super) struct Beside {
    charges: HashMap<(Option<Date>, Option<GroupId>), [i128; 3]>,
    /// A sum of hashes for each member: it compares words without holding them.
    words: HashMap<MemberId, u64>,
}

impl Beside {
    pub(super) fn add(&mut self, row: &impl Invariants, id: u128) {
        match row.aside() {
            None => {}
            Some(Aside::Charge(charged)) => {
                let held = self.charges.entry((charged.due, charged.group)).or_default();
                for (held, amount) in held.iter_mut().zip(figures(charged.sums)) {
                    *held += amount;
                }
            }
            Some(Aside::Words(words)) => {
                let held = self.words.entry(MemberId::from_bits(id)).or_default();
                for word in words {
                    *held = held.wrapping_add(digest(word.as_bytes()));
                }
            }
        }
    }
}

fn figures(sums: Sums) -> [i128; 3] {
    [sums.expected, sums.collected, sums.open].map(i128::from)
}

fn digest(word: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.hash(&mut hasher);
    hasher.finish()
}

impl Check<'_> {
    pub(super) fn aside(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        mut rows: Beside,
    ) -> Result<(), DbError> {
        let kept = aside::kept(tx, organization)?;
        for (key, sums) in kept.charges {
            let said = rows.charges.remove(&key).unwrap_or_default();
            if said != figures(sums) {
                self.total(organization, key);
            }
        }
        for (key, sums) in rows.charges {
            if sums != [0; 3] {
                self.total(organization, key);
            }
        }
        let mut posted = aside::posted(tx, organization)?;
        for (account, amount) in kept.accounts {
            *posted.entry(account).or_default() -= i128::from(amount);
        }
        for (account, difference) in posted {
            if difference != 0 {
                let message = format!("its kept balance differs from its postings by {difference}");
                self.problem("sum", Some(organization), account, &message);
            }
        }
        aside::each_word(tx, organization, |member, word| {
            let held = rows.words.entry(member).or_default();
            *held = held.wrapping_sub(digest(word));
        })?;
        for (member, difference) in rows.words {
            if difference != 0 {
                let message = "the words that find this member are not those of its row";
                self.problem("row", Some(organization), member, message);
            }
        }
        Ok(())
    }

    fn total(&mut self, organization: OrganizationId, (due, group): (Option<Date>, Option<GroupId>)) {
        let due = due.map_or_else(|| "no day".to_owned(), |due| due.to_string());
        let message = format!("the kept sums of charges due on {due} are not those of the charges");
        match group {
            Some(group) => self.problem("sum", Some(organization), group, &message),
            None => self.problem("sum", Some(organization), organization, &message),
        }
    }
}
