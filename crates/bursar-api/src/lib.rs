//! The API under `/v1`, and the docs and health pages beside it.

mod call;
pub mod error;
pub mod handlers;
mod lists;
mod lookups;
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

pub use lookups::Lookups;
pub use ready::Readiness;
pub use site::Site;
