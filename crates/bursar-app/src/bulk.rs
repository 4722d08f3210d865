//! Acts on many rows, recorded so that they can be undone.

use bursar_db::bulk::{self, BulkAct, Subject};
use bursar_domain::ids::BulkId;
use bursar_domain::payment::Payment;

use crate::act::Act;
use crate::error::AppError;
use crate::rule::Rule;

/// Records what a bulk act changed, and logs it.
pub(crate) fn note(act: &mut Act<'_, '_>, rule: &Rule, subjects: &[Subject]) -> Result<BulkId, AppError> {
    let id = act.new_id();
    extend(act, rule, id, subjects)?;
    Ok(id)
}

/// The same, for an act that may have begun in an earlier transaction.
pub(crate) fn extend(
    act: &mut Act<'_, '_>,
    rule: &Rule,
    id: BulkId,
    subjects: &[Subject],
) -> Result<(), AppError> {
    add(act, rule, id, subjects)?;
    act.log(
        rule.name,
        Some(id.to_string()),
        i64::try_from(subjects.len()).ok(),
    )
}

/// Adds what followed from a bulk act and is undone with it, without another line in the log.
pub(crate) fn add(
    act: &mut Act<'_, '_>,
    rule: &Rule,
    id: BulkId,
    subjects: &[Subject],
) -> Result<(), AppError> {
    let bulk = BulkAct {
        organization: act.organization,
        id,
        kind: rule.name.to_owned(),
        at: act.now(),
        undone_at: None,
    };
    Ok(bulk::insert(act.tx, &bulk, subjects)?)
}

/// A payment that a bulk act raised.
pub(crate) fn raised(payment: &Payment) -> Subject {
    Subject {
        id: payment.id.to_bytes(),
        other: None,
        updated_at: payment.stamps.updated_at,
        previous: None,
    }
}

#[derive(Clone, Debug, Default)]
pub struct Undone {
    pub reversed: Vec<String>,
    /// What was left as it is, by id, and why.
    pub left: Vec<(String, String)>,
}
