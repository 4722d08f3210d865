//! A charge: what is open, the money that came for it, its entries, and what can be done with it.

use askama::Template;
use bursar_app::books::entries;
use bursar_app::books::receipts::RECORD;
use bursar_app::payments::{self, CHANGE, REFUND, REVERSE};
use bursar_app::reminders::SCHEDULE;
use bursar_app::{View, names, online, resources};
use bursar_domain::creditor_reference;
use bursar_domain::ids::{PaymentId, kind};
use bursar_domain::journal::{Entry, EntryKind};
use bursar_domain::money::Money;
use bursar_domain::payment::{Payment, PaymentStatus};

use super::online::open_disputes;
use super::rows::{self, EntryRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

/// Money that settled a part of it and stands.
struct Settled {
    day: String,
    what: String,
    amount: String,
    to: String,
    act: &'static str,
}

/// A card payment that brought money for it.
struct PaidByCard {
    to: String,
    told: String,
    /// The payer's bank disputes the payment, and the provider reports the outcome.
    is_disputed: bool,
}

#[derive(Template)]
#[template(path = "charge.html")]
struct Page<'a> {
    frame: &'a Frame,
    id: PaymentId,
    what: String,
    status: PaymentStatus,
    state: String,
    may_record: bool,
    /// Where a reminder is written to whoever owes it; empty if there is none to write.
    remind: String,
    /// The ends of the addresses of further acts, and their names.
    acts: Vec<(&'static str, &'static str)>,
    amount: String,
    paid: String,
    open: String,
    /// The id, for a link.
    member: String,
    who: String,
    /// The id, for a link.
    group_id: String,
    group: String,
    due: String,
    reference: String,
    settled: Vec<Settled>,
    online: Vec<PaidByCard>,
    entries: Vec<EntryRow>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let shown = payments::show(view, asking.id::<kind::Payment>(0)?)?;
    let payment = shown.payment;
    let names = names::of_references(view, std::slice::from_ref(&payment))?;
    let (accounts, currency) = entries::accounts(view)?;
    let online = paid_by_card(view, frame, payment.id)?;
    let open = open(&payment);
    let is_owed = payment.status.is_owed() && open.minor > 0;
    let page = Page {
        frame,
        id: payment.id,
        what: rows::described(&payment.description),
        status: payment.status,
        state: words::label(payment.status.as_str()),
        may_record: frame.may(&RECORD) && is_owed,
        remind: match (payment.member_id, payment.target_organization_id) {
            (Some(id), _) if is_owed && frame.may(&SCHEDULE) => {
                frame.at(&format!("reminders/new?member={id}"))
            }
            (None, Some(id)) if is_owed && frame.may(&SCHEDULE) => {
                frame.at(&format!("reminders/new?chapter={id}"))
            }
            _ => String::new(),
        },
        acts: acts(frame, &payment, online.iter().any(|paid| paid.is_disputed)),
        amount: words::money_in(payment.amount),
        paid: words::money_in(payment.paid_to_date),
        open: words::money_in(open),
        member: payment.member_id.map(|id| id.to_string()).unwrap_or_default(),
        who: match payment.member_id {
            Some(member) => names.told(Some(member)),
            None => names.told(payment.target_organization_id),
        },
        group_id: payment.group_id.map(|id| id.to_string()).unwrap_or_default(),
        group: names.told(payment.group_id),
        due: words::day_or_dash(payment.due_date),
        reference: payment
            .reference
            .as_deref()
            .map_or_else(|| "\u{2013}".to_owned(), creditor_reference::spaced),
        settled: settled(frame, &payment, &shown.entries),
        online,
        entries: rows::entries(&shown.entries, &accounts, currency),
    };
    Ok(page.render()?)
}

fn paid_by_card(
    view: &mut View<'_, '_>,
    frame: &Frame,
    charge: PaymentId,
) -> Result<Vec<PaidByCard>, Failure> {
    let mut found = Vec::new();
    for id in online::lists::of_charge(view, charge)? {
        let record = online::get(view, id)?;
        found.push(PaidByCard {
            to: frame.at(&format!("online/{id}")),
            told: format!("{} from {}", words::money_in(record.amount), record.member_name),
            is_disputed: open_disputes(&record).next().is_some(),
        });
    }
    Ok(found)
}

/// What is open of it.
pub(super) fn open(payment: &Payment) -> Money {
    let minor = match payment.status {
        PaymentStatus::Cancelled => 0,
        _ => payment.amount.minor - payment.paid_to_date.minor,
    };
    Money::new(minor, payment.amount.currency)
}

fn acts(frame: &Frame, payment: &Payment, is_at_provider: bool) -> Vec<(&'static str, &'static str)> {
    let mut acts = Vec::new();
    if frame.may(&CHANGE) {
        if payment.status.is_owed() {
            acts.extend([
                ("adjust", "Change the amount"),
                ("plan", "Pay in instalments"),
                ("edit", "Edit"),
                ("cancel", "Cancel"),
            ]);
        }
        match payment.status {
            PaymentStatus::Paid => acts.extend([("adjust", "Change the amount"), ("dispute", "Dispute")]),
            // The provider's end of the dispute is booked by itself.
            PaymentStatus::Disputed if is_at_provider => {}
            PaymentStatus::Disputed => acts.push(("resolve", "Resolve the dispute")),
            PaymentStatus::Pending
            | PaymentStatus::PartiallyPaid
            | PaymentStatus::Failed
            | PaymentStatus::Processing
            | PaymentStatus::Cancelled => {}
        }
    }
    let is_refundable = matches!(
        payment.status,
        PaymentStatus::PartiallyPaid | PaymentStatus::Failed | PaymentStatus::Paid
    );
    if frame.may(&REFUND) && is_refundable && payment.paid_to_date.minor > 0 {
        acts.push(("refund", "Refund"));
    }
    acts
}

fn settled(frame: &Frame, payment: &Payment, entries: &[Entry]) -> Vec<Settled> {
    let is_reversed = |entry: &Entry| entries.iter().any(|other| other.reverses == Some(entry.id));
    let standing = entries.iter().filter(|entry| {
        let is_money = matches!(
            entry.kind,
            EntryKind::Receipt | EntryKind::CreditApplied | EntryKind::Opening
        );
        is_money && entry.owed_for(payment.id) < 0 && entry.reverses.is_none() && !is_reversed(entry)
    });
    let row = |entry: &Entry| Settled {
        day: words::day(entry.date),
        what: words::label(entry.kind.as_str()),
        amount: words::money(Money::new(-entry.owed_for(payment.id), payment.amount.currency)),
        to: match entry.receipt {
            Some(receipt) => frame.at(&format!("money/{receipt}")),
            None if frame.may(&REVERSE) => frame.at(&format!("charges/{}/reverse/{}", payment.id, entry.id)),
            None => String::new(),
        },
        act: match entry.receipt {
            Some(_) => "Open the receipt",
            None => "Reverse",
        },
    };
    standing.map(row).collect()
}

/// The charge of a page below it, and the way back.
pub(super) fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Payment, (String, String)), Failure> {
    let payment: Payment = resources::one(view, asking.id::<kind::Payment>(0)?)?;
    let to = asking.frame.at(&format!("charges/{}", payment.id));
    let name = rows::described(&payment.description);
    Ok((payment, (to, name)))
}
