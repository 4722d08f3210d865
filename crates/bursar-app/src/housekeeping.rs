//! Prunes history, events, deliveries, idempotency records, message texts, sessions and uploads when their time ends.

use bursar_db::{ceremonies, events, housekeeping, member_access, messages, sign_in, uploads, webhooks};

use crate::act::Whole;
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

/// Prunes a bounded number of rows. Returns whether there may be more. On PostgreSQL one replica at a time does it.
pub fn prune(whole: &mut Whole<'_, '_>, retention: Retention) -> Result<bool, AppError> {
    whole.allow(&PRUNE)?;
    let now = whole.now();
    if !housekeeping::may_keep_house(whole.tx)? {
        return Ok(false);
    }
    let rows = [
        housekeeping::prune_history(whole.tx, now)?,
        events::prune(whole.tx, now.plus_seconds(-retention.event_seconds))?,
        webhooks::prune(whole.tx, now.plus_days(-DELIVERY_DAYS))?,
        housekeeping::prune_idempotency(whole.tx, now, retention.idempotency_seconds)?,
        sign_in::prune(whole.tx, now)?,
        member_access::prune(whole.tx, now)?,
        uploads::prune(whole.tx, now.plus_seconds(-crate::uploads::KEPT_SECONDS))?,
        ceremonies::prune(whole.tx, now)?,
        messages::forget(whole.tx, now.plus_seconds(-retention.message_seconds))?,
    ];
    Ok(rows
        .into_iter()
        .any(|count| count >= housekeeping::PRUNE_ROWS_MAX))
}
