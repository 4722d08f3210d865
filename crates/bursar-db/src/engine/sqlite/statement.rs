use std::ops::ControlFlow;

use rusqlite::{Connection, params_from_iter};

use super::super::fault::Fault;
use super::super::value::{LoadTarget, OwnedValue, Row, RowInner, Value};
use crate::error::DbError;

pub(in super::super) fn execute(
    connection: &Connection,
    sql: &str,
    params: &[Value<'_>],
) -> Result<u64, Fault> {
    let changed = connection
        .prepare_cached(sql)?
        .execute(params_from_iter(params))?;
    Ok(u64::try_from(changed).unwrap_or(u64::MAX))
}

pub(in super::super) fn visit(
    connection: &Connection,
    sql: &str,
    params: &[Value<'_>],
    mut f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
) -> Result<(), Fault> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(params))?;
    while let Some(row) = rows.next()? {
        if f(&Row(RowInner::Sqlite(row))).map_err(Fault::caller)?.is_break() {
            break;
        }
    }
    Ok(())
}

pub(in super::super) fn load(
    connection: &Connection,
    target: &LoadTarget,
    rows: &[Vec<OwnedValue>],
) -> Result<(), Fault> {
    let names: Vec<&str> = target.columns.iter().map(|(name, _)| *name).collect();
    let marks: Vec<String> = (1..=names.len()).map(|index| format!("?{index}")).collect();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({})",
        target.table,
        names.join(", "),
        marks.join(", ")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    for row in rows {
        statement.execute(params_from_iter(row.iter().map(OwnedValue::as_value)))?;
    }
    Ok(())
}
