//! A look at the database itself: the engine, how it is set up, and whether its file is whole.

use bursar_db::{housekeeping, inspect};

use crate::act::Whole;
use crate::error::AppError;
use crate::rule::Rule;

pub use bursar_db::inspect::{EngineFacts, ServerFacts};

/// Looking at the database itself.
pub const INSPECT: Rule = Rule::of_operator("database.inspect", "look at the database itself");
/// The rules of this look.
pub const RULES: &[&Rule] = &[&INSPECT];

/// The engine, as it is set up.
pub fn engine(whole: &mut Whole<'_, '_>) -> Result<EngineFacts, AppError> {
    whole.allow(&INSPECT)?;
    Ok(inspect::engine(whole.tx)?)
}

/// What is wrong with the file of the embedded database, a line each.
pub fn damage(whole: &mut Whole<'_, '_>) -> Result<Vec<String>, AppError> {
    whole.allow(&INSPECT)?;
    Ok(housekeeping::damage_of_file(whole.tx)?)
}
