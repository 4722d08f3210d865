//! Shared by the tests of all crates: databases on both engines, waiting, seeds, snapshots, and mail, SMS and
//! webhook servers.
//! It uses no other crate of bursar, so that each of them can use it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "this crate is for tests: one that cannot go on stops here, and names say enough"
)]

pub mod journal;
mod place;
pub mod receiver;
mod relay;
pub mod sink;
mod snapshot;

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread;
use std::time::{Duration, Instant};

use fastrand::Rng;
pub use place::{Engine, Place};
pub use relay::Relay;
pub use snapshot::compare;

/// Longer than anything that a test waits for, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

#[expect(
    clippy::disallowed_methods,
    reason = "how tests run is part of their environment"
)]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

fn service(name: &str) -> String {
    variable(name).unwrap_or_else(|| panic!("set {name}, or run scripts/test, which starts the services"))
}

pub fn redis_url() -> String {
    service("BURSAR_TEST_REDIS")
}

/// An address that nobody listens on. The port is below those that the kernel gives away by itself, so that it stays
/// free while a test gets to it.
pub fn free_address() -> SocketAddr {
    let free = || {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, fastrand::u16(20_000..32_000)));
        TcpListener::bind(address).ok().map(|_| address)
    };
    (0..100).find_map(|_| free()).expect("a free port")
}

/// `scripts/test --full` asks for larger counts.
pub fn is_full() -> bool {
    variable("BURSAR_TEST_FULL").is_some()
}

thread_local! {
    static SEEDS: RefCell<Option<Rng>> = const { RefCell::new(None) };
}

/// A new seed at each call. A failing test shows where the first came from, and `BURSAR_TEST_SEED` repeats them.
pub fn seed() -> u64 {
    SEEDS.with_borrow_mut(|seeds| seeds.get_or_insert_with(first).u64(..))
}

/// From the same seeds.
pub fn entropy<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    Rng::with_seed(seed()).fill(&mut bytes);
    bytes
}

fn first() -> Rng {
    let seed = match variable("BURSAR_TEST_SEED") {
        Some(given) => given.parse().expect("BURSAR_TEST_SEED is a number"),
        None => RandomState::new().hash_one(()),
    };
    println!("repeat it with BURSAR_TEST_SEED={seed}");
    Rng::with_seed(seed)
}

/// Waits until `look` returns something.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(since.elapsed() < PATIENCE, "it did not come to this: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(what, || holds().then_some(()));
}

/// The records of a file, the names of the columns first.
pub fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let cells = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    reader.records().map(|row| cells(row.unwrap())).collect()
}
