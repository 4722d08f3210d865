//! Passkeys of people, and ceremonies under way.

use bursar_domain::Timestamp;
use bursar_domain::ids::UserId;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::passkey::{StoredPasskey, ceremonies_end};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

record! { passkey_columns: StoredPasskey { hash, user = "user_id", name, credential, created_at, used_at } }

pub fn insert(tx: &mut Tx<'_>, passkey: &StoredPasskey) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO passkeys (hash, user_id, name, credential, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[
            Value::Bytes(&passkey.hash.0),
            Value::Bytes(&passkey.user.to_bytes()),
            Value::Text(&passkey.name),
            Value::Text(&passkey.credential),
            Value::Int(passkey.created_at.micros()),
        ],
    )
    .map(drop)
}

pub fn get(tx: &mut Tx<'_>, hash: &SecretHash) -> Result<Option<StoredPasskey>, DbError> {
    tx.first(
        concat!("SELECT ", passkey_columns!(), " FROM passkeys WHERE hash = ?1"),
        &[Value::Bytes(&hash.0)],
        read,
    )
}

/// The oldest first.
pub fn of(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<StoredPasskey>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            passkey_columns!(),
            " FROM passkeys WHERE user_id = ?1 ORDER BY created_at, hash"
        ),
        &[Value::Bytes(&user.to_bytes())],
        read,
    )
}

/// Stores the key's new counter and the time.
pub fn used(tx: &mut Tx<'_>, hash: &SecretHash, credential: &str, at: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE passkeys SET credential = ?2, used_at = ?3 WHERE hash = ?1",
        &[
            Value::Bytes(&hash.0),
            Value::Text(credential),
            Value::Int(at.micros()),
        ],
    )
    .map(drop)
}

/// Returns whether the person had it.
pub fn remove(tx: &mut Tx<'_>, user: UserId, hash: &SecretHash) -> Result<bool, DbError> {
    let rows = tx.execute(
        "DELETE FROM passkeys WHERE hash = ?1 AND user_id = ?2",
        &[Value::Bytes(&hash.0), Value::Bytes(&user.to_bytes())],
    )?;
    Ok(rows > 0)
}

pub fn begin_ceremony(
    tx: &mut Tx<'_>,
    browser: &SecretHash,
    state: &str,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO ceremonies (browser, state, created_at) VALUES (?1, ?2, ?3)",
        &[
            Value::Bytes(&browser.0),
            Value::Text(state),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// Ends the browser's ceremony. Of several who try at once, one gets it.
pub fn take_ceremony(
    tx: &mut Tx<'_>,
    browser: &SecretHash,
    now: Timestamp,
) -> Result<Option<String>, DbError> {
    let taken: Option<(String, Timestamp)> = tx.first(
        "DELETE FROM ceremonies WHERE browser = ?1 RETURNING state, created_at",
        &[Value::Bytes(&browser.0)],
        read,
    )?;
    let in_time = taken.filter(|(_, created_at)| *created_at > ceremonies_end(now));
    Ok(in_time.map(|(state, _)| state))
}

/// Removes ceremonies that were not finished. Returns how many.
pub fn prune(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, DbError> {
    tx.execute(
        "DELETE FROM ceremonies WHERE created_at < ?1",
        &[Value::Int(ceremonies_end(now).micros())],
    )
}
