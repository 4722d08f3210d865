//! The edge of an HTTP server: connections, framing, bodies, rate limits, log and metrics.
//!
//! It knows nothing of bursar: a [`listen::Service`] decides what a request means, and values from other crates are
//! only displayed ([`std::fmt::Display`]) or counted by their bytes.

pub mod address;
pub mod body;
pub mod framing;
pub mod limits;
pub mod listen;
pub mod log;
pub mod metrics;
pub mod reply;
pub mod request_log;
pub mod terminal;
