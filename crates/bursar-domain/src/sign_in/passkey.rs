//! Passkeys: keys in a person's device, which prove who they are.

use super::SecretHash;
use crate::ids::UserId;
use crate::time::Timestamp;

/// How long a browser may take over a ceremony.
const CEREMONY_SECONDS: i64 = 5 * 60;
/// Passkeys of one person.
pub const MAX: usize = 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPasskey {
    /// Of the credential's id.
    pub hash: SecretHash,
    pub user: UserId,
    /// What the person calls it.
    pub name: String,
    /// The public key and its counter, as the library for passkeys writes them.
    pub credential: String,
    pub created_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

/// Ceremonies begun before this have ended.
pub fn ceremonies_end(now: Timestamp) -> Timestamp {
    now.plus_seconds(-CEREMONY_SECONDS)
}
