//! The page that says what went wrong.

use askama::Template;
use bursar_domain::ids::RequestId;

use crate::assets;

#[derive(Template)]
#[template(path = "problem.html")]
struct Problem<'a> {
    style: String,
    title: &'a str,
    text: &'a str,
    /// A link, and what it says.
    way: (String, &'static str),
    request: RequestId,
}

pub(crate) fn page(title: &str, text: &str, way: (String, &'static str), request: RequestId) -> String {
    let page = Problem {
        style: assets::style(),
        title,
        text,
        way,
        request,
    };
    page.render().unwrap_or_else(|_| title.to_owned())
}
