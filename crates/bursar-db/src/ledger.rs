//! The payment ledger: what was received, entry by entry. Entries are added, never changed or removed.

use bursar_domain::Timestamp;
use bursar_domain::ids::{EntryId, OrganizationId, PaymentId};

use crate::engine::{Bulk, Kind, OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::table::{int, key, text};

/// Where a bulk load of entries goes.
pub static LEDGER: Bulk = Bulk {
    table: "ledger_entries",
    columns: &[
        ("organization_id", Kind::Bytes),
        ("payment_id", Kind::Bytes),
        ("id", Kind::Bytes),
        ("at", Kind::Int),
        ("amount", Kind::Int),
        ("method", Kind::Text),
    ],
};

/// The way money came that an import knows only the sum of.
pub const OPENING: &str = "opening";

/// The values of an opening entry for a bulk load.
pub fn opening_values(
    organization: OrganizationId,
    payment: PaymentId,
    id: EntryId,
    at: Timestamp,
    amount: i64,
) -> Vec<OwnedValue> {
    vec![
        key(organization),
        key(payment),
        key(id),
        int(at.micros()),
        int(amount),
        text(OPENING),
    ]
}

/// Adds an entry.
pub fn add(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payment: PaymentId,
    id: EntryId,
    at: Timestamp,
    amount: i64,
    method: &str,
) -> Result<(), DbError> {
    let (organization, payment, id) = (organization.to_bytes(), payment.to_bytes(), id.to_bytes());
    tx.execute(
        "INSERT INTO ledger_entries (organization_id, payment_id, id, at, amount, method) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&payment),
            Value::Bytes(&id),
            Value::Int(at.micros()),
            Value::Int(amount),
            Value::Text(method),
        ],
    )
    .map(drop)
}

/// The sum of a payment's entries.
pub fn sum(tx: &mut Tx<'_>, organization: OrganizationId, payment: PaymentId) -> Result<i64, DbError> {
    let (organization, payment) = (organization.to_bytes(), payment.to_bytes());
    let sum = tx.first(
        "SELECT CAST(COALESCE(SUM(amount), 0) AS BIGINT) FROM ledger_entries WHERE organization_id = ?1 AND payment_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&payment)],
        |row| row.int(0),
    )?;
    Ok(sum.unwrap_or(0))
}

/// Gives the sum of every payment that has entries to `visit`, by payment.
pub fn each_sum(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(PaymentId, i64) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT payment_id, CAST(SUM(amount) AS BIGINT) FROM ledger_entries WHERE organization_id = ?1 \
         GROUP BY payment_id ORDER BY payment_id",
        &[Value::Bytes(&organization.to_bytes())],
        |row| visit(PaymentId::from_bytes(row.key(0)?), row.int(1)?),
    )
}
