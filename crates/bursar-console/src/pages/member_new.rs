//! Adds a member.

use askama::Template;
use bursar_app::View;
use bursar_app::members::{self, NewMember};
use bursar_domain::ids::Id;

use super::members::groups;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "member_form.html")]
pub(super) struct Page<'a> {
    pub(super) frame: &'a Frame,
    pub(super) form: &'a Form,
    pub(super) title: String,
    pub(super) button: &'static str,
    pub(super) back: String,
    pub(super) back_name: String,
    pub(super) first_name: String,
    pub(super) last_name: String,
    pub(super) email: String,
    pub(super) phone: String,
    pub(super) joined: String,
    /// Who pays for them; not asked of a new member.
    pub(super) payer: Option<String>,
    pub(super) groups: Vec<(String, String)>,
}

/// Fields with a place for what is wrong.
pub(super) const SHOWN: &[&str] = &["first-name", "last-name", "email", "phone", "join-date", "payer"];

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let today = frame.place.organization.time_zone.date(view.now());
    let page = Page {
        frame,
        form,
        title: "Add a member".to_owned(),
        button: "Add",
        back: frame.at("members"),
        back_name: "Members".to_owned(),
        first_name: String::new(),
        last_name: String::new(),
        email: String::new(),
        phone: String::new(),
        joined: today.to_string(),
        payer: None,
        groups: groups(view)?
            .into_iter()
            .map(|(id, name)| (id.to_string(), name))
            .collect(),
    };
    Ok(page.render()?)
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let new = NewMember {
        first_name: form.required("first-name", "Write the first name.")?,
        last_name: form.required("last-name", "Write the last name.")?,
        email: form.some("email"),
        phone: form.some("phone"),
        join_date: form.date("join-date")?,
        groups: Id::parse(form.get("group")).into_iter().collect(),
    };
    let to = asking.frame.at("members");
    Ok(Sent::Do(Box::new(move |act| {
        let members::Added { member, charges } = members::add(act, &new)?;
        let charged = match charges.as_slice() {
            [] => String::new(),
            [one] => format!(" Charged {} for the months left.", words::money_in(one.amount)),
            several => format!(
                " Raised {} for the months left.",
                words::count(several.len(), "charge", "charges")
            ),
        };
        Ok(Done::new(
            format!("{to}/{}", member.id),
            format!("Added {}.{charged}", member.name()),
        ))
    })))
}
