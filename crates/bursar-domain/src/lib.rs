//! The rules of bursar: values, resources, states and access.
//!
//! This crate decides and never acts. It reads no clock, no randomness and no environment, and knows neither
//! SQL nor HTTP. Time and entropy are passed in; what is not allowed is returned as a [`Refusal`].

pub mod access;
pub mod account;
pub mod aside;
pub mod attachment;
pub mod autopay;
pub mod campaign;
pub mod card;
pub mod catch_up;
pub mod chapter;
pub mod creditor_reference;
pub mod cursor;
pub mod email;
pub mod erasure;
pub mod event;
pub mod fields;
pub mod group;
pub mod iban;
pub mod ids;
pub mod journal;
pub mod late_fee;
pub mod listing;
pub mod matching;
pub mod member;
pub mod member_access;
pub mod message;
pub mod money;
pub mod online;
pub mod order;
pub mod organization;
pub mod page;
pub mod payment;
pub mod pro_rata;
pub mod receipt;
pub mod refusal;
pub mod reimbursement;
pub mod reminder;
pub mod resource;
pub mod sealed;
pub mod search;
pub mod sign_in;
pub mod statement;
pub mod states;
pub mod template;
pub mod text;
pub mod time;
pub mod token;
pub mod webhook;
pub mod zone;

pub use refusal::Refusal;
pub use resource::{Invariants, Reference, Resource, Stamps, Surroundings, check_dates};
pub use time::{Date, Timestamp};
