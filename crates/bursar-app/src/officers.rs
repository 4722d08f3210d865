//! Who may act for an organization: its people, by their role, and the operator.

use bursar_db::organizations;
use bursar_domain::Refusal;
use bursar_domain::access::Role;

use crate::act::{Act, Actor};
use crate::error::AppError;

/// Refuses an actor below `least`. Programs act through the API, which has rules of its own.
pub(crate) fn require(act: &mut Act<'_, '_>, least: Role, deed: &str) -> Result<(), AppError> {
    let role = match act.context.actor {
        Actor::Operator | Actor::Worker => return Ok(()),
        Actor::Token(..) => None,
        Actor::User(user, home) if home == act.organization => {
            organizations::role(act.tx, act.organization, user)?
        }
        Actor::User(..) => None,
    };
    if role.is_some_and(|role| role >= least) {
        return Ok(());
    }
    Err(Refusal::Forbidden {
        message: format!("only {} or above of the organization may {deed}", an(least)),
    }
    .into())
}

fn an(role: Role) -> &'static str {
    match role {
        Role::Viewer => "a viewer",
        Role::Editor => "an editor",
        Role::Admin => "an admin",
    }
}
