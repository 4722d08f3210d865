//! Migrates the schema, step by step.

use std::cmp::Ordering;

use super::fault::Fault;
use super::lane::{Session, Way};
use super::shape::{self, Shape};
use super::tx::Tx;
use super::{EngineKind, Opening};
use crate::error::DbError;
use crate::schema;

/// "burs".
pub(super) const APPLICATION_ID: i64 = 0x6275_7273;

/// Taken exclusively for a step. The number is arbitrary, but the same in every version of this program.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7094703281)";
/// Taken for every write, so that no step is applied during one.
pub(super) const SHARED_LOCK: &str = "SELECT pg_advisory_xact_lock_shared(7094703281)";

pub(super) const VERSION: &str = "SELECT version FROM bursar_schema";

pub(super) const VERSION_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS bursar_schema (version BIGINT NOT NULL) PLAIN";

/// Applies the missing steps, or refuses the database. Applies nothing if parts of earlier steps are missing.
pub(super) fn migrate(
    session: &mut impl Session,
    steps: &'static [&'static str],
    opening: Opening,
) -> Result<(), DbError> {
    let mut examined = examine(&mut session.tx(), steps);
    if matches!(examined, Err(DbError::SchemaOlder { .. })) && opening == Opening::Migrate {
        while apply_next(session, steps)? {}
        examined = examine(&mut session.tx(), steps);
    }
    examined.map(drop)
}

/// Returns false if none is missing.
fn apply_next(session: &mut impl Session, steps: &'static [&'static str]) -> Result<bool, DbError> {
    session.begin(false, Way::Careful).map_err(|fault| fault.error)?;
    let applied = next_step(&mut session.tx(), steps).and_then(|applied| {
        let committed = session.commit().map_err(|fault: Fault| fault.error);
        committed.map(|()| applied)
    });
    if applied.is_err() {
        session.rollback();
    }
    applied
}

/// Compares the database with what these steps make: first the version, then tables, columns, indexes and rules.
/// Returns what it has besides.
pub(super) fn examine(tx: &mut Tx<'_>, steps: &[&'static str]) -> Result<Vec<String>, DbError> {
    let wanted = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    if !has_schema(tx)? {
        return Err(DbError::SchemaOlder { found: 0, wanted });
    }
    let (found, shape) = Shape::read(tx)?;
    // A newer schema may have any shape.
    if found > wanted {
        return Err(DbError::SchemaNewer { found, known: wanted });
    }
    let applied = usize::try_from(found).unwrap_or(0).min(steps.len());
    let known = Shape::expected(&steps[..applied], tx.kind())?;
    shape::damage(&shape.lacks(&known))?;
    if found < wanted {
        return Err(DbError::SchemaOlder { found, wanted });
    }
    Ok(shape.beside(&known))
}

/// Refuses a database whose schema version has changed since it was opened.
pub(super) fn require_version(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let found = match tx.first(VERSION, &[], |row| row.int(0)) {
        Ok(found) => found.unwrap_or(0),
        Err(error) => match has_schema(tx) {
            Ok(false) => 0,
            _ => return Err(error),
        },
    };
    compare_version(found)
}

pub(super) fn compare_version(found: i64) -> Result<(), DbError> {
    let known = crate::schema_version();
    match found.cmp(&known) {
        Ordering::Equal => Ok(()),
        Ordering::Less => Err(DbError::SchemaOlder { found, wanted: known }),
        Ordering::Greater => Err(DbError::SchemaNewer { found, known }),
    }
}

/// 0 if there is no schema.
pub(super) fn version(tx: &mut Tx<'_>) -> Result<i64, DbError> {
    if !has_schema(tx)? {
        return Ok(0);
    }
    Ok(tx.first(VERSION, &[], |row| row.int(0))?.unwrap_or(0))
}

pub(super) fn has_schema(tx: &mut Tx<'_>) -> Result<bool, DbError> {
    let exists = match tx.kind() {
        EngineKind::Sqlite => "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'bursar_schema'",
        EngineKind::Postgres => {
            "SELECT COUNT(*) FROM pg_catalog.pg_tables \
             WHERE schemaname = current_schema() AND tablename = 'bursar_schema'"
        }
    };
    Ok(tx.first(exists, &[], |row| row.int(0))?.unwrap_or(0) > 0)
}

/// Reads the version again under the lock: another process may have been first. Returns false if no step is missing.
fn next_step(tx: &mut Tx<'_>, steps: &[&'static str]) -> Result<bool, DbError> {
    if tx.kind() == EngineKind::Postgres {
        tx.batch(LOCK)?;
    }
    let found = version(tx)?;
    let Some(step) = usize::try_from(found).ok().and_then(|index| steps.get(index)) else {
        return Ok(false);
    };
    if found == 0 {
        if tx.kind() == EngineKind::Sqlite {
            tx.batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))?;
        }
        tx.batch(VERSION_TABLE)?;
        tx.batch("DELETE FROM bursar_schema; INSERT INTO bursar_schema (version) VALUES (0)")?;
    }
    for statement in schema::statements(step, tx.kind()) {
        tx.batch(statement)
            .map_err(|error| rows_in_the_way(error, found, statement))?;
    }
    schema::finish(tx, step)?;
    tx.execute("UPDATE bursar_schema SET version = ?1", &[(found + 1).into()])?;
    tracing::info!(version = found + 1, "the database schema was migrated");
    Ok(true)
}

/// For a new rule that existing rows break: names the rule and how to find the rows.
fn rows_in_the_way(error: DbError, found: i64, statement: &str) -> DbError {
    let DbError::Constraint(_) = error else {
        return error;
    };
    let statement: Vec<&str> = statement.split_whitespace().collect();
    DbError::Constraint(format!(
        "rows break a rule of schema version {}: {} Nothing was changed. Find them with `bursar check` of the program that \
         works with version {found} (kinds `row` and `rule`), fix them, and start again",
        found + 1,
        statement.join(" ")
    ))
}
