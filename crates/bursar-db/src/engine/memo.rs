//! What a reader connection of SQLite remembers, as long as the database stays as it is.
//!
//! A look-up that every request makes need not be made again when nothing was committed since: SQLite counts the
//! commits of all other connections and processes (`PRAGMA data_version`), and a read starts by asking for the count,
//! in its own snapshot. What is remembered is therefore as true as what would be read.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

/// What one connection remembers; beyond this it starts over.
const KEPT_MAX: usize = 256;

#[derive(Default)]
pub(super) struct Memo {
    version: i64,
    kept: HashMap<[u8; 32], Arc<dyn Any + Send + Sync>>,
}

impl Memo {
    /// Forgets everything when the version of the snapshot is another one; whether it is.
    pub(super) fn renew(&mut self, version: i64) -> bool {
        let is_other = version != self.version;
        if is_other {
            self.version = version;
            self.kept.clear();
        }
        is_other
    }

    /// What is remembered under the key.
    pub(super) fn get<T: Any + Send + Sync>(&self, key: &[u8; 32]) -> Option<Arc<T>> {
        let found = self.kept.get(key).map(Arc::clone);
        found.and_then(|found| found.downcast().ok())
    }

    /// Remembers what was read in the snapshot of this version.
    pub(super) fn keep<T: Any + Send + Sync>(&mut self, key: [u8; 32], found: &Arc<T>) {
        if self.kept.len() >= KEPT_MAX {
            self.kept.clear();
        }
        self.kept.insert(key, Arc::clone(found) as _);
    }
}
