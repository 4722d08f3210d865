//! Attachments and their bytes, in parts.

use bursar_domain::Timestamp;
use bursar_domain::attachment::{Attachment, ContentType, PART_BYTES, Subject};
use bursar_domain::ids::{AttachmentId, EntryId, OrganizationId, ReimbursementId};

use crate::engine::{ColumnType, LoadTarget, OwnedValue, Row, Tx, Value};
use crate::error::DbError;
use crate::rows::read;

pub static ATTACHMENTS: LoadTarget = LoadTarget {
    table: "attachments",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("id", ColumnType::Bytes),
        ("reimbursement_id", ColumnType::Bytes),
        ("entry_id", ColumnType::Bytes),
        ("name", ColumnType::Text),
        ("content_type", ColumnType::Text),
        ("size", ColumnType::Int),
        ("sha256", ColumnType::Bytes),
        ("created_at", ColumnType::Int),
    ],
};

pub static ATTACHMENT_PARTS: LoadTarget = LoadTarget {
    table: "attachment_parts",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("attachment_id", ColumnType::Bytes),
        ("number", ColumnType::Int),
        ("data", ColumnType::Bytes),
    ],
};

/// Rows written together, so that a statement stays small.
const PARTS_TOGETHER: usize = 16;

/// A row for [`ATTACHMENTS`].
pub fn row_values(organization: OrganizationId, attachment: &Attachment) -> Vec<OwnedValue> {
    let key = |key: [u8; 16]| OwnedValue::Bytes(key.to_vec());
    let or_null = |id: Option<[u8; 16]>| id.map_or(OwnedValue::Null, key);
    vec![
        key(organization.to_bytes()),
        key(attachment.id.to_bytes()),
        or_null(attachment.subject.reimbursement().map(|id| id.to_bytes())),
        or_null(attachment.subject.entry().map(|id| id.to_bytes())),
        OwnedValue::Text(attachment.name.clone()),
        OwnedValue::Text(attachment.content_type.as_str().to_owned()),
        OwnedValue::Int(attachment.size),
        OwnedValue::Bytes(attachment.sha256.to_vec()),
        OwnedValue::Int(attachment.created_at.micros()),
    ]
}

/// A row for [`ATTACHMENT_PARTS`].
pub fn part_values(
    organization: OrganizationId,
    attachment: AttachmentId,
    number: i64,
    data: &[u8],
) -> Vec<OwnedValue> {
    vec![
        OwnedValue::Bytes(organization.to_bytes().to_vec()),
        OwnedValue::Bytes(attachment.to_bytes().to_vec()),
        OwnedValue::Int(number),
        OwnedValue::Bytes(data.to_vec()),
    ]
}

type Columns = (
    (AttachmentId, Option<ReimbursementId>, Option<EntryId>),
    (String, ContentType, i64),
    ([u8; 32], Timestamp),
);

fn of_row(row: &Row<'_>) -> Result<Attachment, DbError> {
    let ((id, reimbursement, entry), (name, content_type, size), (sha256, created_at)): Columns = read(row)?;
    let subject = match (reimbursement, entry) {
        (Some(id), None) => Subject::Reimbursement(id),
        (None, Some(id)) => Subject::Entry(id),
        (Some(_), Some(_)) | (None, None) => {
            return Err(DbError::Internal(format!(
                "{id} belongs to nothing or to two things"
            )));
        }
    };
    Ok(Attachment {
        id,
        subject,
        name,
        content_type,
        size,
        sha256,
        created_at,
    })
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, reimbursement_id, entry_id, name, content_type, size, sha256, created_at FROM attachments ",
            $rest
        )
    };
}

pub fn insert(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    attachment: &Attachment,
    bytes: &[u8],
) -> Result<(), DbError> {
    tx.load(&ATTACHMENTS, &[row_values(organization, attachment)])?;
    let parts: Vec<Vec<OwnedValue>> = (0..)
        .zip(bytes.chunks(PART_BYTES))
        .map(|(number, part)| part_values(organization, attachment.id, number, part))
        .collect();
    for some in parts.chunks(PARTS_TOGETHER) {
        tx.load(&ATTACHMENT_PARTS, some)?;
    }
    Ok(())
}

const GET: &str = select!("WHERE organization_id = ?1 AND id = ?2");

pub fn get(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: AttachmentId,
) -> Result<Option<Attachment>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(GET, &[Value::Bytes(&organization), Value::Bytes(&id)], of_row)
}

const OWNER: &str = "SELECT organization_id FROM attachments WHERE id = ?1";

pub fn owner(tx: &mut Tx<'_>, id: AttachmentId) -> Result<Option<OrganizationId>, DbError> {
    tx.first(OWNER, &[Value::Bytes(&id.to_bytes())], read)
}

/// The ids first, which an index alone can tell; otherwise SQLite would read all attachments.
const OF_REIMBURSEMENT: &str = select!(
    "WHERE (organization_id = ?1) IS TRUE AND id IN (SELECT id FROM attachments WHERE organization_id = ?1 \
     AND reimbursement_id = ?2) ORDER BY id"
);
const OF_ENTRY: &str = select!(
    "WHERE (organization_id = ?1) IS TRUE AND id IN (SELECT id FROM attachments WHERE organization_id = ?1 \
     AND entry_id = ?2) ORDER BY id"
);

/// Of a reimbursement or an entry, by id.
pub fn of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    subject: Subject,
) -> Result<Vec<Attachment>, DbError> {
    let (sql, id) = match subject {
        Subject::Reimbursement(id) => (OF_REIMBURSEMENT, id.to_bytes()),
        Subject::Entry(id) => (OF_ENTRY, id.to_bytes()),
    };
    let organization = organization.to_bytes();
    tx.rows(sql, &[Value::Bytes(&organization), Value::Bytes(&id)], of_row)
}

const ALL: &str = select!("WHERE organization_id = ?1 ORDER BY id");

pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Attachment>, DbError> {
    tx.rows(ALL, &[Value::Bytes(&organization.to_bytes())], of_row)
}

const PARTS: &str = "SELECT number, data FROM attachment_parts WHERE organization_id = ?1 AND attachment_id = ?2 ORDER BY number";

/// The numbers and bytes of the parts, in order.
pub fn parts(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: AttachmentId,
) -> Result<Vec<(i64, Vec<u8>)>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.rows(PARTS, &[Value::Bytes(&organization), Value::Bytes(&id)], read)
}

const PART: &str =
    "SELECT data FROM attachment_parts WHERE organization_id = ?1 AND attachment_id = ?2 AND number = ?3";

/// The bytes of one part.
pub fn part(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: AttachmentId,
    number: i64,
) -> Result<Option<Vec<u8>>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&id), Value::Int(number)];
    tx.first(PART, &params, read)
}

/// Attachments that only have parts. There should be none.
pub fn orphans(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<AttachmentId>, DbError> {
    tx.rows(
        "SELECT DISTINCT p.attachment_id FROM attachment_parts p WHERE p.organization_id = ?1 AND NOT EXISTS \
         (SELECT 1 FROM attachments a WHERE a.organization_id = ?1 AND a.id = p.attachment_id)",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

pub fn remove(tx: &mut Tx<'_>, organization: OrganizationId, id: AttachmentId) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&id)];
    for sql in [
        "DELETE FROM attachment_parts WHERE organization_id = ?1 AND attachment_id = ?2",
        "DELETE FROM attachments WHERE organization_id = ?1 AND id = ?2",
    ] {
        tx.execute(sql, &params)?;
    }
    Ok(())
}

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 5] {
    [
        ("attachment", GET),
        ("organization of an attachment", OWNER),
        ("attachments of a reimbursement", OF_REIMBURSEMENT),
        ("attachments of an entry", OF_ENTRY),
        ("parts of an attachment", PARTS),
    ]
}
