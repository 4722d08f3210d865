//! Access tokens: create, list, rotate, revoke, explain.
//!
//! A personal token belongs to its owner, a service token to the organization's admins, and the operator may do
//! anything. Every change holds the organization's change clock, so that a token is never created for a person who is
//! leaving or with a scope that is being blocked. The clock does not move, because no listed resource changes.

mod explain;
pub mod last_used;
mod record;

use std::sync::Arc;

use bursar_db::organizations;
use bursar_db::tokens::{self, Token};
use bursar_domain::access::{Policy, Role, Scope, ScopeSet, unknown_scope};
use bursar_domain::ids::{OrganizationId, TokenId, UserId};
use bursar_domain::organization::TOKEN_DAYS_MAX;
use bursar_domain::text::NAME;
use bursar_domain::token::{ENTROPY_BYTES, TokenKind};
use bursar_domain::{Refusal, Timestamp};

pub use self::explain::{Explanation, SELF, WithheldScope, explain_caller};
pub use self::last_used::{LastUsed, Uses};
pub use self::record::{Record, Secret, State};
use crate::act::{Act, View, Whole};
use crate::caller::{Caller, TokenCaller};
use crate::error::AppError;
use crate::rule::Rule;

/// The policy may cap it lower.
pub const DAYS_DEFAULT: u16 = 90;
pub const OVERLAP_DAYS_DEFAULT: i64 = 7;
pub const OVERLAP_DAYS_MAX: i64 = 30;

#[derive(Clone, Debug)]
pub enum Holder {
    /// A person's address. The token acts with the role they have at each request.
    Person(String),
    /// The organization, always with this role.
    Service(Role),
}

#[derive(Clone, Debug)]
pub struct NewToken {
    pub holder: Holder,
    /// If left out, "token" and the day.
    pub name: Option<String>,
    pub scopes: ScopeSet,
    pub days: Option<i64>,
}

/// A new token, and its secret for the only time.
#[derive(Clone, Debug)]
pub struct Issued {
    pub record: Record,
    pub secret: Secret,
}

/// A successor, its secret for the only time, and the token it replaces.
#[derive(Clone, Debug)]
pub struct Rotated {
    pub issued: Issued,
    /// Includes the time at which it stops working.
    pub predecessor: Record,
}

/// Parses `a,b` strictly: at least one scope, each in the catalogue, none empty.
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

pub const CREATE: Rule = Rule::of("token.create", Role::Viewer, "create personal tokens").guarded();
pub const CREATE_SERVICE: Rule =
    Rule::of("token.create_service", Role::Admin, "create service tokens").guarded();
pub const ROTATE: Rule = Rule::of("token.rotate", Role::Admin, "rotate service tokens").guarded();
pub const REVOKE: Rule = Rule::of("token.revoke", Role::Viewer, "revoke tokens").guarded();
pub const REVOKE_SERVICE: Rule =
    Rule::of("token.revoke_service", Role::Admin, "revoke service tokens").guarded();
pub const LIST: Rule = Rule::of("token.list", Role::Viewer, "list tokens");
pub const LIST_ALL: Rule = Rule::of("token.list_all", Role::Admin, "list all tokens");
pub const GET: Rule = Rule::of("token.get", Role::Viewer, "look at tokens");
pub const FIND: Rule = Rule::of_operator("token.find", "find a token by its id");
pub const RULES: &[&Rule] = &[
    &SELF,
    &CREATE,
    &CREATE_SERVICE,
    &ROTATE,
    &REVOKE,
    &REVOKE_SERVICE,
    &LIST,
    &LIST_ALL,
    &GET,
    &FIND,
    &last_used::STORE,
];

/// The secret comes from `entropy`; only its hash is stored.
pub fn create(
    act: &mut Act<'_, '_>,
    new: &NewToken,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<Issued, AppError> {
    let (kind, user_id, role) = match &new.holder {
        Holder::Person(email) => {
            act.allow(&CREATE)?;
            (TokenKind::Personal, Some(owner(act, email)?), None)
        }
        Holder::Service(role) => {
            act.allow(&CREATE_SERVICE)?;
            (TokenKind::Service, None, Some(service_role(*role)?))
        }
    };
    let name = match &new.name {
        Some(name) => NAME.check(name).map_err(Refusal::of_field("name"))?,
        None => format!("token {}", act.now().date()),
    };
    let policy = organizations::policy(act.tx, act.organization)?.unwrap_or_default();
    check_scopes(new.scopes, policy)?;
    let days = lifetime(new.days, policy)?;
    let id = act.new_id();
    let expires_at = act.now().plus_days(i64::from(days));
    let token = Token {
        organization_id: act.organization,
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
    act.log(CREATE.name, Some(id.to_string()), None)?;
    Ok(issued)
}

/// The successor has the same role and scopes. The old token works until the overlap ends.
pub fn rotate(
    act: &mut Act<'_, '_>,
    id: TokenId,
    overlap_days: Option<i64>,
    entropy: &[u8; ENTROPY_BYTES],
) -> Result<Rotated, AppError> {
    act.allow(&ROTATE)?;
    let overlap_days = overlap_days.unwrap_or(OVERLAP_DAYS_DEFAULT);
    if !(0..=OVERLAP_DAYS_MAX).contains(&overlap_days) {
        let rule = format!("must be 0 to {OVERLAP_DAYS_MAX} whole days, got {overlap_days}");
        return Err(Refusal::invalid("overlap-days", rule).into());
    }
    let (old, now) = (of(act, id)?, act.now());
    may_rotate(&old, now)?;
    let policy = organizations::policy(act.tx, act.organization)?.unwrap_or_default();
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
    act.log(ROTATE.name, Some(id.to_string()), None)?;
    Ok(Rotated {
        issued,
        predecessor: record::one(act.tx, predecessor, now)?,
    })
}

/// Revocation is immediate and permanent. Doing it again changes nothing.
pub fn revoke(act: &mut Act<'_, '_>, id: TokenId) -> Result<Record, AppError> {
    act.allow(&REVOKE)?;
    let (mut token, now) = (of(act, id)?, act.now());
    match token.kind {
        TokenKind::Service => act.allow(&REVOKE_SERVICE)?,
        TokenKind::Personal => its_owner(act, token.user_id, "revoke a personal token")?,
    }
    if tokens::revoke(act.tx, act.organization, id, now)? {
        token.revoked_at = Some(now);
        act.log(REVOKE.name, Some(id.to_string()), None)?;
    }
    record::one(act.tx, token, now)
}

/// Oldest first, revoked and expired ones included: all tokens for admins and the operator, otherwise a person's own.
pub fn list(view: &mut View<'_, '_>) -> Result<Vec<Record>, AppError> {
    view.allow(&LIST)?;
    let mut found = tokens::all(view.tx, view.organization)?;
    found.retain(|token| is_visible(view, token));
    let now = view.now();
    record::many(view.tx, found, now)
}

/// For whoever may see the token in [`list`].
pub fn get(view: &mut View<'_, '_>, id: TokenId) -> Result<Record, AppError> {
    view.allow(&GET)?;
    let (token, now) = (visible(view, id)?, view.now());
    record::one(view.tx, token, now)
}

/// What a token can do and which layer withholds the rest, for whoever may see it in [`list`].
pub fn explain_by_id(view: &mut View<'_, '_>, id: TokenId) -> Result<(Explanation, State), AppError> {
    view.allow(&GET)?;
    visible(view, id)?;
    let facts = Arc::new(tokens::facts(view.tx, id)?.ok_or_else(|| no_token(id))?);
    let state = State::of(&facts.token, view.now());
    let explanation = match TokenCaller::in_force(Arc::clone(&facts), view.now()) {
        Some(caller) => explain::of_live(&caller),
        None => explain::dead(&facts),
    };
    Ok((explanation, state))
}

pub fn organization_of(whole: &mut Whole<'_, '_>, id: TokenId) -> Result<OrganizationId, AppError> {
    whole.allow(&FIND)?;
    let token = tokens::get(whole.tx, id)?.ok_or_else(|| no_token(id))?;
    Ok(token.organization_id)
}

fn no_token(id: TokenId) -> Refusal {
    Refusal::missing(format!(
        "token {id} does not exist; `bursar token list` shows an organization's"
    ))
}

fn of<M>(act: &mut Act<'_, '_, M>, id: TokenId) -> Result<Token, AppError> {
    let token = tokens::get(act.tx, id)?.filter(|token| token.organization_id == act.organization);
    Ok(token.ok_or_else(|| no_token(id))?)
}

fn is_visible(view: &View<'_, '_>, token: &Token) -> bool {
    let is_own = matches!(view.caller, Caller::Person(me, ..) if token.user_id == Some(me));
    is_own || view.allow(&LIST_ALL).is_ok()
}

/// The refusal is the same whether the token does not exist or the caller may not see it.
fn visible(view: &mut View<'_, '_>, id: TokenId) -> Result<Token, AppError> {
    let token = of(view, id)?;
    match is_visible(view, &token) {
        true => Ok(token),
        false => Err(no_token(id).into()),
    }
}

/// Only the owner of a personal token, or the operator, may do this.
fn its_owner(act: &Act<'_, '_>, owner: Option<UserId>, deed: &str) -> Result<(), AppError> {
    match act.caller {
        Caller::Operator => Ok(()),
        Caller::Person(me, ..) if owner == Some(me) => Ok(()),
        Caller::Person(..) | Caller::Member(..) | Caller::Visitor | Caller::Token(_) | Caller::Worker => {
            let message = format!("you may not {deed}: only its owner may");
            Err(Refusal::Forbidden { message }.into())
        }
    }
}

/// A person makes tokens only for themselves, and needs a role in the organization.
fn owner(act: &mut Act<'_, '_>, email: &str) -> Result<UserId, AppError> {
    let id = organizations::user_by_email(act.tx, email.trim())?.map(|user| user.id);
    its_owner(act, id, "make a personal token for somebody else")?;
    let role = match id {
        Some(id) => organizations::role(act.tx, act.organization, id)?,
        None => None,
    };
    let missing = || {
        let organization = act.organization;
        Refusal::missing(format!(
            "{email} has no role in organization {organization}; `bursar role set` gives one"
        ))
    };
    Ok(id.filter(|_| role.is_some()).ok_or_else(missing)?)
}

fn service_role(role: Role) -> Result<Role, Refusal> {
    match role {
        Role::Viewer | Role::Editor => Ok(role),
        Role::Admin => Err(Refusal::invalid(
            "role",
            "must be viewer or editor: a service token is never admin, so that no program can change the \
             organization's settings or approve reimbursements",
        )),
    }
}

/// A scope that the policy blocks is refused. A scope above the role is granted, and the role withholds it.
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

/// The refusal says what to do instead.
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

/// Stores a new token with the hash of its secret.
fn issue(act: &mut Act<'_, '_>, token: Token, entropy: &[u8; ENTROPY_BYTES]) -> Result<Issued, AppError> {
    let secret = Secret::compose(token.kind, entropy)?;
    tokens::insert(act.tx, &token, &secret.hash())?;
    let record = record::one(act.tx, token, act.now())?;
    Ok(Issued { record, secret })
}

fn creator(caller: &Caller) -> String {
    caller.id().unwrap_or_else(|| caller.kind().to_owned())
}
