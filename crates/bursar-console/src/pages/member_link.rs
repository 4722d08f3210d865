//! A link to a member's own page, for somebody who lost theirs; revokes all that were made.

use bursar_app::{View, member_access};
use bursar_domain::ids::kind;

use super::ask::{Ask, Field};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::{Done, Form, Sent};
use crate::words;

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (member, link, ends_at) = member_access::link(view, asking.id::<kind::Member>(0)?)?;
    let name = member.name();
    let back = (frame.at(&format!("members/{}", member.id)), name.clone());
    let ends = words::moment_there(ends_at, &frame.place.organization.time_zone);
    Ask::new(frame, form, format!("The page of {name}"), back)
        .lead(format!(
            "This link shows what {name} and their household owe and paid. It lets its holder pay by card and stop automatic \
             payments. It works until {ends}. Every mail that says what is owed has such a link."
        ))
        .fields([Field::text("link", "Link").value(link)])
        .button("Revoke all links")
        .dangerous()
        .page()
}

pub(crate) fn send(_: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let id = asking.id::<kind::Member>(0)?;
    let to = asking.frame.at(&format!("members/{id}"));
    Ok(Sent::Do(Box::new(move |act| {
        let member = member_access::revoke(act, id)?;
        let said = format!("Revoked all links to the page of {}.", member.name());
        Ok(Done::new(to.clone(), said))
    })))
}
