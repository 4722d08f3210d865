//! The passkeys of a person.

use askama::Template;
use bursar_domain::sign_in::passkey::StoredPasskey;
use bursar_domain::zone::Zone;

use super::sessions::hex;
use crate::assets;
use crate::failure::Failure;
use crate::forms::Form;
use crate::words::Moment;

const SHOWN: &[&str] = &["name"];

struct Row {
    hash: String,
    name: String,
    added: Moment,
    used: Option<Moment>,
}

#[derive(Template)]
#[template(path = "passkeys.html")]
struct Page<'a> {
    style: String,
    script: String,
    form: &'a Form,
    rows: Vec<Row>,
}

pub(crate) fn show(passkeys: &[StoredPasskey], zone: &Zone, form: &Form) -> Result<String, Failure> {
    let row = |passkey: &StoredPasskey| Row {
        hash: hex(&passkey.hash),
        name: passkey.name.clone(),
        added: Moment::there(passkey.created_at, zone),
        used: passkey.used_at.map(|at| Moment::there(at, zone)),
    };
    let page = Page {
        style: assets::style(),
        script: assets::script(),
        form,
        rows: passkeys.iter().map(row).collect(),
    };
    Ok(page.render()?)
}
