//! Work that waits for a worker, and messages that were given up, in all organizations.

use bursar_db::inspect;
use bursar_domain::Timestamp;
use bursar_domain::message::Queue;

use crate::act::Whole;
use crate::error::AppError;
use crate::rule::Rule;

pub use bursar_db::inspect::Waiting;

pub const REPORT: Rule = Rule::of_operator("worker.report", "see what waits for a worker");
pub const MEASURE: Rule = Rule::of_worker("worker.measure", "measure the queues");
pub const RULES: &[&Rule] = &[&REPORT, &MEASURE];

#[derive(Clone, Copy, Debug)]
pub struct Report {
    pub waiting: Waiting,
    pub failed: i64,
    /// How many tokens expire, and when the first does.
    pub expiring: (i64, Option<Timestamp>),
}

/// What is due, what was given up in the last `failed_days`, and what expires in the next `expiring_days`.
pub fn report(whole: &mut Whole<'_, '_>, failed_days: i64, expiring_days: i64) -> Result<Report, AppError> {
    whole.allow(&REPORT)?;
    let now = whole.now();
    Ok(Report {
        waiting: inspect::waiting(whole.tx, now)?,
        failed: inspect::failed(whole.tx, now.plus_days(-failed_days))?,
        expiring: inspect::expiring(whole.tx, now, now.plus_days(expiring_days))?,
    })
}

/// In the order of [`Queue::ALL`].
pub fn measure(whole: &mut Whole<'_, '_>) -> Result<Vec<(Queue, Waiting)>, AppError> {
    whole.allow(&MEASURE)?;
    let now = whole.now();
    let mut queues = Vec::new();
    for queue in Queue::ALL {
        queues.push((*queue, inspect::queue(whole.tx, *queue, now)?));
    }
    Ok(queues)
}
