//! What a request will probably ask of the database, so that on PostgreSQL it travels with the look-up of its caller.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use bursar_db::{Foreseen, Stored, idempotency, organizations, table, tokens};
use bursar_domain::Timestamp;
use bursar_domain::ids::{Id, OrganizationId};
use bursar_domain::token::TokenHash;

use crate::caller::TokenCaller;

/// Tokens that are remembered. Beyond this it starts over.
const HOMES_MAX: usize = 10_000;

/// What follows the look-up of a token, given where it was found before.
pub struct Next(Box<dyn FnOnce(Home) -> Foreseen + Send>);

/// What stays the same as long as there is the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    organization: OrganizationId,
    principal: [u8; 16],
}

impl Next {
    /// One resource as JSON.
    pub fn document<R: Stored>(id: Id<R::Kind>) -> Self {
        Self(Box::new(move |home| {
            table::document_foreseen::<R>(home.organization, id)
        }))
    }

    /// One resource.
    pub fn resource<R: Stored>(id: Id<R::Kind>) -> Self {
        Self(Box::new(move |home| {
            table::get_foreseen::<R>(home.organization, id)
        }))
    }

    /// The organization itself.
    pub fn own() -> Self {
        Self(Box::new(|home| organizations::get_foreseen(home.organization)))
    }

    /// An idempotency key, unless it was used before `since`.
    pub fn key(key: String, since: Timestamp) -> Self {
        Self(Box::new(move |home| {
            idempotency::get_foreseen(home.organization, home.principal, &key, since)
        }))
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}

impl From<&TokenCaller> for Home {
    fn from(caller: &TokenCaller) -> Self {
        Self {
            organization: caller.organization(),
            principal: caller.principal(),
        }
    }
}

/// Where tokens were found. A token stays in its organization and with its user. What it may do there is looked up each
/// time: this only tells where to look next, and a response for another organization would never be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes(Arc<RwLock<HashMap<TokenHash, Home>>>);

impl Homes {
    pub(crate) fn learn(&self, hash: &TokenHash, home: Home) {
        if self.get(hash) == Some(home) {
            return;
        }
        let mut homes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if homes.len() >= HOMES_MAX {
            homes.clear();
        }
        homes.insert(*hash, home);
    }

    fn get(&self, hash: &TokenHash) -> Option<Home> {
        let homes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        homes.get(hash).copied()
    }

    /// The look-up of a token, and what is next.
    pub(crate) fn ahead(&self, hash: &TokenHash, next: impl IntoIterator<Item = Next>) -> Vec<Foreseen> {
        let mut ahead = Vec::with_capacity(2);
        ahead.push(tokens::by_hash_foreseen(hash));
        if let Some(home) = self.get(hash) {
            ahead.extend(next.into_iter().map(|Next(foresee)| foresee(home)));
        }
        ahead
    }
}
