//! Ways to a member's own pages: a signed link, or a session that a mailed code began.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::ids::{MemberId, OrganizationId};
use crate::sign_in::code::{TRIES_MAX, expiry};
use crate::sign_in::{ENTROPY_BYTES, SecretHash};
use crate::time::Timestamp;

pub const LINK_DAYS: i64 = 60;
const SESSION_SECONDS: i64 = 60 * 60;

const VERSION: u8 = 1;
const MAC_BYTES: usize = 16;
const BYTES: usize = 1 + 16 + 16 + 8 + MAC_BYTES;

/// Signs the links of one database.
#[derive(Clone, PartialEq, Eq)]
pub struct LinkKey(pub [u8; ENTROPY_BYTES]);

impl std::fmt::Debug for LinkKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkKey")
    }
}

/// What the end of a link says. Whoever has it may see the member's page and pay, until it ends or is revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberLink {
    pub organization: OrganizationId,
    pub member: MemberId,
    pub made_at: Timestamp,
    mac: [u8; MAC_BYTES],
}

impl MemberLink {
    pub fn sign(key: &LinkKey, organization: OrganizationId, member: MemberId, made_at: Timestamp) -> Self {
        let full = mac(key, organization, member, made_at).finalize().into_bytes();
        let mut mac = [0; MAC_BYTES];
        mac.copy_from_slice(&full[..MAC_BYTES]);
        Self {
            organization,
            member,
            made_at,
            mac,
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; BYTES] = URL_SAFE_NO_PAD.decode(text).ok()?.try_into().ok()?;
        let (version, rest) = bytes.split_first()?;
        let (organization, rest) = rest.split_first_chunk::<16>()?;
        let (member, rest) = rest.split_first_chunk::<16>()?;
        let (made_at, rest) = rest.split_first_chunk::<8>()?;
        let link = Self {
            organization: OrganizationId::from_bytes(*organization),
            member: MemberId::from_bytes(*member),
            made_at: Timestamp::from_micros(i64::from_be_bytes(*made_at)),
            mac: rest.try_into().ok()?,
        };
        (*version == VERSION).then_some(link)
    }

    /// Takes the same time for every wrong signature.
    pub fn is_signed_by(&self, key: &LinkKey) -> bool {
        mac(key, self.organization, self.member, self.made_at)
            .verify_truncated_left(&self.mac)
            .is_ok()
    }

    /// `revoked_at` is when the member's links were last revoked.
    pub fn is_in_force(&self, now: Timestamp, revoked_at: Option<Timestamp>) -> bool {
        now < self.ends_at() && revoked_at.is_none_or(|at| self.made_at > at)
    }

    pub fn ends_at(&self) -> Timestamp {
        self.made_at.plus_days(LINK_DAYS)
    }
}

impl std::fmt::Display for MemberLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.push(VERSION);
        bytes.extend(self.organization.to_bytes());
        bytes.extend(self.member.to_bytes());
        bytes.extend(self.made_at.micros().to_be_bytes());
        bytes.extend(self.mac);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

fn mac(key: &LinkKey, organization: OrganizationId, member: MemberId, made_at: Timestamp) -> Hmac<Sha256> {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("a key");
    mac.update(b"bursar member link");
    mac.update(&[VERSION]);
    mac.update(&organization.to_bytes());
    mac.update(&member.to_bytes());
    mac.update(&made_at.micros().to_be_bytes());
    mac
}

/// A browser that entered a mailed code. The address is proved; the member is chosen among those who have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberSession {
    pub hash: SecretHash,
    pub organization: OrganizationId,
    /// In lower case.
    pub email: String,
    pub member: Option<MemberId>,
    pub started_at: Timestamp,
}

impl MemberSession {
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        now < self.started_at.plus_seconds(SESSION_SECONDS)
    }
}

/// Sessions that started before this have ended.
pub fn member_sessions_end(now: Timestamp) -> Timestamp {
    now.plus_seconds(-SESSION_SECONDS)
}

/// A code that was mailed to a member. One for an unknown address is kept too, so that nobody can tell the difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberCode {
    pub browser: SecretHash,
    pub organization: OrganizationId,
    /// In lower case.
    pub email: String,
    /// Whether it was mailed.
    pub is_known: bool,
    /// Whose page the browser showed when it asked.
    pub member: Option<MemberId>,
    pub hash: SecretHash,
    pub tries: i64,
    pub created_at: Timestamp,
}

impl MemberCode {
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.tries < TRIES_MAX && now < expiry(self.created_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Id;

    const KEY: LinkKey = LinkKey([7; 32]);

    fn link() -> MemberLink {
        MemberLink::sign(
            &KEY,
            Id::from_bits(1),
            Id::from_bits(2),
            Timestamp::from_micros(3),
        )
    }

    #[test]
    fn a_link_is_read_back_as_it_was_signed() {
        let text = link().to_string();
        assert_eq!(text.len(), 76);
        assert_eq!(MemberLink::parse(&text), Some(link()));
        assert!(link().is_signed_by(&KEY));
        assert!(!link().is_signed_by(&LinkKey([8; 32])));
    }

    #[test]
    fn a_changed_character_spoils_a_link() {
        let text = link().to_string();
        for at in 0..text.len() {
            for other in ["A", "B", "_", "=", "é"] {
                if &text[at..=at] == other {
                    continue;
                }
                let changed = [&text[..at], other, &text[at + 1..]].concat();
                let is_open = MemberLink::parse(&changed).is_some_and(|link| link.is_signed_by(&KEY));
                assert!(!is_open, "{changed}");
            }
        }
        for other in ["", "x", &text[1..], &format!("{text}A"), &format!("{text}=")] {
            assert_eq!(MemberLink::parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_link_ends_after_sixty_days_or_when_it_is_revoked() {
        let (made, link) = (link().made_at, link());
        let end = made.plus_days(60);
        for (now, revoked_at, expected) in [
            (made, None, true),
            (end.plus_seconds(-1), None, true),
            (end, None, false),
            (made, Some(made), false),
            (made, Some(made.plus_seconds(1)), false),
            (made, Some(made.plus_seconds(-1)), true),
        ] {
            assert_eq!(
                link.is_in_force(now, revoked_at),
                expected,
                "{now} {revoked_at:?}"
            );
        }
    }
}
