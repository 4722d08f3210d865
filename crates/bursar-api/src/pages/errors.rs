//! The errors page: each code, its cause, what to do, and code that does it. An error's `docsUrl` links to its heading.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;

use super::document::Document;
use super::frame::Page;
use super::guide::Programs;
use super::highlight::Language;
use super::html::{code, heading, inline, row};
use super::places::ERRORS;
use super::reference::{Purpose, Writer};
use crate::openapi::{self, CODES, ErrorDoc, title};

const PROGRAMS: Programs = Programs {
    curl: include_str!("samples/errors.sh"),
    python: include_str!("samples/errors.py"),
    typescript: include_str!("samples/errors.ts"),
};

pub(super) fn render(document: &Document) -> Page {
    let mut main = String::from("<div class=\"intro\"><h1>Errors</h1>\n");
    main.push_str(
        "<p class=\"lead\">Every error has the same body. Programs read <code>code</code>, people read <code>message</code>.</p>\n",
    );
    main.push_str(&table());
    main.push_str("</div>\n");
    main.push_str(&body(document));
    for doc in CODES {
        main.push_str(&error(document, doc));
    }
    Page {
        path: ERRORS,
        title: "Errors".to_owned(),
        main,
    }
}

fn table() -> String {
    let mut out = String::from(
        "<table class=\"index\">\n<thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Meaning</th><th scope=\"col\">Codes</th></tr></thead>\n<tbody>\n",
    );
    let mut statuses: Vec<u16> = CODES.iter().map(|doc| doc.status).collect();
    statuses.dedup();
    for status in statuses {
        let codes: Vec<String> = CODES
            .iter()
            .filter(|doc| doc.status == status)
            .map(|doc| format!("<a href=\"#{0}\"><code>{0}</code></a>", html_escaped(doc.code)))
            .collect();
        let _ = writeln!(
            out,
            "<tr id=\"s{status}\"><th scope=\"row\"><span class=\"status\">{status}</span></th><td>{}</td><td>{}</td></tr>",
            title(status),
            codes.join(" ")
        );
    }
    out + "</tbody>\n</table>\n"
}

fn body(document: &Document) -> String {
    let writer = Writer {
        document,
        path: ERRORS,
    };
    let id = "schema-Error";
    let text = heading(2, id, "The Error object")
        + &writer.fields(document.schema("Error"), Some("Error"), Purpose::Response)
        + "<ul>\n<li>An error changed nothing, with one exception: after a 500, a 503 or a broken connection you cannot know. \
           Retry such a write with the same <code>Idempotency-Key</code>.</li>\n\
           <li>Give the <code>requestId</code> to the operator when you ask for help. It is in the <code>X-Request-Id</code> header \
           too.</li>\n\
           <li>v1 may add codes. Treat one that you do not know by its status.</li>\n</ul>\n";
    // The first code is what curl gets in the sample.
    let side = PROGRAMS.sample("read", "reading", &document.base_url).render()
        + &CODES
            .first()
            .map_or_else(String::new, |doc| response(document, doc));
    row(id, &text, &side)
}

fn error(document: &Document, doc: &ErrorDoc) -> String {
    let id = html_escaped(doc.code);
    let text = format!(
        "<h2 id=\"{id}\"><a href=\"#{id}\"><code>{id}</code></a></h2>\n\
         <p class=\"needs\"><span class=\"status\">{}</span> {}</p>\n\
         <dl class=\"why\">\n<dt>Cause</dt><dd>{}</dd>\n<dt>What to do</dt><dd>{}</dd>\n</dl>\n",
        doc.status,
        title(doc.status),
        inline(doc.why),
        inline(doc.what_to_do),
    );
    let sample = PROGRAMS.sample(program(doc.code), doc.code, &document.base_url);
    row(&id, &text, &(response(document, doc) + &sample.render()))
}

fn response(document: &Document, doc: &ErrorDoc) -> String {
    openapi::example(doc.code, &document.base_url).map_or_else(String::new, |example| {
        let pretty = serde_json::to_string_pretty(&example).unwrap_or_default();
        code(Language::Json, &format!("Response {}", doc.status), &pretty)
    })
}

/// The part of the sample programs that does what is to be done.
fn program(code: &str) -> &'static str {
    match code {
        "invalid_cursor" => "walk",
        "idempotency_key_required" | "idempotency_key_invalid" | "idempotency_key_reused" => "key",
        "invalid_token" | "insufficient_scope" => "token",
        "rate_limited" | "unavailable" | "internal" => "retry",
        "idempotency_key_in_use" => "in use",
        "conflict" => "conflict",
        _ => "read",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_body_and_a_program() {
        for doc in CODES {
            let example = openapi::example(doc.code, "https://dues.example.org").unwrap();
            assert_eq!(example["error"]["code"], doc.code);
            let sample = PROGRAMS.sample(program(doc.code), doc.code, "https://dues.example.org");
            assert_eq!(sample.versions.len(), 3, "{}", doc.code);
        }
    }
}
