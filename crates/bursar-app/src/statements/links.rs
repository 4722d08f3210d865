//! Which entries account for a line, and what happens to the line when one of them is taken back.

use bursar_db::journal;
use bursar_db::statements::{self as rows, Link};
use bursar_domain::Refusal;
use bursar_domain::account::Account;
use bursar_domain::ids::{EntryId, MemberId};
use bursar_domain::member::Member;
use bursar_domain::statement::{LineStatus, StatementLine};

use crate::act::Act;
use crate::books::charges;
use crate::error::AppError;

/// Bank accounts remembered for one member.
const REMEMBERED_MAX: usize = 20;

/// A line with all its links.
pub(crate) struct Held {
    line: StatementLine,
    links: Vec<Link>,
}

/// Connects a line with its entries.
pub(super) fn settle(
    act: &mut Act<'_, '_>,
    mut line: StatementLine,
    entries: &[(EntryId, bool)],
) -> Result<StatementLine, AppError> {
    let links: Vec<Link> = entries
        .iter()
        .map(|(entry, is_made)| Link {
            line: line.id,
            entry: *entry,
            account: line.account,
            is_made: *is_made,
        })
        .collect();
    line.status = match links.iter().any(|link| link.is_made) {
        true => LineStatus::Booked,
        false => LineStatus::Matched,
    };
    line.chosen = Vec::new();
    rows::insert_links(act.tx, act.organization, &links)?;
    rows::update_line(act.tx, act.organization, &line)?;
    Ok(line)
}

/// Entries that are to account for a line: they are there, free, and sum to it.
pub(super) fn check_entries(
    act: &mut Act<'_, '_>,
    account: &Account,
    line: &StatementLine,
    entries: &[EntryId],
) -> Result<(), AppError> {
    let organization = act.organization;
    let currency = act.own()?.currency;
    let mut sum = 0;
    for (at, id) in entries.iter().enumerate() {
        if entries[..at].contains(id) {
            return Err(Refusal::invalid("entry", format!("{id} is given twice")).into());
        }
        let entry = crate::books::entries::find(act, *id)?;
        let part = entry.sum_of(account.id);
        if part == 0 {
            let rule = format!(
                "{id} does not move money on {:?}; choose another entry",
                account.name
            );
            return Err(Refusal::invalid("entry", rule).into());
        }
        if let Some(other) = journal::reversal_of(act.tx, organization, *id)?
            && journal::get(act.tx, organization, other)?
                .is_some_and(|other| other.kind == bursar_domain::journal::EntryKind::Reversal)
        {
            let message = format!("{id} was reversed by {other}; choose another entry");
            return Err(Refusal::conflict(message).into());
        }
        let links = rows::links_of_entry(act.tx, organization, *id)?;
        if let Some(link) = links.iter().find(|link| link.account == account.id) {
            let message = format!(
                "{id} accounts for line {} already; undo that first if it is wrong",
                link.line
            );
            return Err(Refusal::conflict(message).into());
        }
        sum += part;
    }
    if sum != i128::from(line.amount) {
        let rule = format!(
            "must sum to the amount of the line, {}, got {}",
            bursar_domain::money::decimal(line.amount.into(), currency),
            bursar_domain::money::decimal(sum, currency)
        );
        return Err(Refusal::invalid("entry", rule).into());
    }
    Ok(())
}

/// The lines that an entry accounts for.
pub(crate) fn held(act: &mut Act<'_, '_>, entry: EntryId) -> Result<Vec<Held>, AppError> {
    let organization = act.organization;
    let mut held = Vec::new();
    for link in rows::links_of_entry(act.tx, organization, entry)? {
        held.push(Held {
            line: super::find_line(act, link.line)?,
            links: rows::links_of(act.tx, organization, link.line)?,
        });
    }
    Ok(held)
}

/// An entry was taken back as a mistake: the lines that it accounts for are open again.
pub(crate) fn release(act: &mut Act<'_, '_>, entry: EntryId) -> Result<(), AppError> {
    for Held { mut line, .. } in held(act, entry)? {
        rows::remove_links(act.tx, act.organization, line.id)?;
        line.status = LineStatus::Open;
        rows::update_line(act.tx, act.organization, &line)?;
    }
    Ok(())
}

/// A new entry takes the place of one that was taken back.
pub(crate) fn follow(
    act: &mut Act<'_, '_>,
    held: Vec<Held>,
    (old, new): (EntryId, EntryId),
) -> Result<(), AppError> {
    for Held { line, mut links } in held {
        for link in links.iter_mut().filter(|link| link.entry == old) {
            link.entry = new;
        }
        rows::insert_links(act.tx, act.organization, &links)?;
        rows::update_line(act.tx, act.organization, &line)?;
    }
    Ok(())
}

/// Remembers that money of a member comes from the line's bank account. Of an erased member nothing is remembered.
pub(super) fn learn(act: &mut Act<'_, '_>, line: &StatementLine, payer: MemberId) -> Result<(), AppError> {
    let Some(account) = line.counterparty_account.as_ref().filter(|_| line.amount > 0) else {
        return Ok(());
    };
    let mut member: Member = act.find(payer)?;
    let is_known = member.bank_accounts.contains(account);
    if member.erased_at.is_none() && !is_known && member.bank_accounts.len() < REMEMBERED_MAX {
        member.bank_accounts.push(account.clone());
        act.update(&mut member)?;
    }
    Ok(())
}

/// Forgets it again, unless another line taught it too.
pub(super) fn forget(act: &mut Act<'_, '_>, line: &StatementLine, payer: MemberId) -> Result<(), AppError> {
    let Some(account) = &line.counterparty_account else {
        return Ok(());
    };
    if rows::is_taught_elsewhere(act.tx, act.organization, (account, payer), line.id)? {
        return Ok(());
    }
    let mut member: Member = act.find(payer)?;
    if member.bank_accounts.contains(account) {
        member.bank_accounts.retain(|known| known != account);
        act.update(&mut member)?;
    }
    Ok(())
}

/// The one payer of the money in these entries.
pub(super) fn payer_of(act: &mut Act<'_, '_>, entries: &[EntryId]) -> Result<Option<MemberId>, AppError> {
    let mut payers = Vec::new();
    for id in entries {
        let entry = crate::books::entries::find(act, *id)?;
        let Some(receipt) = entry.receipt else {
            continue;
        };
        payers.push(crate::books::receipts::find(act, receipt)?.payer);
    }
    payers.sort_unstable();
    payers.dedup();
    match payers[..] {
        [Some(payer)] => charges::payer_of(act, payer).map(Some),
        _ => Ok(None),
    }
}
