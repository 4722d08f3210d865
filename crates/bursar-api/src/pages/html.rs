//! HTML output: escaping, the small markup of descriptions, blocks of code, and what a page's headings say.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;

use super::highlight::{Language, highlighted};

/// Escapes one line and turns backticks into `<code>`.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    for (i, part) in text.split('`').enumerate() {
        let part = html_escaped(part);
        if i % 2 == 1 {
            let _ = write!(out, "<code>{part}</code>");
        } else {
            out.push_str(&part);
        }
    }
    out
}

/// Paragraphs are separated by empty lines; lines that start with a hyphen are lists.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    for block in text.split("\n\n") {
        let lines: Vec<&str> = block.lines().filter(|line| !line.is_empty()).collect();
        if !lines.is_empty() && lines.iter().all(|line| line.starts_with("- ")) {
            out.push_str("<ul>\n");
            for line in lines {
                let _ = writeln!(out, "<li>{}</li>", inline(&line[2..]));
            }
            out.push_str("</ul>\n");
        } else {
            let _ = writeln!(out, "<p>{}</p>", inline(block));
        }
    }
    out
}

/// One block of code with a caption.
pub(super) fn code(language: Language, caption: &str, text: &str) -> String {
    format!(
        "<figure class=\"code\"><figcaption>{}</figcaption><pre><code>{}</code></pre></figure>\n",
        html_escaped(caption),
        highlighted(language, text.trim_end())
    )
}

/// One program in several languages. The reader chooses one, for all blocks at once; without scripts all are shown.
pub(super) struct Sample {
    /// Unique on the page.
    pub(super) name: String,
    pub(super) versions: Vec<(Tab, String)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tab {
    Curl,
    Python,
    TypeScript,
}

impl Tab {
    pub(super) const ALL: [Self; 3] = [Self::Curl, Self::Python, Self::TypeScript];

    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Python => "python",
            Self::TypeScript => "typescript",
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Python => "Python",
            Self::TypeScript => "TypeScript",
        }
    }

    const fn language(self) -> Language {
        match self {
            Self::Curl => Language::Shell,
            Self::Python => Language::Python,
            Self::TypeScript => Language::TypeScript,
        }
    }
}

impl Sample {
    pub(super) fn render(&self) -> String {
        let name = html_escaped(&self.name);
        let has_curl = self.versions.iter().any(|(tab, _)| *tab == Tab::Curl);
        // Who chose curl sees Python where there is no curl.
        let class = if has_curl { "langs" } else { "langs no-curl" };
        let mut out = format!("<div class=\"{class}\">\n");
        for (tab, text) in &self.versions {
            let _ = writeln!(
                out,
                "<div class=\"code\" id=\"{name}-{id}\" data-lang=\"{id}\" data-sample=\"{name}\"><p class=\"caption\">{}</p>\
                 <pre><code>{}</code></pre></div>",
                tab.name(),
                highlighted(tab.language(), text.trim_end()),
                id = tab.id(),
            );
        }
        out + "</div>\n"
    }
}

/// A row of a page: the text, and the code beside it where the screen is wide.
pub(super) fn row(id: &str, text: &str, side: &str) -> String {
    let side = if side.is_empty() {
        String::new()
    } else {
        format!("<div class=\"side\"><div class=\"stick\">\n{side}</div></div>\n")
    };
    format!(
        "<section class=\"row\" aria-labelledby=\"{id}\">\n<div class=\"text\">\n{text}</div>\n{side}</section>\n"
    )
}

/// A heading that links to itself.
pub(super) fn heading(level: u8, id: &str, title: &str) -> String {
    format!("<h{level} id=\"{id}\"><a href=\"#{id}\">{title}</a></h{level}>\n")
}

/// A heading of a rendered page, with the text up to the next one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) method: Option<String>,
    pub(super) level: u8,
    pub(super) text: String,
}

/// Reads the headings with an id out of a page.
pub(super) fn sections(main: &str) -> Vec<Section> {
    let mut found = Vec::new();
    let starts: Vec<usize> = main
        .match_indices("<h")
        .filter(|(at, _)| main[at + 2..].starts_with(['2', '3']) && main[at + 3..].starts_with(" id=\""))
        .map(|(at, _)| at)
        .collect();
    for (i, at) in starts.iter().enumerate() {
        let part = &main[*at..starts.get(i + 1).copied().unwrap_or(main.len())];
        let level = if part.starts_with("<h2") { 2 } else { 3 };
        let Some((head, body)) = part.split_once(if level == 2 { "</h2>" } else { "</h3>" }) else {
            continue;
        };
        let value = |name: &str| {
            let (_, after) = head.split_once(&format!(" {name}=\""))?;
            after.split_once('"').map(|(value, _)| value.to_owned())
        };
        found.push(Section {
            id: value("id").unwrap_or_default(),
            title: plain(head),
            method: value("data-method"),
            level,
            text: plain(body),
        });
    }
    found
}

/// The text of HTML that this module wrote, without code, forms and drawings.
fn plain(html: &str) -> String {
    let mut out = String::new();
    let mut skipped: Option<&str> = None;
    for part in html.split('<') {
        let Some((tag, text)) = part.split_once('>') else {
            out.push_str(part);
            continue;
        };
        match skipped {
            Some(until) if tag == until => skipped = None,
            Some(_) => continue,
            None if tag.starts_with("figure") => skipped = Some("/figure"),
            None if tag.starts_with("pre") => skipped = Some("/pre"),
            None if tag.starts_with("p class=\"caption\"") => skipped = Some("/p"),
            None if tag.starts_with("form") => skipped = Some("/form"),
            None if tag.starts_with("svg") => skipped = Some("/svg"),
            None => {}
        }
        if skipped.is_none() {
            // Words that only tags kept apart.
            if !out.ends_with([' ', '(']) && !tag.starts_with("code") && !tag.starts_with("/code") {
                out.push(' ');
            }
            out.push_str(text);
        }
    }
    let words: Vec<&str> = out.split_whitespace().collect();
    unescaped(&words.join(" "))
}

fn unescaped(text: &str) -> String {
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_also_inside_code() {
        assert_eq!(
            inline("a <b> `x<y` & c"),
            "a &lt;b&gt; <code>x&lt;y</code> &amp; c"
        );
        assert_eq!(prose("- a\n- b"), "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n");
    }

    #[test]
    fn headings_are_read_with_their_text() {
        let page = "<h1>Top</h1><p>Before</p><h2 id=\"a\" data-method=\"get\"><a href=\"#a\">A &amp; B</a></h2>\n<p>One <code>two</code>.</p>\
                    <figure><pre>not this</pre></figure><p>Three</p><h3 id=\"c\">C</h3><p>Last</p>";
        let section = |id: &str, title: &str, method: Option<&str>, level, text: &str| Section {
            id: id.to_owned(),
            title: title.to_owned(),
            method: method.map(str::to_owned),
            level,
            text: text.to_owned(),
        };
        assert_eq!(
            sections(page),
            [
                section("a", "A & B", Some("get"), 2, "One two. Three"),
                section("c", "C", None, 3, "Last")
            ]
        );
    }
}
