//! Receipts: money that came in, and how it was shared out over charges.

use crate::account::Standing;
use crate::fields::Fields;
use crate::ids::{AccountId, EntryId, MemberId, PaymentId, ReceiptId};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::text::{NAME, REFERENCE};
use crate::time::{Date, Timestamp};
use crate::words;

words! {
    /// How money came or went.
    Method {
        /// In notes and coins.
        Cash "cash",
        /// By check.
        Check "check",
        /// By bank transfer.
        Transfer "transfer",
        /// By card.
        Card "card",
        /// In another way.
        Other "other",
    }
}

impl Method {
    /// Where the money lies, unless an officer says otherwise.
    pub const fn account(self) -> Standing {
        match self {
            Self::Cash => Standing::Cash,
            Self::Card => Standing::Clearing,
            Self::Check | Self::Transfer | Self::Other => Standing::Bank,
        }
    }
}

words! {
    /// Whether the money of a receipt still counts.
    ReceiptStatus {
        /// It counts.
        Recorded "recorded",
        /// The bank took it back.
        Bounced "bounced",
        /// It was recorded by mistake.
        Reversed "reversed",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    pub id: ReceiptId,
    /// The day the money came.
    pub date: Date,
    pub recorded_at: Timestamp,
    /// In minor units.
    pub amount: i64,
    pub method: Method,
    pub account: AccountId,
    /// The member who paid.
    pub payer: Option<MemberId>,
    /// Of a payer who is no member.
    pub payer_name: Option<String>,
    pub reference: Option<String>,
    /// The entry that counts. A move replaces it.
    pub entry: EntryId,
    pub status: ReceiptStatus,
}

impl Receipt {
    /// Reads a bundle line, without id and organization.
    pub fn read(id: ReceiptId, fields: &mut Fields<'_>, currency: Currency) -> Result<Self, Refusal> {
        let amount = fields.money("amount", currency)?.required()?;
        if amount.minor <= 0 {
            return Err(Refusal::invalid("amount", "must be greater than 0"));
        }
        Ok(Self {
            id,
            date: fields.date("date")?.required()?,
            recorded_at: fields.timestamp("recordedAt")?.required()?,
            amount: amount.minor,
            method: fields.word("method")?.required()?,
            account: fields.id("accountId")?.required()?,
            payer: fields.id("payerId")?.optional(),
            payer_name: fields.text("payerName", NAME)?.optional(),
            reference: fields.text("reference", REFERENCE)?.optional(),
            entry: fields.id("entryId")?.required()?,
            status: fields.word("status")?.required()?,
        })
    }
}

/// A charge that money can settle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Open {
    pub payment: PaymentId,
    /// In minor units.
    pub open: i64,
}

/// Shares an amount out over open charges in their order. Returns the parts and what is left.
pub fn share_out(amount: i64, open: &[Open]) -> (Vec<(PaymentId, i64)>, i64) {
    let mut left = amount;
    let mut parts = Vec::new();
    for charge in open {
        let part = charge.open.min(left);
        if part > 0 {
            parts.push((charge.payment, part));
            left -= part;
        }
    }
    (parts, left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_settles_charges_in_order_and_the_rest_is_left() {
        let open = |bits, open| Open {
            payment: PaymentId::from_bits(bits),
            open,
        };
        let charges = [open(1, 500), open(2, 300), open(3, 0), open(4, 100)];
        let shared = |amount| {
            let (parts, left) = share_out(amount, &charges);
            let parts: Vec<(u128, i64)> = parts.iter().map(|(id, part)| (id.bits(), *part)).collect();
            (parts, left)
        };
        assert_eq!(shared(400), (vec![(1, 400)], 0));
        assert_eq!(shared(850), (vec![(1, 500), (2, 300), (4, 50)], 0));
        assert_eq!(shared(1_000), (vec![(1, 500), (2, 300), (4, 100)], 100));
        assert_eq!(shared(0), (vec![], 0));
    }
}
