//! The journal: entries that sum to zero, accounts that exist, and what it says is owed for each payment.

use std::collections::{HashMap, HashSet};

use bursar_db::journal::Disagreement;
use bursar_db::{DbError, Tx, attachments, journal, receipts, statements, table};
use bursar_domain::account::Standing;
use bursar_domain::attachment::Subject;
use bursar_domain::ids::{AccountId, Kind, OrganizationId, PaymentId};
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::statement::LineStatus;

use super::Check;

impl Check<'_> {
    pub(super) fn journal(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        mut owed: HashMap<[u8; 16], i64>,
        accounts: &HashSet<AccountId>,
    ) -> Result<(), DbError> {
        journal::each_owed(tx, organization, |payment, sum| {
            match owed.remove(&payment.to_bytes()) {
                None => self.problem(
                    "reference",
                    Some(organization),
                    payment,
                    "has journal entries, but there is no such payment",
                ),
                Some(owed) if i128::from(owed) != sum => self.not_owed(organization, payment, owed, sum),
                Some(_) => {}
            }
            Ok(())
        })?;
        for (payment, owed) in owed.into_iter().filter(|(_, owed)| *owed != 0) {
            self.not_owed(organization, PaymentId::from_bytes(payment), owed, 0);
        }
        for account in journal::sums(tx, organization, None, None)?.into_keys() {
            if !accounts.contains(&account) {
                let message = "has postings, but there is no such account";
                self.problem("reference", Some(organization), account, message);
            }
        }
        for (member, credit) in journal::credits(tx, organization)? {
            if credit < 0 {
                let message = format!("its credit is {credit} minor units; more was paid back than came");
                match member {
                    Some(member) => self.problem("ledger", Some(organization), member, &message),
                    None => self.problem("ledger", Some(organization), Standing::Credit.id(), &message),
                }
            }
        }
        journal::each_broken(tx, organization, |entry, sum, is_apart| {
            let message = match is_apart {
                true => "has postings without their entry or with another date".to_owned(),
                false => format!("its postings sum to {sum} minor units, not to 0"),
            };
            self.problem("ledger", Some(organization), entry, &message);
            Ok(())
        })?;
        journal::each_lost_reversal(tx, organization, |entry, reverses| {
            let message = format!("reverses {reverses}, which does not exist");
            self.problem("ledger", Some(organization), entry, &message);
            Ok(())
        })?;
        receipts::each_without_entry(tx, organization, |receipt| {
            let message = "names a journal entry that does not exist";
            self.problem("reference", Some(organization), receipt, message);
            Ok(())
        })
    }

    /// What was approved is an expense, and to be paid until it is.
    pub(super) fn reimbursements(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
    ) -> Result<(), DbError> {
        for wrong in journal::disagreeing_reimbursements(tx, organization)? {
            self.disagrees(organization, &wrong, |(spent, payable)| {
                format!("{spent} minor units are spent and {payable} are to be paid")
            });
        }
        Ok(())
    }

    /// What was paid for is a sale until it is refunded.
    pub(super) fn orders(&mut self, tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(), DbError> {
        for wrong in journal::disagreeing_orders(tx, organization)? {
            self.disagrees(organization, &wrong, |(sold, _)| {
                format!("{sold} minor units are sold")
            });
        }
        Ok(())
    }

    fn disagrees<K: Kind>(
        &mut self,
        organization: OrganizationId,
        wrong: &Disagreement<K>,
        figures: impl Fn((i128, i128)) -> String,
    ) {
        if !wrong.is_there {
            let message = format!("has journal entries, but there is no such {}", K::NOUN);
            self.problem("reference", Some(organization), wrong.id, &message);
            return;
        }
        let message = format!(
            "by its status and amount {}, by the journal {}",
            figures(wrong.said),
            figures(wrong.booked)
        );
        self.problem("sum", Some(organization), wrong.id, &message);
    }

    /// Each is whole, and belongs to something.
    pub(super) fn attachments(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
    ) -> Result<(), DbError> {
        for attachment in attachments::all(tx, organization)? {
            let id = attachment.id;
            let parts = attachments::parts(tx, organization, id)?;
            let bytes: Vec<u8> = parts.into_iter().flat_map(|(_, part)| part).collect();
            if !attachment.is_whole(&bytes) {
                let message = format!(
                    "its parts have {} bytes of {}, or another SHA-256 sum",
                    bytes.len(),
                    attachment.size
                );
                self.problem("attachment", Some(organization), id, &message);
            }
            let is_there = match attachment.subject {
                Subject::Reimbursement(id) => table::owner::<Reimbursement>(tx, id)? == Some(organization),
                Subject::Entry(id) => journal::get(tx, organization, id)?.is_some(),
            };
            if !is_there {
                let message = format!("belongs to {}, which does not exist", attachment.subject);
                self.problem("reference", Some(organization), id, &message);
            }
        }
        for id in attachments::orphans(tx, organization)? {
            let message = "has parts, but there is no such attachment";
            self.problem("reference", Some(organization), id, message);
        }
        Ok(())
    }

    /// Every line that is settled has entries that sum to it, and no other line has any.
    pub(super) fn statements(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        accounts: &HashSet<AccountId>,
    ) -> Result<(), DbError> {
        for statement in statements::all(tx, organization)? {
            if !accounts.contains(&statement.account) {
                let message = format!("is of account {}, which does not exist", statement.account);
                self.problem("reference", Some(organization), statement.id, &message);
            }
        }
        statements::each_unexplained(tx, organization, |line| {
            let message = match (line.status, line.lost) {
                (_, lost) if lost > 0 => "names journal entries that do not exist".to_owned(),
                (LineStatus::Open | LineStatus::Ignored, _) => {
                    format!("is {} and has {} entries", line.status, line.links)
                }
                (LineStatus::Matched | LineStatus::Booked, _) => format!(
                    "is of {} minor units, and its {} entries sum to {} in its account",
                    line.amount, line.links, line.booked
                ),
            };
            self.problem("statement", Some(organization), line.line, &message);
            Ok(())
        })?;
        statements::each_stray(tx, organization, |line| {
            let message = "has a link or a statement that does not fit it";
            self.problem("statement", Some(organization), line, message);
            Ok(())
        })
    }

    fn not_owed(&mut self, organization: OrganizationId, payment: PaymentId, owed: i64, sum: i128) {
        let message =
            format!("{owed} minor units are owed by its amount and paidToDate, and {sum} by the journal");
        self.problem("sum", Some(organization), payment, &message);
    }
}
