//! Changes a member.

use bursar_app::members::{self};
use bursar_app::{AppError, View, resources};
use bursar_domain::Refusal;
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::ids::kind;
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::text::NAME;

use super::ask::{Ask, Field};
use super::member_new;
use super::seen::Seen;
use super::who::{self, Known};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};

fn fields(view: &mut View<'_, '_>, member: &Member) -> Result<Vec<Field>, AppError> {
    let joined = member.join_date.map(|day| day.to_string()).unwrap_or_default();
    let mut fields = member_new::fields(Some(member), joined);
    fields.push(
        Field::member("payer", "Paid by")
            .hint("Another member's name or e-mail address, such as a parent's. Leave it empty for somebody who pays for themselves.")
            .known(Known::of(view, member.payer_id)?),
    );
    Ok(fields)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let member: Member = resources::one(view, asking.id::<kind::Member>(0)?)?;
    let back = (frame.at(&format!("members/{}", member.id)), member.name());
    Ask::new(frame, form, format!("Edit {}", member.name()), back)
        .fields(fields(view, &member)?)
        .editing(view.now())
        .page()
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
    let payer = who::member(view, form, "payer")?;
    let change = MemberChange {
        first_name: Some(name("first-name")?),
        last_name: Some(name("last-name")?),
        email: Some(email),
        phone: Some(phone),
        join_date: form.has("join-date").then_some(form.date("join-date")?),
        payer_id: form.has("payer").then_some(payer),
        ..MemberChange::default()
    };
    let to = format!("{}/{id}", asking.frame.at("members"));
    let seen = Seen::new(asking, form, id);
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| {
            let member: Member = resources::one(view, id)?;
            fields(view, &member)
        })?;
        let member = members::change(act, id, &change)?;
        Ok(Done::new(to.clone(), format!("Saved {}.", member.name())))
    })))
}
