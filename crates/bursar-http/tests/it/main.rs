//! The edge, tested from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on stops here; clippy's own exemption covers test functions, not their helpers"
)]

mod address;
mod limits;
mod limits_redis;
mod limits_redis_kinds;
mod listen;
mod listen_slow;
