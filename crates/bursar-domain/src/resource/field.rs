//! The declaration of a resource's fields, which everything else follows: struct, representation, bundle, columns
//! and schema.

use std::ops::RangeInclusive;

use super::{Cell, FieldType, Reference};
use crate::email::{check_email, check_phone};
use crate::fields::{Fields, Given};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::text::TextRule;

/// Where a field is seen. A database keeps all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// In v1 and in a bundle.
    Everywhere,
    /// In a bundle; v1 hides it.
    InBundles,
    /// In v1; it follows from other records, so a bundle leaves it out.
    InV1,
    /// Nowhere else.
    Nowhere,
}

/// What a value must be beside its type.
#[derive(Clone, Copy, Debug)]
pub enum ValueRule {
    /// The type says it all.
    Any,
    /// A text that people write.
    Text(TextRule),
    /// A text that machines write, with lengths alone in a schema.
    Code(TextRule),
    /// An e-mail address.
    Email,
    /// A telephone number.
    Phone,
    /// A number from one to the other.
    Range(i64, i64),
}

impl ValueRule {
    /// The text as it is kept; the error reads on after a field's name.
    pub(crate) fn check(self, raw: &str) -> Result<String, String> {
        match self {
            ValueRule::Text(rule) | ValueRule::Code(rule) => rule.check(raw),
            ValueRule::Email => check_email(raw),
            ValueRule::Phone => check_phone(raw),
            ValueRule::Any | ValueRule::Range(..) => Ok(raw.to_owned()),
        }
    }

    /// The numbers that it allows.
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

/// What a declaration says of a field beside its type.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Its name in JSON; empty when it is seen nowhere.
    pub name: &'static str,
    /// Where it is seen.
    pub visibility: Visibility,
    /// What its value must be.
    pub rule: ValueRule,
    /// Its column, where that is not the name of the struct's field.
    column: Option<&'static str>,
    /// Whether a new record must give it.
    is_required: bool,
    /// Whether callers of the API see it and cannot set it, though they can set other fields.
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

    /// Visibility in v1 and in a bundle.
    pub const fn shown(name: &'static str) -> Self {
        Self::new(name, Visibility::Everywhere)
    }

    /// Visibility in a bundle alone.
    pub const fn hidden(name: &'static str) -> Self {
        Self::new(name, Visibility::InBundles)
    }

    /// Visibility in v1 alone, because it follows from other records.
    pub const fn derived(name: &'static str) -> Self {
        Self::new(name, Visibility::InV1)
    }

    /// Visibility nowhere: our own bookkeeping.
    pub const fn internal() -> Self {
        Self::new("", Visibility::Nowhere)
    }

    /// A text by this rule.
    pub const fn text(self, rule: TextRule) -> Self {
        self.by(ValueRule::Text(rule))
    }

    /// A text that machines write, by this rule.
    pub const fn code(self, rule: TextRule) -> Self {
        self.by(ValueRule::Code(rule))
    }

    /// An e-mail address.
    pub const fn email(self) -> Self {
        self.by(ValueRule::Email)
    }

    /// A telephone number.
    pub const fn phone(self) -> Self {
        self.by(ValueRule::Phone)
    }

    /// A number from one to the other.
    pub const fn range(self, least: i64, most: i64) -> Self {
        self.by(ValueRule::Range(least, most))
    }

    const fn by(mut self, rule: ValueRule) -> Self {
        self.rule = rule;
        self
    }

    /// In this column.
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

    /// Puts what a line gives into the field.
    pub(crate) fn put<T>(&self, given: Given<T>, target: &mut T) -> Result<(), Refusal> {
        match self.is_required {
            true => given.fill(target),
            false => given.set(target),
        }
    }

    /// A new record must give it.
    pub const fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Callers of the API cannot set it.
    pub const fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }
}

/// A field of the resource `R`.
#[derive(Debug)]
pub struct Field<R> {
    /// What its declaration says.
    pub spec: Spec,
    /// Its column.
    pub column: &'static str,
    /// What it is, for readers of the API's reference.
    pub about: &'static str,
    /// What it holds.
    pub field_type: FieldType,
    /// Whether it can be null.
    pub is_nullable: bool,
    /// Its value as a database keeps it.
    pub cell: fn(&R) -> Cell<'_>,
    /// Reads its value as a database keeps it; whether it is one.
    pub load: fn(&mut R, &Cell<'_>, Currency) -> bool,
    pub(crate) json: fn(&R, &mut String),
    pub(crate) take: fn(&mut R, &mut Fields<'_>, &Spec, Currency) -> Result<(), Refusal>,
    pub(crate) references: fn(&R, &'static str, &mut dyn FnMut(Reference)),
}

/// Declares a resource: its struct and, by name, everything that follows from its fields. A field's comment is its
/// description in the API's reference, and its `=` what it holds before anybody sets it.
macro_rules! resource {
    ($(#[doc = $about:literal])+ $name:ident = $type:literal {
        $($(#[doc = $field_about:literal])+
        $field:ident: $value:ty $(= $blank:expr)? => $visibility:ident($($json:literal)?) $(.$more:ident($($arg:expr),*))*,)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            /// Names it.
            pub id: $crate::ids::Id<$crate::ids::kind::$name>,
            $($(#[doc = $field_about])+ pub $field: $value,)+
            /// When it was made and changed.
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
