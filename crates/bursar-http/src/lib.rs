//! The edge of an HTTP server: connections, framing, bodies, rate limits, the log, metrics.
//!
//! It knows nothing of bursar: what a request means is the business of the [`listen::Service`] that is mounted on it,
//! and values of others are only shown ([`std::fmt::Display`]) or counted by their bytes.

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
