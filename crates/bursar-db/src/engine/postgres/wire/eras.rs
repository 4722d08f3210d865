//! Whether a connection still leads to the server that this process uses.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A frozen server keeps its connections open. When one of them gets no response, or a new one leads to another host, an era
/// ends, and all connections of before are given up: an idle one would be waited for as long again, and a former primary that
/// wakes up has outdated permissions.
#[derive(Debug)]
pub(in super::super) struct Eras {
    now: AtomicU64,
    /// The host of the last connection, by its place in the URL.
    place: AtomicUsize,
}

const NOWHERE: usize = usize::MAX;

impl Eras {
    pub(in super::super) fn new() -> Self {
        Eras {
            now: AtomicU64::new(0),
            place: AtomicUsize::new(NOWHERE),
        }
    }

    pub(super) fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    /// Ends this era, unless it has ended: many connections may notice.
    pub(super) fn end(&self, era: u64) {
        let _ = self
            .now
            .compare_exchange(era, era + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// The era of a connection that was made to this host now.
    pub(super) fn arrive(&self, place: usize) -> u64 {
        let before = self.place.swap(place, Ordering::SeqCst);
        if before != place && before != NOWHERE {
            self.end(self.now());
        }
        self.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_era_ends_once_by_silence_and_with_each_change_of_the_host() {
        let eras = Eras::new();
        let first = eras.arrive(1);
        assert_eq!(eras.arrive(1), first);
        eras.end(first);
        eras.end(first);
        let second = eras.arrive(1);
        assert_eq!(second, first + 1);
        let third = eras.arrive(0);
        assert_eq!((third, eras.now()), (second + 1, third));
    }
}
