//! Strict reading of a JSON object, field by field: request bodies and bundle lines.
//!
//! A repeated key, an unknown key and a value of the wrong type are refused by name: a mistyped field must
//! never count as one left out.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::email::{check_email, check_phone};
use crate::ids::{Id, Kind};
use crate::money::{Currency, Money, limit_from_number};
use crate::refusal::Refusal;
use crate::states::Word;
use crate::text::TextRule;
use crate::time::{Date, Timestamp};

/// The fields of one JSON object. [`Fields::finish`] refuses those that nobody took.
#[derive(Debug)]
pub struct Fields<'a> {
    entries: Vec<Entry<'a>>,
    is_new: bool,
}

#[derive(Debug)]
struct Entry<'a> {
    key: Cow<'a, str>,
    value: &'a RawValue,
    taken: bool,
}

/// What the object says about one field.
#[derive(Debug)]
#[must_use]
pub struct Given<T> {
    field: &'static str,
    is_new: bool,
    said: Said<T>,
}

#[derive(Debug)]
enum Said<T> {
    Nothing,
    Null,
    Value(T),
}

impl<'a> Fields<'a> {
    /// A repeated key is refused by name; unreadable JSON without one.
    pub fn parse(json: &'a str) -> Result<Self, Refusal> {
        let object: Object<'a> = serde_json::from_str(json).map_err(|e| unreadable(json, &e))?;
        let entries = object.0;
        // Sorted, because a hostile body has thousands of keys.
        let mut keys: Vec<&str> = entries.iter().map(|entry| &*entry.key).collect();
        keys.sort_unstable();
        if let Some(twice) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Refusal::invalid(
                shorten(twice[0]),
                "is given twice; give it once",
            ));
        }
        Ok(Self {
            entries,
            is_new: false,
        })
    }

    /// A new record must give every field that has no default.
    pub fn new_record(mut self, is_new: bool) -> Self {
        self.is_new = is_new;
        self
    }

    pub fn is_new(&self) -> bool {
        self.is_new
    }

    pub fn has(&self, field: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == field)
    }

    pub fn first_outside(&self, known: &[&str]) -> Option<&str> {
        self.entries
            .iter()
            .map(|entry| &*entry.key)
            .find(|key| !known.contains(key))
    }

    /// Accepts a field without reading it.
    pub fn skip(&mut self, field: &str) {
        let _ = self.take(field);
    }

    /// Refuses a field that nobody took.
    pub fn finish(&self) -> Result<(), Refusal> {
        match self.entries.iter().find(|entry| !entry.taken) {
            None => Ok(()),
            Some(entry) => Err(Refusal::invalid(
                shorten(&entry.key),
                "is not a field of this; remove it or correct its name",
            )),
        }
    }

    pub fn text(&mut self, field: &'static str, rule: TextRule) -> Result<Given<String>, Refusal> {
        self.string(field, |raw| rule.check(raw))
    }

    pub fn email(&mut self, field: &'static str) -> Result<Given<String>, Refusal> {
        self.string(field, check_email)
    }

    pub fn phone(&mut self, field: &'static str) -> Result<Given<String>, Refusal> {
        self.string(field, check_phone)
    }

    pub fn date(&mut self, field: &'static str) -> Result<Given<Date>, Refusal> {
        self.string(field, |raw| {
            Date::parse(raw).ok_or_else(|| "must be a calendar date such as 2026-11-15".to_owned())
        })
    }

    pub fn timestamp(&mut self, field: &'static str) -> Result<Given<Timestamp>, Refusal> {
        let rule = "must be an RFC 3339 date-time with an offset, such as 2026-11-15T01:39:08Z";
        self.string(field, |raw| Timestamp::parse(raw).ok_or_else(|| rule.to_owned()))
    }

    pub fn id<K: Kind>(&mut self, field: &'static str) -> Result<Given<Id<K>>, Refusal> {
        self.string(field, parse_id)
    }

    /// Sorted, without duplicates.
    pub fn ids<K: Kind>(&mut self, field: &'static str) -> Result<Given<Vec<Id<K>>>, Refusal> {
        let mut given = self.strings(field, parse_id)?;
        if let Said::Value(ids) = &mut given.said {
            ids.sort_unstable();
            ids.dedup();
        }
        Ok(given)
    }

    pub fn word<W: Word>(&mut self, field: &'static str) -> Result<Given<W>, Refusal> {
        self.string(field, |raw| {
            W::parse(raw)
                .ok_or_else(|| format!("must be one of {}, got {:?}", W::TEXTS.join(", "), shorten(raw)))
        })
    }

    /// In the decimal form that the API prints.
    pub fn money(&mut self, field: &'static str, currency: Currency) -> Result<Given<Money>, Refusal> {
        self.string(field, |raw| Money::parse(raw, currency))
    }

    pub fn currency(&mut self, field: &'static str) -> Result<Given<Currency>, Refusal> {
        let rule = "must be an ISO 4217 currency code in upper case, such as USD";
        self.string(field, |raw| Currency::parse(raw).ok_or_else(|| rule.to_owned()))
    }

    pub fn own_currency(&mut self, field: &'static str, own: Currency) -> Result<Given<Currency>, Refusal> {
        let given = self.currency(field)?;
        match given.said {
            Said::Value(other) if other != own => Err(Refusal::invalid(
                field,
                format!("must be the organization's currency, {own}, got {other}"),
            )),
            Said::Value(_) | Said::Null | Said::Nothing => Ok(given),
        }
    }

    /// A JSON number, read exactly.
    pub fn limit(&mut self, field: &'static str, currency: Currency) -> Result<Given<Money>, Refusal> {
        self.value(field, "a number", |raw| match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Some(limit_from_number(raw, currency)),
            _ => None,
        })
    }

    pub fn boolean(&mut self, field: &'static str) -> Result<Given<bool>, Refusal> {
        self.value(field, "true or false", |raw| match raw {
            "true" => Some(Ok(true)),
            "false" => Some(Ok(false)),
            _ => None,
        })
    }

    pub fn integer(
        &mut self,
        field: &'static str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Given<i64>, Refusal> {
        let rule = format!("must be an integer from {} to {}", range.start(), range.end());
        self.value(field, "an integer", |raw| match raw.as_bytes().first() {
            Some(b'-' | b'0'..=b'9') => Some(raw.parse().ok().filter(|n| range.contains(n)).ok_or(rule)),
            _ => None,
        })
    }

    /// `read` takes the fields it knows; others are refused.
    pub fn objects<T>(
        &mut self,
        field: &'static str,
        read: impl Fn(&mut Fields<'_>) -> Result<T, Refusal>,
    ) -> Result<Given<Vec<T>>, Refusal> {
        self.value(field, "an array of objects", |raw| {
            let items: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let read_one = |item: &&RawValue| {
                let mut fields = Fields::parse(item.get())?.new_record(true);
                let value = read(&mut fields)?;
                fields.finish()?;
                Ok(value)
            };
            Some(
                items
                    .iter()
                    .map(read_one)
                    .collect::<Result<_, Refusal>>()
                    .map_err(|e| format!("holds an item whose {e}")),
            )
        })
    }

    pub(crate) fn strings<T>(
        &mut self,
        field: &'static str,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Given<Vec<T>>, Refusal> {
        self.value(field, "an array of strings", |raw| {
            let items: Vec<Cow<'_, str>> = serde_json::from_str(raw).ok()?;
            Some(
                items
                    .iter()
                    .map(|item| read(item))
                    .collect::<Result<_, _>>()
                    .map_err(|e| format!("holds an item that {e}")),
            )
        })
    }

    pub(crate) fn string<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Given<T>, Refusal> {
        self.value(field, "a string", |raw| {
            if !raw.starts_with('"') {
                return None;
            }
            Some(match serde_json::from_str::<String>(raw) {
                Ok(text) => read(&text),
                Err(_) => Err("must be a string of whole Unicode characters".to_owned()),
            })
        })
    }

    /// `read` gets a value that is not null and returns `None` if its type is not `kind`.
    fn value<T>(
        &mut self,
        field: &'static str,
        kind: &str,
        read: impl FnOnce(&str) -> Option<Result<T, String>>,
    ) -> Result<Given<T>, Refusal> {
        let said = match self.take(field).map(RawValue::get) {
            None => Said::Nothing,
            Some("null") => Said::Null,
            Some(raw) => match read(raw) {
                Some(Ok(value)) => Said::Value(value),
                Some(Err(rule)) => return Err(Refusal::invalid(field, rule)),
                None => {
                    return Err(Refusal::invalid(
                        field,
                        format!("must be {kind}, got {}", kind_of(raw)),
                    ));
                }
            },
        };
        Ok(Given {
            field,
            is_new: self.is_new,
            said,
        })
    }

    fn take(&mut self, field: &str) -> Option<&'a RawValue> {
        let entry = self.entries.iter_mut().find(|entry| entry.key == field)?;
        entry.taken = true;
        Some(entry.value)
    }
}

impl<T> Given<T> {
    pub fn required(self) -> Result<T, Refusal> {
        match self.said {
            Said::Value(value) => Ok(value),
            Said::Nothing => Err(Refusal::invalid(self.field, "is required")),
            Said::Null => Err(Refusal::invalid(self.field, "is required and must not be null")),
        }
    }

    /// Null counts as left out.
    pub fn optional(self) -> Option<T> {
        match self.said {
            Said::Value(value) => Some(value),
            Said::Nothing | Said::Null => None,
        }
    }

    /// For a change to a field that always has a value.
    pub fn unless_null(self) -> Result<Option<T>, Refusal> {
        match self.said {
            Said::Value(value) => Ok(Some(value)),
            Said::Nothing => Ok(None),
            Said::Null => Err(Refusal::invalid(
                self.field,
                "must not be null; leave it out to keep its value",
            )),
        }
    }

    /// For a field without a default: a new record must give it.
    pub fn fill(self, target: &mut T) -> Result<(), Refusal> {
        if self.is_new {
            *target = self.required()?;
            return Ok(());
        }
        self.set(target)
    }

    /// For a field that has a default and is never null.
    pub fn set(self, target: &mut T) -> Result<(), Refusal> {
        if let Some(value) = self.unless_null()? {
            *target = value;
        }
        Ok(())
    }

    /// For a field that may be null.
    pub fn or_null(self) -> Given<Option<T>> {
        let said = match self.said {
            Said::Value(value) => Said::Value(Some(value)),
            Said::Null => Said::Value(None),
            Said::Nothing => Said::Nothing,
        };
        Given {
            field: self.field,
            is_new: self.is_new,
            said,
        }
    }

    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Given<U> {
        let said = match self.said {
            Said::Value(value) => Said::Value(f(value)),
            Said::Null => Said::Null,
            Said::Nothing => Said::Nothing,
        };
        Given {
            field: self.field,
            is_new: self.is_new,
            said,
        }
    }
}

fn parse_id<K: Kind>(raw: &str) -> Result<Id<K>, String> {
    Id::parse(raw).ok_or_else(|| {
        let article = match K::NOUN.starts_with(['a', 'e', 'i', 'o']) {
            true => "an",
            false => "a",
        };
        let (noun, prefix) = (K::NOUN, K::PREFIX);
        format!("must be the id of {article} {noun}, {prefix}_ and 26 characters")
    })
}

fn kind_of(raw: &str) -> &'static str {
    match raw.as_bytes().first() {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Cuts long keys and words in messages.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn unreadable(json: &str, error: &serde_json::Error) -> Refusal {
    let starts = json.trim_start().as_bytes().first().copied();
    match (error.classify(), starts) {
        (serde_json::error::Category::Data, Some(b'[' | b'"' | b't' | b'f' | b'n' | b'-' | b'0'..=b'9')) => {
            Refusal::unreadable("the JSON must be an object, in braces")
        }
        _ => {
            let (line, column) = (error.line(), error.column());
            // A record of a bundle is one line, and the message says which.
            let place = match json.contains('\n') {
                true => format!("line {line}, column {column}"),
                false => format!("column {column}"),
            };
            Refusal::unreadable(format!(
                "the JSON cannot be read: it breaks off or is wrong at {place}"
            ))
        }
    }
}

/// Keys in order, values unread.
struct Object<'a>(Vec<Entry<'a>>);

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::with_capacity(16);
                while let Some(Key(key)) = map.next_key()? {
                    entries.push(Entry {
                        key,
                        value: map.next_value()?,
                        taken: false,
                    });
                }
                Ok(Object(entries))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// Borrowed if it has no escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::MemberId;
    use crate::text::NAME;

    fn refusal<T: fmt::Debug>(result: Result<T, Refusal>) -> (Option<String>, String) {
        let refusal = result.unwrap_err();
        (refusal.field().map(str::to_owned), refusal.message().to_owned())
    }

    #[test]
    fn keys_are_strict() {
        let (field, _) = refusal(Fields::parse(r#"{"a":1,"b":2,"\u0061":3}"#));
        assert_eq!(field.as_deref(), Some("a"), "an escaped key is the same key");
        let fields = Fields::parse(r#"{"naem":"x"}"#).unwrap();
        assert_eq!(refusal(fields.finish()).0.as_deref(), Some("naem"));
        for bad in [
            "",
            "{",
            "[]",
            "null",
            "1",
            "{\"a\":1}x",
            "{\"a\":01}",
            "{'a':1}",
            "{\"a\":\"\n\"}",
            "{\"a\":1,}",
        ] {
            assert_eq!(refusal(Fields::parse(bad)).0, None, "{bad}");
        }
        assert!(
            Fields::parse(&format!("{{\"a\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000))).is_ok(),
            "depth costs no stack"
        );
    }

    #[test]
    fn many_keys_cost_no_more_than_their_number() {
        let body = |n: usize| {
            format!(
                "{{{}}}",
                (0..n)
                    .map(|i| format!("\"k{i}\":1"))
                    .collect::<Vec<_>>()
                    .join(",")
            )
        };
        assert!(Fields::parse(&body(200_000)).is_ok());
        let twice = body(50_000).replace("\"k49999\"", "\"k7\"");
        assert_eq!(refusal(Fields::parse(&twice)).0.as_deref(), Some("k7"));
    }

    #[test]
    fn values_are_strict() {
        let json = r#"{"t":"  x ","n":null,"w":5,"s":"\ud800","m":"mem_1","b":"true","i":1.5,"big":99999999999999999999}"#;
        let mut f = Fields::parse(json).unwrap();
        assert_eq!(f.text("t", NAME).unwrap().required().unwrap(), "x");
        assert!(f.text("n", NAME).unwrap().optional().is_none());
        assert!(
            refusal(f.text("n", NAME).unwrap().unless_null())
                .1
                .contains("null")
        );
        assert!(
            refusal(f.text("w", NAME))
                .1
                .contains("must be a string, got a number")
        );
        assert_eq!(refusal(f.text("s", NAME)).0.as_deref(), Some("s"));
        assert!(refusal(f.id::<crate::ids::kind::Member>("m")).1.contains("mem_"));
        assert!(refusal(f.boolean("b")).1.contains("true or false"));
        assert!(refusal(f.integer("i", 1..=9)).1.contains("1 to 9"));
        assert!(refusal(f.integer("big", 1..=9)).1.contains("1 to 9"));
        assert!(
            refusal(f.text("gone", NAME).unwrap().required())
                .1
                .contains("required")
        );
        assert!(f.finish().is_ok());
    }

    #[test]
    fn sets_of_ids() {
        let (a, b) = (MemberId::from_bits(1), MemberId::from_bits(2));
        let json = format!(r#"{{"ids":["{b}","{a}","{b}"]}}"#);
        let ids = Fields::parse(&json)
            .unwrap()
            .ids::<crate::ids::kind::Member>("ids")
            .unwrap()
            .required()
            .unwrap();
        assert_eq!(ids, [a, b]);
    }

    #[test]
    fn a_new_record_needs_what_has_no_default() {
        let mut name = "old".to_owned();
        let mut f = Fields::parse("{}").unwrap();
        f.text("name", NAME).unwrap().fill(&mut name).unwrap();
        assert_eq!(name, "old");
        let mut f = Fields::parse("{}").unwrap().new_record(true);
        assert!(f.text("name", NAME).unwrap().fill(&mut name).is_err());
    }
}
