//! One file a page: what it shows, its form, what the form does.

pub(crate) mod activity;
pub(crate) mod charge;
pub(crate) mod charges;
pub(crate) mod groups;
pub(crate) mod journal;
pub(crate) mod member;
pub(crate) mod member_edit;
pub(crate) mod member_new;
pub(crate) mod members;
pub(crate) mod money;
pub(crate) mod overview;
pub(crate) mod places;
pub(crate) mod problem;
pub(crate) mod raise;
pub(crate) mod record;
pub(crate) mod rows;
pub(crate) mod sessions;
pub(crate) mod setup;
pub(crate) mod signing;
pub(crate) mod undo;
