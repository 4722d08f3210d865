//! The pages around signing in.

use askama::Template;
use bursar_domain::organization::User;

use crate::assets;
use crate::failure::Failure;

#[derive(Template)]
#[template(path = "sign_in.html")]
struct Ask {
    style: String,
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
}

pub(crate) fn ask() -> Result<String, Failure> {
    Ok(Ask {
        style: assets::style(),
    }
    .render()?)
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

pub(crate) fn ended() -> Result<String, Failure> {
    Ok(Ended {
        style: assets::style(),
    }
    .render()?)
}
