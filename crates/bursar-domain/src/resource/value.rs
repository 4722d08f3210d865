//! What a field can hold, and what follows from it: the form in a database, in a bundle and in a schema.

use std::borrow::Cow;

use serde::Serialize;

use super::{Reference, Spec};
use crate::fields::{Fields, Given};
use crate::ids::{Id, Kind, kind};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::states::Word;
use crate::time::{Date, Timestamp};

/// A value as a database keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Nothing.
    Null,
    /// A number; booleans are 0 and 1.
    Int(i64),
    /// A text.
    Text(Cow<'a, str>),
    /// Bytes.
    Bytes(Cow<'a, [u8]>),
}

impl Cell<'_> {
    /// A list as JSON. What resources hold always has a JSON form.
    pub fn json(list: &impl Serialize) -> Cell<'static> {
        Cell::Text(serde_json::to_string(list).unwrap_or_default().into())
    }

    fn int(&self) -> Option<i64> {
        match self {
            Cell::Int(value) => Some(*value),
            Cell::Null | Cell::Text(_) | Cell::Bytes(_) => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Cell::Text(text) => Some(text),
            Cell::Null | Cell::Int(_) | Cell::Bytes(_) => None,
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Cell::Bytes(bytes) => Some(bytes),
            Cell::Null | Cell::Int(_) | Cell::Text(_) => None,
        }
    }
}

/// What a value is, for a column and a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text, by the rule of its field.
    Text,
    /// True or false.
    Boolean,
    /// A whole number, by the rule of its field.
    Integer,
    /// A day.
    Date,
    /// An instant.
    Timestamp,
    /// An amount in the resource's currency.
    Money,
    /// A currency.
    Currency,
    /// The id of a thing with this prefix.
    Id(&'static str),
    /// Ids of things with this prefix, ascending.
    Ids(&'static str),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list that a database keeps as JSON.
    List,
}

/// A type that a field can have.
pub trait FieldValue: Serialize + Sized {
    /// What it is.
    const SHAPE: Shape;
    /// Whether it can be null.
    const IS_NULLABLE: bool = false;

    /// The value as a database keeps it.
    fn cell(&self) -> Cell<'_>;
    /// Reads what a database keeps; `None` for anything else.
    fn load(cell: &Cell<'_>, currency: Currency) -> Option<Self>;
    /// Takes it from a bundle's line.
    fn take(fields: &mut Fields<'_>, spec: &Spec, currency: Currency) -> Result<Given<Self>, Refusal>;
    /// What it refers to.
    fn references(&self, _field: &'static str, _visit: &mut dyn FnMut(Reference)) {}
}

impl<T: FieldValue> FieldValue for Option<T> {
    const SHAPE: Shape = T::SHAPE;
    const IS_NULLABLE: bool = true;

    fn cell(&self) -> Cell<'_> {
        self.as_ref().map_or(Cell::Null, T::cell)
    }

    fn load(cell: &Cell<'_>, currency: Currency) -> Option<Self> {
        match cell {
            Cell::Null => Some(None),
            cell => T::load(cell, currency).map(Some),
        }
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, currency: Currency) -> Result<Given<Self>, Refusal> {
        T::take(fields, spec, currency).map(Given::or_null)
    }

    fn references(&self, field: &'static str, visit: &mut dyn FnMut(Reference)) {
        if let Some(value) = self {
            value.references(field, visit);
        }
    }
}

impl FieldValue for String {
    const SHAPE: Shape = Shape::Text;

    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.into())
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        cell.text().map(str::to_owned)
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.string(spec.name, |raw| spec.rule.check(raw))
    }
}

impl FieldValue for bool {
    const SHAPE: Shape = Shape::Boolean;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(i64::from(*self))
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        match cell.int()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.boolean(spec.name)
    }
}

impl FieldValue for i64 {
    const SHAPE: Shape = Shape::Integer;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(*self)
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        cell.int()
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.integer(spec.name, spec.rule.range())
    }
}

impl FieldValue for i8 {
    const SHAPE: Shape = Shape::Integer;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(i64::from(*self))
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        Self::try_from(cell.int()?).ok()
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, currency: Currency) -> Result<Given<Self>, Refusal> {
        // The rule of the field is narrower than the type.
        let given = i64::take(fields, spec, currency)?;
        Ok(given.map(|value| Self::try_from(value).unwrap_or(Self::MAX)))
    }
}

impl FieldValue for Date {
    const SHAPE: Shape = Shape::Date;

    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.to_string().into())
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        Self::parse(cell.text()?)
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.date(spec.name)
    }
}

impl FieldValue for Timestamp {
    const SHAPE: Shape = Shape::Timestamp;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(self.micros())
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        cell.int().map(Self::from_micros)
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.timestamp(spec.name)
    }
}

impl FieldValue for Money {
    const SHAPE: Shape = Shape::Money;

    fn cell(&self) -> Cell<'_> {
        Cell::Int(self.minor)
    }

    fn load(cell: &Cell<'_>, currency: Currency) -> Option<Self> {
        cell.int().map(|minor| Self::new(minor, currency))
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, currency: Currency) -> Result<Given<Self>, Refusal> {
        fields.money(spec.name, currency)
    }
}

impl FieldValue for Currency {
    const SHAPE: Shape = Shape::Currency;

    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.code().into())
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        Self::parse(cell.text()?)
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, currency: Currency) -> Result<Given<Self>, Refusal> {
        fields.own_currency(spec.name, currency)
    }
}

impl<W: Word> FieldValue for W {
    const SHAPE: Shape = Shape::Word(W::TEXTS);

    fn cell(&self) -> Cell<'_> {
        Cell::Text(self.as_str().into())
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        Self::parse(cell.text()?)
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.word(spec.name)
    }
}

impl<K: Referred> FieldValue for Id<K> {
    const SHAPE: Shape = Shape::Id(K::PREFIX);

    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(self.to_bytes().to_vec().into())
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        cell.bytes()?.try_into().ok().map(Self::from_bytes)
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.id(spec.name)
    }

    fn references(&self, field: &'static str, visit: &mut dyn FnMut(Reference)) {
        visit(K::reference(field, *self));
    }
}

/// The bytes of the ids, one after another.
impl<K: Referred> FieldValue for Vec<Id<K>> {
    const SHAPE: Shape = Shape::Ids(K::PREFIX);

    fn cell(&self) -> Cell<'_> {
        Cell::Bytes(self.iter().flat_map(|id| id.to_bytes()).collect())
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        let (ids, rest) = cell.bytes()?.as_chunks::<16>();
        rest.is_empty()
            .then(|| ids.iter().map(|bytes| Id::from_bytes(*bytes)).collect())
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.ids(spec.name)
    }

    fn references(&self, field: &'static str, visit: &mut dyn FnMut(Reference)) {
        for id in self {
            visit(K::reference(field, *id));
        }
    }
}

impl FieldValue for Vec<String> {
    const SHAPE: Shape = Shape::List;

    fn cell(&self) -> Cell<'_> {
        Cell::json(self)
    }

    fn load(cell: &Cell<'_>, _: Currency) -> Option<Self> {
        serde_json::from_str(cell.text()?).ok()
    }

    fn take(fields: &mut Fields<'_>, spec: &Spec, _: Currency) -> Result<Given<Self>, Refusal> {
        fields.strings(spec.name, |raw| spec.rule.check(raw))
    }
}

/// A kind of thing that resources refer to.
pub trait Referred: Kind + Sized {
    /// The reference that a field holds.
    fn reference(field: &'static str, id: Id<Self>) -> Reference;
}

macro_rules! referred {
    ($($kind:ident),*) => {$(
        impl Referred for kind::$kind {
            fn reference(field: &'static str, id: Id<Self>) -> Reference {
                Reference::$kind(field, id)
            }
        }
    )*};
}
referred!(Member, Group, Listing, Organization);

/// What a field holds that nobody has set.
pub trait Blank {
    /// That value, in a resource with this currency.
    fn blank(currency: Currency) -> Self;
}

impl<T> Blank for Option<T> {
    fn blank(_: Currency) -> Self {
        None
    }
}

impl<T> Blank for Vec<T> {
    fn blank(_: Currency) -> Self {
        Self::new()
    }
}

impl<W: Word> Blank for W {
    fn blank(_: Currency) -> Self {
        W::FIRST
    }
}

impl Blank for Money {
    fn blank(currency: Currency) -> Self {
        Self::zero(currency)
    }
}

impl Blank for Currency {
    fn blank(currency: Currency) -> Self {
        currency
    }
}

macro_rules! blank_by_default {
    ($($type:ty),*) => {$(
        impl Blank for $type {
            fn blank(_: Currency) -> Self {
                Self::default()
            }
        }
    )*};
}
blank_by_default!(String, bool, i64);
