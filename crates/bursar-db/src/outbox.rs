//! The outbox: queued jobs, and the messages that they expand to.
//!
//! A job is written in the transaction that decides it. The worker claims it with a lease, expands it to one message
//! per recipient in bounded transactions, and delivers each message under a lease of its own.

use bursar_domain::Timestamp;
use bursar_domain::ids::{MessageId, OrganizationId};
use bursar_domain::message::{JobKind, MessageState};
use bursar_domain::reminder::Method;

use crate::engine::{Row, Tx, Value};
use crate::error::DbError;
use crate::organizations;
use crate::rows::{read, record};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    pub organization: OrganizationId,
    pub id: [u8; 16],
    pub kind: JobKind,
    /// The bytes of a reminder's or token's id.
    pub subject: [u8; 16],
    pub run_at: Timestamp,
    /// The last recipient it was expanded to.
    pub expanded_to: Option<[u8; 16]>,
    /// All its messages exist.
    pub is_expanded: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub organization: OrganizationId,
    /// Also sent to the receiving side, so that it can recognise a copy sent after a lost response.
    pub id: MessageId,
    pub job: [u8; 16],
    /// The bytes of a member's, user's or organization's id.
    pub recipient: [u8; 16],
    pub method: Method,
    pub address: String,
    /// The recipient's name.
    pub name: String,
    pub subject: String,
    pub body: String,
    /// What is owed, line by line and in total, as the application formats it.
    pub owed: Option<String>,
    /// More header lines, `Name: value`, one per line.
    pub headers: String,
    /// The parts of an SMS.
    pub segments: Option<i64>,
}

/// A message to deliver now, with what its delivery needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub message: Message,
    pub created_at: Timestamp,
    /// All attempts so far, including this one. It identifies the claim: the next one has a larger number.
    pub attempt: i64,
    /// Attempts since it was queued, including this one.
    pub tries: i64,
    pub sender: String,
    pub reply_to: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// With the response of the mail server or provider.
    Delivered(String),
    /// To a file, because no server is set.
    Written(String),
    /// Refused for good, or tried often enough.
    Failed(String),
    /// Retry at this time.
    Again(String, Timestamp),
}

record! { job_columns: Job {
    organization = "organization_id", id, kind, subject = "subject_id", run_at, expanded_to,
    is_expanded = "CASE WHEN state = 'delivering' THEN 1 ELSE 0 END",
} }
// Contents that were forgotten are NULL.
record! { message_columns: Message {
    organization = "organization_id", id, job = "job_id", recipient, method, address = "COALESCE(address, '')",
    name = "COALESCE(name, '')", subject = "COALESCE(subject, '')", body = "COALESCE(body, '')", owed,
    headers = "COALESCE(headers, '')", segments,
} }

/// Returns false if this run of this subject is queued already.
pub fn queue(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: [u8; 16],
    kind: JobKind,
    subject: [u8; 16],
    run_at: Timestamp,
    now: Timestamp,
) -> Result<bool, DbError> {
    let organization = organization.to_bytes();
    let rows = tx.execute(
        "INSERT INTO outbox_jobs (organization_id, id, kind, subject_id, run_at, state, due_at, leased_until, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, 'expanding', ?6, 0, ?6) ON CONFLICT (organization_id, kind, subject_id, run_at) DO NOTHING",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(kind.as_str()),
            Value::Bytes(&subject),
            Value::Int(run_at.micros()),
            Value::Int(now.micros()),
        ],
    )?;
    Ok(rows > 0)
}

/// Claims due jobs that have not ended.
pub fn claim_jobs(
    tx: &mut Tx<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: i64,
) -> Result<Vec<Job>, DbError> {
    let jobs = tx.rows_claimed(
        concat!(
            "SELECT ",
            job_columns!(),
            " FROM outbox_jobs WHERE state <> 'done' AND due_at <= ?1 AND leased_until <= ?1 ORDER BY due_at LIMIT ?2"
        ),
        &[Value::Int(now.micros()), Value::Int(limit)],
        read,
    )?;
    for job in &jobs {
        lease_job(tx, job, lease_until)?;
    }
    Ok(jobs)
}

pub fn lease_job(tx: &mut Tx<'_>, job: &Job, until: Timestamp) -> Result<(), DbError> {
    let organization = job.organization.to_bytes();
    tx.execute(
        "UPDATE outbox_jobs SET leased_until = ?3 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&job.id),
            Value::Int(until.micros()),
        ],
    )
    .map(drop)
}

/// Whatever its lease, unless it has ended.
pub fn job(tx: &mut Tx<'_>, organization: OrganizationId, id: [u8; 16]) -> Result<Option<Job>, DbError> {
    let organization = organization.to_bytes();
    tx.first(
        concat!(
            "SELECT ",
            job_columns!(),
            " FROM outbox_jobs WHERE organization_id = ?1 AND id = ?2 AND state <> 'done'"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

/// Records how far a job was expanded and when it is due again. Releases the lease.
pub fn expanded(
    tx: &mut Tx<'_>,
    job: &Job,
    to: Option<[u8; 16]>,
    is_expanded: bool,
    due_at: Timestamp,
) -> Result<(), DbError> {
    let organization = job.organization.to_bytes();
    tx.execute(
        "UPDATE outbox_jobs SET expanded_to = ?3, state = ?4, due_at = ?5, leased_until = 0 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&job.id),
            to.as_ref().into(),
            Value::Text(if is_expanded { "delivering" } else { "expanding" }),
            Value::Int(due_at.micros()),
        ],
    )
    .map(drop)
}

/// For a job that had ended, when one of its messages is retried.
pub fn reopen(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    job: [u8; 16],
    due_at: Timestamp,
) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    tx.execute(
        "UPDATE outbox_jobs SET state = 'delivering', due_at = ?3, leased_until = 0 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&job),
            Value::Int(due_at.micros()),
        ],
    )
    .map(drop)
}

pub fn done(tx: &mut Tx<'_>, organization: OrganizationId, job: [u8; 16]) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    tx.execute(
        "UPDATE outbox_jobs SET state = 'done' WHERE organization_id = ?1 AND id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&job)],
    )
    .map(drop)
}

/// Does nothing if the job has a message for this recipient already.
pub fn add(tx: &mut Tx<'_>, message: &Message, now: Timestamp) -> Result<(), DbError> {
    let (organization, id) = (message.organization.to_bytes(), message.id.to_bytes());
    tx.execute(
        "INSERT INTO outbox_messages (organization_id, id, job_id, recipient, method, address, name, subject, body, owed, headers, \
         segments, state, attempts, attempts_before, due_at, leased_until, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, 'queued', 0, 0, ?13, 0, ?13) \
         ON CONFLICT (organization_id, job_id, recipient) DO NOTHING",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Bytes(&message.job),
            Value::Bytes(&message.recipient),
            Value::Text(message.method.as_str()),
            Value::Text(&message.address),
            Value::Text(&message.name),
            Value::Text(&message.subject),
            Value::Text(&message.body),
            message.owed.as_deref().into(),
            Value::Text(&message.headers),
            message.segments.into(),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

pub fn add_skipped(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: MessageId,
    job: [u8; 16],
    recipient: [u8; 16],
    (method, name, reason): (Method, &str, &str),
    now: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.execute(
        "INSERT INTO outbox_messages (organization_id, id, job_id, recipient, method, name, state, detail, attempts, \
         attempts_before, due_at, leased_until, created_at, ended_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'skipped', ?7, 0, 0, ?8, 0, ?8, ?8) \
         ON CONFLICT (organization_id, job_id, recipient) DO NOTHING",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Bytes(&job),
            Value::Bytes(&recipient),
            Value::Text(method.as_str()),
            Value::Text(name),
            Value::Text(reason),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// Claims due messages of a method. A claim counts as an attempt. A claim that a dead worker left behind is not a try:
/// nobody knows how it ended.
pub fn claim(
    tx: &mut Tx<'_>,
    method: Method,
    now: Timestamp,
    lease_until: Timestamp,
    limit: i64,
) -> Result<Vec<Claimed>, DbError> {
    let mut claimed = tx.rows_claimed(
        concat!(
            "SELECT ",
            message_columns!(),
            ", created_at, attempts + 1, attempts_before + CASE WHEN state = 'sending' THEN 1 ELSE 0 END \
             FROM outbox_messages WHERE state IN ('queued', 'sending') AND method = ?3 AND due_at <= ?1 AND leased_until <= ?1 \
             ORDER BY due_at LIMIT ?2"
        ),
        &[
            Value::Int(now.micros()),
            Value::Int(limit),
            Value::Text(method.as_str()),
        ],
        read_claimed,
    )?;
    for claim in &mut claimed {
        let (organization, id) = (claim.message.organization.to_bytes(), claim.message.id.to_bytes());
        tx.execute(
            "UPDATE outbox_messages SET state = 'sending', attempts = ?3, attempts_before = ?4, leased_until = ?5 \
             WHERE organization_id = ?1 AND id = ?2",
            &[
                Value::Bytes(&organization),
                Value::Bytes(&id),
                Value::Int(claim.attempt),
                Value::Int(claim.attempt - claim.tries),
                Value::Int(lease_until.micros()),
            ],
        )?;
        if let Some(from) = organizations::get(tx, claim.message.organization)? {
            (claim.sender, claim.reply_to) = (from.name, from.contact_email);
        }
    }
    Ok(claimed)
}

pub fn message(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: MessageId,
) -> Result<Option<Message>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(
        concat!(
            "SELECT ",
            message_columns!(),
            " FROM outbox_messages WHERE organization_id = ?1 AND id = ?2"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

pub fn readdress(tx: &mut Tx<'_>, message: &Message) -> Result<(), DbError> {
    let (organization, id) = (message.organization.to_bytes(), message.id.to_bytes());
    tx.execute(
        "UPDATE outbox_messages SET address = ?3, name = ?4, subject = ?5, body = ?6, owed = ?7, segments = ?8 \
         WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(&message.address),
            Value::Text(&message.name),
            Value::Text(&message.subject),
            Value::Text(&message.body),
            message.owed.as_deref().into(),
            message.segments.into(),
        ],
    )
    .map(drop)
}

fn read_claimed(row: &Row<'_>) -> Result<Claimed, DbError> {
    let (message, created_at, attempt, before): (_, _, i64, i64) = read(row)?;
    Ok(Claimed {
        message,
        created_at,
        attempt,
        tries: attempt - before,
        sender: String::new(),
        reply_to: None,
    })
}

/// Returns false if the claim was lost.
pub fn renew(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: MessageId,
    attempt: i64,
    until: Timestamp,
) -> Result<bool, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let rows = tx.execute(
        "UPDATE outbox_messages SET leased_until = ?4 WHERE organization_id = ?1 AND id = ?2 AND attempts = ?3 AND state = 'sending'",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Int(attempt),
            Value::Int(until.micros()),
        ],
    )?;
    Ok(rows > 0)
}

/// Releases an unused claim, which then does not count as an attempt. `reason` is stored if given.
pub fn release(tx: &mut Tx<'_>, claimed: &Claimed, reason: Option<&str>) -> Result<(), DbError> {
    let (organization, id) = (
        claimed.message.organization.to_bytes(),
        claimed.message.id.to_bytes(),
    );
    tx.execute(
        "UPDATE outbox_messages SET state = 'queued', attempts = attempts - 1, leased_until = 0, detail = COALESCE(?4, detail) \
         WHERE organization_id = ?1 AND id = ?2 AND attempts = ?3 AND state = 'sending'",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Int(claimed.attempt),
            reason.into(),
        ],
    )
    .map(drop)
}

/// Leaves no trace of a message.
pub fn remove(tx: &mut Tx<'_>, message: &Message) -> Result<(), DbError> {
    let (organization, id) = (message.organization.to_bytes(), message.id.to_bytes());
    let key = [Value::Bytes(&organization), Value::Bytes(&id)];
    tx.execute(
        "DELETE FROM outbox_attempts WHERE organization_id = ?1 AND message_id = ?2",
        &key,
    )?;
    tx.execute(
        "DELETE FROM outbox_messages WHERE organization_id = ?1 AND id = ?2",
        &key,
    )
    .map(drop)
}

/// Records how an attempt ended. Returns whether that changed the message. A delivery always counts; other results do
/// not if another worker has taken over the claim.
pub fn attempted(
    tx: &mut Tx<'_>,
    claimed: &Claimed,
    attempt: &Attempt,
    now: Timestamp,
) -> Result<bool, DbError> {
    let (organization, id) = (
        claimed.message.organization.to_bytes(),
        claimed.message.id.to_bytes(),
    );
    let key = [Value::Bytes(&organization), Value::Bytes(&id)];
    let (state, detail, due_at, ended_at) = match attempt {
        Attempt::Delivered(answer) | Attempt::Written(answer) => {
            let state = match attempt {
                Attempt::Written(_) => MessageState::Written,
                _ => MessageState::Delivered,
            };
            let rows = tx.execute(
                "UPDATE outbox_messages SET state = ?5, detail = ?3, ended_at = ?4, leased_until = 0 \
                 WHERE organization_id = ?1 AND id = ?2 AND state IN ('queued', 'sending')",
                &[
                    key[0],
                    key[1],
                    Value::Text(answer),
                    Value::Int(now.micros()),
                    Value::Text(state.as_str()),
                ],
            )?;
            return Ok(rows > 0);
        }
        Attempt::Failed(reason) => ("failed", reason, now, Some(now)),
        Attempt::Again(reason, at) => ("queued", reason, *at, None),
    };
    let rows = tx.execute(
        "UPDATE outbox_messages SET state = ?3, detail = ?4, due_at = ?5, ended_at = ?6, leased_until = 0 \
         WHERE organization_id = ?1 AND id = ?2 AND attempts = ?7 AND state = 'sending'",
        &[
            key[0],
            key[1],
            Value::Text(state),
            Value::Text(detail),
            Value::Int(due_at.micros()),
            ended_at.map(Timestamp::micros).into(),
            Value::Int(claimed.attempt),
        ],
    )?;
    tx.execute(
        "INSERT INTO outbox_attempts (organization_id, message_id, attempt, at, detail) VALUES (?1, ?2, ?3, ?4, ?5) \
         ON CONFLICT (organization_id, message_id, attempt) DO NOTHING",
        &[
            key[0],
            key[1],
            Value::Int(claimed.attempt),
            Value::Int(now.micros()),
            Value::Text(detail),
        ],
    )?;
    Ok(rows > 0)
}

pub fn has_job(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    kind: JobKind,
    subject: [u8; 16],
) -> Result<bool, DbError> {
    let organization = organization.to_bytes();
    let found = tx.first(
        "SELECT 1 FROM outbox_jobs WHERE organization_id = ?1 AND kind = ?2 AND subject_id = ?3 AND state <> 'done' LIMIT 1",
        &[Value::Bytes(&organization), Value::Text(kind.as_str()), Value::Bytes(&subject)],
        read::<i64>,
    )?;
    Ok(found.is_some())
}

pub fn is_under_way(tx: &mut Tx<'_>, organization: OrganizationId, job: [u8; 16]) -> Result<bool, DbError> {
    let organization = organization.to_bytes();
    let found = tx.first(
        "SELECT 1 FROM outbox_messages WHERE organization_id = ?1 AND job_id = ?2 AND state IN ('queued', 'sending') LIMIT 1",
        &[Value::Bytes(&organization), Value::Bytes(&job)],
        read::<i64>,
    )?;
    Ok(found.is_some())
}

/// A message in a file counts: its run went as it was set up.
pub fn last_delivery(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    job: [u8; 16],
) -> Result<Option<Timestamp>, DbError> {
    let organization = organization.to_bytes();
    let at = tx.first(
        "SELECT MAX(ended_at) FROM outbox_messages WHERE organization_id = ?1 AND job_id = ?2 AND state IN ('delivered', 'written')",
        &[Value::Bytes(&organization), Value::Bytes(&job)],
        read,
    )?;
    Ok(at.flatten())
}

/// Nothing waits longer for its next attempt: the longest back-off is 12 hours, and a provider may ask for a day.
const WAIT_SECONDS_MAX: i64 = 25 * 3_600;
/// No lease is longer, and no job is due again later.
const LEASE_SECONDS_MAX: i64 = 2 * 3_600;
/// What was queued and never tried is due at once; clocks may differ by this much.
const FRESH_SECONDS_MAX: i64 = 60;

/// Makes due what a clock that was ahead has put off.
pub fn pull_in(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), DbError> {
    let at = |seconds: i64| Value::Int(now.plus_seconds(seconds).micros());
    for method in Method::ALL {
        let method = Value::Text(method.as_str());
        tx.execute(
            "UPDATE outbox_messages SET due_at = ?1 WHERE state = 'queued' AND method = ?4 AND due_at > ?2 \
             AND (due_at > ?3 OR attempts = attempts_before)",
            &[at(0), at(FRESH_SECONDS_MAX), at(WAIT_SECONDS_MAX), method],
        )?;
        tx.execute(
            "UPDATE outbox_messages SET leased_until = ?1, due_at = ?1 WHERE state = 'sending' AND method = ?3 \
             AND (leased_until > ?2 OR due_at > ?2)",
            &[at(0), at(LEASE_SECONDS_MAX), method],
        )?;
    }
    tx.execute(
        "UPDATE outbox_jobs SET due_at = ?1, leased_until = 0 WHERE state <> 'done' \
         AND (due_at > ?3 OR leased_until > ?3 OR (state = 'expanding' AND due_at > ?2))",
        &[at(0), at(FRESH_SECONDS_MAX), at(LEASE_SECONDS_MAX)],
    )
    .map(drop)
}

/// Claiming writes, so ask this first.
pub fn is_due(tx: &mut Tx<'_>, method: Method, now: Timestamp) -> Result<bool, DbError> {
    let found = tx.first(
        "SELECT 1 FROM outbox_messages WHERE state IN ('queued', 'sending') AND method = ?2 AND due_at <= ?1 \
         AND leased_until <= ?1 LIMIT 1",
        &[Value::Int(now.micros()), Value::Text(method.as_str())],
        read::<i64>,
    )?;
    Ok(found.is_some())
}

pub fn has_due_job(tx: &mut Tx<'_>, now: Timestamp) -> Result<bool, DbError> {
    let found = tx.first(
        "SELECT 1 FROM outbox_jobs WHERE state <> 'done' AND due_at <= ?1 AND leased_until <= ?1 LIMIT 1",
        &[Value::Int(now.micros())],
        read::<i64>,
    )?;
    Ok(found.is_some())
}
