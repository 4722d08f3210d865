//! The HTTP edge: sockets, the way of a request, and the pages beside the API.

pub mod address;
mod body;
pub mod error;
pub mod handlers;
mod inflight;
pub mod limits;
pub mod listen;
mod lists;
pub mod metrics;
/// Stand-in until the real files are here; replace both by `pub mod openapi; pub mod pages;`.
pub mod openapi { /// x
    pub fn document(_: &str) -> serde_json::Value { serde_json::json!({}) } }
/// Stand-in.
pub mod pages { /// x
    pub struct Page { /// x
        pub content_type: &'static str, /// x
        pub body: std::borrow::Cow<'static, [u8]> } /// x
    pub fn page(_: &str, _: &str) -> Option<Page> { None } }
pub mod plan;
pub mod query;
mod reply;
pub mod routes;
pub mod serve;
mod site;

pub use inflight::InFlight;
pub use site::Site;
