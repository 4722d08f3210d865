//! One line of a bundle: its type, and how it is read.

use bursar_db::{DbError, Stored, Tx, table};
use bursar_domain::fields::Fields;
use bursar_domain::ids::{Id, OrganizationId};
use bursar_domain::money::Currency;
use bursar_domain::{Refusal, Stamps, Timestamp, words};

use crate::error::AppError;

words! {
    /// The types of records.
    RecordType {
        Organization "organization",
        User "user",
        Role "role",
        Policy "policy",
        Member "member",
        Group "group",
        Payment "payment",
        Reimbursement "reimbursement",
        Reminder "reminder",
        Card "card",
        Campaign "campaign",
        Listing "storeListing",
        Order "storeOrder",
        Account "account",
        Entry "journalEntry",
        Receipt "receipt",
        Attachment "attachment",
        AttachmentPart "attachmentPart",
        Statement "statement",
        StatementLine "statementLine",
    }
}

pub(super) fn open(line: &str) -> Result<(RecordType, Fields<'_>), Refusal> {
    let mut fields = Fields::parse(line)?;
    let record_type = fields.word("type")?.required()?;
    Ok((record_type, fields))
}

/// A resource's id, organization and stamps as its line gives them.
pub(super) struct Header<R: Stored> {
    pub(super) id: Id<R::Kind>,
    pub(super) organization: OrganizationId,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
}

impl<R: Stored> Header<R> {
    /// A known id without its organization keeps it, as it keeps every field left out.
    pub(super) fn read(fields: &mut Fields<'_>, tx: &mut Tx<'_>) -> Result<Self, AppError> {
        let id = fields.id("id")?.required()?;
        let organization = match fields.id("organizationId")?.unless_null()? {
            Some(organization) => organization,
            None => table::owner::<R>(tx, id)?
                .ok_or_else(|| Refusal::invalid("organizationId", "is required for a record that is new"))?,
        };
        Ok(Self {
            id,
            organization,
            created_at: fields.timestamp("createdAt")?.optional(),
            updated_at: fields.timestamp("updatedAt")?.optional(),
        })
    }

    /// Stamps must be in order and not ahead of the wall clock.
    pub(super) fn check_stamps(&self, now: Timestamp) -> Result<(), Refusal> {
        let past = |field: &'static str, stamp: Option<Timestamp>| match stamp {
            Some(stamp) if stamp > now => Err(Refusal::invalid(
                field,
                format!("must not be in the future, got {stamp}"),
            )),
            Some(_) | None => Ok(()),
        };
        past("createdAt", self.created_at)?;
        past("updatedAt", self.updated_at)?;
        match (self.created_at, self.updated_at) {
            (Some(created), Some(updated)) if updated < created => Err(Refusal::invalid(
                "updatedAt",
                format!("must not be before createdAt, {created}, got {updated}"),
            )),
            _ => Ok(()),
        }
    }

    /// The resource after the line is applied. It keeps its previous stamps.
    pub(super) fn apply(
        &self,
        fields: Fields<'_>,
        before: Option<&R>,
        currency: Currency,
    ) -> Result<R, Refusal> {
        let blank = || R::blank(self.id, currency, Stamps::at(Timestamp::from_micros(0)));
        let mut after = before.cloned().unwrap_or_else(blank);
        let mut fields = fields.new_record(before.is_none());
        after.apply(&mut fields)?;
        fields.finish()?;
        Ok(after)
    }

    /// The resource in the database. Refuses an id that belongs to another organization.
    pub(super) fn before(&self, tx: &mut Tx<'_>) -> Result<Option<R>, AppError> {
        match table::owner::<R>(tx, self.id)? {
            None => Ok(None),
            Some(owner) if owner == self.organization => Ok(table::get(tx, self.organization, self.id)?),
            Some(_) => {
                Err(Refusal::invalid("id", format!("{} belongs to another organization", self.id)).into())
            }
        }
    }
}

pub(super) fn exists<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: Id<R::Kind>,
) -> Result<bool, DbError> {
    Ok(table::owner::<R>(tx, id)? == Some(organization))
}
