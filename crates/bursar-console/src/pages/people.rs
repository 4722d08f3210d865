//! People with a role here: invite, change, remove.

use askama::Template;
use bursar_app::View;
use bursar_app::roles::{self, Holder, REMOVE, SET};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::ids::kind;

use super::ask::{Ask, Field, Shape};
use super::cut;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words;

struct Row {
    id: String,
    name: String,
    email: String,
    role: String,
    may: &'static str,
    is_oneself: bool,
}

#[derive(Template)]
#[template(path = "people.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_set: bool,
    may_remove: bool,
    rows: Vec<Row>,
    older: String,
    csv: String,
}

/// In short what the table in docs/console.md says.
pub(super) const fn may(role: Role) -> &'static str {
    match role {
        Role::Viewer => {
            "Can see members, charges, money, the books, campaigns, the store, chapters, reports and people, and create their own tokens"
        }
        Role::Editor => {
            "Can also change members, groups, accounts, campaigns and the store, raise charges, record money, send reminders, \
             and see cards and messages"
        }
        Role::Admin => {
            "Can also approve and pay reimbursements, change cards, settings, people, tokens, webhooks and card payments, \
             export and erase members, and read the activity log"
        }
    }
}

pub(super) fn name(holder: &Holder) -> String {
    let user = &holder.user;
    user.name.clone().unwrap_or_else(|| user.email.clone())
}

pub(super) fn holders(view: &mut View<'_, '_>) -> Result<Vec<Holder>, Failure> {
    let mut holders = roles::list(view)?;
    holders.sort_by_key(|holder| (std::cmp::Reverse(holder.role), name(holder).to_lowercase()));
    Ok(holders)
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut holders = holders(view)?;
    let id = |holder: &Holder| holder.user.id.to_string();
    let older = cut::page(asking, ("people", "after"), &mut holders, id);
    let row = |holder: &Holder| Row {
        id: holder.user.id.to_string(),
        name: name(holder),
        email: holder.user.email.clone(),
        role: words::label(holder.role.as_str()),
        may: may(holder.role),
        is_oneself: holder.user.email.eq_ignore_ascii_case(&frame.email),
    };
    let page = Page {
        frame,
        may_set: frame.may(&SET),
        may_remove: frame.may(&REMOVE),
        rows: holders.iter().map(row).collect(),
        older,
        csv: frame.at("people/csv"),
    };
    Ok(page.render()?)
}

fn role_field(value: Role) -> Field {
    let roles = Role::ALL.iter().map(|role| {
        (
            role.as_str(),
            format!("{}: {}", words::label(role.as_str()), may(*role)),
        )
    });
    Field::choice("role", "Role", roles).value(value.as_str())
}

fn read_role(form: &Form) -> Result<Role, Problem> {
    Role::parse(form.get("role")).ok_or_else(|| Problem::of("role", "Choose a role."))
}

fn back(asking: &Asking) -> (String, String) {
    (asking.frame.at("people"), "People and roles".to_owned())
}

pub(crate) fn show_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    Ask::new(&asking.frame, form, "Invite someone", back(asking))
        .lead("They get a mail with the address of this console, and sign in with their e-mail address.")
        .fields([
            Field::new("user", "E-mail", Shape::Line("email")),
            role_field(Role::Viewer),
        ])
        .button("Give the role")
        .page()
}

pub(crate) fn send_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (email, role) = (
        form.required("user", "Enter the e-mail address.")?,
        read_role(form)?,
    );
    let to = asking.frame.at("people");
    let console = format!("{}/console", asking.frame.origin);
    Ok(Sent::Do(Box::new(move |act| {
        let holder = roles::invite(act, &email, role, &console)?;
        // By the address that was written: what somebody is called elsewhere is not told here.
        let said = format!(
            "{} is now {}. They get a mail that explains how to sign in.",
            holder.user.email,
            with_article(role)
        );
        Ok(Done::new(to.clone(), said))
    })))
}

const fn with_article(role: Role) -> &'static str {
    match role {
        Role::Viewer => "a viewer",
        Role::Editor => "an editor",
        Role::Admin => "an admin",
    }
}

/// Somebody with a role here; others do not exist.
fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<Holder, Failure> {
    let id = asking.id::<kind::User>(0)?;
    let found = roles::list(view)?.into_iter().find(|holder| holder.user.id == id);
    Ok(found.ok_or_else(|| Refusal::missing("this person has no role here"))?)
}

pub(crate) fn show_change(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let holder = of(view, asking)?;
    let lead = match holder.user.email.eq_ignore_ascii_case(&asking.frame.email) {
        true => "This is you. With less than admin you cannot change it back yourself.",
        false => "It takes effect with their next request. Their personal tokens follow the role.",
    };
    Ask::new(
        &asking.frame,
        form,
        format!("Change the role of {}", name(&holder)),
        back(asking),
    )
    .lead(lead)
    .fields([role_field(holder.role)])
    .page()
}

pub(crate) fn send_change(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (holder, role) = (of(view, asking)?, read_role(form)?);
    let to = asking.frame.at("people");
    let email = holder.user.email;
    Ok(Sent::Do(Box::new(move |act| {
        let holder = roles::set(act, &email, role)?;
        let said = format!("{} is {} now.", name(&holder), with_article(role));
        Ok(Done::new(to.clone(), said))
    })))
}

pub(crate) fn show_remove(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let holder = of(view, asking)?;
    Ask::new(&asking.frame, form, format!("Remove {}?", name(&holder)), back(asking))
        .lead("They can no longer open this organization, and their tokens here are revoked permanently. What they did stays in the activity log.")
        .button(format!("Remove {}", name(&holder)))
        .dangerous()
        .page()
}

pub(crate) fn send_remove(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<Sent, Failure> {
    let holder = of(view, asking)?;
    let (email, who) = (holder.user.email.clone(), name(&holder));
    // Who removes themselves has nothing to see here afterwards.
    let to = match email.eq_ignore_ascii_case(&asking.frame.email) {
        true => "/console".to_owned(),
        false => asking.frame.at("people"),
    };
    Ok(Sent::Do(Box::new(move |act| {
        roles::remove(act, &email)?;
        Ok(Done::new(to.clone(), format!("Removed {who}.")))
    })))
}
