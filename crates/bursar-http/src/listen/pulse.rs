//! The signs of life of a connection: written by its socket, its requests and its responses, read by its supervisor
//! and by whoever looks for a connection that can give its place up.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::Timeouts;
use super::guarded::Protocol;

/// A client that connected and sent nothing for this long is not about to send a request.
const SILENT_AFTER: Duration = Duration::from_millis(100);
/// Idle for less than this is a pause between two requests, not an offer of the place. A head that takes longer is
/// not being sent as fast as the client can.
const RESTING_AFTER: Duration = Duration::from_secs(1);
/// Bytes of responses that a connection may hold, beyond which its next request waits. One response may be longer.
const HELD_BYTES_MAX: usize = 1 << 20;

const NEVER: u64 = u64::MAX;

/// What a connection deserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// To go on.
    Active,
    /// To end after what it is doing.
    End,
    /// To end at once.
    Cut,
}

/// How well a connection can be missed; the greater the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rest {
    /// It never sent a request: nobody relies on it.
    unused: bool,
    duration: Duration,
}

/// Times are microseconds since its start.
pub(super) struct Pulse {
    born: Instant,
    protocol: AtomicU8,
    in_flight: AtomicU32,
    /// Whether a request ever came.
    used: AtomicBool,
    /// When the last response was handed over, or a byte of it was taken.
    idle_since: AtomicU64,
    /// When the first byte of a head came that is not complete yet; [`NEVER`] if there is none.
    head_since: AtomicU64,
    sending: Mutex<Sending>,
    /// Responses were taken, so that requests that wait may go on.
    taken: Notify,
    /// Asks the connection to end after what it is doing.
    give_way: Notify,
    is_asked: AtomicBool,
}

/// The responses of HTTP/2 that the client has not read completely.
#[derive(Default)]
struct Sending {
    /// When each was last made progress with, by its number.
    since: HashMap<u64, u64>,
    number: u64,
    held_bytes: usize,
}

const UNKNOWN: u8 = 0;
const HTTP1: u8 = 1;
const HTTP2: u8 = 2;

impl Pulse {
    pub(super) fn new() -> Self {
        Self {
            born: Instant::now(),
            protocol: AtomicU8::new(UNKNOWN),
            in_flight: AtomicU32::new(0),
            used: AtomicBool::new(false),
            idle_since: AtomicU64::new(0),
            head_since: AtomicU64::new(NEVER),
            sending: Mutex::default(),
            taken: Notify::new(),
            give_way: Notify::new(),
            is_asked: AtomicBool::new(false),
        }
    }

    fn micros(&self, now: Instant) -> u64 {
        u64::try_from(now.duration_since(self.born).as_micros()).unwrap_or(NEVER - 1)
    }

    fn now(&self) -> u64 {
        self.micros(Instant::now())
    }

    /// The bytes that told the protocol are the first of the first head.
    pub(super) fn recognised(&self, protocol: Protocol) {
        self.head_since.store(self.now(), Ordering::Relaxed);
        let protocol = match protocol {
            Protocol::Http1 => HTTP1,
            Protocol::Http2 => HTTP2,
        };
        self.protocol.store(protocol, Ordering::Relaxed);
    }

    pub(super) fn bytes_came(&self) {
        if self.in_flight.load(Ordering::Relaxed) == 0 && self.head_since.load(Ordering::Relaxed) == NEVER {
            self.head_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// On HTTP/1 all bytes are of a response, so taking them is progress. While a response is still being taken, the
    /// client may already have sent the next head; hyper reads that only afterwards, so its time starts then.
    pub(super) fn bytes_left(&self) {
        if self.protocol.load(Ordering::Relaxed) != HTTP1 || self.in_flight.load(Ordering::Relaxed) > 0 {
            return;
        }
        let now = self.now();
        self.idle_since.store(now, Ordering::Relaxed);
        if self.head_since.load(Ordering::Relaxed) != NEVER {
            self.head_since.store(now, Ordering::Relaxed);
        }
    }

    pub(super) fn request_came(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.used.store(true, Ordering::Relaxed);
        self.head_since.store(NEVER, Ordering::Relaxed);
    }

    pub(super) fn request_left(&self) {
        self.idle_since.store(self.now(), Ordering::Relaxed);
        // The time must be seen by whoever sees that the request has left.
        self.in_flight.fetch_sub(1, Ordering::Release);
    }

    /// Asks the connection to end after what it is doing; whether nobody asked before.
    pub(super) fn ask_to_end(&self) -> bool {
        let is_first = !self.is_asked.swap(true, Ordering::Relaxed);
        if is_first {
            self.give_way.notify_one();
        }
        is_first
    }

    /// Whether there is nothing but the beginning of a head.
    pub(super) fn waits_for_head(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) == 0 && self.pending_head_since() != NEVER
    }

    fn pending_head_since(&self) -> u64 {
        match self.protocol.load(Ordering::Relaxed) {
            // Bytes may be pings and settings here, so only the first request has a time limit of its own.
            HTTP2 if self.used.load(Ordering::Relaxed) => NEVER,
            _ => self.head_since.load(Ordering::Relaxed),
        }
    }

    /// Resolves when the connection is asked to end.
    pub(super) async fn asked_to_end(&self) {
        self.give_way.notified().await;
    }

    /// Waits until the client has taken enough of the responses before.
    pub(super) async fn room(&self) {
        loop {
            let taken = self.taken.notified();
            if self.sending().held_bytes < HELD_BYTES_MAX {
                return;
            }
            taken.await;
        }
    }

    /// A response of this many bytes is being sent; its number.
    pub(super) fn response_came(&self, bytes: usize) -> u64 {
        let now = self.now();
        let mut sending = self.sending();
        sending.number += 1;
        let number = sending.number;
        sending.since.insert(number, now);
        sending.held_bytes += bytes;
        number
    }

    /// The client took a part of a response.
    pub(super) fn part_left(&self, number: u64, bytes: usize) {
        let now = self.now();
        let mut sending = self.sending();
        if let Some(since) = sending.since.get_mut(&number) {
            *since = now;
        }
        self.release(sending, bytes);
    }

    /// A response was taken whole, or given up with so many bytes left.
    pub(super) fn response_left(&self, number: u64, bytes: usize) {
        self.idle_since.store(self.now(), Ordering::Relaxed);
        let mut sending = self.sending();
        sending.since.remove(&number);
        self.release(sending, bytes);
    }

    fn release(&self, mut sending: MutexGuard<'_, Sending>, bytes: usize) {
        sending.held_bytes -= bytes;
        let has_room = sending.held_bytes < HELD_BYTES_MAX;
        drop(sending);
        if has_room {
            self.taken.notify_waiters();
        }
    }

    fn sending(&self) -> MutexGuard<'_, Sending> {
        self.sending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn verdict(&self, now: Instant, timeouts: &Timeouts) -> Verdict {
        let now_micros = self.micros(now);
        let since = |then: u64| Duration::from_micros(now_micros.saturating_sub(then));
        if since(0) >= timeouts.age {
            return Verdict::End;
        }
        // A response that is stuck is not made up for by other requests, so it comes before them.
        let stuck_since = self.sending().since.values().min().copied();
        if let Some(stuck) = stuck_since
            && since(stuck) >= timeouts.write_stall
        {
            return Verdict::End;
        }
        if stuck_since.is_some() || self.in_flight.load(Ordering::Acquire) > 0 {
            return Verdict::Active;
        }
        let head_since = self.pending_head_since();
        if head_since != NEVER && since(head_since) >= timeouts.header_read {
            return Verdict::Cut;
        }
        match since(self.idle_since.load(Ordering::Relaxed)) {
            idle if idle >= timeouts.idle => Verdict::End,
            _ => Verdict::Active,
        }
    }

    /// How well the connection can be missed, if at all.
    pub(super) fn rest(&self, now: Instant) -> Option<Rest> {
        if self.is_asked.load(Ordering::Relaxed) || self.in_flight.load(Ordering::Acquire) > 0 {
            return None;
        }
        let unused = !self.used.load(Ordering::Relaxed);
        let is_silent = self.protocol.load(Ordering::Relaxed) == UNKNOWN;
        let since = self.idle_since.load(Ordering::Relaxed);
        let duration = Duration::from_micros(self.micros(now).saturating_sub(since));
        let least = if is_silent { SILENT_AFTER } else { RESTING_AFTER };
        (duration >= least && self.sending().since.is_empty()).then_some(Rest { unused, duration })
    }
}
