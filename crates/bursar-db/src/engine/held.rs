//! Rows that a batch holds: read by its first job that needs them, written once before the commit.

use super::ahead::Foreseen;
use super::tx::Locking;
use super::value::{OwnedValue, Value};

/// The key of a row, and what a job leaves to the next.
pub(super) type Key = [u8; 16];
pub(super) type Left = [i64; 4];

/// A row that the transaction has locked and changes before its commit.
#[derive(Debug, Clone)]
struct Held {
    key: Key,
    left: Left,
    sql: &'static str,
    params: Vec<OwnedValue>,
}

/// The rows that the jobs of a batch hold. What a job changed counts from its mark on.
#[derive(Debug, Default)]
pub(super) struct HeldRows {
    /// What the batch found when it locked rows for its jobs.
    claimed: Vec<(Key, Left)>,
    now: Vec<Held>,
    marked: Vec<Held>,
}

impl HeldRows {
    pub(super) fn left(&self, key: &Key) -> Option<Left> {
        let held = self.now.iter().find(|held| held.key == *key);
        let claimed = || self.claimed.iter().find(|(claimed, _)| claimed == key);
        held.map(|held| held.left)
            .or_else(|| claimed().map(|(_, left)| *left))
    }

    pub(super) fn claim(&mut self, key: Key, left: Left) {
        self.claimed.push((key, left));
    }

    /// Whether a job that wants to lock this row need not ask.
    pub(super) fn answers(&self, foreseen: &Foreseen) -> bool {
        let is_claimed = |value| self.claimed.iter().any(|(key, _)| value == Value::Bytes(key));
        foreseen.locking == Locking::Lock && foreseen.values().next().is_some_and(is_claimed)
    }

    pub(super) fn put(&mut self, key: Key, left: Left, sql: &'static str, params: &[Value<'_>]) {
        self.now.retain(|held| held.key != key);
        self.now.push(Held {
            key,
            left,
            sql,
            params: params.iter().copied().map(OwnedValue::from).collect(),
        });
    }

    pub(super) fn mark(&mut self) {
        self.marked.clone_from(&self.now);
    }

    pub(super) fn undo(&mut self) {
        self.now.clone_from(&self.marked);
    }

    pub(super) fn clear(&mut self) {
        self.claimed.clear();
        self.now.clear();
        self.marked.clear();
    }

    /// The statements that write them.
    pub(super) fn writes(&self) -> impl Iterator<Item = (&'static str, Vec<Value<'_>>)> {
        self.now
            .iter()
            .map(|held| (held.sql, held.params.iter().map(OwnedValue::as_value).collect()))
    }
}
