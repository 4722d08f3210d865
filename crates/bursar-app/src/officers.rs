//! Who may act for an organization: its people, by their role, and the operator.

use bursar_domain::Refusal;
use bursar_domain::access::Role;

use crate::act::Act;
use crate::error::AppError;
use crate::roles::has_role;

/// Refuses an actor below `least`.
pub(crate) fn require(act: &mut Act<'_, '_>, least: Role, deed: &str) -> Result<(), AppError> {
    if has_role(act.tx, act.context.actor, act.organization, least)? {
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
