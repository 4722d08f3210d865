//! The payment ledger: money received, entry by entry. Entries are added, never changed or removed.

use bursar_domain::ids::{EntryId, OrganizationId, PaymentId};
use bursar_domain::{Date, Timestamp};

use crate::engine::{OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::sums::sum;
use crate::table::{int, key, text};
pub use crate::tables::LEDGER;

/// The method of an entry for money of which an import knows only the sum.
pub const OPENING: &str = "opening";

/// To be loaded with many others.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub payment: PaymentId,
    pub id: EntryId,
    /// When it was recorded.
    pub at: Timestamp,
    /// Minor units; negative for a reversal.
    pub amount: i64,
    /// `cash`, `check`, `transfer`, `card` or `opening`.
    pub method: String,
    /// The payer's or the bank's reference.
    pub reference: Option<String>,
    pub received_on: Option<Date>,
    pub reverses: Option<EntryId>,
}

record! { entry_columns: Entry {
    payment = "payment_id", id, at, amount, method, reference, received_on, reverses = "reverses_id",
} }

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

/// Entries recorded from `from` to before `until`, in order.
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

#[derive(Clone, Copy, Debug)]
pub struct Reversal {
    pub payment: PaymentId,
    pub id: EntryId,
    /// In minor units.
    pub amount: i64,
    pub reverses: EntryId,
    /// The amount of the reversed entry, and whether that is a reversal too. `None` if the payment has no such entry.
    pub original: Option<(i64, bool)>,
}

/// Reversals of one entry come one after the other.
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
