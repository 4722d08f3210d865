//! The webhooks on the reference page: what a delivery has, what its response means, and the types.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;
use serde_json::Value;

use super::{Reader, code, entries, field, inline, items, text, type_of};

pub(super) const ASIDE: &str =
    "<li><a href=\"#delivery\">A delivery</a></li>\n<li><a href=\"#event-types\">Types of events</a></li>\n";

impl<'a> Reader<'a> {
    /// Deliveries differ only in the event, so what they share is shown once.
    pub(super) fn webhooks(&self, out: &mut String) {
        let all = || entries(&self.document["webhooks"]).map(|(name, item)| (name, &item["post"]));
        let shown =
            all().find(|(_, post)| !post["requestBody"]["content"]["application/json"]["examples"].is_null());
        if let Some((_, post)) = shown {
            self.delivery(out, post);
        }
        out.push_str(
            "<article class=\"entry\" aria-labelledby=\"event-types\">\n<h3 id=\"event-types\"><a href=\"#event-types\">Types of events</a></h3>\n<dl class=\"fields\">\n",
        );
        for (name, post) in all() {
            let schema = &post["requestBody"]["content"]["application/json"]["schema"];
            let schema = if schema["allOf"].is_array() {
                &schema["allOf"][0]
            } else {
                schema
            };
            field(
                out,
                name,
                &type_of(schema),
                "",
                &format!("{}.", html_escaped(text(&post["summary"]))),
            );
        }
        out.push_str("</dl>\n</article>\n");
    }

    fn delivery(&self, out: &mut String, post: &'a Value) {
        out.push_str(
            "<article class=\"entry\" aria-labelledby=\"delivery\">\n<h3 id=\"delivery\"><a href=\"#delivery\">A delivery</a></h3>\n\
             <p class=\"route\"><span class=\"method post\">post</span> <code>your address</code></p>\n\
             <p>The body is the event, byte for byte as it was signed.</p>\n<h4>Headers</h4>\n<dl class=\"fields\">\n",
        );
        for header in items(&post["parameters"]).map(|header| self.resolve(header)) {
            field(
                out,
                text(&header["name"]),
                &type_of(&header["schema"]),
                "",
                &inline(text(&header["description"])),
            );
        }
        out.push_str("</dl>\n<h4>Your response</h4>\n<dl class=\"fields\">\n");
        for (status, response) in entries(&post["responses"]) {
            let status = if status == "default" {
                "anything else"
            } else {
                status
            };
            field(
                out,
                status,
                "",
                "",
                &inline(text(&self.resolve(response)["description"])),
            );
        }
        out.push_str("</dl>\n");
        for (_, example) in entries(&post["requestBody"]["content"]["application/json"]["examples"]) {
            let pretty = serde_json::to_string_pretty(&example["value"]).unwrap_or_default();
            let _ = write!(
                out,
                "<details open><summary>{}</summary>\n{}</details>\n",
                html_escaped(text(&example["summary"])),
                code("JSON", &pretty)
            );
        }
        out.push_str("</article>\n");
    }
}
