//! The ledger's sums and reversals, and the payments that dues raised.

use std::collections::HashMap;

use bursar_db::{DbError, Tx, due, ledger};
use bursar_domain::ids::{OrganizationId, PaymentId};

use super::{Check, Seen};

impl Check<'_> {
    /// Every payment raised by dues names a group, a member and a payment that exist.
    pub(super) fn raised(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        seen: &Seen,
    ) -> Result<(), DbError> {
        due::each_raised(tx, organization, |group, member, payment| {
            let is_known = seen.groups.contains_key(&group)
                && seen.members.contains(&member)
                && seen.paid.contains_key(&payment.to_bytes());
            if !is_known {
                self.problem(
                    "reference",
                    Some(organization),
                    payment,
                    &format!("is the dues of {member} in {group}, and one of the three does not exist"),
                );
            }
            Ok(())
        })
    }

    pub(super) fn ledger(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        mut paid: HashMap<[u8; 16], i64>,
    ) -> Result<(), DbError> {
        ledger::each_sum(tx, organization, |payment, sum| {
            match paid.remove(&payment.to_bytes()) {
                None => self.problem(
                    "reference",
                    Some(organization),
                    payment,
                    "has ledger entries, but there is no such payment",
                ),
                Some(paid) if i128::from(paid) != sum => {
                    self.problem(
                        "sum",
                        Some(organization),
                        payment,
                        &format!("paidToDate is {paid} minor units, the ledger's sum {sum}"),
                    );
                }
                Some(_) => {}
            }
            Ok(())
        })?;
        for (payment, paid) in paid.into_iter().filter(|(_, paid)| *paid != 0) {
            let payment = PaymentId::from_bytes(payment);
            self.problem(
                "sum",
                Some(organization),
                payment,
                &format!("paidToDate is {paid} minor units, the ledger has no entry"),
            );
        }
        Ok(())
    }

    /// A reversal takes back one whole entry of the same payment, and no entry is reversed twice.
    pub(super) fn reversals(&mut self, tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(), DbError> {
        let mut last = None;
        ledger::each_reversal(tx, organization, |reversal| {
            let entry = reversal.reverses;
            let message = match reversal.original {
                None => format!(
                    "{} reverses {entry}, which is no entry of this payment",
                    reversal.id
                ),
                Some((amount, _)) if amount.checked_add(reversal.amount) != Some(0) => format!(
                    "{} reverses {entry}, and the two do not sum up to 0: {} and {amount} minor units",
                    reversal.id, reversal.amount
                ),
                Some((_, true)) => format!("{} reverses {entry}, which is a reversal itself", reversal.id),
                Some(_) if last == Some(entry) => format!("{entry} is reversed more than once"),
                Some(_) => {
                    last = Some(entry);
                    return Ok(());
                }
            };
            last = Some(entry);
            self.problem("ledger", Some(organization), reversal.payment, &message);
            Ok(())
        })
    }
}
