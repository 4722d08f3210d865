//! What every resource has in common: an id, two stamps, a v1 representation and a line in a data bundle.

use serde::Serialize;

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

/// A resource of the API.
pub trait Resource: Clone + PartialEq + Send + 'static {
    /// What its id names.
    type Kind: Kind;
    /// Its name in a data bundle.
    const TYPE: &'static str;

    /// A resource with every field null or at its default.
    fn blank(id: Id<Self::Kind>, currency: Currency, stamps: Stamps) -> Self;
    /// Its id.
    fn id(&self) -> Id<Self::Kind>;
    /// Its stamps.
    fn stamps(&self) -> Stamps;
    /// Its stamps, to be moved.
    fn stamps_mut(&mut self) -> &mut Stamps;
    /// Lists its fields behind the id, in the order of the representation.
    fn write(&self, out: &mut Writer<'_>);
    /// Takes what a bundle's line says of its fields; id, organization and stamps are not among them.
    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal>;
    /// Whether acts can have led to it: the one rule that an import and a check of the data hold it against. What
    /// [`Resource::apply`] refuses is refused before.
    fn check(&self, around: &Surroundings) -> Result<(), Refusal>;
    /// What it refers to.
    fn references(&self, visit: &mut dyn FnMut(Reference));

    /// Its v1 representation, which starts with the id.
    fn document(&self) -> String {
        let mut out = String::with_capacity(384);
        let mut writer = Writer::open(&mut out, View::V1);
        writer.id(self.id());
        self.write(&mut writer);
        writer.close();
        out
    }

    /// Its line in a data bundle, without the line's end.
    fn bundle_line(
        &self,
        organization: OrganizationId,
        references: &mut dyn FnMut(OrganizationId) -> bool,
    ) -> String {
        let mut out = String::with_capacity(512);
        let mut writer = Writer::open(
            &mut out,
            View::Bundle {
                organization,
                references,
            },
        );
        writer.always("type", &Self::TYPE);
        writer.id(self.id());
        self.write(&mut writer);
        writer.close();
        out
    }
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
    /// A data bundle of this organization; `references` says which other organizations it may name.
    Bundle {
        organization: OrganizationId,
        references: &'a mut dyn FnMut(OrganizationId) -> bool,
    },
}

/// Writes the fields of a resource as one JSON object.
pub struct Writer<'a> {
    out: &'a mut String,
    view: View<'a>,
    empty: bool,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer")
            .field("out", &self.out)
            .finish_non_exhaustive()
    }
}

impl<'a> Writer<'a> {
    fn open(out: &'a mut String, view: View<'a>) -> Self {
        out.push('{');
        Self {
            out,
            view,
            empty: true,
        }
    }

    fn close(self) {
        self.out.push('}');
    }

    fn always(&mut self, key: &str, value: &impl Serialize) {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.out.push('"');
        self.out.push_str(key);
        self.out.push_str("\":");
        // Ids, numbers, texts and lists of them: values that always have a JSON form.
        match serde_json::to_string(value) {
            Ok(json) => self.out.push_str(&json),
            Err(_) => self.out.push_str("null"),
        }
    }

    /// The id; a bundle names the organization right behind it.
    pub fn id<K: Kind>(&mut self, id: Id<K>) {
        self.always("id", &id);
        if let View::Bundle { organization, .. } = self.view {
            self.always("organizationId", &organization);
        }
    }

    /// A field of the v1 representation.
    pub fn field(&mut self, key: &str, value: &impl Serialize) {
        self.always(key, value);
    }

    /// A reference to another organization: null in a bundle that does not carry that one.
    pub fn organization(&mut self, key: &str, value: Option<OrganizationId>) {
        let shown = match &mut self.view {
            View::V1 => value,
            View::Bundle { references, .. } => value.filter(|id| references(*id)),
        };
        self.always(key, &shown);
    }

    /// A field that v1 hides and a bundle carries.
    pub fn hidden(&mut self, key: &str, value: &impl Serialize) {
        if matches!(self.view, View::Bundle { .. }) {
            self.always(key, value);
        }
    }

    /// A field that v1 shows and a bundle leaves out, because it follows from others.
    pub fn derived(&mut self, key: &str, value: &impl Serialize) {
        if matches!(self.view, View::V1) {
            self.always(key, value);
        }
    }

    /// Both stamps.
    pub fn stamps(&mut self, stamps: Stamps) {
        self.always("createdAt", &stamps.created_at);
        self.always("updatedAt", &stamps.updated_at);
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
