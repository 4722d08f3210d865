//! One card payment: what it paid, what became of the money, and what the provider calls it.

use askama::Template;
use bursar_app::View;
use bursar_app::books::{entries, receipts};
use bursar_app::online::{self, MoveRecord, REFUND, Record};
use bursar_domain::ids::kind;
use bursar_domain::money::Money;
use bursar_domain::online::{MoveKind, MoveState, OnlineState};

use super::{answer, open_disputes, progress, reason, state};
use crate::asking::Asking;
use crate::failure::{Failure, without_commands};
use crate::forms::{Form, Sent};
use crate::frame::Frame;
use crate::pages::ask::Ask;
use crate::pages::rows::{self, EntryRow};
use crate::questions::Question;
use crate::words::{self, Moment};

/// A refund or a dispute.
struct MoveRow {
    what: &'static str,
    class: &'static str,
    state: &'static str,
    at: Moment,
    reason: String,
    reference: String,
    fee: String,
    amount: String,
}

#[derive(Template)]
#[template(path = "online/one.html")]
struct Page<'a> {
    frame: &'a Frame,
    id: String,
    title: String,
    class: &'static str,
    state: &'static str,
    may_refund: bool,
    /// The provider was asked a moment ago.
    is_asked: bool,
    problem: String,
    failure: String,
    /// What to do about disputes that have not ended: how much, and what.
    disputes: Vec<(String, &'static str)>,
    amount: String,
    fee: String,
    refunded: String,
    member: String,
    member_name: String,
    started: Moment,
    ended: Moment,
    /// Until when the payer can pay.
    until: Option<Moment>,
    receipt: String,
    /// What the provider calls it, for its dashboard.
    names: Vec<(&'static str, String)>,
    /// Address, name, amount.
    parts: Vec<(String, String, String)>,
    moves: Vec<MoveRow>,
    entries: Vec<EntryRow>,
}

/// The payment of a page below it, and the way back.
pub(super) fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Record, (String, String)), Failure> {
    let record = online::get(view, asking.id::<kind::OnlinePayment>(0)?)?;
    let to = asking.frame.at(&format!("online/{}", record.id));
    let name = title(&record);
    Ok((record, (to, name)))
}

fn title(record: &Record) -> String {
    format!("{} from {}", words::money_in(record.amount), record.member_name)
}

/// What can still be refunded: nothing while the payer's bank has the money.
pub(super) fn left(record: &Record) -> Money {
    let is_withdrawn =
        |found: &MoveRecord| found.kind == MoveKind::Dispute && found.state == MoveState::Withdrawn;
    let is_back = |found: &&MoveRecord| found.kind == MoveKind::Refund && found.state != MoveState::Failed;
    let back: i64 = record
        .moves
        .iter()
        .filter(is_back)
        .map(|found| found.amount.minor)
        .sum();
    let minor = match record.receipt_id.is_none() || record.moves.iter().any(is_withdrawn) {
        true => 0,
        false => record.amount.minor - back,
    };
    Money::new(minor.max(0), record.amount.currency)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (record, _) = of(view, asking)?;
    let zone = &frame.place.organization.time_zone;
    let entries = match record.receipt_id {
        Some(receipt) => {
            let (accounts, currency) = entries::accounts(view)?;
            rows::entries(&receipts::show(view, receipt)?.entries, &accounts, currency)
        }
        None => Vec::new(),
    };
    let row = |found: &MoveRecord| {
        let (class, state) = progress(found);
        MoveRow {
            what: match found.kind {
                MoveKind::Refund => "Refund",
                MoveKind::Dispute => "Dispute",
                MoveKind::Payout => "Payout",
            },
            class,
            state,
            at: Moment::there(found.created_at, zone),
            reason: reason(found),
            reference: found.reference.clone().unwrap_or_default(),
            fee: match found.fee.minor {
                0 => String::new(),
                _ => words::money(found.fee),
            },
            amount: words::money(found.amount),
        }
    };
    let (class, state) = state(&record);
    let dash = || "\u{2013}".to_owned();
    let page = Page {
        frame,
        id: record.id.to_string(),
        title: title(&record),
        class,
        state,
        may_refund: frame.may(&REFUND) && left(&record).minor > 0,
        is_asked: asking.query("asked") == "yes",
        disputes: open_disputes(&record)
            .map(|found| (words::money_in(found.amount), answer(found.state)))
            .collect(),
        amount: words::money_in(record.amount),
        fee: record.fee.map_or_else(dash, words::money_in),
        refunded: match record.refunded.minor {
            0 => dash(),
            _ => words::money_in(record.refunded),
        },
        member: record.member_id.to_string(),
        started: Moment::there(record.created_at, zone),
        ended: Moment::or_dash(record.ended_at, zone),
        until: matches!(record.state, OnlineState::Created | OnlineState::Open)
            .then(|| Moment::there(record.expires_at, zone)),
        receipt: record.receipt_id.map(|id| id.to_string()).unwrap_or_default(),
        names: [
            ("Payment at Stripe", &record.intent_id),
            ("Charge at Stripe", &record.charge_id),
            ("Checkout at Stripe", &record.session_id),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.clone()?)))
        .collect(),
        parts: record
            .parts
            .iter()
            .map(|part| {
                (
                    frame.at(&format!("charges/{}", part.payment_id)),
                    rows::described(&part.description),
                    words::money(part.amount),
                )
            })
            .collect(),
        moves: record.moves.iter().map(row).collect(),
        entries,
        member_name: record.member_name,
        problem: record
            .problem
            .as_deref()
            .map(without_commands)
            .unwrap_or_default(),
        failure: record.failure.unwrap_or_default(),
    };
    Ok(page.render()?)
}

pub(crate) fn show_ask(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (_, back) = of(view, asking)?;
    Ask::new(&asking.frame, form, "Check with Stripe now", back)
        .lead("This looks up the current state of the payment at Stripe and books what changed. It also happens automatically.")
        .button("Check with Stripe now")
        .page()
}

pub(crate) fn send_ask(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let (record, (to, _)) = of(view, asking)?;
    Ok(Sent::Ask(Question::Pursue(record.id, format!("{to}?asked=yes"))))
}
