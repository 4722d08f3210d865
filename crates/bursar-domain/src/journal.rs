//! The journal: entries of postings that sum to zero. Entries are added, never changed; a mistake is reversed.

use crate::account::Standing;
use crate::fields::Fields;
use crate::ids::{
    AccountId, CampaignId, EntryId, Id, MemberId, OrderId, OrganizationId, PaymentId, ReceiptId,
    ReimbursementId,
};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::text::{NAME, NOTE, REFERENCE};
use crate::time::{Date, Timestamp};
use crate::words;

words! {
    /// What an entry records.
    EntryKind {
        Charge "charge",
        Receipt "receipt",
        CreditApplied "credit applied",
        CreditRefund "credit refund",
        Discount "discount",
        Waiver "waiver",
        Correction "correction",
        /// Moves what is owed from one payment to its instalments.
        Plan "plan",
        Cancel "cancel",
        WriteOff "write-off",
        Refund "refund",
        /// The bank took the money back.
        Bounce "bounce",
        Dispute "dispute",
        DisputeWon "dispute won",
        DisputeLost "dispute lost",
        Fee "fee",
        Payout "payout",
        Expense "expense",
        Paid "expense paid",
        Voided "expense voided",
        Returned "payout returned",
        Sale "sale",
        SaleRefund "sale refund",
        Donation "donation",
        Income "income",
        Transfer "transfer",
        Opening "opening",
        /// Undoes a mistake. It has the date of what it reverses.
        Reversal "reversal",
    }
}

/// What a posting is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub member: Option<MemberId>,
    /// The chapter that owes.
    pub chapter: Option<OrganizationId>,
    pub payment: Option<PaymentId>,
    pub order: Option<OrderId>,
    pub reimbursement: Option<ReimbursementId>,
    pub campaign: Option<CampaignId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    pub account: AccountId,
    /// In minor units. A debit is positive, a credit negative.
    pub amount: i64,
    pub about: About,
}

/// Kept apart from dates, accounts and amounts, so that it can be erased.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Note {
    pub memo: Option<String>,
    /// The payer's or the bank's reference.
    pub reference: Option<String>,
    /// Of a payer who is no member.
    pub payer_name: Option<String>,
}

/// Who recorded an entry, as in the activity log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorder {
    pub kind: String,
    pub id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub id: EntryId,
    /// A day in the organization's time zone. Reports go by it.
    pub date: Date,
    pub recorded_at: Timestamp,
    pub kind: EntryKind,
    pub recorder: Recorder,
    pub reverses: Option<EntryId>,
    pub receipt: Option<ReceiptId>,
    pub note: Note,
    pub postings: Vec<Posting>,
}

/// A receipt for a group's dues can have as many.
pub const POSTINGS_MAX: usize = 2_000;

impl Entry {
    /// The rules of the journal.
    pub fn check(&self) -> Result<(), Refusal> {
        let refuse = |rule: String| Err(Refusal::invalid("postings", rule));
        if self.postings.len() < 2 || self.postings.len() > POSTINGS_MAX {
            return refuse(format!(
                "must be 2 to {POSTINGS_MAX} in one entry, got {}",
                self.postings.len()
            ));
        }
        if self.postings.iter().any(|posting| posting.amount == 0) {
            return refuse("must not have an amount of 0".to_owned());
        }
        match self
            .postings
            .iter()
            .map(|posting| i128::from(posting.amount))
            .sum::<i128>()
        {
            0 => Ok(()),
            sum => refuse(format!("must sum to 0, got {sum} minor units")),
        }
    }

    /// Reads a bundle line, without id and organization. Amounts are left 0 if the currency is not known yet.
    pub fn read(id: EntryId, fields: &mut Fields<'_>, currency: Option<Currency>) -> Result<Self, Refusal> {
        let posting = |fields: &mut Fields<'_>| {
            let amount = fields.string("amount", |raw| match currency {
                Some(currency) => signed(raw, currency),
                None => Ok(0),
            })?;
            Ok(Posting {
                account: fields.id("accountId")?.required()?,
                amount: amount.required()?,
                about: About {
                    member: fields.id("memberId")?.optional(),
                    chapter: fields.id("chapterId")?.optional(),
                    payment: fields.id("paymentId")?.optional(),
                    order: fields.id("orderId")?.optional(),
                    reimbursement: fields.id("reimbursementId")?.optional(),
                    campaign: fields.id("campaignId")?.optional(),
                },
            })
        };
        let entry = Self {
            id,
            date: fields.date("date")?.required()?,
            recorded_at: fields.timestamp("recordedAt")?.required()?,
            kind: fields.word("kind")?.required()?,
            recorder: Recorder {
                kind: fields.text("recorderKind", NAME)?.required()?,
                id: fields.text("recorderId", REFERENCE)?.optional(),
            },
            reverses: fields.id("reversesId")?.optional(),
            receipt: fields.id("receiptId")?.optional(),
            note: Note {
                memo: fields.text("memo", NOTE)?.optional(),
                reference: fields.text("reference", REFERENCE)?.optional(),
                payer_name: fields.text("payerName", NAME)?.optional(),
            },
            postings: fields.objects("postings", posting)?.required()?,
        };
        match currency {
            Some(_) => entry.check().map(|()| entry),
            None => Ok(entry),
        }
    }

    /// What the entry adds to an account, in minor units.
    pub fn sum_of(&self, account: AccountId) -> i128 {
        let of_account = self.postings.iter().filter(|posting| posting.account == account);
        of_account.map(|posting| i128::from(posting.amount)).sum()
    }

    /// What the entry adds to what is owed for a payment.
    pub fn owed_for(&self, payment: PaymentId) -> i64 {
        self.about_payment(Standing::Receivable, payment)
    }

    /// What the entry adds to what is disputed of a payment.
    pub fn disputed_of(&self, payment: PaymentId) -> i64 {
        self.about_payment(Standing::Disputes, payment)
    }

    fn about_payment(&self, account: Standing, payment: PaymentId) -> i64 {
        self.postings
            .iter()
            .filter(|posting| posting.account == account.id() && posting.about.payment == Some(payment))
            .map(|posting| posting.amount)
            .sum()
    }
}

/// An amount with or without a minus. The error reads on after the field's name.
pub fn signed(raw: &str, currency: Currency) -> Result<i64, String> {
    match raw.strip_prefix('-') {
        Some(rest) => Money::parse(rest, currency).map(|money| -money.minor),
        None => Money::parse(raw, currency).map(|money| money.minor),
    }
}

/// The postings of a new entry, debits before credits in the order they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Postings(Vec<Posting>);

impl Postings {
    /// Between two accounts. What it is about is said on the first.
    pub fn pair(
        debit: impl Into<AccountId>,
        about: About,
        credit: impl Into<AccountId>,
        amount: i64,
    ) -> Self {
        Self::default()
            .debit(debit, amount, about)
            .credit(credit, amount, About::default())
    }

    /// Between two accounts. What it is about is said on the second.
    pub fn paired(
        debit: impl Into<AccountId>,
        credit: impl Into<AccountId>,
        about: About,
        amount: i64,
    ) -> Self {
        Self::default()
            .debit(debit, amount, About::default())
            .credit(credit, amount, about)
    }

    #[must_use]
    pub fn debit(mut self, account: impl Into<AccountId>, amount: i64, about: About) -> Self {
        self.add(account, amount, about);
        self
    }

    #[must_use]
    pub fn credit(mut self, account: impl Into<AccountId>, amount: i64, about: About) -> Self {
        self.add(account, -amount, about);
        self
    }

    /// An amount of 0 is left out.
    pub fn add(&mut self, account: impl Into<AccountId>, amount: i64, about: About) {
        if amount != 0 {
            self.0.push(Posting {
                account: account.into(),
                amount,
                about,
            });
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What undoes these postings.
    pub fn reverse_of(postings: &[Posting]) -> Self {
        let reverse = |posting: &Posting| Posting {
            amount: -posting.amount,
            ..*posting
        };
        Self(postings.iter().map(reverse).collect())
    }

    pub fn into_vec(self) -> Vec<Posting> {
        self.0
    }
}

impl From<Standing> for AccountId {
    fn from(standing: Standing) -> Self {
        standing.id()
    }
}

/// An id that follows from another. It flips bits of the random part, so that it is the id of nothing else.
pub const fn derived<A, B>(id: Id<A>, which: u8) -> Id<B> {
    Id::from_bits(id.bits() ^ ((which as u128) << 58))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(postings: Postings) -> Entry {
        Entry {
            id: EntryId::from_bits(1),
            date: Date::parse("2026-01-31").unwrap(),
            recorded_at: Timestamp::from_micros(0),
            kind: EntryKind::Charge,
            recorder: Recorder {
                kind: "operator".to_owned(),
                id: None,
            },
            reverses: None,
            receipt: None,
            note: Note::default(),
            postings: postings.into_vec(),
        }
    }

    #[test]
    fn an_entry_sums_to_zero() {
        let about = About::default();
        let good = Postings::pair(Standing::Receivable, about, Standing::Dues, 500);
        entry(good.clone()).check().unwrap();
        let uneven = good.debit(Standing::Cash, 1, about);
        let refusal = entry(uneven).check().unwrap_err();
        assert!(refusal.message().contains("must sum to 0, got 1"), "{refusal}");
        assert!(entry(Postings::default()).check().is_err());
        let zero = Postings::pair(Standing::Cash, about, Standing::Bank, 0);
        assert!(zero.is_empty());
    }

    #[test]
    fn a_reversal_takes_back_every_posting() {
        let about = About {
            payment: Some(PaymentId::from_bits(7)),
            ..About::default()
        };
        let charge = entry(Postings::pair(Standing::Receivable, about, Standing::Dues, 500));
        let back = entry(Postings::reverse_of(&charge.postings));
        assert_eq!(charge.owed_for(PaymentId::from_bits(7)), 500);
        assert_eq!(back.owed_for(PaymentId::from_bits(7)), -500);
        assert_eq!(
            charge.sum_of(Standing::Dues.id()) + back.sum_of(Standing::Dues.id()),
            0
        );
    }
}
