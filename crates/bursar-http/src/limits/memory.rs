//! Rate-limit counts in this process: sharded, bounded tables of windows.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Bucket, Clock, Limits, Quota, Subject, WINDOW_MICROS};
use crate::address;

const SHARDS: usize = 64;

/// Expired windows that a new one removes at most. More than one, so that a table shrinks after a flood.
const SWEEP_STEPS: usize = 3;

/// The largest number of windows. A subject has one per bucket used in the last minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    pub tokens: usize,
    pub addresses: usize,
}

impl Default for Capacity {
    fn default() -> Self {
        // About 100 bytes each when full. Only valid tokens enter `tokens`; anyone can fill `addresses`. People are counted
        // apart with the room of tokens, and those who sign in with that of addresses.
        Self {
            tokens: 500_000,
            addresses: 100_000,
        }
    }
}

pub struct Memory {
    limits: Limits,
    clock: Clock,
    tokens: Table,
    people: Table,
    addresses: Table,
    sign_ins: Table,
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Memory {
    /// The seed should be random, so that clients cannot choose addresses that collide.
    pub fn new(limits: Limits, capacity: Capacity, clock: Clock, seed: u64) -> Self {
        Self {
            limits,
            clock,
            tokens: Table::new(capacity.tokens, seed),
            people: Table::new(capacity.tokens, seed),
            addresses: Table::new(capacity.addresses, seed),
            sign_ins: Table::new(capacity.addresses, seed),
        }
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Windows of tokens and of addresses, including expired ones that are not swept yet.
    pub fn windows(&self) -> (usize, usize) {
        (self.tokens.len(), self.addresses.len())
    }

    pub fn charge(&self, subject: Subject, bucket: Bucket, cost: u32) -> Quota {
        let now = (self.clock)();
        let limit = self.limits.of(bucket);
        let (table, key) = self.locate(subject, bucket);
        let mut shard = table.shard(&key);
        if let Some(window) = shard.open_window(&key, now) {
            let allowed = cost <= limit.saturating_sub(window.used);
            if allowed {
                window.used += cost;
            }
            return Quota::new(
                bucket,
                limit,
                window.used,
                window.ends.saturating_sub(now),
                allowed,
            );
        }
        // A refused request charges nothing, so it opens no window.
        let allowed = cost <= limit;
        let used = if allowed { cost } else { 0 };
        if allowed {
            shard.open(
                key,
                Window {
                    ends: now.saturating_add(WINDOW_MICROS),
                    used,
                },
                now,
                table.shard_capacity,
            );
        }
        Quota::new(bucket, limit, used, WINDOW_MICROS, allowed)
    }

    pub fn left(&self, subject: Subject, bucket: Bucket) -> u32 {
        let now = (self.clock)();
        let limit = self.limits.of(bucket);
        let (table, key) = self.locate(subject, bucket);
        let used = table
            .shard(&key)
            .open_window(&key, now)
            .map_or(0, |window| window.used);
        limit.saturating_sub(used)
    }

    /// Copies a count from Redis, so that counting continues from there if Redis becomes unavailable.
    pub(super) fn note(&self, subject: Subject, bucket: Bucket, used: u32, left_micros: u64) {
        let now = (self.clock)();
        let ends = now.saturating_add(left_micros.min(WINDOW_MICROS));
        let (table, key) = self.locate(subject, bucket);
        let mut shard = table.shard(&key);
        if let Some(window) = shard.open_window(&key, now)
            // The remaining time shrinks on the network, so the same window never ends at exactly the same time.
            && window.ends.abs_diff(ends) < 1_000_000
        {
            // Replies may arrive out of order.
            window.used = window.used.max(used);
            return;
        }
        shard.open(key, Window { ends, used }, now, table.shard_capacity);
    }

    fn locate(&self, subject: Subject, bucket: Bucket) -> (&Table, Key) {
        let of_address = |address| match address::counted(address) {
            // The IPv4-mapped form cannot collide with a /64, whose low half is zero.
            IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
            IpAddr::V6(v6) => v6.to_bits(),
        };
        let (table, id) = match subject {
            Subject::Token(id) => (&self.tokens, u128::from_be_bytes(id)),
            Subject::Person(id) => (&self.people, u128::from_be_bytes(id)),
            Subject::Address(address) => (&self.addresses, of_address(address)),
            Subject::SignIn(address) => (&self.sign_ins, of_address(address)),
        };
        (table, table.key(id, bucket))
    }
}

struct Table {
    shards: Box<[Mutex<Shard>]>,
    shard_capacity: usize,
    seed: u64,
}

impl Table {
    fn new(capacity: usize, seed: u64) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            shard_capacity: capacity.div_ceil(SHARDS).max(1),
            seed,
        }
    }

    fn key(&self, id: u128, bucket: Bucket) -> Key {
        Key {
            hash: hash(id, bucket, self.seed),
            id,
            bucket,
        }
    }

    fn shard(&self, key: &Key) -> MutexGuard<'_, Shard> {
        // The shard's map uses both ends of the hash; these bits are from its middle.
        let index = usize::try_from((key.hash >> 32) % SHARDS as u64).unwrap_or(0);
        // No code panics half-way under this lock, and a wrong count is no reason to refuse every request.
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> usize {
        let held = |shard: &Mutex<Shard>| shard.lock().unwrap_or_else(PoisonError::into_inner).windows.len();
        self.shards.iter().map(held).sum()
    }
}

#[derive(Clone, Copy)]
struct Window {
    ends: u64,
    used: u32,
}

/// Windows, and the order in which they were opened.
///
/// All windows have the same length, so the order of opening is the order of expiry, and the front of the queue is the
/// oldest. Every window has exactly one queue item with its end. An item whose window was reopened has another end
/// and is dropped when it reaches the front.
#[derive(Default)]
struct Shard {
    windows: HashMap<Key, Window, BuildHasherDefault<KeyHasher>>,
    order: VecDeque<(Key, u64)>,
}

impl Shard {
    fn open_window(&mut self, key: &Key, now: u64) -> Option<&mut Window> {
        self.windows.get_mut(key).filter(|window| window.ends > now)
    }

    fn open(&mut self, key: Key, window: Window, now: u64, capacity: usize) {
        for _ in 0..SWEEP_STEPS {
            let Some((oldest, ends)) = self.order.front().copied() else {
                break;
            };
            // A full shard drops its oldest window: a new subject is always counted, never let through
            // uncounted and never refused.
            if ends > now && self.order.len() < capacity {
                break;
            }
            self.order.pop_front();
            if self
                .windows
                .get(&oldest)
                .is_some_and(|window| window.ends == ends)
            {
                self.windows.remove(&oldest);
            }
        }
        self.order.push_back((key, window.ends));
        self.windows.insert(key, window);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    hash: u64,
    id: u128,
    bucket: Bucket,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// Passes on the hash that a key carries; it was already computed to choose the shard.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Required by the trait; keys only write one u64.
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// A keyed hash by folded multiplication, as in wyhash: fast for 17 bytes, and without the seed
/// nobody can tell which ids share a shard.
fn hash(id: u128, bucket: Bucket, seed: u64) -> u64 {
    const FIRST: u64 = 0xa076_1d64_78bd_642f;
    const SECOND: u64 = 0xe703_7ed1_a0b4_28db;
    let (high, low) = halves(id);
    let mixed = fold(high ^ seed, low ^ seed.rotate_left(32) ^ FIRST);
    fold(mixed ^ SECOND, seed ^ (bucket as u64 + 1).wrapping_mul(FIRST))
}

fn fold(a: u64, b: u64) -> u64 {
    let (high, low) = halves(u128::from(a) * u128::from(b));
    high ^ low
}

#[expect(clippy::cast_possible_truncation, reason = "the two casts are the two halves")]
const fn halves(wide: u128) -> (u64, u64) {
    ((wide >> 64) as u64, wide as u64)
}
