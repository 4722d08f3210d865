//! The organization's settings, and where its people, tokens and rules are.

use askama::Template;
use bursar_app::View;
use bursar_app::online::providers;
use bursar_app::organizations::{self, OrganizationChange, SET};
use bursar_app::{activity, webhooks};
use bursar_domain::autopay::RetryDays;
use bursar_domain::creditor_reference::spaced;
use bursar_domain::organization::Organization;
use bursar_domain::zone::Zone;

use super::ask::{Ask, Field, Shape};
use super::seen::Seen;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;

struct Link {
    to: String,
    name: &'static str,
    about: &'static str,
}

#[derive(Template)]
#[template(path = "settings.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_set: bool,
    facts: Vec<(&'static str, String)>,
    pay_text: String,
    /// Where members sign in to their own pages.
    entrance: String,
    links: Vec<Link>,
}

pub(crate) fn show(_: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let own = &frame.place.organization;
    let dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "\u{2013}".to_owned());
    let on = |is_on: bool, yes: &str, no: &str| if is_on { yes } else { no }.to_owned();
    let mut links = vec![
        Link {
            to: frame.at("people"),
            name: "People and roles",
            about: "Who may see and change what.",
        },
        Link {
            to: frame.at("tokens"),
            name: "Tokens",
            about: "Access for programs: what each may do, when it was last used, when it expires.",
        },
        Link {
            to: frame.at("policy"),
            name: "Policy for tokens",
            about: "What no token may do here, and how long tokens may last.",
        },
    ];
    if frame.may(&providers::SHOW) {
        links.insert(
            0,
            Link {
                to: frame.at("provider"),
                name: "Card payments",
                about: "Connect Stripe, so that members can pay by card.",
            },
        );
    }
    if frame.may(&webhooks::LIST) {
        links.push(Link {
            to: frame.at("webhooks"),
            name: "Webhooks",
            about: "Programs that are notified of events as they happen.",
        });
    }
    if frame.may(&activity::LIST) {
        links.push(Link {
            to: frame.at("activity"),
            name: "Activity",
            about: "Who did what and when, by person or by request.",
        });
    }
    let page = Page {
        frame,
        may_set: frame.may(&SET),
        facts: vec![
            ("Name", own.name.clone()),
            ("Currency", own.currency.to_string()),
            ("Time zone", own.time_zone.name().to_owned()),
            ("Contact e-mail", dash(&own.contact_email)),
            ("Contact phone", dash(&own.contact_phone)),
            ("IBAN", own.iban.as_deref().map_or_else(|| "–".to_owned(), spaced)),
            (
                "Credit",
                on(
                    own.auto_credit,
                    "Is used for new charges automatically",
                    "Is kept until an officer uses it",
                ),
            ),
            (
                "References",
                on(
                    own.auto_reference,
                    "Bank lines with exactly one are booked automatically",
                    "An officer confirms every bank line",
                ),
            ),
            ("Books are kept", format!("{} years", own.retention_years)),
            ("A failed automatic payment", retries(&own.autopay_retries)),
        ],
        pay_text: own.pay_text.clone().unwrap_or_default(),
        entrance: format!("{}/m/in/{}", frame.origin, own.id),
        links,
    };
    Ok(page.render()?)
}

fn retries(days: &RetryDays) -> String {
    match days.to_string().as_str() {
        "none" => "Is not tried again".to_owned(),
        days => format!("Is tried again after {} days", days.replace(',', ", ")),
    }
}

fn fields(own: &Organization) -> Vec<Field> {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let ticked = |is_on: bool| if is_on { "yes" } else { "" };
    vec![
        Field::text("name", "Name").value(own.name.clone()),
        Field::text("time-zone", "Time zone")
            .hint("Such as Europe/Berlin. Due days begin and end by it.")
            .value(own.time_zone.name()),
        Field::new("contact-email", "Contact e-mail", Shape::Line("email"))
            .hint("Members read it in reminders and statements.")
            .value(text(&own.contact_email)),
        Field::new("contact-phone", "Contact phone", Shape::Line("tel")).value(text(&own.contact_phone)),
        Field::area("pay-text", "How to pay")
            .hint("For reminders and statements: the account, a link, the office hours.")
            .value(text(&own.pay_text)),
        Field::text("iban", "IBAN")
            .hint("The bank account that members pay to. Where the currency is the euro, their pages show a code for banking apps.")
            .value(own.iban.as_deref().map(spaced).unwrap_or_default()),
        Field::check("auto-credit", "Use credit for new charges automatically").value(ticked(own.auto_credit)),
        Field::check("auto-reference", "Book bank lines with exactly one reference automatically")
            .value(ticked(own.auto_reference)),
        Field::new(
            "retention-years",
            "Years to keep the books",
            Shape::Line("number"),
        )
        .hint("After the end of each year. After a member is erased, amounts and references are kept that long.")
        .value(own.retention_years.to_string()),
        Field::text("autopay-retries", "Days until a failed automatic payment is tried again")
            .hint("Counted from the first try, such as 3,5,7, or none. Only where members can pay by card.")
            .value(own.autopay_retries.to_string()),
    ]
}

pub(crate) fn show_edit(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let back = (asking.frame.at("settings"), "Settings".to_owned());
    Ask::new(&asking.frame, form, "Edit the organization", back)
        .fields(fields(&organizations::show(view)?))
        .editing(view.now())
        .page()
}

pub(crate) fn send_edit(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let zone = Zone::parse(form.get("time-zone"));
    let zone = zone.map_err(|rule| Problem::of("time-zone", format!("The time zone {rule}.")))?;
    let years = form.get("retention-years").parse::<i64>();
    let years = years.map_err(|_| {
        Problem::of(
            "retention-years",
            "Enter a number of years, such as 10.".to_owned(),
        )
    })?;
    let change = OrganizationChange {
        name: Some(form.get("name").to_owned()),
        time_zone: Some(zone),
        contact_email: Some(form.some("contact-email")),
        contact_phone: Some(form.some("contact-phone")),
        card_issuing: None,
        auto_credit: Some(form.has("auto-credit")),
        auto_reference: Some(form.has("auto-reference")),
        pay_text: Some(form.some("pay-text")),
        iban: Some(form.some("iban")),
        retention_years: Some(years),
        autopay_retries: Some(form.get("autopay-retries").to_owned()),
    };
    let to = asking.frame.at("settings");
    let seen = Seen::new(asking, form, asking.frame.place.organization.id);
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| Ok(fields(&organizations::show(view)?)))?;
        organizations::set(act, &change)?;
        Ok(Done::new(to.clone(), "Saved the settings."))
    })))
}
