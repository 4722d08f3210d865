//! The page that says what went wrong.

use askama::Template;
use bursar_app::View;
use bursar_domain::Refusal;
use bursar_domain::ids::RequestId;

use crate::asking::Asking;
use crate::assets;
use crate::failure::Failure;
use crate::forms::Form;

#[derive(Template)]
#[template(path = "problem.html")]
struct Problem<'a> {
    style: String,
    title: &'a str,
    text: &'a str,
    request: RequestId,
}

pub(crate) fn page(title: &str, text: &str, request: RequestId) -> String {
    let page = Problem {
        style: assets::style(),
        title,
        text,
        request,
    };
    page.render().unwrap_or_else(|_| title.to_owned())
}

/// Of a route that is a file.
pub(crate) fn no_page(_: &mut View<'_, '_>, _: &Asking, _: &Form) -> Result<String, Failure> {
    Err(Refusal::missing("this address has no page").into())
}
