//! What a reader connection of SQLite remembers while nothing is committed.
//!
//! Every request makes the same look-ups. SQLite counts the commits of all other connections and processes (`PRAGMA
//! data_version`), and a read starts by asking for the count in its own snapshot. If it has not changed, what is
//! remembered is what a new look-up would find.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Entries per connection. Beyond this it starts over.
const KEPT_MAX: usize = 256;

#[derive(Default)]
pub(super) struct Memo {
    version: i64,
    kept: BTreeMap<[u8; 32], Arc<dyn Any + Send + Sync>>,
}

impl Memo {
    /// Forgets everything if the snapshot has another version. Returns whether it has.
    pub(super) fn renew(&mut self, version: i64) -> bool {
        let is_other = version != self.version;
        if is_other {
            self.version = version;
            self.kept.clear();
        }
        is_other
    }

    pub(super) fn get<T: Any + Send + Sync>(&self, key: &[u8; 32]) -> Option<Arc<T>> {
        let found = self.kept.get(key).map(Arc::clone);
        found.and_then(|found| found.downcast().ok())
    }

    /// `found` must come from the snapshot of the current version.
    pub(super) fn keep<T: Any + Send + Sync>(&mut self, key: [u8; 32], found: &Arc<T>) {
        if self.kept.len() >= KEPT_MAX {
            self.kept.clear();
        }
        self.kept.insert(key, Arc::clone(found) as _);
    }
}
