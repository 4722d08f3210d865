//! Reimbursements: what the organization owes a member or another organization for an expense.

use crate::ids::{MemberId, OrganizationId};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Invariants, Surroundings, only_when, resource};
use crate::states::{Machine, Verb};
use crate::text::{CATEGORY, NOTE, REFERENCE};
use crate::time::{Date, Timestamp};
use crate::words;

words! {
    /// Where a reimbursement stands.
    ReimbursementStatus {
        /// It is a draft and can be changed.
        Draft "draft",
        /// It waits for a reviewer.
        Submitted "submitted",
        /// A reviewer agreed. It waits to be paid.
        Approved "approved",
        /// A reviewer sent it back.
        Rejected "rejected",
        /// It was paid out.
        Paid "paid",
        /// It was withdrawn.
        Voided "voided",
    }
}

impl Machine for ReimbursementStatus {
    const NOUN: &'static str = "reimbursement";

    fn moves(self) -> &'static [Self] {
        match self {
            Self::Draft => &[Self::Submitted, Self::Voided],
            Self::Submitted => &[Self::Approved, Self::Rejected, Self::Voided],
            Self::Approved => &[Self::Paid, Self::Voided],
            Self::Rejected => &[Self::Draft],
            Self::Paid => &[Self::Approved],
            Self::Voided => &[],
        }
    }
}

words! {
    /// What an officer does to a reimbursement.
    ReimbursementVerb {
        /// Hands a draft in.
        Submit "submitted",
        /// Agrees to pay it.
        Approve "approved",
        /// Sends it back.
        Reject "rejected",
        /// Makes it a draft again.
        Reopen "reopened",
        /// Pays it out.
        Pay "paid",
        /// Withdraws it.
        Void "voided",
        /// The payout came back.
        Return "returned",
    }
}

impl Verb for ReimbursementVerb {
    type State = ReimbursementStatus;

    fn starts_from(self) -> &'static [ReimbursementStatus] {
        use ReimbursementStatus::{Approved, Draft, Paid, Rejected, Submitted};
        match self {
            Self::Submit => &[Draft],
            Self::Approve | Self::Reject => &[Submitted],
            Self::Reopen => &[Rejected],
            Self::Pay => &[Approved],
            Self::Void => &[Draft, Submitted, Approved],
            Self::Return => &[Paid],
        }
    }

    fn leads_to(self) -> ReimbursementStatus {
        match self {
            Self::Submit => ReimbursementStatus::Submitted,
            Self::Approve | Self::Return => ReimbursementStatus::Approved,
            Self::Reject => ReimbursementStatus::Rejected,
            Self::Reopen => ReimbursementStatus::Draft,
            Self::Pay => ReimbursementStatus::Paid,
            Self::Void => ReimbursementStatus::Voided,
        }
    }
}

resource! {
    /// An expense that the organization pays back to a member or to another organization.
    Reimbursement = "reimbursement" {
        /// The member who is paid.
        member_id: Option<MemberId> => shown("memberId"),
        /// The organization that is paid.
        recipient_organization_id: Option<OrganizationId> => shown("recipientOrganizationId"),
        /// Amount to be paid.
        amount: Money => shown("amount").required(),
        /// The organization's currency, as an ISO 4217 code.
        currency: Currency => shown("currency"),
        /// Category of the expense, such as Travel.
        category: Option<String> => shown("category").text(CATEGORY),
        /// Description of the expense. Empty if there is none.
        description: String => shown("description").text(NOTE),
        /// The day on which the expense was incurred.
        incurred_at: Option<Date> => shown("incurredAt"),
        /// Status of the reimbursement.
        status: ReimbursementStatus => shown("status"),
        /// When it was submitted for review.
        submitted_at: Option<Timestamp> => shown("submittedAt"),
        /// When it was approved or rejected.
        reviewed_at: Option<Timestamp> => shown("reviewedAt"),
        /// When it was paid out.
        paid_at: Option<Timestamp> => shown("paidAt"),
        /// When it was withdrawn.
        voided_at: Option<Timestamp> => shown("voidedAt"),
        /// References of receipts.
        receipts: Vec<String> => hidden("receipts").text(REFERENCE),
        /// The payout's reference.
        payout_reference: Option<String> => hidden("payoutReference").text(REFERENCE),
        /// What the reviewer wrote.
        reviewer_note: Option<String> => hidden("reviewerNote").text(NOTE),
    }
}

impl Reimbursement {
    /// Sets the stamp of the new state. Approving has its own rule: [`Reimbursement::approve`].
    pub fn perform(&mut self, verb: ReimbursementVerb, now: Timestamp) -> Result<(), Refusal> {
        self.status = verb.after(self.status)?;
        if verb == ReimbursementVerb::Return {
            self.paid_at = None;
            return Ok(());
        }
        match self.status {
            ReimbursementStatus::Submitted => self.submitted_at = Some(now),
            ReimbursementStatus::Approved | ReimbursementStatus::Rejected => self.reviewed_at = Some(now),
            ReimbursementStatus::Paid => self.paid_at = Some(now),
            ReimbursementStatus::Voided => self.voided_at = Some(now),
            ReimbursementStatus::Draft => {}
        }
        Ok(())
    }

    /// Refused if the approver is the one who is paid (`is_own`).
    pub fn approve(&mut self, is_own: bool, now: Timestamp) -> Result<(), Refusal> {
        if is_own {
            let message = "nobody approves their own reimbursement; ask another admin".to_owned();
            return Err(Refusal::Forbidden { message });
        }
        self.perform(ReimbursementVerb::Approve, now)
    }
}

impl Invariants for Reimbursement {
    fn check(&self, around: &Surroundings) -> Result<(), Refusal> {
        // It may name nobody yet, but not two recipients.
        if self.member_id.is_some() && self.recipient_organization_id.is_some() {
            return Err(Refusal::invalid(
                "recipientOrganizationId",
                "must be null when memberId is given; name one of the two",
            ));
        }
        if self.amount.minor <= 0 {
            return Err(Refusal::invalid("amount", "must be greater than 0"));
        }
        if let Some(day) = self.incurred_at.filter(|day| *day > around.latest_day()) {
            let rule = format!("must not be in the future, got {day}");
            return Err(Refusal::invalid("incurredAt", rule));
        }
        let status = self.status;
        only_when(
            "paidAt",
            self.paid_at,
            status == ReimbursementStatus::Paid,
            "paid",
        )?;
        only_when(
            "voidedAt",
            self.voided_at,
            status == ReimbursementStatus::Voided,
            "voided",
        )?;
        around.past("submittedAt", self.submitted_at)?;
        around.past("reviewedAt", self.reviewed_at)?;
        around.past("paidAt", self.paid_at)?;
        around.past("voidedAt", self.voided_at)?;
        // A reimbursement that is submitted again keeps its older review.
        let is_reviewed = match status {
            ReimbursementStatus::Approved | ReimbursementStatus::Rejected | ReimbursementStatus::Paid => true,
            ReimbursementStatus::Draft | ReimbursementStatus::Submitted | ReimbursementStatus::Voided => {
                false
            }
        };
        let mut last = ("submittedAt", self.submitted_at);
        // Money has the day it went, which may be before somebody approved it.
        let steps = [
            ("reviewedAt", self.reviewed_at.filter(|_| is_reviewed)),
            ("voidedAt", self.voided_at),
        ];
        for (field, at) in steps {
            let Some(at) = at else { continue };
            // Clocks of two machines may differ by less than a day.
            if let Some(before) = last.1.filter(|before| at.date() < before.date()) {
                let rule = format!("must not be before {}, {before}, got {at}", last.0);
                return Err(Refusal::invalid(field, rule));
            }
            last = (field, Some(at));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ReimbursementId;
    use crate::resource::{Resource, Stamps};
    use crate::states::testing::{assert_table, assert_verbs};

    #[test]
    fn transitions() {
        assert_table(
            ReimbursementStatus::ALL,
            &[
                "draft → submitted, voided",
                "submitted → approved, rejected, voided",
                "approved → paid, voided",
                "rejected → draft",
                "paid → approved",
                "voided → ",
            ],
        );
        assert_verbs(
            ReimbursementVerb::ALL,
            ReimbursementStatus::ALL,
            &[
                "submitted: draft → submitted",
                "approved: submitted → approved",
                "rejected: submitted → rejected",
                "reopened: rejected → draft",
                "paid: approved → paid",
                "voided: draft, submitted, approved → voided",
                "returned: paid → approved",
            ],
        );
    }

    #[test]
    fn each_move_sets_its_stamp_and_nobody_approves_their_own() {
        let at = |n| Timestamp::from_micros(n);
        let mut r = Reimbursement::blank(ReimbursementId::from_bits(1), Currency::USD, Stamps::at(at(0)));
        r.perform(ReimbursementVerb::Submit, at(1)).unwrap();
        assert!(r.approve(true, at(2)).unwrap_err().message().contains("own"));
        assert_eq!(r.status, ReimbursementStatus::Submitted);
        r.approve(false, at(2)).unwrap();
        r.perform(ReimbursementVerb::Pay, at(3)).unwrap();
        assert_eq!(
            [r.submitted_at, r.reviewed_at, r.paid_at, r.voided_at],
            [Some(at(1)), Some(at(2)), Some(at(3)), None]
        );
    }
}
