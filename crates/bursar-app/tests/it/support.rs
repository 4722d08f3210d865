//! Bundles in and out of a test's database.

use std::collections::BTreeMap;
use std::io::{BufRead, Cursor};
use std::sync::Arc;

use bursar_app::export::Exported;
use bursar_app::import::{ImportError, Imported, Progress, Source};
use bursar_app::{App, AppError, Identity, check, export, import};
use bursar_db::tables::{EVERY_TABLE, read_rows};
use bursar_db::testing::without_rules;
use bursar_db::{Db, DbError, OwnedValue, Value};
use bursar_domain::Timestamp;
use bursar_domain::ids::{
    GroupId, Id, IdSource, Kind, MemberId, OrganizationId, PaymentId, ReminderId, UserId,
};
use serde_json::Value as Json;

/// A bundle with every type of record and every status.
pub(crate) const EVERY_RECORD: &str = include_str!("../../../../fixtures/every-record.ndjson");

/// When tests happen.
pub(crate) fn now() -> Timestamp {
    instant("2026-11-15T12:00:00Z")
}

pub(crate) fn instant(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// The door to a test's database, at one time.
pub(crate) fn app_at(db: &Db, now: Timestamp) -> App {
    let ids = IdSource::seeded(bursar_testing::seed());
    App::new(db.clone(), Arc::new(move || now), ids)
}

pub(crate) fn id<K: Kind>(n: u128) -> Id<K> {
    Id::from_bits(n)
}

pub(crate) fn org(n: u128) -> OrganizationId {
    id(n)
}

pub(crate) fn usr(n: u128) -> UserId {
    id(n)
}

pub(crate) fn mem(n: u128) -> MemberId {
    id(n)
}

pub(crate) fn grp(n: u128) -> GroupId {
    id(n)
}

pub(crate) fn pay(n: u128) -> PaymentId {
    id(n)
}

pub(crate) fn rem(n: u128) -> ReminderId {
    id(n)
}

/// A bundle of these records.
pub(crate) fn bundle(records: &[Json]) -> String {
    records.iter().map(|record| format!("{record}\n")).collect()
}

pub(crate) fn import_with(
    db: &Db,
    bundle: &[u8],
    now: Timestamp,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, ImportError> {
    let open = || Ok(Box::new(Cursor::new(bundle.to_vec())) as Box<dyn BufRead>);
    let source = Source { open: &open };
    import::import(&app_at(db, now), Identity::Operator, &source, progress)
}

/// Imports, or the error as an operator reads it.
pub(crate) fn import_at(db: &Db, bundle: &str, now: Timestamp) -> Result<Imported, String> {
    import_with(db, bundle.as_bytes(), now, &mut |_| {}).map_err(|error| error.to_string())
}

pub(crate) fn import_now(db: &Db, bundle: &str) -> Result<Imported, String> {
    import_at(db, bundle, now())
}

pub(crate) fn export_all(db: &Db) -> String {
    export_of(db, None).0
}

pub(crate) fn export_of(db: &Db, root: Option<OrganizationId>) -> (String, Exported) {
    let mut out = Vec::new();
    let done = app_at(db, now()).survey(Identity::Operator, |whole| {
        export::export(whole, root, &mut out, &mut |_| {})
    });
    (String::from_utf8(out).unwrap(), done.unwrap())
}

/// The records of an export.
pub(crate) fn records(export: &str) -> Vec<Json> {
    export
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The one record with this id in an export of everything.
pub(crate) fn record(db: &Db, id: impl ToString) -> Json {
    let id = id.to_string();
    let all = records(&export_all(db));
    all.into_iter()
        .find(|record| record["id"] == id.as_str())
        .unwrap()
}

/// What `check` finds: kind and subject of each problem.
pub(crate) fn problems(db: &Db) -> Vec<(&'static str, String)> {
    let checked: Result<_, AppError> =
        app_at(db, now()).survey(Identity::Operator, |whole| check::check(whole, &mut |_| {}));
    let problems = checked.unwrap().problems;
    problems
        .into_iter()
        .map(|problem| (problem.kind, problem.subject))
        .collect()
}

/// Every row of every table, in a fixed order.
pub(crate) fn dump(db: &Db) -> BTreeMap<&'static str, Vec<String>> {
    let read: Result<_, DbError> = db.survey(|tx| {
        let mut dump = BTreeMap::new();
        for table in EVERY_TABLE {
            let rows: &mut Vec<String> = dump.entry(table.table).or_default();
            read_rows(tx, table, &mut |row| {
                rows.push(format!("{row:?}"));
                Ok(())
            })?;
            rows.sort_unstable();
        }
        Ok(dump)
    });
    read.unwrap()
}

/// Runs a statement beside everything that keeps the data in order; it must change something.
pub(crate) fn plant(db: &Db, sql: &'static str, params: &[Value<'_>]) {
    let changed: Result<u64, DbError> = db.exclusive(|tx| without_rules(tx, |tx| tx.execute(sql, params)));
    assert!(changed.unwrap() > 0, "{sql}");
}

/// The numbers that a statement finds.
pub(crate) fn numbers(db: &Db, sql: &'static str, params: &[Value<'_>]) -> Vec<i64> {
    let found: Result<Vec<i64>, DbError> = db.survey(|tx| tx.rows(sql, params, |row| row.int(0)));
    found.unwrap()
}

/// A value for a column of this kind.
pub(crate) fn any_value(kind: bursar_db::ColumnType) -> OwnedValue {
    match kind {
        bursar_db::ColumnType::Int => OwnedValue::Int(1),
        bursar_db::ColumnType::Text => OwnedValue::Text("é\u{1}\\".to_owned()),
        bursar_db::ColumnType::Bytes => {
            OwnedValue::Bytes(vec![0, 255, 92, 39, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        }
    }
}
