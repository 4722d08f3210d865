//! The tests of the database layer: one program, on both engines.

// Marked as tests so that the lints' exceptions for tests hold for their helpers too.
#[cfg(test)]
mod books_plans;
#[cfg(test)]
mod charge_plans;
#[cfg(test)]
mod desk_plans;
#[cfg(test)]
mod due_plans;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod explain;
#[cfg(test)]
mod idempotency;
#[cfg(test)]
mod journal;
#[cfg(test)]
mod migration;
#[cfg(test)]
mod online_plans;
#[cfg(test)]
mod plans;
#[cfg(test)]
mod report_plans;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod schema;
#[cfg(test)]
mod series;
#[cfg(test)]
mod shape;
#[cfg(test)]
mod walk;
#[cfg(test)]
mod webhook_plans;
