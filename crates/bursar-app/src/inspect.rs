//! The database itself: the engine, its settings, and damage to its file.

use bursar_db::{housekeeping, inspect};

use crate::act::Whole;
use crate::error::AppError;
use crate::rule::Rule;

pub use bursar_db::inspect::{EngineFacts, ServerFacts};

pub const INSPECT: Rule = Rule::of_operator("database.inspect", "look at the database itself");
pub const RULES: &[&Rule] = &[&INSPECT];

pub fn engine(whole: &mut Whole<'_, '_>) -> Result<EngineFacts, AppError> {
    whole.allow(&INSPECT)?;
    Ok(inspect::engine(whole.tx)?)
}

/// Damage to the SQLite file, one line each.
pub fn damage(whole: &mut Whole<'_, '_>) -> Result<Vec<String>, AppError> {
    whole.allow(&INSPECT)?;
    Ok(housekeeping::damage_of_file(whole.tx)?)
}
