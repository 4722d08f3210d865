//! Sign-ins under way, each with one browser. What is kept of one is for whoever began it to read.

use bursar_domain::Timestamp;
use bursar_domain::sign_in::{SecretHash, login};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;

pub fn begin(tx: &mut Tx<'_>, browser: &SecretHash, state: &str, now: Timestamp) -> Result<(), DbError> {
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

/// The browser's ceremony, if it began after this time. It goes on.
pub fn get(tx: &mut Tx<'_>, browser: &SecretHash, after: Timestamp) -> Result<Option<String>, DbError> {
    tx.first(
        "SELECT state FROM ceremonies WHERE browser = ?1 AND created_at > ?2",
        &[Value::Bytes(&browser.0), Value::Int(after.micros())],
        read,
    )
}

/// Ends the browser's ceremony. Of several who try at once, one gets it, with its time, if it began after `after`.
pub fn take(
    tx: &mut Tx<'_>,
    browser: &SecretHash,
    after: Timestamp,
) -> Result<Option<(String, Timestamp)>, DbError> {
    let taken: Option<(String, Timestamp)> = tx.first(
        "DELETE FROM ceremonies WHERE browser = ?1 RETURNING state, created_at",
        &[Value::Bytes(&browser.0)],
        read,
    )?;
    Ok(taken.filter(|(_, created_at)| *created_at > after))
}

/// Removes ceremonies that were not finished. Returns how many. A login may take the longest.
pub fn prune(tx: &mut Tx<'_>, now: Timestamp) -> Result<u64, DbError> {
    tx.execute(
        "DELETE FROM ceremonies WHERE created_at < ?1",
        &[Value::Int(login::ceremonies_end(now).micros())],
    )
}
