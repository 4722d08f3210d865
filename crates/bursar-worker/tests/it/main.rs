//! The worker, on both databases and in front of mail and SMS servers.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on stops here; clippy's own exemption covers test functions, not their helpers"
)]

mod apart;
mod clock;
mod dues;
mod late_fees;
mod mail;
mod office;
mod webhooks;
mod years;
