//! Pruning old rows, a thousand per transaction so that nobody waits for it.

use std::sync::LazyLock;

use bursar_domain::Timestamp;
use bursar_domain::ids::OrganizationId;

use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::resources::TABLES;
use crate::rows::read;

/// Per transaction.
pub const PRUNE_ROWS_MAX: u64 = 1_000;
/// History outlives every cursor by an hour.
pub const HISTORY_SECONDS: i64 = 25 * 3600;

/// Organizations that have versions from before a time: such a version is in an epoch that began before it. For tests
/// that read query plans.
pub static WITH_OLD_HISTORY: LazyLock<String> = LazyLock::new(|| {
    let lists: Vec<String> = TABLES.iter().map(|table| format!("({})", table.list)).collect();
    format!(
        "SELECT o.id FROM organizations o WHERE EXISTS (SELECT 1 FROM (VALUES {}) AS lists WHERE \
         (SELECT 1 FROM history h WHERE h.organization_id = o.id AND h.list = lists.column1 AND h.epoch <= ?1 \
         AND h.superseded_at < ?1 LIMIT 1) = 1) ORDER BY o.id",
        lists.join(", ")
    )
});
/// For tests that read query plans.
pub const PRUNE_HISTORY: &str = "DELETE FROM history WHERE (organization_id, list, updated_at, id) IN \
     (SELECT organization_id, list, updated_at, id FROM history WHERE organization_id = ?1 AND list = ?2 \
     AND epoch <= ?3 AND superseded_at < ?3 ORDER BY epoch LIMIT ?4) RETURNING superseded_at";

/// Organizations with versions that no walk can need any more.
pub fn with_old_history(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<OrganizationId>, DbError> {
    let before = now.plus_seconds(-HISTORY_SECONDS).micros();
    tx.rows(&WITH_OLD_HISTORY, &[Value::Int(before)], read)
}

/// Removes versions of an organization that no walk can need any more and returns how many; fewer than a thousand
/// means that none are left. Records how far its history is gone, so that a walk that needs more is refused
/// (`organizations::Reading`).
pub fn prune_history(tx: &mut Tx<'_>, organization: OrganizationId, now: Timestamp) -> Result<u64, DbError> {
    let before = now.plus_seconds(-HISTORY_SECONDS).micros();
    let organization = organization.to_bytes();
    let (mut removed, mut newest) = (0, i64::MIN);
    for table in TABLES {
        tx.each(
            PRUNE_HISTORY,
            &[
                Value::Bytes(&organization),
                Value::Int(table.list),
                Value::Int(before),
                Value::Int(rows_max() - i64::try_from(removed).unwrap_or(i64::MAX)),
            ],
            |row| {
                newest = newest.max(row.int(0)?);
                removed += 1;
                Ok(())
            },
        )?;
    }
    if removed > 0 {
        tx.execute(
            "INSERT INTO history_horizons (organization_id, superseded_at) VALUES (?1, ?2) \
             ON CONFLICT (organization_id) DO UPDATE SET superseded_at = excluded.superseded_at \
             WHERE history_horizons.superseded_at < excluded.superseded_at",
            &[Value::Bytes(&organization), Value::Int(newest)],
        )?;
    }
    Ok(removed)
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
