//! The outbox: jobs that were decided, and the messages that they expand to.
//!
//! A job is written in the transaction that decides it. The worker claims it with a lease, expands it to one
//! message per recipient in bounded transactions, and delivers each message under a lease of its own.

use bursar_domain::Timestamp;
use bursar_domain::ids::{Id, MessageId, OrganizationId};

use crate::engine::{Row, Tx, Value};
use crate::error::DbError;
use crate::table::Columns;

/// A job, claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Whose it is.
    pub organization: OrganizationId,
    /// Names it.
    pub id: [u8; 16],
    /// What it is: `reminder`.
    pub kind: String,
    /// What it is about: a reminder's id.
    pub subject: [u8; 16],
    /// The run that it is.
    pub run_at: Timestamp,
    /// The last recipient it was expanded to.
    pub expanded_to: Option<[u8; 16]>,
    /// All its messages are made.
    pub is_expanded: bool,
}

/// A message, claimed or to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Whose it is.
    pub organization: OrganizationId,
    /// Names it, also to the receiving side, so that a copy sent after a lost reply can be recognised.
    pub id: MessageId,
    /// The job it comes from.
    pub job: [u8; 16],
    /// Whom it is for: the bytes of a member's, user's or organization's id.
    pub recipient: [u8; 16],
    /// `email` or `sms`.
    pub method: String,
    /// Where it goes.
    pub address: String,
    /// The recipient's name.
    pub name: String,
    /// The subject line.
    pub subject: String,
    /// The text.
    pub body: String,
    /// Further header lines, `Name: value`, one a line.
    pub headers: String,
    /// How often it was tried, this time included.
    pub attempts: i64,
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It was taken.
    Delivered,
    /// It was refused for good, or tried often enough.
    Failed(String),
    /// To be tried again.
    Again(String, Timestamp),
}

/// Queues a job; `false` when this run of this subject is queued already.
pub fn queue(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: [u8; 16],
    kind: &str,
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
            Value::Text(kind),
            Value::Bytes(&subject),
            Value::Int(run_at.micros()),
            Value::Int(now.micros()),
        ],
    )?;
    Ok(rows > 0)
}

/// Claims up to `limit` jobs that still have something to expand, until `lease_until`.
pub fn claim_jobs(
    tx: &mut Tx<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: i64,
) -> Result<Vec<Job>, DbError> {
    let jobs = tx.rows_claimed(
        "SELECT organization_id, id, kind, subject_id, run_at, expanded_to, CASE WHEN state = 'delivering' THEN 1 ELSE 0 END \
         FROM outbox_jobs WHERE state <> 'done' AND due_at <= ?1 AND leased_until <= ?1 ORDER BY due_at LIMIT ?2",
        &[Value::Int(now.micros()), Value::Int(limit)],
        read_job,
    )?;
    for job in &jobs {
        lease_job(tx, job, lease_until)?;
    }
    Ok(jobs)
}

/// Holds a job until `until`; the past lets it go.
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

/// One job, whatever its lease.
pub fn job(tx: &mut Tx<'_>, organization: OrganizationId, id: [u8; 16]) -> Result<Option<Job>, DbError> {
    let organization = organization.to_bytes();
    tx.first(
        "SELECT organization_id, id, kind, subject_id, run_at, expanded_to, CASE WHEN state = 'delivering' THEN 1 ELSE 0 END \
         FROM outbox_jobs WHERE organization_id = ?1 AND id = ?2 AND state <> 'done'",
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read_job,
    )
}

fn read_job(row: &Row<'_>) -> Result<Job, DbError> {
    Ok(Job {
        organization: OrganizationId::from_bytes(row.key(0)?),
        id: row.key(1)?,
        kind: row.text(2)?.to_owned(),
        subject: row.key(3)?,
        run_at: Timestamp::from_micros(row.int(4)?),
        expanded_to: row.key_opt(5)?,
        is_expanded: row.bool(6)?,
    })
}

/// Writes down how far a job was expanded. When all its messages are made it is due again only if one of them
/// waits: deliveries end it.
pub fn expanded(tx: &mut Tx<'_>, job: &Job, to: Option<[u8; 16]>, is_expanded: bool) -> Result<(), DbError> {
    let organization = job.organization.to_bytes();
    tx.execute(
        "UPDATE outbox_jobs SET expanded_to = ?3, state = ?4 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&job.id),
            to.as_ref().into(),
            Value::Text(if is_expanded { "delivering" } else { "expanding" }),
        ],
    )
    .map(drop)
}

/// Ends a job.
pub fn done(tx: &mut Tx<'_>, organization: OrganizationId, job: [u8; 16]) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    tx.execute(
        "UPDATE outbox_jobs SET state = 'done' WHERE organization_id = ?1 AND id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&job)],
    )
    .map(drop)
}

/// Adds a message, unless its job has one for this recipient already.
pub fn add(tx: &mut Tx<'_>, message: &Message, now: Timestamp) -> Result<(), DbError> {
    let (organization, id) = (message.organization.to_bytes(), message.id.to_bytes());
    tx.execute(
        "INSERT INTO outbox_messages (organization_id, id, job_id, recipient, method, address, name, subject, body, headers, \
         state, attempts, due_at, leased_until, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'queued', 0, ?11, 0, ?11) \
         ON CONFLICT (organization_id, job_id, recipient) DO NOTHING",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Bytes(&message.job),
            Value::Bytes(&message.recipient),
            Value::Text(&message.method),
            Value::Text(&message.address),
            Value::Text(&message.name),
            Value::Text(&message.subject),
            Value::Text(&message.body),
            Value::Text(&message.headers),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// Writes down that somebody is not written to, and why.
pub fn add_skipped(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: MessageId,
    job: [u8; 16],
    recipient: [u8; 16],
    (method, name, reason): (&str, &str, &str),
    now: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.execute(
        "INSERT INTO outbox_messages (organization_id, id, job_id, recipient, method, name, state, reason, attempts, due_at, \
         leased_until, created_at, ended_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'skipped', ?7, 0, ?8, 0, ?8, ?8) \
         ON CONFLICT (organization_id, job_id, recipient) DO NOTHING",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Bytes(&job),
            Value::Bytes(&recipient),
            Value::Text(method),
            Value::Text(name),
            Value::Text(reason),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// Claims up to `limit` messages that are due, until `lease_until`; a claim counts as an attempt.
pub fn claim(
    tx: &mut Tx<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: i64,
) -> Result<Vec<Message>, DbError> {
    let messages = tx.rows_claimed(
        "SELECT organization_id, id, job_id, recipient, method, address, name, subject, body, headers, attempts + 1 \
         FROM outbox_messages WHERE state IN ('queued', 'sending') AND due_at <= ?1 AND leased_until <= ?1 ORDER BY due_at LIMIT ?2",
        &[Value::Int(now.micros()), Value::Int(limit)],
        |row| {
            let mut row = Columns::from(row, 0);
            let (organization, id) = (row.id()?, row.id()?);
            let (job, recipient): (Id<()>, Id<()>) = (row.id()?, row.id()?);
            Ok(Message {
                organization,
                id,
                job: job.to_bytes(),
                recipient: recipient.to_bytes(),
                method: row.text()?,
                address: row.text_opt()?.unwrap_or_default(),
                name: row.text_opt()?.unwrap_or_default(),
                subject: row.text_opt()?.unwrap_or_default(),
                body: row.text_opt()?.unwrap_or_default(),
                headers: row.text_opt()?.unwrap_or_default(),
                attempts: row.int()?,
            })
        },
    )?;
    for message in &messages {
        let (organization, id) = (message.organization.to_bytes(), message.id.to_bytes());
        tx.execute(
            "UPDATE outbox_messages SET state = 'sending', attempts = ?3, leased_until = ?4 WHERE organization_id = ?1 AND id = ?2",
            &[
                Value::Bytes(&organization),
                Value::Bytes(&id),
                Value::Int(message.attempts),
                Value::Int(lease_until.micros()),
            ],
        )?;
    }
    Ok(messages)
}

/// Writes down how an attempt ended.
pub fn attempted(
    tx: &mut Tx<'_>,
    message: &Message,
    attempt: &Attempt,
    now: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (message.organization.to_bytes(), message.id.to_bytes());
    let (state, reason, due_at, ended_at) = match attempt {
        Attempt::Delivered => ("delivered", None, now, Some(now)),
        Attempt::Failed(reason) => ("failed", Some(reason.as_str()), now, Some(now)),
        Attempt::Again(reason, at) => ("queued", Some(reason.as_str()), *at, None),
    };
    tx.execute(
        "UPDATE outbox_messages SET state = ?3, reason = ?4, due_at = ?5, ended_at = ?6, leased_until = 0 \
         WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(state),
            reason.into(),
            Value::Int(due_at.micros()),
            ended_at.map(Timestamp::micros).into(),
        ],
    )
    .map(drop)
}

/// Whether a job has messages that have not ended.
pub fn is_under_way(tx: &mut Tx<'_>, organization: OrganizationId, job: [u8; 16]) -> Result<bool, DbError> {
    let organization = organization.to_bytes();
    let found = tx.first(
        "SELECT 1 FROM outbox_messages WHERE organization_id = ?1 AND job_id = ?2 AND state IN ('queued', 'sending') LIMIT 1",
        &[Value::Bytes(&organization), Value::Bytes(&job)],
        |row| row.int(0),
    )?;
    Ok(found.is_some())
}

/// When a message of the job was last delivered, if one was.
pub fn last_delivery(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    job: [u8; 16],
) -> Result<Option<Timestamp>, DbError> {
    let organization = organization.to_bytes();
    let at = tx.first(
        "SELECT MAX(ended_at) FROM outbox_messages WHERE organization_id = ?1 AND job_id = ?2 AND state = 'delivered'",
        &[Value::Bytes(&organization), Value::Bytes(&job)],
        |row| row.int_opt(0),
    )?;
    Ok(at.flatten().map(Timestamp::from_micros))
}

/// When something of the outbox is next due, leases included.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, DbError> {
    let job = tx.first(
        "SELECT MIN(CASE WHEN leased_until > due_at THEN leased_until ELSE due_at END) FROM outbox_jobs WHERE state <> 'done'",
        &[],
        |row| row.int_opt(0),
    )?;
    let message = tx.first(
        "SELECT MIN(CASE WHEN leased_until > due_at THEN leased_until ELSE due_at END) FROM outbox_messages \
         WHERE state IN ('queued', 'sending')",
        &[],
        |row| row.int_opt(0),
    )?;
    Ok(job
        .flatten()
        .into_iter()
        .chain(message.flatten())
        .min()
        .map(Timestamp::from_micros))
}
