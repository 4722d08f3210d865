//! An endpoint and its deliveries as people and programs see them: everything but the secret, which is shown once.

use bursar_db::webhooks::{self, SealedSecret, Webhook};
use bursar_db::{DbError, Tx};
use bursar_domain::access::ScopeSet;
use bursar_domain::ids::{EventId, OrganizationId, WebhookId};
use bursar_domain::webhook::outcome::Outcome;
use bursar_domain::{Timestamp, words};
use serde::Serialize;

words! {
    /// Whether events are delivered.
    State {
        Enabled "enabled",
        Disabled "disabled",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub id: WebhookId,
    pub organization_id: OrganizationId,
    pub url: String,
    pub description: Option<String>,
    pub state: State,
    pub disabled_at: Option<Timestamp>,
    pub disabled_reason: Option<String>,
    /// `null` is every type.
    pub types: Option<Vec<String>>,
    pub scopes: ScopeSet,
    pub created_at: Timestamp,
    /// A user's id, or `operator`.
    pub created_by: String,
    /// Events up to this time were delivered or passed over.
    pub cursor_at: Timestamp,
    /// Attempts at the event whose turn it is.
    pub attempts: i64,
    /// Since when there was no 2xx.
    pub failing_since: Option<Timestamp>,
    /// While it fails.
    pub next_attempt_at: Option<Timestamp>,
    pub last_delivered_at: Option<Timestamp>,
    /// What signs now, the newest first.
    pub secrets: Vec<SecretRecord>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretRecord {
    pub created_at: Timestamp,
    /// Of a secret that was rotated out: until then it signs too.
    pub ends_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    pub event_id: EventId,
    #[serde(rename = "type")]
    pub event_type: String,
    pub attempt: i64,
    pub at: Timestamp,
    pub duration_ms: i64,
    pub status: Option<u16>,
    pub error: Option<String>,
    pub outcome: Outcome,
}

impl From<webhooks::Delivery> for Delivery {
    fn from(delivery: webhooks::Delivery) -> Self {
        Self {
            event_id: delivery.event_id,
            event_type: delivery.event_type,
            attempt: delivery.attempt,
            at: delivery.at,
            duration_ms: delivery.duration_ms,
            status: delivery.status,
            error: delivery.error,
            outcome: delivery.outcome,
        }
    }
}

pub(super) fn of(tx: &mut Tx<'_>, webhook: Webhook, now: Timestamp) -> Result<Record, DbError> {
    let secrets = webhooks::secrets(tx, webhook.organization_id, webhook.id, now)?;
    let is_waiting = webhook.is_enabled && webhook.attempts > 0;
    Ok(Record {
        id: webhook.id,
        organization_id: webhook.organization_id,
        url: webhook.url,
        description: webhook.description,
        state: if webhook.is_enabled {
            State::Enabled
        } else {
            State::Disabled
        },
        disabled_at: webhook.disabled_at,
        disabled_reason: webhook.disabled_reason,
        types: webhook.types,
        scopes: webhook.scopes,
        created_at: webhook.created_at,
        created_by: webhook.created_by,
        cursor_at: webhook.cursor.at,
        attempts: webhook.attempts,
        failing_since: webhook.failing_since,
        next_attempt_at: is_waiting.then_some(webhook.due_at),
        last_delivered_at: webhook.delivered_at,
        secrets: secrets.into_iter().map(SecretRecord::from).collect(),
    })
}

impl From<SealedSecret> for SecretRecord {
    fn from(secret: SealedSecret) -> Self {
        Self {
            created_at: secret.created_at,
            ends_at: secret.ends_at,
        }
    }
}
