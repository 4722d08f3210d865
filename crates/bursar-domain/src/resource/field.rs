//! The declaration of a resource's fields. Struct, representation, bundle, columns and schema follow from it.

use std::ops::RangeInclusive;

use super::{Cell, FieldType, Reference};
use crate::email::{check_email, check_phone};
use crate::fields::{Fields, Given};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::text::TextRule;

/// Where a field is shown. The database keeps all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    Everywhere,
    InBundles,
    /// It follows from other records, so a bundle leaves it out.
    InV1,
    /// Only in the database.
    Nowhere,
}

#[derive(Clone, Copy, Debug)]
pub enum ValueRule {
    Any,
    /// Written by people.
    Text(TextRule),
    /// Written by machines. A schema states only the lengths.
    Code(TextRule),
    Email,
    Phone,
    /// Both ends included.
    Range(i64, i64),
}

impl ValueRule {
    /// The text as it is kept. The error reads on after the field's name.
    pub(crate) fn check(self, raw: &str) -> Result<String, String> {
        match self {
            ValueRule::Text(rule) | ValueRule::Code(rule) => rule.check(raw),
            ValueRule::Email => check_email(raw),
            ValueRule::Phone => check_phone(raw),
            ValueRule::Any | ValueRule::Range(..) => Ok(raw.to_owned()),
        }
    }

    pub const fn range(self) -> RangeInclusive<i64> {
        match self {
            ValueRule::Range(least, most) => least..=most,
            ValueRule::Any
            | ValueRule::Text(_)
            | ValueRule::Code(_)
            | ValueRule::Email
            | ValueRule::Phone => i64::MIN..=i64::MAX,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// The name in JSON; empty for `Visibility::Nowhere`.
    pub name: &'static str,
    pub visibility: Visibility,
    pub rule: ValueRule,
    /// Set if the column has another name than the struct's field.
    column: Option<&'static str>,
    is_required: bool,
    /// API callers see it and cannot set it, though they can set other fields.
    pub is_read_only: bool,
}

impl Spec {
    const fn new(name: &'static str, visibility: Visibility) -> Self {
        Self {
            name,
            visibility,
            rule: ValueRule::Any,
            column: None,
            is_required: false,
            is_read_only: false,
        }
    }

    pub const fn shown(name: &'static str) -> Self {
        Self::new(name, Visibility::Everywhere)
    }

    pub const fn hidden(name: &'static str) -> Self {
        Self::new(name, Visibility::InBundles)
    }

    /// In v1 only, because it follows from other records.
    pub const fn derived(name: &'static str) -> Self {
        Self::new(name, Visibility::InV1)
    }

    pub const fn internal() -> Self {
        Self::new("", Visibility::Nowhere)
    }

    pub const fn text(self, rule: TextRule) -> Self {
        self.by(ValueRule::Text(rule))
    }

    pub const fn code(self, rule: TextRule) -> Self {
        self.by(ValueRule::Code(rule))
    }

    pub const fn email(self) -> Self {
        self.by(ValueRule::Email)
    }

    pub const fn phone(self) -> Self {
        self.by(ValueRule::Phone)
    }

    pub const fn range(self, least: i64, most: i64) -> Self {
        self.by(ValueRule::Range(least, most))
    }

    const fn by(mut self, rule: ValueRule) -> Self {
        self.rule = rule;
        self
    }

    pub const fn column(mut self, column: &'static str) -> Self {
        self.column = Some(column);
        self
    }

    pub(crate) const fn column_or(&self, field: &'static str) -> &'static str {
        match self.column {
            Some(column) => column,
            None => field,
        }
    }

    pub(crate) fn put<T>(&self, given: Given<T>, target: &mut T) -> Result<(), Refusal> {
        match self.is_required {
            true => given.fill(target),
            false => given.set(target),
        }
    }

    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    pub const fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }
}

#[derive(Debug)]
pub struct Field<R> {
    pub spec: Spec,
    pub column: &'static str,
    /// The description in the API reference.
    pub about: &'static str,
    pub field_type: FieldType,
    pub is_nullable: bool,
    pub cell: fn(&R) -> Cell<'_>,
    /// Returns false if the cell does not hold such a value.
    pub load: fn(&mut R, &Cell<'_>, Currency) -> bool,
    pub(crate) json: fn(&R, &mut String),
    pub(crate) take: fn(&mut R, &mut Fields<'_>, &Spec, Currency) -> Result<(), Refusal>,
    pub(crate) references: fn(&R, &'static str, &mut dyn FnMut(Reference)),
}

/// Declares a resource: its struct and everything that follows from its fields. A field's comment is its
/// description in the API reference; `= …` is its value before anybody sets it.
macro_rules! resource {
    ($(#[doc = $about:literal])+ $name:ident = $type:literal {
        $($(#[doc = $field_about:literal])+
        $field:ident: $value:ty $(= $blank:expr)? => $visibility:ident($($json:literal)?) $(.$more:ident($($arg:expr),*))*,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            pub id: $crate::ids::Id<$crate::ids::kind::$name>,
            $($(#[doc = $field_about])+ pub $field: $value,)+
            pub stamps: $crate::resource::Stamps,
        }

        impl $crate::resource::Resource for $name {
            type Kind = $crate::ids::kind::$name;
            const TYPE: &'static str = $type;
            const ABOUT: &'static str = concat!($($about),+).trim_ascii_start();
            const FIELDS: &'static [$crate::resource::Field<Self>] = &[$({
                use $crate::resource::FieldValue;
                let spec = $crate::resource::Spec::$visibility($($json)?)$(.$more($($arg),*))*;
                $crate::resource::Field {
                    spec,
                    column: spec.column_or(stringify!($field)),
                    about: concat!($($field_about),+).trim_ascii_start(),
                    field_type: <$value as FieldValue>::TYPE,
                    is_nullable: <$value as FieldValue>::IS_NULLABLE,
                    cell: |resource| resource.$field.cell(),
                    load: |resource, cell, currency| {
                        FieldValue::load(cell, currency).map(|value| resource.$field = value).is_some()
                    },
                    json: |resource, out| $crate::resource::push_json(out, &resource.$field),
                    take: |resource, fields, spec, currency| {
                        spec.put(FieldValue::take(fields, spec, currency)?, &mut resource.$field)
                    },
                    references: |resource, name, visit| resource.$field.references(name, visit),
                }
            },)+];

            fn blank(
                id: $crate::ids::Id<Self::Kind>,
                currency: $crate::money::Currency,
                stamps: $crate::resource::Stamps,
            ) -> Self {
                $(let $field = $crate::resource::blank!(currency, $value $(, $blank)?);)+
                Self { id, $($field,)+ stamps }
            }

            fn id(&self) -> $crate::ids::Id<Self::Kind> {
                self.id
            }

            fn stamps(&self) -> $crate::resource::Stamps {
                self.stamps
            }

            fn stamps_mut(&mut self) -> &mut $crate::resource::Stamps {
                &mut self.stamps
            }
        }
    };
}

macro_rules! blank {
    ($currency:ident, $value:ty) => {
        <$value as $crate::resource::Blank>::blank($currency)
    };
    ($currency:ident, $value:ty, $blank:expr) => {
        $blank
    };
}

pub(crate) use {blank, resource};
