//! Pruning old rows, a thousand per transaction so that nobody waits for it.

use std::collections::BTreeMap;

use bursar_domain::Timestamp;

use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::rows::read;

/// Per transaction.
pub const PRUNE_ROWS_MAX: u64 = 1_000;
/// History outlives every cursor by an hour.
pub const HISTORY_SECONDS: i64 = 25 * 3600;

/// Removes versions that no walk can need any more and returns how many; fewer than a thousand means that none are
/// left. Records how far each organization's history is gone, so that a walk that needs more is refused
/// (`organizations::Reading`).
pub fn prune_history(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, DbError> {
    let (mut count, mut horizons) = (0, BTreeMap::new());
    tx.each(
        "DELETE FROM history WHERE (organization_id, list, updated_at, id) IN \
         (SELECT organization_id, list, updated_at, id FROM history WHERE superseded_at < ?1 ORDER BY superseded_at LIMIT ?2) \
         RETURNING organization_id, superseded_at",
        &[
            Value::Int(now.plus_seconds(-HISTORY_SECONDS).micros()),
            Value::Int(rows_max()),
        ],
        |row| {
            let (organization, superseded_at): ([u8; 16], i64) = read(row)?;
            let horizon = horizons.entry(organization).or_insert(superseded_at);
            *horizon = superseded_at.max(*horizon);
            count += 1;
            Ok(())
        },
    )?;
    for (organization, superseded_at) in horizons {
        tx.execute(
            "INSERT INTO history_horizons (organization_id, superseded_at) VALUES (?1, ?2) \
             ON CONFLICT (organization_id) DO UPDATE SET superseded_at = excluded.superseded_at \
             WHERE history_horizons.superseded_at < excluded.superseded_at",
            &[Value::Bytes(&organization), Value::Int(superseded_at)],
        )?;
    }
    Ok(count)
}

/// Returns how many were removed.
pub fn prune_idempotency(tx: &mut Tx<'_>, now: Timestamp, keep_seconds: i64) -> Result<u64, DbError> {
    tx.execute(
        "DELETE FROM idempotency WHERE (organization_id, principal, key) IN \
         (SELECT organization_id, principal, key FROM idempotency WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)",
        &[
            Value::Int(now.plus_seconds(-keep_seconds).micros()),
            Value::Int(rows_max()),
        ],
    )
}

fn rows_max() -> i64 {
    i64::try_from(PRUNE_ROWS_MAX).unwrap_or(i64::MAX)
}

/// On PostgreSQL, one replica at a time may, until its transaction ends.
pub fn may_keep_house(tx: &mut Tx<'_>) -> Result<bool, DbError> {
    match tx.kind() {
        EngineKind::Sqlite => Ok(true),
        EngineKind::Postgres => {
            let got = tx.first(
                "SELECT CASE WHEN pg_try_advisory_xact_lock(7094695) THEN 1 ELSE 0 END",
                &[],
                read,
            )?;
            Ok(got == Some(true))
        }
    }
}

/// What SQLite finds wrong with its file, one line each. A PostgreSQL server looks after its own files.
pub fn damage_of_file(tx: &mut Tx<'_>) -> Result<Vec<String>, DbError> {
    if tx.kind() == EngineKind::Postgres {
        return Ok(Vec::new());
    }
    let mut lines = tx.rows("PRAGMA quick_check(20)", &[], read)?;
    lines.retain(|line: &String| line != "ok");
    Ok(lines)
}

/// From this many rows on, a load changes what a planner should assume about a table.
pub const LARGE_LOAD_ROWS: u64 = 1_000;

/// Updates PostgreSQL's statistics after a large load: its planner would assume empty tables until autovacuum runs.
/// SQLite's plans do not depend on counts.
pub fn count_rows(tx: &mut Tx<'_>, tables: &[&'static str]) -> Result<(), DbError> {
    match tx.kind() {
        EngineKind::Postgres if !tables.is_empty() => tx.batch(&format!("ANALYZE {}", tables.join(", "))),
        EngineKind::Postgres | EngineKind::Sqlite => Ok(()),
    }
}

/// Waits until no other import runs, and keeps others out until the transaction ends: if two imports bring an id for
/// two organizations, the second must see it.
pub fn one_import_at_a_time(tx: &mut Tx<'_>) -> Result<(), DbError> {
    match tx.kind() {
        EngineKind::Sqlite => Ok(()),
        EngineKind::Postgres => tx
            .first(
                "SELECT CASE WHEN pg_advisory_xact_lock(7094696) IS NULL THEN 0 ELSE 1 END",
                &[],
                read::<i64>,
            )
            .map(drop),
    }
}
