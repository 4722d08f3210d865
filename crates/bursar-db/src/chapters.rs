//! The list of an organization's chapters. It follows `organizations`.

use bursar_domain::chapter::Chapter;
use bursar_domain::ids::OrganizationId;
use bursar_domain::{Resource, Stamps, Timestamp};

use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::inspect::server_now;
use crate::rows::read;

/// Lists the chapters that exist when the list is introduced: parent by parent in the order of ids, each stamped by
/// its parent's change clock, as if it had just been created.
///
/// The statements name their columns and use neither [`crate::table`] nor the clock, so that they stay right when later
/// steps change the tables.
pub(crate) fn list_existing(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let now = match tx.kind() {
        EngineKind::Postgres => server_now(tx)?,
        EngineKind::Sqlite => {
            let sql = "SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER)";
            tx.first(sql, &[], read)?.unwrap_or(Timestamp::from_micros(0))
        }
    };
    let sql =
        "SELECT parent_id, id, name FROM organizations WHERE parent_id IS NOT NULL ORDER BY parent_id, id";
    let children: Vec<(OrganizationId, OrganizationId, String)> = tx.rows(sql, &[], read)?;
    for family in children.chunk_by(|a, b| a.0 == b.0) {
        let parent = family[0].0;
        // A missing parent is damage that `bursar check` reports.
        let key = parent.to_bytes();
        let clock: Option<i64> = tx.first(
            "SELECT clock FROM organizations WHERE id = ?1",
            &[Value::Bytes(&key)],
            read,
        )?;
        let Some(mut clock) = clock else { continue };
        for (_, id, name) in family {
            clock = (clock + 1).max(now.micros());
            let chapter = Chapter {
                id: *id,
                name: name.clone(),
                stamps: Stamps::at(Timestamp::from_micros(clock)),
            };
            let at = Value::Int(chapter.stamps.updated_at.micros());
            let params = [
                Value::Bytes(&key),
                Value::Bytes(&id.to_bytes()),
                at,
                Value::Text(&chapter.document()),
                Value::Text(&chapter.name),
            ];
            tx.execute(
                "INSERT INTO chapters (organization_id, id, updated_at, created_at, document, name) \
                 VALUES (?1, ?2, ?3, ?3, ?4, ?5)",
                &params,
            )?;
        }
        tx.execute(
            "UPDATE organizations SET clock = ?2 WHERE id = ?1",
            &[Value::Bytes(&key), Value::Int(clock)],
        )?;
    }
    Ok(())
}
