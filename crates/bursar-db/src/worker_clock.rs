//! The last time that a worker trusted, kept so that a clock that leaps is noticed.

use bursar_domain::Timestamp;

use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::inspect;
use crate::rows::{read, record};

/// What the database knows of the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// The last time that a worker trusted.
    pub seen: Option<Seen>,
    /// The furthest change clock of all organizations, where no worker has trusted a time yet.
    pub furthest_change: Option<Timestamp>,
    /// The time of the database server, where there is one.
    pub server_now: Option<Timestamp>,
}

/// A time that a worker trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The last one.
    pub at: Timestamp,
    /// When workers began to see the time pass without a gap of more than an hour.
    pub steady_since: Timestamp,
}

record! { seen_columns: Seen { at = "seen_at", steady_since } }

/// Reads it. The server's time comes last, so that it is as new as it can be.
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

/// Writes down a time that is trusted.
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

/// Forgets it, before the rows of another database take its place.
pub fn forget(tx: &mut Tx<'_>) -> Result<(), DbError> {
    tx.execute("DELETE FROM worker_clock", &[]).map(drop)
}
