//! Prunes history, events, deliveries, idempotency records, message texts, sessions and uploads when their time ends.

use bursar_db::{ceremonies, events, housekeeping, member_access, messages, sign_in, uploads, webhooks};
use bursar_domain::ids::OrganizationId;

use crate::act::{Act, Whole};
use crate::error::AppError;
use crate::rule::Rule;

pub const PRUNE: Rule = Rule::of_worker("housekeeping.prune", "delete expired data");
pub const RULES: &[&Rule] = &[&PRUNE];

/// Attempts to deliver events are kept this long.
pub const DELIVERY_DAYS: i64 = 30;

#[derive(Clone, Copy, Debug)]
pub struct Retention {
    pub idempotency_seconds: i64,
    /// For the address and text of messages that have ended.
    pub message_seconds: i64,
    pub event_seconds: i64,
}

/// Prunes a bounded number of rows, but for history and events. Returns whether there may be more. On PostgreSQL one replica at a time does it.
pub fn prune(whole: &mut Whole<'_, '_>, retention: Retention) -> Result<bool, AppError> {
    whole.allow(&PRUNE)?;
    let now = whole.now();
    if !housekeeping::may_keep_house(whole.tx)? {
        return Ok(false);
    }
    let rows = [
        webhooks::prune(whole.tx, now.plus_days(-DELIVERY_DAYS))?,
        housekeeping::prune_idempotency(whole.tx, now, retention.idempotency_seconds)?,
        sign_in::prune(whole.tx, now)?,
        member_access::prune(whole.tx, now)?,
        uploads::prune(whole.tx, now.plus_seconds(-crate::uploads::KEPT_SECONDS))?,
        ceremonies::prune(whole.tx, now)?,
        messages::forget(whole.tx, now.plus_seconds(-retention.message_seconds))?,
    ];
    Ok(may_be_more(&rows))
}

/// Organizations with history or events to prune.
pub fn prunable(whole: &mut Whole<'_, '_>, retention: Retention) -> Result<Vec<OrganizationId>, AppError> {
    whole.allow(&PRUNE)?;
    let now = whole.now();
    let mut found = housekeeping::with_old_history(whole.tx, now)?;
    found.extend(events::with_old_events(
        whole.tx,
        now.plus_seconds(-retention.event_seconds),
    )?);
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Prunes a bounded number of versions and events of an organization. Returns whether there may be more.
pub fn prune_organization(act: &mut Act<'_, '_>, retention: Retention) -> Result<bool, AppError> {
    act.allow(&PRUNE)?;
    let (now, organization) = (act.now(), act.organization);
    let rows = [
        housekeeping::prune_history(act.tx, organization, now)?,
        events::prune(act.tx, organization, now.plus_seconds(-retention.event_seconds))?,
    ];
    Ok(may_be_more(&rows))
}

fn may_be_more(rows: &[u64]) -> bool {
    rows.iter().any(|count| *count >= housekeeping::PRUNE_ROWS_MAX)
}
