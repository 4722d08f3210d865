//! The person's own e-mail address, and the code that was mailed to the new one.

use askama::Template;

use crate::assets;
use crate::failure::Failure;
use crate::forms::Form;

#[derive(Template)]
#[template(path = "address.html")]
struct Ask<'a> {
    style: String,
    own: &'a str,
    form: &'a Form,
}

#[derive(Template)]
#[template(path = "address_code.html")]
struct Code<'a> {
    style: String,
    email: &'a str,
    form: &'a Form,
}

const ASKED: &[&str] = &["email"];
const TYPED: &[&str] = &["code"];

pub(crate) fn ask(own: &str, form: &Form) -> Result<String, Failure> {
    let style = assets::style();
    Ok(Ask { style, own, form }.render()?)
}

pub(crate) fn code(email: &str, form: &Form) -> Result<String, Failure> {
    let style = assets::style();
    Ok(Code { style, email, form }.render()?)
}
