//! What a request will probably read, so that on PostgreSQL it travels with the look-up of its token.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use bursar_db::{Foreseen, Stored, table, tokens};
use bursar_domain::ids::{Id, OrganizationId};
use bursar_domain::token::TokenHash;

/// Organizations that are remembered. Beyond this it starts over.
const HOMES_MAX: usize = 10_000;

/// What follows the look-up of a token, if the token is of the organization that it was of before.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    id: [u8; 16],
    statement: fn(OrganizationId, [u8; 16]) -> Foreseen,
}

impl Next {
    /// One resource as JSON, by its id.
    pub fn one<R: Stored>(id: Id<R::Kind>) -> Self {
        Self {
            id: id.to_bytes(),
            statement: |organization, id| table::document_foreseen::<R>(organization, Id::from_bytes(id)),
        }
    }
}

/// Which organization a token was found in. A token stays in its organization. What it may do there is looked up each
/// time: this only tells where to look next, and a response for another organization would never be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Homes(Arc<RwLock<HashMap<TokenHash, OrganizationId>>>);

impl Homes {
    pub(crate) fn learn(&self, hash: &TokenHash, organization: OrganizationId) {
        if self.get(hash) == Some(organization) {
            return;
        }
        let mut homes = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if homes.len() >= HOMES_MAX {
            homes.clear();
        }
        homes.insert(*hash, organization);
    }

    fn get(&self, hash: &TokenHash) -> Option<OrganizationId> {
        let homes = self.0.read().unwrap_or_else(PoisonError::into_inner);
        homes.get(hash).copied()
    }

    pub(crate) fn ahead(&self, hash: &TokenHash, next: Option<Next>) -> Vec<Foreseen> {
        let mut ahead = Vec::with_capacity(2);
        ahead.push(tokens::by_hash_foreseen(hash));
        if let Some(next) = next
            && let Some(organization) = self.get(hash)
        {
            ahead.push((next.statement)(organization, next.id));
        }
        ahead
    }
}
