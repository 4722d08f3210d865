//! `bursar member export` and `bursar member erase`.

use std::path::PathBuf;

use bursar_app::privacy::{self, Item, Looking, Plan};
use bursar_app::{DatabaseUrl, EngineKind};
use bursar_domain::ids::kind;
use bursar_domain::member::Member;
use clap::Args;
use serde_json::json;

use super::super::door::{Door, Ref, parse_ref};
use super::super::worker::outbox_folder;
use super::super::{Outcome, consent, output};
use super::member_statement::write_new;

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The member: name, e-mail address, reference or id
    #[arg(value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
    /// Write the JSON to this new file; to standard output by default
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a PDF that the member can read to this new file
    #[arg(long, value_name = "FILE")]
    pdf: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct EraseArgs {
    /// The member: name, e-mail address, reference or id
    #[arg(value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
    /// Why, for the activity log
    #[arg(long, value_name = "TEXT", required_unless_present = "dry_run")]
    reason: Option<String>,
    /// Show what would be removed and what would stay; nothing is changed
    #[arg(long)]
    dry_run: bool,
    /// Another word or phrase that names the person, such as a nickname; may be repeated
    #[arg(long, value_name = "TEXT")]
    also: Vec<String>,
    /// Look for the full name only, not for the family name alone
    #[arg(long)]
    full_name_only: bool,
}

pub(super) fn export(door: &Door<'_>, args: &ExportArgs) -> Outcome {
    let (org, id) = door.locate::<Member>(&args.member)?;
    let exported = door.act(org, move |act| privacy::export(act, id))?;
    if let Some(file) = &args.pdf {
        let bytes = privacy::pdf(&exported).map_err(|unset| unset.to_string())?;
        write_new(file, &bytes)?;
    }
    match &args.output {
        Some(file) => write_new(file, format!("{exported:#}\n").as_bytes())?,
        None => output::document(&exported.to_string()),
    }
    Ok(())
}

pub(super) fn erase(door: &Door<'_>, args: EraseArgs) -> Outcome {
    let (org, id) = door.locate::<Member>(&args.member)?;
    let looking = Looking {
        also: args.also,
        is_full_name_only: args.full_name_only,
    };
    if args.dry_run || !door.globals.yes {
        let plan = door.survey(org, |view| privacy::preview(view, id, &looking))?;
        if args.dry_run && door.globals.json {
            return output::json(&plan);
        }
        if !door.globals.json {
            tell(&plan);
        }
        if args.dry_run {
            return Ok(());
        }
        // What stands in the way is refused before anybody is asked.
        if plan.open.is_empty() {
            consent::confirm(
                door.globals,
                &format!("Erase {} ({id}). This cannot be undone.", plan.name),
            )?;
        }
    }
    let reason = args.reason.unwrap_or_default();
    let erased = door.app.exclusive(door.who, |whole| {
        whole.act(org, |act| privacy::erase(act, id, &looking, &reason))
    })?;
    let url: DatabaseUrl = door.globals.database().parse()?;
    let folder = outbox_folder(&url);
    let files = privacy::remove_files(&folder, &erased).map_err(|error| {
        format!(
            "{} cannot be cleared of the member's messages: {error}",
            folder.display()
        )
    })?;
    if door.globals.json {
        return output::json(&json!({
            "id": id, "goes": erased.plan.goes, "stays": erased.plan.stays, "files": files,
        }));
    }
    output::say(&format!("Erased {id}"));
    if files > 0 {
        output::say(&format!(
            "Removed {} from {}",
            output::many(files as u64, "message"),
            folder.display()
        ));
    }
    if door.app.engine() == EngineKind::Sqlite {
        output::say("Old content is still in the database file: `bursar compact` removes it");
    }
    output::say("Backups and exports made before keep the member until they are deleted");
    Ok(())
}

fn tell(plan: &Plan) {
    output::say_bold(&format!("Erase {} ({})", plan.name, plan.member_id));
    for why in &plan.open {
        output::say(&format!("Cannot erase yet: {why}"));
    }
    let rows = |items: &[Item]| {
        let row = |item: &Item| [item.what.clone(), item.count.to_string(), item.why.clone()];
        items.iter().map(row).collect()
    };
    output::say("");
    output::table(
        ["removed", "count", "how"],
        rows(&plan.goes),
        "nothing is removed",
    );
    output::say("");
    output::table(["stays", "count", "why"], rows(&plan.stays), "nothing stays");
    if !plan.mentions.is_empty() {
        output::say("");
        let mentions = plan.mentions.iter();
        let mentions = mentions.map(|mention| [mention.place.clone(), mention.text.clone()]);
        output::table(["also named in", "text"], mentions.collect(), "");
    }
    if plan.mentions_more > 0 {
        output::say(&format!("and {} more", plan.mentions_more));
    }
    if !plan.shared.is_empty() {
        output::say(&format!(
            "not looked for in texts about others, because somebody else has it too: {}",
            plan.shared.join(", ")
        ));
    }
    if let Some(until) = plan.kept_until {
        output::say(&format!(
            "books are kept for {} years, these until {until}",
            plan.retention_years
        ));
    }
}
