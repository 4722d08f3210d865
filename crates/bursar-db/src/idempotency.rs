//! Idempotency records. They commit together with the write whose response they hold.

use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;

use crate::engine::{Foreseen, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

/// The response that a key was answered with, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    pub status: u16,
    pub body: String,
}

record! { output_columns: Output { status, body } }

const GET: &str = concat!(
    "SELECT fingerprint, ",
    output_columns!(),
    " FROM idempotency WHERE organization_id = ?1 AND principal = ?2 AND key = ?3 AND created_at >= ?4"
);

/// Organization, principal and key.
const KEY: usize = 3;

/// With the fingerprint of the request. Ignores keys used before `since`. A principal is a user, a family of service
/// tokens, or the link or the session of a member.
pub fn get(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    principal: [u8; 16],
    key: &str,
    since: Timestamp,
) -> Result<Option<([u8; 32], Output)>, DbError> {
    let organization = organization.to_bytes();
    tx.first(GET, &key_values(&organization, &principal, key, since), read)
}

/// What [`get`] asks.
pub fn get_foreseen(
    organization: OrganizationId,
    principal: [u8; 16],
    key: &str,
    since: Timestamp,
) -> Foreseen {
    let organization = organization.to_bytes();
    Foreseen::of_row(KEY, GET, &key_values(&organization, &principal, key, since))
}

fn key_values<'a>(
    organization: &'a [u8; 16],
    principal: &'a [u8; 16],
    key: &'a str,
    since: Timestamp,
) -> [Value<'a>; 4] {
    [
        Value::Bytes(organization),
        Value::Bytes(principal),
        Value::Text(key),
        Value::Int(since.micros()),
    ]
}

/// Replaces an expired record that was not pruned yet. The caller has looked the key up while holding the
/// organization's clock, so there is no other one. If there is, the database refuses the change: the stamp becomes null.
/// No key expires within a day.
pub fn insert(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    principal: [u8; 16],
    key: &str,
    fingerprint: &[u8; 32],
    output: &Output,
    now: Timestamp,
) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    tx.send_of_row(
        KEY,
        "INSERT INTO idempotency (organization_id, principal, key, fingerprint, status, body, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (organization_id, principal, key) DO UPDATE SET \
         fingerprint = excluded.fingerprint, status = excluded.status, body = excluded.body, \
         created_at = CASE WHEN idempotency.created_at < excluded.created_at - 86400000000 THEN excluded.created_at END",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&principal),
            Value::Text(key),
            Value::Bytes(fingerprint),
            Value::Int(i64::from(output.status)),
            Value::Text(&output.body),
            Value::Int(now.micros()),
        ],
    )
}
