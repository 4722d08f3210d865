//! The list of an organization's chapters. It follows `organizations`.

use bursar_domain::chapter::Chapter;
use bursar_domain::ids::OrganizationId;
use bursar_domain::{Resource, Stamps, Timestamp};

use crate::clock::Clock;
use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::inspect::server_now;
use crate::rows::read;

/// Lists the chapters that exist when the list is introduced: parent by parent in the order of ids, each stamped by
/// its parent's change clock, as if it had just been created.
///
/// The statement names its columns and does not use [`crate::table`], so that it stays right when later steps change
/// the table.
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
        let Some(mut clock) = Clock::take(tx, parent, now)? else {
            continue;
        };
        for (_, id, name) in family {
            let chapter = Chapter {
                id: *id,
                name: name.clone(),
                stamps: Stamps::at(clock.tick()),
            };
            let at = Value::Int(chapter.stamps.updated_at.micros());
            let params = [
                Value::Bytes(&parent.to_bytes()),
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
        clock.give_back(tx)?;
    }
    Ok(())
}
