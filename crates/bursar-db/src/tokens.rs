//! Tokens: the joined look-up that every request makes, and the records behind it. Records are never deleted.

use std::sync::Arc;

use bursar_domain::Timestamp;
use bursar_domain::access::{Policy, Role, ScopeSet};
use bursar_domain::ids::{OrganizationId, TokenId, UserId};
use bursar_domain::money::Currency;
use bursar_domain::organization::CardIssuing;
use bursar_domain::token::{TokenHash, TokenKind};

use crate::engine::{Foreseen, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub organization_id: OrganizationId,
    pub id: TokenId,
    pub kind: TokenKind,
    pub name: String,
    /// Set for a personal token.
    pub user_id: Option<UserId>,
    /// The role of a service token.
    pub role: Option<Role>,
    pub scopes: ScopeSet,
    pub days: u16,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    /// The expiry, or the end of the overlap with its successor.
    pub ends_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
    /// The first token in its chain of rotations.
    pub family_id: TokenId,
    pub predecessor_id: Option<TokenId>,
    pub successor_id: Option<TokenId>,
    pub created_by: String,
    /// To the minute.
    pub last_used_at: Option<Timestamp>,
}

/// A token with everything that decides what it may do, read in one look-up.
#[derive(Clone, Debug)]
pub struct TokenFacts {
    pub token: Token,
    pub currency: Currency,
    pub card_issuing: CardIssuing,
    /// The user's role now, for a personal token.
    pub live_role: Option<Role>,
    pub policy: Policy,
}

record! { token_columns: Token, "t." {
    organization_id, id, kind, name, user_id, role, scopes, days, created_at, expires_at, ends_at, revoked_at, family_id,
    predecessor_id, successor_id, created_by, last_used_at,
} }
record! { facts_columns: TokenFacts {
    token = token_columns!(), currency = "o.currency", card_issuing = "o.card_issuing",
    live_role = "r.role", policy = "p.blocked_scopes, p.max_token_days",
} }
record! { expiring_columns: Expiring { token = token_columns!(), noticed_days = "t.noticed_days" } }

macro_rules! select_facts {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            facts_columns!(),
            " FROM tokens t JOIN organizations o ON o.id = t.organization_id \
             LEFT JOIN roles r ON r.organization_id = t.organization_id AND r.user_id = t.user_id \
             LEFT JOIN policies p ON p.organization_id = t.organization_id WHERE ",
            $condition
        )
    };
}

const FACTS_BY_HASH: &str = select_facts!("t.hash = ?1");
const FACTS_BY_ID: &str = select_facts!("t.id = ?1");

/// For tests that read query plans.
pub fn statements() -> [&'static str; 2] {
    [FACTS_BY_HASH, FACTS_BY_ID]
}

pub fn by_hash(tx: &mut Tx<'_>, hash: &TokenHash) -> Result<Option<TokenFacts>, DbError> {
    tx.first(FACTS_BY_HASH, &[Value::Bytes(hash)], read)
}

/// What [`by_hash`] asks.
pub fn by_hash_foreseen(hash: &TokenHash) -> Foreseen {
    Foreseen::new(FACTS_BY_HASH, &[Value::Bytes(hash)])
}

/// For reads: remembered until something is committed.
pub fn known_by_hash(tx: &mut Tx<'_>, hash: &TokenHash) -> Result<Option<Arc<TokenFacts>>, DbError> {
    tx.remembered(*hash, |tx| by_hash(tx, hash))
}

pub fn facts(tx: &mut Tx<'_>, id: TokenId) -> Result<Option<TokenFacts>, DbError> {
    tx.first(FACTS_BY_ID, &[Value::Bytes(&id.to_bytes())], read)
}

pub fn get(tx: &mut Tx<'_>, id: TokenId) -> Result<Option<Token>, DbError> {
    const SQL: &str = concat!("SELECT ", token_columns!(), " FROM tokens t WHERE t.id = ?1");
    tx.first(SQL, &[Value::Bytes(&id.to_bytes())], read)
}

/// Oldest first, including tokens that no longer work.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Token>, DbError> {
    const SQL: &str = concat!(
        "SELECT ",
        token_columns!(),
        " FROM tokens t WHERE t.organization_id = ?1 ORDER BY t.id"
    );
    tx.rows(SQL, &[Value::Bytes(&organization.to_bytes())], read)
}

pub fn unrevoked_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    user: UserId,
) -> Result<Vec<TokenId>, DbError> {
    let (organization, user) = (organization.to_bytes(), user.to_bytes());
    tx.rows(
        "SELECT id FROM tokens WHERE organization_id = ?1 AND user_id = ?2 AND revoked_at IS NULL ORDER BY id",
        &[Value::Bytes(&organization), Value::Bytes(&user)],
        read,
    )
}

/// Only the hash of the token's text is kept.
pub fn insert(tx: &mut Tx<'_>, token: &Token, hash: &TokenHash) -> Result<(), DbError> {
    let (organization, id, family) = (
        token.organization_id.to_bytes(),
        token.id.to_bytes(),
        token.family_id.to_bytes(),
    );
    let (user, predecessor) = (
        token.user_id.map(UserId::to_bytes),
        token.predecessor_id.map(TokenId::to_bytes),
    );
    tx.execute(
        "INSERT INTO tokens (organization_id, id, kind, name, hash, user_id, role, scopes, days, created_at, expires_at, ends_at, \
         family_id, predecessor_id, created_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(token.kind.as_str()),
            Value::Text(&token.name),
            Value::Bytes(hash),
            user.as_ref().into(),
            token.role.map(Role::as_str).into(),
            Value::Int(token.scopes.bits()),
            Value::Int(i64::from(token.days)),
            Value::Int(token.created_at.micros()),
            Value::Int(token.expires_at.micros()),
            Value::Int(token.ends_at.micros()),
            Value::Bytes(&family),
            predecessor.as_ref().into(),
            Value::Text(&token.created_by),
        ],
    )
    .map(drop)
}

/// `successor` replaces the token, which works until `ends_at`.
pub fn rotate_out(
    tx: &mut Tx<'_>,
    token: &Token,
    successor: TokenId,
    ends_at: Timestamp,
) -> Result<(), DbError> {
    let (organization, id, successor) = (
        token.organization_id.to_bytes(),
        token.id.to_bytes(),
        successor.to_bytes(),
    );
    tx.execute(
        "UPDATE tokens SET successor_id = ?3, ends_at = ?4 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Bytes(&successor),
            Value::Int(ends_at.micros()),
        ],
    )
    .map(drop)
}

/// Returns false if it was revoked before.
pub fn revoke(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: TokenId,
    now: Timestamp,
) -> Result<bool, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let rows = tx.execute(
        "UPDATE tokens SET revoked_at = ?3 WHERE organization_id = ?1 AND id = ?2 AND revoked_at IS NULL",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Int(now.micros()),
        ],
    )?;
    Ok(rows > 0)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiring {
    pub token: Token,
    /// The days before expiry of the last notice.
    pub noticed_days: Option<i64>,
}

/// Live tokens that expire after `now` and up to `until` and need a notice, earliest first.
pub fn expiring(
    tx: &mut Tx<'_>,
    now: Timestamp,
    until: Timestamp,
    limit: i64,
) -> Result<Vec<Expiring>, DbError> {
    const SQL: &str = concat!(
        "SELECT ",
        expiring_columns!(),
        " FROM tokens t WHERE t.revoked_at IS NULL AND t.successor_id IS NULL \
         AND t.expires_at > ?1 AND t.expires_at <= ?2 AND (t.noticed_days IS NULL OR (t.noticed_days > 3 AND t.expires_at <= ?3)) \
         ORDER BY t.expires_at LIMIT ?4"
    );
    let soon = now.plus_days(3);
    let params = [
        Value::Int(now.micros()),
        Value::Int(until.micros()),
        Value::Int(soon.micros()),
        Value::Int(limit),
    ];
    tx.rows(SQL, &params, read)
}

/// Records the notice that was queued, by its days before expiry; 0 if none is needed.
pub fn noticed(tx: &mut Tx<'_>, organization: OrganizationId, id: TokenId, days: i64) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.execute(
        "UPDATE tokens SET noticed_days = ?3 WHERE organization_id = ?1 AND id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&id), Value::Int(days)],
    )
    .map(drop)
}

pub fn used(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: TokenId,
    at: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.execute(
        "UPDATE tokens SET last_used_at = ?3 WHERE organization_id = ?1 AND id = ?2 AND (last_used_at IS NULL OR last_used_at < ?3)",
        &[Value::Bytes(&organization), Value::Bytes(&id), Value::Int(at.micros())],
    )
    .map(drop)
}
