//! Rows one by one: their documents, their rules and what they refer to.

use bursar_db::{DbError, Stored, Tx, table};
use bursar_domain::chapter::Chapter;
use bursar_domain::fields::Fields;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::Currency;
use bursar_domain::organization::Organization;
use bursar_domain::{Reference, Refusal, Resource, Surroundings};

use super::{Check, Later, Seen};

/// References to what comes later that are kept. More are taken for unknown.
const LATER_MAX: usize = 1_000_000;

/// Whether an import would accept the row from its line in an export.
fn importable<R: Resource>(
    organization: &Organization,
    around: &Surroundings,
    resource: &R,
) -> Result<(), Refusal> {
    let line = resource.bundle_line(organization.id, &mut |_| true);
    let mut fields = Fields::parse(&line)?.new_record(true);
    for known in ["type", "id", "organizationId", "createdAt", "updatedAt"] {
        fields.skip(known);
    }
    let mut again = R::blank(resource.id(), organization.currency, resource.stamps());
    match again.apply(&mut fields) {
        // Reported by `Check::currency`.
        Err(refusal) if refusal.field() == Some("currency") => Ok(()),
        Err(refusal) => Err(refusal),
        Ok(()) => resource.check(around),
    }
}

impl Check<'_> {
    pub(super) fn rows<R: Stored>(
        &mut self,
        tx: &mut Tx<'_>,
        organization: &Organization,
        seen: &mut Seen,
        mut note: impl FnMut(&mut Self, &mut Seen, &R),
    ) -> Result<(), DbError> {
        table::each::<R>(tx, organization.id, |kept| {
            self.done.rows += 1;
            if self.done.rows.is_multiple_of(1_000) {
                (self.progress)(self.done.rows);
            }
            let resource = match kept.resource {
                Ok(resource) => resource,
                Err(error) => {
                    self.problem("row", Some(organization.id), kept.id, &error.to_string());
                    return Ok(());
                }
            };
            if R::TYPE != Chapter::TYPE {
                let at = resource.stamps().updated_at.micros();
                seen.fresh.add(at, resource.id().to_bytes(), kept.document);
            }
            seen.newest = seen.newest.max(resource.stamps().updated_at.micros());
            if resource.document() != kept.document {
                self.problem(
                    "document",
                    Some(organization.id),
                    resource.id(),
                    "the kept representation differs from the row's fields",
                );
            }
            if let Err(refusal) = importable(organization, &seen.around, &resource) {
                self.problem("rule", Some(organization.id), resource.id(), refusal.message());
            }
            note(self, seen, &resource);
            self.references(organization.id, &mut *seen, &resource);
            Ok(())
        })
    }

    /// A member can name one that comes later, and a payment too: those are looked up again at the end.
    fn references<R: Resource>(&mut self, organization: OrganizationId, seen: &mut Seen, resource: &R) {
        let mut unknown = Vec::new();
        resource.references(&mut |reference| {
            if !self.knows(seen, reference) {
                unknown.push(reference);
            }
        });
        for reference in unknown {
            let subject = resource.id().to_string();
            match reference {
                Reference::Member(..) | Reference::Payment(..) if seen.later.len() < LATER_MAX => {
                    seen.later.push(Later { subject, reference });
                }
                _ => self.unknown(organization, subject, reference),
            }
        }
    }

    pub(super) fn references_again(&mut self, organization: OrganizationId, seen: &Seen) {
        for later in &seen.later {
            if !self.knows(seen, later.reference) {
                self.unknown(organization, later.subject.clone(), later.reference);
            }
        }
    }

    fn knows(&self, seen: &Seen, reference: Reference) -> bool {
        match reference {
            Reference::Member(_, id) => seen.members.contains(&id),
            Reference::Group(_, id) => seen.groups.contains_key(&id),
            Reference::Listing(_, id) => seen.listings.contains(&id),
            Reference::Organization(_, id) => self.organizations.contains_key(&id),
            Reference::Payment(_, id) => seen.owed.contains_key(&id.to_bytes()),
            Reference::Account(_, id) => seen.accounts.contains(&id),
        }
    }

    fn unknown(&mut self, organization: OrganizationId, subject: String, reference: Reference) {
        let (field, id) = match reference {
            Reference::Member(field, id) => (field, id.to_string()),
            Reference::Group(field, id) => (field, id.to_string()),
            Reference::Listing(field, id) => (field, id.to_string()),
            Reference::Organization(field, id) => (field, id.to_string()),
            Reference::Payment(field, id) => (field, id.to_string()),
            Reference::Account(field, id) => (field, id.to_string()),
        };
        let message = format!("{field} names {id}, which does not exist here");
        self.problem("reference", Some(organization), subject, &message);
    }

    pub(super) fn currency(
        &mut self,
        organization: OrganizationId,
        currency: Currency,
        subject: &impl ToString,
    ) {
        let own = self.organizations.get(&organization).map(|o| o.currency);
        if own.is_some_and(|own| own != currency) {
            self.problem(
                "currency",
                Some(organization),
                subject.to_string(),
                &format!("is in {currency}, not in the organization's currency"),
            );
        }
    }
}
