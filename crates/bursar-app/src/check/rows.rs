//! Rows one by one: their documents, their rules and what they refer to.

use bursar_db::{DbError, Stored, Tx, table};
use bursar_domain::fields::Fields;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::Currency;
use bursar_domain::organization::Organization;
use bursar_domain::{Reference, Refusal, Resource, Surroundings};

use super::{Check, Seen};

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
            self.references(organization.id, seen, &resource);
            Ok(())
        })
    }

    fn references<R: Resource>(&mut self, organization: OrganizationId, seen: &Seen, resource: &R) {
        resource.references(&mut |reference| {
            let (field, id, found) = match reference {
                Reference::Member(field, id) => (field, id.to_string(), seen.members.contains(&id)),
                Reference::Group(field, id) => (field, id.to_string(), seen.groups.contains_key(&id)),
                Reference::Listing(field, id) => (field, id.to_string(), seen.listings.contains(&id)),
                Reference::Organization(field, id) => {
                    (field, id.to_string(), self.organizations.contains_key(&id))
                }
            };
            if !found {
                self.problem(
                    "reference",
                    Some(organization),
                    resource.id(),
                    &format!("{field} names {id}, which does not exist here"),
                );
            }
        });
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
