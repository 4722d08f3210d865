//! What every resource has in common: an id, two stamps, a v1 representation and a line in a data bundle.

mod field;
mod value;

use serde::Serialize;

pub use self::field::{Field, Spec, ValueRule, Visibility};
pub(crate) use self::field::{blank, resource};
pub(crate) use self::value::field_values;
pub use self::value::{Blank, Cell, FieldType, FieldValue, Referred};

use crate::fields::Fields;
use crate::ids::{self, GroupId, Id, Kind, ListingId, MemberId, OrganizationId};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::time::Timestamp;

/// When a resource was made and last changed, by its organization's change clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// When it was made.
    pub created_at: Timestamp,
    /// When any field of its representation last changed.
    pub updated_at: Timestamp,
}

impl Stamps {
    /// Made and last changed at once.
    pub const fn at(at: Timestamp) -> Self {
        Self {
            created_at: at,
            updated_at: at,
        }
    }
}

/// A reference from one resource to another thing, with the field that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A member of the same organization.
    Member(&'static str, MemberId),
    /// A group of the same organization.
    Group(&'static str, GroupId),
    /// A store listing of the same organization.
    Listing(&'static str, ListingId),
    /// Any organization of this database.
    Organization(&'static str, OrganizationId),
}

/// What a resource is judged by beside its own fields.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Nothing can have happened later.
    pub now: Timestamp,
    /// The organization came from an export without what is above it: a reference to an organization may be missing,
    /// because the export left it out.
    pub is_part: bool,
}

impl Surroundings {
    /// Something that happened did so in the past.
    pub fn past(&self, field: &'static str, at: Option<Timestamp>) -> Result<(), Refusal> {
        match at.filter(|at| *at > self.now) {
            Some(at) => Err(Refusal::invalid(
                field,
                format!("must not be in the future, got {at}"),
            )),
            None => Ok(()),
        }
    }
}

/// A stamp that belongs to some states is null in the others. In its own states it may be null too: not everybody
/// kept it.
pub(crate) fn only_when(
    field: &'static str,
    at: Option<Timestamp>,
    holds: bool,
    states: &str,
) -> Result<(), Refusal> {
    match at {
        Some(_) if !holds => Err(Refusal::invalid(
            field,
            format!("must be null unless the status is {states}"),
        )),
        Some(_) | None => Ok(()),
    }
}

/// A resource of the API. [`resource!`](field) declares one.
pub trait Resource: Invariants + Clone + PartialEq + Send + 'static {
    /// What its id names.
    type Kind: Kind;
    /// Its name in a data bundle.
    const TYPE: &'static str;
    /// What it is, for readers of the API's reference.
    const ABOUT: &'static str;
    /// Its fields behind the id and before the stamps, in the order of the representation.
    const FIELDS: &'static [Field<Self>];

    /// A resource with every field null or at its default.
    fn blank(id: Id<Self::Kind>, currency: Currency, stamps: Stamps) -> Self;
    /// Its id.
    fn id(&self) -> Id<Self::Kind>;
    /// Its stamps.
    fn stamps(&self) -> Stamps;
    /// Its stamps, to be moved.
    fn stamps_mut(&mut self) -> &mut Stamps;

    /// What it refers to.
    fn references(&self, visit: &mut dyn FnMut(Reference)) {
        for field in Self::FIELDS {
            (field.references)(self, field.spec.name, visit);
        }
    }

    /// Its v1 representation, which starts with the id.
    fn document(&self) -> String {
        write(self, View::V1)
    }

    /// Its line in a data bundle, without the line's end. `references` says which other organizations it may name.
    fn bundle_line(
        &self,
        organization: OrganizationId,
        references: &mut dyn FnMut(OrganizationId) -> bool,
    ) -> String {
        write(self, View::Bundle(organization, references))
    }
}

/// What a resource must be beside the types and rules of its fields.
pub trait Invariants: Sized {
    /// Whether v1 shows `updatedAt`.
    const SHOWS_UPDATED_AT: bool = true;

    /// Takes what a bundle's line says of its fields; id, organization and stamps are not among them.
    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal>
    where
        Self: Resource,
    {
        take_fields(self, fields)
    }

    /// Looks at it after a database gave its fields; the error says what cannot be.
    fn loaded(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Whether acts can have led to it: the one rule that an import and a check of the data hold it against. What
    /// [`Invariants::apply`] refuses is refused before.
    fn check(&self, _around: &Surroundings) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Takes what a bundle's line says of the fields. The currency comes first: if it is another, amounts cannot be read.
pub(crate) fn take_fields<R: Resource>(resource: &mut R, fields: &mut Fields<'_>) -> Result<(), Refusal> {
    let is_currency = |field: &&Field<R>| field.field_type == FieldType::Currency;
    let own = R::FIELDS.iter().find(is_currency);
    let own = own.and_then(|field| Currency::parse((field.cell)(resource).text()?));
    let currency = own.unwrap_or(Currency::USD);
    let rest = R::FIELDS.iter().filter(|field| !is_currency(field));
    for field in R::FIELDS.iter().filter(is_currency).chain(rest) {
        match field.spec.visibility {
            Visibility::Everywhere | Visibility::InBundles => {
                (field.take)(resource, fields, &field.spec, currency)?
            }
            Visibility::InV1 => fields.skip(field.spec.name),
            Visibility::Nowhere => {}
        }
    }
    Ok(())
}

/// The key of the id that a representation starts with. Of two representations of one kind the one with the smaller id
/// is the smaller text.
pub fn leading_key(document: &[u8]) -> Option<[u8; 16]> {
    let id = document.strip_prefix(b"{\"id\":\"")?;
    let end = id.iter().position(|byte| *byte == b'"')?;
    let digits = id[..end].rsplit(|byte| *byte == b'_').next()?;
    ids::decode(digits).map(u128::to_be_bytes)
}

/// For whom fields are written.
enum View<'a> {
    /// The API's callers.
    V1,
    /// A data bundle of this organization, which may name some others.
    Bundle(OrganizationId, &'a mut dyn FnMut(OrganizationId) -> bool),
}

/// Writes a resource as one JSON object.
fn write<R: Resource>(resource: &R, mut view: View<'_>) -> String {
    let mut out = String::with_capacity(512);
    let is_bundle = matches!(view, View::Bundle(..));
    if is_bundle {
        push(&mut out, "type", &R::TYPE);
    }
    push(&mut out, "id", &resource.id());
    if let View::Bundle(organization, _) = view {
        push(&mut out, "organizationId", &organization);
    }
    for field in R::FIELDS {
        let is_seen = match field.spec.visibility {
            Visibility::Everywhere => true,
            Visibility::InBundles => is_bundle,
            Visibility::InV1 => !is_bundle,
            Visibility::Nowhere => false,
        };
        if !is_seen {
            continue;
        }
        push_key(&mut out, field.spec.name);
        match names_outsider(field, resource, &mut view) {
            true => out.push_str("null"),
            false => (field.json)(resource, &mut out),
        }
    }
    let stamps = resource.stamps();
    push(&mut out, "createdAt", &stamps.created_at);
    if is_bundle || R::SHOWS_UPDATED_AT {
        push(&mut out, "updatedAt", &stamps.updated_at);
    }
    out.push('}');
    out
}

/// Whether the field names an organization that the bundle does not carry.
fn names_outsider<R>(field: &Field<R>, resource: &R, view: &mut View<'_>) -> bool {
    let View::Bundle(_, carries) = view else {
        return false;
    };
    let mut is_outside = false;
    (field.references)(resource, field.spec.name, &mut |reference| {
        if let Reference::Organization(_, id) = reference {
            is_outside = !carries(id);
        }
    });
    is_outside
}

fn push(out: &mut String, key: &str, value: &impl Serialize) {
    push_key(out, key);
    push_json(out, value);
}

fn push_key(out: &mut String, key: &str) {
    out.push(if out.is_empty() { '{' } else { ',' });
    out.push('"');
    out.push_str(key);
    out.push_str("\":");
}

pub(crate) fn push_json(out: &mut String, value: &impl Serialize) {
    // Ids, numbers, texts and lists of them: values that always have a JSON form.
    match serde_json::to_string(value) {
        Ok(json) => out.push_str(&json),
        Err(_) => out.push_str("null"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::group::Group;
    use crate::ids::MemberId;
    use crate::member::Member;

    fn document<R: Resource>(bits: u128) -> String {
        let at = Timestamp::from_micros(1_790_000_000_123_456);
        let currency = Currency::parse("EUR").unwrap();
        R::blank(Id::from_bits(bits), currency, Stamps::at(at)).document()
    }

    proptest::proptest! {
        #[test]
        fn a_representation_starts_with_its_id_and_sorts_by_it(a: u128, b: u128) {
            for document in [document::<Member>, document::<Group>] {
                let (first, second) = (document(a), document(b));
                proptest::prop_assert_eq!(leading_key(first.as_bytes()), Some(a.to_be_bytes()));
                proptest::prop_assert_eq!(first.cmp(&second), a.cmp(&b));
            }
        }
    }

    #[test]
    fn what_does_not_start_with_an_id_has_no_key() {
        let id = MemberId::from_bits(7);
        for text in [
            "",
            "{}",
            "{\"id\":\"",
            "{\"id\":\"mem_7\"}",
            &format!("{{\"name\":\"x\",\"id\":\"{id}\"}}"),
            &format!("{{\"id\":\"{id}"),
        ] {
            assert_eq!(leading_key(text.as_bytes()), None, "{text}");
        }
    }
}
