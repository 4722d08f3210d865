//! An operation: what it does, what it takes and returns, its errors, and samples beside it.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;

use super::fields::{Purpose, Writer};
use super::try_it;
use crate::pages::document::{Operation, entries, schema_name, text};
use crate::pages::highlight::Language;
use crate::pages::html::{code, inline, prose, row};
use crate::pages::places::{self, ERRORS, relative};
use crate::pages::samples;

impl<'a> Writer<'a> {
    pub(super) fn operation(&self, operation: Operation<'a>) -> String {
        let (id, op) = (operation.id(), operation.value);
        // The last paragraph says what a token needs and what a request costs.
        let description = text(&op["description"]);
        let (about, needs) = description.rsplit_once("\n\n").unwrap_or((description, ""));
        let mut body = format!(
            "<h2 id=\"{id}\" data-method=\"{method}\"><a href=\"#{id}\">{}</a></h2>\n\
             <p class=\"route\"><span class=\"method {method}\">{method}</span> <code>{}</code></p>\n{}\
             <p class=\"needs\">{}</p>\n{}",
            html_escaped(text(&op["summary"])),
            html_escaped(operation.path),
            prose(about),
            inline(needs),
            try_it::form(self, operation),
            method = operation.method,
        );
        for (place, title) in [
            ("path", "Path parameters"),
            ("query", "Query parameters"),
            ("header", "Headers"),
        ] {
            let fields: String = self
                .document
                .parameters(operation)
                .filter(|parameter| parameter["in"] == place)
                .map(|parameter| self.parameter(parameter))
                .collect();
            if !fields.is_empty() {
                let _ = write!(body, "<h3>{title}</h3>\n<dl class=\"fields\">\n{fields}</dl>\n");
            }
        }
        let request = &op["requestBody"];
        if !request.is_null() {
            let schema = &request["content"]["application/json"]["schema"];
            let _ = write!(
                body,
                "<h3>Body</h3>\n<p>{}</p>\n{}",
                inline(text(&request["description"])),
                self.fields(self.document.resolve(schema), None, Purpose::Body)
            );
        }
        body.push_str(&self.returns(operation));
        body.push_str(&self.errors(operation));
        let side = samples::of(self.document, operation).render() + &responses(operation);
        row(id, &body, &side)
    }

    fn returns(&self, operation: Operation<'a>) -> String {
        let Some((status, response)) = operation.success() else {
            return String::new();
        };
        let schema = &response["content"]["application/json"]["schema"];
        let shape = match schema_name(schema) {
            None => String::new(),
            Some(name) => match name.strip_suffix("Page") {
                Some(row) => format!(
                    " <code>data</code> has <a href=\"{page}#schema-{row}\">{row}</a> objects; <code>hasMore</code> and \
                     <code>nextCursor</code> lead to the next <a href=\"{page}#schema-{name}\">page</a>.",
                    page = relative(self.path, places::of_schema(self.document, name)),
                ),
                None => format!(" Type: {}.", self.type_of(schema)),
            },
        };
        format!(
            "<h3>Returns</h3>\n<p><span class=\"status ok\">{status}</span> {}{shape}</p>\n",
            inline(text(&response["description"]))
        )
    }

    fn errors(&self, operation: Operation<'a>) -> String {
        let mut out = String::from("<h3>Errors</h3>\n<ul class=\"errors\">\n");
        let failures = entries(&operation.value["responses"]).filter(|(status, _)| !status.starts_with('2'));
        for (status, response) in failures {
            let response = self.document.resolve(response);
            let codes: Vec<String> = entries(&response["content"]["application/json"]["examples"])
                .map(|(code, _)| {
                    let page = relative(self.path, ERRORS);
                    format!("<a href=\"{page}#{code}\"><code>{code}</code></a>")
                })
                .collect();
            let _ = writeln!(
                out,
                "<li><span class=\"status\">{status}</span> {}</li>",
                codes.join(" ")
            );
        }
        out + "</ul>\n"
    }
}

/// Examples of what comes back: the first open, others folded.
fn responses(operation: Operation<'_>) -> String {
    let Some((status, response)) = operation.success() else {
        return String::new();
    };
    let mut out = String::new();
    let examples = entries(&response["content"]["application/json"]["examples"]);
    for (i, (_, example)) in examples.enumerate() {
        let pretty = serde_json::to_string_pretty(&example["value"]).unwrap_or_default();
        let summary = text(&example["summary"]);
        if i == 0 {
            out.push_str(&code(Language::Json, &format!("Response {status}"), &pretty));
        } else {
            let _ = write!(
                out,
                "<details class=\"more\"><summary>{}</summary>\n{}</details>\n",
                html_escaped(summary),
                code(Language::Json, &format!("Response {status}"), &pretty)
            );
        }
    }
    out
}
