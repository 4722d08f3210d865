//! Refunds, disputes and payouts: what moved money at a provider, each once.

use std::collections::BTreeMap;

use bursar_domain::Timestamp;
use bursar_domain::ids::{EntryId, OnlineMoveId, OnlinePaymentId, OrganizationId};
use bursar_domain::online::{MoveKind, MoveState};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    pub id: OnlineMoveId,
    pub kind: MoveKind,
    /// The provider's name for it. `None` until the provider has been asked.
    pub reference: Option<String>,
    /// Of a refund or dispute.
    pub online_id: Option<OnlinePaymentId>,
    /// In minor units.
    pub amount: i64,
    /// What the provider kept for it, as booked.
    pub fee: i64,
    pub state: MoveState,
    pub reason: Option<String>,
    pub created_at: Timestamp,
    /// The entry that booked it, where another one follows.
    pub entry_id: Option<EntryId>,
}

record! { move_columns: Move {
    id, kind, reference, online_id, amount, fee, state, reason, created_at, entry_id,
} }

pub fn insert(tx: &mut Tx<'_>, organization: OrganizationId, new: &Move) -> Result<(), DbError> {
    let (online, entry) = (
        new.online_id.map(|id| id.to_bytes()),
        new.entry_id.map(|id| id.to_bytes()),
    );
    tx.execute(
        "INSERT INTO online_moves (organization_id, id, kind, reference, online_id, amount, fee, state, reason, created_at, \
         entry_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&new.id.to_bytes()),
            Value::Text(new.kind.as_str()),
            new.reference.as_deref().into(),
            online.as_ref().into(),
            Value::Int(new.amount),
            Value::Int(new.fee),
            Value::Text(new.state.as_str()),
            new.reason.as_deref().into(),
            Value::Int(new.created_at.micros()),
            entry.as_ref().into(),
        ],
    )
    .map(drop)
}

pub fn update(tx: &mut Tx<'_>, organization: OrganizationId, changed: &Move) -> Result<(), DbError> {
    let entry = changed.entry_id.map(|id| id.to_bytes());
    tx.execute(
        "UPDATE online_moves SET reference = ?3, amount = ?4, fee = ?5, state = ?6, reason = ?7, entry_id = ?8 \
         WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&changed.id.to_bytes()),
            changed.reference.as_deref().into(),
            Value::Int(changed.amount),
            Value::Int(changed.fee),
            Value::Text(changed.state.as_str()),
            changed.reason.as_deref().into(),
            entry.as_ref().into(),
        ],
    )
    .map(drop)
}

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: OnlineMoveId) -> Result<Option<Move>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            move_columns!(),
            " FROM online_moves WHERE organization_id = ?1 AND id = ?2"
        ),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
        ],
        read,
    )
}

pub fn by_reference(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    reference: &str,
) -> Result<Option<Move>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            move_columns!(),
            " FROM online_moves WHERE organization_id = ?1 AND reference = ?2"
        ),
        &[Value::Bytes(&organization.to_bytes()), Value::Text(reference)],
        read,
    )
}

/// Oldest first.
pub fn of_payment(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    online: OnlinePaymentId,
) -> Result<Vec<Move>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            move_columns!(),
            " FROM online_moves WHERE organization_id = ?1 AND online_id = ?2 ORDER BY id"
        ),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&online.to_bytes()),
        ],
        read,
    )
}

/// Oldest first.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Move>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            move_columns!(),
            " FROM online_moves WHERE organization_id = ?1 ORDER BY id"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Of one kind, before `after`, the newest first.
pub fn page(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    kind: MoveKind,
    after: Option<OnlineMoveId>,
    limit: i64,
) -> Result<Vec<Move>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            move_columns!(),
            " FROM online_moves WHERE organization_id = ?1 AND kind = ?2 AND id < ?3 ORDER BY id DESC LIMIT ?4"
        ),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Text(kind.as_str()),
            Value::Bytes(&after.map_or(super::AFTER_ALL, |id| id.to_bytes())),
            Value::Int(limit),
        ],
        read,
    )
}

/// Disputes: those that have not ended first, each the newest first.
pub fn disputes(tx: &mut Tx<'_>, organization: OrganizationId, limit: i64) -> Result<Vec<Move>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            move_columns!(),
            " FROM online_moves WHERE organization_id = ?1 AND kind = 'dispute' \
             ORDER BY CASE WHEN state IN ('won', 'lost', 'failed') THEN 1 ELSE 0 END, id DESC LIMIT ?2"
        ),
        &[Value::Bytes(&organization.to_bytes()), Value::Int(limit)],
        read,
    )
}

/// What the provider is still to pay back, by online payment.
pub fn refunds_under_way(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<BTreeMap<OnlinePaymentId, i64>, DbError> {
    let found: Vec<(Option<OnlinePaymentId>, i64)> =
        tx.rows(REFUNDS_UNDER_WAY, &[Value::Bytes(&organization.to_bytes())], read)?;
    let mut sums = BTreeMap::new();
    for (online, amount) in found {
        if let Some(online) = online {
            *sums.entry(online).or_default() += amount;
        }
    }
    Ok(sums)
}

/// For tests that read query plans.
pub const REFUNDS_UNDER_WAY: &str = "SELECT online_id, amount FROM online_moves INDEXED BY online_moves_kind \
     WHERE organization_id = ?1 AND kind = 'refund' AND state IN ('wanted', 'pending')";

/// Whether a payout is accounted for by this entry.
pub fn has_entry(tx: &mut Tx<'_>, organization: OrganizationId, entry: EntryId) -> Result<bool, DbError> {
    let found = tx.first(
        "SELECT 1 FROM online_moves WHERE organization_id = ?1 AND kind = 'payout' AND entry_id = ?2 LIMIT 1",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&entry.to_bytes()),
        ],
        read::<i64>,
    )?;
    Ok(found.is_some())
}
