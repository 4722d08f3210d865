//! The activity of a connection: written by its socket, requests and responses, read by its supervisor
//! and by the search for a connection that can give way.

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
/// Idle for less than this is a pause between requests. A head that takes longer is deliberately slow.
const RESTING_AFTER: Duration = Duration::from_secs(1);
/// Unread response bytes beyond which a connection's next request waits. One response may be longer.
const HELD_BYTES_MAX: usize = 1 << 20;

const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Active,
    /// After what it is doing.
    End,
    /// At once.
    Cut,
}

/// How expendable a connection is; greater is more expendable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rest {
    /// It never sent a request.
    unused: bool,
    duration: Duration,
}

/// Times are microseconds since `born`.
pub(super) struct Pulse {
    born: Instant,
    protocol: AtomicU8,
    in_flight: AtomicU32,
    /// Whether it ever received a request.
    used: AtomicBool,
    /// When the last response was finished, or the client last received a byte of it.
    idle_since: AtomicU64,
    /// When the first byte of an incomplete head arrived; [`NEVER`] if there is none.
    head_since: AtomicU64,
    sending: Mutex<Sending>,
    /// Wakes waiting requests after the client has received response bytes.
    taken: Notify,
    /// Asks the connection to end after what it is doing.
    give_way: Notify,
    is_asked: AtomicBool,
}

/// HTTP/2 responses that the client has not received completely.
#[derive(Default)]
struct Sending {
    /// When each response, by number, last made progress.
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

    /// The bytes read to detect the protocol are the start of the first head.
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

    /// On HTTP/1 every byte belongs to a response, so sending is progress. The client may send the next head while it
    /// receives a response; hyper reads it only afterwards, so its time starts then.
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
        // Whoever sees the lower count must also see the time.
        self.in_flight.fetch_sub(1, Ordering::Release);
    }

    /// Asks the connection to end after what it is doing. Returns whether this is the first time.
    pub(super) fn ask_to_end(&self) -> bool {
        let is_first = !self.is_asked.swap(true, Ordering::Relaxed);
        if is_first {
            self.give_way.notify_one();
        }
        is_first
    }

    /// Whether there is only an incomplete head.
    pub(super) fn waits_for_head(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) == 0 && self.pending_head_since() != NEVER
    }

    fn pending_head_since(&self) -> u64 {
        match self.protocol.load(Ordering::Relaxed) {
            // Bytes may be pings and settings here, so only the first request has a time limit.
            HTTP2 if self.used.load(Ordering::Relaxed) => NEVER,
            _ => self.head_since.load(Ordering::Relaxed),
        }
    }

    pub(super) async fn asked_to_end(&self) {
        self.give_way.notified().await;
    }

    /// Waits until the client has received enough of the earlier responses.
    pub(super) async fn room(&self) {
        loop {
            let taken = self.taken.notified();
            if self.sending().held_bytes < HELD_BYTES_MAX {
                return;
            }
            taken.await;
        }
    }

    /// Returns the number of the response.
    pub(super) fn response_came(&self, bytes: usize) -> u64 {
        let now = self.now();
        let mut sending = self.sending();
        sending.number += 1;
        let number = sending.number;
        sending.since.insert(number, now);
        sending.held_bytes += bytes;
        number
    }

    pub(super) fn part_left(&self, number: u64, bytes: usize) {
        let now = self.now();
        let mut sending = self.sending();
        if let Some(since) = sending.since.get_mut(&number) {
            *since = now;
        }
        self.release(sending, bytes);
    }

    /// The response was received completely, or abandoned with so many bytes left.
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
        // Check stalled responses first: other requests in flight do not excuse them.
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

    /// `None` if the connection cannot be spared.
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
