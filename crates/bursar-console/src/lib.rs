//! The console: pages for the officers of an organization, rendered here, with real links and real forms.
//!
//! A handler parses, calls `bursar-app` and renders. No rule lives here: a page asks the list of rules what the person
//! may do, and shows nothing else. The console reads its cookie and never a bearer token.

mod account;
mod acting;
mod address;
mod asking;
mod assets;
mod cookies;
mod failure;
mod forms;
mod frame;
mod icons;
mod member;
mod oidc;
mod pages;
mod passkeys;
mod questions;
mod reply;
mod routes;
mod serve;
mod sheet;
mod sign_in;
mod words;

pub use frame::Webhooks;
pub use oidc::OidcSettings;
pub use routes::{PageRule, page_rules};
pub use serve::{Console, Options};
