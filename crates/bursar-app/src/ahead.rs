//! What a request will probably find in the database and ask of it, so that on PostgreSQL it waits less often.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use bursar_db::{Foreseen, Stored, idempotency, organizations, table, tokens};
use bursar_domain::Timestamp;
use bursar_domain::ids::Id;
use bursar_domain::token::TokenHash;

use crate::caller::TokenCaller;

/// Tokens that are remembered. Beyond this it starts over.
const REMEMBERED_MAX: usize = 10_000;

/// What follows the look-up of a token, given what was found before.
pub struct Next(Box<dyn FnOnce(&TokenCaller) -> Foreseen + Send>);

impl Next {
    /// One resource as JSON.
    pub fn document<R: Stored>(id: Id<R::Kind>) -> Self {
        Self(Box::new(move |caller| {
            table::document_foreseen::<R>(caller.organization(), id)
        }))
    }

    /// One resource.
    pub fn resource<R: Stored>(id: Id<R::Kind>) -> Self {
        Self(Box::new(move |caller| {
            table::get_foreseen::<R>(caller.organization(), id)
        }))
    }

    /// The organization itself.
    pub fn own() -> Self {
        Self(Box::new(|caller| {
            organizations::get_foreseen(caller.organization())
        }))
    }

    /// An idempotency key, unless it was used before `since`.
    pub fn key(key: String, since: Timestamp) -> Self {
        Self(Box::new(move |caller| {
            idempotency::get_foreseen(caller.organization(), caller.principal(), &key, since)
        }))
    }
}

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Next")
    }
}

/// What the last look-up of each token found. It decides nothing, for every request is looked up anew: it tells where to
/// look, and what a change can be planned with until its own look-up confirms it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remembered(Arc<RwLock<HashMap<TokenHash, TokenCaller>>>);

impl Remembered {
    pub(crate) fn learn(&self, hash: &TokenHash, found: Option<&TokenCaller>) {
        match (found, self.get(hash)) {
            (None, None) => {}
            (None, Some(_)) => {
                self.change(|all| all.remove(hash));
            }
            (Some(caller), Some(before)) if caller.is_as(&before) => {}
            (Some(caller), _) => self.change(|all| {
                if all.len() >= REMEMBERED_MAX {
                    all.clear();
                }
                all.insert(*hash, caller.clone());
            }),
        }
    }

    pub(crate) fn get(&self, hash: &TokenHash) -> Option<TokenCaller> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(hash).cloned()
    }

    fn change<T>(&self, work: impl FnOnce(&mut HashMap<TokenHash, TokenCaller>) -> T) -> T {
        work(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// The look-up of a token, and what is next.
    pub(crate) fn ahead(&self, hash: &TokenHash, next: impl IntoIterator<Item = Next>) -> Vec<Foreseen> {
        let mut ahead = Vec::with_capacity(2);
        ahead.push(tokens::by_hash_foreseen(hash));
        if let Some(caller) = self.get(hash) {
            ahead.extend(next.into_iter().map(|Next(foresee)| foresee(&caller)));
        }
        ahead
    }
}
