//! Copies a whole database, with history, tokens and activity, to an empty one of either engine.

use bursar_db::tables::{EVERY_TABLE, clear, read_rows};
use bursar_db::{OwnedValue, Tx, housekeeping, organizations};
use bursar_domain::Refusal;

use crate::caller::Identity;
use crate::door::App;
use crate::error::AppError;
use crate::rule::Rule;

const CHUNK_ROWS: usize = 2_000;
/// Parts of attachments are large.
const CHUNK_BYTES: usize = 4 << 20;

pub const COPY: Rule = Rule::of_operator("copy", "copy the database");
pub const RULES: &[&Rule] = &[&COPY];

/// Returns the number of rows. The target must be empty, and nobody may write to the source.
pub fn copy(
    from: &App,
    who: Identity,
    to: &App,
    progress: &mut dyn FnMut(&str, u64),
) -> Result<u64, AppError> {
    let rows = from.survey(who, |source| {
        source.allow(&COPY)?;
        to.exclusive(Identity::Operator, |target| {
            copy_tables(source.tx, target.tx, progress)
        })
    })?;
    if rows >= housekeeping::LARGE_LOAD_ROWS {
        // The copy is complete even if this fails: autovacuum does it later.
        let tables = EVERY_TABLE.map(|table| table.table);
        let _ = to.exclusive::<_, AppError>(Identity::Operator, |whole| {
            Ok(housekeeping::count_rows(whole.tx, &tables)?)
        });
    }
    Ok(rows)
}

fn copy_tables(
    source: &mut Tx<'_>,
    target: &mut Tx<'_>,
    progress: &mut dyn FnMut(&str, u64),
) -> Result<u64, AppError> {
    if !organizations::all(target)?.is_empty() || !organizations::users(target)?.is_empty() {
        return Err(Refusal::conflict("the database to copy to is not empty; name an empty one").into());
    }
    // A server that ran on the target left things of its own there, such as its address.
    clear(target)?;
    let mut total = 0;
    for table in EVERY_TABLE {
        let mut chunk: Vec<Vec<OwnedValue>> = Vec::with_capacity(CHUNK_ROWS);
        let mut bytes = 0;
        read_rows(source, table, &mut |row| {
            bytes += row.iter().map(length).sum::<usize>();
            chunk.push(row);
            if chunk.len() == CHUNK_ROWS || bytes >= CHUNK_BYTES {
                target.load(table, &chunk)?;
                total += chunk.len() as u64;
                progress(table.table, total);
                chunk.clear();
                bytes = 0;
            }
            Ok(())
        })?;
        target.load(table, &chunk)?;
        total += chunk.len() as u64;
        progress(table.table, total);
    }
    Ok(total)
}

fn length(value: &OwnedValue) -> usize {
    match value {
        OwnedValue::Bytes(bytes) => bytes.len(),
        OwnedValue::Text(text) => text.len(),
        OwnedValue::Int(_) | OwnedValue::Null => 8,
    }
}
