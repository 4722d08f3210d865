//! Books a line as something that is no charge, or in parts.

use bursar_domain::Refusal;
use bursar_domain::ids::{CampaignId, EntryId, MemberId, PaymentId, StatementLineId};
use bursar_domain::statement::StatementLine;

use super::confirm::{memo_of, receipt_of, reference_of};
use super::{CHANGE, Settled, find_open, links};
use crate::act::Act;
use crate::books;
use crate::books::entries::{self, NewPosting};
use crate::books::receipts;
use crate::error::AppError;

/// Parts of one line.
const PARTS_MAX: usize = 100;

#[derive(Clone, Debug)]
pub struct Booking {
    /// Where the money came from or went to: an income, expense or asset account.
    pub account: Option<String>,
    /// A campaign that it was donated to.
    pub campaign: Option<CampaignId>,
    /// What the bank wrote if left out.
    pub memo: Option<String>,
}

/// What a part of a line is.
#[derive(Clone, Debug)]
pub enum PartOf {
    Payment(PaymentId),
    /// Settles the open charges of the member by due day; the rest is credit.
    Member(MemberId),
    /// An income, expense or asset account.
    Account(String),
}

#[derive(Clone, Debug)]
pub struct Part {
    /// Decimal text, without a sign.
    pub amount: String,
    pub of: PartOf,
}

/// As other income, an expense, a transfer between own accounts, or a donation.
pub fn book(act: &mut Act<'_, '_>, id: StatementLineId, booking: &Booking) -> Result<Settled, AppError> {
    act.allow(&CHANGE)?;
    let line = find_open(act, id)?;
    let entry = match (&booking.account, booking.campaign) {
        (Some(account), None) => post(act, &line, account, line.amount, booking.memo.as_deref())?,
        (None, Some(campaign)) => {
            check_incoming(&line, "campaign")?;
            let mut new = receipt_of(act, &line, line.amount)?;
            new.campaign = Some(campaign);
            new.payer_name.clone_from(&line.counterparty_name);
            receipts::record(act, &new)?.receipt.entry
        }
        _ => {
            let rule = "is required: an account or a campaign, not both";
            return Err(Refusal::invalid("account", rule).into());
        }
    };
    let line = links::settle(act, line, &[(entry, true)])?;
    act.log("statement.book", Some(id.to_string()), None)?;
    Ok(Settled {
        line,
        proposed: None,
        entries: vec![entry],
        currency: act.own()?.currency,
    })
}

/// Every part is booked as what it is. The parts sum to the line.
pub fn split(act: &mut Act<'_, '_>, id: StatementLineId, parts: &[Part]) -> Result<Settled, AppError> {
    act.allow(&CHANGE)?;
    let line = find_open(act, id)?;
    let books = books::open(act)?;
    if !(2..=PARTS_MAX).contains(&parts.len()) {
        let rule = format!("must be 2 to {PARTS_MAX}, got {}", parts.len());
        return Err(Refusal::invalid("parts", rule).into());
    }
    let mut amounts = Vec::new();
    for part in parts {
        amounts.push(books.amount("part", &part.amount)?);
    }
    let sum: i128 = amounts.iter().map(|amount| i128::from(*amount)).sum();
    let whole = i128::from(line.amount.unsigned_abs());
    if sum != whole {
        let currency = books.organization.currency;
        let rule = format!(
            "must sum to the amount of the line, {}, got {}",
            bursar_domain::money::decimal(whole, currency),
            bursar_domain::money::decimal(sum, currency)
        );
        return Err(Refusal::invalid("parts", rule).into());
    }
    let mut made = Vec::new();
    for (part, amount) in parts.iter().zip(amounts) {
        made.push((book_part(act, &line, part, amount)?, true));
    }
    let line = links::settle(act, line, &made)?;
    act.log(
        "statement.split",
        Some(id.to_string()),
        i64::try_from(parts.len()).ok(),
    )?;
    Ok(Settled {
        line,
        proposed: None,
        entries: made.into_iter().map(|(id, _)| id).collect(),
        currency: books.organization.currency,
    })
}

fn book_part(
    act: &mut Act<'_, '_>,
    line: &StatementLine,
    part: &Part,
    amount: i64,
) -> Result<EntryId, AppError> {
    let mut new = receipt_of(act, line, amount)?;
    match &part.of {
        PartOf::Account(account) => {
            return post(act, line, account, amount * line.amount.signum(), None);
        }
        PartOf::Payment(payment) => new.payments = vec![*payment],
        PartOf::Member(member) => new.payer = Some(*member),
    }
    check_incoming(line, "part")?;
    Ok(receipts::record(act, &new)?.receipt.entry)
}

fn check_incoming(line: &StatementLine, field: &'static str) -> Result<(), Refusal> {
    match line.amount > 0 {
        true => Ok(()),
        false => Err(Refusal::invalid(
            field,
            "must be an account for money that went out; record refunds and payouts with their commands, and match the line \
             with them",
        )),
    }
}

/// An entry between the line's account and another one. A negative amount went out.
fn post(
    act: &mut Act<'_, '_>,
    line: &StatementLine,
    other: &str,
    amount: i64,
    memo: Option<&str>,
) -> Result<EntryId, AppError> {
    let books = books::open(act)?;
    let other = books::account(act, "account", other)?;
    let (own, other) = (line.account.to_string(), other.id.to_string());
    let (debit, credit) = match amount > 0 {
        true => (own, other),
        false => (other, own),
    };
    let new = NewPosting {
        debit,
        credit,
        amount: books.money(amount.abs()).to_string(),
        date: Some(line.date),
        memo: memo.map(str::to_owned).or_else(|| memo_of(line)),
        reference: reference_of(line),
    };
    Ok(entries::record(act, &new)?.id)
}
