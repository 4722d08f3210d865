//! Every field of every resource comes back from its column and from its line in a bundle.

use bursar_domain::campaign::Campaign;
use bursar_domain::card::Card;
use bursar_domain::chapter::Chapter;
use bursar_domain::fields::Fields;
use bursar_domain::group::Group;
use bursar_domain::ids::{Id, OrganizationId};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Currency;
use bursar_domain::order::Order;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::Reminder;
use bursar_domain::resource::{Cell, Field, FieldType, ValueRule, Visibility};
use bursar_domain::time::DAY_MICROS;
use bursar_domain::{Resource, Stamps, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Calls a generic function with each resource.
macro_rules! with_each {
    ($call:ident($($arg:expr),*)) => {
        $call::<Member>($($arg),*);
        $call::<Group>($($arg),*);
        $call::<Payment>($($arg),*);
        $call::<Reimbursement>($($arg),*);
        $call::<Reminder>($($arg),*);
        $call::<Card>($($arg),*);
        $call::<Campaign>($($arg),*);
        $call::<Listing>($($arg),*);
        $call::<Order>($($arg),*);
        $call::<Chapter>($($arg),*);
    };
}

fn euro() -> Currency {
    Currency::parse("EUR").unwrap()
}

fn blank<R: Resource>() -> R {
    let stamps = Stamps::at(Timestamp::from_micros(1_790_000_000_123_456));
    R::blank(Id::from_bits(7), euro(), stamps)
}

fn load<R: Resource>(cells: &[Cell<'_>]) -> R {
    let mut resource = blank::<R>();
    for (field, cell) in R::FIELDS.iter().zip(cells) {
        assert!(
            (field.load)(&mut resource, cell, euro()),
            "{}: {cell:?}",
            field.column
        );
    }
    resource.loaded().unwrap();
    resource
}

fn cells<R: Resource>(resource: &R) -> Vec<Cell<'_>> {
    R::FIELDS.iter().map(|field| (field.cell)(resource)).collect()
}

/// Something that the field can hold, as a database keeps it.
fn kept<R>(field: &Field<R>) -> BoxedStrategy<Cell<'static>> {
    let text = |texts: BoxedStrategy<String>| texts.prop_map(|text| Cell::Text(text.into())).boxed();
    let ids = |count| {
        let id = any::<u128>().prop_map(u128::to_be_bytes);
        let sorted = |mut ids: Vec<[u8; 16]>| {
            ids.sort_unstable();
            Cell::Bytes(ids.concat().into())
        };
        vec(id, count).prop_map(sorted).boxed()
    };
    let value = match (field.field_type, field.spec.rule) {
        (FieldType::Text, ValueRule::Email) => text("[a-z]{1,20}@[a-z]{2,9}\\.org".boxed()),
        (FieldType::Text, ValueRule::Phone) => text("\\+1202555[0-9]{4}".boxed()),
        (FieldType::Text, ValueRule::Code(_)) => text("[0-9]{4}".boxed()),
        (FieldType::Text, _) => text("[a-zé\"\\\\😀]([ -~é]{0,30}[a-z])?".boxed()),
        (FieldType::Boolean, _) => (0..=1i64).prop_map(Cell::Int).boxed(),
        (FieldType::Integer, rule) => rule.range().prop_map(Cell::Int).boxed(),
        (FieldType::Timestamp, _) => (0..1i64 << 52).prop_map(Cell::Int).boxed(),
        (FieldType::Money, _) => (0..1i64 << 40).prop_map(Cell::Int).boxed(),
        (FieldType::Date, _) => text(
            (0..30_000i64)
                .prop_map(|day| Timestamp::from_micros(day * DAY_MICROS).date().to_string())
                .boxed(),
        ),
        (FieldType::Currency, _) => text(Just("EUR".to_owned()).boxed()),
        (FieldType::Word(words), _) => text(select(words).prop_map(str::to_owned).boxed()),
        (FieldType::Id(_), _) => ids(1..=1),
        (FieldType::Ids(_), _) => ids(0..=4),
        (FieldType::List, _) => text(
            Just(
                match field.spec.name {
                    "items" => r#"[{"name":"S","price":"15.00","inventory":3},{"name":"M","price":"9.50","inventory":null}]"#,
                    "lines" => r#"[{"item":"S","quantity":2}]"#,
                    _ => r#"["one","https://example.org/two"]"#,
                }
                .to_owned(),
            )
            .boxed(),
        ),
    };
    match field.is_nullable {
        true => prop_oneof![Just(Cell::Null), value].boxed(),
        false => value,
    }
}

fn comes_back_from_columns<R: Resource + std::fmt::Debug>(resource: &R) {
    assert_eq!(load::<R>(&cells(resource)), *resource);
}

/// What a bundle does not carry is set by hand.
fn comes_back_from_a_line<R: Resource + std::fmt::Debug>(resource: &R) {
    let line = resource.bundle_line(OrganizationId::from_bits(1), &mut |_| true);
    let mut fields = Fields::parse(&line).unwrap().new_record(true);
    for known in ["type", "id", "organizationId", "createdAt", "updatedAt"] {
        fields.skip(known);
    }
    let mut again = blank::<R>();
    again.apply(&mut fields).unwrap();
    fields.finish().unwrap();
    for field in R::FIELDS {
        if matches!(field.spec.visibility, Visibility::InV1 | Visibility::Nowhere) {
            (field.load)(&mut again, &(field.cell)(resource), euro());
        }
    }
    assert_eq!(again, *resource);
}

fn comes_back<R: Resource + std::fmt::Debug>() {
    let given: Vec<_> = R::FIELDS.iter().map(kept).collect();
    proptest!(|(mut given in given)| {
        // What its rules beside the fields ask for.
        for (field, cell) in R::FIELDS.iter().zip(&mut given) {
            if field.column == "due_date" && R::TYPE == "group" {
                *cell = Cell::Text("2026-05-04".into());
            }
            if field.column == "paid_to_date" {
                *cell = Cell::Int(0);
            }
        }
        let resource = load::<R>(&given);
        comes_back_from_columns(&resource);
        comes_back_from_a_line(&resource);
    });
    comes_back_from_columns(&blank::<R>());
}

#[test]
fn every_field_comes_back_from_its_column_and_from_a_bundle() {
    with_each!(comes_back());
}

fn is_named_well<R: Resource>() {
    let snake = |name: &str| -> String {
        let spread = |c: char| match c.is_ascii_uppercase() {
            true => format!("_{}", c.to_ascii_lowercase()),
            false => c.to_string(),
        };
        name.chars().map(spread).collect()
    };
    for field in R::FIELDS {
        let is_own = field.spec.name == "groups" && field.column == "group_ids";
        let is_internal = field.spec.visibility == Visibility::Nowhere && field.spec.name.is_empty();
        assert!(
            is_own || is_internal || snake(field.spec.name) == field.column,
            "{} in {} of {}",
            field.spec.name,
            field.column,
            R::TYPE
        );
        let has_rule = !matches!(field.spec.rule, ValueRule::Any);
        let needs_rule = matches!(field.field_type, FieldType::Text | FieldType::Integer);
        assert!(
            has_rule || !needs_rule,
            "{} of {} needs a rule",
            field.column,
            R::TYPE
        );
        assert!(
            field.about.ends_with('.'),
            "{} of {}: {}",
            field.column,
            R::TYPE,
            field.about
        );
    }
}

#[test]
fn columns_are_named_after_fields_and_texts_have_rules() {
    with_each!(is_named_well());
}
