//! What checks read of endpoints: rows that contradict themselves or one another.

use bursar_domain::Timestamp;
use bursar_domain::ids::{EventId, OrganizationId, WebhookId};

use super::Place;
use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

/// Rows that one statement reports.
const REPORTED_MAX: i64 = 1_000;

/// A secret without what it hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptSecret {
    pub webhook: WebhookId,
    pub sealed_bytes: i64,
    pub ends_at: Option<Timestamp>,
}

record! { kept_columns: KeptSecret {
    webhook = "webhook_id", sealed_bytes = "CAST(length(sealed) AS BIGINT)", ends_at,
} }

/// Those that ended too, of each endpoint the oldest first.
pub fn secrets(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<KeptSecret>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            kept_columns!(),
            " FROM webhook_secrets WHERE organization_id = ?1 ORDER BY webhook_id, number"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Whether there is an event at this place.
pub fn has_event(tx: &mut Tx<'_>, organization: OrganizationId, place: Place) -> Result<bool, DbError> {
    let found = tx.first(
        "SELECT 1 FROM events WHERE organization_id = ?1 AND created_at = ?2 AND id = ?3",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Int(place.at.micros()),
            Value::Bytes(&place.id),
        ],
        read::<i64>,
    )?;
    Ok(found.is_some())
}

macro_rules! stray {
    ($table:literal) => {
        concat!(
            "SELECT DISTINCT t.webhook_id FROM ",
            $table,
            " t WHERE t.organization_id = ?1 AND NOT EXISTS (SELECT 1 FROM webhooks w \
             WHERE w.organization_id = t.organization_id AND w.id = t.webhook_id) ORDER BY t.webhook_id LIMIT ?2"
        )
    };
}

/// Endpoints that do not exist, each with the table that names it.
pub fn strays(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(&'static str, WebhookId)>, DbError> {
    let (mut found, organization) = (Vec::new(), organization.to_bytes());
    for (table, sql) in [
        ("webhook_secrets", stray!("webhook_secrets")),
        ("webhook_extras", stray!("webhook_extras")),
        ("webhook_deliveries", stray!("webhook_deliveries")),
    ] {
        let parameters = [Value::Bytes(&organization), Value::Int(REPORTED_MAX)];
        let ids: Vec<WebhookId> = tx.rows(sql, &parameters, read)?;
        found.extend(ids.into_iter().map(|id| (table, id)));
    }
    Ok(found)
}

/// Endpoints that are leased and were never claimed. A lease counts its claim first.
pub fn leased_without_claim(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<WebhookId>, DbError> {
    tx.rows(
        "SELECT id FROM webhooks WHERE organization_id = ?1 AND (claim < 0 OR leased_until < 0 \
         OR (leased_until > 0 AND claim = 0)) ORDER BY id LIMIT ?2",
        &[Value::Bytes(&organization.to_bytes()), Value::Int(REPORTED_MAX)],
        read,
    )
}

/// Events waiting to be sent out of turn to an endpoint that is disabled, which forgets them.
pub fn extras_of_disabled(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<WebhookId>, DbError> {
    tx.rows(
        "SELECT w.id FROM webhooks w WHERE w.organization_id = ?1 AND w.is_enabled = 0 AND EXISTS \
         (SELECT 1 FROM webhook_extras x WHERE x.organization_id = w.organization_id AND x.webhook_id = w.id) \
         ORDER BY w.id LIMIT ?2",
        &[Value::Bytes(&organization.to_bytes()), Value::Int(REPORTED_MAX)],
        read,
    )
}

/// Deliveries that no attempt leaves: an outcome that is none or that the status contradicts, neither a status nor an
/// error, or no attempt.
pub fn impossible_deliveries(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(WebhookId, EventId)>, DbError> {
    tx.rows(
        "SELECT webhook_id, event_id FROM webhook_deliveries WHERE organization_id = ?1 AND (attempt < 1 \
         OR outcome NOT IN ('delivered', 'retried', 'failed') OR (status IS NULL AND error IS NULL) \
         OR (CASE WHEN status BETWEEN 200 AND 299 THEN 1 ELSE 0 END) <> \
         (CASE WHEN outcome = 'delivered' THEN 1 ELSE 0 END)) ORDER BY webhook_id, at LIMIT ?2",
        &[Value::Bytes(&organization.to_bytes()), Value::Int(REPORTED_MAX)],
        read,
    )
}
