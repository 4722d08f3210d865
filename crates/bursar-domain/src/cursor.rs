//! Page cursors: opaque, URL-safe and self-checking.
//!
//! A cursor carries a walk: its filters, its watermark, when it began and the last row it returned. Eight
//! bytes of SHA-256 over that and over the organization and path it belongs to detect a foreign or damaged
//! cursor. It holds no secret: the organization always comes from the token, so forging one gains nothing. A
//! client can write another start into its cursor. An impossible start is refused ([`Cursor::decode`] and
//! [`Cursor::began_before`]), and a walk whose history was pruned is refused whatever its start. What remains
//! equals the cursor of a new walk.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::event::{EventResource, Subject};
use crate::ids::{ListingId, MemberId, OrganizationId};
use crate::time::Timestamp;

const VERSION: u8 = 1;
/// How long a walk may take, from its first page.
pub const LIFETIME_SECONDS: i64 = 24 * 3600;
/// How far apart the clocks of two servers may be. Even with it, a cursor expires before its history is
/// pruned.
const SKEW_SECONDS: i64 = 5 * 60;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filters {
    /// Changed at or after this time; of events, created.
    pub updated_since: Option<Timestamp>,
    /// False for archived rows.
    pub is_active: Option<bool>,
    /// Of events, the type.
    pub status: Option<&'static str>,
    pub member_id: Option<MemberId>,
    pub listing_id: Option<ListingId>,
    /// Of events, what they are about.
    pub subject: Option<Subject>,
}

/// The row after which a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub updated_at: Timestamp,
    pub id: [u8; 16],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    pub filters: Filters,
    /// The walk shows rows as of this value of the change clock.
    pub watermark: Timestamp,
    /// When the first page was read.
    pub started_at: Timestamp,
    /// The last row returned.
    pub after: Position,
}

/// What a cursor belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Belongs<'a> {
    pub organization: OrganizationId,
    /// The list's path, with the chapter's id if there is one.
    pub path: &'a str,
    /// The values of the list's status or type filter.
    pub words: &'a [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadCursor {
    /// Of another list or organization, or damaged.
    Foreign,
    Expired,
    /// The walk begins in the future.
    Early,
    /// The filters given beside the cursor differ from its own.
    OtherFilters,
}

const HAS_SINCE: u8 = 1;
const HAS_ACTIVE: u8 = 2;
const IS_ACTIVE: u8 = 4;
const HAS_STATUS: u8 = 8;
const HAS_MEMBER: u8 = 16;
const HAS_LISTING: u8 = 32;
const HAS_SUBJECT: u8 = 64;

impl Cursor {
    pub fn encode(&self, belongs: Belongs<'_>) -> String {
        let filters = &self.filters;
        let mut bytes = Vec::with_capacity(96);
        let flags = [
            (HAS_SINCE, filters.updated_since.is_some()),
            (HAS_ACTIVE, filters.is_active.is_some()),
            (IS_ACTIVE, filters.is_active == Some(true)),
            (HAS_STATUS, filters.status.is_some()),
            (HAS_MEMBER, filters.member_id.is_some()),
            (HAS_LISTING, filters.listing_id.is_some()),
            (HAS_SUBJECT, filters.subject.is_some()),
        ];
        bytes.extend([
            VERSION,
            flags.iter().filter(|(_, on)| *on).map(|(bit, _)| bit).sum(),
        ]);
        if let Some(since) = filters.updated_since {
            bytes.extend(since.micros().to_be_bytes());
        }
        if let Some(status) = filters.status {
            let index = belongs
                .words
                .iter()
                .position(|word| *word == status)
                .unwrap_or(usize::from(u8::MAX));
            bytes.push(u8::try_from(index).unwrap_or(u8::MAX));
        }
        if let Some(member) = filters.member_id {
            bytes.extend(member.to_bytes());
        }
        if let Some(listing) = filters.listing_id {
            bytes.extend(listing.to_bytes());
        }
        if let Some(Subject { resource, id }) = filters.subject {
            bytes.push(resource as u8);
            bytes.extend(id);
        }
        for time in [self.watermark, self.started_at, self.after.updated_at] {
            bytes.extend(time.micros().to_be_bytes());
        }
        bytes.extend(self.after.id);
        bytes.extend(check(&bytes, belongs));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Accepts a cursor of this list and organization that is at most 24 hours old. `beside` has the filters
    /// given beside it, `None` for those left out; the others must equal the cursor's.
    pub fn decode(
        text: &str,
        belongs: Belongs<'_>,
        beside: &Filters,
        now: Timestamp,
    ) -> Result<Self, BadCursor> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| BadCursor::Foreign)?;
        let (body, given) = bytes.split_last_chunk::<8>().ok_or(BadCursor::Foreign)?;
        if check(body, belongs) != *given {
            return Err(BadCursor::Foreign);
        }
        let cursor = Self::read(body, belongs.words).ok_or(BadCursor::Foreign)?;
        if now > cursor.started_at.plus_seconds(LIFETIME_SECONDS) {
            return Err(BadCursor::Expired);
        }
        if cursor.started_at > now.plus_seconds(SKEW_SECONDS) {
            return Err(BadCursor::Early);
        }
        let own = &cursor.filters;
        fn agrees<T: PartialEq + Copy>(beside: Option<T>, own: Option<T>) -> bool {
            beside.is_none() || beside == own
        }
        let same = agrees(beside.updated_since, own.updated_since)
            && agrees(beside.is_active, own.is_active)
            && agrees(beside.status, own.status)
            && agrees(beside.member_id, own.member_id)
            && agrees(beside.listing_id, own.listing_id)
            && agrees(beside.subject, own.subject);
        if same {
            Ok(cursor)
        } else {
            Err(BadCursor::OtherFilters)
        }
    }

    /// Whether the walk must have begun earlier than it says, given the change clock now. The watermark is
    /// the change clock at the first page, so a change after the watermark cannot be well before the start.
    pub fn began_before(&self, clock: Timestamp) -> bool {
        clock > self.watermark && clock.plus_seconds(SKEW_SECONDS) < self.started_at
    }

    fn read(body: &[u8], words: &[&'static str]) -> Option<Self> {
        let mut rest = body;
        let [version, flags] = take::<2>(&mut rest)?;
        if version != VERSION {
            return None;
        }
        let on = |bit: u8| flags & bit != 0;
        let filters = Filters {
            updated_since: if on(HAS_SINCE) {
                Some(instant(&mut rest)?)
            } else {
                None
            },
            is_active: on(HAS_ACTIVE).then(|| on(IS_ACTIVE)),
            status: if on(HAS_STATUS) {
                Some(words.get(usize::from(take::<1>(&mut rest)?[0]))?)
            } else {
                None
            },
            member_id: if on(HAS_MEMBER) {
                Some(MemberId::from_bytes(take(&mut rest)?))
            } else {
                None
            },
            listing_id: if on(HAS_LISTING) {
                Some(ListingId::from_bytes(take(&mut rest)?))
            } else {
                None
            },
            subject: if on(HAS_SUBJECT) {
                let [resource] = take(&mut rest)?;
                Some(Subject {
                    resource: *EventResource::ALL.get(usize::from(resource))?,
                    id: take(&mut rest)?,
                })
            } else {
                None
            },
        };
        let (watermark, started_at) = (instant(&mut rest)?, instant(&mut rest)?);
        let after = Position {
            updated_at: instant(&mut rest)?,
            id: take(&mut rest)?,
        };
        rest.is_empty().then_some(Self {
            filters,
            watermark,
            started_at,
            after,
        })
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

fn instant(rest: &mut &[u8]) -> Option<Timestamp> {
    take(rest).map(|bytes| Timestamp::from_micros(i64::from_be_bytes(bytes)))
}

fn check(body: &[u8], belongs: Belongs<'_>) -> [u8; 8] {
    let mut hasher = Sha256::new();
    hasher.update(body);
    hasher.update(belongs.organization.to_bytes());
    hasher.update(belongs.path.as_bytes());
    let digest: [u8; 32] = hasher.finalize().into();
    std::array::from_fn(|i| digest[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORDS: &[&str] = &["pending", "paid"];

    fn belongs(path: &str) -> Belongs<'_> {
        Belongs {
            organization: OrganizationId::from_bits(7),
            path,
            words: WORDS,
        }
    }

    fn cursors() -> impl Strategy<Value = Cursor> {
        let time = || (0i64..4_000_000_000_000_000).prop_map(Timestamp::from_micros);
        let filters = (
            proptest::option::of(time()),
            any::<Option<bool>>(),
            proptest::option::of(0usize..2),
            any::<Option<u128>>(),
            any::<Option<u128>>(),
            proptest::option::of((0..EventResource::ALL.len(), any::<[u8; 16]>())),
        );
        (filters, time(), time(), any::<[u8; 16]>()).prop_map(
            |((since, active, status, member, listing, subject), watermark, updated_at, id)| Cursor {
                filters: Filters {
                    updated_since: since,
                    is_active: active,
                    status: status.map(|i| WORDS[i]),
                    member_id: member.map(MemberId::from_bits),
                    listing_id: listing.map(ListingId::from_bits),
                    subject: subject.map(|(resource, id)| Subject {
                        resource: EventResource::ALL[resource],
                        id,
                    }),
                },
                watermark,
                started_at: watermark,
                after: Position { updated_at, id },
            },
        )
    }

    proptest! {
        #[test]
        fn round_trip(cursor in cursors()) {
            let text = cursor.encode(belongs("/v1/payments"));
            prop_assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
            let at = cursor.started_at;
            let none = Filters::default();
            prop_assert_eq!(Cursor::decode(&text, belongs("/v1/payments"), &none, at), Ok(cursor));
            prop_assert_eq!(Cursor::decode(&text, belongs("/v1/payments"), &cursor.filters, at), Ok(cursor));
            prop_assert_eq!(Cursor::decode(&text, belongs("/v1/cards"), &none, at), Err(BadCursor::Foreign));
            let other = Belongs { organization: OrganizationId::from_bits(8), ..belongs("/v1/payments") };
            prop_assert_eq!(Cursor::decode(&text, other, &none, at), Err(BadCursor::Foreign));
            prop_assert_eq!(Cursor::decode(&text, belongs("/v1/payments"), &none, at.plus_seconds(LIFETIME_SECONDS)), Ok(cursor));
            let late = at.plus_seconds(LIFETIME_SECONDS + 1);
            prop_assert_eq!(Cursor::decode(&text, belongs("/v1/payments"), &none, late), Err(BadCursor::Expired));
        }

        #[test]
        fn damage_is_seen(cursor in cursors(), at in 0usize..64, with in "[A-Za-z0-9_-]") {
            let text = cursor.encode(belongs("/v1/payments"));
            let at = at % text.len();
            let damaged = format!("{}{with}{}", &text[..at], &text[at + 1..]);
            prop_assume!(damaged != text);
            let read = Cursor::decode(&damaged, belongs("/v1/payments"), &Filters::default(), cursor.started_at);
            prop_assert_eq!(read, Err(BadCursor::Foreign));
        }

        #[test]
        fn noise_is_no_cursor(text in ".{0,120}") {
            let read = Cursor::decode(&text, belongs("/v1/payments"), &Filters::default(), Timestamp::from_micros(0));
            prop_assert_eq!(read, Err(BadCursor::Foreign));
        }
    }

    #[test]
    fn a_start_that_cannot_be_true_is_refused() {
        let at = |seconds: i64| Timestamp::from_micros(1_790_000_000_000_000).plus_seconds(seconds);
        let cursor = |watermark: i64, started_at: i64| Cursor {
            filters: Filters::default(),
            watermark: at(watermark),
            started_at: at(started_at),
            after: Position {
                updated_at: at(0),
                id: [1; 16],
            },
        };
        let read = |cursor: Cursor| {
            let text = cursor.encode(belongs("/v1/payments"));
            Cursor::decode(&text, belongs("/v1/payments"), &Filters::default(), at(0)).map(|_| ())
        };
        assert_eq!(read(cursor(-10, SKEW_SECONDS)), Ok(()), "another server's clock");
        assert_eq!(read(cursor(-10, SKEW_SECONDS + 1)), Err(BadCursor::Early));
        // The organization changed a day ago, after the watermark: the walk began before that.
        let day = 24 * 3600;
        assert!(cursor(-2 * day, -60).began_before(at(-day)));
        assert!(
            !cursor(-2 * day, -60).began_before(at(-2 * day)),
            "nothing changed since"
        );
        assert!(
            !cursor(-2 * day, -60).began_before(at(-30)),
            "it changed after the start"
        );
        assert!(!cursor(-2 * day, -60).began_before(at(-60 - SKEW_SECONDS)));
    }

    #[test]
    fn filters_beside_it_must_agree() {
        let at = Timestamp::from_micros(1_000_000);
        let cursor = Cursor {
            filters: Filters {
                status: Some("paid"),
                updated_since: Some(at),
                ..Filters::default()
            },
            watermark: at,
            started_at: at,
            after: Position {
                updated_at: at,
                id: [1; 16],
            },
        };
        let text = cursor.encode(belongs("/v1/payments"));
        for (beside, ok) in [
            (
                Filters {
                    status: Some("paid"),
                    ..Filters::default()
                },
                true,
            ),
            (
                Filters {
                    status: Some("pending"),
                    ..Filters::default()
                },
                false,
            ),
            (
                Filters {
                    updated_since: Some(at),
                    ..Filters::default()
                },
                true,
            ),
            (
                Filters {
                    member_id: Some(MemberId::from_bits(1)),
                    ..Filters::default()
                },
                false,
            ),
        ] {
            assert_eq!(
                Cursor::decode(&text, belongs("/v1/payments"), &beside, at).is_ok(),
                ok,
                "{beside:?}"
            );
        }
    }
}
