//! Dues that are announced, charged to a saved card, and tried again.

use std::collections::HashSet;

use bursar_db::autopay::{self as rows, Autopay, Charge};
use bursar_db::online::{self as payments, Item, OnlinePayment};
use bursar_db::open_charges;
use bursar_domain::Date;
use bursar_domain::autopay::{AutopayState, AutopayStep, NOTICE_DAYS, first_try, is_announced_on};
use bursar_domain::ids::{AutopayId, MemberId, OnlinePaymentId, PaymentId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::online::{OnlineState, check_amount};
use bursar_domain::payment::{Payment, PaymentStatus};

use super::super::port::CardOrder;
use super::super::{ASK, BEGIN, CHARGES_MAX, blank};
use super::letters::{self, Line};
use super::{Planned, STOP, active, find, stop_one};
use crate::act::{Act, View};
use crate::books::{self, Books};
use crate::error::AppError;

/// Dues, and instalments of them. Late fees and other charges are the member's to pay.
fn is_dues(payment: &Payment) -> bool {
    payment.group_id.is_some() && payment.fee_of.is_none()
}

/// What a payer's household owes in dues that come due from the day the card was saved, with its day.
fn dues_of<M>(
    act: &mut Act<'_, '_, M>,
    autopay: &Autopay,
    since: Date,
) -> Result<Vec<(Payment, Date)>, AppError> {
    let mut dues = Vec::new();
    for open in open_charges::of_household(act.tx, act.organization, autopay.member_id)? {
        let payment: Payment = act.find(open.payment)?;
        if let Some(due) = payment.due_date.filter(|due| *due >= since && is_dues(&payment)) {
            dues.push((payment, due));
        }
    }
    Ok(dues)
}

fn since<M>(act: &mut Act<'_, '_, M>, autopay: &Autopay) -> Result<Date, AppError> {
    let zone = act.own()?.time_zone;
    Ok(zone.date(autopay.started_at.unwrap_or(autopay.created_at)))
}

/// What is going to be charged, as far as it is raised.
pub(super) fn planned<M>(act: &mut Act<'_, '_, M>, autopay: &Autopay) -> Result<Vec<Planned>, AppError> {
    let (since, today) = (since(act, autopay)?, {
        let zone = act.own()?.time_zone;
        zone.date(act.now())
    });
    let mut planned = Vec::new();
    for (payment, due) in dues_of(act, autopay, since)? {
        let open = payment.receivable_minor();
        let (on, amount, tries) = match rows::charge(act.tx, act.organization, payment.id)? {
            None => {
                let announced = due.plus_days(-NOTICE_DAYS).max(today);
                (first_try(announced, due), open, 0)
            }
            Some(charge) if charge.step == AutopayStep::Waiting && charge.member_id == autopay.member_id => {
                (charge.try_on.max(today), charge.amount.min(open), charge.tries)
            }
            Some(_) => continue,
        };
        planned.push(Planned {
            payment_id: payment.id,
            amount: Money::new(amount, payment.currency),
            description: payment.description,
            on,
            tries,
        });
    }
    planned.sort_by_key(|planned| planned.on);
    Ok(planned)
}

/// Announces what comes due, and begins what is to be charged today. Returns the payments that were begun.
pub(in crate::online) fn look(
    act: &mut Act<'_, '_>,
    id: AutopayId,
) -> Result<Vec<OnlinePaymentId>, AppError> {
    act.allow(&ASK)?;
    let autopay = find(act, id)?;
    if autopay.state != AutopayState::Active {
        return Ok(Vec::new());
    }
    // Who has left agreed to nothing more.
    if !act.find::<Member>(autopay.member_id)?.is_active {
        let member = autopay.member_id.to_string();
        stop_one(act, autopay)?;
        act.log(STOP.name, Some(member), None)?;
        return Ok(Vec::new());
    }
    let books = books::open(act)?;
    let since = since(act, &autopay)?;
    let dues = dues_of(act, &autopay, since)?;
    drop_settled(act, autopay.member_id)?;
    announce(act, &books, &autopay, &dues)?;
    charge(act, &books, &autopay)
}

/// What was paid, cancelled or disputed meanwhile is not the card's any more.
fn drop_settled(act: &mut Act<'_, '_>, member: MemberId) -> Result<(), AppError> {
    let mut household: HashSet<MemberId> = open_charges::household(act.tx, act.organization, member)?
        .into_iter()
        .collect();
    household.insert(member);
    for charge in rows::charges_of(act.tx, act.organization, member)? {
        let payment: Payment = act.find(charge.payment_id)?;
        let is_theirs = payment
            .member_id
            .is_some_and(|debtor| household.contains(&debtor));
        let is_open = payment.status.is_owed() || payment.status == PaymentStatus::Processing;
        if charge.step != AutopayStep::Trying && !(is_theirs && is_open) {
            rows::delete_charge(act.tx, act.organization, charge.payment_id)?;
        }
    }
    Ok(())
}

fn announce(
    act: &mut Act<'_, '_>,
    books: &Books,
    autopay: &Autopay,
    dues: &[(Payment, Date)],
) -> Result<(), AppError> {
    let mut lines = Vec::new();
    for (payment, due) in dues {
        let is_known = rows::charge(act.tx, act.organization, payment.id)?.is_some();
        if is_known || !is_announced_on(books.today, *due) {
            continue;
        }
        let on = first_try(books.today, *due);
        let charge = Charge {
            payment_id: payment.id,
            member_id: autopay.member_id,
            step: AutopayStep::Waiting,
            amount: payment.receivable_minor(),
            first_on: on,
            try_on: on,
            tries: 0,
            online_id: None,
        };
        rows::put_charge(act.tx, act.organization, &charge)?;
        lines.push(Line::of(act, payment, charge.amount, Some(on))?);
    }
    match lines.is_empty() {
        true => Ok(()),
        false => letters::announced(act, autopay, &lines),
    }
}

/// One payment for all that is to be charged, or several if it is very much.
fn charge(act: &mut Act<'_, '_>, books: &Books, autopay: &Autopay) -> Result<Vec<OnlinePaymentId>, AppError> {
    let mut due = Vec::new();
    for charge in rows::charges_of(act.tx, act.organization, autopay.member_id)? {
        if charge.step != AutopayStep::Waiting || charge.try_on > books.today {
            continue;
        }
        let payment: Payment = act.find(charge.payment_id)?;
        // Somebody else's payment is under way: it may be settled tomorrow.
        if payment.status.is_owed() {
            let amount = payment.receivable_minor().min(charge.amount);
            due.push((charge, amount));
        }
    }
    let mut begun = Vec::new();
    for part in due.chunks(CHARGES_MAX) {
        let sum: i128 = part.iter().map(|(_, amount)| i128::from(*amount)).sum();
        let total = Money::total("the sum", sum, books.organization.currency)?;
        if let Err(refusal) = check_amount(autopay.kind, total) {
            let charges: Vec<Charge> = part.iter().map(|(charge, _)| *charge).collect();
            let why = refusal.message().to_owned();
            failed(act, autopay.member_id, &charges, (Some(&why), false))?;
            continue;
        }
        let payment = blank(
            act,
            (autopay.kind, autopay.member_id),
            total,
            ("", ""),
            Some(autopay.id),
        );
        let items: Vec<Item> = part
            .iter()
            .map(|(charge, amount)| Item {
                payment: charge.payment_id,
                amount: *amount,
            })
            .collect();
        payments::insert(act.tx, &payment, &items)?;
        for (charge, _) in part {
            let tried = Charge {
                step: AutopayStep::Trying,
                online_id: Some(payment.id),
                ..*charge
            };
            rows::put_charge(act.tx, act.organization, &tried)?;
        }
        act.log(BEGIN.name, Some(payment.id.to_string()), None)?;
        begun.push(payment.id);
    }
    Ok(begun)
}

/// What to charge to the card that a payment is for.
pub(in crate::online) fn order(
    view: &mut View<'_, '_>,
    payment: &OnlinePayment,
    lines: &[(String, Money)],
) -> Result<Option<CardOrder>, AppError> {
    let Some(id) = payment.autopay_id else {
        return Ok(None);
    };
    let found = rows::get(view.tx, view.organization, id)?;
    // One that was stopped a moment ago is not charged any more.
    let is_active = found
        .as_ref()
        .is_some_and(|autopay| autopay.state == AutopayState::Active);
    let names = found.and_then(|autopay| autopay.customer_id.zip(autopay.method_id));
    let (customer, method) = names.unwrap_or_default();
    let words: Vec<&str> = lines.iter().map(|(words, _)| words.as_str()).collect();
    Ok(Some(CardOrder {
        id: payment.id,
        organization: payment.organization_id,
        customer,
        method,
        amount: Money::new(payment.amount, payment.currency),
        words: words.join(", "),
        may_begin: is_active && view.now() < payment.expires_at,
    }))
}

/// A try has ended: tells the member, and says when the next one is.
pub(in crate::online) fn ended(act: &mut Act<'_, '_>, payment: &OnlinePayment) -> Result<(), AppError> {
    if payment.autopay_id.is_none() {
        return Ok(());
    }
    let charges = rows::tried_by(act.tx, act.organization, payment.id)?;
    match payment.state {
        OnlineState::Created | OnlineState::Open | OnlineState::Processing | OnlineState::Refunded => Ok(()),
        OnlineState::Succeeded => {
            for charge in &charges {
                rows::delete_charge(act.tx, act.organization, charge.payment_id)?;
            }
            let mut lines = Vec::new();
            for item in payments::items(act.tx, act.organization, payment.id)? {
                let charge: Payment = act.find(item.payment)?;
                lines.push(Line::of(act, &charge, item.amount, None)?);
            }
            letters::paid(act, payment, &lines)
        }
        OnlineState::Failed | OnlineState::Expired => {
            let why = payment.failure.as_deref();
            failed(act, payment.member_id, &charges, (why, true))
        }
    }
}

fn failed(
    act: &mut Act<'_, '_>,
    member: MemberId,
    charges: &[Charge],
    (why, may_help): (Option<&str>, bool),
) -> Result<(), AppError> {
    let books = books::open(act)?;
    if active(act, member)?.is_none() {
        // It was stopped meanwhile, and the member pays in another way.
        for charge in charges {
            rows::delete_charge(act.tx, act.organization, charge.payment_id)?;
        }
        return Ok(());
    }
    let (mut lines, mut given_up) = (Vec::new(), Vec::new());
    for charge in charges {
        let tries = charge.tries + 1;
        let retries = &books.organization.autopay_retries;
        let next = retries
            .next(charge.first_on, tries)
            .map(|day| day.max(books.today.plus_days(1)))
            .filter(|_| may_help);
        let payment: Payment = act.find(charge.payment_id)?;
        let after = Charge {
            step: next.map_or(AutopayStep::GivenUp, |_| AutopayStep::Waiting),
            try_on: next.unwrap_or(charge.try_on),
            tries,
            ..*charge
        };
        rows::put_charge(act.tx, act.organization, &after)?;
        let line = Line::of(act, &payment, charge.amount.min(payment.receivable_minor()), next)?;
        if next.is_none() {
            given_up.push(line.clone());
        }
        lines.push(line);
    }
    if lines.is_empty() {
        return Ok(());
    }
    letters::failed(act, member, &lines, why)?;
    match given_up.is_empty() {
        true => Ok(()),
        false => letters::tell_admins(act, member, &given_up, why),
    }
}

/// Whether a payment by this card is under way.
pub(super) fn is_trying(act: &mut Act<'_, '_>, autopay: &Autopay) -> Result<bool, AppError> {
    for charge in rows::charges_of(act.tx, act.organization, autopay.member_id)? {
        let Some(id) = charge.online_id.filter(|_| charge.step == AutopayStep::Trying) else {
            continue;
        };
        let payment = payments::get(act.tx, act.organization, id)?;
        if payment
            .is_some_and(|payment| payment.autopay_id == Some(autopay.id) && payment.state.is_under_way())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What is announced is not charged. What the provider is working on ends by itself.
pub(super) fn call_off(act: &mut Act<'_, '_>, member: MemberId) -> Result<(), AppError> {
    let charges = rows::charges_of(act.tx, act.organization, member)?;
    let is_under_way = |charge: &Charge| charge.step == AutopayStep::Trying;
    let called_off: Vec<PaymentId> = charges
        .iter()
        .filter(|charge| !is_under_way(charge))
        .map(|charge| charge.payment_id)
        .collect();
    for payment in called_off {
        rows::delete_charge(act.tx, act.organization, payment)?;
    }
    Ok(())
}
