//! `bursar import FILE.csv` and `bursar import --undo FILE`.

mod told;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

use bursar_app::lists::List;
use bursar_app::roster::{
    self, Action, DateOrder, Encoding, FILE_BYTES_MAX, Field, Options, Plan, RosterError,
};
use bursar_app::{Opening, View, private};
use bursar_domain::ids::{BulkId, OrganizationId};
use clap::Args;
use serde_json::{Value, json};

use super::door::Door;
use super::{Failure, Globals, Outcome, desk, output};

#[derive(Debug, Args)]
pub(crate) struct RosterArgs {
    /// Show what a roster would change; nothing is written
    #[arg(long)]
    dry_run: bool,
    /// What a column of a roster is: firstName, lastName, name, email, phone, isActive, joinDate, groups, id, or
    /// `ignore`; may be given again
    #[arg(long, value_name = "COLUMN=FIELD", value_parser = parse_map)]
    map: Vec<(String, Option<Field>)>,
    /// Order of day and month in roster dates that end with the year: day-first or month-first
    #[arg(long, value_name = "ORDER", value_parser = parse_order)]
    dates: Option<DateOrder>,
    /// Encoding of a roster that is not UTF-8: windows-1252, windows-1250 or macintosh
    #[arg(long, value_name = "ENCODING", value_parser = parse_encoding)]
    encoding: Option<Encoding>,
    /// Create the groups that the roster names and the organization does not have
    #[arg(long)]
    create_groups: bool,
    /// Replace the groups of members by those in the roster; an empty cell keeps them
    #[arg(long)]
    replace_groups: bool,
    /// Restore archived members who are in the roster
    #[arg(long)]
    restore: bool,
    /// Undo a roster import, using the undo file it wrote
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    undo: Option<PathBuf>,
}

fn parse_map(text: &str) -> Result<(String, Option<Field>), String> {
    let (column, field) = text
        .rsplit_once('=')
        .ok_or_else(|| "must be COLUMN=FIELD, such as Cell=phone".to_owned())?;
    let field = match field.trim() {
        "ignore" => None,
        name => Some(Field::of(name).ok_or_else(|| format!("must name one of {}, or ignore", Field::WORDS))?),
    };
    Ok((column.trim().to_owned(), field))
}

fn parse_order(text: &str) -> Result<DateOrder, String> {
    DateOrder::parse(text).ok_or_else(|| format!("must be one of {}", DateOrder::WORDS))
}

fn parse_encoding(text: &str) -> Result<Encoding, String> {
    Encoding::parse(&text.to_ascii_lowercase()).ok_or_else(|| format!("must be one of {}", Encoding::WORDS))
}

pub(crate) fn parse_list(text: &str) -> Result<List, String> {
    List::parse(text).ok_or_else(|| format!("must be one of {}", List::WORDS))
}

impl RosterArgs {
    /// A roster has the ending `.csv` or is given an organization. A bundle with flags that only a roster takes is
    /// refused. A variable that names the organization of all commands says nothing about the file.
    pub(crate) fn is_meant(&self, globals: &Globals, path: &Path, file: &File) -> Result<bool, Failure> {
        let is_csv = path.to_string_lossy().to_ascii_lowercase().ends_with(".csv");
        let flags = [
            (globals.organization_is_typed, "--organization"),
            (self.dry_run, "--dry-run"),
            (!self.map.is_empty(), "--map"),
            (self.dates.is_some(), "--dates"),
            (self.encoding.is_some(), "--encoding"),
            (self.create_groups, "--create-groups"),
            (self.replace_groups, "--replace-groups"),
            (self.restore, "--restore"),
        ];
        let flag = flags.iter().find(|(given, _)| *given).map(|(_, flag)| flag);
        match (is_csv, flag) {
            (true, _) => Ok(true),
            (false, None) => Ok(false),
            (false, Some(flag)) if !globals.organization_is_typed || is_bundle(path, file)? => {
                Err(Failure::new(format!(
                    "{}: {flag} (or its variable) is for a roster, a file that ends in .csv; a bundle names its organizations itself and is \
                 imported without; nothing was imported",
                    path.display()
                )))
            }
            (false, Some(_)) => Ok(true),
        }
    }
}

/// A bundle's first line is a JSON object, which no header row is.
fn is_bundle(path: &Path, mut file: &File) -> Result<bool, Failure> {
    let mut start = Vec::new();
    file.take(4_096)
        .read_to_end(&mut start)
        .and_then(|_| file.rewind())
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&start);
    Ok(text.trim_ascii_start().starts_with(b"{"))
}

pub(crate) fn import(globals: &Globals, path: &Path, file: &File, args: &RosterArgs) -> Outcome {
    let refused = |reason: &dyn std::fmt::Display| {
        Failure::new(format!("{}: {reason}; nothing was imported", path.display()))
    };
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    let options = Options {
        map: args.map.clone(),
        dates: args.dates,
        encoding: args.encoding,
        create_groups: args.create_groups,
        replace_groups: args.replace_groups,
        restore: args.restore,
    };
    let roster = roster::read(&bytes, &options).map_err(|refusal| refused(&refusal))?;
    drop(bytes);
    let opening = if args.dry_run {
        Opening::Require
    } else {
        Opening::Migrate
    };
    let door = Door::open_as(globals, opening)?;
    let organization = door.organization()?;
    let (app, who) = (&door.app, door.who);
    let done = if args.dry_run {
        app.survey(who, |whole| {
            let look = |view: &mut View<'_, '_>| roster::preview(view, &roster, &options);
            whole.view(organization, look).map(|plan| (None, plan))
        })
    } else {
        let bar = output::progress(0, "rows");
        bar.set_message("writing");
        let done = app.exclusive(who, |whole| {
            whole.act(organization, |act| {
                roster::import(act, &roster, &options, &mut |rows| bar.set_position(rows))
            })
        });
        bar.finish_and_clear();
        done.map(|done| (done.id, done.plan))
    };
    let (id, plan) = match done {
        Ok(done) => done,
        Err(error) => {
            if let RosterError::Rows(problems) = &error {
                told::problems(globals, &roster, problems)?;
            }
            return Err(refused(&error));
        }
    };
    let undo_file = id.and_then(|id| leave_undo_file(path, organization, id, &plan));
    let done = told::Done {
        path,
        organization,
        id,
        undo_file,
        is_dry: args.dry_run,
    };
    if globals.json {
        output::json(&done.json(&roster, &plan))
    } else {
        done.print(&roster, &plan);
        Ok(())
    }
}

pub(crate) fn undo(globals: &Globals, args: &RosterArgs) -> Outcome {
    let Some(path) = &args.undo else {
        return Err(Failure::new("name a file to import".into()));
    };
    if args.dry_run {
        return Err(Failure::new(
            "an undo has no dry run; leave --dry-run out, nothing was undone".into(),
        ));
    }
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| Failure::new(format!("{shown} cannot be read: {error}")))?;
    let id = serde_json::from_str::<Value>(&text)
        .ok()
        .filter(|said| said["type"] == "undo")
        .and_then(|said| BulkId::parse(said["id"].as_str()?));
    let id = id.ok_or_else(|| {
        Failure::new(format!(
            "{shown} is not an undo file; `bursar import FILE.csv` writes one and prints its name"
        ))
    })?;
    desk::undo::reverse(globals, id)
}

/// Writes a file beside the roster that can undo the import. It names the bulk act and has no personal data:
/// the previous values are in the database. The import is kept even if the file cannot be written.
fn leave_undo_file(roster: &Path, organization: OrganizationId, id: BulkId, plan: &Plan) -> Option<PathBuf> {
    let mut name = roster.as_os_str().to_owned();
    name.push(format!(".undo-{id}.json"));
    let path = PathBuf::from(name);
    let text = json!({
        "type": "undo",
        "id": id,
        "organizationId": organization,
        "file": roster.file_name().map(|name| name.to_string_lossy()),
        "added": plan.count(Action::Added),
        "changed": plan.count(Action::Changed),
    });
    let written = private::create_new(&path).and_then(|mut file| writeln!(file, "{text}"));
    match written {
        Ok(()) => Some(path),
        Err(error) => {
            output::complain(&format!(
                "warning: the undo file {} cannot be written: {error}; `bursar undo {id}` undoes the import too",
                path.display()
            ));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_mapped_by_the_last_equals_sign() {
        assert_eq!(parse_map("Cell=phone"), Ok(("Cell".into(), Some(Field::Phone))));
        assert_eq!(
            parse_map("a=b = First Name"),
            Ok(("a=b".into(), Some(Field::FirstName)))
        );
        assert_eq!(parse_map("Status=ignore"), Ok(("Status".into(), None)));
        assert!(parse_map("Status").unwrap_err().contains("COLUMN=FIELD"));
        assert!(parse_map("Status=rank").unwrap_err().contains("firstName"));
    }
}
