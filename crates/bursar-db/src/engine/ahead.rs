//! What a read will probably ask, so that it can be sent before the read runs.

use super::tx::Locking;
use super::value::{OwnedValue, Value};

/// A statement with its values. A read that asks exactly this gets the response that is already on its way. It changes
/// what a read costs and never what it finds: PostgreSQL runs the statements in the order in which they were sent.
#[derive(Debug, Clone)]
pub struct Foreseen {
    pub(super) sql: &'static str,
    pub(super) locking: Locking,
    pub(super) params: Vec<OwnedValue>,
}

impl Foreseen {
    pub fn new(sql: &'static str, params: &[Value<'_>]) -> Self {
        Foreseen {
            sql,
            locking: Locking::Not,
            params: params.iter().copied().map(OwnedValue::from).collect(),
        }
    }

    /// What `first_locked` asks.
    pub(crate) fn locked(sql: &'static str, params: &[Value<'_>]) -> Self {
        Foreseen {
            locking: Locking::Lock,
            ..Foreseen::new(sql, params)
        }
    }
}
