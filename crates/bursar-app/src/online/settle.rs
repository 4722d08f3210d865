//! Books what the provider says about an online payment: that it is under way, that the money came, that it failed, and
//! what it cost. All of it can be said again, late, and in any order.

use bursar_db::online::moves::{self, Move};
use bursar_db::online::{self as rows, OnlinePayment};
use bursar_domain::account::Standing;
use bursar_domain::ids::{OnlinePaymentId, ReceiptId};
use bursar_domain::journal::{About, EntryKind, Note, Postings};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::online::{
    DISPUTE_SECONDS, MoveKind, MoveState, OnlineState, check_currency, wait_seconds,
};
use bursar_domain::payment::Payment;
use bursar_domain::receipt::{Method, Open, Receipt, ReceiptStatus};
use bursar_domain::{Date, Refusal, Timestamp};

use super::port::{CardOrder, Checkout, Opened, Outcome, Progress};
use super::record::{self, Record, refunded};
use super::{ASK, PAID_TWICE, SETTLE, autopay, find};
use crate::act::{Act, View};
use crate::books::{self, Books, Closed, NewEntry, post, receipts};
use crate::error::AppError;

/// A fee that is not known after so many questions is not waited for.
const FEE_ATTEMPTS_MAX: i64 = 50;
/// What the provider's page says where a charge has no words of its own.
const NAMELESS: &str = "Payment";
/// Characters of a problem that are kept.
const PROBLEM_MAX: usize = 300;

/// A payment to ask about.
#[derive(Clone, Debug)]
pub struct Question {
    pub payment: OnlinePayment,
    /// To open the provider's page with.
    pub checkout: Checkout,
    /// To charge a saved card with, if it is one's.
    pub card: Option<CardOrder>,
    /// Refunds that the provider may not know of.
    pub wanted: Vec<Move>,
}

pub fn question(view: &mut View<'_, '_>, id: OnlinePaymentId) -> Result<Question, AppError> {
    view.allow(&ASK)?;
    let payment = find(view, id)?;
    let mut lines = Vec::new();
    for item in rows::items(view.tx, view.organization, id)? {
        let charge: Option<Payment> = view.get(item.payment)?;
        let words = charge.map(|charge| charge.description).unwrap_or_default();
        let words = match words.trim() {
            "" => NAMELESS.to_owned(),
            words => words.to_owned(),
        };
        lines.push((words, Money::new(item.amount, payment.currency)));
    }
    let member: Option<Member> = view.get(payment.member_id)?;
    let card = autopay::order(view, &payment, &lines)?;
    let moves = moves::of_payment(view.tx, view.organization, id)?;
    let is_wanted = |found: &Move| found.kind == MoveKind::Refund && found.state == MoveState::Wanted;
    Ok(Question {
        checkout: Checkout {
            id,
            organization: payment.organization_id,
            lines,
            email: member.and_then(|member| member.email),
            success_url: payment.success_url.clone(),
            cancel_url: payment.cancel_url.clone(),
            expires_at: payment.expires_at,
        },
        card,
        wanted: moves.into_iter().filter(is_wanted).collect(),
        payment,
    })
}

/// The provider has a page for it. Of two pages the first counts.
pub fn opened(act: &mut Act<'_, '_>, id: OnlinePaymentId, opened: &Opened) -> Result<Record, AppError> {
    act.allow(&SETTLE)?;
    let mut payment = find(act, id)?;
    if payment.session_id.is_none() {
        payment.session_id = Some(opened.session.clone());
        payment.url = Some(opened.url.clone());
        payment.problem = None;
        if payment.state == OnlineState::Created {
            payment.state = OnlineState::Open;
        }
        rows::update(act.tx, &payment)?;
        // The first report comes by itself; this is for when it does not.
        rows::rest(act.tx, &payment, Some(act.now().plus_seconds(wait_seconds(2))), 2)?;
    }
    record::of(act, payment)
}

/// The provider has it, charged to a saved card. What came of it is asked next.
pub(super) fn charged(act: &mut Act<'_, '_>, id: OnlinePaymentId, name: &str) -> Result<(), AppError> {
    act.allow(&SETTLE)?;
    let mut payment = find(act, id)?;
    if payment.session_id.is_none() && payment.state.is_under_way() {
        payment.session_id = Some(name.to_owned());
        payment.state = OnlineState::Processing;
        rows::update(act.tx, &payment)?;
        each_charge(act, &payment, Payment::process)?;
    }
    Ok(())
}

/// Nobody can pay it: the provider has no page for it, and makes none any more.
pub fn abandon(act: &mut Act<'_, '_>, id: OnlinePaymentId) -> Result<Record, AppError> {
    act.allow(&SETTLE)?;
    let mut payment = find(act, id)?;
    if payment.session_id.is_none() && payment.state.is_under_way() {
        payment.state = OnlineState::Expired;
        payment.ended_at = Some(act.now());
        rows::update(act.tx, &payment)?;
        rows::rest(act.tx, &payment, None, 0)?;
        autopay::ended(act, &payment)?;
    }
    record::of(act, payment)
}

/// Books what is new in the outcome. Refunds and disputes have acts of their own.
pub fn settle(act: &mut Act<'_, '_>, id: OnlinePaymentId, outcome: &Outcome) -> Result<Record, AppError> {
    act.allow(&SETTLE)?;
    let mut payment = find(act, id)?;
    let before = payment.clone();
    if payment.intent_id.is_none() {
        payment.intent_id.clone_from(&outcome.intent);
    }
    if payment.receipt_id.is_none() && outcome.charge.is_some() {
        payment.charge_id.clone_from(&outcome.charge);
    }
    if payment.receipt_id.is_none() {
        progress(act, &mut payment, outcome)?;
    }
    fee(act, &mut payment, outcome.fee)?;
    if payment != before {
        rows::update(act.tx, &payment)?;
    }
    if payment.state != before.state {
        act.log(&format!("online.{}", payment.state), Some(id.to_string()), None)?;
        autopay::ended(act, &payment)?;
    }
    record::of(act, payment)
}

/// A payment without money so far.
fn progress(act: &mut Act<'_, '_>, payment: &mut OnlinePayment, outcome: &Outcome) -> Result<(), AppError> {
    let now = act.now();
    match outcome.progress {
        Progress::Succeeded { amount, currency, at } => {
            check_currency(payment.currency, currency)?;
            let receipt = came(act, payment, (amount, at))?;
            payment.receipt_id = Some(receipt);
            payment.state = OnlineState::Succeeded;
            payment.ended_at = Some(at.min(now));
            payment.failure = None;
        }
        // What is over is over; a page that was given up cannot be paid later.
        _ if !payment.state.is_under_way() => {}
        Progress::Waiting => {
            payment.failure.clone_from(&outcome.failure);
            if payment.state == OnlineState::Created {
                payment.state = OnlineState::Open;
            }
        }
        Progress::Processing => {
            payment.state = OnlineState::Processing;
            each_charge(act, payment, Payment::process)?;
        }
        Progress::Expired if outcome.failure.is_none() && payment.failure.is_none() => {
            payment.state = OnlineState::Expired;
            payment.ended_at = Some(now);
        }
        // A card was tried and declined, and the payer gave up.
        Progress::Failed | Progress::Expired => {
            payment.state = OnlineState::Failed;
            payment.ended_at = Some(now);
            if outcome.failure.is_some() {
                payment.failure.clone_from(&outcome.failure);
            }
            each_charge(act, payment, Payment::fail)?;
        }
    }
    Ok(())
}

fn each_charge(
    act: &mut Act<'_, '_>,
    payment: &OnlinePayment,
    change: fn(&mut Payment, Timestamp) -> Result<(), Refusal>,
) -> Result<(), AppError> {
    for item in rows::items(act.tx, act.organization, payment.id)? {
        let before: Payment = act.find(item.payment)?;
        let mut charge = before.clone();
        change(&mut charge, act.now())?;
        if charge != before {
            books::settle(act, &mut charge)?;
        }
    }
    Ok(())
}

/// Books the receipt. What was paid twice, in two tabs, goes back; what else the charges do not take is credit.
fn came(
    act: &mut Act<'_, '_>,
    payment: &OnlinePayment,
    (amount, at): (i64, Timestamp),
) -> Result<ReceiptId, AppError> {
    let books = books::open(act)?;
    let mut open = Vec::new();
    let mut twice = 0;
    for item in rows::items(act.tx, act.organization, payment.id)? {
        let charge: Payment = act.find(item.payment)?;
        let fits = match charge.takes_money() {
            true => charge.receivable_minor().min(item.amount),
            false => 0,
        };
        let is_paid_twice = fits < item.amount
            && rows::was_paid_by_another(act.tx, act.organization, item.payment, payment.id)?;
        if is_paid_twice {
            twice += item.amount - fits;
        }
        open.push(Open {
            payment: item.payment,
            open: fits,
        });
    }
    let receipt = Receipt {
        id: act.new_id(),
        date: money_date(&books, at)?,
        recorded_at: act.now(),
        amount,
        method: Method::Card,
        account: Standing::Clearing.id(),
        payer: Some(payment.member_id),
        payer_name: None,
        reference: payment.intent_id.clone(),
        entry: act.new_id(),
        status: ReceiptStatus::Recorded,
    };
    let (receipt, entry) = receipts::collect(act, &books, receipt, open)?;
    let rest = i64::try_from(-entry.sum_of(Standing::Credit.id())).unwrap_or(0);
    let back = twice.min(rest);
    if back > 0 {
        let refund = Move {
            id: act.new_id(),
            kind: MoveKind::Refund,
            reference: None,
            online_id: Some(payment.id),
            amount: back,
            fee: 0,
            state: MoveState::Wanted,
            reason: Some(PAID_TWICE.to_owned()),
            created_at: act.now(),
            entry_id: None,
        };
        moves::insert(act.tx, act.organization, &refund)?;
    }
    Ok(receipt.id)
}

/// The day money moved at the provider: never in the future, and today where that day is closed.
pub(super) fn money_date(books: &Books, at: Timestamp) -> Result<Date, Refusal> {
    let day = books.organization.time_zone.date(at).min(books.today);
    books.date("date", day, Closed::UseToday)
}

/// Books the difference to what was booked before.
fn fee(act: &mut Act<'_, '_>, payment: &mut OnlinePayment, fee: Option<Money>) -> Result<(), AppError> {
    let Some(fee) = fee.filter(|_| payment.receipt_id.is_some()) else {
        return Ok(());
    };
    check_currency(payment.currency, fee.currency)?;
    let more = fee.minor - payment.fee.unwrap_or(0);
    let reference = payment.charge_id.clone().or_else(|| payment.intent_id.clone());
    post_fee(act, more, reference, &format!("Fee for {}", payment.id))?;
    payment.fee = Some(fee.minor);
    Ok(())
}

pub(super) fn post_fee(
    act: &mut Act<'_, '_>,
    amount: i64,
    reference: Option<String>,
    memo: &str,
) -> Result<(), AppError> {
    if amount == 0 {
        return Ok(());
    }
    let books = books::open(act)?;
    let postings = Postings::pair(
        Standing::BankFees,
        About::default(),
        Standing::Clearing.id(),
        amount,
    );
    let mut entry = NewEntry::of(EntryKind::Fee, books.today, postings);
    entry.note = Note {
        memo: Some(memo.to_owned()),
        reference,
        payer_name: None,
    };
    post(act, entry).map(drop)
}

/// Ends a question: where the payment stands now, what kept it from being booked, and when to ask next. `asked` is the
/// payment as it was when the question began.
pub fn rest(
    act: &mut Act<'_, '_>,
    asked: &OnlinePayment,
    problem: Option<&str>,
    faster: i64,
) -> Result<Record, AppError> {
    act.allow(&SETTLE)?;
    let mut payment = find(act, asked.id)?;
    let moves = moves::of_payment(act.tx, act.organization, payment.id)?;
    let before = payment.clone();
    payment.problem = problem.map(|text| text.chars().take(PROBLEM_MAX).collect());
    if let Some(receipt) = payment.receipt_id {
        let all = receipts::find(act, receipt)?.amount;
        payment.state = match refunded(&moves) >= all {
            true => OnlineState::Refunded,
            false => OnlineState::Succeeded,
        };
    }
    if payment != before {
        rows::update(act.tx, &payment)?;
    }
    let attempts = match payment.state == asked.state && payment.fee == asked.fee {
        true => asked.attempts + 1,
        false => 0,
    };
    let due = next_seconds(&payment, &moves, attempts).map(|seconds| {
        let micros = seconds.saturating_mul(1_000_000) / faster.max(1);
        Timestamp::from_micros(act.now().micros().saturating_add(micros))
    });
    rows::rest(
        act.tx,
        &OnlinePayment {
            heard: asked.heard,
            ..payment.clone()
        },
        due,
        attempts,
    )?;
    record::of(act, payment)
}

/// In how many seconds to ask again. `None` if nothing is expected.
fn next_seconds(payment: &OnlinePayment, moves: &[Move], attempts: i64) -> Option<i64> {
    let is_waiting_for = |kind| {
        moves
            .iter()
            .any(|found| found.kind == kind && !found.state.is_final())
    };
    let is_fee_missing = payment.receipt_id.is_some() && payment.fee.is_none() && attempts < FEE_ATTEMPTS_MAX;
    if payment.problem.is_some()
        || payment.state.is_under_way()
        || is_fee_missing
        || is_waiting_for(MoveKind::Refund)
    {
        return Some(wait_seconds(attempts));
    }
    is_waiting_for(MoveKind::Dispute).then_some(DISPUTE_SECONDS)
}
