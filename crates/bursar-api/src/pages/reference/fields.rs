//! Fields and parameters: their names, their types in a few words, and what they mean.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;
use serde_json::Value;

use crate::openapi::MONEY;
use crate::pages::document::{Document, entries, items, schema_name, text};
use crate::pages::html::inline;
use crate::pages::places::{self, relative};

/// What fields are part of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::pages) enum Purpose {
    Body,
    Response,
}

/// Writes parts of one page.
pub(in crate::pages) struct Writer<'a> {
    pub(in crate::pages) document: &'a Document,
    /// Of the page.
    pub(in crate::pages) path: &'static str,
}

impl<'a> Writer<'a> {
    /// With ids for links if the object has a name.
    pub(in crate::pages) fn fields(
        &self,
        schema: &'a Value,
        object: Option<&str>,
        purpose: Purpose,
    ) -> String {
        if entries(&schema["properties"]).next().is_none() {
            return String::new();
        }
        let required: Vec<&str> = items(&schema["required"]).map(text).collect();
        let mut out = String::from("<dl class=\"fields\">\n");
        for (name, property) in entries(&schema["properties"]) {
            // Responses have all of their fields; bodies only those that must be sent.
            let need = match (required.contains(&name), purpose) {
                (true, Purpose::Body) => "required",
                (false, Purpose::Response) => "optional",
                _ => "",
            };
            let id = object.map(|object| format!("{object}.{name}"));
            // Also list the fields of a nested object, such as an error's details.
            let inner = if property["type"] == "array" {
                &property["items"]
            } else {
                property
            };
            let mut about = inline(text(&property["description"]));
            if inner["properties"].is_object() {
                about.push_str(&self.fields(inner, None, purpose));
            }
            out.push_str(&field(id.as_deref(), name, &self.type_of(property), need, &about));
            out.push_str(&values(inner));
            out.push_str("</div>\n");
        }
        out + "</dl>\n"
    }

    pub(super) fn parameter(&self, parameter: &'a Value) -> String {
        let need = if parameter["required"] == true {
            "required"
        } else {
            ""
        };
        let mut out = field(
            None,
            text(&parameter["name"]),
            &self.type_of(&parameter["schema"]),
            need,
            &inline(text(&parameter["description"])),
        );
        out.push_str(&values(&parameter["schema"]));
        out + "</div>\n"
    }

    /// A schema's type in a few words, as HTML.
    pub(in crate::pages) fn type_of(&self, schema: &Value) -> String {
        if let Some(name) = schema_name(schema) {
            let page = relative(self.path, places::of_schema(self.document, name));
            return format!("<a href=\"{page}#schema-{name}\">{name}</a>");
        }
        if schema["anyOf"].is_array() {
            let any: Vec<String> = items(&schema["anyOf"]).map(|one| self.type_of(one)).collect();
            return any.join(" or ");
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().map(text).collect(),
            kind => vec![text(kind)],
        };
        let null = if kinds.contains(&"null") { " or null" } else { "" };
        let Some(kind) = kinds.iter().copied().find(|kind| *kind != "null") else {
            return "null".to_owned();
        };
        if kind == "array" {
            return format!("array of {}", self.type_of(&schema["items"]));
        }
        if schema["enum"].is_array() {
            return format!("enum{null}");
        }
        let mut out = match (kind, text(&schema["format"])) {
            ("string", "date-time") => "time".to_owned(),
            ("string", "") => match (text(&schema["pattern"]), id_prefix(text(&schema["pattern"]))) {
                (_, Some(prefix)) => match prefix.strip_prefix("(?:").and_then(|any| any.split_once('|')) {
                    Some((first, _)) => format!("id of the resource, such as <code>{first}_…</code>"),
                    None => format!("id <code>{prefix}…</code>"),
                },
                (MONEY, None) => "decimal string".to_owned(),
                (_, None) => "string".to_owned(),
            },
            ("string", format) => format.to_owned(),
            (kind, _) => kind.to_owned(),
        };
        out.push_str(&bounds(schema));
        out + null
    }
}

/// Length, least, most, steps and default.
fn bounds(schema: &Value) -> String {
    let number = |keyword: &str| schema[keyword].as_f64().map(|n| n.to_string());
    let mut out = match (number("minLength"), number("maxLength")) {
        (Some(least), Some(most)) if least == most => format!(", {most} characters"),
        (Some(least), Some(most)) => format!(", {least}–{most} characters"),
        (None, Some(most)) => format!(", up to {most} characters"),
        _ => String::new(),
    };
    if let (Some(least), Some(most)) = (number("minimum"), number("maximum")) {
        let _ = write!(out, ", {least}–{most}");
    } else {
        for (keyword, words) in [("minimum", "at least"), ("maximum", "at most")] {
            if let Some(n) = number(keyword) {
                let _ = write!(out, ", {words} {n}");
            }
        }
    }
    for (keyword, words) in [
        ("exclusiveMinimum", "above"),
        ("multipleOf", "in steps of"),
        ("default", "default"),
    ] {
        if let Some(n) = number(keyword) {
            let _ = write!(out, ", {words} {n}");
        }
    }
    out
}

/// The opening `div` stays open for what follows.
pub(super) fn field(id: Option<&str>, name: &str, kind: &str, need: &str, about: &str) -> String {
    let id = id.map_or_else(String::new, |id| format!(" id=\"{}\"", html_escaped(id)));
    let need = match need {
        "" => String::new(),
        need => format!(" <span class=\"need {need}\">{need}</span>"),
    };
    format!(
        "<div{id}><dt><code>{}</code> <span class=\"kind\">{kind}</span>{need}</dt><dd>{about}</dd>",
        html_escaped(name)
    )
}

/// The words of an enum, folded where there are many.
fn values(schema: &Value) -> String {
    let words: Vec<String> = items(&schema["enum"])
        .filter_map(Value::as_str)
        .map(|word| format!("<code>{}</code>", html_escaped(word)))
        .collect();
    match words.len() {
        0 => String::new(),
        1..=12 => format!("<dd class=\"values\">{}</dd>", words.join(" ")),
        many => format!(
            "<dd><details class=\"values\"><summary>{many} values</summary>{}</details></dd>",
            words.join(" ")
        ),
    }
}

fn id_prefix(pattern: &str) -> Option<&str> {
    let rest = pattern.strip_prefix('^')?;
    let end = rest.find("_[0-7]")?;
    Some(&rest[..=end])
}

impl Writer<'_> {
    /// The headers of responses.
    pub(in crate::pages) fn headers(&self) -> String {
        let mut out = String::from("<dl class=\"fields\">\n");
        for (name, header) in entries(&self.document.root["components"]["headers"]) {
            out.push_str(&field(
                None,
                name,
                &self.type_of(&header["schema"]),
                "",
                &inline(text(&header["description"])),
            ));
            out.push_str("</div>\n");
        }
        out + "</dl>\n"
    }
}
