//! Money that goes back to who paid online: asked for here, or at the provider.

use bursar_db::online as rows;
use bursar_db::online::moves::{self, Move};
use bursar_domain::Refusal;
use bursar_domain::account::{Account, Standing};
use bursar_domain::ids::{OnlineMoveId, OnlinePaymentId};
use bursar_domain::journal::{About, EntryKind, Note, Postings};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::online::{MoveKind, MoveState};
use bursar_domain::text::REFERENCE;

use super::PAID_TWICE;
use super::port::SeenRefund;
use super::record::{self, Record};
use super::settle::money_date;
use super::{REFUND, SETTLE, find};
use crate::act::Act;
use crate::books::{self, Closed, NewEntry, post, promised, receipts, text};
use crate::error::AppError;
use crate::personal::{self, Letter, Reader};

/// Wants money paid back, all that is left if no amount is given. It is booked when the provider has done it.
pub fn refund(
    act: &mut Act<'_, '_>,
    id: OnlinePaymentId,
    amount: Option<&str>,
    reason: Option<&str>,
) -> Result<Record, AppError> {
    act.allow(&REFUND)?;
    let books = books::open(act)?;
    let payment = find(act, id)?;
    let reason = text("reason", REFERENCE, reason)?;
    let Some(receipt) = payment.receipt_id else {
        let message = format!(
            "the online payment is {}; there is nothing to refund",
            payment.state
        );
        return Err(Refusal::conflict(message).into());
    };
    let moves = moves::of_payment(act.tx, act.organization, id)?;
    let is_disputed = |found: &Move| found.kind == MoveKind::Dispute && found.state == MoveState::Withdrawn;
    if moves.iter().any(is_disputed) {
        let message = "the payer's bank has withdrawn the money; wait until the dispute has ended";
        return Err(Refusal::conflict(message).into());
    }
    let (receipt, _) = receipts::standing(act, receipt)?;
    let is_gone = |found: &&Move| match found.kind {
        MoveKind::Refund => found.state != MoveState::Failed,
        MoveKind::Dispute => found.state == MoveState::Lost,
        MoveKind::Payout => false,
    };
    let gone: i64 = moves.iter().filter(is_gone).map(|found| found.amount).sum();
    let left = receipt.amount - gone;
    if left <= 0 {
        return Err(Refusal::conflict("all of it was refunded, or is being refunded").into());
    }
    // The provider does not know what was paid back in another way.
    let held = promised::room(act, &payment, left)?;
    if held == 0 {
        let message = format!(
            "nothing of the {} that came is left to refund: it was paid back in another way, or used since; `bursar receipt \
             show {}` lists what happened to it",
            books.money(receipt.amount),
            receipt.id
        );
        return Err(Refusal::conflict(message).into());
    }
    let amount = match amount {
        Some(text) => books.amount("amount", text)?,
        None => held,
    };
    if amount > left {
        let rule = format!(
            "must be at most what is left of the {} that came, {}, got {}",
            books.money(receipt.amount),
            books.money(left),
            books.money(amount)
        );
        return Err(Refusal::invalid("amount", rule).into());
    }
    if amount > held {
        let rule = format!(
            "must be at most what the books still hold of the {} that came, {}, got {}; the rest was paid back in another \
             way, or used since: `bursar receipt show {}` lists what happened to it",
            books.money(receipt.amount),
            books.money(held),
            books.money(amount),
            receipt.id
        );
        return Err(Refusal::invalid("amount", rule).into());
    }
    let wanted = Move {
        id: act.new_id(),
        kind: MoveKind::Refund,
        reference: None,
        online_id: Some(id),
        amount,
        fee: 0,
        state: MoveState::Wanted,
        reason,
        created_at: act.now(),
        entry_id: None,
    };
    moves::insert(act.tx, act.organization, &wanted)?;
    rows::ask_soon(act.tx, act.organization, id, act.now())?;
    act.log(REFUND.name, Some(id.to_string()), None)?;
    record::of(act, payment)
}

/// A refund that the provider has, whoever asked for it.
pub(super) fn refunded(
    act: &mut Act<'_, '_>,
    id: OnlinePaymentId,
    seen: &SeenRefund,
) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let payment = find(act, id)?;
    let organization = act.organization;
    let mut known = moves::by_reference(act.tx, organization, &seen.reference)?;
    if let (None, Some(wanted)) = (&known, seen.wanted) {
        known = moves::get(act.tx, organization, wanted)?;
    }
    let known = known.filter(|found| found.online_id == Some(id) && found.kind == MoveKind::Refund);
    let (before, mut found) = match known {
        Some(found) => (Some(found.clone()), found),
        None => (
            None,
            Move {
                id: act.new_id(),
                kind: MoveKind::Refund,
                reference: None,
                online_id: Some(id),
                amount: seen.amount,
                fee: 0,
                state: MoveState::Wanted,
                reason: Some("refunded at the provider".to_owned()),
                created_at: act.now(),
                entry_id: None,
            },
        ),
    };
    found.reference = Some(seen.reference.clone());
    if found.state.is_before(seen.state) {
        match seen.state {
            MoveState::Succeeded => {
                went(act, &payment, seen)?;
                if found.reason.as_deref() == Some(PAID_TWICE) {
                    tell(act, &payment, seen.amount)?;
                }
            }
            MoveState::Failed if found.state == MoveState::Succeeded => came_back(act, &payment, &found)?,
            _ => {}
        }
        found.state = seen.state;
        found.amount = seen.amount;
    }
    match before {
        None => moves::insert(act.tx, organization, &found)?,
        Some(before) if before != found => moves::update(act.tx, organization, &found)?,
        Some(_) => return Ok(()),
    }
    act.log(
        &format!("online.refund.{}", found.state),
        Some(id.to_string()),
        None,
    )
}

/// Writes to the payer that what was paid twice went back.
fn tell(act: &mut Act<'_, '_>, payment: &rows::OnlinePayment, amount: i64) -> Result<(), AppError> {
    let (organization, member) = (act.own()?, act.find::<Member>(payment.member_id)?);
    let Some(email) = &member.email else {
        return Ok(());
    };
    let (name, amount) = (&organization.name, Money::new(amount, payment.currency));
    let body = format!(
        "You paid the same charge at {name} twice by card. {amount} {} went back to your card; your bank may take some days to \
         show it.\n\nThere is nothing to do.",
        payment.currency
    );
    let reader = Reader {
        key: member.id.to_bytes(),
        email,
        name: &member.name(),
    };
    let letter = (format!("{name} sent back what you paid twice"), body);
    let (id, now) = (act.new_id(), act.now());
    Ok(personal::queue(act.tx, id, reader, Letter::Act, letter, now)?)
}

/// The provider will not do it.
pub(super) fn refund_refused(act: &mut Act<'_, '_>, id: OnlineMoveId, why: &str) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let Some(mut found) = moves::get(act.tx, act.organization, id)? else {
        return Ok(());
    };
    if found.state == MoveState::Wanted {
        found.state = MoveState::Failed;
        found.reason = Some(why.chars().take(REFERENCE.max).collect());
        moves::update(act.tx, act.organization, &found)?;
        let subject = found.online_id.map(|id| id.to_string());
        act.log("online.refund.failed", subject, None)?;
    }
    Ok(())
}

fn went(act: &mut Act<'_, '_>, payment: &rows::OnlinePayment, seen: &SeenRefund) -> Result<(), AppError> {
    let books = books::open(act)?;
    let unpaid = || Refusal::conflict("the provider reports a refund of a payment that is not booked");
    let (receipt, entry) = receipts::standing(act, payment.receipt_id.ok_or_else(unpaid)?)?;
    let paid = books::refunds::Paid {
        date: money_date(&books, seen.at)?.max(receipt.date),
        account: Account::from(Standing::Clearing),
        receipt: Some(receipt.id),
    };
    books::refunds::give_back(act, &books, &receipt, &entry, (seen.amount, &paid))
}

/// The payer's bank sent a refund back. The charge is void by then, so it is the payer's credit.
fn came_back(act: &mut Act<'_, '_>, payment: &rows::OnlinePayment, found: &Move) -> Result<(), AppError> {
    let books = books::open(act)?;
    let of_payer = About {
        member: Some(payment.member_id),
        ..About::default()
    };
    let postings = Postings::default()
        .debit(Standing::Clearing, found.amount, About::default())
        .credit(Standing::Credit, found.amount, of_payer);
    let date = books.date("date", books.today, Closed::UseToday)?;
    let mut entry = NewEntry::of(EntryKind::Correction, date, postings);
    entry.note = Note {
        memo: Some(format!("A refund of {} failed", payment.id)),
        reference: found.reference.clone(),
        payer_name: None,
    };
    post(act, entry).map(drop)
}
