//! Webhook endpoints: how a delivery is signed, where it may go, and when it is retried.

pub mod address;
pub mod back_off;
pub mod outcome;
pub mod reach;
pub mod retry_after;
pub mod signing;
