//! What an operator can see of a database besides its data: engine, settings, clocks and waiting work.

use bursar_domain::ids::OrganizationId;
use bursar_domain::message::Queue;
use bursar_domain::reminder::Method;
use bursar_domain::time::DAY_MICROS;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Timestamp};

use crate::engine::{EngineKind, Tx, Value, way_to_right};
use crate::error::DbError;
use crate::rows::{FromColumns, read};
use crate::tables::EVERY_TABLE;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineFacts {
    Sqlite { version: String, journal_mode: String },
    Postgres(ServerFacts),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerFacts {
    pub version: String,
    /// By the server's clock.
    pub now: Timestamp,
    /// For everybody together, without those reserved for superusers.
    pub connections_max: i64,
    pub connections_of_others: i64,
    pub encoding: String,
    pub collation: String,
    /// Whether texts are in the order of C.
    pub sorts_by_bytes: bool,
    pub is_standby: bool,
    /// Our tables that the user may not read and write.
    pub withheld: Option<Withheld>,
    /// Settings that can lose acknowledged writes or more: `fsync = off`.
    pub unsafe_settings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    pub tables: Vec<String>,
    /// What an administrator does.
    pub advice: String,
}

pub fn engine(tx: &mut Tx<'_>) -> Result<EngineFacts, DbError> {
    match tx.kind() {
        EngineKind::Sqlite => Ok(EngineFacts::Sqlite {
            version: one(tx, "SELECT sqlite_version()")?,
            journal_mode: one(tx, "PRAGMA journal_mode")?,
        }),
        EngineKind::Postgres => server(tx).map(EngineFacts::Postgres),
    }
}

fn server(tx: &mut Tx<'_>) -> Result<ServerFacts, DbError> {
    let unsafe_settings = tx.rows(
        "SELECT name || ' = ' || setting FROM pg_settings WHERE setting = 'off' \
         AND name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name",
        &[],
        read,
    )?;
    let is_standby = "SELECT CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END";
    Ok(ServerFacts {
        version: one(tx, "SELECT current_setting('server_version')")?,
        now: server_now(tx)?,
        connections_max: one(
            tx,
            "SELECT CAST(current_setting('max_connections') AS BIGINT) \
             - CAST(current_setting('superuser_reserved_connections') AS BIGINT)",
        )?,
        connections_of_others: one(
            tx,
            "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        )?,
        encoding: one(tx, "SELECT current_setting('server_encoding')")?,
        sorts_by_bytes: one(tx, "SELECT CASE WHEN 'B' < 'a' THEN 1 ELSE 0 END")?,
        collation: one(
            tx,
            "SELECT CAST(datcollate AS TEXT) FROM pg_database WHERE datname = current_database()",
        )?,
        is_standby: one(tx, is_standby)?,
        withheld: withheld(tx)?,
        unsafe_settings,
    })
}

fn withheld(tx: &mut Tx<'_>) -> Result<Option<Withheld>, DbError> {
    let mut tables: Vec<String> = tx.rows(
        "SELECT CAST(relname AS TEXT) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
         WHERE nspname = current_schema() AND relkind = 'r' AND NOT (has_table_privilege(pg_class.oid, 'SELECT') \
         AND has_table_privilege(pg_class.oid, 'INSERT') AND has_table_privilege(pg_class.oid, 'UPDATE') \
         AND has_table_privilege(pg_class.oid, 'DELETE')) ORDER BY relname",
        &[],
        read,
    )?;
    tables.retain(|name| EVERY_TABLE.iter().any(|table| table.table == name));
    let first = tables.first();
    let advice = first.map(|first| way_to_right(&format!("permission denied for table {first}")));
    Ok(advice.map(|advice| Withheld { tables, advice }))
}

pub(crate) fn server_now(tx: &mut Tx<'_>) -> Result<Timestamp, DbError> {
    one(
        tx,
        "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
    )
}

pub fn furthest_clock(tx: &mut Tx<'_>) -> Result<Option<(OrganizationId, Timestamp)>, DbError> {
    tx.first(
        "SELECT id, clock FROM organizations ORDER BY clock DESC LIMIT 1",
        &[],
        read,
    )
}

/// Due work of all organizations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    pub count: i64,
    /// When the first of it fell due.
    pub since: Option<Timestamp>,
}

/// Messages and jobs that a worker should have handled by now.
pub fn waiting(tx: &mut Tx<'_>, now: Timestamp) -> Result<Waiting, DbError> {
    let mut all = Waiting::default();
    for sql in [
        "SELECT COUNT(*), MIN(due_at) FROM outbox_messages WHERE state IN ('queued', 'sending') AND due_at <= ?1",
        "SELECT COUNT(*), MIN(due_at) FROM outbox_jobs WHERE state <> 'done' AND due_at <= ?1",
    ] {
        let found: Option<(i64, Option<Timestamp>)> = tx.first(sql, &[Value::Int(now.micros())], read)?;
        let (count, since) = found.unwrap_or_default();
        all.count += count;
        all.since = [all.since, since].into_iter().flatten().min();
    }
    Ok(all)
}

/// The age of dues counts from the beginning of their due day.
pub fn queue(tx: &mut Tx<'_>, queue: Queue, now: Timestamp) -> Result<Waiting, DbError> {
    const REMINDERS: &str = "SELECT COUNT(*), MIN(scheduled_at) FROM reminders WHERE status = 'scheduled' AND is_held = 0 \
         AND scheduled_at <= ?1";
    const NOTICES: &str = "SELECT COUNT(*), MIN(CASE WHEN noticed_days IS NULL THEN expires_at - ?4 ELSE expires_at - ?5 END) \
         FROM tokens WHERE revoked_at IS NULL AND successor_id IS NULL AND expires_at > ?1 AND expires_at <= ?2 \
         AND (noticed_days IS NULL OR (noticed_days > 3 AND expires_at <= ?3))";
    const MESSAGES: &str = "SELECT COUNT(*), MIN(due_at) FROM outbox_messages WHERE state IN ('queued', 'sending') \
         AND method = ?2 AND due_at <= ?1";
    const DUES: &str = "SELECT organizations.time_zone, due.due_date, due.is_raised, COUNT(*) FROM (\
         SELECT organization_id, due_date, 1 AS is_raised FROM dues_open WHERE due_date < ?1 \
         UNION ALL SELECT organization_id, CASE WHEN dues_from > due_date THEN dues_from ELSE due_date END AS due_date, \
         0 AS is_raised FROM groups WHERE amount_due > 0 AND due_date <= ?1 \
         AND (dues_from IS NULL OR dues_from <= due_date OR (is_recurring = 1 AND dues_from <= ?1))) AS due \
         JOIN organizations ON organizations.id = due.organization_id \
         GROUP BY organizations.time_zone, due.due_date, due.is_raised";
    let at = Value::Int(now.micros());
    let found: Option<(i64, Option<Timestamp>)> = match queue {
        Queue::Reminders => tx.first(REMINDERS, &[at], read),
        Queue::Email => tx.first(MESSAGES, &[at, Value::Text(Method::Email.as_str())], read),
        Queue::Sms => tx.first(MESSAGES, &[at, Value::Text(Method::Sms.as_str())], read),
        Queue::Notices => {
            let day = |days: i64| Value::Int(now.plus_days(days).micros());
            let days = |days: i64| Value::Int(days * DAY_MICROS);
            tx.first(NOTICES, &[at, day(14), day(3), days(14), days(3)], read)
        }
        Queue::Dues => {
            let latest = Zone::latest_date(now).to_string();
            let days: Vec<(Zone, Date, bool, i64)> = tx.rows(DUES, &[Value::Text(&latest)], read)?;
            // A raised day waits to be closed once it is over. Its age still counts from its beginning.
            let is_time = |(zone, due, is_raised, _): &&(Zone, Date, bool, i64)| match is_raised {
                true => *due < zone.date(now),
                false => *due <= zone.date(now),
            };
            let waiting = || days.iter().filter(is_time);
            let since = waiting().map(|(zone, due, ..)| zone.start(*due)).min();
            Ok(Some((waiting().map(|day| day.3).sum(), since)))
        }
    }?;
    let (count, since) = found.unwrap_or_default();
    Ok(Waiting { count, since })
}

/// Messages that failed since then and still have their text.
pub fn failed(tx: &mut Tx<'_>, since: Timestamp) -> Result<i64, DbError> {
    let count = tx.first(
        "SELECT COUNT(*) FROM outbox_messages WHERE state = 'failed' AND ended_at >= ?1 AND body IS NOT NULL",
        &[Value::Int(since.micros())],
        read,
    )?;
    Ok(count.unwrap_or(0))
}

/// Tokens without a successor that expire in this time: how many, and when the first does.
pub fn expiring(
    tx: &mut Tx<'_>,
    from: Timestamp,
    to: Timestamp,
) -> Result<(i64, Option<Timestamp>), DbError> {
    let found = tx.first(
        "SELECT COUNT(*), MIN(expires_at) FROM tokens WHERE revoked_at IS NULL AND successor_id IS NULL \
         AND expires_at > ?1 AND expires_at <= ?2",
        &[Value::Int(from.micros()), Value::Int(to.micros())],
        read,
    )?;
    Ok(found.unwrap_or_default())
}

fn one<T: FromColumns>(tx: &mut Tx<'_>, sql: &'static str) -> Result<T, DbError> {
    let found = tx.first(sql, &[], read)?;
    found.ok_or_else(|| DbError::Internal(format!("nothing is found by {sql}")))
}
