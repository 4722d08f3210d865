//! Logins of people at an OpenID Connect provider.

use bursar_domain::Timestamp;
use bursar_domain::ids::UserId;
use bursar_domain::sign_in::login::Login;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

record! { login_columns: Login { issuer, subject, email, user = "user_id", created_at, used_at } }

pub fn insert(tx: &mut Tx<'_>, login: &Login) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO logins (issuer, subject, email, user_id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[
            Value::Text(&login.issuer),
            Value::Text(&login.subject),
            Value::Text(&login.email),
            Value::Bytes(&login.user.to_bytes()),
            Value::Int(login.created_at.micros()),
        ],
    )
    .map(drop)
}

pub fn get(tx: &mut Tx<'_>, issuer: &str, subject: &str) -> Result<Option<Login>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            login_columns!(),
            " FROM logins WHERE issuer = ?1 AND subject = ?2"
        ),
        &[Value::Text(issuer), Value::Text(subject)],
        read,
    )
}

/// The oldest first.
pub fn of(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<Login>, DbError> {
    tx.rows(
        concat!(
            "SELECT ",
            login_columns!(),
            " FROM logins WHERE user_id = ?1 ORDER BY created_at, issuer, subject"
        ),
        &[Value::Bytes(&user.to_bytes())],
        read,
    )
}

pub fn used(tx: &mut Tx<'_>, issuer: &str, subject: &str, at: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE logins SET used_at = ?3 WHERE issuer = ?1 AND subject = ?2",
        &[Value::Text(issuer), Value::Text(subject), Value::Int(at.micros())],
    )
    .map(drop)
}

pub fn remove(tx: &mut Tx<'_>, login: &Login) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM logins WHERE issuer = ?1 AND subject = ?2 AND user_id = ?3",
        &[
            Value::Text(&login.issuer),
            Value::Text(&login.subject),
            Value::Bytes(&login.user.to_bytes()),
        ],
    )
    .map(drop)
}
