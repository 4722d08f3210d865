//! What a reader connection of SQLite remembers, as long as the database stays as it is.
//!
//! A look-up that every request makes need not be made again when nothing was committed since: SQLite counts the
//! commits of all other connections and processes (`PRAGMA data_version`), and asking costs a tenth of the look-up.
//! What is remembered is therefore as true as what would be read.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::Connection;

use super::fault::Fault;

/// What one connection remembers; beyond this it starts over.
const KEPT_MAX: usize = 256;

#[derive(Default)]
pub(super) struct Memo {
    version: i64,
    kept: HashMap<[u8; 32], Arc<dyn Any + Send + Sync>>,
}

impl Memo {
    /// What is remembered under the key, if nothing has changed since.
    pub(super) fn get<T: Any + Send + Sync>(
        &mut self,
        connection: &Connection,
        key: &[u8; 32],
    ) -> Result<Option<Arc<T>>, Fault> {
        let version = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get(0))?;
        if version != self.version {
            self.version = version;
            self.kept.clear();
        }
        let found = self.kept.get(key).map(Arc::clone);
        Ok(found.and_then(|found| found.downcast().ok()))
    }

    /// Remembers what was read after the last `get`.
    pub(super) fn keep<T: Any + Send + Sync>(&mut self, key: [u8; 32], found: &Arc<T>) {
        if self.kept.len() >= KEPT_MAX {
            self.kept.clear();
        }
        self.kept.insert(key, Arc::clone(found) as _);
    }
}
