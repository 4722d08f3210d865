//! The guide for authors of clients, with sample code that runs.

use std::fmt::Write as _;

use bursar_domain::access::{Role, Scope};
use bursar_domain::text::html_escaped;
use bursar_domain::token::SCANNER_PATTERN;
use bursar_http::limits::{Bucket, Limits};

use super::html::{Frame, code};
use crate::openapi;

const TEXT: &str = include_str!("guide.html");
const PYTHON: &str = include_str!("samples/client.py");
const TYPESCRIPT: &str = include_str!("samples/client.ts");
/// Of the sample programs.
const PARTS: [&str; 9] = [
    "setup", "call", "sync", "verify", "receive", "apply", "catch_up", "first", "write",
];
/// The address that the sample programs use; the page shows the real one.
const SAMPLE_URL: &str = "http://127.0.0.1:8080";

pub(super) fn render(base_url: &str) -> String {
    let mut main = TEXT.to_owned();
    for name in PARTS {
        for (language, source) in [("Python", PYTHON), ("TypeScript", TYPESCRIPT)] {
            let mark = format!("<!-- {name} {language} -->");
            let sample = section(source, name).replace(SAMPLE_URL, base_url);
            main = main.replace(&mark, &code(language, &sample));
        }
    }
    main = main
        .replace("<!-- scopes -->", &scopes())
        .replace("<!-- buckets -->", &buckets())
        .replace("{scanner}", &html_escaped(SCANNER_PATTERN))
        .replace("{base_url}", &html_escaped(base_url));
    let aside = aside(&main);
    Frame {
        title: "Guide",
        path: "/docs/guide",
        aside: &aside,
        main: &main,
    }
    .render()
}

/// The part of a sample between its marker and the next.
fn section<'a>(source: &'a str, name: &str) -> &'a str {
    let mark = format!("[{name}]\n");
    let after = source.split_once(&mark).map_or("", |(_, after)| after);
    let end = ["\n# [", "\n// ["]
        .iter()
        .filter_map(|next| after.find(next))
        .min()
        .unwrap_or(after.len());
    after[..end].trim()
}

fn scopes() -> String {
    let mut out = String::from("<dl class=\"fields\">\n");
    for scope in Scope::ALL {
        let role = Role::ALL.iter().copied().find(|role| role.ceiling().has(*scope));
        let _ = writeln!(
            out,
            "<div><dt><code>{scope}</code> <span class=\"kind\">{}</span></dt><dd>Lets a token {}.</dd></div>",
            role.map_or("", openapi::reach),
            scope.in_words()
        );
    }
    out + "</dl>\n"
}

fn buckets() -> String {
    let limits = Limits::default();
    let mut out = String::from("<dl class=\"fields\">\n");
    for bucket in Bucket::ALL {
        let what = match bucket {
            Bucket::Read => "<code>GET</code> and <code>HEAD</code>.",
            Bucket::Write => "<code>POST</code>, <code>PATCH</code> and <code>DELETE</code>.",
            Bucket::Messaging => "What sends e-mail or SMS: sending a reminder now.",
        };
        let _ = writeln!(
            out,
            "<div><dt><code>{}</code> <span class=\"kind\">{} units a minute</span></dt><dd>{what}</dd></div>",
            bucket.name(),
            limits.of(bucket)
        );
    }
    out + "</dl>\n"
}

/// Links to the second-level headings.
fn aside(main: &str) -> String {
    let mut out = String::from("<p class=\"aside-title\">Guide</p>\n<ul>\n");
    for heading in main.split("<h2 id=\"").skip(1) {
        if let Some((id, rest)) = heading.split_once("\">")
            && let Some((title, _)) = rest.split_once("</h2>")
        {
            let _ = writeln!(out, "<li><a href=\"#{id}\">{title}</a></li>");
        }
    }
    out + "</ul>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_shown_with_the_readers_address() {
        let page = render("https://dues.example.org");
        assert!(!page.contains("<!-- "), "a mark that nothing replaced");
        assert!(!page.contains(SAMPLE_URL) && !page.contains("{base_url}"));
        assert!(page.contains("BASE_URL = &quot;https://dues.example.org&quot;"));
        for source in [PYTHON, TYPESCRIPT] {
            for name in PARTS {
                assert!(!section(source, name).is_empty(), "{name}");
            }
        }
    }
}
