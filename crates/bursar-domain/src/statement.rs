//! Bank statements: what a file said about an account, and the lines in it.

use sha2::{Digest, Sha256};

use crate::fields::Fields;
use crate::ids::{AccountId, EntryId, MemberId, PaymentId, StatementId, StatementLineId};
use crate::journal::{Recorder, signed};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::text::{NAME, NOTE, REFERENCE, TextRule};
use crate::time::{Date, Timestamp};
use crate::words;

words! {
    /// The formats of statement files.
    StatementFormat {
        Camt053 "camt053",
        Mt940 "mt940",
        Ofx "ofx",
        Csv "csv",
    }
}

words! {
    /// What became of a line.
    LineStatus {
        /// Nobody has dealt with it.
        Open "open",
        /// Entries that were in the books account for it.
        Matched "matched",
        /// Entries were made from it.
        Booked "booked",
        /// It stays out of the books.
        Ignored "ignored",
    }
}

/// A balance that a file gave, on its day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Balance {
    pub date: Date,
    /// In minor units; negative when the account is overdrawn.
    pub amount: i64,
}

/// A file that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub id: StatementId,
    pub account: AccountId,
    pub format: StatementFormat,
    /// SHA-256 of the file, in hexadecimal.
    pub file_hash: String,
    /// The IBAN or number of the account in the file.
    pub own_account: Option<String>,
    /// The days of the first and the last line.
    pub first_date: Option<Date>,
    pub last_date: Option<Date>,
    pub opening: Option<Balance>,
    pub closing: Option<Balance>,
    pub recorder: Recorder,
    pub imported_at: Timestamp,
}

/// What an officer chose for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Payment(PaymentId),
    Entry(EntryId),
    /// The payer. Their money settles open charges by due day.
    Member(MemberId),
}

impl Target {
    pub fn parse(text: &str) -> Option<Self> {
        let payment = PaymentId::parse(text).map(Self::Payment);
        let entry = || EntryId::parse(text).map(Self::Entry);
        payment
            .or_else(entry)
            .or_else(|| MemberId::parse(text).map(Self::Member))
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Payment(id) => id.fmt(f),
            Self::Entry(id) => id.fmt(f),
            Self::Member(id) => id.fmt(f),
        }
    }
}

/// One movement of money on an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementLine {
    pub id: StatementLineId,
    /// The file that brought it first.
    pub statement: StatementId,
    pub account: AccountId,
    /// The booking day.
    pub date: Date,
    /// In minor units; money in is positive.
    pub amount: i64,
    /// The bank's own reference.
    pub reference: Option<String>,
    /// The reference that whoever ordered the payment gave it.
    pub end_to_end: Option<String>,
    pub counterparty_name: Option<String>,
    pub counterparty_account: Option<String>,
    pub text: String,
    /// Which of the equal lines of that day it is, from 1.
    pub number: i64,
    pub status: LineStatus,
    pub chosen: Vec<Target>,
}

/// SHA-256.
pub type LineIdentity = [u8; 32];

impl StatementLine {
    /// With the account, the day, the amount and the number, this tells a line from all others: by the bank's reference,
    /// else by its text.
    pub fn identity(&self) -> LineIdentity {
        let (kind, text) = match &self.reference {
            Some(reference) => ("reference", reference),
            None => ("text", &self.text),
        };
        Sha256::new()
            .chain_update(kind)
            .chain_update([0])
            .chain_update(text)
            .finalize()
            .into()
    }

    /// Reads a bundle line, without id and organization. The amount is left 0 if the currency is not known yet.
    pub fn read(
        id: StatementLineId,
        fields: &mut Fields<'_>,
        currency: Option<Currency>,
    ) -> Result<Self, Refusal> {
        let amount = fields.string("amount", |raw| match currency {
            Some(currency) => signed(raw, currency),
            None => Ok(0),
        })?;
        let target = |raw: &str| {
            Target::parse(raw)
                .ok_or_else(|| format!("must be the id of a payment, entry or member, got {raw:?}"))
        };
        Ok(Self {
            id,
            statement: fields.id("statementId")?.required()?,
            account: fields.id("accountId")?.required()?,
            date: fields.date("date")?.required()?,
            amount: amount.required()?,
            reference: fields.text("reference", REFERENCE)?.optional(),
            end_to_end: fields.text("endToEnd", REFERENCE)?.optional(),
            counterparty_name: fields.text("counterpartyName", NAME)?.optional(),
            counterparty_account: fields.text("counterpartyAccount", NAME)?.optional(),
            text: fields.text("text", NOTE)?.required()?,
            number: fields.integer("number", 1..=i64::MAX)?.required()?,
            status: fields.word("status")?.required()?,
            chosen: fields.strings("chosen", target)?.optional().unwrap_or_default(),
        })
    }
}

impl Statement {
    /// Reads a bundle line, without id and organization. Balances are left 0 if the currency is not known yet.
    pub fn read(
        id: StatementId,
        fields: &mut Fields<'_>,
        currency: Option<Currency>,
    ) -> Result<Self, Refusal> {
        let mut balance = |date: &'static str, amount: &'static str| {
            let date = fields.date(date)?.optional();
            let amount = fields.string(amount, |raw| match currency {
                Some(currency) => signed(raw, currency),
                None => Ok(0),
            })?;
            let balance = |(date, amount)| Balance { date, amount };
            Ok::<_, Refusal>(date.zip(amount.optional()).map(balance))
        };
        let opening = balance("openingDate", "openingBalance")?;
        let closing = balance("closingDate", "closingBalance")?;
        Ok(Self {
            id,
            account: fields.id("accountId")?.required()?,
            format: fields.word("format")?.required()?,
            file_hash: fields.text("fileHash", NAME)?.required()?,
            own_account: fields.text("ownAccount", NAME)?.optional(),
            first_date: fields.date("firstDate")?.optional(),
            last_date: fields.date("lastDate")?.optional(),
            opening,
            closing,
            recorder: Recorder {
                kind: fields.text("recorderKind", NAME)?.required()?,
                id: fields.text("recorderId", REFERENCE)?.optional(),
            },
            imported_at: fields.timestamp("importedAt")?.required()?,
        })
    }
}

/// As much of a text from a bank as a rule allows: one line, cut at its length. `None` if nothing is left.
pub fn fitted(rule: TextRule, text: &str) -> Option<String> {
    let words: Vec<&str> = text
        .split(|c: char| c.is_control() || c.is_whitespace())
        .filter(|word| !word.is_empty())
        .collect();
    let cut: String = words.join(" ").chars().take(rule.max).collect();
    rule.check(&cut).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banks_reference_comes_before_the_text() {
        let line = |reference: Option<&str>, text: &str| StatementLine {
            id: StatementLineId::from_bits(1),
            statement: StatementId::from_bits(1),
            account: AccountId::from_bits(2),
            date: Date::parse("2026-01-31").unwrap(),
            amount: 500,
            reference: reference.map(str::to_owned),
            end_to_end: None,
            counterparty_name: None,
            counterparty_account: None,
            text: text.to_owned(),
            number: 1,
            status: LineStatus::Open,
            chosen: Vec::new(),
        };
        assert_eq!(line(Some("A"), "x").identity(), line(Some("A"), "y").identity());
        assert_ne!(line(None, "x").identity(), line(None, "y").identity());
        assert_ne!(line(Some("x"), "").identity(), line(None, "x").identity());
    }

    #[test]
    fn texts_of_banks_are_made_to_fit() {
        assert_eq!(fitted(NAME, " a\n b\u{7}c ").as_deref(), Some("a b c"));
        assert_eq!(fitted(NAME, &"x".repeat(300)).map(|text| text.len()), Some(100));
        assert_eq!(fitted(NAME, "  "), None);
        assert_eq!(fitted(NOTE, ""), None);
    }
}
