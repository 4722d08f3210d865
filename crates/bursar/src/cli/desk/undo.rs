//! `bursar undo`.

use bursar_app::{AppError, undo};
use bursar_db::Opening;
use bursar_domain::ids::{BulkId, kind};
use clap::Args;
use serde_json::json;

use super::super::{Outcome, Session, output, parse_id};
use crate::ambient;

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The bulk act's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Bulk>)]
    id: BulkId,
}

pub(crate) fn run(session: &Session, args: &UndoArgs) -> Outcome {
    reverse(session, args.id)
}

/// Undoes a bulk act. An import may have touched every member, so it takes a connection of its own.
pub(crate) fn reverse(session: &Session, id: BulkId) -> Outcome {
    let db = session.db(Opening::Require)?;
    let mut context = ambient::operator()?;
    let done = db.exclusive::<_, AppError>(|tx| undo::undo(tx, &mut context, id))?;
    if session.json {
        let left: Vec<_> = done
            .left
            .iter()
            .map(|(id, why)| json!({ "id": id, "reason": why }))
            .collect();
        return output::json(&json!({ "reversed": done.reversed, "left": left }));
    }
    output::say(&format!(
        "{} reversed, {} left",
        done.reversed.len(),
        done.left.len()
    ));
    for (id, why) in &done.left {
        output::say(&format!("  {id}: {why}"));
    }
    Ok(())
}
