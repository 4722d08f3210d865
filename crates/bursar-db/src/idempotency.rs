//! Idempotency records. They commit together with the write whose response they hold.

use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

/// The response to a request that was carried out under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The hash of the request's parameters.
    pub fingerprint: [u8; 32],
    pub status: u16,
    pub body: String,
}

record! { record_columns: Record { fingerprint, status, body } }

/// Ignores keys used before `since`. A principal is a user, or a family of service tokens.
pub fn get(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    principal: [u8; 16],
    key: &str,
    since: Timestamp,
) -> Result<Option<Record>, DbError> {
    let organization = organization.to_bytes();
    tx.first(
        concat!(
            "SELECT ",
            record_columns!(),
            " FROM idempotency WHERE organization_id = ?1 AND principal = ?2 AND key = ?3 AND created_at >= ?4"
        ),
        &[
            Value::Bytes(&organization),
            Value::Bytes(&principal),
            Value::Text(key),
            Value::Int(since.micros()),
        ],
        read,
    )
}

/// Replaces an expired record that was not pruned yet. The caller has looked the key up while holding the
/// organization's clock.
pub fn insert(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    principal: [u8; 16],
    key: &str,
    record: &Record,
    now: Timestamp,
) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    tx.execute(
        "INSERT INTO idempotency (organization_id, principal, key, fingerprint, status, body, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (organization_id, principal, key) DO UPDATE SET \
         fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, created_at = excluded.created_at",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&principal),
            Value::Text(key),
            Value::Bytes(&record.fingerprint),
            Value::Int(i64::from(record.status)),
            Value::Text(&record.body),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}
