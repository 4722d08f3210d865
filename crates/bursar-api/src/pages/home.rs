//! The way in: what the API is, the first request, and an index of everything. Links from before there was a page for
//! each resource (`/docs#listMembers`) lead to their row of the index; the script goes on to the page.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;

use super::document::{Document, entries, text};
use super::frame::Page;
use super::highlight::Language;
use super::html::{Sample, code, heading, inline, prose, row};
use super::places::{self, ERRORS, GUIDE, HOME, PLACES, relative};
use super::reference::Writer;
use super::samples;
use crate::openapi::WEBHOOKS;

pub(super) fn render(document: &Document) -> Page {
    let info = &document.root["info"];
    let (lead, rules) = text(&info["description"])
        .split_once("\n\n")
        .unwrap_or((text(&info["description"]), ""));
    let mut main = format!(
        "<div class=\"intro\"><h1>{}</h1>\n<p class=\"lead\">{}</p>\n{}</div>\n",
        html_escaped(text(&info["title"])),
        inline(lead),
        cards(),
    );
    main.push_str(&first_request(document));
    let basics = heading(2, "basics", "Basics") + &prose(rules);
    main.push_str(&row("basics", &basics, &install()));
    main.push_str(&headers(document));
    main.push_str(&index(document));
    Page {
        path: HOME,
        title: "API reference".to_owned(),
        main,
    }
}

fn cards() -> String {
    let link = |path: &str| relative(HOME, path);
    format!(
        "<ul class=\"cards\">\n\
         <li><a href=\"{guide}\"><strong>Guide</strong> Tokens, lists and sync, webhooks, retries, limits</a></li>\n\
         <li><a href=\"{members}\"><strong>Reference</strong> Every endpoint, with samples and a form to try it</a></li>\n\
         <li><a href=\"{errors}\"><strong>Errors</strong> Every code, its cause and what to do</a></li>\n</ul>\n",
        guide = link(GUIDE),
        members = link("/docs/members"),
        errors = link(ERRORS),
    )
}

fn first_request(document: &Document) -> String {
    let scheme = &document.root["components"]["securitySchemes"]["bearerAuth"];
    let body = heading(2, "token", "Tokens and scopes") + &prose(text(&scheme["description"]));
    let side = document
        .operations()
        .find(|one| one.id() == "getToken")
        .map_or_else(String::new, |operation| {
            let sample = samples::of(document, operation);
            let response = operation
                .success()
                .and_then(|(_, response)| {
                    entries(&response["content"]["application/json"]["examples"]).next()
                })
                .map_or_else(String::new, |(_, example)| {
                    let pretty = serde_json::to_string_pretty(&example["value"]).unwrap_or_default();
                    code(Language::Json, "Response 200", &pretty)
                });
            code(
                Language::Shell,
                "Before the first request",
                "export BURSAR_TOKEN='your token'",
            ) + &Sample {
                name: "first-request".to_owned(),
                ..sample
            }
            .render()
                + &response
        });
    row("token", &body, &side)
}

fn install() -> String {
    code(
        Language::Shell,
        "Install a client, from a checkout of bursar",
        "scripts/clients\npip install target/clients/*.whl\nnpm install target/clients/*.tgz",
    )
}

fn headers(document: &Document) -> String {
    let writer = Writer { document, path: HOME };
    let mut body = heading(2, "responses", "Every response");
    body.push_str(
        "<p>These headers come with every response of the API, errors included; the last three only where they apply.</p>\n",
    );
    body.push_str(&writer.headers());
    row("responses", &body, "")
}

/// Operations and schemas by resource, each under the id that it had when all of them were on this page.
fn index(document: &Document) -> String {
    let mut body = heading(2, "all", "All endpoints");
    body.push_str("<table class=\"index\">\n");
    for place in PLACES.iter().filter(|place| place.tag.is_some()) {
        let tag = place.tag.unwrap_or("");
        let page = relative(HOME, place.path);
        let _ = writeln!(
            body,
            "<tbody><tr id=\"tag-{}\" data-moved=\"{page}\"><th scope=\"rowgroup\" colspan=\"3\"><a href=\"{page}\">{}</a></th></tr>",
            tag.to_lowercase(),
            html_escaped(place.name)
        );
        for one in document.of_tag(tag) {
            let _ = writeln!(
                body,
                "<tr id=\"{id}\" data-moved=\"{page}#{id}\"><td><span class=\"method {method}\">{method}</span></td><td><code>{}</code></td>\
                 <td><a href=\"{page}#{id}\">{}</a></td></tr>",
                html_escaped(one.path),
                html_escaped(text(&one.value["summary"])),
                id = one.id(),
                method = one.method,
            );
        }
        if tag == WEBHOOKS {
            for (id, title) in [("delivery", "A delivery"), ("event-types", "Types of events")] {
                let _ = writeln!(
                    body,
                    "<tr id=\"{id}\" data-moved=\"{page}#{id}\"><td><span class=\"method post\">post</span></td><td><code>your URL</code></td>\
                     <td><a href=\"{page}#{id}\">{title}</a></td></tr>"
                );
            }
        }
        body.push_str("</tbody>\n");
    }
    body.push_str("</table>\n");
    body.push_str(&heading(2, "schemas", "All schemas"));
    body.push_str("<ul class=\"schemas\">\n");
    for (name, _) in document.schemas() {
        let to = format!(
            "{}#schema-{name}",
            relative(HOME, places::of_schema(document, name))
        );
        let to = if places::of_schema(document, name) == HOME {
            relative(HOME, "/v1/openapi.json")
        } else {
            to
        };
        let _ = writeln!(
            body,
            "<li id=\"schema-{name}\" data-moved=\"{to}\"><a href=\"{to}\">{name}</a></li>"
        );
    }
    body.push_str("</ul>\n");
    row("all", &body, "")
}
