//! Changes a member.

use askama::Template;
use bursar_app::members::{self};
use bursar_app::{View, names, resources};
use bursar_domain::Refusal;
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::ids::kind;
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::text::NAME;

use super::member_new::Page;
use crate::asking::Asking;
use crate::failure::{Failure, Problem, sentence};
use crate::forms::{Done, Form, Sent};

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let member: Member = resources::one(view, asking.id::<kind::Member>(0)?)?;
    let payer = match member.payer_id {
        Some(id) => {
            let payer: Member = resources::one(view, id)?;
            payer.email.clone().unwrap_or_else(|| payer.name())
        }
        None => String::new(),
    };
    let page = Page {
        frame,
        form,
        title: format!("Edit {}", member.name()),
        button: "Save",
        back: format!("{}/{}", frame.at("members"), member.id),
        back_name: member.name(),
        first_name: member.first_name.clone(),
        last_name: member.last_name.clone(),
        email: member.email.clone().unwrap_or_default(),
        phone: member.phone.clone().unwrap_or_default(),
        joined: member.join_date.map(|day| day.to_string()).unwrap_or_default(),
        payer: Some(payer),
        groups: Vec::new(),
    };
    Ok(page.render()?)
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Member>(0)?;
    let _: Member = resources::one(view, id)?;
    let name = |field: &'static str| NAME.check(form.get(field)).map_err(Refusal::of_field(field));
    let email = match form.get("email") {
        "" => None,
        text => Some(check_email(text).map_err(Refusal::of_field("email"))?),
    };
    let phone = match form.get("phone") {
        "" => None,
        text => Some(check_phone(text).map_err(Refusal::of_field("phone"))?),
    };
    let payer = match form.get("payer") {
        "" => None,
        text => {
            let found = names::find::<kind::Member>(view, text);
            Some(found.map_err(|error| Problem::of("payer", sentence(&error.to_string())))?)
        }
    };
    let change = MemberChange {
        first_name: Some(name("first-name")?),
        last_name: Some(name("last-name")?),
        email: Some(email),
        phone: Some(phone),
        join_date: form.date("join-date")?,
        payer_id: form.has("payer").then_some(payer),
        ..MemberChange::default()
    };
    let to = format!("{}/{id}", asking.frame.at("members"));
    Ok(Sent::Do(Box::new(move |act| {
        let member = members::change(act, id, &change)?;
        Ok(Done::new(to.clone(), format!("Saved {}.", member.name())))
    })))
}
