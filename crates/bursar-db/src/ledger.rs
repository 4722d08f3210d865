//! The payment ledger: what was received, entry by entry. Entries are added, never changed or removed.

use bursar_domain::ids::{EntryId, OrganizationId, PaymentId};
use bursar_domain::{Date, Timestamp};

use crate::engine::{OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::sums::sum;
use crate::table::{int, key, text};
pub use crate::tables::LEDGER;

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
        OwnedValue::Null,
        OwnedValue::Null,
        OwnedValue::Null,
    ]
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is for.
    pub payment: PaymentId,
    /// Names it.
    pub id: EntryId,
    /// When it was written.
    pub at: Timestamp,
    /// Minor units; below zero for what did not come after all.
    pub amount: i64,
    /// How it came: `cash`, `check`, `transfer`, `card`, `opening`.
    pub method: String,
    /// What the payer or the bank calls it.
    pub reference: Option<String>,
    /// The day it came.
    pub received_on: Option<Date>,
    /// The entry that it takes back.
    pub reverses: Option<EntryId>,
}

record! { entry_columns: Entry {
    payment = "payment_id", id, at, amount, method, reference, received_on, reverses = "reverses_id",
} }

/// Adds an entry.
pub fn add(tx: &mut Tx<'_>, organization: OrganizationId, entry: &Entry) -> Result<(), DbError> {
    let (organization, payment, id) = (
        organization.to_bytes(),
        entry.payment.to_bytes(),
        entry.id.to_bytes(),
    );
    let (reverses, received_on) = (
        entry.reverses.map(|id| id.to_bytes()),
        entry.received_on.map(|day| day.to_string()),
    );
    tx.execute(
        "INSERT INTO ledger_entries (organization_id, payment_id, id, at, amount, method, reference, received_on, reverses_id) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&payment),
            Value::Bytes(&id),
            Value::Int(entry.at.micros()),
            Value::Int(entry.amount),
            Value::Text(&entry.method),
            entry.reference.as_deref().into(),
            received_on.as_deref().into(),
            reverses.as_ref().into(),
        ],
    )
    .map(drop)
}

/// A payment's entries, in order.
pub fn of_payment(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payment: PaymentId,
) -> Result<Vec<Entry>, DbError> {
    let (organization, payment) = (organization.to_bytes(), payment.to_bytes());
    tx.rows(
        concat!(
            "SELECT ",
            entry_columns!(),
            " FROM ledger_entries WHERE organization_id = ?1 AND payment_id = ?2 ORDER BY id"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&payment)],
        read,
    )
}

pub(crate) const BETWEEN: &str = concat!(
    "SELECT ",
    entry_columns!(),
    " FROM ledger_entries WHERE organization_id = ?1 AND at >= ?2 AND at < ?3 ORDER BY at, id"
);

/// An organization's entries that were written between two instants, in order.
pub fn between(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Entry>, DbError> {
    let organization = organization.to_bytes();
    tx.rows(
        BETWEEN,
        &[
            Value::Bytes(&organization),
            Value::Int(from.micros()),
            Value::Int(until.micros()),
        ],
        read,
    )
}

/// The sum of a payment's entries.
pub fn sum(tx: &mut Tx<'_>, organization: OrganizationId, payment: PaymentId) -> Result<i128, DbError> {
    let (organization, payment) = (organization.to_bytes(), payment.to_bytes());
    let sum = tx.first(
        concat!(
            "SELECT ",
            sum!("amount"),
            " FROM ledger_entries WHERE organization_id = ?1 AND payment_id = ?2"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&payment)],
        read,
    )?;
    Ok(sum.unwrap_or(0))
}

/// Gives the sum of every payment that has entries to `visit`, by payment.
pub fn each_sum(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(PaymentId, i128) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        concat!(
            "SELECT payment_id, ",
            sum!("amount"),
            " FROM ledger_entries WHERE organization_id = ?1 GROUP BY payment_id ORDER BY payment_id"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            let (payment, sum) = read(row)?;
            visit(payment, sum)
        },
    )
}

/// An entry that takes another one back.
#[derive(Clone, Copy, Debug)]
pub struct Reversal {
    /// What it is for.
    pub payment: PaymentId,
    /// Names it.
    pub id: EntryId,
    /// Minor units.
    pub amount: i64,
    /// The entry that it takes back.
    pub reverses: EntryId,
    /// That entry's amount, and whether it takes one back itself; none when the payment has no such entry.
    pub original: Option<(i64, bool)>,
}

/// Gives every reversal to `visit`, those of one entry one after the other.
pub fn each_reversal(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(Reversal) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT r.payment_id, r.id, r.amount, r.reverses_id, o.amount, CASE WHEN o.reverses_id IS NULL THEN 0 ELSE 1 END \
         FROM ledger_entries r LEFT JOIN ledger_entries o ON o.organization_id = r.organization_id \
         AND o.payment_id = r.payment_id AND o.id = r.reverses_id \
         WHERE r.organization_id = ?1 AND r.reverses_id IS NOT NULL ORDER BY r.payment_id, r.reverses_id, r.id",
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            let (payment, id, amount, reverses, original, is_reversal): (_, _, _, _, Option<i64>, bool) = read(row)?;
            visit(Reversal {
                payment,
                id,
                amount,
                reverses,
                original: original.map(|amount| (amount, is_reversal)),
            })
        },
    )
}
