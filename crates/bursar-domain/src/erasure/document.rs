//! Taking a person out of JSON that is kept: representations, events, bundle lines, recorded responses.

use serde_json::{Map, Value};

use super::{ERASED, ERASED_NAME, Naming};
use crate::ids::MemberId;

/// Fields that say whose the object is.
const OWNERS: [&str; 3] = ["memberId", "targetMemberId", "assignedMemberId"];
/// What people wrote in a row. In a row about the member all of it goes.
const WRITTEN: [&str; 3] = ["description", "subject", "body"];
/// What is null in a row without a member.
const WRITTEN_OR_NULL: [&str; 5] = ["payoutReference", "reviewerNote", "memo", "payerName", "note"];
/// Other fields with texts of people, in which names are looked for. Words of a language of ours are in no such field.
const TEXTS: [&str; 14] = [
    "name",
    "text",
    "reason",
    "message",
    "said",
    "to",
    "reference",
    "receipts",
    "counterpartyName",
    "counterpartyAccount",
    "endToEnd",
    "items",
    "lines",
    "payText",
];

/// Blanks the objects about the member and takes what names the person out of all other texts. Returns the new document,
/// or `None` if nothing changes or it is not JSON.
pub fn scrub_document(document: &str, member: MemberId, naming: &Naming) -> Option<String> {
    let mut value: Value = serde_json::from_str(document).ok()?;
    let scrub = Scrub {
        member: member.to_string(),
        naming,
    };
    scrub.value(&mut value).then(|| value.to_string())
}

struct Scrub<'a> {
    member: String,
    naming: &'a Naming,
}

impl Scrub<'_> {
    fn value(&self, value: &mut Value) -> bool {
        match value {
            Value::Object(object) => self.object(object),
            // Every item is scrubbed, also after a change.
            Value::Array(items) => items.iter_mut().fold(false, |done, item| self.value(item) | done),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        }
    }

    fn object(&self, object: &mut Map<String, Value>) -> bool {
        let is = |key: &str| object.get(key).and_then(Value::as_str) == Some(self.member.as_str());
        let (is_member, is_owned) = (is("id"), OWNERS.iter().any(|key| is(key)));
        let mut done = false;
        for (key, value) in object.iter_mut() {
            let blank = match key.as_str() {
                key if is_member => blank_of_member(key, value),
                key if is_owned => blank_of_owned(key, value),
                _ => None,
            };
            done |= match blank {
                Some(blank) if *value != blank => {
                    *value = blank;
                    true
                }
                Some(_) => false,
                None if is_text(key) => self.texts(value),
                None => self.value(value),
            };
        }
        done
    }

    /// All texts in a value.
    fn texts(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.naming.scrub(text) {
                Some(scrubbed) => {
                    *text = scrubbed;
                    true
                }
                None => false,
            },
            Value::Array(items) => items.iter_mut().fold(false, |done, item| self.texts(item) | done),
            Value::Object(object) => self.object(object),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}

fn is_text(key: &str) -> bool {
    WRITTEN.contains(&key) || WRITTEN_OR_NULL.contains(&key) || TEXTS.contains(&key)
}

/// What a field of the member's own row holds afterwards.
fn blank_of_member(key: &str, value: &Value) -> Option<Value> {
    match key {
        "firstName" => Some(ERASED_NAME[0].into()),
        "lastName" => Some(ERASED_NAME[1].into()),
        "name" => Some(ERASED_NAME.join(" ").into()),
        "email" | "phone" | "joinDate" => Some(Value::Null),
        "bankAccounts" => Some(Value::Array(Vec::new())),
        _ => blank_of_owned(key, value),
    }
}

/// What a field of a row about the member holds afterwards.
fn blank_of_owned(key: &str, value: &Value) -> Option<Value> {
    let is_said = value.as_str().is_some_and(|text| !text.is_empty());
    match key {
        key if WRITTEN.contains(&key) && is_said => Some(ERASED.into()),
        key if WRITTEN_OR_NULL.contains(&key) => Some(Value::Null),
        // The name of a card.
        "name" if is_said => Some(ERASED.into()),
        "receipts" if value.is_array() => Some(Value::Array(Vec::new())),
        _ => None,
    }
}
