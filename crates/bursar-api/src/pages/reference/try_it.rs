//! "Try it": a form that sends the request to this server from the page. A script shows it; without one it could do
//! nothing and stays hidden.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;
use serde_json::Value;

use super::fields::Writer;
use crate::pages::document::{Operation, items, text};

pub(super) fn form(writer: &Writer<'_>, operation: Operation<'_>) -> String {
    let id = operation.id();
    let mut out = format!(
        "<details class=\"try\" hidden><summary>Try it</summary>\n<form data-method=\"{}\" data-path=\"{}\">\n",
        operation.method.to_uppercase(),
        html_escaped(operation.path.trim_start_matches('/')),
    );
    if items(&operation.value["security"]).next().is_some() {
        let _ = writeln!(
            out,
            "<div class=\"try-field\"><label for=\"try-{id}-token\">Token</label>\
             <input id=\"try-{id}-token\" name=\"token\" type=\"password\" autocomplete=\"off\" spellcheck=\"false\" \
             placeholder=\"bursar_…\" required><p>Kept in this tab only, until you close it.</p></div>"
        );
    }
    for parameter in writer.document.parameters(operation) {
        match text(&parameter["in"]) {
            "header" => out.push_str(&key_field(id)),
            place => out.push_str(&field(id, place, parameter)),
        }
    }
    if let Some(body) = operation
        .example_body()
        .filter(|body| body.as_object().is_some_and(|body| !body.is_empty()))
    {
        let pretty = serde_json::to_string_pretty(body).unwrap_or_default();
        let _ = writeln!(
            out,
            "<div class=\"try-field wide\"><label for=\"try-{id}-body\">Body</label>\
             <textarea id=\"try-{id}-body\" name=\"body\" rows=\"{}\" spellcheck=\"false\">{}</textarea></div>",
            pretty.lines().count() + 1,
            html_escaped(&pretty)
        );
    }
    let button = if operation.is_write() {
        "Review request"
    } else {
        "Send request"
    };
    let _ = write!(
        out,
        "<div class=\"try-buttons\"><button type=\"submit\">{button}</button></div>\n</form>\n\
         <div class=\"try-result\" role=\"status\"></div>\n</details>\n"
    );
    out
}

fn key_field(id: &str) -> String {
    format!(
        "<div class=\"try-field wide\"><label for=\"try-{id}-key\">Idempotency-Key</label>\
         <input id=\"try-{id}-key\" name=\"key\" autocomplete=\"off\" spellcheck=\"false\">\
         <p>With the same key and the same body you get the first response again. <button type=\"button\" class=\"new-key\">New key</button></p></div>\n"
    )
}

fn field(id: &str, place: &str, parameter: &Value) -> String {
    let name = text(&parameter["name"]);
    let schema = &parameter["schema"];
    let required = if parameter["required"] == true {
        " required"
    } else {
        ""
    };
    let label = format!("<div class=\"try-field\"><label for=\"try-{id}-{name}\">{name}</label>");
    let attributes = format!("id=\"try-{id}-{name}\" name=\"{name}\" data-in=\"{place}\"{required}");
    let words: Vec<&str> = if schema["type"] == "boolean" {
        vec!["true", "false"]
    } else {
        items(&schema["enum"]).map(text).collect()
    };
    if words.is_empty() {
        let example = parameter["example"]
            .as_str()
            .map_or_else(|| parameter["example"].to_string(), str::to_owned);
        return format!(
            "{label}<input {attributes} autocomplete=\"off\" spellcheck=\"false\" placeholder=\"{}\"></div>\n",
            html_escaped(&example)
        );
    }
    let mut options = String::from("<option value=\"\">any</option>");
    for word in words {
        let _ = write!(options, "<option>{word}</option>");
    }
    format!("{label}<select {attributes}>{options}</select></div>\n")
}
