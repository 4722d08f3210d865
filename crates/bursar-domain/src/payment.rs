//! Payments: charges that an organization raises. Money received is in the ledger.

use crate::account::Standing;
use crate::aside::{Aside, Charged, Sums};
use crate::creditor_reference;
use crate::fields::Fields;
use crate::ids::{AccountId, GroupId, MemberId, OrganizationId, PaymentId};
use crate::journal::About;
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Invariants, Surroundings, only_when, resource, take_fields};
use crate::states::{Machine, Verb};
use crate::text::{CREDITOR_REFERENCE, NOTE, REFERENCE};
use crate::time::{Date, Timestamp};
use crate::words;

words! {
    /// Where a payment stands.
    PaymentStatus {
        /// Nothing was received yet.
        Pending "pending",
        /// A payment provider is collecting it.
        Processing "processing",
        /// Part of it was received.
        PartiallyPaid "partially_paid",
        /// It was received in full.
        Paid "paid",
        /// It was cancelled. Nothing is owed.
        Cancelled "cancelled",
        /// The provider could not collect it, the bank returned it, or a dispute was lost.
        Failed "failed",
        /// The payer disputes it with their bank.
        Disputed "disputed",
    }
}

impl Machine for PaymentStatus {
    const NOUN: &'static str = "payment";

    fn moves(self) -> &'static [Self] {
        match self {
            Self::Pending => &[Self::Processing, Self::PartiallyPaid, Self::Paid, Self::Cancelled],
            Self::Processing => &[Self::Paid, Self::PartiallyPaid, Self::Failed],
            Self::PartiallyPaid => &[Self::Processing, Self::Paid, Self::Cancelled, Self::Pending],
            Self::Failed => &[Self::Processing, Self::Cancelled, Self::Pending, Self::Paid],
            Self::Paid => &[
                Self::Disputed,
                Self::Pending,
                Self::PartiallyPaid,
                Self::Cancelled,
            ],
            Self::Disputed => &[Self::Paid, Self::Failed],
            Self::Cancelled => &[],
        }
    }
}

words! {
    /// What an officer does to a payment, beside recording and reversing money.
    PaymentVerb {
        /// Voids it.
        Cancel "cancelled",
        /// The payer objects.
        Dispute "disputed",
        /// The dispute ends, and the money stays.
        Win "resolved as paid",
        /// The dispute ends, and the bank has taken the money back.
        Lose "resolved as failed",
    }
}

impl Verb for PaymentVerb {
    type State = PaymentStatus;

    fn starts_from(self) -> &'static [PaymentStatus] {
        match self {
            Self::Cancel => &[
                PaymentStatus::Pending,
                PaymentStatus::PartiallyPaid,
                PaymentStatus::Failed,
            ],
            Self::Dispute => &[PaymentStatus::Paid],
            Self::Win | Self::Lose => &[PaymentStatus::Disputed],
        }
    }

    fn leads_to(self) -> PaymentStatus {
        match self {
            Self::Cancel => PaymentStatus::Cancelled,
            Self::Dispute => PaymentStatus::Disputed,
            Self::Win => PaymentStatus::Paid,
            Self::Lose => PaymentStatus::Failed,
        }
    }
}

impl PaymentStatus {
    /// Whether the unpaid part is owed.
    pub const fn is_owed(self) -> bool {
        match self {
            Self::Pending | Self::PartiallyPaid | Self::Failed => true,
            Self::Processing | Self::Paid | Self::Cancelled | Self::Disputed => false,
        }
    }
}

resource! {
    /// A charge: dues or another amount that a member or a chapter owes the organization.
    Payment = "payment" {
        /// The member who owes it.
        member_id: Option<MemberId> => shown("memberId"),
        /// The group whose dues these are.
        group_id: Option<GroupId> => shown("groupId"),
        /// The chapter that owes it.
        target_organization_id: Option<OrganizationId> => shown("targetOrganizationId"),
        /// Purpose of the charge. Empty if there is none.
        description: String => shown("description").text(NOTE),
        /// Total amount of the charge.
        amount: Money => shown("amount").required(),
        /// Amount received so far. Never more than `amount`.
        paid_to_date: Money => shown("paidToDate"),
        /// The organization's currency, as an ISO 4217 code.
        currency: Currency => shown("currency"),
        /// Status of the payment.
        status: PaymentStatus => shown("status"),
        /// The day on which it is due.
        due_date: Option<Date> => shown("dueDate"),
        /// When it was paid in full.
        paid_at: Option<Timestamp> => shown("paidAt"),
        /// When it was cancelled.
        voided_at: Option<Timestamp> => shown("voidedAt"),
        /// The provider's own name for it.
        provider_id: Option<String> => hidden("providerId").text(REFERENCE),
        /// The due day of the dues that it is. A late fee, an instalment or another charge is no dues.
        dues_for: Option<Date> => hidden("duesFor"),
        /// The income account that it counts in. Null for dues.
        income_account_id: Option<AccountId> => hidden("incomeAccountId"),
        /// The charge that it is a late fee for.
        fee_of: Option<PaymentId> => hidden("feeOf"),
        /// What the payer writes on a transfer: a creditor reference by ISO 11649.
        reference: Option<String> => hidden("reference").code(CREDITOR_REFERENCE),
    }
}

impl Payment {
    /// What was received stays.
    pub fn cancel(&mut self, now: Timestamp) -> Result<(), Refusal> {
        self.perform(PaymentVerb::Cancel, now)
    }

    /// What was received stays until the dispute ends.
    pub fn dispute(&mut self, now: Timestamp) -> Result<(), Refusal> {
        self.perform(PaymentVerb::Dispute, now)
    }

    /// The money stays.
    pub fn win_dispute(&mut self, now: Timestamp) -> Result<(), Refusal> {
        PaymentVerb::Win.after(self.status)?;
        if self.paid_to_date.minor < self.amount.minor {
            return Err(Refusal::conflict(format!(
                "only {} of {} was received, so the payment cannot be paid; resolve it as failed and record what comes",
                self.paid_to_date, self.amount
            )));
        }
        self.perform(PaymentVerb::Win, now)
    }

    /// The bank took back `minor`, in minor units. It is owed again.
    pub fn lose_dispute(&mut self, minor: i64, now: Timestamp) -> Result<(), Refusal> {
        self.perform(PaymentVerb::Lose, now)?;
        self.paid_to_date.minor -= minor;
        self.paid_at = None;
        Ok(())
    }

    fn perform(&mut self, verb: PaymentVerb, now: Timestamp) -> Result<(), Refusal> {
        verb.after(self.status)?;
        self.move_to(verb.leads_to(), now)
    }

    /// Sets the stamp of the new state.
    fn move_to(&mut self, next: PaymentStatus, now: Timestamp) -> Result<(), Refusal> {
        self.status = self.status.to(next)?;
        match next {
            PaymentStatus::Paid => self.paid_at = Some(now),
            PaymentStatus::Cancelled => self.voided_at = Some(now),
            PaymentStatus::Pending
            | PaymentStatus::Processing
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Failed
            | PaymentStatus::Disputed => {}
        }
        Ok(())
    }

    /// Whether money can be allocated to it.
    pub const fn takes_money(&self) -> bool {
        match self.status {
            PaymentStatus::Pending
            | PaymentStatus::Processing
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Failed => true,
            PaymentStatus::Paid | PaymentStatus::Cancelled | PaymentStatus::Disputed => false,
        }
    }

    /// A provider collects money for it. Nothing changes for one that is not owed.
    pub fn process(&mut self, now: Timestamp) -> Result<(), Refusal> {
        match self.status.is_owed() {
            true => self.move_to(PaymentStatus::Processing, now),
            false => Ok(()),
        }
    }

    /// The provider could not collect. Nothing changes for one that is settled, void or disputed.
    pub fn fail(&mut self, now: Timestamp) -> Result<(), Refusal> {
        match self.status {
            PaymentStatus::Pending | PaymentStatus::PartiallyPaid => {
                self.move_to(PaymentStatus::Processing, now)?;
                self.move_to(PaymentStatus::Failed, now)
            }
            PaymentStatus::Processing => self.move_to(PaymentStatus::Failed, now),
            PaymentStatus::Paid
            | PaymentStatus::Cancelled
            | PaymentStatus::Failed
            | PaymentStatus::Disputed => Ok(()),
        }
    }

    /// Records an amount received, in minor units: all that is owed, or a part of it.
    pub fn receive(&mut self, minor: i64, now: Timestamp) -> Result<(), Refusal> {
        let open = self.amount.minor - self.paid_to_date.minor;
        if !self.takes_money() {
            return Err(Refusal::conflict(format!(
                "the payment is {}; nothing can be received for it",
                self.status
            )));
        }
        if minor <= 0 {
            return Err(Refusal::invalid("amount", "must be greater than 0"));
        }
        if minor > open {
            let (open, given) = (
                Money::new(open, self.amount.currency),
                Money::new(minor, self.amount.currency),
            );
            return Err(Refusal::conflict(format!(
                "{open} is still owed, and {given} is more; record at most what is owed"
            )));
        }
        if self.status == PaymentStatus::Failed {
            // A new attempt, which this money settles.
            self.move_to(PaymentStatus::Processing, now)?;
        }
        self.paid_to_date.minor += minor;
        match (minor == open, self.status) {
            (true, _) => self.move_to(PaymentStatus::Paid, now),
            (false, PaymentStatus::PartiallyPaid) => Ok(()),
            (false, _) => self.move_to(PaymentStatus::PartiallyPaid, now),
        }
    }

    /// Reverses an amount that was not received after all: the payment has failed, and that amount is owed again. A
    /// cancelled one stays cancelled.
    pub fn take_back(&mut self, minor: i64, now: Timestamp) -> Result<(), Refusal> {
        if minor <= 0 || minor > self.paid_to_date.minor {
            return Err(Refusal::conflict(format!(
                "{} was received; no more can be reversed",
                self.paid_to_date
            )));
        }
        match self.status {
            PaymentStatus::Paid => self.move_to(PaymentStatus::Disputed, now)?,
            PaymentStatus::PartiallyPaid => self.move_to(PaymentStatus::Processing, now)?,
            PaymentStatus::Disputed
            | PaymentStatus::Processing
            | PaymentStatus::Failed
            | PaymentStatus::Cancelled => {}
            PaymentStatus::Pending => {
                return Err(Refusal::conflict(format!(
                    "the payment is {}; there is nothing to reverse",
                    self.status
                )));
            }
        }
        self.paid_to_date.minor -= minor;
        self.paid_at = None;
        if matches!(self.status, PaymentStatus::Disputed | PaymentStatus::Processing) {
            self.move_to(PaymentStatus::Failed, now)?;
        }
        Ok(())
    }

    /// Takes away money that was recorded by mistake or belongs to somebody else: nothing failed, the charge is open
    /// as before. A cancelled payment stays cancelled.
    pub fn unrecord(&mut self, minor: i64, now: Timestamp) -> Result<(), Refusal> {
        if minor <= 0 || minor > self.paid_to_date.minor {
            return Err(Refusal::conflict(format!(
                "{} was received; no more can be taken away",
                self.paid_to_date
            )));
        }
        match self.status {
            PaymentStatus::Disputed | PaymentStatus::Processing => {
                return Err(Refusal::conflict(format!(
                    "the payment is {}; its money can be moved when that has ended",
                    self.status
                )));
            }
            PaymentStatus::Pending
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Paid
            | PaymentStatus::Cancelled
            | PaymentStatus::Failed => {}
        }
        self.paid_to_date.minor -= minor;
        self.paid_at = None;
        match (self.status, self.paid_to_date.minor) {
            (PaymentStatus::Paid | PaymentStatus::PartiallyPaid | PaymentStatus::Failed, 0) => {
                self.move_to(PaymentStatus::Pending, now)
            }
            (PaymentStatus::Paid, _) => self.move_to(PaymentStatus::PartiallyPaid, now),
            _ => Ok(()),
        }
    }

    /// Sets a new amount, never below what was paid. At what was paid it is paid; above it, it is open again.
    pub fn adjust(&mut self, minor: i64, now: Timestamp) -> Result<(), Refusal> {
        match self.status {
            PaymentStatus::Pending
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Failed
            | PaymentStatus::Paid => {}
            PaymentStatus::Processing | PaymentStatus::Cancelled | PaymentStatus::Disputed => {
                return Err(Refusal::conflict(format!(
                    "the payment is {}; only a pending, partially paid, failed or paid one can be adjusted",
                    self.status
                )));
            }
        }
        let new = Money::new(minor, self.amount.currency);
        if minor < self.paid_to_date.minor || minor <= 0 {
            return Err(Refusal::invalid(
                "amount",
                format!(
                    "must be greater than 0 and not below what was paid, {}, got {new}; refund the rest first",
                    self.paid_to_date
                ),
            ));
        }
        self.amount = new;
        let paid = self.paid_to_date.minor;
        match self.status {
            PaymentStatus::Paid if paid < minor => {
                self.paid_at = None;
                self.move_to(PaymentStatus::PartiallyPaid, now)
            }
            PaymentStatus::PartiallyPaid | PaymentStatus::Failed if paid == minor => {
                self.move_to(PaymentStatus::Paid, now)
            }
            _ => Ok(()),
        }
    }

    /// Pays back money: `amount` and `paidToDate` go down together. All of it leaves the amount and cancels. What is
    /// disputed of it, in minor units, is not there to be paid back.
    pub fn refund(&mut self, minor: i64, disputed: i64, now: Timestamp) -> Result<(), Refusal> {
        let (paid, left) = (self.paid_to_date, self.paid_to_date.minor - disputed);
        let is_there = match self.status {
            PaymentStatus::PartiallyPaid | PaymentStatus::Failed | PaymentStatus::Paid => true,
            PaymentStatus::Disputed => left > 0,
            PaymentStatus::Pending | PaymentStatus::Processing | PaymentStatus::Cancelled => false,
        };
        if !is_there {
            return Err(Refusal::conflict(format!(
                "the payment is {}; only a paid, partially paid or failed one can be refunded",
                self.status
            )));
        }
        if minor <= 0 || minor > left {
            let most = match disputed {
                0 => format!("what was paid, {paid}"),
                _ => format!(
                    "what was paid and is not disputed, {}",
                    Money::new(left, paid.currency)
                ),
            };
            return Err(Refusal::invalid(
                "amount",
                format!(
                    "must be greater than 0 and at most {most}, got {}",
                    Money::new(minor, paid.currency)
                ),
            ));
        }
        self.paid_to_date.minor -= minor;
        if self.paid_to_date.minor == 0 {
            self.paid_at = None;
            return self.move_to(PaymentStatus::Cancelled, now);
        }
        self.amount.minor -= minor;
        Ok(())
    }

    /// Cancels a charge that credit had met, after the credit was given back.
    pub fn cancel_raised(&mut self, now: Timestamp) -> Result<(), Refusal> {
        self.paid_to_date.minor = 0;
        self.paid_at = None;
        self.move_to(PaymentStatus::Cancelled, now)
    }

    /// What postings to what is owed carry.
    pub fn about(&self) -> About {
        About {
            member: self.member_id,
            chapter: self.target_organization_id,
            payment: Some(self.id),
            ..About::default()
        }
    }

    pub fn income_account(&self) -> AccountId {
        self.income_account_id.unwrap_or(Standing::Dues.id())
    }

    /// What the books say is owed for it: nothing once it is cancelled.
    pub const fn receivable_minor(&self) -> i64 {
        match self.status {
            PaymentStatus::Cancelled => 0,
            PaymentStatus::Pending
            | PaymentStatus::Processing
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Paid
            | PaymentStatus::Failed
            | PaymentStatus::Disputed => self.amount.minor - self.paid_to_date.minor,
        }
    }

    pub const fn owed_minor(&self) -> i64 {
        if self.status.is_owed() {
            self.amount.minor - self.paid_to_date.minor
        } else {
            0
        }
    }

    /// The status must agree with what was paid.
    fn check_paid(&self) -> Result<(), Refusal> {
        let (paid, amount, status) = (self.paid_to_date, self.amount, self.status);
        if !(0..=amount.minor).contains(&paid.minor) {
            let rule = format!("must be at most the amount, {amount}, got {paid}");
            return Err(Refusal::invalid("paidToDate", rule));
        }
        let is_all = paid.minor == amount.minor;
        let rule = match status {
            PaymentStatus::Pending if paid.minor > 0 => format!("must be 0, got {paid}"),
            PaymentStatus::PartiallyPaid if paid.minor == 0 || is_all => {
                format!("must be more than 0 and less than the amount, {amount}, got {paid}")
            }
            PaymentStatus::Paid | PaymentStatus::Disputed if !is_all => {
                format!("must be the amount, {amount}, got {paid}")
            }
            PaymentStatus::Processing | PaymentStatus::Failed | PaymentStatus::Cancelled if is_all => {
                format!("must be less than the amount, {amount}, got {paid}")
            }
            PaymentStatus::Pending
            | PaymentStatus::Processing
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Paid
            | PaymentStatus::Cancelled
            | PaymentStatus::Failed
            | PaymentStatus::Disputed => return Ok(()),
        };
        Err(Refusal::invalid(
            "paidToDate",
            format!("{rule}, when the status is {status}"),
        ))
    }

    /// For a payment without a status, from the amount and what was paid.
    fn status_by_paid(&self) -> PaymentStatus {
        match self.paid_to_date.minor {
            0 => PaymentStatus::Pending,
            paid if paid < self.amount.minor => PaymentStatus::PartiallyPaid,
            _ => PaymentStatus::Paid,
        }
    }
}

/// For a field that a bundle gives.
pub(crate) fn check_reference(reference: Option<&str>) -> Result<(), Refusal> {
    reference.map_or(Ok(()), |text| creditor_reference::given(text).map(drop))
}

impl Invariants for Payment {
    fn aside(&self) -> Option<Aside> {
        let (amount, paid) = (self.amount.minor, self.paid_to_date.minor);
        Some(Aside::Charge(Charged {
            due: self.due_date,
            group: self.group_id,
            sums: Sums {
                expected: match self.status {
                    PaymentStatus::Cancelled => paid,
                    _ => amount,
                },
                collected: paid,
                open: self.owed_minor(),
            },
        }))
    }

    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        take_fields(self, fields)?;
        if fields.is_new() && !fields.has("status") {
            self.status = self.status_by_paid();
        }
        // A bundle from before dues were told apart: a payment of a group, member and day is those dues.
        if fields.is_new() && !fields.has("duesFor") && self.group_id.is_some() && self.member_id.is_some() {
            self.dues_for = self.due_date;
        }
        Ok(())
    }

    fn loaded(&mut self) -> Result<(), String> {
        match self.paid_to_date.minor > self.amount.minor {
            true => Err("has more paid to date than its amount".to_owned()),
            false => Ok(()),
        }
    }

    fn check(&self, around: &Surroundings) -> Result<(), Refusal> {
        match (self.member_id, self.target_organization_id) {
            (Some(_), Some(_)) => {
                return Err(Refusal::invalid(
                    "targetOrganizationId",
                    "must be null when memberId is given; a payment has one debtor",
                ));
            }
            (None, None) if !around.is_part => {
                return Err(Refusal::invalid(
                    "memberId",
                    "is required unless targetOrganizationId is given; a payment has one debtor",
                ));
            }
            (Some(_), None) | (None, Some(_)) | (None, None) => {}
        }
        if self.amount.minor <= 0 {
            return Err(Refusal::invalid("amount", "must be greater than 0"));
        }
        self.check_paid()?;
        check_reference(self.reference.as_deref())?;
        let status = self.status;
        // A dispute or a reversal can leave the stamp behind. A payment that nobody paid has none.
        only_when("paidAt", self.paid_at, status != PaymentStatus::Pending, "paid")?;
        only_when(
            "voidedAt",
            self.voided_at,
            status == PaymentStatus::Cancelled,
            "cancelled",
        )?;
        around.past("paidAt", self.paid_at)?;
        around.past("voidedAt", self.voided_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::PaymentId;
    use crate::resource::{Resource, Stamps};
    use crate::states::testing::{assert_table, assert_verbs};

    #[test]
    fn transitions() {
        assert_table(
            PaymentStatus::ALL,
            &[
                "pending → processing, partially_paid, paid, cancelled",
                "processing → paid, partially_paid, failed",
                "partially_paid → processing, paid, cancelled, pending",
                "failed → processing, cancelled, pending, paid",
                "paid → disputed, pending, partially_paid, cancelled",
                "disputed → paid, failed",
                "cancelled → ",
            ],
        );
    }

    #[test]
    fn verbs_name_where_they_start() {
        assert_verbs(
            PaymentVerb::ALL,
            PaymentStatus::ALL,
            &[
                "cancelled: pending, partially_paid, failed → cancelled",
                "disputed: paid → disputed",
                "resolved as paid: disputed → paid",
                "resolved as failed: disputed → failed",
            ],
        );
    }

    #[test]
    fn what_is_received_and_taken_back() {
        let at = Timestamp::from_micros(5);
        let mut payment = Payment::blank(PaymentId::from_bits(1), Currency::USD, Stamps::at(at));
        payment.amount.minor = 10_000;
        assert!(
            payment
                .receive(10_001, at)
                .unwrap_err()
                .message()
                .contains("100.00 is still owed")
        );
        payment.receive(4_000, at).unwrap();
        assert_eq!(
            (payment.status, payment.owed_minor()),
            (PaymentStatus::PartiallyPaid, 6_000)
        );
        payment.receive(1_000, at).unwrap();
        payment.receive(5_000, at).unwrap();
        assert_eq!((payment.status, payment.paid_at), (PaymentStatus::Paid, Some(at)));
        assert!(payment.receive(1, at).is_err());
        payment.take_back(5_000, at).unwrap();
        assert_eq!(
            (payment.status, payment.owed_minor(), payment.paid_at),
            (PaymentStatus::Failed, 5_000, None)
        );
        payment.receive(5_000, at).unwrap();
        assert_eq!(payment.status, PaymentStatus::Paid);
        let mut partly = Payment {
            status: PaymentStatus::Pending,
            ..payment.clone()
        };
        partly.paid_to_date.minor = 0;
        partly.receive(3_000, at).unwrap();
        assert!(partly.take_back(3_001, at).is_err());
        let mut half = partly.clone();
        half.take_back(1_000, at).unwrap();
        assert_eq!(
            (half.status, half.owed_minor()),
            (PaymentStatus::Failed, 8_000),
            "some money is still on it"
        );
        partly.take_back(3_000, at).unwrap();
        assert_eq!(
            (partly.status, partly.owed_minor()),
            (PaymentStatus::Failed, 10_000)
        );
    }

    /// Each row: amount, paid, status; what is done; amount, paid and status afterwards, or a part of the refusal.
    #[test]
    fn what_officers_change() {
        type Deed = fn(&mut Payment, i64, Timestamp) -> Result<(), Refusal>;
        type State = (i64, i64, PaymentStatus);
        let (unrecord, adjust): (Deed, Deed) = (Payment::unrecord, Payment::adjust);
        let refund: Deed = |payment, minor, at| payment.refund(minor, 0, at);
        // 40 of it are disputed.
        let refund_rest: Deed = |payment, minor, at| payment.refund(minor, 40, at);
        let at = Timestamp::from_micros(5);
        use PaymentStatus::{Cancelled, Disputed, Failed, Paid, PartiallyPaid, Pending};
        let table: [(State, Deed, i64, Result<State, &str>); 16] = [
            ((100, 100, Paid), unrecord, 100, Ok((100, 0, Pending))),
            ((100, 100, Paid), unrecord, 40, Ok((100, 60, PartiallyPaid))),
            ((100, 60, PartiallyPaid), unrecord, 60, Ok((100, 0, Pending))),
            ((100, 60, Cancelled), unrecord, 60, Ok((100, 0, Cancelled))),
            (
                (100, 60, PartiallyPaid),
                unrecord,
                61,
                Err("no more can be taken away"),
            ),
            ((100, 100, Disputed), unrecord, 10, Err("when that has ended")),
            ((100, 0, Pending), adjust, 80, Ok((80, 0, Pending))),
            ((100, 60, PartiallyPaid), adjust, 60, Ok((60, 60, Paid))),
            ((100, 60, Failed), adjust, 60, Ok((60, 60, Paid))),
            ((100, 100, Paid), adjust, 120, Ok((120, 100, PartiallyPaid))),
            (
                (100, 60, PartiallyPaid),
                adjust,
                59,
                Err("not below what was paid"),
            ),
            ((100, 0, Cancelled), adjust, 80, Err("can be adjusted")),
            ((100, 100, Paid), refund, 30, Ok((70, 70, Paid))),
            ((100, 60, PartiallyPaid), refund, 60, Ok((100, 0, Cancelled))),
            ((100, 60, PartiallyPaid), refund, 61, Err("at most what was paid")),
            (
                (100, 100, Disputed),
                refund_rest,
                61,
                Err("and is not disputed, 0.60"),
            ),
        ];
        for ((amount, paid, status), deed, minor, expected) in table {
            let mut payment = Payment::blank(PaymentId::from_bits(1), Currency::USD, Stamps::at(at));
            (payment.amount.minor, payment.paid_to_date.minor, payment.status) = (amount, paid, status);
            let done = deed(&mut payment, minor, at);
            match expected {
                Ok(expected) => {
                    done.unwrap();
                    let state = (payment.amount.minor, payment.paid_to_date.minor, payment.status);
                    assert_eq!(state, expected, "{amount} {paid} {status}");
                    payment.check_paid().unwrap();
                }
                Err(part) => assert!(
                    done.unwrap_err().message().contains(part),
                    "{amount} {paid} {status}"
                ),
            }
        }
    }

    #[test]
    fn moves_stamp() {
        let at = Timestamp::from_micros(5);
        let mut payment = Payment::blank(PaymentId::from_bits(1), Currency::USD, Stamps::at(at));
        payment.move_to(PaymentStatus::Paid, at).unwrap();
        assert_eq!(
            (payment.status, payment.paid_at, payment.voided_at),
            (PaymentStatus::Paid, Some(at), None)
        );
        let before = payment.clone();
        assert!(payment.move_to(PaymentStatus::Processing, at).is_err());
        assert_eq!(payment, before, "a refused move leaves no trace");
    }
}
