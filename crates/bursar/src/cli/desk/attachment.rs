//! `bursar attach` and `bursar attachment`.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};

use bursar_app::attachments::{self, NewAttachment};
use bursar_app::private;
use bursar_domain::attachment::{Attachment, SIZE_MAX, Subject};
use bursar_domain::ids::{AttachmentId, OrganizationId, kind};
use bursar_domain::reimbursement::Reimbursement;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::super::door::Door;
use super::super::{Failure, Globals, Outcome, consent, output, parse_id};

#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// PDF, JPEG or PNG file of at most 10 MB
    file: PathBuf,
    /// ID of the reimbursement or journal entry
    #[arg(long, value_name = "ID", value_parser = parse_subject)]
    to: Subject,
    /// Name of the attachment; the file's name by default
    #[arg(long)]
    name: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AttachmentCommand {
    /// List attachments
    List(ListArgs),
    /// Write an attachment to a file
    Get(GetArgs),
    /// Remove an attachment
    Remove(OneArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only those of this reimbursement or journal entry
    #[arg(long, value_name = "ID", value_parser = parse_subject)]
    of: Option<Subject>,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// ID of the attachment
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Attachment>)]
    id: AttachmentId,
}

#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    one: OneArgs,
    /// File to write, which must not exist; standard output by default
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

fn parse_subject(text: &str) -> Result<Subject, String> {
    Subject::parse(text)
        .ok_or_else(|| "must be the id of a reimbursement (rmb_…) or a journal entry (jnl_…)".to_owned())
}

/// A reimbursement's id tells its organization; an entry is looked for in the one that is named, or the only one.
fn home(door: &Door<'_>, subject: Subject) -> Result<OrganizationId, Failure> {
    match subject {
        Subject::Reimbursement(id) => door.home::<Reimbursement>(id),
        Subject::Entry(_) => door.organization(),
    }
}

fn owner(door: &Door<'_>, id: AttachmentId) -> Result<OrganizationId, Failure> {
    door.home_of(id, attachments::owner)
}

pub(crate) fn attach(globals: &Globals, args: AttachArgs) -> Outcome {
    let bytes = read(&args.file)?;
    let of_file = || {
        args.file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let new = NewAttachment {
        subject: args.to,
        name: args.name.clone().or_else(of_file).unwrap_or_default(),
        bytes,
    };
    let door = Door::open(globals)?;
    let made = door.act(home(&door, args.to)?, move |act| attachments::add(act, &new))?;
    if globals.json {
        return output::json(&as_json(&made));
    }
    output::say(&format!(
        "Attached {} ({}) to {}: {}, {} bytes",
        made.name, made.id, made.subject, made.content_type, made.size
    ));
    Ok(())
}

/// Reads no more than a byte too many.
fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(SIZE_MAX as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    Ok(bytes)
}

pub(crate) fn run(globals: &Globals, command: AttachmentCommand) -> Outcome {
    let door = Door::open(globals)?;
    match command {
        AttachmentCommand::List(args) => list(&door, &args),
        AttachmentCommand::Get(args) => get(&door, &args),
        AttachmentCommand::Remove(args) => remove(&door, args.id),
    }
}

fn list(door: &Door<'_>, args: &ListArgs) -> Outcome {
    let of = args.of;
    let organization = match of {
        Some(subject) => home(door, subject)?,
        None => door.organization()?,
    };
    let found = door.view(organization, move |view| attachments::list(view, of))?;
    if door.globals.json {
        return output::json(&found.iter().map(as_json).collect::<Vec<_>>());
    }
    let rows = found.iter().map(|attachment| {
        [
            attachment.id.to_string(),
            attachment.name.clone(),
            attachment.content_type.to_string(),
            attachment.size.to_string(),
            attachment.subject.to_string(),
        ]
    });
    let none = "no attachments; `bursar attach FILE --to ID` adds one";
    output::table(["id", "name", "type", "bytes", "of"], rows.collect(), none);
    Ok(())
}

fn get(door: &Door<'_>, args: &GetArgs) -> Outcome {
    let id = args.one.id;
    let file = door.view(owner(door, id)?, move |view| attachments::get(view, id))?;
    let Some(path) = &args.output else {
        if std::io::stdout().is_terminal() {
            let way_out = "an attachment is not for a terminal; name a file with --output";
            return Err(Failure::new(way_out.to_owned()));
        }
        output::keep_private();
        output::write(&file.bytes);
        return Ok(());
    };
    let written = private::create_new(path).and_then(|mut out| out.write_all(&file.bytes));
    written.map_err(|error| Failure::new(format!("{} cannot be written: {error}", path.display())))?;
    if door.globals.json {
        return output::json(&as_json(&file.attachment));
    }
    output::say(&format!("Wrote {} to {}", file.attachment.name, path.display()));
    Ok(())
}

fn remove(door: &Door<'_>, id: AttachmentId) -> Outcome {
    let organization = owner(door, id)?;
    if !door.globals.yes {
        let kept = door.rehearse(organization, |act| attachments::remove(act, id))?;
        let plan = format!(
            "Remove {} ({id}) from {}; it cannot be brought back.",
            kept.name, kept.subject
        );
        consent::confirm(door.globals, &plan)?;
    }
    let removed = door.act(organization, move |act| attachments::remove(act, id))?;
    if door.globals.json {
        return output::json(&as_json(&removed));
    }
    output::say(&format!(
        "Removed {} ({id}) from {}",
        removed.name, removed.subject
    ));
    Ok(())
}

fn as_json(attachment: &Attachment) -> Value {
    json!({
        "id": attachment.id,
        "reimbursementId": attachment.subject.reimbursement(),
        "entryId": attachment.subject.entry(),
        "name": attachment.name,
        "contentType": attachment.content_type,
        "size": attachment.size,
        "sha256": attachment.sha256_text(),
        "createdAt": attachment.created_at,
    })
}
