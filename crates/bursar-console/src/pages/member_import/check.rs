//! What a spreadsheet would do, row by row; then the import itself.

use askama::Template;
use bursar_app::roster::{self, Action, Cause, Entry, Plan, Roster, RosterError};
use bursar_app::{AppError, View, uploads};
use bursar_domain::ids::{UploadId, kind};

use super::options::{self, FIELDS, Said};
use crate::asking::Asking;
use crate::failure::{Failure, told};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::pages::preview::{self, Part};
use crate::pages::seen::{self, Digest};
use crate::words;

const LINES_SHOWN: usize = 12;
const SHOWN: &[&str] = &[];

struct Column {
    field: String,
    name: String,
    /// What it is read as by itself.
    automatic: String,
    chosen: String,
    note: String,
}

struct Mistake {
    what: String,
    where_: String,
    way_out: String,
}

struct Row {
    line: u64,
    name: String,
    action: &'static str,
    tone: &'static str,
    changes: Vec<String>,
}

#[derive(Template)]
#[template(path = "member_import/check.html")]
struct Page<'a> {
    frame: &'a Frame,
    form: &'a Form,
    file: String,
    columns: Vec<Column>,
    said: Vec<(&'static str, String)>,
    kept: Vec<(String, String)>,
    unread: String,
    mistakes: Vec<Mistake>,
    plan: Option<Told>,
    dates: String,
    encoding: String,
    create_groups: bool,
    replace_groups: bool,
    restore: bool,
}

/// A plan in words.
struct Told {
    /// A digest of it.
    digest: String,
    added: usize,
    changed: usize,
    left: usize,
    button: String,
    is_empty: bool,
    notes: Vec<String>,
    rows: Vec<Row>,
    part: Part,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let parked = uploads::get(view, asking.id::<kind::Upload>(0)?)?;
    let said = Said::of(asking, form);
    let options = said.options();
    let (mut columns, mut unread, mut mistakes, mut plan) = (Vec::new(), String::new(), Vec::new(), None);
    match roster::read(&parked.bytes, &options) {
        Ok(read) => {
            columns = read.columns.iter().map(|column| shown(column, &said)).collect();
            match roster::preview(view, &read, &options) {
                Ok(found) => plan = Some(planned(&read, &found, &Form::of_query(asking))),
                Err(RosterError::Rows(problems)) => {
                    mistakes = roster::causes(&problems).iter().map(mistake).collect();
                }
                Err(RosterError::App(error)) => return Err(error.into()),
            }
        }
        Err(refusal) => {
            unread = told(&refusal).message;
            for name in options::guessed(&parked.bytes) {
                let column = roster::Column {
                    field: roster::Field::of(&name),
                    name,
                    note: None,
                };
                columns.push(shown(&column, &said));
            }
        }
    }
    let page = Page {
        frame: &asking.frame,
        form,
        file: parked.name,
        columns,
        said: FIELDS
            .iter()
            .map(|(word, label)| (*word, (*label).to_owned()))
            .collect(),
        kept: said.kept(),
        unread,
        mistakes,
        plan,
        dates: said.get("dates").to_owned(),
        encoding: said.get("encoding").to_owned(),
        create_groups: said.has("create-groups"),
        replace_groups: said.has("replace-groups"),
        restore: said.has("restore"),
    };
    Ok(page.render()?)
}

fn shown(column: &roster::Column, said: &Said) -> Column {
    let field = options::field_of(&column.name);
    Column {
        chosen: said.get(&field).to_owned(),
        automatic: options::label(column.field).to_owned(),
        field,
        name: column.name.clone(),
        note: column.note.clone().unwrap_or_default(),
    }
}

fn mistake(cause: &Cause) -> Mistake {
    let examples: Vec<String> = cause
        .values
        .iter()
        .take(5)
        .map(|wrong| {
            format!(
                "\u{201c}{}\u{201d}",
                roster::quoted(&wrong.value).trim_matches('`')
            )
        })
        .collect();
    let got = match examples.is_empty() {
        true => String::new(),
        false => format!(", got {}", examples.join(", ")),
    };
    let column = cause.column.as_ref().map_or("The row", String::as_str);
    let lines: Vec<String> = cause
        .lines
        .iter()
        .take(LINES_SHOWN)
        .map(ToString::to_string)
        .collect();
    let more = match cause.count.saturating_sub(LINES_SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Mistake {
        what: format!("{column} {}{got}", cause.rule),
        where_: format!("In line {}{more}", lines.join(", ")),
        way_out: match cause.flag {
            Some("--create-groups") => {
                "Check \u{201c}Create groups that do not exist\u{201d} above.".to_owned()
            }
            Some(flag) if flag.starts_with("--dates") => "Choose the date format above.".to_owned(),
            Some(flag) if flag.starts_with("--encoding") => "Choose the character encoding above.".to_owned(),
            _ if cause.way_out.contains("--") || cause.way_out.contains("`bursar") => String::new(),
            _ => match cause.way_out.as_str() {
                "" => String::new(),
                way_out => crate::failure::sentence(way_out),
            },
        },
    }
}

/// `asked` says which of very many rows are shown.
fn planned(read: &Roster, plan: &Plan, asked: &Form) -> Told {
    let [added, changed, left] =
        [Action::Added, Action::Changed, Action::Left].map(|action| plan.count(action));
    let mut notes = Vec::new();
    if !plan.new_groups.is_empty() {
        let names: Vec<String> = plan
            .new_groups
            .iter()
            .map(|group| format!("{} ({})", group.name, group.member_count))
            .collect();
        notes.push(format!("Groups that are created: {}.", names.join(", ")));
    }
    if let Some((count, sum)) = plan.charges() {
        let many = words::count(count, "charge is", "charges are");
        notes.push(format!(
            "{many} raised for the months left, {} in all.",
            words::money_in(sum)
        ));
    }
    if plan.archived > 0 {
        let many = words::count(plan.archived, "member is", "members are");
        notes.push(format!(
            "{many} archived here and left so, unless you restore them above."
        ));
    }
    if plan.without_email > 0 {
        let many = words::count(plan.without_email, "row has", "rows have");
        notes.push(format!("{many} no e-mail address."));
    }
    if !plan.repeats.is_empty() {
        let many = words::count(plan.repeats.len(), "row is", "rows are");
        notes.push(format!(
            "{many} about somebody with an earlier row, and taken together with it."
        ));
    }
    if !read.skipped.is_empty() {
        let many = words::count(read.skipped.len(), "line is", "lines are");
        notes.push(format!(
            "{many} no member and left out, such as titles and totals."
        ));
    }
    notes.extend(plan.hints.iter().take(20).map(|hint| match hint.line {
        Some(line) => format!("Line {line}: {}", crate::failure::sentence(&hint.message)),
        None => crate::failure::sentence(&hint.message),
    }));
    let moved: Vec<&Entry> = plan
        .entries
        .iter()
        .filter(|entry| entry.action != Action::Left)
        .collect();
    let (shown, part) = preview::part(&moved, asked, |entry| entry.line.to_string());
    Told {
        digest: digest(plan),
        added,
        changed,
        left,
        button: match (added, changed) {
            (added, 0) => format!("Add {}", words::count(added, "member", "members")),
            (0, changed) => format!("Change {}", words::count(changed, "member", "members")),
            (added, changed) => {
                format!(
                    "Add {}, change {changed}",
                    words::count(added, "member", "members")
                )
            }
        },
        is_empty: moved.is_empty(),
        notes,
        rows: shown.iter().map(|entry| row(entry, plan)).collect(),
        part,
    }
}

/// What every row does.
fn digest(plan: &Plan) -> String {
    let mut digest = Digest::default();
    for entry in plan.entries.iter().filter(|entry| entry.action != Action::Left) {
        digest
            .add(entry.line.to_be_bytes())
            .add(entry.action.as_str())
            .add(entry.after.name());
        if let Some(before) = &entry.before {
            digest.add(before.id.to_bytes());
        }
        for change in &entry.changes {
            digest.add(change.field).add(&change.from).add(&change.to);
        }
    }
    for group in &plan.new_groups {
        digest.add(&group.name);
    }
    if let Some((count, sum)) = plan.charges() {
        digest.add(count.to_string()).add(sum.to_string());
    }
    digest.text()
}

fn row(entry: &Entry, plan: &Plan) -> Row {
    let is_new = entry.action == Action::Added;
    let told = |value: &str| bursar_domain::Date::parse(value).map_or_else(|| value.to_owned(), words::day);
    let mut changes: Vec<String> = entry
        .changes
        .iter()
        .map(|change| match (is_new, change.from.as_str()) {
            (true, _) | (false, "") => format!("{}: {}", name_of(change.field), told(&change.to)),
            (false, from) => format!(
                "{}: {} \u{2192} {}",
                name_of(change.field),
                told(from),
                told(&change.to)
            ),
        })
        .collect();
    if let (true, Some(email)) = (is_new, &entry.after.email) {
        changes.insert(0, email.clone());
    }
    let groups = plan.group_names(&entry.after);
    let has_groups = changes.iter().any(|change| change.starts_with("Groups"));
    if is_new && !groups.is_empty() && !has_groups {
        changes.push(format!("Groups: {}", groups.join(", ")));
    }
    Row {
        line: entry.line,
        name: entry.after.name(),
        action: if is_new { "Added" } else { "Changed" },
        tone: if is_new { "paid" } else { "pending" },
        changes,
    }
}

fn name_of(field: &str) -> String {
    let found = FIELDS.iter().find(|(word, _)| *word == field);
    found.map_or_else(|| words::label(field), |(_, label)| (*label).to_owned())
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let id: UploadId = asking.id::<kind::Upload>(0)?;
    let parked = uploads::get(view, id)?;
    let options = Said::of(asking, form).options();
    let read = roster::read(&parked.bytes, &options)?;
    let (to, form) = (asking.frame.at("members"), form.clone());
    Ok(Sent::Do(Box::new(move |act| {
        let imported = match roster::import(act, &read, &options, &mut |_| ()) {
            Ok(imported) => imported,
            Err(RosterError::App(error)) => return Err(error),
            Err(rows @ RosterError::Rows(_)) => {
                return Err(AppError::Refused(bursar_domain::Refusal::unreadable(
                    rows.to_string(),
                )));
            }
        };
        seen::planned(&form, &digest(&imported.plan))?;
        uploads::remove(act, id)?;
        let [added, changed] = [Action::Added, Action::Changed].map(|action| imported.plan.count(action));
        let said = match (added, changed) {
            (0, 0) => "Nothing had to be changed.".to_owned(),
            (added, 0) => format!("Added {}.", words::count(added, "member", "members")),
            (0, changed) => format!("Changed {}.", words::count(changed, "member", "members")),
            (added, changed) => format!(
                "Added {} and changed {changed}.",
                words::count(added, "member", "members")
            ),
        };
        Ok(Done {
            undo: imported.id.map(|id| id.to_string()),
            ..Done::new(to.clone(), said)
        })
    })))
}
