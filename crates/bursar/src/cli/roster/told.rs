//! What an import says: how the file was read, what it does, and what is wrong, grouped by cause.

use std::path::{Path, PathBuf};

use bursar_app::roster::{self, Action, Cause, Encoding, Entry, Field, Plan, Problem, Roster};
use bursar_domain::ids::{BulkId, OrganizationId};
use serde_json::{Value, json};

use crate::cli::output::many;
use crate::cli::{Globals, Outcome, output};

/// How many examples or lines are shown of each thing.
const SHOWN: usize = 8;

pub(super) fn problems(globals: &Globals, roster: &Roster, problems: &[Problem]) -> Outcome {
    let causes = roster::causes(problems);
    let flags: Vec<&str> = causes.iter().filter_map(|cause| cause.flag).collect();
    if globals.json {
        return output::json(&json!({
            "encoding": roster.encoding,
            "headerLine": roster.header_line,
            "skipped": roster.skipped,
            "mapping": mapping(roster),
            "problems": problems,
            "causes": causes,
            "flags": flags,
        }));
    }
    print_reading(roster);
    let mut lines: Vec<u64> = problems.iter().map(|problem| problem.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let of = many(causes.len() as u64, "cause");
    output::say(&format!(
        "{} with problems, of {of}:",
        many(lines.len() as u64, "line")
    ));
    for cause in &causes {
        output::say("");
        print_cause(cause);
    }
    output::say("");
    let is_file = causes.iter().any(|cause| cause.flag.is_none());
    match (is_file, flags.join(" ")) {
        (true, flags) if flags.is_empty() => output::say("Correct the file and try again."),
        (true, flags) => output::say(&format!("Correct the file where no flag helps, and add {flags}")),
        (false, flags) => output::say(&format!("The file can stay as it is: add {flags}")),
    }
    Ok(())
}

fn print_cause(cause: &Cause) {
    let column = cause.column.as_ref().map(|column| format!("{column}: "));
    output::say_bold(&format!(
        "{}{} ({})",
        column.unwrap_or_default(),
        cause.rule,
        many(cause.count as u64, "line")
    ));
    for wrong in cause.values.iter().take(SHOWN) {
        let value = roster::quoted(&wrong.value);
        output::say(&match wrong.count {
            1 => format!("  line {}: {value}", wrong.first_line),
            count => format!("  {value}: {count} times, first in line {}", wrong.first_line),
        });
    }
    match cause.values.len() {
        0 => output::say(&format!("  {}", in_lines(&cause.lines))),
        count if count > SHOWN => output::say(&format!("  and {} more", count - SHOWN)),
        _ => {}
    }
    if !cause.way_out.is_empty() {
        output::say(&format!("  → {}", cause.way_out));
    }
}

/// `lines 3, 4, 9 and 7 more`.
fn in_lines(lines: &[u64]) -> String {
    let shown: Vec<String> = lines.iter().take(SHOWN).map(u64::to_string).collect();
    let noun = if lines.len() == 1 { "line" } else { "lines" };
    match lines.len().saturating_sub(SHOWN) {
        0 => format!("{noun} {}", shown.join(", ")),
        more => format!("{noun} {} and {more} more", shown.join(", ")),
    }
}

fn mapping(roster: &Roster) -> Vec<Value> {
    roster
        .columns
        .iter()
        .map(|column| json!({ "column": column.name, "field": column.field, "note": column.note }))
        .collect()
}

/// How the file was read: what is not obvious, then the columns.
fn print_reading(roster: &Roster) {
    let mut said = false;
    if roster.encoding != Encoding::Utf8 {
        output::say(&format!("The file is read as {}.", roster.encoding));
        said = true;
    }
    for skipped in &roster.skipped {
        let text = roster::quoted(&skipped.text);
        output::say(&format!("Line {} is {}: {text}", skipped.line, skipped.why));
        said = true;
    }
    if said {
        output::say("");
    }
    let rows = roster.columns.iter().map(|column| {
        let field = column.field.map_or("(ignored)", Field::as_str);
        let note = column.note.clone().unwrap_or_default();
        [column.name.clone(), field.to_owned(), note]
    });
    output::table(["column", "field", "note"], rows.collect(), "");
    output::say("");
}

pub(super) struct Done<'a> {
    pub path: &'a Path,
    pub organization: OrganizationId,
    pub id: Option<BulkId>,
    pub undo_file: Option<PathBuf>,
    pub is_dry: bool,
}

impl Done<'_> {
    pub(super) fn json(&self, roster: &Roster, plan: &Plan) -> Value {
        let row = |entry: &Entry| {
            // A dry run has no ids for members that it would add: the next run creates others.
            let id = (!self.is_dry || entry.action != Action::Added).then_some(entry.after.id);
            json!({
                "line": entry.line,
                "action": entry.action,
                "id": id,
                "firstName": entry.after.first_name,
                "lastName": entry.after.last_name,
                "email": entry.after.email,
                "phone": entry.after.phone,
                "isActive": entry.after.is_active,
                "joinDate": entry.after.join_date,
                "groups": plan.group_names(&entry.after),
                "changes": entry.changes,
            })
        };
        json!({
            "file": self.path.display().to_string(),
            "organizationId": self.organization,
            "dryRun": self.is_dry,
            "encoding": roster.encoding,
            "separator": roster.separator,
            "headerLine": roster.header_line,
            "skipped": roster.skipped,
            "mapping": mapping(roster),
            "added": plan.count(Action::Added),
            "changed": plan.count(Action::Changed),
            "left": plan.count(Action::Left),
            "archived": plan.archived,
            "withoutEmail": plan.without_email,
            "charges": plan.charges().map(|(count, total)| json!({ "count": count, "total": total })),
            "repeats": plan.repeats,
            "newGroups": plan.new_groups,
            "hints": plan.hints,
            "rows": plan.entries.iter().map(row).collect::<Vec<_>>(),
            "id": self.id,
            "undoFile": self.undo_file.as_ref().map(|file| file.display().to_string()),
        })
    }

    pub(super) fn print(&self, roster: &Roster, plan: &Plan) {
        print_reading(roster);
        if self.is_dry {
            output::table(
                ["line", "action", "first name", "last name", "email", "values"],
                plan.entries.iter().map(shown).collect(),
                "no rows",
            );
            output::say("");
        }
        print_repeats(plan);
        self.print_new_groups(plan);
        print_hints(plan);
        self.print_counts(plan);
        match (&self.undo_file, self.id) {
            (Some(file), Some(id)) => output::say(&format!(
                "undo with `bursar undo {id}` or `bursar import --undo {}`",
                file.display()
            )),
            (None, Some(id)) => output::say(&format!("undo with `bursar undo {id}`")),
            (_, None) => {}
        }
    }

    fn print_new_groups(&self, plan: &Plan) {
        let groups = plan.new_groups.iter().map(|group| {
            let members = many(group.member_count as u64, "member");
            format!("{} ({members})", roster::quoted(&group.name))
        });
        let groups: Vec<String> = groups.collect();
        if !groups.is_empty() {
            let verb = if self.is_dry { "to create" } else { "created" };
            output::say(&format!("Groups {verb}: {}", groups.join(", ")));
        }
    }

    fn print_counts(&self, plan: &Plan) {
        let [added, changed, left] = [Action::Added, Action::Changed, Action::Left].map(|a| plan.count(a));
        let nothing = if added + changed == 0 {
            ": nothing to change"
        } else {
            ""
        };
        output::say(&if self.is_dry {
            format!(
                "{added} to add, {changed} to change, {left} as they are{nothing}; a dry run writes nothing"
            )
        } else {
            format!("{added} added, {changed} changed, {left} as they were{nothing}")
        });
        if let Some((count, total)) = plan.charges() {
            output::say(&format!(
                "{} for joining within a period, {total} {} in all{}",
                many(count as u64, "charge"),
                total.currency,
                if self.is_dry { "" } else { "; undo takes them back" }
            ));
        }
        if plan.without_email > 0 {
            output::say(&format!(
                "{} without an e-mail address: a name alone finds them again, and mail goes to their payer",
                many(plan.without_email as u64, "member")
            ));
        }
        if plan.archived > 0 {
            output::say(&format!(
                "{} of them are archived and stay so; --restore takes them out of the archive",
                plan.archived
            ));
        }
    }
}

fn print_repeats(plan: &Plan) {
    for (is_exact, what) in [
        (true, "the same as an earlier line, so it counts once"),
        (
            false,
            "the same person as an earlier line, so both are taken together",
        ),
    ] {
        let repeats = plan.repeats.iter().filter(|repeat| repeat.is_exact == is_exact);
        let lines: Vec<String> = repeats
            .map(|repeat| format!("{} (as {})", repeat.line, repeat.first_line))
            .collect();
        if !lines.is_empty() {
            let noun = if lines.len() == 1 { "Line" } else { "Lines" };
            output::say(&format!("{noun} {}: {what}", lines.join(", ")));
        }
    }
}

fn print_hints(plan: &Plan) {
    for hint in plan.hints.iter().take(SHOWN) {
        let line = hint.line.map(|line| format!("line {line}: ")).unwrap_or_default();
        output::say(&format!("Look at this: {line}{}", hint.message));
    }
    if plan.hints.len() > SHOWN {
        let more = plan.hints.len() - SHOWN;
        output::say(&format!("and {more} more such; --json shows all"));
    }
}

fn shown(entry: &Entry) -> [String; 6] {
    let change = |change: &roster::Change| match (entry.action, change.from.as_str()) {
        (Action::Added, _) => format!("{}: {}", change.field, change.to),
        (_, "") => format!("{}: - → {}", change.field, change.to),
        (_, from) => format!("{}: {from} → {}", change.field, change.to),
    };
    let values: Vec<String> = entry.changes.iter().map(change).collect();
    let action = match entry.action {
        Action::Added => "add",
        Action::Changed => "change",
        Action::Left => "leave",
    };
    [
        entry.line.to_string(),
        action.to_owned(),
        entry.after.first_name.clone(),
        entry.after.last_name.clone(),
        entry.after.email.clone().unwrap_or_default(),
        values.join(", "),
    ]
}
