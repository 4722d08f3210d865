//! Every operation of bursar, one function each.
//!
//! The API, the command line and the worker call the same functions. They are synchronous, receive the time and the
//! id source, and do everything of one act in one transaction: the change, its history, its events, its activity line, its
//! idempotency record and its outbox messages.

pub mod act;
pub mod activity;
mod ahead;
pub mod attachments;
pub mod audit;
pub mod backlog;
pub mod books;
mod bulk;
pub mod bundle;
mod caller;
pub mod campaigns;
pub mod cards;
pub mod chapters;
pub mod check;
pub mod copy;
pub mod desk;
mod door;
pub mod dues;
mod error;
pub mod events;
pub mod export;
pub mod groups;
pub mod housekeeping;
pub mod import;
pub mod inspect;
pub mod journal_export;
pub mod late_fees;
pub mod letter;
pub mod lists;
pub mod member_access;
pub mod member_page;
pub mod member_statement;
pub mod members;
pub mod messages;
pub mod names;
pub mod notices;
mod once;
pub mod online;
pub mod organizations;
pub mod outbox;
pub mod pages;
pub mod payments;
mod personal;
pub mod policy;
pub mod preview;
pub mod privacy;
pub mod pro_rata;
pub mod recipients;
pub mod reimbursements;
pub mod reminders;
pub mod reports;
pub mod resources;
pub mod roles;
pub mod roster;
mod rule;
mod rules;
pub mod search;
pub mod secrets;
pub mod setup;
pub mod sign_in;
pub mod sms;
pub mod spreadsheet;
pub mod statement;
pub mod statements;
pub mod store;
pub mod texts;
pub mod tokens;
pub mod undo;
pub mod uploads;
pub mod webhooks;
pub mod worker_clock;

/// The database itself, for tests that need what no operation does.
#[cfg(feature = "testing")]
pub mod testing {
    pub use bursar_db::testing::*;
    pub use bursar_db::*;
}

pub use act::{Act, Looking, NO_ORGANIZATION, View, Whole};
pub use ahead::Next;
pub use bursar_db::{
    DatabaseUrl, DbError, EngineKind, Opening, Options, Reply, TlsMode, in_use, private, schema_version,
};
pub use caller::{Caller, Identity, MemberProof, TokenCaller};
pub use door::{App, Doing, Visit, WallClock};
pub use error::AppError;
pub use once::{Once, Output};
pub use rule::Rule;
pub use rules::rules;
