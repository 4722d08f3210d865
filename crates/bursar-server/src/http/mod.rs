//! The HTTP edge: sockets, the way of a request, and the pages beside the API.

pub mod address;
mod body;
pub mod error;
mod framing;
pub mod handlers;
mod inflight;
pub mod limits;
pub mod listen;
mod lists;
pub mod log;
mod lookups;
pub mod metrics;
pub mod openapi;
mod page;
pub mod pages;
pub mod plan;
pub mod query;
mod ready;
mod reply;
pub mod routes;
pub mod serve;
mod site;
mod steps;
mod writes;

pub use inflight::InFlight;
pub use lookups::Lookups;
pub use ready::Readiness;
pub use site::Site;
