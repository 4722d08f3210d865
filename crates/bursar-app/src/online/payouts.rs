//! What a provider did without being asked: payouts to the bank account, and refunds and disputes to look at.

use bursar_db::online::moves::{self, Move};
use bursar_db::online::providers::{self as rows, Provider as Row};
use bursar_db::{journal, online};
use bursar_domain::Refusal;
use bursar_domain::Timestamp;
use bursar_domain::account::Standing;
use bursar_domain::ids::{AccountId, EntryId};
use bursar_domain::journal::{About, EntryKind, Note, Postings};
use bursar_domain::online::{MoveKind, MoveState, SWEEP_SECONDS, check_currency, wait_seconds};

use super::port::{Recent, SeenPayout};
use super::providers::no_provider;
use super::{ASK, SETTLE};
use crate::act::{Act, View};
use crate::books::{self, Closed, NewEntry, post};
use crate::error::AppError;

/// What happened so long before the last question is looked at again: a payout is under way for days.
const OVERLAP_SECONDS: i64 = 10 * 86_400;
/// How far apart the provider's day of a payout and the bank's may be.
const DAYS_APART: i64 = 7;

/// The provider to ask, and since when.
pub(super) fn asked(view: &mut View<'_, '_>) -> Result<(Row, Timestamp), AppError> {
    view.allow(&ASK)?;
    let row = rows::get(view.tx, view.organization)?.ok_or_else(no_provider)?;
    let since = row
        .swept_at
        .plus_seconds(-OVERLAP_SECONDS)
        .max(row.created_at.plus_seconds(-1));
    Ok((row, since))
}

/// Books a payout that reached the bank account, or one that came back.
pub(super) fn paid_out(act: &mut Act<'_, '_>, seen: &SeenPayout) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let organization = act.organization;
    let Some(provider) = rows::get(act.tx, organization)? else {
        return Err(no_provider().into());
    };
    let books = books::open(act)?;
    check_currency(books.organization.currency, seen.amount.currency)?;
    let known = moves::by_reference(act.tx, organization, &seen.reference)?;
    let is_new = known.is_none();
    let mut found = known.unwrap_or(Move {
        id: act.new_id(),
        kind: MoveKind::Payout,
        reference: Some(seen.reference.clone()),
        online_id: None,
        amount: seen.amount.minor,
        fee: 0,
        state: MoveState::Wanted,
        reason: None,
        created_at: act.now(),
        entry_id: None,
    });
    if !found.state.is_before(seen.state) {
        return Ok(());
    }
    match (seen.state, found.entry_id) {
        (MoveState::Paid, None) => {
            let entry = arrive(act, &books, provider.payout_account, seen)?;
            found.entry_id = Some(entry);
        }
        (MoveState::Failed, Some(entry)) => {
            // An officer may have taken it back before, and may have booked the bank's line again.
            let standing = match journal::reversal_of(act.tx, organization, entry)? {
                None => Some(entry),
                Some(_) => booked_by_hand(act, &books, provider.payout_account, seen)?,
            };
            if let Some(entry) = standing {
                let booked = journal::get(act.tx, organization, entry)?;
                let gone = || Refusal::conflict("the entry of the payout does not exist");
                let memo = Some(format!("Payout {} came back", seen.reference));
                books::reverse(act, &books, &booked.ok_or_else(gone)?, memo)?;
                found.entry_id = Some(entry);
            }
        }
        _ => {}
    }
    found.state = seen.state;
    match is_new {
        true => moves::insert(act.tx, organization, &found)?,
        false => moves::update(act.tx, organization, &found)?,
    }
    act.log(
        &format!("online.payout.{}", found.state),
        Some(seen.reference.clone()),
        None,
    )
}

/// The entry of an officer who booked it from the bank statement.
fn booked_by_hand(
    act: &mut Act<'_, '_>,
    books: &books::Books,
    account: AccountId,
    seen: &SeenPayout,
) -> Result<Option<EntryId>, AppError> {
    let day = seen.arrives_at.date().min(books.today);
    let (first, last) = (day.plus_days(-DAYS_APART), day.plus_days(DAYS_APART));
    let mut candidates = Vec::new();
    journal::each_between(act.tx, act.organization, first, last, |entry| {
        let is_payout = matches!(entry.kind, EntryKind::Payout | EntryKind::Transfer);
        if is_payout
            && entry.reverses.is_none()
            && entry.sum_of(account) == i128::from(seen.amount.minor)
            && entry.sum_of(Standing::Clearing.id()) != 0
        {
            candidates.push(entry.id);
        }
        Ok(())
    })?;
    for entry in candidates {
        let is_free = !moves::has_entry(act.tx, act.organization, entry)?
            && journal::reversal_of(act.tx, act.organization, entry)?.is_none();
        if is_free {
            return Ok(Some(entry));
        }
    }
    Ok(None)
}

/// An entry that an officer made before is the payout's.
fn arrive(
    act: &mut Act<'_, '_>,
    books: &books::Books,
    account: AccountId,
    seen: &SeenPayout,
) -> Result<EntryId, AppError> {
    if let Some(entry) = booked_by_hand(act, books, account, seen)? {
        return Ok(entry);
    }
    let day = seen.arrives_at.date().min(books.today);
    let date = books.date("date", day, Closed::UseToday)?;
    let postings = Postings::pair(
        account,
        About::default(),
        Standing::Clearing.id(),
        seen.amount.minor,
    );
    let mut new = NewEntry::of(EntryKind::Payout, date, postings);
    new.note = Note {
        memo: None,
        reference: Some(seen.reference.clone()),
        payer_name: None,
    };
    Ok(post(act, new)?.id)
}

/// Asks about payments with a refund or dispute that is news, and says when to look again.
pub(super) fn swept(
    act: &mut Act<'_, '_>,
    asked: &Row,
    recent: Option<&Recent>,
    problem: Option<&str>,
    faster: i64,
) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let (organization, now) = (act.organization, act.now());
    let after = |seconds: i64| {
        let micros = seconds.saturating_mul(1_000_000) / faster.max(1);
        Timestamp::from_micros(now.micros().saturating_add(micros))
    };
    for (payment, reference, state) in recent.iter().flat_map(|recent| &recent.touched) {
        let known = moves::by_reference(act.tx, organization, reference)?;
        if known.is_none_or(|known| known.state.is_before(*state)) {
            online::hear(act.tx, organization, payment, now)?;
        }
    }
    if problem.is_some() {
        let attempts = asked.attempts + 1;
        let due = after(wait_seconds(attempts));
        return Ok(rows::rest(act.tx, asked, problem, due, attempts)?);
    }
    let done = Row {
        swept_at: now,
        ..asked.clone()
    };
    Ok(rows::rest(act.tx, &done, None, after(SWEEP_SECONDS), 0)?)
}
