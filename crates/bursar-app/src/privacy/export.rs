//! Everything that is known about one member, as JSON.

use std::collections::BTreeSet;

use bursar_db::{activity, events, organizations};
use bursar_domain::Resource;
use bursar_domain::group::Group;
use bursar_domain::ids::MemberId;
use bursar_domain::journal::Entry;
use bursar_domain::member::Member;
use bursar_domain::money::{Money, decimal};
use serde_json::{Value, json};

use super::known::{self, Known};
use super::{EXPORT, Looking};
use crate::act::Act;
use crate::bundle::{attachment_line, receipt_line, statement_line_line};
use crate::error::AppError;
use crate::notices;

/// The export is logged, and a person who asked for it is sent a notice.
pub fn export(act: &mut Act<'_, '_>, member: MemberId) -> Result<Value, AppError> {
    act.allow(&EXPORT)?;
    let known = known::about(act, member, &Looking::default())?;
    let value = value(act, &known)?;
    act.log(EXPORT.name, Some(member.to_string()), None)?;
    notices::tell_of(act, &EXPORT)?;
    Ok(value)
}

fn value(act: &mut Act<'_, '_>, known: &Known) -> Result<Value, AppError> {
    let (organization, currency) = (act.organization, known.organization.currency);
    let member = &known.member;
    let mut groups = Vec::new();
    for id in &member.groups {
        let group: Group = act.find(*id)?;
        groups.push(json!({ "id": group.id, "name": group.name }));
    }
    let payer = match member.payer_id {
        Some(id) => act.get::<Member>(id)?.map(|payer| named(&payer)),
        None => None,
    };
    let mut household = Vec::new();
    for id in &known.household {
        household.extend(act.get::<Member>(*id)?.map(|other| named(&other)));
    }
    let lines = known
        .lines
        .iter()
        .map(|line| statement_line_line(organization, line, &[], currency));
    let files = known
        .attachments
        .iter()
        .map(|file| attachment_line(organization, file));
    let receipts = known
        .receipts
        .iter()
        .map(|receipt| receipt_line(organization, receipt, currency));
    let entries = known.entries.values().map(|entry| own_part(known, entry));
    Ok(json!({
        "exportedAt": act.now(),
        "organization": {
            "id": organization,
            "name": known.organization.name,
            "contactEmail": known.organization.contact_email,
        },
        "member": bundle(act, member)?,
        "groups": groups,
        "payer": payer,
        "household": household,
        "credit": Money::new(known.credit, currency),
        "currency": currency,
        "payments": bundles(act, &known.payments)?,
        "receipts": parsed(receipts)?,
        "journalEntries": entries.collect::<Vec<_>>(),
        "reimbursements": bundles(act, &known.reimbursements)?,
        "attachments": parsed(files)?,
        "orders": bundles(act, &known.orders)?,
        "cards": bundles(act, &known.cards)?,
        "reminders": bundles(act, &known.reminders)?,
        "messages": known.messages.iter().map(|message| json!({
            "id": message.id,
            "method": message.method,
            "address": message.address,
            "subject": message.subject,
            "body": message.body,
            "owed": message.owed,
            "state": message.state,
            "detail": message.detail,
            "createdAt": message.created_at,
            "endedAt": message.ended_at,
        })).collect::<Vec<_>>(),
        "onlinePayments": known.online.iter().map(|online| json!({
            "id": online.id,
            "amount": Money::new(online.amount, currency),
            "state": online.state,
            "createdAt": online.created_at,
            "endedAt": online.ended_at,
            "failure": online.failure,
            "providerId": online.intent_id,
        })).collect::<Vec<_>>(),
        "savedCards": known.autopays.iter().map(|saved| json!({
            "card": saved.card,
            "cardUntil": saved.card_until,
            "state": saved.state,
            "startedAt": saved.started_at,
            "providerId": saved.method_id,
        })).collect::<Vec<_>>(),
        "statementLines": parsed(lines)?,
        "signIn": sign_in(act, known)?,
        "activity": activity(act, known)?,
        "events": events(act, known)?,
    }))
}

fn named(member: &Member) -> Value {
    json!({ "id": member.id, "name": member.name() })
}

/// What the organization's bundle has: also the fields that the API does not show.
fn bundle<R: Resource>(act: &Act<'_, '_>, row: &R) -> Result<Value, AppError> {
    parse(&row.bundle_line(act.organization, &mut |_| true))
}

fn bundles<R: Resource>(act: &Act<'_, '_>, rows: &[R]) -> Result<Vec<Value>, AppError> {
    rows.iter().map(|row| bundle(act, row)).collect()
}

fn parsed(lines: impl Iterator<Item = String>) -> Result<Vec<Value>, AppError> {
    lines.map(|line| parse(&line)).collect()
}

fn parse(line: &str) -> Result<Value, AppError> {
    let parsed = serde_json::from_str(line);
    parsed.map_err(|error| bursar_db::DbError::Internal(error.to_string()).into())
}

/// Postings about the member, and the note if the entry is about nobody else.
fn own_part(known: &Known, entry: &Entry) -> Value {
    let currency = known.organization.currency;
    let is_alone = known.alone.contains(&entry.id);
    let postings = entry
        .postings
        .iter()
        .filter(|posting| is_alone || posting.about.member == Some(known.member.id));
    let postings = postings.map(|posting| {
        json!({
            "accountId": posting.account,
            "amount": decimal(posting.amount.into(), currency),
            "paymentId": posting.about.payment,
            "orderId": posting.about.order,
            "reimbursementId": posting.about.reimbursement,
        })
    });
    let note = |text: &Option<String>| text.clone().filter(|_| is_alone);
    json!({
        "id": entry.id,
        "date": entry.date,
        "recordedAt": entry.recorded_at,
        "kind": entry.kind,
        "receiptId": entry.receipt,
        "memo": note(&entry.note.memo),
        "reference": note(&entry.note.reference),
        "payerName": note(&entry.note.payer_name),
        "postings": postings.collect::<Vec<_>>(),
    })
}

/// Of the person who signs in with the member's address.
fn sign_in(act: &mut Act<'_, '_>, known: &Known) -> Result<Option<Value>, AppError> {
    let Some(user) = &known.user else {
        return Ok(None);
    };
    let role = organizations::role(act.tx, act.organization, user.id)?;
    Ok(Some(json!({
        "id": user.id,
        "email": user.email,
        "name": user.name,
        "role": role,
    })))
}

fn activity(act: &mut Act<'_, '_>, known: &Known) -> Result<Vec<Value>, AppError> {
    let mut ids = BTreeSet::from([known.member.id.to_string()]);
    ids.extend(known.payments.iter().map(|row| row.id.to_string()));
    ids.extend(known.reimbursements.iter().map(|row| row.id.to_string()));
    ids.extend(known.reminders.iter().map(|row| row.id.to_string()));
    ids.extend(known.cards.iter().map(|row| row.id.to_string()));
    ids.extend(known.orders.iter().map(|row| row.id.to_string()));
    ids.extend(known.receipts.iter().map(|row| row.id.to_string()));
    let lines = activity::about(act.tx, act.organization, |subject| {
        let id = subject.split(':').next().unwrap_or_default();
        ids.contains(id)
    })?;
    Ok(lines
        .into_iter()
        .map(|line| {
            json!({
                "at": line.at,
                "action": line.action,
                "actor": { "kind": line.actor_kind, "id": line.actor_id },
                "subject": line.subject,
                "count": line.count,
            })
        })
        .collect())
}

fn events(act: &mut Act<'_, '_>, known: &Known) -> Result<Vec<Value>, AppError> {
    let mut ids = vec![known.member.id.to_bytes()];
    ids.extend(known.payments.iter().map(|row| row.id.to_bytes()));
    ids.extend(known.reimbursements.iter().map(|row| row.id.to_bytes()));
    ids.extend(known.reminders.iter().map(|row| row.id.to_bytes()));
    ids.extend(known.cards.iter().map(|row| row.id.to_bytes()));
    ids.extend(known.orders.iter().map(|row| row.id.to_bytes()));
    let mut found = Vec::new();
    for id in ids {
        found.extend(events::of_row(act.tx, act.organization, id)?);
    }
    parsed(found.into_iter())
}
