//! Sessions of signed-in people, and the links and codes that begin them. They belong to people, not to organizations.

use bursar_domain::Timestamp;
use bursar_domain::ids::UserId;
use bursar_domain::sign_in::code::{self, Code, TRIES_MAX};
use bursar_domain::sign_in::{Link, SecretHash, Session, links_end, sessions_end};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

record! { session_columns: Session {
    hash, user = "user_id", started_at, seen_at, signed_in_at, agent,
} }
record! { link_columns: Link { user = "user_id", created_at } }
record! { code_columns: Code { browser, email, user = "user_id", hash, tries, login, created_at } }

/// Whether it is in force or not.
pub fn session(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<Option<Session>, DbError> {
    tx.first(
        concat!("SELECT ", session_columns!(), " FROM sessions WHERE hash = ?1"),
        &[Value::Bytes(&hash.0)],
        read,
    )
}

/// Newest first.
pub fn sessions(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<Session>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions WHERE user_id = ?1 ORDER BY seen_at DESC, hash"
        ),
        &[Value::Bytes(&user.to_bytes())],
        read,
    )
}

pub fn begin_session(tx: &mut Tx<'_>, session: &Session) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO sessions (hash, user_id, started_at, seen_at, signed_in_at, agent) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        &[
            Value::Bytes(&session.hash.0),
            Value::Bytes(&session.user.to_bytes()),
            Value::Int(session.started_at.micros()),
            Value::Int(session.seen_at.micros()),
            Value::Int(session.signed_in_at.micros()),
            Value::Text(&session.agent),
        ],
    )
    .map(drop)
}

pub fn seen(tx: &mut Tx<'_>, hash: &SecretHash, at: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE sessions SET seen_at = ?2 WHERE hash = ?1 AND seen_at < ?2",
        &[Value::Bytes(&hash.0), Value::Int(at.micros())],
    )
    .map(drop)
}

/// Returns whether there was one.
pub fn end_session(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<bool, DbError> {
    let rows = tx.execute("DELETE FROM sessions WHERE hash = ?1", &[Value::Bytes(&hash.0)])?;
    Ok(rows > 0)
}

pub fn add_link(tx: &mut Tx<'_>, hash: &SecretHash, link: &Link) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO sign_in_links (hash, user_id, created_at) VALUES (?1, ?2, ?3)",
        &[
            Value::Bytes(&hash.0),
            Value::Bytes(&link.user.to_bytes()),
            Value::Int(link.created_at.micros()),
        ],
    )
    .map(drop)
}

pub fn link(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<Option<Link>, DbError> {
    tx.first(
        concat!("SELECT ", link_columns!(), " FROM sign_in_links WHERE hash = ?1"),
        &[Value::Bytes(&hash.0)],
        read,
    )
}

/// Of several who try at once, one takes it.
pub fn take_link(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<Option<Link>, DbError> {
    tx.first(
        concat!(
            "DELETE FROM sign_in_links WHERE hash = ?1 RETURNING ",
            link_columns!()
        ),
        &[Value::Bytes(&hash.0)],
        read,
    )
}

pub fn add_code(tx: &mut Tx<'_>, code: &Code) -> Result<(), DbError> {
    let user = code.user.map(UserId::to_bytes);
    tx.execute(
        "INSERT INTO sign_in_codes (browser, email, user_id, hash, tries, login, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        &[
            Value::Bytes(&code.browser.0),
            Value::Text(&code.email),
            user.as_ref().into(),
            Value::Bytes(&code.hash.0),
            Value::Int(code.tries),
            code.login.as_deref().into(),
            Value::Int(code.created_at.micros()),
        ],
    )
    .map(drop)
}

pub fn code(tx: &mut Tx<'_>, browser: &SecretHash) -> Result<Option<Code>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            code_columns!(),
            " FROM sign_in_codes WHERE browser = ?1"
        ),
        &[Value::Bytes(&browser.0)],
        read,
    )
}

/// How many codes were mailed to this address since then.
pub fn codes_of(tx: &mut Tx<'_>, email: &str, since: Timestamp) -> Result<i64, DbError> {
    let count = tx.first(
        "SELECT COUNT(*) FROM sign_in_codes WHERE email = ?1 AND created_at > ?2 AND user_id IS NOT NULL",
        &[Value::Text(email), Value::Int(since.micros())],
        read,
    )?;
    Ok(count.unwrap_or_default())
}

/// Counts one try. `None` if there is no code or no try is left.
pub fn try_code(tx: &mut Tx<'_>, browser: &SecretHash) -> Result<Option<Code>, DbError> {
    tx.first(
        concat!(
            "UPDATE sign_in_codes SET tries = tries + 1 WHERE browser = ?1 AND tries < ?2 RETURNING ",
            code_columns!()
        ),
        &[Value::Bytes(&browser.0), Value::Int(TRIES_MAX)],
        read,
    )
}

/// It stays to be counted, with no try left.
pub fn use_up_code(tx: &mut Tx<'_>, browser: &SecretHash) -> Result<(), DbError> {
    tx.execute(
        "UPDATE sign_in_codes SET tries = ?2, login = NULL WHERE browser = ?1",
        &[Value::Bytes(&browser.0), Value::Int(TRIES_MAX)],
    )
    .map(drop)
}

/// Removes all links of this user. Returns how many.
pub fn end_links_of(tx: &mut Tx<'_>, user: UserId) -> Result<u64, DbError> {
    tx.execute(
        "DELETE FROM sign_in_links WHERE user_id = ?1",
        &[Value::Bytes(&user.to_bytes())],
    )
}

/// Removes what has ended. Returns how many. A setup link belongs to nobody, and ends when it is used.
pub fn prune(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, DbError> {
    let (seen, started) = sessions_end(now);
    let sessions = tx.execute(
        "DELETE FROM sessions WHERE seen_at < ?1 OR started_at < ?2",
        &[Value::Int(seen.micros()), Value::Int(started.micros())],
    )?;
    let links = tx.execute(
        "DELETE FROM sign_in_links WHERE created_at < ?1 AND user_id <> ?2",
        &[Value::Int(links_end(now).micros()), Value::Bytes(&[0; 16])],
    )?;
    let codes = tx.execute(
        "DELETE FROM sign_in_codes WHERE created_at < ?1",
        &[Value::Int(code::counted_since(now).micros())],
    )?;
    Ok(sessions + links + codes)
}
