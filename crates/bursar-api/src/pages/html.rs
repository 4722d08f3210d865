//! HTML output: escaping, the small markup of descriptions, and the frame around every page.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;

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

pub(super) fn code(label: &str, text: &str) -> String {
    format!(
        "<figure class=\"code\"><figcaption>{}</figcaption><pre><code>{}</code></pre></figure>\n",
        html_escaped(label),
        html_escaped(text.trim_end())
    )
}

pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    /// The page's own path, such as `/docs/guide`.
    pub(super) path: &'a str,
    /// The sidebar with links into the page.
    pub(super) aside: &'a str,
    pub(super) main: &'a str,
}

const PAGES: [(&str, &str); 3] = [
    ("/docs", "Reference"),
    ("/docs/guide", "Guide"),
    ("/docs/errors", "Errors"),
];

const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%231f5f4b'/%3E%3Cpath d='M5 3h4a2.5 2.5 0 0 1 1.4 4.5A2.7 2.7 0 0 1 9.3 13H5z' fill='%23fff'/%3E%3C/svg%3E";

impl Frame<'_> {
    /// Relative, so that it works behind a proxy's path prefix.
    pub(super) fn link(&self, path: &str) -> String {
        relative(self.path, path)
    }

    pub(super) fn render(&self) -> String {
        let mut links = String::new();
        for (path, name) in PAGES {
            let here = if path == self.path {
                " aria-current=\"page\""
            } else {
                ""
            };
            let _ = write!(links, "<li><a href=\"{}\"{here}>{name}</a></li>", self.link(path));
        }
        let _ = write!(
            links,
            "<li><a href=\"{}\">openapi.json</a></li>",
            self.link("/v1/openapi.json")
        );
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · bursar</title>\n\
             <link rel=\"icon\" href=\"{ICON}\">\n<link rel=\"stylesheet\" href=\"{style}\">\n\
             <script src=\"{script}\" defer></script>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#main\">Skip to the text</a>\n\
             <header class=\"top\"><p class=\"brand\"><a href=\"{home}\">bursar</a></p>\
             <nav aria-label=\"Pages\"><ul>{links}</ul></nav></header>\n\
             <div class=\"columns\">\n<nav class=\"aside\" aria-label=\"On this page\">\n<details open>\
             <summary>On this page</summary>\n{aside}</details>\n</nav>\n\
             <main id=\"main\" tabindex=\"-1\">\n{main}</main>\n</div>\n\
             <footer><p>bursar, version 1.0.0 of the interface. This page comes from the server itself and needs no \
             network beyond it.</p></footer>\n</body>\n</html>\n",
            title = html_escaped(self.title),
            style = self.link("/docs/style.css"),
            script = self.link("/docs/docs.js"),
            home = self.link("/docs"),
            aside = self.aside,
            main = self.main,
        )
    }
}

/// The relative link from one path of this server to another.
pub(super) fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.trim_start_matches('/').split('/').collect();
    let to: Vec<&str> = to.trim_start_matches('/').split('/').collect();
    // The last part is the page, not a folder.
    let folders = from.len() - 1;
    let shared = from[..folders]
        .iter()
        .zip(&to[..to.len() - 1])
        .take_while(|(a, b)| a == b)
        .count();
    format!("{}{}", "../".repeat(folders - shared), to[shared..].join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_relative() {
        for (from, to, way) in [
            ("/docs", "/docs/errors", "docs/errors"),
            ("/docs", "/docs", "docs"),
            ("/docs/errors", "/docs", "../docs"),
            ("/docs/errors", "/docs/style.css", "style.css"),
            ("/docs", "/v1/openapi.json", "v1/openapi.json"),
            ("/docs/guide", "/v1/openapi.json", "../v1/openapi.json"),
        ] {
            assert_eq!(relative(from, to), way, "{from} {to}");
        }
    }

    #[test]
    fn markup_is_escaped_also_inside_code() {
        assert_eq!(
            inline("a <b> `x<y` & c"),
            "a &lt;b&gt; <code>x&lt;y</code> &amp; c"
        );
        assert_eq!(prose("- a\n- b"), "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n");
    }
}
