//! Who collects online payments for an organization, with the keys encrypted.

use bursar_domain::Timestamp;
use bursar_domain::ids::{AccountId, OrganizationId};
use bursar_domain::online::ProviderKind;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provider {
    pub organization_id: OrganizationId,
    pub kind: ProviderKind,
    pub key_sealed: Vec<u8>,
    /// The start and the last characters of the key, to tell it from others.
    pub key_hint: String,
    /// What signs the provider's reports.
    pub secret_sealed: Option<Vec<u8>>,
    /// Where payouts go.
    pub payout_account: AccountId,
    pub created_at: Timestamp,
    pub created_by: String,
    /// Why the last question failed.
    pub problem: Option<String>,
    /// Up to when it is known what the provider did.
    pub swept_at: Timestamp,
    pub due_at: Timestamp,
    pub attempts: i64,
    pub heard: i64,
}

record! { provider_columns: Provider {
    organization_id, kind, key_sealed, key_hint, secret_sealed, payout_account = "payout_account_id", created_at,
    created_by, problem, swept_at, due_at, attempts, heard,
} }

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Option<Provider>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            provider_columns!(),
            " FROM providers WHERE organization_id = ?1"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Whether any organization has one.
pub fn is_any(tx: &mut Tx<'_>) -> Result<bool, DbError> {
    let found = tx.first("SELECT 1 FROM providers LIMIT 1", &[], read::<i64>)?;
    Ok(found.is_some())
}

/// In place of the one before.
pub fn put(tx: &mut Tx<'_>, provider: &Provider) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO providers (organization_id, kind, key_sealed, key_hint, secret_sealed, payout_account_id, created_at, \
         created_by, problem, swept_at, due_at, attempts, heard, leased_until) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 0) \
         ON CONFLICT (organization_id) DO UPDATE SET kind = excluded.kind, key_sealed = excluded.key_sealed, \
         key_hint = excluded.key_hint, secret_sealed = excluded.secret_sealed, \
         payout_account_id = excluded.payout_account_id, created_at = excluded.created_at, \
         created_by = excluded.created_by, problem = excluded.problem, swept_at = excluded.swept_at, \
         due_at = excluded.due_at, attempts = excluded.attempts, heard = excluded.heard, leased_until = 0",
        &[
            Value::Bytes(&provider.organization_id.to_bytes()),
            Value::Text(provider.kind.as_str()),
            Value::Bytes(&provider.key_sealed),
            Value::Text(&provider.key_hint),
            provider.secret_sealed.as_deref().into(),
            Value::Bytes(&provider.payout_account.to_bytes()),
            Value::Int(provider.created_at.micros()),
            Value::Text(&provider.created_by),
            provider.problem.as_deref().into(),
            Value::Int(provider.swept_at.micros()),
            Value::Int(provider.due_at.micros()),
            Value::Int(provider.attempts),
            Value::Int(provider.heard),
        ],
    )
    .map(drop)
}

pub fn delete(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM providers WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes())],
    )
    .map(drop)
}

/// Something happened: ask at once.
pub fn hear(tx: &mut Tx<'_>, organization: OrganizationId, now: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE providers SET due_at = ?2, attempts = 0, heard = heard + 1 WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes()), Value::Int(now.micros())],
    )
    .map(drop)
}

/// What came of a question, and when to ask next. Gives the lease back.
pub fn rest(
    tx: &mut Tx<'_>,
    provider: &Provider,
    problem: Option<&str>,
    due_at: Timestamp,
    attempts: i64,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE providers SET problem = ?2, swept_at = ?3, due_at = CASE WHEN heard = ?4 THEN ?5 ELSE due_at END, \
         attempts = CASE WHEN heard = ?4 THEN ?6 ELSE 0 END, leased_until = 0 WHERE organization_id = ?1",
        &[
            Value::Bytes(&provider.organization_id.to_bytes()),
            problem.into(),
            Value::Int(provider.swept_at.micros()),
            Value::Int(provider.heard),
            Value::Int(due_at.micros()),
            Value::Int(attempts),
        ],
    )
    .map(drop)
}

/// Leases those that are due.
pub fn claim(
    tx: &mut Tx<'_>,
    now: Timestamp,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<OrganizationId>, DbError> {
    let due: Vec<OrganizationId> = tx.rows(
        "SELECT organization_id FROM providers WHERE due_at <= ?1 AND leased_until <= ?1 ORDER BY due_at LIMIT ?2",
        &[Value::Int(now.micros()), Value::Int(limit)],
        read,
    )?;
    let mut claimed = Vec::new();
    for organization in due {
        let changed = tx.execute(
            "UPDATE providers SET leased_until = ?2 WHERE organization_id = ?1 AND leased_until <= ?3",
            &[
                Value::Bytes(&organization.to_bytes()),
                Value::Int(until.micros()),
                Value::Int(now.micros()),
            ],
        )?;
        if changed > 0 {
            claimed.push(organization);
        }
    }
    Ok(claimed)
}
