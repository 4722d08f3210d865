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
    let db = session.open(Opening::Require)?;
    let (mut context, id) = (ambient::operator()?, args.id);
    // The lane is the bulk act's own: its organization is found inside.
    let done = db
        .write::<_, AppError>(id.to_bytes(), move |tx| undo::undo(tx, &mut context, id))
        .wait()?;
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
