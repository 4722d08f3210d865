//! Decides when a token is looked up, for a database server with few connections.
//!
//! Anyone can send a well-formed token, and only the database can tell whether it is valid. A flood of
//! them must not fill the queue in which requests with valid tokens wait. So a token that was valid before is
//! looked up at once, and an address may have a few other look-ups under way while its rate limit lasts. All others
//! share a small part of the readers and wait. They are not refused: the token may be valid but new
//! to this server, and an exhausted address must not block a valid token.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_domain::token::TokenHash;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Look-ups of unproven tokens that one address may have under way outside the shared part.
const EACH_MAX: u32 = 16;
/// The size of each of the two generations of tokens remembered as valid.
const PROVEN_MAX: usize = 50_000;

#[derive(Debug)]
pub struct Lookups {
    shared: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    proven: HashSet<TokenHash>,
    proven_before: HashSet<TokenHash>,
    /// Unproven look-ups under way.
    under_way: HashMap<IpAddr, u32>,
}

/// Permission to look up a token, until dropped.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    lookups: &'a Lookups,
    counted: Option<IpAddr>,
    _shared: Option<SemaphorePermit<'a>>,
}

impl Lookups {
    /// Half of the connections are readers; a quarter of those is the shared part for unproven tokens.
    pub fn new(database_connections: usize) -> Self {
        Self {
            shared: Semaphore::new((database_connections / 8).max(1)),
            state: Mutex::default(),
        }
    }

    /// Waits until this token may be looked up. `left` is what the address has left of its rate limit.
    pub(super) async fn turn(&self, hash: &TokenHash, address: IpAddr, left: u32) -> Turn<'_> {
        let counted = {
            let mut state = self.state();
            if state.is_proven(hash) {
                return self.begin(None, None);
            }
            let under_way = state.under_way.entry(address).or_default();
            let has_room = *under_way < left.min(EACH_MAX);
            *under_way += u32::from(has_room);
            if *under_way == 0 {
                state.under_way.remove(&address);
            }
            has_room.then_some(address)
        };
        match counted {
            Some(_) => self.begin(counted, None),
            None => self.begin(None, self.shared.acquire().await.ok()),
        }
    }

    fn begin<'a>(&'a self, counted: Option<IpAddr>, shared: Option<SemaphorePermit<'a>>) -> Turn<'a> {
        Turn {
            lookups: self,
            counted,
            _shared: shared,
        }
    }

    /// Only affects waiting: the next request with this token is still looked up.
    pub(super) fn learn(&self, hash: &TokenHash, is_valid: bool) {
        let mut state = self.state();
        if !is_valid {
            state.proven.remove(hash);
            state.proven_before.remove(hash);
        } else if state.proven.insert(*hash) && state.proven.len() >= PROVEN_MAX {
            state.proven_before = std::mem::take(&mut state.proven);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_proven(&self, hash: &TokenHash) -> bool {
        self.proven.contains(hash) || self.proven_before.contains(hash)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some(address) = self.counted else { return };
        let mut state = self.lookups.state();
        if let Some(under_way) = state.under_way.get_mut(&address) {
            *under_way -= 1;
            if *under_way == 0 {
                state.under_way.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    const FLOODER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn hash(number: u32) -> TokenHash {
        std::array::from_fn(|i| number.to_be_bytes()[i % 4])
    }

    /// The turn, if it needs no other turn to end first.
    async fn at_once(lookups: &Lookups, number: u32, address: IpAddr, left: u32) -> Option<Turn<'_>> {
        let hash = hash(number);
        timeout(Duration::from_millis(50), lookups.turn(&hash, address, left))
            .await
            .ok()
    }

    #[tokio::test]
    async fn strangers_wait_for_each_other_and_for_nobody_else() {
        let lookups = Lookups::new(8);
        lookups.learn(&hash(1000), true);
        let mut turns = Vec::new();
        for number in 0..EACH_MAX + 1 {
            turns.push(at_once(&lookups, number, FLOODER, 600).await.expect("its share"));
        }
        assert!(
            at_once(&lookups, 50, FLOODER, 600).await.is_none(),
            "beyond its share"
        );
        assert!(
            at_once(&lookups, 51, OTHER, 0).await.is_none(),
            "so does who cannot pay"
        );
        // The flood must not delay another address, nor a valid token from any address.
        let other = at_once(&lookups, 52, OTHER, 600).await;
        assert!(other.is_some());
        assert!(at_once(&lookups, 1000, FLOODER, 0).await.is_some());
        // A waiting token gets the turn of the one before, valid or not.
        turns.pop();
        assert!(at_once(&lookups, 53, FLOODER, 0).await.is_some());
        drop((turns, other));
        assert!(lookups.state().under_way.is_empty());
    }

    #[tokio::test]
    async fn a_token_that_is_not_valid_any_more_is_a_stranger_again() {
        let lookups = Lookups::new(8);
        let _busy = at_once(&lookups, 1, FLOODER, 0).await.unwrap();
        lookups.learn(&hash(2), true);
        assert!(at_once(&lookups, 2, FLOODER, 0).await.is_some());
        lookups.learn(&hash(2), false);
        assert!(at_once(&lookups, 2, FLOODER, 0).await.is_none());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let lookups = Lookups::new(8);
        for number in 0..3 * u32::try_from(PROVEN_MAX).unwrap() {
            lookups.learn(&hash(number), true);
        }
        let state = lookups.state();
        assert!(state.proven.len() + state.proven_before.len() <= 2 * PROVEN_MAX);
    }
}
