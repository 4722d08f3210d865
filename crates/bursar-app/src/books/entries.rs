//! Entries that officers make themselves: other income, expenses, transfers and opening balances.

use std::collections::BTreeMap;

use bursar_db::journal;
use bursar_domain::access::Role;
use bursar_domain::account::{Account, AccountType, Standing};
use bursar_domain::ids::{AccountId, EntryId};
use bursar_domain::journal::{About, Entry, EntryKind, Note, Postings};
use bursar_domain::money::Currency;
use bursar_domain::text::{NOTE, REFERENCE};
use bursar_domain::{Date, Refusal};

use super::{NewEntry, account, open, post, reason, reverse as reverse_entry, text};
use crate::act::{Act, View};
use crate::error::AppError;
use crate::rule::Rule;

pub const RECORD: Rule = Rule::of("journal.record", Role::Editor, "post to the journal");
pub const REVERSE: Rule = Rule::of("journal.reverse", Role::Editor, "reverse entries of the journal");
pub const READ: Rule = Rule::of("journal.read", Role::Viewer, "read the journal");

pub const RULES: &[&Rule] = &[&RECORD, &REVERSE, &READ];

#[derive(Clone, Debug)]
pub struct NewPosting {
    /// Account names.
    pub debit: String,
    pub credit: String,
    /// Decimal text.
    pub amount: String,
    pub date: Option<Date>,
    pub memo: Option<String>,
    pub reference: Option<String>,
}

fn postable(account: &Account, field: &'static str) -> Result<(), Refusal> {
    account.check_open(field)?;
    match account
        .standing()
        .filter(|standing| standing.moves_only_by_acts())
    {
        Some(standing) => Err(Refusal::invalid(
            field,
            format!(
                "must not be {standing}, which follows from charges, receipts and reimbursements; use their commands"
            ),
        )),
        None => Ok(()),
    }
}

pub fn record(act: &mut Act<'_, '_>, new: &NewPosting) -> Result<Entry, AppError> {
    act.allow(&RECORD)?;
    let books = open(act)?;
    let amount = books.amount("amount", &new.amount)?;
    let date = books.money_date(new.date)?;
    let debit = account(act, "debit", &new.debit)?;
    let credit = account(act, "credit", &new.credit)?;
    postable(&debit, "debit")?;
    postable(&credit, "credit")?;
    if debit.id == credit.id {
        let rule = format!("must be another account than the debit, {:?}", debit.name);
        return Err(Refusal::invalid("credit", rule).into());
    }
    let kind = match (debit.account_type, credit.account_type) {
        _ if [debit.id, credit.id].contains(&Standing::Opening.id()) => EntryKind::Opening,
        (AccountType::Asset, AccountType::Asset) => EntryKind::Transfer,
        (AccountType::Asset, _) => EntryKind::Income,
        (_, AccountType::Asset) => EntryKind::Expense,
        _ => EntryKind::Correction,
    };
    let postings = Postings::pair(debit.id, About::default(), credit.id, amount);
    let mut entry = NewEntry::of(kind, date, postings);
    entry.note = Note {
        memo: text("memo", NOTE, new.memo.as_deref())?,
        reference: text("reference", REFERENCE, new.reference.as_deref())?,
        payer_name: None,
    };
    let entry = post(act, entry)?;
    act.log(RECORD.name, Some(entry.id.to_string()), None)?;
    Ok(entry)
}

/// Only what officers posted themselves. Other entries are undone by the acts that made them.
pub fn reverse(act: &mut Act<'_, '_>, id: EntryId, why: &str) -> Result<Entry, AppError> {
    act.allow(&REVERSE)?;
    let books = open(act)?;
    let why = reason(Some(why))?.ok_or_else(|| Refusal::invalid("reason", "is required"))?;
    let entry = find(act, id)?;
    let way_out = match entry.kind {
        _ if entry.receipt.is_some() => Some("`bursar receipt reverse` reverses a receipt"),
        EntryKind::Income | EntryKind::Transfer | EntryKind::Opening | EntryKind::Expense
            if entry
                .postings
                .iter()
                .all(|posting| posting.about == About::default()) =>
        {
            None
        }
        EntryKind::Fee | EntryKind::Payout => None,
        EntryKind::Correction
            if entry
                .postings
                .iter()
                .all(|posting| posting.about == About::default()) =>
        {
            None
        }
        EntryKind::Reversal => Some("a reversal is not reversed; record the entry again"),
        _ => Some("undo it with the command of the charge, reimbursement or order that it belongs to"),
    };
    if let Some(way_out) = way_out {
        let message = format!("{id} ({}) cannot be reversed on its own; {way_out}", entry.kind);
        return Err(Refusal::conflict(message).into());
    }
    if let Some(other) = journal::reversal_of(act.tx, act.organization, id)? {
        return Err(Refusal::conflict(format!("{id} was reversed before, by {other}")).into());
    }
    let reversal = reverse_entry(act, &books, &entry, Some(why))?;
    act.log(REVERSE.name, Some(id.to_string()), None)?;
    Ok(reversal)
}

pub(crate) fn find<M>(act: &mut Act<'_, '_, M>, id: EntryId) -> Result<Entry, AppError> {
    let found = journal::get(act.tx, act.organization, id)?;
    Ok(found.ok_or_else(|| Refusal::missing("there is no such journal entry"))?)
}

pub(crate) fn range(from: Option<Date>, until: Option<Date>) -> Result<(Date, Date), Refusal> {
    let first = from.unwrap_or(Date::FIRST);
    let last = until.unwrap_or(Date::LAST);
    match last < first {
        true => Err(Refusal::invalid(
            "until",
            format!("must not be before {first}, got {last}"),
        )),
        false => Ok((first, last)),
    }
}

/// The accounts that entries name, and the currency of their amounts.
pub fn accounts(view: &mut View<'_, '_>) -> Result<(BTreeMap<AccountId, Account>, Currency), AppError> {
    view.allow(&READ)?;
    Ok((super::accounts::names(view)?, view.own()?.currency))
}

/// These, in the order given; those that are not there are left out.
pub fn some(view: &mut View<'_, '_>, ids: &[EntryId]) -> Result<Vec<Entry>, AppError> {
    view.allow(&READ)?;
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(journal::get(view.tx, view.organization, *id)?);
    }
    Ok(found)
}

/// By date; only entries with a posting to the account if one is named.
pub fn list(
    view: &mut View<'_, '_>,
    (from, until): (Option<Date>, Option<Date>),
    of_account: Option<&str>,
) -> Result<Vec<Entry>, AppError> {
    view.allow(&READ)?;
    let (first, last) = range(from, until)?;
    let wanted = of_account
        .map(|name| account(view, "account", name))
        .transpose()?;
    let mut found = Vec::new();
    journal::each_between(view.tx, view.organization, first, last, |entry| {
        let is_wanted = wanted
            .as_ref()
            .is_none_or(|account| entry.postings.iter().any(|posting| posting.account == account.id));
        if is_wanted {
            found.push(entry);
        }
        Ok(())
    })?;
    Ok(found)
}
