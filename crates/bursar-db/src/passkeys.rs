//! Passkeys of people.

use bursar_domain::Timestamp;
use bursar_domain::ids::UserId;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::sign_in::passkey::StoredPasskey;

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
