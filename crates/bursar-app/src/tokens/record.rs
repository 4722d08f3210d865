//! A token as people and programs see it: everything but the secret, which is shown once.

use std::collections::HashMap;
use std::fmt;

use bursar_db::tokens::Token;
use bursar_db::{Tx, organizations};
use bursar_domain::access::{Role, ScopeSet};
use bursar_domain::ids::{OrganizationId, TokenId, UserId};
use bursar_domain::token::{ENTROPY_BYTES, TokenHash, TokenKind, compose, hash};
use bursar_domain::{Refusal, Timestamp, words};
use serde::Serialize;

use crate::error::AppError;

/// The text of a new token, to be shown once. It cannot be printed or serialized by accident.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(super) fn compose(kind: TokenKind, entropy: &[u8; ENTROPY_BYTES]) -> Result<Self, Refusal> {
        compose(kind, entropy)
            .map(Self)
            .ok_or_else(|| Refusal::conflict("the random bytes could not make a secret; try again"))
    }

    pub(super) fn hash(&self) -> TokenHash {
        hash(&self.0)
    }

    /// The text itself, for whoever asked for the token.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

words! {
    /// Where a token is in its life.
    State {
        /// It works.
        Active "active",
        /// It was rotated and works until the overlap ends.
        Replaced "replaced",
        /// It was rotated, and the overlap is over.
        RotatedOut "rotated_out",
        /// Its time is up.
        Expired "expired",
        /// It was revoked.
        Revoked "revoked",
    }
}

impl State {
    pub fn of(token: &Token, now: Timestamp) -> Self {
        if token.revoked_at.is_some() {
            return Self::Revoked;
        }
        match (now < token.ends_at, token.successor_id) {
            (true, None) => Self::Active,
            (true, Some(_)) => Self::Replaced,
            (false, Some(_)) if token.ends_at < token.expires_at => Self::RotatedOut,
            (false, _) => Self::Expired,
        }
    }
}

/// `expiresAt` is when the token stops working, which rotation can bring forward.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub id: TokenId,
    pub organization_id: OrganizationId,
    pub kind: TokenKind,
    pub name: String,
    pub state: State,
    /// For a personal token.
    pub user_id: Option<UserId>,
    /// The owner's, for a personal token.
    pub email: Option<String>,
    /// For a service token.
    pub role: Option<Role>,
    pub scopes: ScopeSet,
    /// The lifetime it was created with.
    pub days: u16,
    pub created_at: Timestamp,
    /// A user's id, or `operator`.
    pub created_by: String,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// To the minute.
    pub last_used_at: Option<Timestamp>,
    /// The first token of its chain of rotations.
    pub family_id: TokenId,
    /// The token that it replaces.
    pub predecessor_id: Option<TokenId>,
    /// The token that replaces it.
    pub successor_id: Option<TokenId>,
}

impl Record {
    fn new(token: Token, email: Option<String>, now: Timestamp) -> Self {
        Self {
            id: token.id,
            organization_id: token.organization_id,
            kind: token.kind,
            state: State::of(&token, now),
            name: token.name,
            user_id: token.user_id,
            email,
            role: token.role,
            scopes: token.scopes,
            days: token.days,
            created_at: token.created_at,
            created_by: token.created_by,
            expires_at: token.ends_at,
            revoked_at: token.revoked_at,
            last_used_at: token.last_used_at,
            family_id: token.family_id,
            predecessor_id: token.predecessor_id,
            successor_id: token.successor_id,
        }
    }
}

pub(super) fn one(tx: &mut Tx<'_>, token: Token, now: Timestamp) -> Result<Record, AppError> {
    let email = match token.user_id {
        Some(id) => organizations::user(tx, id)?.map(|user| user.email),
        None => None,
    };
    Ok(Record::new(token, email, now))
}

/// Looks up each owner once.
pub(super) fn many(tx: &mut Tx<'_>, tokens: Vec<Token>, now: Timestamp) -> Result<Vec<Record>, AppError> {
    let mut emails: HashMap<UserId, String> = HashMap::new();
    for id in tokens.iter().filter_map(|token| token.user_id) {
        if !emails.contains_key(&id)
            && let Some(user) = organizations::user(tx, id)?
        {
            emails.insert(id, user.email);
        }
    }
    let record = |token: Token| {
        let email = token.user_id.and_then(|id| emails.get(&id).cloned());
        Record::new(token, email, now)
    };
    Ok(tokens.into_iter().map(record).collect())
}
