//! Webhook endpoints: each is at a place that the list of events has or had, has what signs, and what names it exists.

use std::collections::HashMap;

use bursar_db::webhooks::checking::{self, KeptSecret};
use bursar_db::webhooks::{self, Place, Webhook};
use bursar_db::{DbError, Tx};
use bursar_domain::Timestamp;
use bursar_domain::access::{Scope, ScopeSet};
use bursar_domain::event::EventType;
use bursar_domain::ids::{OrganizationId, WebhookId};
use bursar_domain::sealed::{NONCE_BYTES, TAG_BYTES};
use bursar_domain::webhook::address::Target;
use bursar_domain::webhook::signing::SECRET_BYTES;

use super::Check;
use crate::webhooks::all_scopes;

/// Of a secret that is encrypted.
const SEALED_BYTES: usize = NONCE_BYTES + SECRET_BYTES + TAG_BYTES;

impl Check<'_> {
    pub(super) fn webhooks(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        clock: i64,
        horizon: i64,
    ) -> Result<(), DbError> {
        let all = webhooks::all(tx, organization);
        let mut secrets: HashMap<WebhookId, Vec<KeptSecret>> = HashMap::new();
        for secret in checking::secrets(tx, organization)? {
            secrets.entry(secret.webhook).or_default().push(secret);
        }
        for webhook in self.readable(organization, "webhooks", all) {
            self.done.rows += 1;
            let rules = [
                broken_rule(&webhook),
                broken_secrets(secrets.get(&webhook.id).map(Vec::as_slice).unwrap_or_default()),
                wrong_place(tx, &webhook, clock, horizon)?,
            ];
            for rule in rules.into_iter().flatten() {
                self.problem("rule", Some(organization), webhook.id, rule);
            }
        }
        for id in checking::leased_without_claim(tx, organization)? {
            let message = "is leased to a worker, and no worker has claimed it";
            self.problem("rule", Some(organization), id, message);
        }
        for id in checking::extras_of_disabled(tx, organization)? {
            let message = "is disabled, and events wait to be sent to it out of turn";
            self.problem("rule", Some(organization), id, message);
        }
        for (id, event) in checking::impossible_deliveries(tx, organization)? {
            let message = format!("has a delivery of {event} whose outcome, status and error do not fit");
            self.problem("rule", Some(organization), id, &message);
        }
        for (table, id) in checking::strays(tx, organization)? {
            let message = format!("{table} has rows of this endpoint, which does not exist");
            self.problem("reference", Some(organization), id, &message);
        }
        Ok(())
    }
}

fn broken_rule(webhook: &Webhook) -> Option<&'static str> {
    let may_have = all_scopes().or(ScopeSet::of(&[Scope::EventsRead]));
    let is_said_disabled = [webhook.disabled_at.is_some(), webhook.disabled_reason.is_some()];
    let is_unknown =
        |types: &Vec<String>| types.is_empty() || types.iter().any(|name| EventType::parse(name).is_none());
    if Target::parse(&webhook.url).is_err() {
        Some("has a URL that nothing can be delivered to")
    } else if webhook.types.as_ref().is_some_and(is_unknown) {
        Some("asks for types of events that do not exist, or for none")
    } else if webhook.scopes.and(all_scopes()).is_empty() || !webhook.scopes.without(may_have).is_empty() {
        Some("must have read scopes of resources with events, and no others")
    } else if is_said_disabled != [!webhook.is_enabled; 2] {
        Some("is enabled with a time or reason of being disabled, or disabled without one")
    } else if webhook.refusals > webhook.attempts {
        Some("counts more refusals of its next event than attempts")
    } else {
        None
    }
}

/// The oldest comes first. One that was rotated out ends, and one before it is removed.
fn broken_secrets(secrets: &[KeptSecret]) -> Option<&'static str> {
    let is_sealed = |secret: &KeptSecret| usize::try_from(secret.sealed_bytes) == Ok(SEALED_BYTES);
    let ends: Vec<Option<Timestamp>> = secrets.iter().map(|secret| secret.ends_at).collect();
    match ends.as_slice() {
        _ if !secrets.iter().all(is_sealed) => Some("has a secret that is not encrypted"),
        [None] | [Some(_), None] => None,
        _ => Some("must have one secret, and at most one more that ends"),
    }
}

/// A cursor is at an event that was delivered or passed over, or after everything of a time. Events up to the horizon are
/// gone.
fn wrong_place(
    tx: &mut Tx<'_>,
    webhook: &Webhook,
    clock: i64,
    horizon: i64,
) -> Result<Option<&'static str>, DbError> {
    let cursor = webhook.cursor;
    let at = cursor.at.micros();
    Ok(if at > clock {
        Some("its place in the list of events is after the change clock")
    } else if webhook.is_enabled && at < horizon {
        Some("is enabled, and events after its place were pruned")
    } else if at > horizon
        && cursor != Place::after(cursor.at)
        && !checking::has_event(tx, webhook.organization_id, cursor)?
    {
        Some("its place is at an event that does not exist")
    } else {
        None
    })
}
