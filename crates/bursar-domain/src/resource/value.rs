//! The types that a field can have, and their form in the database, in a bundle and in a schema.

use std::borrow::Cow;

use serde::Serialize;

use super::{Reference, Spec};
use crate::fields::{Fields, Given};
use crate::ids::{Id, Kind, kind};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::states::Word;
use crate::time::{Date, Timestamp};

/// A value as the database keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell<'a> {
    Null,
    /// Booleans are 0 and 1.
    Int(i64),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
}

impl Cell<'_> {
    /// Lists in resources always have a JSON form.
    pub fn json(list: &impl Serialize) -> Cell<'static> {
        Cell::Text(serde_json::to_string(list).unwrap_or_default().into())
    }

    fn int(&self) -> Option<i64> {
        match self {
            Cell::Int(value) => Some(*value),
            Cell::Null | Cell::Text(_) | Cell::Bytes(_) => None,
        }
    }

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Boolean,
    Integer,
    Date,
    Timestamp,
    /// In the resource's currency.
    Money,
    Currency,
    /// The id prefix.
    Id(&'static str),
    /// The id prefix. The ids ascend.
    Ids(&'static str),
    Word(&'static [&'static str]),
    /// Kept as JSON.
    List,
}

pub trait FieldValue: Serialize + Sized {
    const TYPE: FieldType;
    const IS_NULLABLE: bool = false;

    fn cell(&self) -> Cell<'_>;
    /// `None` if the cell does not hold such a value.
    fn load(cell: &Cell<'_>, currency: Currency) -> Option<Self>;
    /// Reads the field from a bundle line.
    fn take(fields: &mut Fields<'_>, spec: &Spec, currency: Currency) -> Result<Given<Self>, Refusal>;
    fn references(&self, _field: &'static str, _visit: &mut dyn FnMut(Reference)) {}
}

impl<T: FieldValue> FieldValue for Option<T> {
    const TYPE: FieldType = T::TYPE;
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

/// Implements [`FieldValue`] for types without parameters.
macro_rules! field_values {
    ($($type:ty: $field_type:ident {
        cell: |$value:ident| $cell:expr,
        load: |$kept:ident, $currency:ident| $load:expr,
        take: |$fields:ident, $spec:ident, $own:ident| $take:expr,
    })*) => {$(
        impl $crate::resource::FieldValue for $type {
            const TYPE: $crate::resource::FieldType = $crate::resource::FieldType::$field_type;

            fn cell(&self) -> $crate::resource::Cell<'_> {
                let $value = self;
                $cell
            }

            fn load($kept: &$crate::resource::Cell<'_>, $currency: $crate::money::Currency) -> Option<Self> {
                $load
            }

            fn take(
                $fields: &mut $crate::fields::Fields<'_>,
                $spec: &$crate::resource::Spec,
                $own: $crate::money::Currency,
            ) -> Result<$crate::fields::Given<Self>, $crate::refusal::Refusal> {
                $take
            }
        }
    )*};
}
pub(crate) use field_values;

field_values! {
    String: Text {
        cell: |value| Cell::Text(value.into()),
        load: |kept, _currency| kept.text().map(str::to_owned),
        take: |fields, spec, _currency| fields.string(spec.name, |raw| spec.rule.check(raw)),
    }
    bool: Boolean {
        cell: |value| Cell::Int(i64::from(*value)),
        load: |kept, _currency| kept.int().filter(|value| matches!(value, 0 | 1)).map(|value| value == 1),
        take: |fields, spec, _currency| fields.boolean(spec.name),
    }
    i64: Integer {
        cell: |value| Cell::Int(*value),
        load: |kept, _currency| kept.int(),
        take: |fields, spec, _currency| fields.integer(spec.name, spec.rule.range()),
    }
    i8: Integer {
        cell: |value| Cell::Int(i64::from(*value)),
        load: |kept, _currency| Self::try_from(kept.int()?).ok(),
        // The field's rule is narrower than the type.
        take: |fields, spec, currency| {
            i64::take(fields, spec, currency).map(|given| given.map(|value| Self::try_from(value).unwrap_or(Self::MAX)))
        },
    }
    Date: Date {
        cell: |value| Cell::Text(value.to_string().into()),
        load: |kept, _currency| Self::parse(kept.text()?),
        take: |fields, spec, _currency| fields.date(spec.name),
    }
    Timestamp: Timestamp {
        cell: |value| Cell::Int(value.micros()),
        load: |kept, _currency| kept.int().map(Self::from_micros),
        take: |fields, spec, _currency| fields.timestamp(spec.name),
    }
    Money: Money {
        cell: |value| Cell::Int(value.minor),
        load: |kept, currency| kept.int().map(|minor| Self::new(minor, currency)),
        take: |fields, spec, currency| fields.money(spec.name, currency),
    }
    Currency: Currency {
        cell: |value| Cell::Text(value.code().into()),
        load: |kept, _currency| Self::parse(kept.text()?),
        take: |fields, spec, currency| fields.own_currency(spec.name, currency),
    }
    Vec<String>: List {
        cell: |value| Cell::json(value),
        load: |kept, _currency| serde_json::from_str(kept.text()?).ok(),
        take: |fields, spec, _currency| fields.strings(spec.name, |raw| spec.rule.check(raw)),
    }
}

impl<W: Word> FieldValue for W {
    const TYPE: FieldType = FieldType::Word(W::TEXTS);

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
    const TYPE: FieldType = FieldType::Id(K::PREFIX);

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

/// Kept as the bytes of the ids, one after another.
impl<K: Referred> FieldValue for Vec<Id<K>> {
    const TYPE: FieldType = FieldType::Ids(K::PREFIX);

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

/// A kind of thing that resources can refer to.
pub trait Referred: Kind + Sized {
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
referred!(Member, Group, Listing, Organization, Payment, Account);

/// The value of a field that nobody has set.
pub trait Blank {
    /// `currency` is the resource's.
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
