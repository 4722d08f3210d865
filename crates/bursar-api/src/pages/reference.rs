//! A page for each resource: its object, its statuses, and its operations.

mod drawing;
mod fields;
mod operation;
mod states;
mod try_it;
mod webhooks;

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;
use serde_json::Value;

pub(super) use self::fields::{Purpose, Writer};
use super::document::{Document, entries, text};
use super::frame::Page;
use super::highlight::Language;
use super::html::{code, heading, prose, row};
use super::places::{self, Place};
use crate::openapi::WEBHOOKS;

/// The page of a tag.
pub(super) fn render(document: &Document, place: &'static Place) -> Page {
    let tag = place.tag.unwrap_or("");
    let writer = Writer {
        document,
        path: place.path,
    };
    let mut main = format!(
        "<div class=\"intro\"><h1>{}</h1>\n{}{}</div>\n",
        html_escaped(place.name),
        prose(text(&document.tag(tag)["description"])).replacen("<p>", "<p class=\"lead\">", 1),
        writer.endpoints(tag),
    );
    let (objects, others) = objects(document, place.path);
    for (name, schema) in objects {
        main.push_str(&writer.object(name, schema));
        if let Some(drawing) = states::of(name) {
            main.push_str(&drawing);
        }
    }
    for operation in document.of_tag(tag) {
        main.push_str(&writer.operation(operation));
    }
    if tag == WEBHOOKS {
        main.push_str(&writer.webhooks());
    }
    if !others.is_empty() {
        main.push_str(&writer.others(&others));
    }
    Page {
        path: place.path,
        title: place.name.to_owned(),
        main,
    }
}

type Schema<'a> = (&'a str, &'a Value);

/// The schemas of a page: resources, and what only requests and responses have.
fn objects<'a>(document: &'a Document, path: &str) -> (Vec<Schema<'a>>, Vec<Schema<'a>>) {
    let is_resource = |name: &str| {
        name == "Token"
            || document
                .schemas()
                .any(|(other, _)| other.strip_suffix("Page") == Some(name))
    };
    document
        .schemas()
        .filter(|(name, _)| places::of_schema(document, name) == path)
        .partition(|(name, _)| is_resource(name))
}

impl<'a> Writer<'a> {
    /// The list at the top of a page.
    fn endpoints(&self, tag: &str) -> String {
        let operations = self.document.of_tag(tag);
        if operations.is_empty() {
            return String::new();
        }
        let mut out = String::from("<ul class=\"endpoints\">\n");
        for one in operations {
            let _ = writeln!(
                out,
                "<li><a href=\"#{}\"><span class=\"method {method}\">{method}</span> <code>{}</code></a></li>",
                one.id(),
                html_escaped(one.path),
                method = one.method,
            );
        }
        out + "</ul>\n"
    }

    fn object(&self, name: &'a str, schema: &'a Value) -> String {
        let id = format!("schema-{name}");
        let mut body = heading(2, &id, &format!("The {name} object"));
        body.push_str(&prose(text(&schema["description"])));
        body.push_str(&self.fields(schema, Some(name), Purpose::Response));
        let side = self.example_of(name).map_or_else(String::new, |example| {
            let pretty = serde_json::to_string_pretty(&example).unwrap_or_default();
            code(Language::Json, &format!("The {name} object"), &pretty)
        });
        row(&id, &body, &side)
    }

    /// From the response of an operation that returns one, or a page of them.
    fn example_of(&self, name: &str) -> Option<Value> {
        let page = format!("{name}Page");
        let first = |wanted: &str| {
            let operation = self
                .document
                .operations()
                .find(|one| one.returns() == Some(wanted))?;
            let (_, response) = operation.success()?;
            let (_, example) = entries(&response["content"]["application/json"]["examples"]).next()?;
            Some(example["value"].clone())
        };
        first(&page)
            .map(|page| page["data"][0].clone())
            .or_else(|| first(name))
    }

    /// Bodies and responses that are no resource. Links lead to them.
    fn others(&self, schemas: &[Schema<'a>]) -> String {
        let mut body = heading(2, "schemas", "Other schemas");
        body.push_str("<p>Request bodies, and responses that are not resources.</p>\n");
        for (name, schema) in schemas {
            let is_body = name.starts_with("New") || name.ends_with("Change");
            let purpose = if is_body { Purpose::Body } else { Purpose::Response };
            let _ = write!(
                body,
                "<details class=\"schema\" id=\"schema-{name}\"><summary><code>{name}</code></summary>\n{}{}</details>\n",
                prose(text(&schema["description"])),
                self.fields(schema, None, purpose)
            );
        }
        row("schemas", &body, "")
    }
}
