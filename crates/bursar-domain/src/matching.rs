//! Proposes what the lines of a bank statement are. A wrong proposal is worse than none: where two things fit equally
//! well, a line is left open.
//!
//! Each way of telling is tried for all lines before the next one, the surest first, so that weak evidence never takes
//! what strong evidence needs.

mod books;
mod evidence;
mod payers;

pub(crate) use self::evidence::words_of;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ids::{EntryId, MemberId, PaymentId, StatementLineId};
use crate::statement::{StatementLine, Target};
use crate::time::Date;
use crate::words;
use evidence::{Evidence, Index};

words! {
    /// Why a line is proposed to be something.
    Reason {
        /// An officer said so.
        Chosen "chosen",
        /// Entries of the journal without a line.
        Books "in the books",
        /// One of our references is in its text.
        Reference "reference",
        /// It came from an account that money of this payer came from before.
        Account "known account",
        /// It has the payer's name and the amount of a charge.
        Name "amount and name",
        /// Several charges of the payer sum up to it.
        Sum "several payments",
        /// A payment provider paid out what it held.
        Payout "payout",
    }
}

/// A charge, open or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    pub id: PaymentId,
    /// Nobody where a chapter owes it.
    pub member: Option<MemberId>,
    /// What is open, in minor units.
    pub open: i64,
    pub description: String,
    pub reference: Option<String>,
}

/// A member as somebody who pays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub id: MemberId,
    pub first_name: String,
    pub last_name: String,
    /// Who pays for the member.
    pub payer: Option<MemberId>,
    pub reference: Option<String>,
    pub bank_accounts: Vec<String>,
}

/// An entry that accounts for no line yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LooseEntry {
    pub id: EntryId,
    pub date: Date,
    /// What it adds to the account, in minor units.
    pub amount: i64,
    pub members: Vec<MemberId>,
    pub payments: Vec<PaymentId>,
    pub payer_name: Option<String>,
    pub reference: Option<String>,
    /// Several checks are brought to the bank at once, days later.
    pub is_check: bool,
}

/// Everything that proposals for the open lines of one account follow from.
#[derive(Clone, Debug, Default)]
pub struct Situation {
    /// Open ones, by day and id.
    pub lines: Vec<StatementLine>,
    pub entries: Vec<LooseEntry>,
    /// By due day.
    pub charges: Vec<Charge>,
    pub people: Vec<Person>,
    /// What payment providers held at the end of each day on which it changed.
    pub clearing: Vec<(Date, i64)>,
    /// Nothing can be booked up to this day.
    pub closed_until: Option<Date>,
    /// Nothing can be booked after this day. Files have lines of the next days too.
    pub today: Option<Date>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// These entries account for it.
    Entries(Vec<EntryId>),
    /// Money of a payer, for these charges, or by due day if there are none.
    Receipt {
        payer: Option<MemberId>,
        payments: Vec<PaymentId>,
    },
    /// From clearing, less a fee in minor units.
    Payout { fee: i64 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    pub reason: Reason,
    pub what: What,
    /// Settles charges to the cent, with nothing left.
    pub is_exact: bool,
}

/// Finds a proposal for a line.
type Pass<'a> = fn(&mut Matching<'a>, usize) -> Option<Proposal>;

pub fn propose(situation: &Situation) -> BTreeMap<StatementLineId, Proposal> {
    let index = Index::new(situation);
    let mut matching = Matching {
        evidence: situation
            .lines
            .iter()
            .map(|line| Evidence::of(line, &index))
            .collect(),
        left: situation
            .charges
            .iter()
            .map(|charge| (charge.id, charge.open))
            .collect(),
        found: vec![None; situation.lines.len()],
        taken: HashSet::new(),
        paid_out: 0,
        situation,
        index,
    };
    let passes: [Pass<'_>; 9] = [
        Matching::chosen,
        Matching::entry_of_payer,
        Matching::only_entry,
        Matching::entries_together,
        Matching::by_reference,
        Matching::by_account,
        Matching::by_name,
        Matching::by_sum,
        Matching::payout,
    ];
    for pass in passes {
        for at in 0..situation.lines.len() {
            if matching.found[at].is_none()
                && let Some(proposal) = pass(&mut matching, at)
            {
                matching.take(at, &proposal);
                matching.found[at] = Some(proposal);
            }
        }
    }
    let ids = situation.lines.iter().map(|line| line.id);
    let found = ids.zip(matching.found);
    found.filter_map(|(id, proposal)| Some((id, proposal?))).collect()
}

struct Matching<'a> {
    situation: &'a Situation,
    index: Index<'a>,
    evidence: Vec<Evidence>,
    /// What earlier proposals leave open of each charge.
    left: HashMap<PaymentId, i64>,
    taken: HashSet<EntryId>,
    /// Of what is in clearing.
    paid_out: i64,
    found: Vec<Option<Proposal>>,
}

impl<'a> Matching<'a> {
    fn line(&self, at: usize) -> &'a StatementLine {
        &self.situation.lines[at]
    }

    /// Money that came in on a day that is past and not closed.
    fn is_bookable(&self, at: usize) -> bool {
        let line = self.line(at);
        let is_closed = self
            .situation
            .closed_until
            .is_some_and(|until| line.date <= until);
        line.amount > 0 && !is_closed && !self.is_ahead(at)
    }

    fn is_ahead(&self, at: usize) -> bool {
        self.situation
            .today
            .is_some_and(|today| self.line(at).date > today)
    }

    /// What a proposal uses is there for no other line.
    fn take(&mut self, at: usize, proposal: &Proposal) {
        let amount = self.line(at).amount;
        match &proposal.what {
            What::Entries(entries) => self.taken.extend(entries),
            What::Payout { fee } => self.paid_out += amount + fee,
            What::Receipt { payer, payments } => {
                let payments = match (payments.is_empty(), payer) {
                    (true, Some(payer)) => self.index.charges_of(*payer),
                    _ => payments.clone(),
                };
                let mut money = amount;
                for payment in payments {
                    if let Some(left) = self.left.get_mut(&payment) {
                        let part = money.min(*left);
                        *left -= part;
                        money -= part;
                    }
                }
            }
        }
    }

    fn chosen(&mut self, at: usize) -> Option<Proposal> {
        let line = self.line(at);
        let (mut entries, mut payments, mut payer) = (Vec::new(), Vec::new(), None);
        for target in &line.chosen {
            match target {
                Target::Entry(id) => entries.push(*id),
                Target::Payment(id) => payments.push(*id),
                Target::Member(id) => payer = Some(*id),
            }
        }
        if line.chosen.is_empty() {
            return None;
        }
        let what = match entries.is_empty() {
            false => What::Entries(entries),
            true if self.is_ahead(at) => return None,
            true => {
                let payer = payer.or_else(|| self.index.payer_of(&payments));
                What::Receipt { payer, payments }
            }
        };
        Some(Proposal {
            reason: Reason::Chosen,
            what,
            is_exact: false,
        })
    }
}

/// The one subset of the amounts that sums to the total. `None` if there is none, more than one, or too many amounts
/// to try.
fn only_subset(amounts: &[i64], total: i64) -> Option<Vec<usize>> {
    const TRIED_MAX: usize = 14;
    if amounts.len() > TRIED_MAX || amounts.is_empty() {
        return None;
    }
    let mut found = None;
    for bits in 1..(1u32 << amounts.len()) {
        let chosen = (0..amounts.len()).filter(|i| bits & (1 << i) != 0);
        let sum: i128 = chosen.clone().map(|i| i128::from(amounts[i])).sum();
        if sum == i128::from(total) {
            if found.is_some() {
                return None;
            }
            found = Some(chosen.collect());
        }
    }
    found
}

#[cfg(test)]
mod tests;
