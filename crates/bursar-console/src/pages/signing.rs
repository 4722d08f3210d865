//! The pages around signing in.

use askama::Template;
use bursar_domain::organization::User;

use crate::assets;
use crate::failure::Failure;
use crate::forms::Form;

const SHOWN: &[&str] = &["email"];

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Ask<'a> {
    style: String,
    form: &'a Form,
    /// The address of somebody who is signed in and must prove it again.
    own: &'a str,
    to: &'a str,
    script: String,
    has_passkeys: bool,
}

#[derive(Template)]
#[template(path = "code.html")]
struct Code<'a> {
    style: String,
    email: &'a str,
    wrong: &'a str,
    to: &'a str,
}

#[derive(Template)]
#[template(path = "confirm.html")]
struct Confirm<'a> {
    style: String,
    who: &'a str,
    email: &'a str,
    link: &'a str,
}

#[derive(Template)]
#[template(path = "ended.html")]
struct Ended {
    style: String,
    title: &'static str,
    text: &'static str,
}

/// What does not work any more.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Link,
    Code,
    Setup,
}

pub(crate) fn ask(form: &Form, own: &str, to: &str, has_passkeys: bool) -> Result<String, Failure> {
    let page = Ask {
        style: assets::style(),
        form,
        own,
        to,
        script: assets::script(),
        has_passkeys,
    };
    Ok(page.render()?)
}

pub(crate) fn code(email: &str, wrong: &str, to: &str) -> Result<String, Failure> {
    let style = assets::style();
    let page = Code {
        style,
        email,
        wrong,
        to,
    };
    Ok(page.render()?)
}

pub(crate) fn confirm(user: &User, link: &str) -> Result<String, Failure> {
    let page = Confirm {
        style: assets::style(),
        who: user.name.as_deref().unwrap_or(&user.email),
        email: &user.email,
        link,
    };
    Ok(page.render()?)
}

pub(crate) fn ended(what: End) -> Result<String, Failure> {
    let (title, text) = match what {
        End::Link => (
            "This link does not work any more",
            "It was used, or it is older than 15 minutes. Ask for a code instead.",
        ),
        End::Code => (
            "This code does not work any more",
            "It was used, tried too often, is older than 10 minutes, or was asked for in another browser. Ask for a new one.",
        ),
        End::Setup => (
            "This link does not work any more",
            "It was used, or is not one of this server's. If an organization was set up here, sign in with the address of its admin.",
        ),
    };
    let style = assets::style();
    Ok(Ended { style, title, text }.render()?)
}
