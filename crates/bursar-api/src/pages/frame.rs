//! What is around every page: the head, search, and the navigation.

use std::fmt::Write as _;

use bursar_domain::text::html_escaped;

use super::html::{Section, sections};
use super::places::{HOME, PLACES, relative};

/// A page before it is framed.
pub(super) struct Page {
    pub(super) path: &'static str,
    pub(super) title: String,
    pub(super) main: String,
}

const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%231f5f4b'/%3E%3Cpath d='M5 3h4a2.5 2.5 0 0 1 1.4 4.5A2.7 2.7 0 0 1 9.3 13H5z' fill='%23fff'/%3E%3C/svg%3E";

impl Page {
    pub(super) fn render(&self) -> String {
        let link = |path: &str| relative(self.path, path);
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title} · bursar API</title>\n\
             <link rel=\"icon\" href=\"{ICON}\">\n<link rel=\"stylesheet\" href=\"{style}\">\n\
             <script src=\"{early}\"></script>\n<script src=\"{script}\" defer></script>\n</head>\n\
             <body data-root=\"{root}\">\n\
             <a class=\"skip\" href=\"#main\">Skip to the text</a>\n\
             <header class=\"top\">\n<p class=\"brand\"><a href=\"{home}\">bursar</a> <span>API</span></p>\n\
             <div class=\"search\" hidden><label class=\"hush\" for=\"search\">Search the docs</label>\
             <input id=\"search\" type=\"search\" placeholder=\"Search\" autocomplete=\"off\" spellcheck=\"false\" role=\"combobox\" \
             aria-expanded=\"false\" aria-controls=\"found\" aria-autocomplete=\"list\"><kbd>/</kbd>\
             <div id=\"found\" role=\"listbox\" aria-label=\"Results\" hidden></div>\
             <p class=\"hush\" id=\"count\" role=\"status\"></p></div>\n\
             <p class=\"top-link\"><a href=\"{openapi}\">openapi.json</a></p>\n</header>\n\
             <div class=\"columns\">\n{nav}<main id=\"main\" tabindex=\"-1\">\n{main}{next}</main>\n</div>\n\
             <footer><p>The server itself serves these pages. They load nothing from elsewhere.</p></footer>\n</body>\n</html>\n",
            title = html_escaped(&self.title),
            style = link("/docs/style.css"),
            early = link("/docs/early.js"),
            script = link("/docs/docs.js"),
            root = link("/"),
            home = link(HOME),
            openapi = link("/v1/openapi.json"),
            nav = self.navigation(),
            main = self.main,
            next = self.next(),
        )
    }

    fn navigation(&self) -> String {
        let mut out = String::from(
            "<nav class=\"nav\" aria-label=\"Documentation\">\n<details open><summary>Menu</summary>\n",
        );
        let (start, resources): (Vec<_>, Vec<_>) = PLACES.iter().partition(|place| place.tag.is_none());
        for (title, places) in [("Get started", start), ("Resources", resources)] {
            let _ = write!(out, "<p class=\"nav-title\">{title}</p>\n<ul>\n");
            for place in places {
                if place.path == self.path {
                    let _ = writeln!(
                        out,
                        "<li><a href=\"{}\" aria-current=\"page\">{}</a>\n{}</li>",
                        relative(self.path, place.path),
                        place.name,
                        inside(&sections(&self.main))
                    );
                } else {
                    let _ = writeln!(
                        out,
                        "<li><a href=\"{}\">{}</a></li>",
                        relative(self.path, place.path),
                        place.name
                    );
                }
            }
            out.push_str("</ul>\n");
        }
        out + "</details>\n</nav>\n"
    }

    /// Links to the pages before and after.
    fn next(&self) -> String {
        let Some(here) = PLACES.iter().position(|place| place.path == self.path) else {
            return String::new();
        };
        let link = |place: Option<&super::places::Place>, class: &str, word: &str| {
            place.map_or_else(String::new, |place| {
                format!(
                    "<a class=\"{class}\" href=\"{}\"><span>{word}</span> {}</a>",
                    relative(self.path, place.path),
                    place.name
                )
            })
        };
        let before = here.checked_sub(1).and_then(|before| PLACES.get(before));
        format!(
            "<nav class=\"pager\" aria-label=\"Pages\">{}{}</nav>\n",
            link(before, "before", "Previous"),
            link(PLACES.get(here + 1), "after", "Next")
        )
    }
}

/// Links to the headings of the page.
fn inside(sections: &[Section]) -> String {
    let mut out = String::from("<ul class=\"sections\">\n");
    for section in sections.iter().filter(|section| section.level == 2) {
        let method = section.method.as_ref().map_or_else(String::new, |method| {
            format!("<span class=\"method {method}\">{}</span> ", short(method))
        });
        let _ = writeln!(
            out,
            "<li><a href=\"#{}\">{method}<span>{}</span></a></li>",
            section.id,
            html_escaped(&section.title)
        );
    }
    out + "</ul>\n"
}

/// Three or four letters, so that the column of methods stays narrow.
fn short(method: &str) -> &str {
    match method {
        "delete" => "del",
        other => other,
    }
}
