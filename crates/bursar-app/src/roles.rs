//! Who is what in an organization.

use bursar_db::{Tx, organizations, tokens};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::email::check_email;
use bursar_domain::ids::OrganizationId;
use bursar_domain::organization::User;

use crate::act::{Act, Actor, Context, no_organization};
use crate::error::AppError;

/// A person's role, for a list.
#[derive(Clone, Debug)]
pub struct Holder {
    /// The person.
    pub user: User,
    /// The role.
    pub role: Role,
}

/// Whether the actor has at least this role in the organization, or is the operator. A token never has: programs act
/// through the API, where their scopes are checked. Nor has the worker, which asks nobody.
pub(crate) fn has_role(
    tx: &mut Tx<'_>,
    actor: Actor,
    organization: OrganizationId,
    least: Role,
) -> Result<bool, AppError> {
    match actor {
        Actor::Operator => Ok(true),
        Actor::User(user, home) if home == organization => {
            let role = organizations::role(tx, organization, user)?;
            Ok(role.is_some_and(|role| role >= least))
        }
        Actor::User(..) | Actor::Token(..) | Actor::Worker => Ok(false),
    }
}

/// Whether the actor is an admin of the organization, or the operator.
pub(crate) fn is_admin(
    tx: &mut Tx<'_>,
    actor: Actor,
    organization: OrganizationId,
) -> Result<bool, AppError> {
    has_role(tx, actor, organization, Role::Admin)
}

/// Refuses whoever is neither an admin of the organization nor the operator.
pub(crate) fn require_admin(
    tx: &mut Tx<'_>,
    actor: Actor,
    organization: OrganizationId,
    deed: &str,
) -> Result<(), AppError> {
    if is_admin(tx, actor, organization)? {
        return Ok(());
    }
    Err(Refusal::Forbidden {
        message: format!("only an admin of the organization may {deed}"),
    }
    .into())
}

/// Refuses whoever is neither an editor or admin of the organization nor the operator. Programs act through the API,
/// where their scopes are checked.
pub(crate) fn require_editor(
    tx: &mut Tx<'_>,
    actor: Actor,
    organization: OrganizationId,
    deed: &str,
) -> Result<(), AppError> {
    if has_role(tx, actor, organization, Role::Editor)? {
        return Ok(());
    }
    Err(Refusal::Forbidden {
        message: format!("only an editor or admin of the organization may {deed}"),
    }
    .into())
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
        require_admin(act.tx, act.context.actor, organization, "give roles")?;
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
        require_admin(act.tx, act.context.actor, organization, "remove people")?;
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
