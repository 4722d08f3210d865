//! Rate limits: a fixed window of 60 seconds per subject and bucket, opened by its first request.
//!
//! A request that does not fit is refused and charges nothing. Counts are kept in this process ([`Memory`]) or shared
//! by all replicas through Redis ([`Redis`]), which falls back to the process's counts while Redis is unavailable.
//! The caller decides what a request costs and which subject pays.

mod headers;
mod memory;
mod probe;
mod redis;
mod servers;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::HeaderMap;

use self::headers::HeaderFields;
pub use self::memory::{Capacity, Memory};
pub use self::probe::{Probed, probe};
pub use self::redis::{Redis, RedisOptions};
pub use self::servers::InvalidRedisUrl;

const WINDOW_MICROS: u64 = 60_000_000;

/// Microseconds since an arbitrary start. A function, so that tests can move it.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

pub fn monotonic_clock() -> Clock {
    let origin = Instant::now();
    Arc::new(move || u64::try_from(origin.elapsed().as_micros()).unwrap_or(u64::MAX))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// `GET` and `HEAD`.
    Read,
    /// Every other method.
    Write,
    /// Operations that send e-mail or SMS.
    Messaging,
}

impl Bucket {
    /// In the order of their tables.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Messaging];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Messaging => "messaging",
        }
    }
}

/// Units per window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub read: u32,
    pub write: u32,
    pub messaging: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            read: 600,
            write: 120,
            messaging: 20,
        }
    }
}

impl Limits {
    pub const fn of(&self, bucket: Bucket) -> u32 {
        match bucket {
            Bucket::Read => self.read,
            Bucket::Write => self.write,
            Bucket::Messaging => self.messaging,
        }
    }
}

/// Who pays. Each kind is counted for itself, so that a flood of addresses never affects a token or a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The id of a valid token.
    Token([u8; 16]),
    /// The id of a person who is signed in.
    Person([u8; 16]),
    /// A client without a valid token. IPv6 is counted per /64.
    Address(IpAddr),
    /// A client that signs in. IPv6 is counted per /64.
    SignIn(IpAddr),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub bucket: Bucket,
    /// Units per window.
    pub limit: u32,
    pub remaining: u32,
    /// Until the window ends, rounded up: 1 to 60.
    pub reset_seconds: u32,
    pub allowed: bool,
}

impl Quota {
    fn new(bucket: Bucket, limit: u32, used: u32, left_micros: u64, allowed: bool) -> Self {
        let seconds = left_micros.div_ceil(1_000_000).clamp(1, 60);
        Self {
            bucket,
            limit,
            remaining: limit.saturating_sub(used),
            reset_seconds: u32::try_from(seconds).unwrap_or(60),
            allowed,
        }
    }
}

/// Where rate limits are counted now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendState {
    /// In this process, as configured.
    Local,
    /// In Redis, shared with other replicas.
    Shared,
    /// In this process, because Redis is unavailable.
    Away,
}

impl BackendState {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Shared => "shared",
            Self::Away => "away",
        }
    }
}

#[derive(Debug)]
pub struct Limiter {
    backend: Backend,
    fields: HeaderFields,
}

#[derive(Debug)]
enum Backend {
    Memory(Memory),
    Redis(Redis),
}

impl Limiter {
    pub fn memory(memory: Memory) -> Self {
        let fields = HeaderFields::new(memory.limits());
        Self {
            backend: Backend::Memory(memory),
            fields,
        }
    }

    pub fn redis(redis: Redis) -> Self {
        let fields = HeaderFields::new(redis.limits());
        Self {
            backend: Backend::Redis(redis),
            fields,
        }
    }

    /// Charges without waiting. `None` means that Redis must be asked: call [`Limiter::charge`].
    pub fn charge_now(&self, subject: Subject, bucket: Bucket, cost: u32) -> Option<Quota> {
        match &self.backend {
            Backend::Memory(memory) => Some(memory.charge(subject, bucket, cost)),
            Backend::Redis(redis) => redis.charge_now(subject, bucket, cost),
        }
    }

    /// Charges in Redis if it is configured and responds in time.
    pub async fn charge(&self, subject: Subject, bucket: Bucket, cost: u32) -> Quota {
        match &self.backend {
            Backend::Memory(memory) => memory.charge(subject, bucket, cost),
            Backend::Redis(redis) => redis.charge(subject, bucket, cost).await,
        }
    }

    /// Units left as far as this process knows. Never waits and charges nothing.
    pub fn left(&self, subject: Subject, bucket: Bucket) -> u32 {
        match &self.backend {
            Backend::Memory(memory) => memory.left(subject, bucket),
            Backend::Redis(redis) => redis.left(subject, bucket),
        }
    }

    /// Never waits.
    pub fn backend_state(&self) -> BackendState {
        match &self.backend {
            Backend::Memory(_) => BackendState::Local,
            Backend::Redis(redis) => redis.state(),
        }
    }

    /// Waits for the first connection to Redis, at most this long. A starting server calls it once, so that its first
    /// requests are counted in Redis too, and starts whatever the result.
    pub async fn settle(&self, at_most: Duration) -> BackendState {
        match &self.backend {
            Backend::Memory(_) => BackendState::Local,
            Backend::Redis(redis) => redis.settle(at_most).await,
        }
    }

    /// Sets the five rate-limit headers, and `Retry-After` if the charge was refused.
    pub fn write_headers(&self, quota: &Quota, headers: &mut HeaderMap) {
        self.fields.write(quota, headers);
    }
}
