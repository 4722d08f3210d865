//! What one may do with bursar: one operation, one function, whoever asks.
//!
//! API, console, command line and worker call the same functions here. They are synchronous, take the time and
//! the source of ids from their caller, and do everything of one act in one transaction: the change, its
//! history, its activity line, its idempotency record and its outbox messages.

pub mod act;
pub mod activity;
pub mod bundle;
pub mod campaigns;
pub mod cards;
pub mod chapters;
pub mod check;
pub mod copy;
pub mod dues;
mod error;
pub mod export;
pub mod groups;
pub mod import;
pub mod lists;
pub mod members;
pub mod messages;
pub mod notices;
pub mod officers;
pub mod organizations;
pub mod outbox;
pub mod payments;
pub mod policy;
pub mod recipients;
pub mod reimbursements;
pub mod reminders;
pub mod reports;
pub mod roles;
pub mod roster;
pub mod sms;
pub mod spreadsheet;
pub mod store;
pub mod tokens;
pub mod undo;

pub use act::{Act, Actor, Context};
pub use error::AppError;

/// Tells the time.
pub type WallClock = std::sync::Arc<dyn Fn() -> bursar_domain::Timestamp + Send + Sync>;
