//! The guide for authors of clients, with sample code that runs.

use std::fmt::Write as _;

use bursar_domain::access::{Role, Scope};
use bursar_domain::text::html_escaped;
use bursar_domain::token::SCANNER_PATTERN;
use bursar_http::limits::{Bucket, Limits};

use super::document::Document;
use super::frame::Page;
use super::highlight::Language;
use super::html::{Sample, Tab, code, row};
use super::places::GUIDE;
use crate::openapi;

const TEXT: &str = include_str!("guide.html");
/// With our clients.
const CLIENTS: Programs = Programs {
    curl: include_str!("samples/guide.sh"),
    python: include_str!("samples/guide.py"),
    typescript: include_str!("samples/guide.ts"),
};
/// With an HTTP library alone.
const PLAIN: Programs = Programs {
    curl: "",
    python: include_str!("samples/client.py"),
    typescript: include_str!("samples/client.ts"),
};
/// The address that the sample programs use; the page shows the real one.
const SAMPLE_URL: &str = "http://127.0.0.1:8080";

/// Programs that say the same in each language, in parts that begin with a line such as `# [sync]`.
pub(super) struct Programs {
    pub(super) curl: &'static str,
    pub(super) python: &'static str,
    pub(super) typescript: &'static str,
}

impl Programs {
    /// A part, in the languages that have it, under a name that is unique on its page.
    pub(super) fn sample(&self, part_name: &str, name: &str, base_url: &str) -> Sample {
        let source = |tab| match tab {
            Tab::Curl => self.curl,
            Tab::Python => self.python,
            Tab::TypeScript => self.typescript,
        };
        let versions = Tab::ALL
            .into_iter()
            .map(|tab| (tab, part(source(tab), part_name).replace(SAMPLE_URL, base_url)))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        Sample {
            name: name.to_owned(),
            versions,
        }
    }
}

/// The part of a program between its marker and the next.
fn part<'a>(source: &'a str, name: &str) -> &'a str {
    let mark = format!("[{name}]\n");
    let after = source.split_once(&mark).map_or("", |(_, after)| after);
    let end = ["\n# [", "\n// ["]
        .iter()
        .filter_map(|next| after.find(next))
        .min()
        .unwrap_or(after.len());
    after[..end].trim()
}

pub(super) fn render(document: &Document) -> Page {
    let text = TEXT
        .replace("<!-- scopes -->", &scopes())
        .replace("<!-- buckets -->", &buckets())
        .replace("{base_url}", &html_escaped(&document.base_url));
    let (intro, sections) = text.split_once("<section data-id=\"").unwrap_or((&text, ""));
    let mut main = format!("<div class=\"intro\">{}</div>\n", intro.trim());
    for section in sections.split("<section data-id=\"") {
        main.push_str(&guide_row(section, &document.base_url));
    }
    Page {
        path: GUIDE,
        title: "Guide".to_owned(),
        main,
    }
}

/// A section of the text, with its samples beside it. A line `<!-- sample NAME -->` names one of the clients, and
/// `<!-- plain NAME -->` one without.
fn guide_row(section: &str, base_url: &str) -> String {
    let (id, inner) = section.split_once("\">\n").unwrap_or(("", section));
    let inner = inner.trim_end().trim_end_matches("</section>");
    let (mut text, mut side) = (String::new(), String::new());
    for line in inner.lines() {
        let mark = line
            .trim()
            .strip_prefix("<!-- ")
            .and_then(|mark| mark.strip_suffix(" -->"));
        match mark.and_then(|mark| mark.split_once(' ')) {
            Some(("sample", name)) => side.push_str(&CLIENTS.sample(name, name, base_url).render()),
            Some(("plain", name)) => {
                let shown = format!("plain-{name}");
                side.push_str(&PLAIN.sample(name, &shown, base_url).render());
            }
            Some(("code", "scanner")) => {
                side.push_str(&code(Language::Plain, "Regular expression", SCANNER_PATTERN));
            }
            _ => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    row(id, &text, &side)
}

fn scopes() -> String {
    let mut out = String::from(
        "<table class=\"index\">\n<thead><tr><th scope=\"col\">Scope</th><th scope=\"col\">Lets a token</th><th scope=\"col\">Roles</th></tr></thead>\n<tbody>\n",
    );
    for scope in Scope::ALL {
        let role = Role::ALL.iter().copied().find(|role| role.ceiling().has(*scope));
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{scope}</code></th><td>{}</td><td>{}</td></tr>",
            scope.in_words(),
            role.map_or("", openapi::reach),
        );
    }
    out + "</tbody>\n</table>\n"
}

fn buckets() -> String {
    let limits = Limits::default();
    let mut out = String::from(
        "<table class=\"index\">\n<thead><tr><th scope=\"col\">Bucket</th><th scope=\"col\">Requests</th><th scope=\"col\">Units a minute</th></tr></thead>\n<tbody>\n",
    );
    for bucket in Bucket::ALL {
        let what = match bucket {
            Bucket::Read => "<code>GET</code> and <code>HEAD</code>",
            Bucket::Write => "<code>POST</code>, <code>PATCH</code> and <code>DELETE</code>",
            Bucket::Messaging => "Requests that send e-mail or SMS: sending a reminder now",
        };
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{what}</td><td>{}</td></tr>",
            bucket.name(),
            limits.of(bucket)
        );
    }
    out + "</tbody>\n</table>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sample_is_shown_with_the_readers_address() {
        let page = render(&Document {
            root: serde_json::Value::Null,
            base_url: "https://dues.example.org".to_owned(),
        });
        assert!(!page.main.contains("<!-- "), "a mark that nothing replaced");
        assert!(!page.main.contains(SAMPLE_URL) && !page.main.contains("{base_url}"));
        assert!(page.main.contains("https://dues.example.org"));
        assert!(
            !page.main.contains("<div class=\"langs\">\n</div>"),
            "an empty sample"
        );
        for (programs, prefix) in [(&CLIENTS, ""), (&PLAIN, "plain-")] {
            for source in [programs.curl, programs.python, programs.typescript] {
                let marks = source
                    .lines()
                    .filter_map(|line| line.split_once(' ')?.1.strip_prefix('[')?.strip_suffix(']'));
                for name in marks {
                    assert!(
                        page.main.contains(&format!("data-sample=\"{prefix}{name}\"")),
                        "{name} is not shown"
                    );
                }
            }
        }
    }
}
