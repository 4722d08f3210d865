//! Why a token can do what it can, and what withholds the rest: the token, the role or the policy.

use bursar_db::tokens::TokenFacts;
use bursar_domain::Timestamp;
use bursar_domain::access::{Role, Scope, ScopeSet, Withheld, withheld_by};
use bursar_domain::ids::{OrganizationId, TokenId};
use bursar_domain::token::TokenKind;
use serde::{Serialize, Serializer};

use crate::act::View;
use crate::caller::{Caller, TokenCaller};
use crate::error::AppError;
use crate::rule::Rule;

/// A token explained to itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Names it.
    pub id: TokenId,
    /// Who acts with it.
    pub kind: TokenKind,
    /// What people call it.
    pub name: String,
    /// Where it acts.
    pub organization_id: OrganizationId,
    /// The role it acts with now; null only for a personal token whose owner has left.
    pub role: Option<Role>,
    /// When it stops working.
    pub expires_at: Timestamp,
    /// What it was given.
    pub scopes: ScopeSet,
    /// What it can do now.
    pub effective_scopes: ScopeSet,
    /// What it was given and cannot do, and what withholds it.
    pub withheld: Vec<WithheldScope>,
}

/// A scope that was given and is not effective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WithheldScope {
    /// The scope.
    pub scope: Scope,
    /// What withholds it: `role` or `policy`.
    #[serde(serialize_with = "as_text")]
    pub by: Withheld,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes the field by reference"
)]
fn as_text<S: Serializer>(by: &Withheld, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(by.as_str())
}

/// Asking what the caller's own token can do.
pub const SELF: Rule = Rule::of_token("token.self", "ask what they can do");

/// Explains the caller's token to it.
pub fn explain_caller(view: &View<'_, '_>) -> Result<Explanation, AppError> {
    view.allow(&SELF)?;
    match view.caller() {
        Caller::Token(token) => Ok(of_live(token)),
        _ => Err(SELF.forbidden()),
    }
}

/// Explains a token that works.
pub(super) fn of_live(caller: &TokenCaller) -> Explanation {
    let (facts, role) = (caller.facts(), caller.role());
    let token = &facts.token;
    let withheld =
        |scope| withheld_by(scope, token.scopes, role, facts.policy).map(|by| WithheldScope { scope, by });
    Explanation {
        role: Some(role),
        effective_scopes: caller.scopes(),
        withheld: token.scopes.iter().filter_map(withheld).collect(),
        ..dead(facts)
    }
}

/// Explains a token that does not work any more: it can do nothing, whatever it was given.
pub(super) fn dead(facts: &TokenFacts) -> Explanation {
    let token = &facts.token;
    Explanation {
        id: token.id,
        kind: token.kind,
        name: token.name.clone(),
        organization_id: token.organization_id,
        role: match token.kind {
            TokenKind::Personal => facts.live_role,
            TokenKind::Service => token.role,
        },
        expires_at: token.ends_at,
        scopes: token.scopes,
        effective_scopes: ScopeSet::NONE,
        withheld: Vec::new(),
    }
}
