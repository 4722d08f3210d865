//! Access tokens: made, listed, rotated, revoked, explained.
//!
//! A personal token is its owner's affair, a service token the organization's admins', and the operator may do
//! anything. Every change holds the organization's clock, so that a token is never made for a person who is
//! leaving or with a scope that is being blocked; the clock does not move, because no listed resource changes.

mod explain;
pub mod last_used;
mod record;

use std::sync::Arc;

use bursar_db::tokens::{self, Token};
use bursar_db::{Tx, organizations};
use bursar_domain::access::{Policy, Role, Scope, ScopeSet, unknown_scope};
use bursar_domain::ids::{OrganizationId, TokenId, UserId};
use bursar_domain::organization::TOKEN_DAYS_MAX;
use bursar_domain::text::NAME;
use bursar_domain::token::{ENTROPY_BYTES, TokenKind};
use bursar_domain::{Refusal, Timestamp};

pub use self::explain::{Explanation, SELF, WithheldScope, explain, explain_caller, why_withheld};
pub use self::last_used::{LastUsed, Uses};
pub use self::record::{Record, Secret, State};
use crate::act::{Act, Context};
use crate::caller::{Caller, Identity, TokenCaller};
use crate::error::AppError;
use crate::officers::require;
use crate::roles::is_admin;

/// The lifetime of a token that was made without saying, in days, unless the policy caps it lower.
pub const DAYS_DEFAULT: u16 = 90;
/// The time that a rotated token goes on working without saying, in days.
pub const OVERLAP_DAYS_DEFAULT: i64 = 7;
/// The longest that a rotated token goes on working, in days.
pub const OVERLAP_DAYS_MAX: i64 = 30;

/// Who acts with a new token.
#[derive(Clone, Debug)]
pub enum Holder {
    /// The person with this address, with the role that they have at each request.
    Person(String),
    /// The organization, always with this role.
    Service(Role),
}

/// What a new token is made of.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// Who acts with it.
    pub holder: Holder,
    /// What people call it; "token" and the day when it is left out.
    pub name: Option<String>,
    /// What it is given.
    pub scopes: ScopeSet,
    /// How long it lives; the default when it is left out.
    pub days: Option<i64>,
}

/// A new token, and its secret for the only time.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The token.
    pub record: Record,
    /// What the client sends.
    pub secret: Secret,
}

/// A successor, its secret for the only time, and the token that it replaces.
#[derive(Clone, Debug)]
pub struct Rotated {
    /// The successor.
    pub issued: Issued,
    /// The token that it replaces, with the time at which that one stops working.
    pub predecessor: Record,
}

/// Reads `a,b` strictly: at least one scope, each in the catalogue, nothing empty between commas.
pub fn parse_scopes(list: &str) -> Result<ScopeSet, Refusal> {
    let mut scopes = ScopeSet::NONE;
    for part in list.split(',').map(str::trim) {
        if part.is_empty() {
            return Err(Refusal::invalid("scopes", no_scope_rule()));
        }
        let scope = Scope::parse(part).ok_or_else(|| Refusal::Invalid {
            field: Some("scopes".into()),
            message: format!("scopes: {}", unknown_scope(part)),
        })?;
        scopes = scopes.or(ScopeSet::of(&[scope]));
    }
    Ok(scopes)
}

fn no_scope_rule() -> String {
    format!(
        "must name at least one scope, with commas between; the scopes are {}",
        ScopeSet::of(Scope::ALL)
    )
}

/// Makes a token. The secret comes from `entropy`; only its hash is kept.
pub fn create(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    new: &NewToken,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<Issued, AppError> {
    Act::run(tx, context, organization, |act| {
        let (kind, user_id, role) = match &new.holder {
            Holder::Person(email) => (TokenKind::Personal, Some(owner(act, email)?), None),
            Holder::Service(role) => (TokenKind::Service, None, Some(service_role(act, *role)?)),
        };
        let name = match &new.name {
            Some(name) => NAME.check(name).map_err(|rule| Refusal::invalid("name", rule))?,
            None => format!("token {}", act.now().date()),
        };
        let policy = organizations::policy(act.tx, organization)?.unwrap_or_default();
        check_scopes(new.scopes, policy)?;
        let days = lifetime(new.days, policy)?;
        let id = act.new_id();
        let expires_at = act.now().plus_days(i64::from(days));
        let token = Token {
            organization_id: organization,
            id,
            kind,
            name,
            user_id,
            role,
            scopes: new.scopes,
            days,
            created_at: act.now(),
            expires_at,
            ends_at: expires_at,
            revoked_at: None,
            family_id: id,
            predecessor_id: None,
            successor_id: None,
            created_by: creator(&act.caller),
            last_used_at: None,
        };
        let issued = issue(act, token, entropy)?;
        act.log("token.create", Some(id.to_string()), None)?;
        Ok(issued)
    })
}

/// Replaces a service token by a successor with the same role and scopes; the old one works on for the overlap.
pub fn rotate(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    id: TokenId,
    overlap_days: Option<i64>,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<Rotated, AppError> {
    let overlap_days = overlap_days.unwrap_or(OVERLAP_DAYS_DEFAULT);
    if !(0..=OVERLAP_DAYS_MAX).contains(&overlap_days) {
        let rule = format!("must be 0 to {OVERLAP_DAYS_MAX} whole days, got {overlap_days}");
        return Err(Refusal::invalid("overlap-days", rule).into());
    }
    Act::run(tx, context, organization, |act| {
        let old = of(act.tx, organization, id)?;
        may_change(act, &old)?;
        let now = act.now();
        may_rotate(&old, now)?;
        let policy = organizations::policy(act.tx, organization)?.unwrap_or_default();
        let days = old.days.min(days_max(policy));
        let expires_at = now.plus_days(i64::from(days));
        let successor = Token {
            id: act.new_id(),
            days,
            created_at: now,
            expires_at,
            ends_at: expires_at,
            predecessor_id: Some(old.id),
            created_by: creator(&act.caller),
            last_used_at: None,
            ..old.clone()
        };
        let predecessor = Token {
            successor_id: Some(successor.id),
            ends_at: old.expires_at.min(now.plus_days(overlap_days)),
            ..old
        };
        let issued = issue(act, successor, entropy)?;
        tokens::rotate_out(act.tx, &predecessor, issued.record.id, predecessor.ends_at)?;
        act.log("token.rotate", Some(id.to_string()), None)?;
        Ok(Rotated {
            issued,
            predecessor: record::one(act.tx, predecessor, now)?,
        })
    })
}

/// Revokes a token, at once and for good. Doing it again changes nothing.
pub fn revoke(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    id: TokenId,
) -> Result<Record, AppError> {
    Act::run(tx, context, organization, |act| {
        let mut token = of(act.tx, organization, id)?;
        may_change(act, &token)?;
        let now = act.now();
        if tokens::revoke(act.tx, organization, id, now)? {
            token.revoked_at = Some(now);
            act.log("token.revoke", Some(id.to_string()), None)?;
        }
        record::one(act.tx, token, now)
    })
}

/// An organization's tokens, oldest first, tombstones included: all of them for its admins and the operator, a
/// person's own for everybody else.
pub fn list(
    tx: &mut Tx<'_>,
    context: &Context,
    organization: OrganizationId,
) -> Result<Vec<Record>, AppError> {
    organizations::get(tx, organization)?.ok_or_else(|| crate::act::no_organization(organization))?;
    let mut found = tokens::all(tx, organization)?;
    if !is_admin(tx, context.who, organization)? {
        let me = person(context.who)
            .ok_or_else(|| forbidden("list the tokens of an organization", "a person with a role there"))?;
        found.retain(|token| token.user_id == Some(me));
    }
    record::many(tx, found, context.now)
}

/// One token, for whoever may see it in [`list`].
pub fn get(tx: &mut Tx<'_>, context: &Context, id: TokenId) -> Result<Record, AppError> {
    let token = visible(tx, context.who, id)?;
    record::one(tx, token, context.now)
}

/// What a token can do and which layer withholds the rest, for whoever may see it in [`list`].
pub fn explain_by_id(
    tx: &mut Tx<'_>,
    context: &Context,
    id: TokenId,
) -> Result<(Explanation, State), AppError> {
    visible(tx, context.who, id)?;
    let facts = Arc::new(tokens::facts(tx, id)?.ok_or_else(|| no_token(id))?);
    let state = State::of(&facts.token, context.now);
    let explanation = match TokenCaller::in_force(Arc::clone(&facts), context.now) {
        Some(caller) => explain(&caller),
        None => explain::dead(&facts),
    };
    Ok((explanation, state))
}

/// The refusal for a token that is not there.
fn no_token(id: TokenId) -> Refusal {
    Refusal::missing(format!(
        "token {id} does not exist; `bursar token list` shows an organization's"
    ))
}

fn forbidden(deed: &str, who: &str) -> Refusal {
    Refusal::Forbidden {
        message: format!("you may not {deed}: only {who} may"),
    }
}

fn of(tx: &mut Tx<'_>, organization: OrganizationId, id: TokenId) -> Result<Token, AppError> {
    let token = tokens::get(tx, id)?.filter(|token| token.organization_id == organization);
    Ok(token.ok_or_else(|| no_token(id))?)
}

/// A person acting in this organization.
fn person(who: Identity) -> Option<UserId> {
    match who {
        Identity::Person(user) => Some(user),
        Identity::Token(_) | Identity::Operator | Identity::Worker => None,
    }
}

/// The token, or the same refusal whether it does not exist or is not the actor's to see.
fn visible(tx: &mut Tx<'_>, who: Identity, id: TokenId) -> Result<Token, AppError> {
    let token = tokens::get(tx, id)?.ok_or_else(|| no_token(id))?;
    let own = token.user_id.is_some() && person(who) == token.user_id;
    if own || is_admin(tx, who, token.organization_id)? {
        return Ok(token);
    }
    Err(no_token(id).into())
}

/// A personal token is its owner's, a service token the admins'.
fn may_change(act: &mut Act<'_, '_>, token: &Token) -> Result<(), AppError> {
    match (token.kind, &act.caller) {
        (_, Caller::Operator) => Ok(()),
        (TokenKind::Service, _) => require(act, Role::Admin, "change its service tokens"),
        (TokenKind::Personal, Caller::Person(user, Some(_))) if Some(*user) == token.user_id => Ok(()),
        (TokenKind::Personal, _) => Err(forbidden("change a personal token", "its owner").into()),
    }
}

/// The person that a personal token is made for: themselves, with a role in the organization.
fn owner(act: &mut Act<'_, '_>, email: &str) -> Result<UserId, AppError> {
    let user = organizations::user_by_email(act.tx, email.trim())?;
    let id = user.as_ref().map(|user| user.id);
    let may = match act.caller {
        Caller::Operator => true,
        Caller::Person(me, _) => id == Some(me),
        Caller::Token(_) | Caller::Worker => false,
    };
    if !may {
        return Err(forbidden("make a personal token for somebody else", "its owner").into());
    }
    let role = match id {
        Some(id) => organizations::role(act.tx, act.organization, id)?,
        None => None,
    };
    match (id, role) {
        (Some(id), Some(_)) => Ok(id),
        _ => Err(Refusal::missing(format!(
            "{email} has no role in organization {}; `bursar role set` gives one",
            act.organization
        ))
        .into()),
    }
}

/// The role that a service token is made with.
fn service_role(act: &mut Act<'_, '_>, role: Role) -> Result<Role, AppError> {
    crate::officers::require(act, bursar_domain::access::Role::Admin, "make service tokens")?;
    match role {
        Role::Viewer | Role::Editor => Ok(role),
        Role::Admin => Err(Refusal::invalid(
            "role",
            "must be viewer or editor: a service token is never admin, so that no program can change the \
             organization's settings or approve reimbursements",
        )
        .into()),
    }
}

/// A scope that the policy blocks cannot be asked for; one above the role can, and is withheld by the role.
fn check_scopes(scopes: ScopeSet, policy: Policy) -> Result<(), Refusal> {
    if scopes.is_empty() {
        return Err(Refusal::invalid("scopes", no_scope_rule()));
    }
    let blocked = scopes.and(policy.blocked_scopes);
    if blocked.is_empty() {
        return Ok(());
    }
    Err(Refusal::invalid(
        "scopes",
        format!(
            "must not ask for {blocked}: the organization's policy blocks it; leave it out, or have an admin allow it"
        ),
    ))
}

/// The longest lifetime that the policy allows.
fn days_max(policy: Policy) -> u16 {
    policy
        .max_token_days
        .unwrap_or(TOKEN_DAYS_MAX)
        .min(TOKEN_DAYS_MAX)
}

fn lifetime(days: Option<i64>, policy: Policy) -> Result<u16, Refusal> {
    let max = days_max(policy);
    let Some(days) = days else {
        return Ok(DAYS_DEFAULT.min(max));
    };
    let why = if max < TOKEN_DAYS_MAX {
        " (the organization's policy caps it)"
    } else {
        ""
    };
    u16::try_from(days)
        .ok()
        .filter(|days| (1..=max).contains(days))
        .ok_or_else(|| Refusal::invalid("days", format!("must be 1 to {max} whole days{why}, got {days}")))
}

/// Refuses what does not rotate, and says what to do instead.
fn may_rotate(token: &Token, now: Timestamp) -> Result<(), Refusal> {
    let id = token.id;
    match token.kind {
        TokenKind::Personal => {
            return Err(Refusal::conflict(format!(
                "{id} is a personal token and is not rotated: create a replacement, then revoke it"
            )));
        }
        TokenKind::Service => {}
    }
    let why = match (State::of(token, now), token.successor_id) {
        (State::Revoked, _) => "is revoked: create a new token".to_owned(),
        (_, Some(successor)) => {
            format!("was rotated before, and a token rotates once: rotate its successor {successor}")
        }
        (State::Expired | State::RotatedOut, None) => "has expired: create a new token".to_owned(),
        (State::Active | State::Replaced, None) => return Ok(()),
    };
    Err(Refusal::conflict(format!("{id} {why}")))
}

/// Keeps a new token with the hash of its secret.
fn issue(act: &mut Act<'_, '_>, token: Token, entropy: &[u8; ENTROPY_BYTES]) -> Result<Issued, AppError> {
    let secret = Secret::compose(token.kind, entropy)?;
    tokens::insert(act.tx, &token, &secret.hash())?;
    let record = record::one(act.tx, token, act.now())?;
    Ok(Issued { record, secret })
}

fn creator(caller: &Caller) -> String {
    caller.id().unwrap_or_else(|| caller.kind().to_owned())
}
