//! The API reference page: every operation and schema of the OpenAPI document.

mod webhooks;

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;
use serde_json::Value;

use super::html::{Frame, code, inline, prose, relative};
use crate::openapi;

const PATH: &str = "/docs";

pub(super) fn render(base_url: &str) -> String {
    let document = openapi::document(base_url);
    let reader = Reader {
        document: &document,
        base_url,
    };
    let (aside, main) = (reader.aside(), reader.main());
    Frame {
        title: "API reference",
        path: PATH,
        aside: &aside,
        main: &main,
    }
    .render()
}

struct Reader<'a> {
    document: &'a Value,
    base_url: &'a str,
}

/// Method, path and operation.
type Operation<'a> = (&'a str, &'a str, &'a Value);

impl<'a> Reader<'a> {
    fn operations(&self) -> impl Iterator<Item = Operation<'a>> {
        entries(&self.document["paths"])
            .flat_map(|(path, methods)| entries(methods).map(move |(method, op)| (method, path, op)))
    }

    fn of_tag(&self, tag: &str) -> impl Iterator<Item = Operation<'a>> {
        self.operations()
            .filter(move |(_, _, op)| text(&op["tags"][0]) == tag)
    }

    fn tags(&self) -> impl Iterator<Item = &'a Value> {
        items(&self.document["tags"])
    }

    /// Follows a `$ref`, if the value is one.
    fn resolve(&self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str().and_then(|name| name.strip_prefix('#')) {
            Some(pointer) => self.document.pointer(pointer).unwrap_or(value),
            None => value,
        }
    }

    fn aside(&self) -> String {
        let mut out = String::from(
            "<div class=\"search\" hidden><label for=\"search\">Find an operation or field</label>\
             <input id=\"search\" type=\"search\" autocomplete=\"off\"><p id=\"found\" role=\"status\"></p></div>\n\
             <ul><li><a href=\"#basics\">Basics</a></li><li><a href=\"#token\">Tokens and scopes</a></li>\
             <li><a href=\"#responses\">Every response</a></li></ul>\n",
        );
        for tag in self.tags() {
            let name = text(&tag["name"]);
            let _ = write!(out, "<p class=\"aside-title\">{}</p>\n<ul>\n", html_escaped(name));
            for (method, _, op) in self.of_tag(name) {
                let _ = writeln!(
                    out,
                    "<li><a href=\"#{id}\"><span class=\"method {method}\">{method}</span> {summary}</a></li>",
                    id = html_escaped(text(&op["operationId"])),
                    summary = html_escaped(text(&op["summary"])),
                );
            }
            if name == openapi::WEBHOOKS {
                out.push_str(webhooks::ASIDE);
            }
            out.push_str("</ul>\n");
        }
        out.push_str("<p class=\"aside-title\">Schemas</p>\n<ul>\n");
        for (name, _) in entries(&self.document["components"]["schemas"]) {
            let _ = writeln!(out, "<li><a href=\"#schema-{name}\">{name}</a></li>");
        }
        out.push_str("</ul>\n");
        out
    }

    fn main(&self) -> String {
        let info = &self.document["info"];
        let mut out = format!(
            "<h1>{}</h1>\n<section id=\"basics\" aria-label=\"Basics\">\n{}",
            html_escaped(text(&info["title"])),
            prose(text(&info["description"]))
        );
        let first = format!(
            "export BURSAR_TOKEN='your token'\ncurl '{}/v1/token' \\\n  -H \"Authorization: Bearer $BURSAR_TOKEN\"",
            self.base_url
        );
        out.push_str(&code("Try your token", &first));
        let _ = write!(
            out,
            "<p>New here? The <a href=\"{}\">guide</a> explains tokens, paging, sync, retries and limits.</p>\n</section>\n",
            relative(PATH, "/docs/guide")
        );
        let scheme = &self.document["components"]["securitySchemes"]["bearerAuth"];
        let _ = write!(
            out,
            "<section aria-labelledby=\"token\">\n<h2 id=\"token\">Tokens and scopes</h2>\n{}</section>\n\
             <section aria-labelledby=\"responses\">\n<h2 id=\"responses\">Every response</h2>\n<p>These headers come with every answer of the API, errors included; the last three only where they apply.</p>\n<dl class=\"fields\">\n",
            prose(text(&scheme["description"]))
        );
        for (name, header) in entries(&self.document["components"]["headers"]) {
            field(
                &mut out,
                name,
                &type_of(&header["schema"]),
                "",
                &inline(text(&header["description"])),
            );
        }
        out.push_str("</dl>\n</section>\n");
        for tag in self.tags() {
            let name = text(&tag["name"]);
            let id = name.to_lowercase();
            let _ = write!(
                out,
                "<section aria-labelledby=\"tag-{id}\">\n<h2 id=\"tag-{id}\">{}</h2>\n{}",
                html_escaped(name),
                prose(text(&tag["description"]))
            );
            for operation in self.of_tag(name) {
                self.operation(&mut out, operation);
            }
            if name == openapi::WEBHOOKS {
                self.webhooks(&mut out);
            }
            out.push_str("</section>\n");
        }
        out.push_str("<section aria-labelledby=\"schemas\">\n<h2 id=\"schemas\">Schemas</h2>\n");
        for (name, schema) in entries(&self.document["components"]["schemas"]) {
            let _ = write!(
                out,
                "<article class=\"entry\" aria-labelledby=\"schema-{name}\">\n<h3 id=\"schema-{name}\"><a href=\"#schema-{name}\">{name}</a></h3>\n{}",
                prose(text(&schema["description"]))
            );
            self.fields(&mut out, schema);
            out.push_str("</article>\n");
        }
        out.push_str("</section>\n");
        out
    }

    fn operation(&self, out: &mut String, (method, path, op): Operation<'a>) {
        let id = html_escaped(text(&op["operationId"]));
        let _ = write!(
            out,
            "<article class=\"entry\" aria-labelledby=\"{id}\">\n<h3 id=\"{id}\"><a href=\"#{id}\">{}</a></h3>\n\
             <p class=\"route\"><span class=\"method {method}\">{method}</span> <code>{}</code></p>\n{}",
            html_escaped(text(&op["summary"])),
            html_escaped(path),
            prose(text(&op["description"]))
        );
        if items(&op["parameters"]).next().is_some() {
            out.push_str("<h4>Parameters</h4>\n<dl class=\"fields\">\n");
            for parameter in items(&op["parameters"]).map(|p| self.resolve(p)) {
                let place = format!(
                    "{}, in the {}",
                    type_of(&parameter["schema"]),
                    text(&parameter["in"])
                );
                let need = if parameter["required"] == true {
                    "required"
                } else {
                    "optional"
                };
                field(
                    out,
                    text(&parameter["name"]),
                    &place,
                    need,
                    &inline(text(&parameter["description"])),
                );
            }
            out.push_str("</dl>\n");
        }
        let body = &op["requestBody"];
        if !body.is_null() {
            let _ = write!(
                out,
                "<h4>Body</h4>\n<p>{}</p>\n",
                inline(text(&body["description"]))
            );
            self.fields(out, self.resolve(&body["content"]["application/json"]["schema"]));
        }
        out.push_str(&code("curl", &self.curl((method, path, op))));
        let (success, failures): (Vec<_>, Vec<_>) =
            entries(&op["responses"]).partition(|(status, _)| status.starts_with('2'));
        for (status, response) in success {
            let content = &response["content"]["application/json"];
            let shape = text(&content["schema"]["$ref"]).rsplit('/').next().unwrap_or("");
            let link = if shape.is_empty() {
                String::new()
            } else {
                format!(" Its fields: <a href=\"#schema-{shape}\">{shape}</a>.")
            };
            let _ = write!(
                out,
                "<h4>Answer {status}</h4>\n<p>{}{link}</p>\n",
                inline(text(&response["description"]))
            );
            for (i, (_, example)) in entries(&content["examples"]).enumerate() {
                let pretty = serde_json::to_string_pretty(&example["value"]).unwrap_or_default();
                let open = if i == 0 { " open" } else { "" };
                let _ = write!(
                    out,
                    "<details{open}><summary>{}</summary>\n{}</details>\n",
                    html_escaped(text(&example["summary"])),
                    code("JSON", &pretty)
                );
            }
        }
        out.push_str("<h4>Errors</h4>\n<ul class=\"errors\">\n");
        for (status, response) in failures {
            let response = self.resolve(response);
            let codes: Vec<String> = entries(&response["content"]["application/json"]["examples"])
                .map(|(code, _)| {
                    format!(
                        "<a href=\"{}#{code}\"><code>{code}</code></a>",
                        relative(PATH, "/docs/errors")
                    )
                })
                .collect();
            let _ = writeln!(out, "<li><strong>{status}</strong> {}</li>", codes.join(", "));
        }
        out.push_str("</ul>\n</article>\n");
    }

    /// A command to paste into a shell.
    fn curl(&self, (method, path, op): Operation<'a>) -> String {
        let mut path = path.to_owned();
        let mut more = String::new();
        for parameter in items(&op["parameters"]).map(|p| self.resolve(p)) {
            let name = text(&parameter["name"]);
            match text(&parameter["in"]) {
                "path" => path = path.replace(&format!("{{{name}}}"), text(&parameter["example"])),
                "header" if parameter["required"] == true => {
                    let _ = write!(more, " \\\n  -H \"{name}: $(uuidgen)\"");
                }
                _ if name == "limit" => path.push_str("?limit=50"),
                _ => {}
            }
        }
        let mut line = format!("curl '{}{path}'", self.base_url.replace('\'', "%27"));
        if method != "get" {
            let _ = write!(line, " \\\n  -X {}", method.to_uppercase());
        }
        if items(&op["security"]).next().is_some() {
            line.push_str(" \\\n  -H \"Authorization: Bearer $BURSAR_TOKEN\"");
        }
        line.push_str(&more);
        let examples = &op["requestBody"]["content"]["application/json"]["examples"];
        if let Some((_, example)) = entries(examples).next() {
            let _ = write!(
                line,
                " \\\n  -H 'Content-Type: application/json' \\\n  -d '{}'",
                example["value"]
            );
        }
        line
    }

    fn fields(&self, out: &mut String, schema: &'a Value) {
        if entries(&schema["properties"]).next().is_none() {
            return;
        }
        let required: Vec<&str> = items(&schema["required"]).map(text).collect();
        out.push_str("<dl class=\"fields\">\n");
        for (name, property) in entries(&schema["properties"]) {
            let need = if required.contains(&name) { "" } else { "optional" };
            field(
                out,
                name,
                &type_of(property),
                need,
                &inline(text(&property["description"])),
            );
            // Also list the fields of a nested object, such as an error's details.
            let inner = if property["type"] == "array" {
                &property["items"]
            } else {
                property
            };
            if inner["properties"].is_object() {
                out.push_str("<div class=\"inner\">\n<dt>Its fields</dt>\n<dd>");
                self.fields(out, inner);
                out.push_str("</dd></div>\n");
            }
        }
        out.push_str("</dl>\n");
    }
}

fn field(out: &mut String, name: &str, kind: &str, need: &str, description: &str) {
    let need = if need.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"need\">{need}</span>")
    };
    let _ = writeln!(
        out,
        "<div><dt><code>{}</code> <span class=\"kind\">{kind}</span>{need}</dt><dd>{description}</dd></div>",
        html_escaped(name)
    );
}

/// A schema's type in a few words, as HTML.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|name| name.rsplit('/').next()) {
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    if schema["anyOf"].is_array() {
        return items(&schema["anyOf"])
            .map(type_of)
            .collect::<Vec<_>>()
            .join(" or ");
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(text).collect(),
        kind => vec![text(kind)],
    };
    let null = if kinds.contains(&"null") { " or null" } else { "" };
    let kind = kinds.first().copied().unwrap_or("");
    if kind == "array" {
        return format!("array of {}", type_of(&schema["items"]));
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("<code>{word}</code>"))
            .collect();
        return format!("one of {}{null}", words.join(", "));
    }
    let mut out = match (kind, text(&schema["format"])) {
        ("string", "date-time") => "time".to_owned(),
        ("string", "") => match id_prefix(text(&schema["pattern"])) {
            Some(prefix) => format!("id <code>{prefix}…</code>"),
            None => "string".to_owned(),
        },
        ("string", format) => format.to_owned(),
        (kind, _) => kind.to_owned(),
    };
    let number = |keyword: &str| schema[keyword].as_f64().map(|n| n.to_string());
    match (number("minLength"), number("maxLength")) {
        (Some(least), Some(most)) if least == most => {
            let _ = write!(out, " of {most} characters");
        }
        (Some(least), Some(most)) => {
            let _ = write!(out, " of {least} to {most} characters");
        }
        (None, Some(most)) => {
            let _ = write!(out, " of up to {most} characters");
        }
        _ => {}
    }
    for (keyword, words) in [
        ("exclusiveMinimum", "above"),
        ("minimum", "from"),
        ("maximum", "up to"),
        ("multipleOf", "in steps of"),
        ("default", "by default"),
    ] {
        if let Some(n) = number(keyword) {
            let _ = write!(out, ", {words} {n}");
        }
    }
    out + null
}

fn id_prefix(pattern: &str) -> Option<&str> {
    let rest = pattern.strip_prefix('^')?;
    let end = rest.find("_[0-7]")?;
    Some(&rest[..=end])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn entries(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), value))
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
