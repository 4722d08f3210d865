//! Who is what in an organization.

use bursar_db::{Tx, organizations, tokens};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::email::check_email;
use bursar_domain::ids::{OrganizationId, UserId};
use bursar_domain::organization::User;

use crate::act::{Act, Context, Whole, no_organization};
use crate::caller::{Caller, Identity};
use crate::error::AppError;
use crate::rule::Rule;

/// A person's role, for a list.
#[derive(Clone, Debug)]
pub struct Holder {
    /// The person.
    pub user: User,
    /// The role.
    pub role: Role,
}

/// Whether somebody has at least this role in the organization, or is the operator.
pub(crate) fn has_role(
    tx: &mut Tx<'_>,
    who: Identity,
    organization: OrganizationId,
    least: Role,
) -> Result<bool, AppError> {
    match who {
        Identity::Operator => Ok(true),
        Identity::Person(user) => {
            let role = organizations::role(tx, organization, user)?;
            Ok(role.is_some_and(|role| role >= least))
        }
        Identity::Token(_) | Identity::Worker => Ok(false),
    }
}

/// Whether somebody is an admin of the organization, or the operator.
pub(crate) fn is_admin(
    tx: &mut Tx<'_>,
    who: Identity,
    organization: OrganizationId,
) -> Result<bool, AppError> {
    has_role(tx, who, organization, Role::Admin)
}

/// Refuses whoever is neither an admin of the organization nor the operator.
pub(crate) fn require_admin(
    tx: &mut Tx<'_>,
    who: Identity,
    organization: OrganizationId,
    deed: &'static str,
) -> Result<(), AppError> {
    let caller = Caller::look_up(tx, who, organization, bursar_domain::Timestamp::from_micros(0))?;
    Rule::of("", Role::Admin, deed).check(&caller)
}

/// Finding a person by their address.
pub const PERSON: Rule = Rule::of_operator("role.person", "act as a person");

/// The user with this address.
pub fn person(whole: &mut Whole<'_, '_>, email: &str) -> Result<UserId, AppError> {
    whole.allow(&PERSON)?;
    let user = organizations::user_by_email(whole.tx, email.trim())?;
    let missing = || Refusal::missing(format!("there is no user {email}; `bursar role set` makes one"));
    Ok(user.ok_or_else(missing)?.id)
}

/// Gives the person with this address a role, and makes the user if there is none.
pub fn set(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    email: &str,
    role: Role,
) -> Result<Holder, AppError> {
    let email = check_email(email).map_err(|rule| Refusal::invalid("user", rule))?;
    Act::run(tx, context, organization, |act| {
        crate::officers::require(act, bursar_domain::access::Role::Admin, "give roles")?;
        let new = User {
            id: act.new_id(),
            email: email.clone(),
            name: None,
        };
        let user = organizations::user_or_insert(act.tx, &new)?;
        if organizations::role(act.tx, organization, user.id)? != Some(role) {
            organizations::set_role(act.tx, organization, user.id, role)?;
            act.log(&format!("role.set.{role}"), Some(user.id.to_string()), None)?;
        }
        Ok(Holder { user, role })
    })
}

/// Removes the person from the organization: the role goes, and their personal tokens there are revoked for good.
pub fn remove(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    email: &str,
) -> Result<User, AppError> {
    Act::run(tx, context, organization, |act| {
        crate::officers::require(act, bursar_domain::access::Role::Admin, "remove people")?;
        let missing = || Refusal::missing(format!("{email} has no role in organization {organization}"));
        let user = organizations::user_by_email(act.tx, email.trim())?.ok_or_else(missing)?;
        if !organizations::remove_role(act.tx, organization, user.id)? {
            return Err(missing().into());
        }
        let now = act.now();
        for token in tokens::unrevoked_of(act.tx, organization, user.id)? {
            tokens::revoke(act.tx, organization, token, now)?;
            act.log("token.revoke", Some(token.to_string()), None)?;
        }
        act.log("role.remove", Some(user.id.to_string()), None)?;
        Ok(user)
    })
}

/// Everybody with a role in the organization, by user.
pub fn list(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Holder>, AppError> {
    organizations::get(tx, organization)?.ok_or_else(|| no_organization(organization))?;
    let mut holders = Vec::new();
    for (id, role) in organizations::roles(tx, organization)? {
        if let Some(user) = organizations::user(tx, id)? {
            holders.push(Holder { user, role });
        }
    }
    Ok(holders)
}
