//! People and their roles in an organization.

use bursar_db::{organizations, tokens};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::email::check_email;
use bursar_domain::ids::UserId;
use bursar_domain::organization::User;

use crate::act::{Act, View, Whole};
use crate::error::AppError;
use crate::personal::{self, Letter};
use crate::rule::Rule;

#[derive(Clone, Debug)]
pub struct Holder {
    pub user: User,
    pub role: Role,
}

pub const SET: Rule = Rule::of("role.set", Role::Admin, "give roles").guarded();
pub const REMOVE: Rule = Rule::of("role.remove", Role::Admin, "remove people").guarded();
pub const LIST: Rule = Rule::of("role.list", Role::Viewer, "list its people");
pub const PERSON: Rule = Rule::of_operator("role.person", "act as a person");
pub const RULES: &[&Rule] = &[&SET, &REMOVE, &LIST, &PERSON];

pub fn person(whole: &mut Whole<'_, '_>, email: &str) -> Result<UserId, AppError> {
    whole.allow(&PERSON)?;
    let user = organizations::user_by_email(whole.tx, email.trim())?;
    let missing = || Refusal::missing(format!("there is no user {email}; `bursar role set` creates one"));
    Ok(user.ok_or_else(missing)?.id)
}

/// Creates the user if there is none with this address.
pub fn set(act: &mut Act<'_, '_>, email: &str, role: Role) -> Result<Holder, AppError> {
    act.allow(&SET)?;
    let email = check_email(email).map_err(Refusal::of_field("user"))?;
    let new = User {
        id: act.new_id(),
        email,
        name: None,
    };
    let user = organizations::user_or_insert(act.tx, &new)?;
    let before = organizations::role(act.tx, act.organization, user.id)?;
    if before == Some(Role::Admin) && role != Role::Admin {
        check_other_admin(act, &user)?;
    }
    if before != Some(role) {
        organizations::set_role(act.tx, act.organization, user.id, role)?;
        act.log(&format!("{}.{role}", SET.name), Some(user.id.to_string()), None)?;
    }
    Ok(Holder { user, role })
}

/// Gives a role to somebody who has none here, and writes to them where the console is.
pub fn invite(act: &mut Act<'_, '_>, email: &str, role: Role, console: &str) -> Result<Holder, AppError> {
    act.allow(&SET)?;
    if let Some(user) = organizations::user_by_email(act.tx, email.trim())?
        && organizations::role(act.tx, act.organization, user.id)?.is_some()
    {
        let rule = format!("{} has a role already; change it in the list", user.email);
        return Err(Refusal::invalid("user", rule).into());
    }
    let holder = set(act, email, role)?;
    let (organization, id, now) = (act.own()?.name, act.new_id(), act.now());
    let subject = format!("You can sign in to {organization}");
    let body = format!(
        "You have a role in {organization} now: {role}.\n\nSign in with this e-mail address at {console}. There is no password: \
         a code is mailed to you.\n\nIf you did not expect this, there is nothing to do."
    );
    personal::queue(act.tx, id, &holder.user, Letter::Invitation, (subject, body), now)?;
    Ok(holder)
}

/// Refuses to leave an organization without its last admin: nobody in it could give roles any more.
fn check_other_admin(act: &mut Act<'_, '_>, user: &User) -> Result<(), AppError> {
    let roles = organizations::roles(act.tx, act.organization)?;
    let mut admins = roles.iter().filter(|(_, role)| *role == Role::Admin);
    if admins.clone().count() > 1 || admins.all(|(id, _)| *id != user.id) {
        return Ok(());
    }
    let name = act.own()?.name;
    Err(Refusal::conflict(format!(
        "{} is the last admin of {name}; make somebody else an admin first",
        user.email
    ))
    .into())
}

/// Removes the role, and revokes the person's tokens in this organization permanently.
pub fn remove(act: &mut Act<'_, '_>, email: &str) -> Result<User, AppError> {
    act.allow(&REMOVE)?;
    let organization = act.organization;
    let missing = || Refusal::missing(format!("{email} has no role in organization {organization}"));
    let user = organizations::user_by_email(act.tx, email.trim())?.ok_or_else(missing)?;
    check_other_admin(act, &user)?;
    if !organizations::remove_role(act.tx, organization, user.id)? {
        return Err(missing().into());
    }
    let now = act.now();
    for token in tokens::unrevoked_of(act.tx, organization, user.id)? {
        tokens::revoke(act.tx, organization, token, now)?;
        act.log(crate::tokens::REVOKE.name, Some(token.to_string()), None)?;
    }
    act.log(REMOVE.name, Some(user.id.to_string()), None)?;
    Ok(user)
}

/// Ordered by user.
pub fn list(view: &mut View<'_, '_>) -> Result<Vec<Holder>, AppError> {
    view.allow(&LIST)?;
    let mut holders = Vec::new();
    for (id, role) in organizations::roles(view.tx, view.organization)? {
        if let Some(user) = organizations::user(view.tx, id)? {
            holders.push(Holder { user, role });
        }
    }
    Ok(holders)
}
