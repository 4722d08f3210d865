//! Files between two forms of the console, in parts.

use bursar_domain::Timestamp;
use bursar_domain::attachment::PART_BYTES;
use bursar_domain::ids::{OrganizationId, UploadId, UserId};

use crate::engine::{ColumnType, LoadTarget, OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::housekeeping::PRUNE_ROWS_MAX;
use crate::rows::{read, record};

pub static UPLOADS: LoadTarget = LoadTarget {
    table: "uploads",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("id", ColumnType::Bytes),
        ("user_id", ColumnType::Bytes),
        ("name", ColumnType::Text),
        ("size", ColumnType::Int),
        ("created_at", ColumnType::Int),
    ],
};

pub static UPLOAD_PARTS: LoadTarget = LoadTarget {
    table: "upload_parts",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("upload_id", ColumnType::Bytes),
        ("number", ColumnType::Int),
        ("data", ColumnType::Bytes),
    ],
};

/// Rows written together, so that a statement stays small.
const PARTS_TOGETHER: usize = 16;
/// Uploads pruned in one transaction, because each has many parts.
const PRUNED_TOGETHER: i64 = 8;

/// A file without its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub id: UploadId,
    /// Whose it is.
    pub user: UserId,
    pub name: String,
    pub size: i64,
    pub created_at: Timestamp,
}

record! { columns: Upload { id, user = "user_id", name, size, created_at } }

pub fn insert(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    upload: &Upload,
    bytes: &[u8],
) -> Result<(), DbError> {
    let key = |key: [u8; 16]| OwnedValue::Bytes(key.to_vec());
    let row = vec![
        key(organization.to_bytes()),
        key(upload.id.to_bytes()),
        key(upload.user.to_bytes()),
        OwnedValue::Text(upload.name.clone()),
        OwnedValue::Int(upload.size),
        OwnedValue::Int(upload.created_at.micros()),
    ];
    tx.load(&UPLOADS, &[row])?;
    let part = |(number, data): (i64, &[u8])| {
        vec![
            key(organization.to_bytes()),
            key(upload.id.to_bytes()),
            OwnedValue::Int(number),
            OwnedValue::Bytes(data.to_vec()),
        ]
    };
    let parts: Vec<_> = (0..).zip(bytes.chunks(PART_BYTES)).map(part).collect();
    for some in parts.chunks(PARTS_TOGETHER) {
        tx.load(&UPLOAD_PARTS, some)?;
    }
    Ok(())
}

const GET: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM uploads WHERE organization_id = ?1 AND id = ?2"
);

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: UploadId) -> Result<Option<Upload>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(GET, &[Value::Bytes(&organization), Value::Bytes(&id)], read)
}

const OF_USER: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM uploads WHERE organization_id = ?1 AND user_id = ?2"
);

/// Newest first.
pub fn of_user(tx: &mut Tx<'_>, organization: OrganizationId, user: UserId) -> Result<Vec<Upload>, DbError> {
    let (organization, user) = (organization.to_bytes(), user.to_bytes());
    let mut found: Vec<Upload> =
        tx.rows(OF_USER, &[Value::Bytes(&organization), Value::Bytes(&user)], read)?;
    found.sort_by_key(|upload| std::cmp::Reverse(upload.id));
    Ok(found)
}

const PARTS: &str =
    "SELECT data FROM upload_parts WHERE organization_id = ?1 AND upload_id = ?2 ORDER BY number";

pub fn bytes(tx: &mut Tx<'_>, organization: OrganizationId, id: UploadId) -> Result<Vec<u8>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&id)];
    let parts: Vec<Vec<u8>> = tx.rows(PARTS, &params, read)?;
    Ok(parts.concat())
}

pub fn remove(tx: &mut Tx<'_>, organization: OrganizationId, id: UploadId) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&id)];
    for sql in [
        "DELETE FROM upload_parts WHERE organization_id = ?1 AND upload_id = ?2",
        "DELETE FROM uploads WHERE organization_id = ?1 AND id = ?2",
    ] {
        tx.execute(sql, &params)?;
    }
    Ok(())
}

const OLD: &str =
    "SELECT organization_id, id FROM uploads WHERE created_at < ?1 ORDER BY created_at LIMIT ?2";

/// Removes what is older. Returns how many rows, or the most of one transaction if there may be more.
pub fn prune(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64, DbError> {
    let params = [Value::Int(before.micros()), Value::Int(PRUNED_TOGETHER)];
    let old: Vec<(OrganizationId, UploadId)> = tx.rows(OLD, &params, read)?;
    for (organization, id) in &old {
        remove(tx, *organization, *id)?;
    }
    Ok(match i64::try_from(old.len()) {
        Ok(count) if count >= PRUNED_TOGETHER => PRUNE_ROWS_MAX,
        _ => old.len() as u64,
    })
}
