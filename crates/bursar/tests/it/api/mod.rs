//! The API from outside: the real binary, real sockets, both engines.

mod access;
pub(crate) mod bundle;
mod cards;
mod chapters;
mod commands;
mod credentials;
mod edge;
mod errors;
mod events;
mod groups;
mod hostile;
pub(crate) mod http;
mod idempotency;
mod leap;
mod life;
mod limits;
mod members;
mod more_lists;
mod order;
mod readiness;
mod remembered;
mod reminders;
mod resources;
mod round_trips;
mod walks;
pub(crate) mod world;
