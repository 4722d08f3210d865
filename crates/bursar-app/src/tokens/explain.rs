//! What a token can do, and what withholds the rest: the token, the role or the policy.

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

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    pub id: TokenId,
    pub kind: TokenKind,
    pub name: String,
    pub organization_id: OrganizationId,
    /// The current role; null only for a personal token whose owner has left.
    pub role: Option<Role>,
    /// When the token stops working, which rotation can bring forward.
    pub expires_at: Timestamp,
    pub scopes: ScopeSet,
    /// What the token can do now.
    pub effective_scopes: ScopeSet,
    /// Granted scopes that are not effective, and why.
    pub withheld: Vec<WithheldScope>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WithheldScope {
    pub scope: Scope,
    /// `role` or `policy`.
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

pub const SELF: Rule = Rule::of_token("token.self", "ask what they can do");

pub fn explain_caller(view: &View<'_, '_>) -> Result<Explanation, AppError> {
    view.allow(&SELF)?;
    match view.caller() {
        Caller::Token(token) => Ok(of_live(token)),
        _ => Err(SELF.forbidden()),
    }
}

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

/// A token that no longer works can do nothing, whatever it was granted.
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
