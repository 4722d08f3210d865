//! Adds a member.

use bursar_app::View;
use bursar_app::members::{self, NewMember};
use bursar_domain::ids::Id;
use bursar_domain::member::Member;

use super::ask::{Ask, Field, Shape};
use super::members::groups;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::words;

/// What a member's form asks, with what is known.
pub(super) fn fields(member: Option<&Member>, joined: String) -> Vec<Field> {
    let of = |text: fn(&Member) -> Option<String>| member.and_then(text).unwrap_or_default();
    vec![
        Field::text("first-name", "First name").value(of(|member| Some(member.first_name.clone()))),
        Field::text("last-name", "Last name").value(of(|member| Some(member.last_name.clone()))),
        Field::new("email", "E-mail", Shape::Line("email"))
            .hint("Leave it empty if they have none.")
            .value(of(|member| member.email.clone())),
        Field::new("phone", "Phone", Shape::Line("tel"))
            .hint("With the country code: +46 70 123 45 67")
            .value(of(|member| member.phone.clone())),
        Field::date("join-date", "Joined").value(joined),
    ]
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let today = frame.place.organization.time_zone.date(view.now());
    let groups: Vec<(String, String)> = groups(view)?
        .into_iter()
        .map(|(id, name)| (id.to_string(), name))
        .collect();
    let none = (String::new(), "None".to_owned());
    let group =
        (!groups.is_empty()).then(|| Field::choice("group", "Group", std::iter::once(none).chain(groups)));
    let back = (frame.at("members"), "Members".to_owned());
    Ask::new(frame, form, "Add a member", back)
        .fields(fields(None, today.to_string()))
        .fields(group)
        .button("Add")
        .page()
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let new = NewMember {
        first_name: form.required("first-name", "Enter the first name.")?,
        last_name: form.required("last-name", "Enter the last name.")?,
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
