//! What an organization's admins allow tokens. A change applies from the next request on.

use bursar_db::organizations;
use bursar_domain::Refusal;
use bursar_domain::access::{Policy, Role, ScopeSet};
use bursar_domain::organization::TOKEN_DAYS_MAX;

use crate::act::{Act, View};
use crate::error::AppError;
use crate::rule::Rule;

/// What is left out stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PolicyChange {
    pub block: ScopeSet,
    pub allow: ScopeSet,
    pub cap: Option<Cap>,
}

/// A cap on the lifetime of new tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// Only the global maximum applies.
    None,
    Days(i64),
}

pub const SHOW: Rule = Rule::of("policy.show", Role::Viewer, "see its policy");
pub const SET: Rule = Rule::of("policy.set", Role::Admin, "change its policy").guarded();
pub const RULES: &[&Rule] = &[&SHOW, &SET];

pub fn show(view: &mut View<'_, '_>) -> Result<Policy, AppError> {
    view.allow(&SHOW)?;
    Ok(organizations::policy(view.tx, view.organization)?.unwrap_or_default())
}

pub fn set(act: &mut Act<'_, '_>, change: &PolicyChange) -> Result<Policy, AppError> {
    act.allow(&SET)?;
    let before = organizations::policy(act.tx, act.organization)?.unwrap_or_default();
    let after = apply(before, change)?;
    if after == before {
        return Ok(after);
    }
    organizations::set_policy(act.tx, act.organization, after)?;
    for (action, subject, count) in changes(before, after) {
        act.log(action, subject, count)?;
    }
    Ok(after)
}

/// One activity line for each thing that changed.
pub(crate) fn changes(before: Policy, after: Policy) -> Vec<(&'static str, Option<String>, Option<i64>)> {
    let scopes = |action: &'static str, scopes: ScopeSet| {
        scopes
            .iter()
            .map(move |scope| (action, Some(scope.to_string()), None))
            .collect::<Vec<_>>()
    };
    let mut lines = scopes(
        "policy.block",
        after.blocked_scopes.without(before.blocked_scopes),
    );
    lines.extend(scopes(
        "policy.allow",
        before.blocked_scopes.without(after.blocked_scopes),
    ));
    if after.max_token_days != before.max_token_days {
        lines.push(match after.max_token_days {
            Some(days) => ("policy.cap", None, Some(i64::from(days))),
            None => ("policy.uncap", None, None),
        });
    }
    lines
}

fn apply(before: Policy, change: &PolicyChange) -> Result<Policy, Refusal> {
    let both = change.block.and(change.allow);
    if !both.is_empty() {
        return Err(Refusal::invalid(
            "block-scope",
            format!("and allow-scope both name {both}; choose one"),
        ));
    }
    let max_token_days = match change.cap {
        None => before.max_token_days,
        Some(Cap::None) => None,
        Some(Cap::Days(days)) => Some(days_in_range(days)?),
    };
    Ok(Policy {
        blocked_scopes: before.blocked_scopes.or(change.block).without(change.allow),
        max_token_days,
    })
}

fn days_in_range(days: i64) -> Result<u16, Refusal> {
    u16::try_from(days)
        .ok()
        .filter(|days| (1..=TOKEN_DAYS_MAX).contains(days))
        .ok_or_else(|| {
            Refusal::invalid(
                "max-token-days",
                format!("must be 1 to {TOKEN_DAYS_MAX}, or none to lift the cap, got {days}"),
            )
        })
}
