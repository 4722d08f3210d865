//! Rate limits: a fixed window of 60 seconds per subject and bucket, opened by the first request in it.
//!
//! A request that does not fit is refused and charges nothing. Counting is in process ([`Memory`]), or shared by
//! all replicas through Redis ([`Redis`]), which falls back to the process's own counts while Redis is unavailable.
//! What a request costs and which subject pays is the caller's to say.

mod headers;
mod memory;
mod probe;
mod redis;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::HeaderMap;

use self::headers::HeaderFields;
pub use self::memory::{Capacity, Memory};
pub use self::probe::{Probed, probe};
pub use self::redis::{InvalidRedisUrl, Redis, RedisOptions};

/// The length of every window, in microseconds.
const WINDOW_MICROS: u64 = 60_000_000;

/// A monotonic clock in microseconds since a moment of its own; a function, so that tests can move it.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// The process's clock, which never steps back.
pub fn monotonic_clock() -> Clock {
    let origin = Instant::now();
    Arc::new(move || u64::try_from(origin.elapsed().as_micros()).unwrap_or(u64::MAX))
}

/// What a request draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// Reads: `GET` and `HEAD`.
    Read,
    /// Writes: every other method.
    Write,
    /// Operations that send e-mail or SMS.
    Messaging,
}

impl Bucket {
    /// All buckets, in the order of their tables.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Messaging];

    /// The name used in messages and headers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Messaging => "messaging",
        }
    }
}

/// Units a subject may spend in one window, per bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The read bucket's units.
    pub read: u32,
    /// The write bucket's units.
    pub write: u32,
    /// The messaging bucket's units.
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
    /// This bucket's units.
    pub const fn of(&self, bucket: Bucket) -> u32 {
        match bucket {
            Bucket::Read => self.read,
            Bucket::Write => self.write,
            Bucket::Messaging => self.messaging,
        }
    }
}

/// Who pays. The two kinds are counted in separate tables, so that a flood of addresses never touches a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A valid token, by the 16 bytes of its id.
    Token([u8; 16]),
    /// A client without a valid token. IPv6 counts per /64, whichever address of it is given here.
    Address(IpAddr),
}

/// The outcome of a charge, and all that the response headers say about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The bucket that was asked.
    pub bucket: Bucket,
    /// The bucket's units in a window.
    pub limit: u32,
    /// Units left in this window.
    pub remaining: u32,
    /// Whole seconds until the window rolls over, rounded up: 1 to 60.
    pub reset_seconds: u32,
    /// Whether the request may go on.
    pub allowed: bool,
}

impl Charge {
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

/// Where the counts are at this moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendState {
    /// In this process, as configured.
    Local,
    /// In Redis, shared with the other replicas.
    Shared,
    /// In this process, because Redis does not answer.
    Away,
}

impl BackendState {
    /// The word for it in health reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Shared => "shared",
            Self::Away => "away",
        }
    }
}

/// The limiter of a server: counts, and the header values that go with them.
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
    /// Counts in this process.
    pub fn memory(memory: Memory) -> Self {
        let fields = HeaderFields::new(memory.limits());
        Self {
            backend: Backend::Memory(memory),
            fields,
        }
    }

    /// Counts in Redis.
    pub fn redis(redis: Redis) -> Self {
        let fields = HeaderFields::new(redis.limits());
        Self {
            backend: Backend::Redis(redis),
            fields,
        }
    }

    /// Charges without waiting. `None` means that the shared counter has to be asked: call [`Limiter::charge`].
    pub fn charge_now(&self, subject: Subject, bucket: Bucket, cost: u32) -> Option<Charge> {
        match &self.backend {
            Backend::Memory(memory) => Some(memory.charge(subject, bucket, cost)),
            Backend::Redis(redis) => redis.charge_now(subject, bucket, cost),
        }
    }

    /// Charges, in Redis if it is configured and answers in time.
    pub async fn charge(&self, subject: Subject, bucket: Bucket, cost: u32) -> Charge {
        match &self.backend {
            Backend::Memory(memory) => memory.charge(subject, bucket, cost),
            Backend::Redis(redis) => redis.charge(subject, bucket, cost).await,
        }
    }

    /// Units that a subject has left, as far as this process knows. It never waits and charges nothing.
    pub fn left(&self, subject: Subject, bucket: Bucket) -> u32 {
        match &self.backend {
            Backend::Memory(memory) => memory.left(subject, bucket),
            Backend::Redis(redis) => redis.left(subject, bucket),
        }
    }

    /// Where the counts are now; it never waits.
    pub fn backend_state(&self) -> BackendState {
        match &self.backend {
            Backend::Memory(_) => BackendState::Local,
            Backend::Redis(redis) => redis.state(),
        }
    }

    /// Waits until the counts are where the configuration wants them, at most this long; a server that starts
    /// calls it once, so that its first requests are shared too, and starts whatever the answer is.
    pub async fn settle(&self, at_most: Duration) -> BackendState {
        match &self.backend {
            Backend::Memory(_) => BackendState::Local,
            Backend::Redis(redis) => redis.settle(at_most).await,
        }
    }

    /// Sets the five rate-limit fields of a response, and `Retry-After` where the charge was refused.
    pub fn write_headers(&self, charge: &Charge, headers: &mut HeaderMap) {
        self.fields.write(charge, headers);
    }
}
