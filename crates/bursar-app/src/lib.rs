//! What one may do with bursar: one operation, one function, whoever asks.
//!
//! API, console, command line and worker call the same functions here. They are synchronous, take the time and
//! the source of ids from their caller, and do everything of one act in one transaction: the change, its
//! history, its activity line, its idempotency record and its outbox messages.

pub mod act;
pub mod bundle;
pub mod check;
pub mod copy;
mod error;
pub mod export;
pub mod import;
pub mod organizations;
pub mod roles;

pub use act::{Act, Actor, Context};
pub use error::AppError;
