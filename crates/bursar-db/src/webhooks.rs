//! Webhook endpoints: their records, their secrets, and what came of deliveries. [`sending`] has what a worker does,
//! [`checking`] what checks read.

pub mod checking;
pub mod sending;

use bursar_domain::Timestamp;
use bursar_domain::access::ScopeSet;
use bursar_domain::ids::{EventId, OrganizationId, WebhookId};
use bursar_domain::webhook::outcome::Outcome;

use crate::engine::{LoadTarget, Tx, Value};
use crate::error::DbError;
use crate::housekeeping::PRUNE_ROWS_MAX;
use crate::rows::{read, record};
use crate::tables::load_target;

pub(crate) static WEBHOOKS: LoadTarget = load_target! { "webhooks" {
    organization_id Bytes, id Bytes, url Text, description Text, types Text, scopes Int, is_enabled Int,
    disabled_at Int, disabled_reason Text, created_at Int, created_by Text, cursor_at Int, cursor_id Bytes,
    attempts Int, refusals Int, failing_since Int, delivered_at Int, due_at Int, leased_until Int, claim Int,
} };
pub(crate) static SECRETS: LoadTarget = load_target! { "webhook_secrets" {
    organization_id Bytes, webhook_id Bytes, number Int, sealed Bytes, created_at Int, ends_at Int,
} };
pub(crate) static EXTRAS: LoadTarget = load_target! { "webhook_extras" {
    organization_id Bytes, webhook_id Bytes, event_id Bytes, document Text, created_at Int, attempts Int, due_at Int,
} };
pub(crate) static DELIVERIES: LoadTarget = load_target! { "webhook_deliveries" {
    organization_id Bytes, webhook_id Bytes, at Int, event_id Bytes, attempt Int, type Text, duration_ms Int,
    status Int, error Text, outcome Text,
} };

/// A place in the list of events: everything up to it, and of its time, was sent or passed over. Pruning relies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub at: Timestamp,
    pub id: [u8; 16],
}

impl Place {
    /// After every event of this time.
    pub const fn after(at: Timestamp) -> Self {
        Self { at, id: [0xff; 16] }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    pub organization_id: OrganizationId,
    pub id: WebhookId,
    pub url: String,
    pub description: Option<String>,
    /// Names of types. `None` is all of them.
    pub types: Option<Vec<String>>,
    pub scopes: ScopeSet,
    pub is_enabled: bool,
    pub disabled_at: Option<Timestamp>,
    pub disabled_reason: Option<String>,
    pub created_at: Timestamp,
    pub created_by: String,
    pub cursor: Place,
    /// At the event whose turn it is.
    pub attempts: i64,
    /// Of them, how many of the last were refusals of the event itself.
    pub refusals: i64,
    /// Since when there was no 2xx.
    pub failing_since: Option<Timestamp>,
    /// The last 2xx.
    pub delivered_at: Option<Timestamp>,
    /// Not tried before.
    pub due_at: Timestamp,
    /// Counts the leases; the last one is the valid one.
    pub claim: i64,
}

record! { place_columns: Place { at = "w.cursor_at", id = "w.cursor_id" } }
record! { webhook_columns: Webhook, "w." {
    organization_id, id, url, description, types, scopes, is_enabled, disabled_at, disabled_reason, created_at,
    created_by, cursor = place_columns!(), attempts, refusals, failing_since, delivered_at, due_at, claim,
} }
pub(crate) use {place_columns, webhook_columns};

/// What deliveries are signed with, encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedSecret {
    pub number: i64,
    pub sealed: Vec<u8>,
    pub created_at: Timestamp,
    /// Of a secret that was rotated out.
    pub ends_at: Option<Timestamp>,
}

record! { secret_columns: SealedSecret { number, sealed, created_at, ends_at } }

/// One attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    pub at: Timestamp,
    pub event_id: EventId,
    pub attempt: i64,
    pub event_type: String,
    pub duration_ms: i64,
    /// `None` if there was no response.
    pub status: Option<u16>,
    pub error: Option<String>,
    pub outcome: Outcome,
}

record! { delivery_columns: Delivery {
    at, event_id, attempt, event_type = "type", duration_ms, status, error, outcome,
} }

/// The names of types as they are kept.
fn types_text(types: Option<&[String]>) -> Option<String> {
    types.map(|types| serde_json::Value::from(types.to_vec()).to_string())
}

pub fn get(tx: &mut Tx<'_>, organization: OrganizationId, id: WebhookId) -> Result<Option<Webhook>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            webhook_columns!(),
            " FROM webhooks w WHERE w.organization_id = ?1 AND w.id = ?2"
        ),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
        ],
        read,
    )
}

pub fn organization_of(tx: &mut Tx<'_>, id: WebhookId) -> Result<Option<OrganizationId>, DbError> {
    tx.first(
        "SELECT organization_id FROM webhooks WHERE id = ?1",
        &[Value::Bytes(&id.to_bytes())],
        read,
    )
}

/// Oldest first.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Webhook>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            webhook_columns!(),
            " FROM webhooks w WHERE w.organization_id = ?1 ORDER BY w.id"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

pub fn insert(tx: &mut Tx<'_>, webhook: &Webhook) -> Result<(), DbError> {
    let (organization, id) = (webhook.organization_id.to_bytes(), webhook.id.to_bytes());
    tx.execute(
        "INSERT INTO webhooks (organization_id, id, url, description, types, scopes, is_enabled, created_at, created_by, \
         cursor_at, cursor_id, attempts, refusals, due_at, leased_until, claim) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, ?7, ?8, ?9, ?10, 0, 0, ?7, 0, 0)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(&webhook.url),
            webhook.description.as_deref().into(),
            types_text(webhook.types.as_deref()).as_deref().into(),
            Value::Int(webhook.scopes.bits()),
            Value::Int(webhook.created_at.micros()),
            Value::Text(&webhook.created_by),
            Value::Int(webhook.cursor.at.micros()),
            Value::Bytes(&webhook.cursor.id),
        ],
    )
    .map(drop)
}

/// Stores where deliveries go and what is wanted. If either changes, what waits is tried at once: it waits for what failed
/// before. What was counted of the receiver at another address says nothing of the new one.
pub fn set(tx: &mut Tx<'_>, webhook: &Webhook, now: Timestamp) -> Result<(), DbError> {
    let (organization, id) = (webhook.organization_id.to_bytes(), webhook.id.to_bytes());
    let (key, at) = (
        [Value::Bytes(&organization), Value::Bytes(&id)],
        Value::Int(now.micros()),
    );
    let moved = tx.execute(
        "UPDATE webhooks SET attempts = 0, refusals = 0, failing_since = NULL, due_at = ?4 \
         WHERE organization_id = ?1 AND id = ?2 AND url <> ?3",
        &[key[0], key[1], Value::Text(&webhook.url), at],
    )?;
    if moved > 0 {
        tx.execute(
            "UPDATE webhook_extras SET attempts = 0, due_at = ?3 WHERE organization_id = ?1 AND webhook_id = ?2",
            &[key[0], key[1], at],
        )?;
    }
    tx.execute(
        "UPDATE webhooks SET due_at = CASE WHEN scopes = ?6 AND COALESCE(types, '') = COALESCE(?5, '') \
         THEN due_at ELSE ?7 END, url = ?3, description = ?4, types = ?5, \
         scopes = ?6 WHERE organization_id = ?1 AND id = ?2",
        &[
            key[0],
            key[1],
            Value::Text(&webhook.url),
            webhook.description.as_deref().into(),
            types_text(webhook.types.as_deref()).as_deref().into(),
            Value::Int(webhook.scopes.bits()),
            at,
        ],
    )
    .map(drop)
}

/// Keeps the cursor, and forgets what was to be sent out of turn.
pub fn disable(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: WebhookId,
    reason: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let key = [Value::Bytes(&organization), Value::Bytes(&id)];
    tx.execute(
        "UPDATE webhooks SET is_enabled = 0, disabled_at = ?3, disabled_reason = ?4 \
         WHERE organization_id = ?1 AND id = ?2",
        &[key[0], key[1], Value::Int(now.micros()), Value::Text(reason)],
    )?;
    tx.execute(
        "DELETE FROM webhook_extras WHERE organization_id = ?1 AND webhook_id = ?2",
        &key,
    )
    .map(drop)
}

/// Continues at this place, at once.
pub fn enable(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: WebhookId,
    cursor: Place,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE webhooks SET is_enabled = 1, disabled_at = NULL, disabled_reason = NULL, cursor_at = ?3, cursor_id = ?4, \
         attempts = 0, refusals = 0, failing_since = NULL, due_at = ?5 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
            Value::Int(cursor.at.micros()),
            Value::Bytes(&cursor.id),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// Goes on from this place, at once. An attempt that is under way does not move the cursor any more.
pub fn rewind(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: WebhookId,
    cursor: Place,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE webhooks SET cursor_at = ?3, cursor_id = ?4, attempts = 0, refusals = 0, due_at = ?5 \
         WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
            Value::Int(cursor.at.micros()),
            Value::Bytes(&cursor.id),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// With everything that belongs to it.
pub fn delete(tx: &mut Tx<'_>, organization: OrganizationId, id: WebhookId) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let key = [Value::Bytes(&organization), Value::Bytes(&id)];
    for sql in [
        "DELETE FROM webhooks WHERE organization_id = ?1 AND id = ?2",
        "DELETE FROM webhook_secrets WHERE organization_id = ?1 AND webhook_id = ?2",
        "DELETE FROM webhook_extras WHERE organization_id = ?1 AND webhook_id = ?2",
        "DELETE FROM webhook_deliveries WHERE organization_id = ?1 AND webhook_id = ?2",
    ] {
        tx.execute(sql, &key)?;
    }
    Ok(())
}

/// Those that sign now, the newest first.
pub fn secrets(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: WebhookId,
    now: Timestamp,
) -> Result<Vec<SealedSecret>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            secret_columns!(),
            " FROM webhook_secrets WHERE organization_id = ?1 AND webhook_id = ?2 \
             AND (ends_at IS NULL OR ends_at > ?3) ORDER BY number DESC"
        ),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
            Value::Int(now.micros()),
        ],
        read,
    )
}

/// Whether any organization has one.
pub fn has_secrets(tx: &mut Tx<'_>) -> Result<bool, DbError> {
    let found = tx.first("SELECT 1 FROM webhook_secrets LIMIT 1", &[], read::<i64>)?;
    Ok(found.is_some())
}

/// The newest secret. The one before ends at `end_other`; others are removed.
pub fn add_secret(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: WebhookId,
    sealed: &[u8],
    now: Timestamp,
    end_other: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let key = [Value::Bytes(&organization), Value::Bytes(&id)];
    tx.execute(
        "DELETE FROM webhook_secrets WHERE organization_id = ?1 AND webhook_id = ?2 AND ends_at IS NOT NULL",
        &key,
    )?;
    tx.execute(
        "INSERT INTO webhook_secrets (organization_id, webhook_id, number, sealed, created_at) \
         VALUES (?1, ?2, (SELECT COALESCE(MAX(number), 0) + 1 FROM webhook_secrets \
         WHERE organization_id = ?1 AND webhook_id = ?2), ?3, ?4)",
        &[key[0], key[1], Value::Bytes(sealed), Value::Int(now.micros())],
    )?;
    tx.execute(
        "UPDATE webhook_secrets SET ends_at = ?3 WHERE organization_id = ?1 AND webhook_id = ?2 AND number < \
         (SELECT MAX(number) FROM webhook_secrets WHERE organization_id = ?1 AND webhook_id = ?2)",
        &[key[0], key[1], Value::Int(end_other.micros())],
    )
    .map(drop)
}

/// How many events wait to be sent out of turn.
pub fn extras_count(tx: &mut Tx<'_>, organization: OrganizationId, id: WebhookId) -> Result<i64, DbError> {
    let count = tx.first(
        "SELECT COUNT(*) FROM webhook_extras WHERE organization_id = ?1 AND webhook_id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
        ],
        read,
    )?;
    Ok(count.unwrap_or(0))
}

/// Sends an event out of turn: the document for one that is not in the list of events. One that waits already is
/// tried at once.
pub fn add_extra(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: WebhookId,
    event: EventId,
    document: Option<&str>,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO webhook_extras (organization_id, webhook_id, event_id, document, created_at, attempts, due_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, 0, ?5) ON CONFLICT (organization_id, webhook_id, event_id) \
         DO UPDATE SET attempts = 0, due_at = excluded.due_at",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
            Value::Bytes(&event.to_bytes()),
            document.into(),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// The newest first.
pub fn deliveries(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: WebhookId,
    before: Option<Timestamp>,
    limit: i64,
) -> Result<Vec<Delivery>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            delivery_columns!(),
            " FROM webhook_deliveries WHERE organization_id = ?1 AND webhook_id = ?2 AND at < ?3 \
             ORDER BY at DESC, event_id DESC, attempt DESC LIMIT ?4"
        ),
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&id.to_bytes()),
            Value::Int(before.map_or(i64::MAX, Timestamp::micros)),
            Value::Int(limit),
        ],
        read,
    )
}

/// For tests that read query plans.
pub const PRUNE: &str = "DELETE FROM webhook_deliveries WHERE (organization_id, webhook_id, at, event_id, attempt) IN \
     (SELECT organization_id, webhook_id, at, event_id, attempt FROM webhook_deliveries WHERE at < ?1 \
     ORDER BY at LIMIT ?2)";

/// Removes deliveries from before a time and returns how many.
pub fn prune(tx: &mut Tx<'_>, before: Timestamp) -> Result<u64, DbError> {
    tx.execute(
        PRUNE,
        &[
            Value::Int(before.micros()),
            Value::Int(i64::try_from(PRUNE_ROWS_MAX).unwrap_or(i64::MAX)),
        ],
    )
}
