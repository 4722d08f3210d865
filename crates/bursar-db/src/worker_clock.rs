//! The last time that a worker trusted, stored so that a clock that jumps is noticed.

use bursar_domain::Timestamp;

use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::inspect;
use crate::rows::{read, record};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    pub seen: Option<Seen>,
    /// The furthest change clock of all organizations. Only read if no worker has trusted a time yet.
    pub furthest_change: Option<Timestamp>,
    /// `None` on SQLite.
    pub server_now: Option<Timestamp>,
}

/// A time that a worker trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub at: Timestamp,
    /// Since when workers have seen time pass without a gap of more than an hour.
    pub steady_since: Timestamp,
}

record! { seen_columns: Seen { at = "seen_at", steady_since } }

/// Reads the server's time last, so that it is as recent as possible.
pub fn known(tx: &mut Tx<'_>) -> Result<Known, DbError> {
    let seen = tx.first(
        concat!("SELECT ", seen_columns!(), " FROM worker_clock WHERE id = 1"),
        &[],
        read,
    )?;
    Ok(Known {
        seen,
        furthest_change: match seen {
            Some(_) => None,
            None => inspect::furthest_clock(tx)?.map(|(_, at)| at),
        },
        server_now: match tx.kind() {
            EngineKind::Sqlite => None,
            EngineKind::Postgres => Some(inspect::server_now(tx)?),
        },
    })
}

pub fn saw(tx: &mut Tx<'_>, seen: Seen) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO worker_clock (id, seen_at, steady_since) VALUES (1, ?1, ?2) \
         ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, steady_since = excluded.steady_since",
        &[
            Value::Int(seen.at.micros()),
            Value::Int(seen.steady_since.micros()),
        ],
    )
    .map(drop)
}
