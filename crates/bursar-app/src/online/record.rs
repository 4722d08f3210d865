//! An online payment as people and programs see it.

use bursar_db::online::moves::{self, Move};
use bursar_db::online::{self as rows, OnlinePayment};
use bursar_domain::Timestamp;
use bursar_domain::ids::{EntryId, MemberId, OnlineMoveId, OnlinePaymentId, PaymentId, ReceiptId};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::online::{MoveKind, MoveState, OnlineState, ProviderKind};
use bursar_domain::payment::Payment;
use serde::Serialize;

use crate::act::{Act, View};
use crate::error::AppError;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub id: OnlinePaymentId,
    pub provider: ProviderKind,
    pub member_id: MemberId,
    pub member_name: String,
    pub amount: Money,
    pub currency: String,
    pub state: OnlineState,
    pub parts: Vec<Part>,
    pub created_at: Timestamp,
    /// Until then the payer can pay.
    pub expires_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// The provider's page, while the payer can pay.
    pub url: Option<String>,
    /// Why the last attempt failed, for the payer.
    pub failure: Option<String>,
    /// What keeps it from being asked or booked, for officers.
    pub problem: Option<String>,
    /// Whether a saved card is charged, without the payer.
    pub is_automatic: bool,
    /// The provider's names.
    pub session_id: Option<String>,
    pub intent_id: Option<String>,
    pub charge_id: Option<String>,
    pub receipt_id: Option<ReceiptId>,
    /// What the provider kept.
    pub fee: Option<Money>,
    /// What went back to the payer.
    pub refunded: Money,
    pub moves: Vec<MoveRecord>,
}

/// A charge and how much of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub payment_id: PaymentId,
    pub description: String,
    pub amount: Money,
}

/// A refund, dispute or payout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MoveRecord {
    pub id: OnlineMoveId,
    pub kind: MoveKind,
    /// The provider's name.
    pub reference: Option<String>,
    pub amount: Money,
    pub fee: Money,
    pub state: MoveState,
    pub reason: Option<String>,
    pub created_at: Timestamp,
    pub entry_id: Option<EntryId>,
}

pub(super) fn of_move(found: Move, money: impl Fn(i64) -> Money) -> MoveRecord {
    MoveRecord {
        id: found.id,
        kind: found.kind,
        reference: found.reference,
        amount: money(found.amount),
        fee: money(found.fee),
        state: found.state,
        reason: found.reason,
        created_at: found.created_at,
        entry_id: found.entry_id,
    }
}

pub(super) fn of<M>(act: &mut Act<'_, '_, M>, payment: OnlinePayment) -> Result<Record, AppError> {
    let (organization, id) = (act.organization, payment.id);
    let money = |minor| Money::new(minor, payment.currency);
    let mut parts = Vec::new();
    for item in rows::items(act.tx, organization, id)? {
        let charge: Option<Payment> = act.get(item.payment)?;
        parts.push(Part {
            payment_id: item.payment,
            description: charge.map(|charge| charge.description).unwrap_or_default(),
            amount: money(item.amount),
        });
    }
    let moves = moves::of_payment(act.tx, organization, id)?;
    let member_name = payer(act, payment.member_id)?;
    Ok(Record {
        id,
        provider: payment.kind,
        member_id: payment.member_id,
        member_name,
        amount: money(payment.amount),
        currency: payment.currency.code().to_owned(),
        state: payment.state,
        parts,
        created_at: payment.created_at,
        expires_at: payment.expires_at,
        ended_at: payment.ended_at,
        url: payment.url.filter(|_| payment.state == OnlineState::Open),
        failure: payment.failure,
        problem: payment.problem,
        is_automatic: payment.autopay_id.is_some(),
        session_id: payment.session_id,
        intent_id: payment.intent_id,
        charge_id: payment.charge_id,
        receipt_id: payment.receipt_id,
        fee: payment.fee.map(money),
        refunded: money(refunded(&moves)),
        moves: moves.into_iter().map(|found| of_move(found, money)).collect(),
    })
}

/// A member's name, or the id of one who is no longer there.
pub(super) fn payer<M>(act: &mut Act<'_, '_, M>, id: MemberId) -> Result<String, AppError> {
    let member: Option<Member> = act.get(id)?;
    Ok(member.map_or_else(|| id.to_string(), |member| member.name()))
}

/// What reached the payer.
pub(super) fn refunded(moves: &[Move]) -> i64 {
    let reached = |found: &&Move| found.kind == MoveKind::Refund && found.state == MoveState::Succeeded;
    moves.iter().filter(reached).map(|found| found.amount).sum()
}

pub(super) fn payouts(view: &mut View<'_, '_>, limit: i64) -> Result<Vec<MoveRecord>, AppError> {
    let currency = view.own()?.currency;
    let found = moves::page(view.tx, view.organization, MoveKind::Payout, None, limit)?;
    Ok(found
        .into_iter()
        .map(|payout| of_move(payout, |minor| Money::new(minor, currency)))
        .collect())
}
