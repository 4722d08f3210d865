//! What a delivery has, what its response means, and the types of events.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;
use serde_json::Value;

use super::fields::{Writer, field};
use crate::pages::document::{entries, items, text};
use crate::pages::highlight::Language;
use crate::pages::html::{code, heading, inline, row};
use crate::pages::places::{self, GUIDE, relative};

impl<'a> Writer<'a> {
    /// Deliveries differ only in the event, so what they share is shown once.
    pub(super) fn webhooks(&self) -> String {
        let all = || entries(&self.document.root["webhooks"]).map(|(name, item)| (name, &item["post"]));
        let shown =
            all().find(|(_, post)| !post["requestBody"]["content"]["application/json"]["examples"].is_null());
        let mut out = shown.map_or_else(String::new, |(_, post)| self.delivery(post));
        let mut body = heading(2, "event-types", "Types of events");
        body.push_str(
            "<p>An endpoint receives all types, or the ones that you choose. The part after the dot is the most specific name that applies.</p>\n\
             <table class=\"types\">\n<thead><tr><th scope=\"col\">Type</th><th scope=\"col\">When</th><th scope=\"col\">Schema</th></tr></thead>\n<tbody>\n",
        );
        for (name, post) in all() {
            let schema = &post["requestBody"]["content"]["application/json"]["schema"];
            let schema = if schema["allOf"].is_array() {
                &schema["allOf"][0]
            } else {
                schema
            };
            let _ = writeln!(
                body,
                "<tr id=\"{id}\"><th scope=\"row\"><code>{id}</code></th><td>{}</td><td>{}</td></tr>",
                html_escaped(text(&post["summary"])),
                self.type_of(schema),
                id = html_escaped(name),
            );
        }
        body.push_str("</tbody>\n</table>\n");
        out.push_str(&row("event-types", &body, ""));
        out
    }

    fn delivery(&self, post: &'a Value) -> String {
        let mut body = heading(2, "delivery", "A delivery");
        let _ = write!(
            body,
            "<p class=\"route\"><span class=\"method post\">post</span> <code>your URL</code></p>\n\
             <p>The body is the event, byte for byte as it was signed: verify it before you parse it. The \
             <a href=\"{}#webhooks\">guide</a> has a receiver, and <a href=\"{}#listEvents\">List events</a> returns the same \
             events to clients that poll.</p>\n<h3>Headers</h3>\n<dl class=\"fields\">\n",
            relative(self.path, GUIDE),
            relative(self.path, places::of_tag("Events")),
        );
        for header in items(&post["parameters"]).map(|header| self.document.resolve(header)) {
            body.push_str(&self.parameter(header));
        }
        body.push_str("</dl>\n<h3>Your response</h3>\n<dl class=\"fields\">\n");
        for (status, response) in entries(&post["responses"]) {
            let status = if status == "default" {
                "anything else"
            } else {
                status
            };
            let about = inline(text(&self.document.resolve(response)["description"]));
            body.push_str(&field(None, status, "", "", &about));
            body.push_str("</div>\n");
        }
        body.push_str("</dl>\n");
        let mut side = String::new();
        for (_, example) in entries(&post["requestBody"]["content"]["application/json"]["examples"]) {
            let mut head = String::from("POST /your/path HTTP/1.1\ncontent-type: application/json\n");
            for header in items(&post["parameters"]).map(|header| self.document.resolve(header)) {
                let _ = writeln!(head, "{}: {}", text(&header["name"]), text(&header["example"]));
            }
            side.push_str(&code(Language::Plain, "Request", &head));
            let pretty = serde_json::to_string_pretty(&example["value"]).unwrap_or_default();
            side.push_str(&code(Language::Json, "Body", &pretty));
        }
        row("delivery", &body, &side)
    }
}
