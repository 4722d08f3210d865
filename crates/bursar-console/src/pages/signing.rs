//! The pages around signing in.

use askama::Template;
use bursar_domain::organization::User;

use crate::assets;
use crate::failure::Failure;
use crate::forms::Form;
use crate::sign_in::with_login;
use crate::words;

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
    /// What the provider is called, and the origin of its sign-in page.
    provider: Option<(&'a str, &'a str)>,
}

#[derive(Template)]
#[template(path = "code.html")]
struct Code<'a> {
    style: String,
    email: &'a str,
    wrong: &'a str,
    to: &'a str,
    /// Where to ask for another code.
    again: String,
    login: &'a str,
}

#[derive(Template)]
#[template(path = "link.html")]
struct Link<'a> {
    style: String,
    form: &'a Form,
    provider: &'a str,
    email: &'a str,
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
struct Ended<'a> {
    style: String,
    title: &'a str,
    text: &'a str,
}

/// What does not work any more.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Link,
    Code,
    Login,
    Setup,
}

pub(crate) fn ask(
    form: &Form,
    own: &str,
    to: &str,
    has_passkeys: bool,
    provider: Option<(&str, &str)>,
) -> Result<String, Failure> {
    let page = Ask {
        style: assets::style(),
        form,
        own,
        to,
        script: assets::script(),
        has_passkeys,
        provider,
    };
    Ok(page.render()?)
}

/// Asks for the code, which also links a new `login` if there is one.
pub(crate) fn code(email: &str, wrong: &str, to: &str, login: &str) -> Result<String, Failure> {
    let query = with_login(to, login);
    let again = match (login.is_empty(), query.is_empty()) {
        (false, _) => format!("/console/sign-in/oidc/link?{query}"),
        (true, false) => format!("/console/sign-in?{query}"),
        (true, true) => "/console/sign-in".to_owned(),
    };
    let style = assets::style();
    let page = Code {
        style,
        email,
        wrong,
        to,
        again,
        login,
    };
    Ok(page.render()?)
}

/// After a code that was wrong.
pub(crate) fn tries_left(left: i64) -> String {
    let left = usize::try_from(left).unwrap_or(0);
    format!(
        "The code is wrong. You have {} left.",
        words::count(left, "try", "tries")
    )
}

/// Asks who has a new login. `email` is what the provider says.
pub(crate) fn link(form: &Form, provider: &str, email: &str, to: &str) -> Result<String, Failure> {
    let page = Link {
        style: assets::style(),
        form,
        provider,
        email,
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
            "This link no longer works",
            "It was used, or it is older than 15 minutes. Ask for a code instead.",
        ),
        End::Code => (
            "This code no longer works",
            "It was used, tried too often, is older than 10 minutes, or was asked for in another browser. Ask for a new one.",
        ),
        End::Login => (
            "This sign-in has ended",
            "It took longer than 10 minutes, was used before, or was started in another browser. Start again.",
        ),
        End::Setup => (
            "This link no longer works",
            "It was used, or was not created by this server. If an organization was set up here, sign in with the address of its admin.",
        ),
    };
    not_in(title, text)
}

/// Nobody was signed in, and why.
pub(crate) fn not_in(title: &str, text: &str) -> Result<String, Failure> {
    let style = assets::style();
    Ok(Ended { style, title, text }.render()?)
}
