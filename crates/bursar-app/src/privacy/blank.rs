//! Blanks what is about the member.

use bursar_db::{attachments, erasure, member_access, memberships, organizations, receipts};
use bursar_domain::erasure::ERASED;
use bursar_domain::member::Member;
use bursar_domain::receipt::Receipt;
use bursar_domain::reminder::ReminderStatus;
use bursar_domain::statement::StatementLine;
use bursar_domain::states::Machine;

use super::known::Known;
use super::plan::{kept_from, last_day};
use crate::act::Act;
use crate::cards;
use crate::error::AppError;
use crate::groups::Counts;

/// Rows of v1, each with history and event as every change. The member comes last.
pub(super) fn rows(act: &mut Act<'_, '_>, known: &Known) -> Result<(), AppError> {
    let today = known.organization.time_zone.date(act.now());
    let from = kept_from(known, today);
    for payment in &known.payments {
        let mut blank = payment.clone();
        blank_text(&mut blank.description);
        if last_day(payment) < from {
            blank.reference = None;
        }
        if blank != *payment {
            act.update(&mut blank)?;
        }
    }
    for reimbursement in &known.reimbursements {
        let mut blank = reimbursement.clone();
        blank_text(&mut blank.description);
        blank.receipts.clear();
        (blank.payout_reference, blank.reviewer_note) = (None, None);
        if blank != *reimbursement {
            act.update(&mut blank)?;
        }
    }
    for reminder in &known.reminders {
        let mut blank = reminder.clone();
        blank.subject.iter_mut().for_each(blank_text);
        blank.body.iter_mut().for_each(blank_text);
        if blank.status == ReminderStatus::Scheduled {
            blank.status = blank.status.to(ReminderStatus::Cancelled)?;
        }
        if blank != *reminder {
            act.update(&mut blank)?;
        }
    }
    for card in &known.cards {
        let mut blank = card.clone();
        blank.name.iter_mut().for_each(blank_text);
        if blank != *card {
            act.update(&mut blank)?;
        }
    }
    cards::freeze_of(act, known.member.id)?;
    for id in &known.household {
        let mut other: Member = act.find(*id)?;
        other.payer_id = None;
        act.update(&mut other)?;
    }
    member(act, known, known.entries.values().all(|entry| entry.date < from))
}

/// Also takes the member out of all groups.
fn member(act: &mut Act<'_, '_>, known: &Known, is_old: bool) -> Result<(), AppError> {
    let before = &known.member;
    let mut erased = before.clone();
    erased.erase(act.now());
    if is_old {
        erased.reference = None;
    }
    for group in &before.groups {
        memberships::remove(act.tx, act.organization, *group, before.id)?;
    }
    let mut counts = Counts::default();
    counts.moved(Some(before), Some(&erased));
    counts.settle(act)?;
    act.update(&mut erased)
}

/// Notes of entries, receipts, bank lines and attachments. Amounts, dates and accounts stay.
pub(super) fn books(act: &mut Act<'_, '_>, known: &Known) -> Result<(), AppError> {
    for receipt in &known.receipts {
        let blank = Receipt {
            payer_name: None,
            reference: None,
            ..receipt.clone()
        };
        if blank != *receipt {
            receipts::update(act.tx, act.organization, &blank)?;
        }
    }
    for entry in &known.alone {
        erasure::blank_note(act.tx, act.organization, *entry)?;
    }
    for line in &known.lines {
        erasure::blank_line(act.tx, act.organization, line.id, &text_of(line))?;
    }
    for attachment in &known.attachments {
        attachments::remove(act.tx, act.organization, attachment.id)?;
    }
    Ok(())
}

/// A bundle tells lines without a reference of the bank apart by their texts.
fn text_of(line: &StatementLine) -> String {
    match line.reference {
        Some(_) => ERASED.to_owned(),
        None => format!("{ERASED} {}", line.id),
    }
}

/// Messages, applications, uploads, links to the member's page and the person's sign-in.
pub(super) fn others(act: &mut Act<'_, '_>, known: &Known) -> Result<(), AppError> {
    let (id, now) = (known.member.id, act.now());
    erasure::blank_messages(act.tx, act.organization, id, now)?;
    erasure::blank_applications(act.tx, act.organization, id)?;
    erasure::blank_online_payments(act.tx, act.organization, id)?;
    crate::online::autopay::stop_erased(act, id)?;
    erasure::remove_uploads(act.tx, act.organization)?;
    let email = known.member.email.as_deref().filter(|email| known.is_own(email));
    member_access::revoke(act.tx, act.organization, id, now)?;
    erasure::forget_visits(act.tx, act.organization, id, email)?;
    let Some(user) = &known.user else {
        if let Some(email) = email {
            erasure::forget_codes(act.tx, email)?;
        }
        return Ok(());
    };
    if organizations::places(act.tx, user.id)?.is_empty() {
        erasure::forget_codes(act.tx, &user.email)?;
        erasure::forget_user(act.tx, user.id)?;
    }
    Ok(())
}

fn blank_text(text: &mut String) {
    if !text.is_empty() {
        ERASED.clone_into(text);
    }
}
