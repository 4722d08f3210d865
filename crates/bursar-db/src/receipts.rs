//! Receipts: what came in, beside the journal entry that counts it.

use bursar_domain::Date;
use bursar_domain::ids::{AccountId, EntryId, MemberId, OrganizationId, ReceiptId};
use bursar_domain::journal::EntryKind;
use bursar_domain::receipt::Receipt;

use crate::engine::{OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::sums::sum;
use crate::table::{int, key, text, text_opt};
pub use crate::tables::RECEIPTS;

record! { receipt_columns: Receipt {
    id, date, recorded_at, amount, method, account = "account_id", payer = "payer_id", payer_name, reference,
    entry = "entry_id", status,
} }

macro_rules! select_receipt {
    ($rest:literal) => {
        concat!(
            "SELECT ",
            receipt_columns!(),
            " FROM receipts WHERE organization_id = ?1 ",
            $rest
        )
    };
}

pub fn row_values(organization: OrganizationId, receipt: &Receipt) -> Vec<OwnedValue> {
    vec![
        key(organization),
        key(receipt.id),
        text(&receipt.date.to_string()),
        int(receipt.recorded_at.micros()),
        int(receipt.amount),
        text(receipt.method.as_str()),
        key(receipt.account),
        receipt.payer.map_or(OwnedValue::Null, key),
        text_opt(receipt.payer_name.as_deref()),
        text_opt(receipt.reference.as_deref()),
        key(receipt.entry),
        text(receipt.status.as_str()),
    ]
}

fn write(
    tx: &mut Tx<'_>,
    sql: &'static str,
    organization: OrganizationId,
    receipt: &Receipt,
) -> Result<(), DbError> {
    let row = row_values(organization, receipt);
    let values: Vec<Value<'_>> = row.iter().map(OwnedValue::as_value).collect();
    tx.execute(sql, &values).map(drop)
}

pub fn insert(tx: &mut Tx<'_>, organization: OrganizationId, receipt: &Receipt) -> Result<(), DbError> {
    write(
        tx,
        "INSERT INTO receipts (organization_id, id, date, recorded_at, amount, method, account_id, payer_id, payer_name, \
         reference, entry_id, status) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        organization,
        receipt,
    )
}

pub fn update(tx: &mut Tx<'_>, organization: OrganizationId, receipt: &Receipt) -> Result<(), DbError> {
    write(
        tx,
        "UPDATE receipts SET date = ?3, recorded_at = ?4, amount = ?5, method = ?6, account_id = ?7, payer_id = ?8, \
         payer_name = ?9, reference = ?10, entry_id = ?11, status = ?12 WHERE organization_id = ?1 AND id = ?2",
        organization,
        receipt,
    )
}

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: ReceiptId) -> Result<Option<Receipt>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(
        select_receipt!("AND id = ?2"),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

/// Recorded ones of this account, day and amount, by id.
pub fn same(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    account: AccountId,
    date: Date,
    amount: i64,
) -> Result<Vec<Receipt>, DbError> {
    let (organization, account, date) = (organization.to_bytes(), account.to_bytes(), date.to_string());
    tx.rows(
        SAME,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&account),
            Value::Text(&date),
            Value::Int(amount),
        ],
        read,
    )
}

/// The ids first, which an index alone can tell. Otherwise SQLite would read all receipts by id.
const SAME: &str = select_receipt!(
    "AND id IN (SELECT id FROM receipts WHERE organization_id = ?1 AND account_id = ?2 AND date = ?3 AND amount = ?4) \
     AND status = 'recorded' ORDER BY id"
);

/// By date and id, both days included.
pub fn between(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
) -> Result<Vec<Receipt>, DbError> {
    let (organization, from, until) = (organization.to_bytes(), from.to_string(), until.to_string());
    tx.rows(
        BETWEEN,
        &[
            Value::Bytes(&organization),
            Value::Text(&from),
            Value::Text(&until),
        ],
        read,
    )
}

const BETWEEN: &str = select_receipt!("AND date >= ?2 AND date <= ?3 ORDER BY date, id");

/// Both days included, the last first, after the receipt given.
pub fn page(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (from, until): (Date, Date),
    after: Option<(Date, ReceiptId)>,
    limit: i64,
) -> Result<Vec<Receipt>, DbError> {
    let (day, id) = after.map_or((until, [0xff; 16]), |(day, id)| (day, id.to_bytes()));
    let (from, until, day) = (from.to_string(), until.to_string(), day.to_string());
    let values = [
        Value::Bytes(&organization.to_bytes()),
        Value::Text(&from),
        Value::Text(&until),
        Value::Text(&day),
        Value::Bytes(&id),
        Value::Int(limit),
    ];
    tx.rows(PAGE, &values, read)
}

const PAGE: &str = select_receipt!(
    "AND date >= ?2 AND date <= ?3 AND (date, id) < (?4, ?5) ORDER BY date DESC, id DESC LIMIT ?6"
);

/// The sum of those that stand, both days included.
pub fn recorded_sum(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    (from, until): (Date, Date),
) -> Result<i128, DbError> {
    let (from, until) = (from.to_string(), until.to_string());
    let values = [
        Value::Bytes(&organization.to_bytes()),
        Value::Text(&from),
        Value::Text(&until),
    ];
    Ok(tx.first(RECORDED_SUM, &values, read)?.unwrap_or(0))
}

const RECORDED_SUM: &str = concat!(
    "SELECT ",
    sum!("amount"),
    " FROM receipts WHERE organization_id = ?1 AND date >= ?2 AND date <= ?3 AND status = 'recorded'"
);

/// By id.
pub fn of_payer(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payer: MemberId,
) -> Result<Vec<Receipt>, DbError> {
    let (organization, payer) = (organization.to_bytes(), payer.to_bytes());
    tx.rows(
        OF_PAYER,
        &[Value::Bytes(&organization), Value::Bytes(&payer)],
        read,
    )
}

const OF_PAYER: &str = select_receipt!(
    "AND id IN (SELECT id FROM receipts WHERE organization_id = ?1 AND payer_id = ?2) ORDER BY id"
);

/// With this reference, whatever its case; the last first.
pub fn by_reference(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    reference: &str,
    limit: i64,
) -> Result<Vec<Receipt>, DbError> {
    tx.rows(
        BY_REFERENCE,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Text(reference),
            Value::Int(limit),
        ],
        read,
    )
}

const BY_REFERENCE: &str = select_receipt!(
    "AND id IN (SELECT id FROM receipts INDEXED BY receipts_reference WHERE organization_id = ?1 \
    AND reference IS NOT NULL AND LOWER(reference) = LOWER(?2) ORDER BY id DESC LIMIT ?3) ORDER BY id DESC"
);

/// By id, for the organizations that are `wanted`.
pub fn each_of_all(
    tx: &mut Tx<'_>,
    wanted: impl Fn(OrganizationId) -> bool,
    mut visit: impl FnMut(OrganizationId, Receipt) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        concat!(
            "SELECT organization_id, ",
            receipt_columns!(),
            " FROM receipts ORDER BY id, organization_id"
        ),
        &[],
        |row| {
            let (organization, receipt) = read(row)?;
            match wanted(organization) {
                true => visit(organization, receipt),
                false => Ok(()),
            }
        },
    )
}

/// There should be none.
pub fn each_without_entry(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(ReceiptId) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT r.id FROM receipts r LEFT JOIN journal_entries e ON e.organization_id = r.organization_id AND e.id = r.entry_id \
         WHERE r.organization_id = ?1 AND e.id IS NULL ORDER BY r.id",
        &[Value::Bytes(&organization.to_bytes())],
        |row| visit(read(row)?),
    )
}

/// Every receipt of every organization.
pub fn each_id(tx: &mut Tx<'_>, mut visit: impl FnMut(OrganizationId, ReceiptId)) -> Result<(), DbError> {
    tx.each("SELECT organization_id, id FROM receipts", &[], |row| {
        let (organization, id) = read(row)?;
        visit(organization, id);
        Ok(())
    })
}

/// A receipt with what its entry says.
#[derive(Clone, Copy, Debug)]
pub struct Booked {
    pub id: ReceiptId,
    /// In minor units.
    pub amount: i64,
    pub entry: EntryId,
    pub kind: EntryKind,
    /// What the entry adds to the receipt's account.
    pub booked: i128,
}

/// Receipts whose entry records no money that came in, or another amount, by id. There should be none.
pub fn each_misbooked(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(Booked),
) -> Result<(), DbError> {
    tx.each(BOOKED, &[Value::Bytes(&organization.to_bytes())], |row| {
        let ((id, amount, entry), (kind, booked)): ((_, i64, _), (EntryKind, i128)) = read(row)?;
        let is_income = matches!(kind, EntryKind::Receipt | EntryKind::Donation | EntryKind::Income);
        if !is_income || booked != i128::from(amount) {
            visit(Booked {
                id,
                amount,
                entry,
                kind,
                booked,
            });
        }
        Ok(())
    })
}

/// The account is no condition: SQLite would look for the postings by it, and not by the entry.
const BOOKED: &str = concat!(
    "SELECT r.id, r.amount, e.id, e.kind, ",
    sum!("CASE WHEN p.account_id = r.account_id THEN p.amount ELSE 0 END"),
    " FROM receipts r CROSS JOIN journal_entries e CROSS JOIN journal_postings p WHERE r.organization_id = ?1 \
     AND e.organization_id = ?1 AND e.id = r.entry_id AND p.organization_id = ?1 AND p.entry_id = r.entry_id \
     GROUP BY r.id, r.amount, e.id, e.kind ORDER BY r.id"
);

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 4] {
    [
        ("equal receipts", SAME),
        ("receipts of a time", BETWEEN),
        ("receipts of a payer", OF_PAYER),
        ("receipts with a reference", BY_REFERENCE),
    ]
}
