//! Attachments: PDF, JPEG and PNG files that belong to a reimbursement or a journal entry, kept in the database.

use bursar_db::{attachments, journal};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::attachment::{Attachment, Subject};
use bursar_domain::ids::{AttachmentId, OrganizationId};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};

use crate::act::{Act, View, Whole};
use crate::error::AppError;
use crate::rule::Rule;

pub const ATTACH: Rule = Rule::of("attachment.add", Role::Editor, "attach files");
pub const READ: Rule = Rule::of("attachment.read", Role::Viewer, "read attachments");
pub const REMOVE: Rule = Rule::of("attachment.remove", Role::Editor, "remove attachments");
pub const OWNER: Rule = Rule::of_operator("attachment.owner", "look for attachments in all organizations");

pub const RULES: &[&Rule] = &[&ATTACH, &READ, &REMOVE, &OWNER];

/// A file to be attached.
#[derive(Clone, Debug)]
pub struct NewAttachment {
    pub subject: Subject,
    /// Folders in it are dropped.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// An attachment with its bytes, for a download. A page that sends it uses the content type as it is, and never shows
/// the file inline.
#[derive(Clone, Debug)]
pub struct File {
    pub attachment: Attachment,
    pub bytes: Vec<u8>,
}

fn missing(id: AttachmentId) -> Refusal {
    Refusal::missing(format!("there is no attachment {id}"))
}

pub fn owner(whole: &mut Whole<'_, '_>, id: AttachmentId) -> Result<OrganizationId, AppError> {
    whole.allow(&OWNER)?;
    Ok(attachments::owner(whole.tx, id)?.ok_or_else(|| missing(id))?)
}

fn nothing(subject: Subject) -> Refusal {
    Refusal::missing(match subject {
        Subject::Reimbursement(id) => format!("there is no reimbursement {id}"),
        Subject::Entry(id) => format!("there is no journal entry {id}"),
    })
}

fn check_subject<M>(act: &mut Act<'_, '_, M>, subject: Subject) -> Result<(), AppError> {
    let is_there = match subject {
        Subject::Reimbursement(id) => act.get::<Reimbursement>(id)?.is_some(),
        Subject::Entry(id) => journal::get(act.tx, act.organization, id)?.is_some(),
    };
    match is_there {
        true => Ok(()),
        false => Err(nothing(subject).into()),
    }
}

/// The same file twice at one place is refused.
pub fn add(act: &mut Act<'_, '_>, new: &NewAttachment) -> Result<Attachment, AppError> {
    act.allow(&ATTACH)?;
    check_subject(act, new.subject)?;
    let (id, now) = (act.new_id(), act.now());
    let attachment = Attachment::new(id, new.subject, &new.name, &new.bytes, now)?;
    let others = attachments::of(act.tx, act.organization, new.subject)?;
    if let Some(same) = others.iter().find(|other| other.sha256 == attachment.sha256) {
        let message = format!("the same file is attached already: {} ({})", same.name, same.id);
        return Err(Refusal::conflict(message).into());
    }
    attachments::insert(act.tx, act.organization, &attachment, &new.bytes)?;
    act.log(ATTACH.name, Some(id.to_string()), None)?;
    Ok(attachment)
}

/// Those of a reimbursement or an entry, or all; by id.
pub fn list(view: &mut View<'_, '_>, of: Option<Subject>) -> Result<Vec<Attachment>, AppError> {
    view.allow(&READ)?;
    Ok(match of {
        Some(subject) => {
            check_subject(view, subject)?;
            attachments::of(view.tx, view.organization, subject)?
        }
        None => attachments::all(view.tx, view.organization)?,
    })
}

/// Refuses bytes that are not those that were attached.
pub fn get(view: &mut View<'_, '_>, id: AttachmentId) -> Result<File, AppError> {
    view.allow(&READ)?;
    let attachment = attachments::get(view.tx, view.organization, id)?.ok_or_else(|| missing(id))?;
    let parts = attachments::parts(view.tx, view.organization, id)?;
    let bytes: Vec<u8> = parts.into_iter().flat_map(|(_, part)| part).collect();
    match attachment.is_whole(&bytes) {
        true => Ok(File { attachment, bytes }),
        false => {
            let message = format!("the bytes of {id} are damaged; restore them from a backup");
            Err(bursar_db::DbError::Internal(message).into())
        }
    }
}

pub fn remove(act: &mut Act<'_, '_>, id: AttachmentId) -> Result<Attachment, AppError> {
    act.allow(&REMOVE)?;
    let attachment = attachments::get(act.tx, act.organization, id)?.ok_or_else(|| missing(id))?;
    if let Subject::Reimbursement(subject) = attachment.subject {
        let found: Reimbursement = act.find(subject)?;
        let is_open = matches!(
            found.status,
            ReimbursementStatus::Draft | ReimbursementStatus::Submitted | ReimbursementStatus::Rejected
        );
        if !is_open {
            let rule = format!(
                "the reimbursement is {}: what it was approved with stays",
                found.status.as_str()
            );
            return Err(Refusal::conflict(rule).into());
        }
    }
    attachments::remove(act.tx, act.organization, id)?;
    act.log(REMOVE.name, Some(id.to_string()), None)?;
    Ok(attachment)
}
