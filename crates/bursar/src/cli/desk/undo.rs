use bursar_app::{Identity, Opening, undo};
use bursar_domain::ids::{BulkId, kind};
use clap::Args;
use serde_json::json;

use super::super::{Globals, Outcome, output, parse_id};

#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// ID of the bulk change
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Bulk>)]
    id: BulkId,
}

pub(crate) fn run(globals: &Globals, args: &UndoArgs) -> Outcome {
    reverse(globals, args.id)
}

/// An import may have changed every member, so undoing uses a connection of its own.
pub(crate) fn reverse(globals: &Globals, id: BulkId) -> Outcome {
    let app = globals.open(Opening::Require)?;
    let owner = app
        .look(Identity::Operator, move |whole| undo::owner(whole, id))
        .wait()?;
    let done = app.exclusive(globals.who(&app)?, |whole| {
        whole.act(owner, |act| undo::undo(act, id))
    })?;
    if globals.json {
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
