//! Disputes: the payer's bank withdraws the money of an online payment, and gives it back or keeps it.

use std::collections::HashMap;

use bursar_db::journal;
use bursar_db::online::OnlinePayment;
use bursar_db::online::moves::{self, Move};
use bursar_domain::account::Standing;
use bursar_domain::ids::{MemberId, OnlinePaymentId};
use bursar_domain::journal::{About, Entry, EntryKind, Note, Posting, Postings};
use bursar_domain::online::{MoveKind, MoveState};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::receipt::{Receipt, ReceiptStatus};
use bursar_domain::{Date, Refusal};

use super::port::SeenDispute;
use super::settle::{money_date, post_fee};
use super::{SETTLE, find};
use crate::act::Act;
use crate::books::{self, Books, NewEntry, charges, post, receipts, settle};
use crate::error::AppError;

/// Books what is new about a dispute: the withdrawal, its end, and what the provider keeps for it.
pub(super) fn disputed(
    act: &mut Act<'_, '_>,
    id: OnlinePaymentId,
    seen: &SeenDispute,
) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let payment = find(act, id)?;
    let organization = act.organization;
    let known = moves::by_reference(act.tx, organization, &seen.reference)?;
    let is_new = known.is_none();
    let mut found = known.unwrap_or(Move {
        id: act.new_id(),
        kind: MoveKind::Dispute,
        reference: Some(seen.reference.clone()),
        online_id: Some(id),
        amount: seen.amount,
        fee: 0,
        state: MoveState::Wanted,
        reason: seen.reason.clone(),
        created_at: act.now(),
        entry_id: None,
    });
    let before = found.clone();
    if found.state.is_before(seen.state) {
        advance(act, &payment, &mut found, seen)?;
        found.state = seen.state;
    }
    if found.fee != seen.fee {
        let memo = format!("Fee for the dispute of {id}");
        post_fee(act, seen.fee - found.fee, Some(seen.reference.clone()), &memo)?;
        found.fee = seen.fee;
    }
    match is_new {
        true => moves::insert(act.tx, organization, &found)?,
        false if found != before => moves::update(act.tx, organization, &found)?,
        false => return Ok(()),
    }
    act.log(
        &format!("online.dispute.{}", found.state),
        Some(id.to_string()),
        None,
    )
}

fn advance(
    act: &mut Act<'_, '_>,
    payment: &OnlinePayment,
    found: &mut Move,
    seen: &SeenDispute,
) -> Result<(), AppError> {
    let books = books::open(act)?;
    let unpaid = || Refusal::conflict("the provider reports a dispute of a payment that is not booked");
    let receipt = receipts::find(act, payment.receipt_id.ok_or_else(unpaid)?)?;
    let note = Note {
        memo: seen.reason.clone(),
        reference: Some(seen.reference.clone()),
        payer_name: None,
    };
    let withdrawn = match found.entry_id {
        Some(entry) => journal::get(act.tx, act.organization, entry)?,
        None => None,
    };
    match (seen.state, withdrawn) {
        (MoveState::Withdrawn | MoveState::Lost, None) => {
            found.amount = seen.amount;
            let date = money_date(&books, seen.at)?.max(receipt.date);
            let entry = withdraw(act, &receipt, (seen.amount, date), note.clone())?;
            found.entry_id = Some(entry.id);
            match seen.state {
                MoveState::Lost => lose(act, &books, &receipt, &entry, note),
                _ => Ok(()),
            }
        }
        (MoveState::Won, Some(entry)) => win(act, &books, &entry, note),
        (MoveState::Lost, Some(entry)) => lose(act, &books, &receipt, &entry, note),
        // Nothing was withdrawn, or it came back before anybody looked.
        _ => Ok(()),
    }
}

/// The charges that the money settled, and the credit that it left, as far as the dispute goes.
fn withdraw(
    act: &mut Act<'_, '_>,
    receipt: &Receipt,
    (amount, date): (i64, Date),
    note: Note,
) -> Result<Entry, AppError> {
    let entry = journal::get(act.tx, act.organization, receipt.entry)?;
    let of_receipt = entry.map(|entry| entry.postings).unwrap_or_default();
    let (mut postings, mut left, mut charged) = (Postings::default(), amount, Vec::new());
    for posting in of_receipt.iter().filter(|posting| posting.amount < 0) {
        let most = match posting.about.payment {
            Some(id) if posting.account == Standing::Receivable.id() => {
                let payment: Payment = act.find(id)?;
                let before = charges::in_dispute(act, id)?;
                if before.by_hand != 0 {
                    let message = format!("{id} was marked as disputed by hand; resolve that first");
                    return Err(Refusal::conflict(message).into());
                }
                let most = (-posting.amount).min(payment.paid_to_date.minor - before.by_provider);
                charged.push(payment);
                most
            }
            _ => -posting.amount,
        };
        let part = most.min(left);
        postings.add(Standing::Disputes, part, posting.about);
        left -= part;
    }
    // What went back before is gone in any case.
    let of_payer = About {
        member: receipt.payer,
        ..About::default()
    };
    postings.add(Standing::Disputes, left, of_payer);
    postings.add(Standing::Clearing, -amount, About::default());
    let entry = posted(act, EntryKind::Dispute, (date, receipt), postings, note)?;
    for mut payment in charged {
        let is_named = |posting: &Posting| posting.about.payment == Some(payment.id);
        if payment.status == PaymentStatus::Paid && entry.postings.iter().any(is_named) {
            payment.dispute(act.now())?;
            settle(act, &mut payment)?;
        }
    }
    Ok(entry)
}

fn posted(
    act: &mut Act<'_, '_>,
    kind: EntryKind,
    (date, receipt): (Date, &Receipt),
    postings: Postings,
    note: Note,
) -> Result<Entry, AppError> {
    let mut new = NewEntry::of(kind, date, postings);
    new.note = note;
    new.receipt = Some(receipt.id);
    post(act, new)
}

fn win(act: &mut Act<'_, '_>, books: &Books, withdrawn: &Entry, note: Note) -> Result<(), AppError> {
    let mut new = NewEntry::of(
        EntryKind::DisputeWon,
        books.today,
        Postings::reverse_of(&withdrawn.postings),
    );
    new.note = note;
    new.receipt = withdrawn.receipt;
    post(act, new)?;
    for id in withdrawn
        .postings
        .iter()
        .filter_map(|posting| posting.about.payment)
    {
        let mut payment: Payment = act.find(id)?;
        // The money of a charge can come in parts, and each can be disputed.
        let is_last = charges::in_dispute(act, id)?.by_provider == 0;
        if payment.status == PaymentStatus::Disputed && is_last {
            let at = charges::paid_at(act, books, &payment, None)?;
            payment.win_dispute(at)?;
            settle(act, &mut payment)?;
        }
    }
    Ok(())
}

/// What the bank keeps is owed again. Credit that it gave is gone; what was used of it is written off.
fn lose(
    act: &mut Act<'_, '_>,
    books: &Books,
    receipt: &Receipt,
    withdrawn: &Entry,
    note: Note,
) -> Result<(), AppError> {
    let (mut postings, mut owed, mut all) = (Postings::default(), Vec::new(), 0);
    // Several postings can be of one member.
    let mut credits: HashMap<MemberId, i64> = HashMap::new();
    for posting in withdrawn.postings.iter().filter(|posting| posting.amount > 0) {
        let (part, about) = (posting.amount, posting.about);
        all += part;
        match about.payment {
            Some(id) => {
                let mut payment: Payment = act.find(id)?;
                match payment.status {
                    PaymentStatus::Disputed => payment.lose_dispute(part, act.now())?,
                    _ => payment.take_back(part, act.now())?,
                }
                postings.add(Standing::Receivable, part, about);
                owed.push((payment, part));
            }
            None => {
                let taken = match about.member {
                    Some(member) => {
                        let before = credits.get(&member).copied().unwrap_or(0);
                        let credit = journal::credit_of(act.tx, act.organization, member)? - before;
                        let taken = credit.clamp(0, part);
                        credits.insert(member, before + taken);
                        taken
                    }
                    None => 0,
                };
                postings.add(Standing::Credit, taken, about);
                postings.add(Standing::WriteOffs, part - taken, about);
            }
        }
        postings.add(Standing::Disputes, -part, about);
    }
    let mut new = NewEntry::of(EntryKind::DisputeLost, books.today, postings);
    (new.note, new.receipt) = (note, Some(receipt.id));
    let is_all = all == receipt.amount;
    if is_all && journal::reversal_of(act.tx, act.organization, receipt.entry)?.is_none() {
        new.reverses = Some(receipt.entry);
    }
    post(act, new)?;
    for (payment, part) in &mut owed {
        receipts::reopen_cancelled(act, books, payment, (*part, books.today))?;
        settle(act, payment)?;
    }
    if is_all {
        let bounced = Receipt {
            status: ReceiptStatus::Bounced,
            ..receipt.clone()
        };
        bursar_db::receipts::update(act.tx, act.organization, &bounced)?;
    }
    Ok(())
}
