//! Tokens: the joined look-up that every request makes, and the records behind it. Records stay as tombstones.

use std::sync::Arc;

use bursar_domain::Timestamp;
use bursar_domain::access::{Policy, Role, ScopeSet};
use bursar_domain::ids::{OrganizationId, TokenId, UserId};
use bursar_domain::money::Currency;
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::token::{TokenHash, TokenKind};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

/// A token's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it acts.
    pub organization_id: OrganizationId,
    /// Names it.
    pub id: TokenId,
    /// Who acts with it.
    pub kind: TokenKind,
    /// What people call it.
    pub name: String,
    /// Whose it is, for a personal one.
    pub user_id: Option<UserId>,
    /// The role it was made with, for a service one.
    pub role: Option<Role>,
    /// What it was given.
    pub scopes: ScopeSet,
    /// The lifetime it was made with, in days.
    pub days: u16,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// When it stops working: its expiry, or the end of the overlap with its successor.
    pub ends_at: Timestamp,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// The first token of the chain of rotations that it belongs to.
    pub family_id: TokenId,
    /// What it replaces.
    pub predecessor_id: Option<TokenId>,
    /// What replaces it.
    pub successor_id: Option<TokenId>,
    /// Who made it.
    pub created_by: String,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
}

/// A token with all that decides what it may do, read in one look-up.
#[derive(Clone, Debug)]
pub struct TokenFacts {
    /// The token.
    pub token: Token,
    /// What the organization is.
    pub organization_kind: OrganizationKind,
    /// The organization's currency.
    pub currency: Currency,
    /// Whether cards can be issued for it.
    pub card_issuing: CardIssuing,
    /// The user's role now, for a personal token.
    pub live_role: Option<Role>,
    /// The organization's policy now.
    pub policy: Policy,
}

record! { token_columns: Token, "t." {
    organization_id, id, kind, name, user_id, role, scopes, days, created_at, expires_at, ends_at, revoked_at, family_id,
    predecessor_id, successor_id, created_by, last_used_at,
} }
record! { facts_columns: TokenFacts {
    token = token_columns!(), organization_kind = "o.kind", currency = "o.currency", card_issuing = "o.card_issuing",
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

/// The statements that look a caller up, for tests that read their plans.
pub fn statements() -> [&'static str; 2] {
    [FACTS_BY_HASH, FACTS_BY_ID]
}

/// A token by the hash of its text.
pub fn by_hash(tx: &mut Tx<'_>, hash: &TokenHash) -> Result<Option<TokenFacts>, DbError> {
    tx.first(FACTS_BY_HASH, &[Value::Bytes(hash)], read)
}

/// The same for a read: where nothing was committed since the last look-up, that one's answer.
pub fn known_by_hash(tx: &mut Tx<'_>, hash: &TokenHash) -> Result<Option<Arc<TokenFacts>>, DbError> {
    tx.remembered(*hash, |tx| by_hash(tx, hash))
}

/// The same by the token's id.
pub fn facts(tx: &mut Tx<'_>, id: TokenId) -> Result<Option<TokenFacts>, DbError> {
    tx.first(FACTS_BY_ID, &[Value::Bytes(&id.to_bytes())], read)
}

/// One token.
pub fn get(tx: &mut Tx<'_>, id: TokenId) -> Result<Option<Token>, DbError> {
    const SQL: &str = concat!("SELECT ", token_columns!(), " FROM tokens t WHERE t.id = ?1");
    tx.first(SQL, &[Value::Bytes(&id.to_bytes())], read)
}

/// An organization's tokens, oldest first, tombstones included.
pub fn all(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<Token>, DbError> {
    const SQL: &str = concat!(
        "SELECT ",
        token_columns!(),
        " FROM tokens t WHERE t.organization_id = ?1 ORDER BY t.id"
    );
    tx.rows(SQL, &[Value::Bytes(&organization.to_bytes())], read)
}

/// A person's tokens in an organization that are not revoked, oldest first.
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

/// Keeps a new token. Only its hash is kept.
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

/// Ends a token at `ends_at`, because `successor` replaces it.
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

/// Revokes a token for good; whether it was not revoked before.
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

/// A token that expires soon, with the last notice that was sent of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiring {
    /// The token.
    pub token: Token,
    /// The days before expiry of the last notice.
    pub noticed_days: Option<i64>,
}

/// Live tokens that expire after `now` and up to `until`, the first ones first.
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

/// Writes down that the notice of so many days was queued; 0 means that none is to be.
pub fn noticed(tx: &mut Tx<'_>, organization: OrganizationId, id: TokenId, days: i64) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.execute(
        "UPDATE tokens SET noticed_days = ?3 WHERE organization_id = ?1 AND id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&id), Value::Int(days)],
    )
    .map(drop)
}

/// Writes down when a token was last used.
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
