//! The attachments of a bundle: a line for each, and lines with their bytes in parts.

use bursar_db::{Tx, attachments, journal};
use bursar_domain::Refusal;
use bursar_domain::attachment::{Attachment, ContentType, Part, Subject};
use bursar_domain::fields::Fields;
use bursar_domain::ids::OrganizationId;
use bursar_domain::reimbursement::Reimbursement;

use super::ImportError;
use super::load::Load;
use super::record::exists;
use super::scan::owned;
use crate::error::AppError;

impl Load<'_> {
    pub(super) fn attachment(&mut self, tx: &mut Tx<'_>, mut fields: Fields<'_>) -> Result<(), AppError> {
        let (id, organization) = owned(&mut fields)?;
        self.known_organization(organization)?;
        let mut fields = fields.new_record(true);
        let attachment = Attachment::read(id, &mut fields)?;
        fields.finish()?;
        self.check_attachment(tx, organization, &attachment)?;
        if !self.first_import {
            if attachments::owner(tx, id)?.is_some_and(|owner| owner != organization) {
                let rule = format!("{id} belongs to another organization");
                return Err(Refusal::invalid("id", rule).into());
            }
            if let Some(known) = attachments::get(tx, organization, id)? {
                if known != attachment {
                    let rule = format!("{id} is there with other content; attachments never change");
                    return Err(Refusal::invalid("id", rule).into());
                }
                self.done.unchanged += 1;
                return Ok(());
            }
        }
        let row = attachments::row_values(organization, &attachment);
        self.attachments.push((self.number, organization, attachment));
        self.add(tx, &attachments::ATTACHMENTS, row)?;
        self.done.added += 1;
        Ok(())
    }

    fn check_attachment(
        &self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        attachment: &Attachment,
    ) -> Result<(), AppError> {
        let (field, is_known) = match attachment.subject {
            Subject::Reimbursement(id) => (
                "reimbursementId",
                self.plan.known.has(id, organization) || exists::<Reimbursement>(tx, organization, id)?,
            ),
            Subject::Entry(id) => (
                "entryId",
                self.plan.known.has(id, organization) || journal::get(tx, organization, id)?.is_some(),
            ),
        };
        if !is_known {
            let subject = attachment.subject;
            let rule =
                format!("{subject} is neither in this bundle nor in the database for this organization");
            return Err(Refusal::invalid(field, rule).into());
        }
        match attachment.created_at > self.now {
            true => {
                let rule = format!("must not be in the future, got {}", attachment.created_at);
                Err(Refusal::invalid("createdAt", rule).into())
            }
            false => Ok(()),
        }
    }

    /// A part that is known must be equal.
    pub(super) fn attachment_part(
        &mut self,
        tx: &mut Tx<'_>,
        mut fields: Fields<'_>,
    ) -> Result<(), AppError> {
        let organization = fields.id("organizationId")?.required()?;
        self.known_organization(organization)?;
        let mut fields = fields.new_record(true);
        let part = Part::read(&mut fields)?;
        fields.finish()?;
        let id = part.attachment;
        if !self.plan.known.has(id, organization) {
            let rule = format!("{id} is not in this bundle; its own line is missing");
            return Err(Refusal::invalid("attachmentId", rule).into());
        }
        let known = match self.first_import {
            true => None,
            false => attachments::part(tx, organization, id, part.number)?,
        };
        match known {
            Some(known) if known == part.data => {
                self.done.unchanged += 1;
                Ok(())
            }
            Some(_) => {
                let rule = format!("differs from what is kept of {id}; attachments never change");
                Err(Refusal::invalid("data", rule).into())
            }
            None => {
                // At once, because thousands of parts are too much to keep.
                let row = attachments::part_values(organization, id, part.number, &part.data);
                tx.load(&attachments::ATTACHMENT_PARTS, &[row])?;
                self.done.added += 1;
                Ok(())
            }
        }
    }

    /// Every attachment that the bundle brought is whole, and is what it says.
    pub(super) fn prove_attachments(&mut self, tx: &mut Tx<'_>) -> Result<(), ImportError> {
        for (line, organization, attachment) in std::mem::take(&mut self.attachments) {
            let parts = attachments::parts(tx, organization, attachment.id)?;
            let bytes: Vec<u8> = parts.into_iter().flat_map(|(_, part)| part).collect();
            let refusal = if !attachment.is_whole(&bytes) {
                let rule = format!(
                    "disagrees with the parts of {}: together they have {} bytes, or another SHA-256 sum",
                    attachment.id,
                    bytes.len()
                );
                Refusal::invalid("sha256", rule)
            } else if ContentType::of(&bytes) != Some(attachment.content_type) {
                Refusal::invalid("contentType", "must be what the content is")
            } else {
                continue;
            };
            return Err(ImportError::Line(line, refusal));
        }
        Ok(())
    }
}
