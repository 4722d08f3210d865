//! Ways into the console: a link that works once, a mailed code, a passkey, a login elsewhere, and the session that each
//! begins.

pub mod code;
pub mod login;
pub mod passkey;

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use crate::ids::UserId;
use crate::time::Timestamp;

/// For one secret.
pub const ENTROPY_BYTES: usize = 32;

const LINK_SECONDS: i64 = 15 * 60;
const IDLE_SECONDS: i64 = 12 * 3_600;
const SESSION_SECONDS: i64 = 30 * 86_400;
/// The time of the last request is stored at most this often.
const SEEN_EVERY_SECONDS: i64 = 60;
/// Acts that ask for a recent sign-in accept one of this age.
const FRESH_SECONDS: i64 = 30 * 60;

/// What the database keeps of a cookie or a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretHash(pub [u8; 32]);

impl SecretHash {
    pub fn of(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }
}

/// The text of a cookie or of a link's end.
pub fn secret(entropy: &[u8; ENTROPY_BYTES]) -> String {
    let mut text = String::with_capacity(2 * ENTROPY_BYTES);
    for byte in entropy {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A link that signs in once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub user: UserId,
    pub created_at: Timestamp,
}

impl Link {
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        now < self.created_at.plus_seconds(LINK_SECONDS)
    }
}

/// Links made before this have ended.
pub fn links_end(now: Timestamp) -> Timestamp {
    now.plus_seconds(-LINK_SECONDS)
}

/// A signed-in browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub hash: SecretHash,
    pub user: UserId,
    pub started_at: Timestamp,
    /// Of the last request, to the minute.
    pub seen_at: Timestamp,
    /// When the person last proved who they are.
    pub signed_in_at: Timestamp,
    /// What the browser calls itself.
    pub agent: String,
}

impl Session {
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        now < self.ends_at()
    }

    pub fn ends_at(&self) -> Timestamp {
        let idle = self.seen_at.plus_seconds(IDLE_SECONDS);
        idle.min(self.started_at.plus_seconds(SESSION_SECONDS))
    }

    pub fn is_fresh(&self, now: Timestamp) -> bool {
        now < self.signed_in_at.plus_seconds(FRESH_SECONDS)
    }

    /// Whether this request's time is to be stored.
    pub fn must_be_seen(&self, now: Timestamp) -> bool {
        now >= self.seen_at.plus_seconds(SEEN_EVERY_SECONDS)
    }
}

/// Sessions last seen before the first, or started before the second, have ended.
pub fn sessions_end(now: Timestamp) -> (Timestamp, Timestamp) {
    (
        now.plus_seconds(-IDLE_SECONDS),
        now.plus_seconds(-SESSION_SECONDS),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Id;

    const HOUR: i64 = 3_600;

    fn session(started: i64, seen: i64) -> Session {
        Session {
            hash: SecretHash::of("x"),
            user: Id::from_bits(1),
            started_at: at(started),
            seen_at: at(seen),
            signed_in_at: at(started),
            agent: String::new(),
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(0).plus_seconds(seconds)
    }

    #[test]
    fn a_session_ends_when_idle_and_at_its_age() {
        let young = session(0, 2 * HOUR);
        assert!(young.is_in_force(at(14 * HOUR - 1)));
        assert!(!young.is_in_force(at(14 * HOUR)));
        let old = session(0, 30 * 24 * HOUR - 60);
        assert!(old.is_in_force(at(30 * 24 * HOUR - 1)));
        assert!(!old.is_in_force(at(30 * 24 * HOUR)));
    }

    #[test]
    fn a_sign_in_is_fresh_for_half_an_hour() {
        let session = session(0, 0);
        assert!(session.is_fresh(at(HOUR / 2 - 1)));
        assert!(!session.is_fresh(at(HOUR / 2)));
        assert!(!session.must_be_seen(at(59)));
        assert!(session.must_be_seen(at(60)));
    }

    #[test]
    fn a_link_lives_fifteen_minutes() {
        let link = Link {
            user: Id::from_bits(1),
            created_at: at(0),
        };
        assert!(link.is_in_force(at(899)));
        assert!(!link.is_in_force(at(900)));
    }

    #[test]
    fn a_secret_is_all_of_its_entropy() {
        let text = secret(&std::array::from_fn(|i| u8::try_from(i * 7).unwrap()));
        assert_eq!(text.len(), 64);
        assert!(text.starts_with("00070e15"));
        assert_ne!(SecretHash::of(&text), SecretHash::of(&text[1..]));
    }
}
