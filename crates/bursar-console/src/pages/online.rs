//! Card payments: what members paid online, disputes about it, and payouts to the bank account.

pub(crate) mod one;
pub(crate) mod refund;

use askama::Template;
use bursar_app::View;
use bursar_app::online::lists::{self, Dispute, Payout, Which};
use bursar_app::online::{self, MoveRecord, Record, providers};
use bursar_domain::ids::Id;
use bursar_domain::online::{MoveKind, MoveState, OnlineState};

use super::cut;
use super::tabbed::{Cell, Column, Row, Tabbed, Tabs, tab};
use crate::asking::Asking;
use crate::failure::{Failure, without_commands};
use crate::forms::Form;
use crate::frame::Frame;
use crate::words::{self, Moment};

const TITLE: &str = "Card payments";

/// In the address, on the tab, and what an empty list says.
const TABS: [(&str, &str, Which, &str); 6] = [
    ("", "All", Which::All, "No member has paid by card yet."),
    (
        "under-way",
        "Under way",
        Which::UnderWay,
        "No payment is under way.",
    ),
    (
        "succeeded",
        "Succeeded",
        Which::Succeeded,
        "No payment has succeeded yet.",
    ),
    (
        "failed",
        "Failed",
        Which::Failed,
        "No payment failed or was left unpaid.",
    ),
    (
        "refunded",
        "Refunded",
        Which::Refunded,
        "No payment was refunded.",
    ),
    ("problem", "Problems", Which::Stuck, "No payment has a problem."),
];

/// The tab that the address asks for.
fn here(asking: &Asking) -> (&'static str, &'static str, Which, &'static str) {
    let asked = asking.query("show");
    let found = TABS.into_iter().find(|(word, ..)| *word == asked);
    found.unwrap_or(TABS[0])
}

pub(super) fn which(asking: &Asking) -> Which {
    here(asking).2
}

/// The tabs of all three lists; with numbers where something waits.
fn tabs(view: &mut View<'_, '_>, asking: &Asking, open: &str) -> Result<Tabs, Failure> {
    let counts = lists::counts(view)?;
    let waiting = |count: i64| (count > 0).then_some(count);
    let state = |word: &str| match open {
        "payments" => here(asking).0 == word,
        _ => false,
    };
    let mut tabs: Tabs = TABS
        .iter()
        .map(|(word, name, which, _)| {
            let count = match which {
                Which::Stuck => waiting(counts.stuck),
                _ => None,
            };
            let to = asking.with("online", &[("show", word)]);
            (to, tab(name, count), state(word))
        })
        .collect();
    let disputes = tab("Disputes", waiting(counts.disputes));
    tabs.push((asking.frame.at("online/disputes"), disputes, open == "disputes"));
    tabs.push((
        asking.frame.at("online/payouts"),
        tab("Payouts", None),
        open == "payouts",
    ));
    Ok(tabs)
}

/// Where cards are set up, for those who may, until they are.
fn setup(view: &mut View<'_, '_>, frame: &Frame) -> Result<Option<(String, &'static str)>, Failure> {
    let is_missing = frame.may(&providers::SET) && !online::is_offered(view)?;
    Ok(is_missing.then(|| (frame.at("provider"), "Connect Stripe")))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (.., which, empty) = here(asking);
    let found = lists::payments(view, which, Id::parse(asking.query("after")))?;
    let older = match (found.is_more, found.rows.last()) {
        (true, Some(last)) => asking.with("online", &[("after", &last.id.to_string())]),
        _ => String::new(),
    };
    let page = Tabbed {
        frame,
        title: TITLE,
        act: setup(view, frame)?,
        tabs: tabs(view, asking, "payments")?,
        columns: vec![
            Column::new("From"),
            Column::new("For"),
            Column::new("Day"),
            Column::new("State"),
            Column::new("Remark"),
            Column::money("Fee", frame),
            Column::money("Refunded", frame),
            Column::money("Amount", frame),
        ],
        rows: found.rows.iter().map(|record| row(frame, record)).collect(),
        empty,
        older,
        csv: asking.with("online/csv", &[]),
    };
    Ok(page.render()?)
}

fn row(frame: &Frame, record: &Record) -> Row {
    let (class, state) = state(record);
    Row {
        to: frame.at(&format!("online/{}", record.id)),
        what: record.member_name.clone(),
        cells: vec![
            Cell::Text(paid_for(record)),
            Cell::Moment(Moment::day_there(
                record.created_at,
                &frame.place.organization.time_zone,
            )),
            Cell::Badge(class, state.to_owned()),
            Cell::Text(remark(record)),
            Cell::Minor(record.fee.map(words::money).unwrap_or_default()),
            Cell::Minor(match record.refunded.minor {
                0 => String::new(),
                _ => words::money(record.refunded),
            }),
            Cell::Num(words::money(record.amount)),
        ],
    }
}

/// The charges, in words.
pub(super) fn paid_for(record: &Record) -> String {
    let names: Vec<String> = record
        .parts
        .iter()
        .map(|part| super::rows::described(&part.description))
        .collect();
    names.join(", ")
}

/// What keeps it from being booked, or why it failed.
pub(super) fn remark(record: &Record) -> String {
    let problem = record.problem.as_deref().map(without_commands);
    problem.or_else(|| record.failure.clone()).unwrap_or_default()
}

/// The class of its badge, and its words.
pub(super) fn state(record: &Record) -> (&'static str, &'static str) {
    let is_lost = |found: &MoveRecord| found.kind == MoveKind::Dispute && found.state == MoveState::Lost;
    match record.state {
        OnlineState::Created | OnlineState::Open => ("open", "Waiting for the payer"),
        OnlineState::Processing => ("processing", "Processing"),
        OnlineState::Succeeded if open_disputes(record).next().is_some() => ("disputed", "Disputed"),
        OnlineState::Succeeded if record.moves.iter().any(is_lost) => ("failed", "Dispute lost"),
        OnlineState::Succeeded if record.refunded.minor > 0 => ("paid", "Partly refunded"),
        OnlineState::Succeeded => ("paid", "Succeeded"),
        OnlineState::Failed => ("failed", "Failed"),
        OnlineState::Expired => ("expired", "Not paid in time"),
        OnlineState::Refunded => ("refunded", "Refunded"),
    }
}

/// Disputes that have not ended.
pub(super) fn open_disputes(record: &Record) -> impl Iterator<Item = &MoveRecord> {
    let is_open = |found: &&MoveRecord| found.kind == MoveKind::Dispute && !found.state.is_final();
    record.moves.iter().filter(is_open)
}

/// How far a refund, a dispute or a payout is: the class of its badge, and its words.
pub(super) fn progress(found: &MoveRecord) -> (&'static str, &'static str) {
    match (found.kind, found.state) {
        (_, MoveState::Wanted) => ("open", "Requested"),
        (_, MoveState::Inquiry) => ("disputed", "The bank asks"),
        (MoveKind::Payout, MoveState::Pending) => ("open", "On its way"),
        (_, MoveState::Pending) => ("open", "Under way"),
        (_, MoveState::Withdrawn) => ("disputed", "Money withdrawn"),
        (_, MoveState::Succeeded) => ("paid", "Paid back"),
        (_, MoveState::Paid) => ("paid", "Paid out"),
        (_, MoveState::Won) => ("paid", "Won"),
        (_, MoveState::Lost) => ("failed", "Lost"),
        (_, MoveState::Failed) => ("failed", "Failed"),
    }
}

/// What an officer does about a dispute.
pub(super) const fn answer(state: MoveState) -> &'static str {
    match state {
        MoveState::Wanted | MoveState::Inquiry | MoveState::Pending => {
            "Respond to the bank's inquiry at Stripe before it becomes a dispute"
        }
        MoveState::Withdrawn => "Respond at Stripe with evidence, or accept it there",
        MoveState::Won | MoveState::Succeeded | MoveState::Paid => "Nothing: the money is back",
        MoveState::Lost => "The charge is owed again: write to the member",
        MoveState::Failed => "Nothing",
    }
}

/// Stripe's word for why the payer objects, such as `product_not_received`.
pub(super) fn reason(found: &MoveRecord) -> String {
    match &found.reason {
        Some(word) if found.kind == MoveKind::Dispute => words::label(word),
        Some(text) => text.clone(),
        None => String::new(),
    }
}

pub(crate) fn show_disputes(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut found = lists::disputes(view)?;
    let id = |dispute: &Dispute| dispute.found.id.to_string();
    let older = cut::page(asking, ("online/disputes", "after"), &mut found, id);
    let zone = &frame.place.organization.time_zone;
    let row = |dispute: &Dispute| {
        let (class, state) = progress(&dispute.found);
        Row {
            to: frame.at(&format!("online/{}", dispute.payment)),
            what: dispute.member_name.clone(),
            cells: vec![
                Cell::Moment(Moment::day_there(dispute.found.created_at, zone)),
                Cell::Badge(class, state.to_owned()),
                Cell::Text(reason(&dispute.found)),
                Cell::Text(answer(dispute.found.state).to_owned()),
                Cell::Minor(words::money(dispute.found.fee)),
                Cell::Num(words::money(dispute.found.amount)),
            ],
        }
    };
    let page = Tabbed {
        frame,
        title: TITLE,
        act: setup(view, frame)?,
        tabs: tabs(view, asking, "disputes")?,
        columns: vec![
            Column::new("From"),
            Column::new("Day"),
            Column::new("State"),
            Column::new("Reason"),
            Column::new("What to do"),
            Column::money("Fee", frame),
            Column::money("Amount", frame),
        ],
        rows: found.iter().map(row).collect(),
        empty: "No payment is disputed.",
        older,
        csv: asking.with("online/disputes/csv", &[]),
    };
    Ok(page.render()?)
}

pub(crate) fn show_payouts(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let found = lists::payouts(view, Id::parse(asking.query("after")))?;
    let older = match (found.is_more, found.rows.last()) {
        (true, Some(last)) => asking.with("online/payouts", &[("after", &last.found.id.to_string())]),
        _ => String::new(),
    };
    let row = |payout: &Payout| {
        let (class, state) = progress(&payout.found);
        Row {
            to: match (payout.line, payout.booked) {
                (Some(line), _) => frame.at(&format!("bank/lines/{line}")),
                (None, Some(day)) => frame.at(&format!("journal?from={day}&until={day}")),
                (None, None) => String::new(),
            },
            what: payout.found.reference.clone().unwrap_or_default(),
            cells: vec![
                Cell::Text(arrived(frame, payout)),
                Cell::Badge(class, state.to_owned()),
                Cell::Text(accounted(payout).to_owned()),
                Cell::Num(words::money(payout.found.amount)),
            ],
        }
    };
    let page = Tabbed {
        frame,
        title: TITLE,
        act: setup(view, frame)?,
        tabs: tabs(view, asking, "payouts")?,
        columns: vec![
            Column::new("Payout"),
            Column::new("Day"),
            Column::new("State"),
            Column::new("Bank statement"),
            Column::money("Amount", frame),
        ],
        rows: found.rows.iter().map(row).collect(),
        empty: "No payouts from Stripe yet.",
        older,
        csv: asking.with("online/payouts/csv", &[]),
    };
    Ok(page.render()?)
}

/// The day in the books, or the day it was first seen.
fn arrived(frame: &Frame, payout: &Payout) -> String {
    words::day(day_of(frame, payout))
}

pub(super) fn day_of(frame: &Frame, payout: &Payout) -> bursar_domain::Date {
    let zone = &frame.place.organization.time_zone;
    payout
        .booked
        .unwrap_or_else(|| zone.date(payout.found.created_at))
}

pub(super) const fn accounted(payout: &Payout) -> &'static str {
    match (payout.line, payout.booked) {
        (Some(_), _) => "Matched",
        (None, Some(_)) => "Booked, its line is not matched",
        (None, None) => "Not booked",
    }
}
