//! bursar's database: one SQL text on SQLite and PostgreSQL.
//!
//! This is the only crate that contains SQL. Every query on tenant data takes the organization first. Everything is
//! synchronous; the engine runs it on its own threads.

pub mod accounts;
pub mod activity;
pub mod applications;
pub mod aside;
pub mod attachments;
pub mod audit;
pub mod autopay;
mod begin_books;
pub mod bulk;
pub mod cards;
pub mod ceremonies;
mod chapters;
pub mod charges;
pub mod clock;
pub mod desk;
pub mod due;
mod engine;
pub mod erasure;
mod error;
pub mod events;
pub mod housekeeping;
pub mod idempotency;
pub mod inspect;
pub mod journal;
pub mod late_fees;
pub mod logins;
pub mod member_access;
pub mod memberships;
pub mod messages;
pub mod names;
pub mod online;
pub mod open_charges;
pub mod organizations;
pub mod outbox;
pub mod pages;
pub mod passkeys;
pub mod private;
pub mod receipts;
pub mod recipients;
pub mod reports;
pub mod resources;
mod rows;
mod schema;
pub mod sign_in;
pub mod statements;
mod sums;
pub mod table;
pub mod tables;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tokens;
pub mod uploads;
pub mod walk;
pub mod webhooks;
pub mod worker_clock;

pub use engine::{
    ColumnType, DatabaseUrl, Db, EngineKind, Foreseen, LoadTarget, Opening, Options, OwnedValue, PostgresUrl,
    Reply, Row, Stats, TlsMode, Tx, Value, in_use,
};
pub use error::DbError;
pub use table::Stored;

pub fn schema_version() -> i64 {
    i64::try_from(schema::STEPS.len()).unwrap_or(i64::MAX)
}
