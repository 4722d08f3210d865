//! Schemas of single values, with patterns and limits taken from the domain.

use bursar_domain::email::{EMAIL_LOCAL_MAX, EMAIL_MAX};
use bursar_domain::event::EventResource;
use bursar_domain::ids::{self, Kind};
use bursar_domain::page::PageLimit;
use bursar_domain::states::Word;
use bursar_domain::text::TextRule;
use serde_json::{Value, json};

/// What Rust's `trim` removes: Unicode white space.
const SPACE: &str = r"\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000";
const CONTROL: &str = r"\u0000-\u001f\u007f-\u009f";
/// Control characters except TAB and LF.
const CONTROL_IN_LINES: &str = r"\u0000-\u0008\u000b-\u001f\u007f-\u009f";
/// As the API prints it.
const TIMESTAMP: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$";
/// As callers may write it. The parser also accepts years before 1000, which nobody means.
const TIMESTAMP_IN: &str = r"^[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$";
const DATE: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
pub(crate) const MONEY: &str = r"^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{2,4})?$";
/// A dot-atom, `@`, and a host name of two or more labels whose last one has a letter.
const EMAIL: &str = r"[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]+(?:\.[0-9A-Za-z!#$%&'*+/=?^_`{|}~-]+)*@(?:[0-9A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?\.)+(?:[0-9][0-9-]*)?[A-Za-z](?:[0-9A-Za-z-]{0,61}[0-9A-Za-z])?$";

pub(super) fn with(mut schema: Value, keyword: &str, value: impl Into<Value>) -> Value {
    if let Some(keywords) = schema.as_object_mut() {
        keywords.insert(keyword.to_owned(), value.into());
    }
    schema
}

pub(super) fn says(schema: Value, description: &str) -> Value {
    with(schema, "description", description)
}

pub(super) fn or_null(mut schema: Value) -> Value {
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    if let Some(kind) = schema.get_mut("type") {
        *kind = json!([kind.take(), "null"]);
    }
    schema
}

pub(super) fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// Read from the codec, which alone knows its alphabet.
fn id_digits() -> String {
    let last = |value: u128| char::from(ids::encode(value)[25]);
    let letters: String = (10..32).map(last).collect();
    format!("{}-{}{letters}", last(0), last(9))
}

pub(super) fn id_pattern(prefix: &str) -> String {
    let first = char::from(ids::encode(u128::MAX)[0]);
    format!("^{prefix}_[0-{first}][{}]{{25}}$", id_digits())
}

pub(super) fn id<K: Kind>() -> Value {
    id_with(K::PREFIX)
}

pub(super) fn id_with(prefix: &str) -> Value {
    json!({"type": "string", "pattern": id_pattern(prefix)})
}

/// Of a resource that has events.
pub(super) fn resource_id() -> Value {
    let prefixes: Vec<&str> = EventResource::ALL
        .iter()
        .map(|resource| resource.prefix())
        .collect();
    id_with(&format!("(?:{})", prefixes.join("|")))
}

pub(super) fn timestamp() -> Value {
    json!({"type": "string", "format": "date-time", "pattern": TIMESTAMP})
}

pub(super) fn timestamp_in() -> Value {
    json!({"type": "string", "format": "date-time", "pattern": TIMESTAMP_IN})
}

pub(super) fn date() -> Value {
    json!({"type": "string", "format": "date", "pattern": DATE})
}

pub(super) fn money() -> Value {
    json!({"type": "string", "pattern": MONEY})
}

/// A card's spend limit, as callers write it.
pub(super) fn limit() -> Value {
    json!({"type": "number", "exclusiveMinimum": 0, "maximum": 1_000_000, "multipleOf": 0.01})
}

pub(super) fn currency() -> Value {
    json!({"type": "string", "pattern": "^[A-Z]{3}$"})
}

pub(super) fn email() -> Value {
    // A negative look-ahead: tools that make texts from a pattern cannot fulfil a positive one.
    let pattern = format!("^(?![^@]{{{}}}){EMAIL}", EMAIL_LOCAL_MAX + 1);
    json!({"type": "string", "format": "email", "maxLength": EMAIL_MAX, "pattern": pattern})
}

/// The pattern allows surrounding space, as the parser does; lengths are counted without it.
pub(super) fn text(rule: TextRule) -> Value {
    let (inside, visible) = if rule.lines {
        (
            format!(r"(?:\r\n|[^{CONTROL_IN_LINES}])"),
            format!("[^{CONTROL}{SPACE}]"),
        )
    } else {
        (format!("[^{CONTROL}]"), format!("[^{CONTROL}{SPACE}]"))
    };
    let core = format!("{visible}(?:{inside}*{visible})?");
    let core = if rule.min == 0 {
        format!("(?:{core})?")
    } else {
        core
    };
    let pattern = format!("^[{SPACE}]*{core}[{SPACE}]*$");
    let schema = json!({"type": "string", "minLength": rule.min, "maxLength": rule.max, "pattern": pattern});
    if rule.min == 0 {
        without(schema, "minLength")
    } else {
        schema
    }
}

fn without(mut schema: Value, keyword: &str) -> Value {
    if let Some(keywords) = schema.as_object_mut() {
        keywords.shift_remove(keyword);
    }
    schema
}

/// Generators name their types by the title.
pub(super) fn one_of<'a>(title: &str, words: impl IntoIterator<Item = &'a str>) -> Value {
    let words: Vec<&str> = words.into_iter().collect();
    json!({"title": title, "type": "string", "enum": words})
}

pub(super) fn words<W: Word>(title: &str) -> Value {
    one_of(title, W::TEXTS.iter().copied())
}

pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

pub(super) fn boolean() -> Value {
    json!({"type": "boolean"})
}

pub(super) fn integer(least: i64) -> Value {
    json!({"type": "integer", "minimum": least})
}

pub(super) fn page_limit() -> Value {
    let (most, usual) = (PageLimit::MAX.rows(), PageLimit::DEFAULT.rows());
    json!({"type": "integer", "minimum": 1, "maximum": most, "default": usual})
}

pub(super) fn cursor() -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[0-9A-Za-z_-]+$"})
}

#[cfg(test)]
mod tests {
    use super::*;
    use bursar_domain::ids::kind;

    #[test]
    fn ids_are_as_the_domain_writes_them() {
        assert_eq!(
            id::<kind::Member>()["pattern"],
            "^mem_[0-7][0-9abcdefghjkmnpqrstvwxyz]{25}$"
        );
    }

    #[test]
    fn null_joins_the_type_and_the_words() {
        assert_eq!(
            or_null(one_of("Letter", ["a"])),
            json!({"title": "Letter", "type": ["string", "null"], "enum": ["a", null]})
        );
    }
}
