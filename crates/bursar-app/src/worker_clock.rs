//! What the database knows about the time, to judge whether this machine's clock can be trusted.

use bursar_db::{inspect, worker_clock};
use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;

use crate::act::Whole;
use crate::error::AppError;
use crate::rule::Rule;

pub use bursar_db::worker_clock::{Known, Seen};

pub const KNOWN: Rule = Rule::of_operator("clock.known", "see what the clocks say").or_worker();
pub const TRUST: Rule = Rule::of_operator("clock.trust", "say that a clock is right").or_worker();
pub const RULES: &[&Rule] = &[&KNOWN, &TRUST];

pub fn known(whole: &mut Whole<'_, '_>) -> Result<Known, AppError> {
    whole.allow(&KNOWN)?;
    Ok(worker_clock::known(whole.tx)?)
}

/// Records a time that is trusted.
pub fn trust(whole: &mut Whole<'_, '_>, seen: Seen) -> Result<(), AppError> {
    whole.allow(&TRUST)?;
    Ok(worker_clock::saw(whole.tx, seen)?)
}

/// The organization whose change clock is furthest ahead.
pub fn furthest_change(whole: &mut Whole<'_, '_>) -> Result<Option<(OrganizationId, Timestamp)>, AppError> {
    whole.allow(&KNOWN)?;
    Ok(inspect::furthest_clock(whole.tx)?)
}
