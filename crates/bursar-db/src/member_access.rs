//! Ways to members' own pages: the key of their links, what was revoked, codes that were mailed, and sessions.

use std::ops::ControlFlow;

use bursar_domain::Timestamp;
use bursar_domain::ids::{MemberId, OrganizationId};
use bursar_domain::member_access::{LinkKey, MemberCode, MemberSession, member_sessions_end};
use bursar_domain::search;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::code::{self, TRIES_MAX};

use crate::aside;
use crate::engine::{LoadTarget, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};
use crate::tables::load_target;

pub(crate) static SITE: LoadTarget = load_target! { "site" { id Int, base_url Text, link_key Bytes, } };
pub(crate) static REVOCATIONS: LoadTarget =
    load_target! { "link_revocations" { organization_id Bytes, member_id Bytes, at Int, } };
pub(crate) static CODES: LoadTarget = load_target! { "member_codes" {
    browser Bytes, organization_id Bytes, email Text, is_known Int, member_id Bytes, hash Bytes, tries Int, created_at Int,
} };
pub(crate) static SESSIONS: LoadTarget = load_target! { "member_sessions" {
    hash Bytes, organization_id Bytes, email Text, member_id Bytes, started_at Int,
} };

record! { code_columns: MemberCode {
    browser, organization = "organization_id", email, is_known, member = "member_id", hash, tries, created_at,
} }
record! { session_columns: MemberSession {
    hash, organization = "organization_id", email, member = "member_id", started_at,
} }

/// Members of one address who are offered to choose from.
const SHARING_MAX: usize = 50;

/// Where the service is reached, and what signs its links. `None` before it was first served.
pub fn site(tx: &mut Tx<'_>) -> Result<Option<(String, LinkKey)>, DbError> {
    tx.first("SELECT base_url, link_key FROM site WHERE id = 1", &[], |row| {
        let key = row.bytes(1)?.try_into();
        let key = key.map_err(|_| DbError::Internal("the key of links has a wrong length".to_owned()))?;
        Ok((row.text(0)?.to_owned(), LinkKey(key)))
    })
}

/// The key stays if there is one.
pub fn set_site(tx: &mut Tx<'_>, base_url: &str, key: &LinkKey) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO site (id, base_url, link_key) VALUES (1, ?1, ?2) ON CONFLICT (id) DO UPDATE SET base_url = ?1",
        &[Value::Text(base_url), Value::Bytes(&key.0)],
    )
    .map(drop)
}

pub fn revoked_at(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Option<Timestamp>, DbError> {
    tx.first(
        "SELECT at FROM link_revocations WHERE organization_id = ?1 AND member_id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
        ],
        read,
    )
}

pub fn revoke(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    at: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO link_revocations (organization_id, member_id, at) VALUES (?1, ?2, ?3) \
         ON CONFLICT (organization_id, member_id) DO UPDATE SET at = ?3",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
            Value::Int(at.micros()),
        ],
    )
    .map(drop)
}

/// Members who may have this address, compared without case. The caller compares.
pub fn maybe_with_address(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    email: &str,
) -> Result<Vec<MemberId>, DbError> {
    let mut found = Vec::new();
    let word = search::word_of_address(email);
    aside::each_found(tx, organization, &word, |member| {
        if !found.contains(&member) {
            found.push(member);
        }
        match found.len() < SHARING_MAX {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    Ok(found)
}

pub fn add_code(tx: &mut Tx<'_>, code: &MemberCode) -> Result<(), DbError> {
    let member = code.member.map(MemberId::to_bytes);
    tx.execute(
        "INSERT INTO member_codes (browser, organization_id, email, is_known, member_id, hash, tries, created_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        &[
            Value::Bytes(&code.browser.0),
            Value::Bytes(&code.organization.to_bytes()),
            Value::Text(&code.email),
            Value::Int(i64::from(code.is_known)),
            member.as_ref().into(),
            Value::Bytes(&code.hash.0),
            Value::Int(code.tries),
            Value::Int(code.created_at.micros()),
        ],
    )
    .map(drop)
}

pub fn code(tx: &mut Tx<'_>, browser: &SecretHash) -> Result<Option<MemberCode>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            code_columns!(),
            " FROM member_codes WHERE browser = ?1"
        ),
        &[Value::Bytes(&browser.0)],
        read,
    )
}

/// How many codes were mailed to this address since then.
pub fn codes_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    email: &str,
    since: Timestamp,
) -> Result<i64, DbError> {
    let count = tx.first(
        "SELECT COUNT(*) FROM member_codes \
         WHERE organization_id = ?1 AND email = ?2 AND created_at > ?3 AND is_known = 1",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Text(email),
            Value::Int(since.micros()),
        ],
        read,
    )?;
    Ok(count.unwrap_or_default())
}

/// Counts one try. `None` if there is no code or no try is left.
pub fn try_code(tx: &mut Tx<'_>, browser: &SecretHash) -> Result<Option<MemberCode>, DbError> {
    tx.first(
        concat!(
            "UPDATE member_codes SET tries = tries + 1 WHERE browser = ?1 AND tries < ?2 RETURNING ",
            code_columns!()
        ),
        &[Value::Bytes(&browser.0), Value::Int(TRIES_MAX)],
        read,
    )
}

/// It stays to be counted, with no try left.
pub fn use_up_code(tx: &mut Tx<'_>, browser: &SecretHash) -> Result<(), DbError> {
    tx.execute(
        "UPDATE member_codes SET tries = ?2 WHERE browser = ?1",
        &[Value::Bytes(&browser.0), Value::Int(TRIES_MAX)],
    )
    .map(drop)
}

/// Whether it is in force or not.
pub fn session(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<Option<MemberSession>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            session_columns!(),
            " FROM member_sessions WHERE hash = ?1"
        ),
        &[Value::Bytes(&hash.0)],
        read,
    )
}

pub fn begin_session(tx: &mut Tx<'_>, session: &MemberSession) -> Result<(), DbError> {
    let member = session.member.map(MemberId::to_bytes);
    tx.execute(
        "INSERT INTO member_sessions (hash, organization_id, email, member_id, started_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[
            Value::Bytes(&session.hash.0),
            Value::Bytes(&session.organization.to_bytes()),
            Value::Text(&session.email),
            member.as_ref().into(),
            Value::Int(session.started_at.micros()),
        ],
    )
    .map(drop)
}

pub fn choose(tx: &mut Tx<'_>, hash: &SecretHash, member: MemberId) -> Result<(), DbError> {
    tx.execute(
        "UPDATE member_sessions SET member_id = ?2 WHERE hash = ?1",
        &[Value::Bytes(&hash.0), Value::Bytes(&member.to_bytes())],
    )
    .map(drop)
}

pub fn end_session(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM member_sessions WHERE hash = ?1",
        &[Value::Bytes(&hash.0)],
    )
    .map(drop)
}

/// Ends all sessions of a member.
pub fn end_sessions_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM member_sessions WHERE organization_id = ?1 AND member_id = ?2",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Bytes(&member.to_bytes()),
        ],
    )
    .map(drop)
}

/// Removes what has ended. Returns how many.
pub fn prune(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, DbError> {
    let sessions = tx.execute(
        "DELETE FROM member_sessions WHERE started_at < ?1",
        &[Value::Int(member_sessions_end(now).micros())],
    )?;
    let codes = tx.execute(
        "DELETE FROM member_codes WHERE created_at < ?1",
        &[Value::Int(code::counted_since(now).micros())],
    )?;
    Ok(sessions + codes)
}
