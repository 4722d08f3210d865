//! The first organization of an empty server.

use askama::Template;
use bursar_app::organizations::NewOrganization;
use bursar_domain::money::Currency;
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::zone::Zone;

use crate::assets;
use crate::failure::{Failure, Problem};
use crate::forms::Form;

const SHOWN: &[&str] = &["name", "currency", "time-zone", "person", "email"];

/// Some to choose from; others can be typed.
const ZONES: &[&str] = &[
    "UTC",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "Africa/Nairobi",
    "America/Chicago",
    "America/Denver",
    "America/Los_Angeles",
    "America/Mexico_City",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Toronto",
    "Asia/Dubai",
    "Asia/Kolkata",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Europe/Athens",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Madrid",
    "Europe/Paris",
    "Europe/Zurich",
    "Pacific/Auckland",
];

#[derive(Template)]
#[template(path = "setup.html")]
struct Page<'a> {
    style: String,
    script: String,
    form: &'a Form,
}

pub(crate) fn show(form: &Form) -> Result<String, Failure> {
    let page = Page {
        style: assets::style(),
        script: assets::script(),
        form,
    };
    Ok(page.render()?)
}

/// What the form asks for.
pub(crate) fn read(form: &Form) -> Result<NewOrganization, Problem> {
    let currency = form.get("currency").to_ascii_uppercase();
    let unknown = || Problem::of("currency", "Enter the three letters of a currency, such as USD.");
    let zone = Zone::parse(form.get("time-zone"));
    Ok(NewOrganization {
        name: form.required("name", "Enter the name of the organization.")?,
        kind: match form.get("kind") {
            "national" => OrganizationKind::National,
            _ => OrganizationKind::Independent,
        },
        parent_id: None,
        currency: Currency::parse(&currency).ok_or_else(unknown)?,
        contact_email: form.some("email"),
        contact_phone: None,
        card_issuing: CardIssuing::Pending,
        time_zone: zone.map_err(|rule| Problem::of("time-zone", format!("The time zone {rule}.")))?,
    })
}
