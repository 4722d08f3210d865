//! A form that came after its session had ended, or that asks who it is once more: what was typed stays in the page, to
//! be sent again after a sign-in in another tab.

use askama::Template;

use crate::assets;
use crate::forms::Form;

#[derive(Template)]
#[template(path = "kept.html")]
struct Page<'a> {
    style: String,
    title: &'a str,
    lead: &'a str,
    /// The way to sign in.
    way: String,
    /// Where the form goes.
    action: &'a str,
    fields: Vec<(&'a str, &'a str)>,
    /// Files are not kept.
    has_files: bool,
}

pub(crate) fn page(
    (title, lead): (&str, &str),
    way: String,
    action: &str,
    form: &Form,
    has_files: bool,
) -> String {
    let page = Page {
        style: assets::style(),
        title,
        lead,
        way,
        action,
        fields: form.fields().collect(),
        has_files,
    };
    page.render().unwrap_or_else(|_| title.to_owned())
}
