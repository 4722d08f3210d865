//! The logins of a person at the OpenID Connect provider.

use askama::Template;
use bursar_domain::sign_in::login::Login;
use bursar_domain::zone::Zone;

use super::sessions::hex;
use crate::assets;
use crate::failure::Failure;
use crate::words::Moment;

struct Row {
    key: String,
    name: String,
    issuer: String,
    added: Moment,
    used: Option<Moment>,
}

#[derive(Template)]
#[template(path = "logins.html")]
struct Page<'a> {
    style: String,
    provider: &'a str,
    rows: Vec<Row>,
}

pub(crate) fn show(logins: &[Login], provider: &str, zone: &Zone) -> Result<String, Failure> {
    let row = |login: &Login| Row {
        key: hex(&login.key()),
        name: match login.email.as_str() {
            "" => "A login without an address".to_owned(),
            email => email.to_owned(),
        },
        issuer: login.issuer.clone(),
        added: Moment::there(login.created_at, zone),
        used: login.used_at.map(|at| Moment::there(at, zone)),
    };
    let page = Page {
        style: assets::style(),
        provider,
        rows: logins.iter().map(row).collect(),
    };
    Ok(page.render()?)
}
