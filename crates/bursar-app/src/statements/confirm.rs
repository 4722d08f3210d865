//! Carries proposals out: lines are matched with what is in the books, or receipts are made from them.

use std::collections::BTreeMap;

use bursar_domain::Refusal;
use bursar_domain::account::{Account, Standing};
use bursar_domain::ids::{AccountId, EntryId, StatementLineId};
use bursar_domain::money::Currency;
use bursar_domain::receipt::Method;
use bursar_domain::statement::StatementLine;
use bursar_domain::text::{NOTE, REFERENCE};

use super::propose::{Proposed, proposals, teaches};
use super::{CHANGE, What, bank_account, find_open, links};
use crate::act::Act;
use crate::books;
use crate::books::entries::{self, NewPosting};
use crate::books::receipts::{self, NewReceipt};
use crate::error::AppError;

/// Lines confirmed in one transaction.
pub const CONFIRMED_MAX: usize = 500;

/// A line with the entries that account for it now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    pub line: StatementLine,
    /// Why, where it was proposed.
    pub proposed: Option<Proposed>,
    pub entries: Vec<EntryId>,
    pub currency: Currency,
}

/// Confirms the proposals of these lines. All of them are carried out, or none.
pub fn confirm(act: &mut Act<'_, '_>, lines: &[StatementLineId]) -> Result<Vec<Settled>, AppError> {
    act.allow(&CHANGE)?;
    if lines.len() > CONFIRMED_MAX {
        let rule = format!("must be at most {CONFIRMED_MAX} at once, got {}", lines.len());
        return Err(Refusal::invalid("lines", rule).into());
    }
    let mut wanted: BTreeMap<AccountId, Vec<StatementLineId>> = BTreeMap::new();
    for id in lines {
        let line = find_open(act, *id)?;
        let of_account = wanted.entry(line.account).or_default();
        if !of_account.contains(id) {
            of_account.push(*id);
        }
    }
    let mut settled = Vec::new();
    for (account, ids) in wanted {
        let account = bank_account(act, &account.to_string())?;
        let proposals: Vec<Proposed> = proposals(act, &account)?
            .into_iter()
            .filter(|proposed| ids.contains(&proposed.line.id))
            .collect();
        let is_proposed = |id: &&StatementLineId| proposals.iter().any(|proposed| proposed.line.id == **id);
        if let Some(id) = ids.iter().find(|id| !is_proposed(id)) {
            return Err(no_proposal(act, *id)?.into());
        }
        settled.extend(carry_out_all(act, &account, &proposals)?);
    }
    log(act, "statement.confirm", &settled)?;
    Ok(settled)
}

fn no_proposal(act: &mut Act<'_, '_>, id: StatementLineId) -> Result<Refusal, AppError> {
    let line = find_open(act, id)?;
    let books = books::open(act)?;
    if line.date > books.today {
        return Ok(Refusal::conflict(format!(
            "{id} has no proposal: {} is in the future; confirm it on that day",
            line.date
        )));
    }
    let closed = books.organization.closed_until;
    let closed = closed.filter(|until| line.date <= *until);
    let why = match closed {
        Some(until) => format!("the books are closed until {until}, and no entry in them accounts for it"),
        None => "nothing in the books fits it alone".to_owned(),
    };
    Ok(Refusal::conflict(format!(
        "{id} has no proposal: {why}; use `bursar statement match`, `book`, `split` or `ignore`"
    )))
}

/// Confirms what is proposed for an account, the oldest lines first, at most [`CONFIRMED_MAX`] of them.
pub fn confirm_proposed(act: &mut Act<'_, '_>, account: &str) -> Result<Vec<Settled>, AppError> {
    act.allow(&CHANGE)?;
    let account = bank_account(act, account)?;
    let mut proposals = proposals(act, &account)?;
    proposals.truncate(CONFIRMED_MAX);
    let settled = carry_out_all(act, &account, &proposals)?;
    if !settled.is_empty() {
        log(act, "statement.confirm", &settled)?;
    }
    Ok(settled)
}

fn log(act: &mut Act<'_, '_>, action: &str, settled: &[Settled]) -> Result<(), AppError> {
    let subject = match settled {
        [one] => Some(one.line.id.to_string()),
        _ => None,
    };
    act.log(action, subject, i64::try_from(settled.len()).ok())
}

pub(super) fn carry_out_all(
    act: &mut Act<'_, '_>,
    account: &Account,
    proposals: &[Proposed],
) -> Result<Vec<Settled>, AppError> {
    let currency = act.own()?.currency;
    let mut settled = Vec::with_capacity(proposals.len());
    for proposed in proposals {
        settled.push(carry_out(act, account, proposed, currency)?);
    }
    Ok(settled)
}

fn carry_out(
    act: &mut Act<'_, '_>,
    account: &Account,
    proposed: &Proposed,
    currency: Currency,
) -> Result<Settled, AppError> {
    let line = &proposed.line;
    let (entries, payer) = match &proposed.proposal.what {
        What::Entries(entries) => {
            links::check_entries(act, account, line, entries)?;
            let payer = links::payer_of(act, entries)?;
            (entries.iter().map(|id| (*id, false)).collect(), payer)
        }
        What::Receipt { payer, payments } => {
            let mut new = receipt_of(act, line, line.amount)?;
            new.payer = *payer;
            new.payments = payments.clone();
            let recorded = receipts::record(act, &new)?;
            (vec![(recorded.receipt.entry, true)], recorded.receipt.payer)
        }
        What::Payout { fee } => (pay_out(act, account, line, *fee)?, None),
    };
    let line = links::settle(act, line.clone(), &entries)?;
    if let Some(payer) = payer.filter(|_| teaches(&proposed.proposal)) {
        links::learn(act, &line, payer)?;
    }
    Ok(Settled {
        line,
        proposed: Some(proposed.clone()),
        entries: entries.into_iter().map(|(id, _)| id).collect(),
        currency,
    })
}

/// A receipt of the line's money, or of a part of it.
pub(super) fn receipt_of(
    act: &mut Act<'_, '_>,
    line: &StatementLine,
    amount: i64,
) -> Result<NewReceipt, AppError> {
    let books = books::open(act)?;
    Ok(NewReceipt {
        amount: books.money(amount).to_string(),
        method: Method::Transfer,
        date: Some(line.date),
        account: Some(line.account.to_string()),
        payer: None,
        payer_name: None,
        reference: reference_of(line),
        payments: Vec::new(),
        campaign: None,
        income: None,
        // The bank says that the money came twice.
        again: true,
    })
}

pub(super) fn reference_of(line: &StatementLine) -> Option<String> {
    let given = line.reference.as_deref().or(line.end_to_end.as_deref());
    given.and_then(|text| bursar_domain::statement::fitted(REFERENCE, text))
}

/// What the bank wrote, as a memo.
pub(super) fn memo_of(line: &StatementLine) -> Option<String> {
    let name = line.counterparty_name.as_deref().unwrap_or_default();
    bursar_domain::statement::fitted(NOTE, &format!("{name} {}", line.text))
}

fn pay_out(
    act: &mut Act<'_, '_>,
    account: &Account,
    line: &StatementLine,
    fee: i64,
) -> Result<Vec<(EntryId, bool)>, AppError> {
    let books = books::open(act)?;
    let posting = |debit: String, amount: i64| NewPosting {
        debit,
        credit: Standing::Clearing.as_str().to_owned(),
        amount: books.money(amount).to_string(),
        date: Some(line.date),
        memo: memo_of(line),
        reference: reference_of(line),
    };
    let paid = entries::record(act, &posting(account.id.to_string(), line.amount))?;
    let mut made = vec![(paid.id, true)];
    if fee > 0 {
        let kept = entries::record(act, &posting(Standing::BankFees.as_str().to_owned(), fee))?;
        made.push((kept.id, true));
    }
    Ok(made)
}
