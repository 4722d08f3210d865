//! Bulk acts and what they touched, so that they can be undone.

use bursar_domain::Timestamp;
use bursar_domain::ids::{BulkId, OrganizationId};

use crate::engine::{OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::table::{int, key, text_opt};
use crate::tables::BULK_SUBJECTS;

const CHUNK_ROWS: usize = 1_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkAct {
    pub organization: OrganizationId,
    pub id: BulkId,
    /// For example `payments.raise`, `group.add`, `roster.import`.
    pub kind: String,
    pub at: Timestamp,
    pub undone_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub id: [u8; 16],
    /// The other side, if there is one: the group of a member.
    pub other: Option<[u8; 16]>,
    pub updated_at: Timestamp,
    /// The version that the act replaced, as a bundle line, if an undo must restore it.
    pub previous: Option<String>,
}

record! { act_columns: BulkAct { organization = "organization_id", id, kind, at, undone_at } }
record! { subject_columns: Subject { id = "subject_id", other = "other_id", updated_at, previous } }

/// An act over several transactions is added to.
pub fn insert(tx: &mut Tx<'_>, act: &BulkAct, subjects: &[Subject]) -> Result<(), DbError> {
    let (organization, id) = (act.organization.to_bytes(), act.id.to_bytes());
    tx.execute(
        "INSERT INTO bulk_acts (organization_id, id, kind, at) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (organization_id, id) DO NOTHING",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(&act.kind),
            Value::Int(act.at.micros()),
        ],
    )?;
    for chunk in subjects.chunks(CHUNK_ROWS) {
        let rows = chunk.iter().map(|subject| {
            vec![
                key(act.organization),
                key(act.id),
                OwnedValue::Bytes(subject.id.to_vec()),
                subject
                    .other
                    .map_or(OwnedValue::Null, |other| OwnedValue::Bytes(other.to_vec())),
                int(subject.updated_at.micros()),
                text_opt(subject.previous.as_deref()),
            ]
        });
        tx.load(&BULK_SUBJECTS, &rows.collect::<Vec<_>>())?;
    }
    Ok(())
}

pub fn get(tx: &mut Tx<'_>, id: BulkId) -> Result<Option<BulkAct>, DbError> {
    tx.first(
        concat!("SELECT ", act_columns!(), " FROM bulk_acts WHERE id = ?1"),
        &[Value::Bytes(&id.to_bytes())],
        read,
    )
}

/// How many things it touched.
pub fn count(tx: &mut Tx<'_>, act: &BulkAct) -> Result<i64, DbError> {
    let found = tx.first(
        "SELECT COUNT(*) FROM bulk_subjects WHERE organization_id = ?1 AND act_id = ?2",
        &[
            Value::Bytes(&act.organization.to_bytes()),
            Value::Bytes(&act.id.to_bytes()),
        ],
        read,
    )?;
    Ok(found.unwrap_or(0))
}

pub fn subjects(tx: &mut Tx<'_>, act: &BulkAct) -> Result<Vec<Subject>, DbError> {
    let (organization, id) = (act.organization.to_bytes(), act.id.to_bytes());
    tx.rows(
        concat!(
            "SELECT ",
            subject_columns!(),
            " FROM bulk_subjects WHERE organization_id = ?1 AND act_id = ?2 ORDER BY subject_id"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

/// At `now`, an undo restored the version of `then`: an act that left that version can still be undone.
pub fn stands_again(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    subject: [u8; 16],
    then: Timestamp,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE bulk_subjects SET updated_at = ?4 WHERE organization_id = ?1 AND subject_id = ?2 AND updated_at = ?3",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&subject),
            Value::Int(then.micros()),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

pub fn undone(tx: &mut Tx<'_>, act: &BulkAct, now: Timestamp) -> Result<(), DbError> {
    let (organization, id) = (act.organization.to_bytes(), act.id.to_bytes());
    tx.execute(
        "UPDATE bulk_acts SET undone_at = ?3 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}
