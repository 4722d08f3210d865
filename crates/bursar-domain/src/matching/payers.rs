//! New receipts: whose money it is and which charges it settles, and what payment providers pay out.

use std::collections::BTreeSet;

use super::evidence::{Evidence, Mentioned, Owner};
use super::{Matching, Proposal, Reason, What, only_subset};
use crate::ids::{MemberId, PaymentId};

/// Words that a provider's payout has in its text or in the name of who sent it.
const PROVIDERS: [&str; 16] = [
    "adyen",
    "braintree",
    "gocardless",
    "izettle",
    "klarna",
    "mollie",
    "paypal",
    "paymill",
    "payone",
    "revolut",
    "square",
    "stripe",
    "sumup",
    "venmo",
    "worldpay",
    "zettle",
];

/// Providers keep at most so much: a share of what was paid, in percent, and a fixed amount in minor units.
const FEE_PERCENT_MAX: i64 = 6;
const FEE_FIXED_MAX: i64 = 100;
/// How long a payout is under way.
const PAYOUT_DAYS: i64 = 10;

/// Charges that an amount settles to the cent.
enum Fit {
    One(PaymentId),
    Several(Vec<PaymentId>),
}

impl Fit {
    fn payments(self) -> Vec<PaymentId> {
        match self {
            Self::One(payment) => vec![payment],
            Self::Several(payments) => payments,
        }
    }
}

impl Matching<'_> {
    fn left_of(&self, payment: PaymentId) -> i64 {
        self.left.get(&payment).copied().unwrap_or(0)
    }

    /// One charge of this amount, else the first ones by due day, else the only others that sum up to it.
    fn fit(&self, household: MemberId, amount: i64) -> Option<Fit> {
        let charges = self.index.charges_of(household);
        let open: Vec<(PaymentId, i64)> = charges
            .into_iter()
            .map(|id| (id, self.left_of(id)))
            .filter(|(_, left)| *left > 0)
            .collect();
        if let Some((payment, _)) = open.iter().find(|(_, left)| *left == amount) {
            return Some(Fit::One(*payment));
        }
        let mut sum = 0;
        for (at, (_, left)) in open.iter().enumerate() {
            sum += left;
            if sum == amount {
                let first = open[..=at].iter().map(|(id, _)| *id);
                return Some(Fit::Several(first.collect()));
            }
        }
        let amounts: Vec<i64> = open.iter().map(|(_, left)| *left).collect();
        let chosen = only_subset(&amounts, amount)?;
        Some(Fit::Several(chosen.into_iter().map(|i| open[i].0).collect()))
    }

    /// A charge, and of its household as many others, by due day, as an amount reaches.
    fn fill(&self, first: PaymentId, household: MemberId, amount: i64) -> Vec<PaymentId> {
        let mut rest = amount - self.left_of(first);
        let mut payments = vec![first];
        for other in self.index.charges_of(household) {
            let left = self.left_of(other);
            if other != first && left > 0 && rest > 0 {
                payments.push(other);
                rest -= left;
            }
        }
        payments
    }

    pub(super) fn by_reference(&mut self, at: usize) -> Option<Proposal> {
        if !self.is_bookable(at) {
            return None;
        }
        let amount = self.line(at).amount;
        let mut charges = BTreeSet::new();
        let mut households = BTreeSet::new();
        for Mentioned { owner, is_whole } in &self.evidence[at].mentioned {
            match owner {
                // What may be the beginning of a foreign reference counts only if the amount agrees too.
                Owner::Charge(id) if *is_whole || self.left_of(*id) == amount => {
                    charges.insert(*id);
                    households.extend(self.index.household_of(*id));
                }
                Owner::Member(id) => {
                    let household = self.index.household(*id);
                    if *is_whole || self.fit(household, amount).is_some() {
                        households.insert(household);
                    }
                }
                Owner::Charge(_) => {}
            }
        }
        let proposal = |payer, payments: Vec<PaymentId>, is_exact| {
            Some(Proposal {
                reason: Reason::Reference,
                what: What::Receipt { payer, payments },
                is_exact,
            })
        };
        let payer = match households.len() {
            1 => households.first().copied(),
            _ => None,
        };
        let open: Vec<PaymentId> = charges
            .iter()
            .copied()
            .filter(|id| self.left_of(*id) > 0)
            .collect();
        match (&open[..], payer) {
            _ if charges.is_empty() && households.is_empty() => None,
            ([one], payer) if charges.len() == 1 && households.len() <= 1 => {
                let left = self.left_of(*one);
                let more = payer.filter(|_| amount > left);
                let fit = more.and_then(|payer| self.fit(payer, amount)).map(Fit::payments);
                match (fit.filter(|payments| payments.contains(one)), more) {
                    (Some(payments), _) => proposal(payer, payments, true),
                    (None, Some(household)) => proposal(payer, self.fill(*one, household, amount), false),
                    (None, None) => proposal(payer, vec![*one], left == amount),
                }
            }
            ([], Some(payer)) => match self.fit(payer, amount) {
                Some(fit) => proposal(Some(payer), fit.payments(), true),
                None => proposal(Some(payer), Vec::new(), false),
            },
            (several, payer) if several.len() > 1 => {
                let sum: i64 = several.iter().map(|id| self.left_of(*id)).sum();
                match sum == amount {
                    true => proposal(payer, several.to_vec(), true),
                    false => None,
                }
            }
            _ => None,
        }
    }

    /// The household that the account and the names point to, if they do not contradict each other.
    fn household_at(&self, at: usize) -> Option<MemberId> {
        let Evidence {
            mentioned,
            by_account,
            by_name,
            ..
        } = &self.evidence[at];
        if !mentioned.is_empty() || !self.is_bookable(at) {
            return None;
        }
        let both: BTreeSet<MemberId> = by_account.intersection(by_name).copied().collect();
        let pointed = match (by_account.is_empty(), by_name.is_empty()) {
            (false, true) => by_account,
            (true, _) => by_name,
            (false, false) if by_name.len() == 1 => &both,
            (false, false) => return None,
        };
        match pointed.len() {
            1 => pointed.first().copied(),
            _ => None,
        }
    }

    pub(super) fn by_account(&mut self, at: usize) -> Option<Proposal> {
        if self.evidence[at].by_account.is_empty() {
            return None;
        }
        let payer = self.household_at(at)?;
        let fit = self.fit(payer, self.line(at).amount)?;
        Some(Proposal {
            reason: Reason::Account,
            what: What::Receipt {
                payer: Some(payer),
                payments: fit.payments(),
            },
            is_exact: true,
        })
    }

    pub(super) fn by_name(&mut self, at: usize) -> Option<Proposal> {
        let payer = self.household_at(at)?;
        match self.fit(payer, self.line(at).amount)? {
            Fit::One(payment) => Some(Proposal {
                reason: Reason::Name,
                what: What::Receipt {
                    payer: Some(payer),
                    payments: vec![payment],
                },
                is_exact: true,
            }),
            Fit::Several(_) => None,
        }
    }

    pub(super) fn by_sum(&mut self, at: usize) -> Option<Proposal> {
        let payer = self.household_at(at)?;
        match self.fit(payer, self.line(at).amount)? {
            Fit::Several(payments) => Some(Proposal {
                reason: Reason::Sum,
                what: What::Receipt {
                    payer: Some(payer),
                    payments,
                },
                is_exact: true,
            }),
            Fit::One(_) => None,
        }
    }

    /// What a provider held on one of the last days, with at most a fee missing.
    pub(super) fn payout(&mut self, at: usize) -> Option<Proposal> {
        let (line, evidence) = (self.line(at), &self.evidence[at]);
        let is_provider = PROVIDERS.iter().any(|word| evidence.words.contains(*word));
        if !is_provider || !self.is_bookable(at) || !evidence.households(&self.index).is_empty() {
            return None;
        }
        let mut fees = BTreeSet::new();
        for back in 0..=PAYOUT_DAYS {
            let day = line.date.plus_days(-back);
            let held = self
                .situation
                .clearing
                .iter()
                .rev()
                .find(|(date, _)| *date <= day);
            let gross = held.map_or(0, |(_, held)| held - self.paid_out);
            let fee = gross - line.amount;
            if fee >= 0 && fee <= gross / 100 * FEE_PERCENT_MAX + FEE_FIXED_MAX {
                fees.insert(fee);
            }
        }
        let fee = match fees.contains(&0) {
            true => 0,
            false if fees.len() == 1 => fees.first().copied()?,
            false => return None,
        };
        Some(Proposal {
            reason: Reason::Payout,
            what: What::Payout { fee },
            is_exact: fee == 0,
        })
    }
}
