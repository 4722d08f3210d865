//! Records of messages: reading them, retrying failed ones, and removing their contents after the retention.

use bursar_domain::Timestamp;
use bursar_domain::ids::{MessageId, OrganizationId, ReminderId};
use bursar_domain::message::{JobKind, MessageState};
use bursar_domain::reminder::Method;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::housekeeping::PRUNE_ROWS_MAX;
use crate::rows::{read, record};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub id: MessageId,
    pub job: [u8; 16],
    pub kind: JobKind,
    /// The bytes of a reminder's or token's id.
    pub subject_id: [u8; 16],
    pub run_at: Timestamp,
    /// The bytes of a member's, user's or organization's id.
    pub recipient: [u8; 16],
    pub method: Method,
    /// Removed after the retention.
    pub address: Option<String>,
    /// The recipient's name.
    pub name: Option<String>,
    pub subject: Option<String>,
    /// False after the retention.
    pub has_body: bool,
    /// The parts of an SMS.
    pub segments: Option<i64>,
    pub state: MessageState,
    /// The last response of the mail server or provider, or why nothing was sent.
    pub detail: Option<String>,
    pub attempts: i64,
    /// When it is tried next, while it waits.
    pub due_at: Timestamp,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// An attempt that did not deliver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    pub attempt: i64,
    pub at: Timestamp,
    /// The response of the mail server or provider.
    pub detail: String,
}

record! { record_columns: Record, "m." {
    id, job = "m.job_id", kind = "j.kind", subject_id = "j.subject_id", run_at = "j.run_at", recipient, method, address,
    name, subject, has_body = "CASE WHEN m.body IS NULL THEN 0 ELSE 1 END", segments, state, detail, attempts, due_at,
    created_at, ended_at,
} }
record! { attempt_columns: AttemptRecord { attempt, at, detail } }

macro_rules! select_records {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            record_columns!(),
            " FROM outbox_messages m JOIN outbox_jobs j ON j.organization_id = m.organization_id AND j.id = m.job_id \
             WHERE m.organization_id = ?1",
            $condition
        )
    };
}

/// Newest first, before `before`; only those of `reminder` if it is given.
pub fn newest(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    reminder: Option<ReminderId>,
    before: Option<MessageId>,
    limit: i64,
) -> Result<Vec<Record>, DbError> {
    let organization = organization.to_bytes();
    let before = before.map_or([0xff; 16], MessageId::to_bytes);
    let params = [
        Value::Bytes(&organization),
        Value::Bytes(&before),
        Value::Int(limit),
    ];
    match reminder {
        None => tx.rows(
            select_records!(" AND m.id < ?2 ORDER BY m.id DESC LIMIT ?3"),
            &params,
            read,
        ),
        Some(reminder) => {
            let reminder = reminder.to_bytes();
            tx.rows(
                select_records!(
                    " AND m.id < ?2 AND j.kind = 'reminder' AND j.subject_id = ?4 ORDER BY m.id DESC LIMIT ?3"
                ),
                &[params[0], params[1], params[2], Value::Bytes(&reminder)],
                read,
            )
        }
    }
}

/// Those that failed, the last first, before the one given.
pub fn failed(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    before: Option<(Timestamp, MessageId)>,
    limit: i64,
) -> Result<Vec<Record>, DbError> {
    let (at, id) = before.map_or((i64::MAX, [0xff; 16]), |(at, id)| (at.micros(), id.to_bytes()));
    tx.rows(
        FAILED,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Int(at),
            Value::Bytes(&id),
            Value::Int(limit),
        ],
        read,
    )
}

/// Public for tests that read query plans.
pub const FAILED: &str = select_records!(
    " AND m.state = 'failed' AND (m.ended_at, m.id) < (?2, ?3) ORDER BY m.ended_at DESC, m.id DESC LIMIT ?4"
);

/// To one recipient, the latest run first. It goes through the jobs, which are few, and looks each up in the index of
/// recipients.
pub fn of_recipient(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    recipient: [u8; 16],
    limit: i64,
) -> Result<Vec<Record>, DbError> {
    let organization = organization.to_bytes();
    tx.rows(
        select_records!(" AND m.recipient = ?2 ORDER BY j.id DESC LIMIT ?3"),
        &[
            Value::Bytes(&organization),
            Value::Bytes(&recipient),
            Value::Int(limit),
        ],
        read,
    )
}

const COUNTS: &str = "SELECT m.state, COUNT(*) FROM outbox_jobs j JOIN outbox_messages m \
     ON m.organization_id = j.organization_id AND m.job_id = j.id \
     WHERE j.organization_id = ?1 AND j.kind = 'reminder' AND j.subject_id = ?2 GROUP BY m.state";

/// How many messages of all runs of a reminder are in which state.
pub fn counts(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    reminder: ReminderId,
) -> Result<Vec<(MessageState, i64)>, DbError> {
    let (organization, reminder) = (organization.to_bytes(), reminder.to_bytes());
    tx.rows(
        COUNTS,
        &[Value::Bytes(&organization), Value::Bytes(&reminder)],
        read,
    )
}

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: MessageId) -> Result<Option<Record>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(
        select_records!(" AND m.id = ?2"),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

pub fn attempts(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: MessageId,
) -> Result<Vec<AttemptRecord>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.rows(
        concat!(
            "SELECT ",
            attempt_columns!(),
            " FROM outbox_attempts WHERE organization_id = ?1 AND message_id = ?2 ORDER BY attempt"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

/// Queues a failed message again, with its full number of tries. Returns false unless it had failed and still has its
/// text.
pub fn retry(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: MessageId,
    now: Timestamp,
) -> Result<bool, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let rows = tx.execute(
        "UPDATE outbox_messages SET state = 'queued', attempts_before = attempts, due_at = ?3, leased_until = 0, ended_at = NULL \
         WHERE organization_id = ?1 AND id = ?2 AND state = 'failed' AND body IS NOT NULL",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Int(now.micros()),
        ],
    )?;
    Ok(rows > 0)
}

pub fn skip(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: MessageId,
    reason: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.execute(
        "UPDATE outbox_messages SET state = 'skipped', detail = ?3, ended_at = ?4 \
         WHERE organization_id = ?1 AND id = ?2 AND state = 'failed'",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(reason),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// Removes address and text from messages that ended before `before`; the records stay. Returns how many.
pub fn forget(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64, DbError> {
    let rows = i64::try_from(PRUNE_ROWS_MAX).unwrap_or(i64::MAX);
    tx.execute(
        "UPDATE outbox_messages SET address = NULL, subject = NULL, body = NULL, owed = NULL, headers = NULL \
         WHERE (organization_id, id) IN (SELECT organization_id, id FROM outbox_messages \
         WHERE body IS NOT NULL AND ended_at < ?1 ORDER BY ended_at LIMIT ?2)",
        &[Value::Int(before.micros()), Value::Int(rows)],
    )
}
