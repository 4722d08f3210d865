//! The API's documents, compared with what they describe.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on stops here; clippy's own exemption covers test functions, not their helpers"
)]

mod openapi;
