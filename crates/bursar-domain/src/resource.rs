//! What every resource has in common: an id, two stamps, a v1 representation and a line in a data bundle.

mod field;
mod value;

use serde::Serialize;

pub use self::field::{Field, Spec, ValueRule, Visibility};
pub(crate) use self::field::{blank, resource};
pub(crate) use self::value::field_values;
pub use self::value::{Blank, Cell, FieldType, FieldValue, Referred};

use crate::aside::Aside;
use crate::fields::Fields;
use crate::ids::{self, AccountId, GroupId, Id, Kind, ListingId, MemberId, OrganizationId, PaymentId};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::time::{Date, Timestamp};

/// Both come from the organization's change clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    pub created_at: Timestamp,
    /// When any field of the representation last changed.
    pub updated_at: Timestamp,
}

impl Stamps {
    pub const fn at(at: Timestamp) -> Self {
        Self {
            created_at: at,
            updated_at: at,
        }
    }
}

/// The field that holds the reference, and what it names. All but `Organization` are in the same
/// organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    Member(&'static str, MemberId),
    Group(&'static str, GroupId),
    Listing(&'static str, ListingId),
    Organization(&'static str, OrganizationId),
    Payment(&'static str, PaymentId),
    Account(&'static str, AccountId),
}

/// What a resource is checked against besides its own fields.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// No stamp may be later.
    pub now: Timestamp,
    /// The organization was imported from an export without the organizations above it, so a reference to an
    /// organization may be missing.
    pub is_part: bool,
}

impl Surroundings {
    /// Today in the zone that is farthest ahead.
    pub fn latest_day(&self) -> Date {
        self.now.plus_seconds(14 * 3_600).date()
    }

    /// Refuses a time in the future.
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

/// Refuses a stamp outside the states it belongs to. In those it may be null too: not every source keeps it.
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

/// Declared with [`resource!`](field).
pub trait Resource: Invariants + Clone + PartialEq + Send + 'static {
    type Kind: Kind;
    /// The record type in a data bundle.
    const TYPE: &'static str;
    /// The description in the API reference.
    const ABOUT: &'static str;
    /// In the order of the representation, without the id and the stamps.
    const FIELDS: &'static [Field<Self>];

    /// Every field is null or has its default.
    fn blank(id: Id<Self::Kind>, currency: Currency, stamps: Stamps) -> Self;
    fn id(&self) -> Id<Self::Kind>;
    fn stamps(&self) -> Stamps;
    fn stamps_mut(&mut self) -> &mut Stamps;

    fn references(&self, visit: &mut dyn FnMut(Reference)) {
        for field in Self::FIELDS {
            (field.references)(self, field.spec.name, visit);
        }
    }

    /// The v1 representation. It starts with the id.
    fn document(&self) -> String {
        write(self, View::V1)
    }

    /// The line in a data bundle, without the line end. `references` says which other organizations it may
    /// name.
    fn bundle_line(
        &self,
        organization: OrganizationId,
        references: &mut dyn FnMut(OrganizationId) -> bool,
    ) -> String {
        write(self, View::Bundle(organization, references))
    }
}

/// Rules of a resource beyond the types and rules of its fields.
pub trait Invariants: Sized {
    const SHOWS_UPDATED_AT: bool = true;

    /// Reads the fields of a bundle line, without id, organization and stamps.
    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal>
    where
        Self: Resource,
    {
        take_fields(self, fields)
    }

    /// Called after the fields were read from the database. The error says what is inconsistent.
    fn loaded(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Whether operations can have led to this state. An import and `bursar check` both ask it. What
    /// [`Invariants::apply`] refuses is refused earlier.
    fn check(&self, _around: &Surroundings) -> Result<(), Refusal> {
        Ok(())
    }

    /// What is kept beside the row.
    fn aside(&self) -> Option<Aside> {
        None
    }
}

/// Refuses dates far from today, unless they stood there before.
pub fn check_dates<R: Resource>(after: &R, before: Option<&R>, today: Date) -> Result<(), Refusal> {
    for field in R::FIELDS
        .iter()
        .filter(|field| field.field_type == FieldType::Date)
    {
        let cell = (field.cell)(after);
        let is_new = before.is_none_or(|before| (field.cell)(before).text() != cell.text());
        if let Some(date) = cell.text().and_then(Date::parse).filter(|_| is_new) {
            date.plausible(today)
                .map_err(|rule| Refusal::invalid(field.spec.name, rule))?;
        }
    }
    Ok(())
}

/// Reads the currency first: in another currency, amounts cannot be read.
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

/// The key of the id at the start of a representation. Representations of one kind sort by id as text.
pub fn leading_key(document: &[u8]) -> Option<[u8; 16]> {
    let id = document.strip_prefix(b"{\"id\":\"")?;
    let end = id.iter().position(|byte| *byte == b'"')?;
    let digits = id[..end].rsplit(|byte| *byte == b'_').next()?;
    ids::decode(digits).map(u128::to_be_bytes)
}

enum View<'a> {
    V1,
    /// For this organization. The function says which others it may name.
    Bundle(OrganizationId, &'a mut dyn FnMut(OrganizationId) -> bool),
}

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

/// Whether the field names an organization that is not in the bundle.
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

pub(crate) fn push(out: &mut String, key: &str, value: &impl Serialize) {
    push_key(out, key);
    push_json(out, value);
}

pub(crate) fn push_key(out: &mut String, key: &str) {
    out.push(if out.is_empty() { '{' } else { ',' });
    out.push('"');
    out.push_str(key);
    out.push_str("\":");
}

pub(crate) fn push_json(out: &mut String, value: &impl Serialize) {
    // Only ids, numbers, texts and lists of them get here. They always have a JSON form.
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
