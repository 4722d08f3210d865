//! The rules of the rate limits, with a clock that the tests move.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bursar_http::limits::{
    BackendState, Bucket, Capacity, Clock, Limiter, Limits, Memory, Quota, Subject, monotonic_clock,
};
use hyper::HeaderMap;

/// A clock that stands still until it is moved.
#[derive(Clone, Default)]
pub(crate) struct Hand(Arc<AtomicU64>);

impl Hand {
    pub(crate) fn clock(&self) -> Clock {
        let hand = self.clone();
        Arc::new(move || hand.0.load(Ordering::SeqCst))
    }

    fn forward_micros(&self, micros: u64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }

    pub(crate) fn forward(&self, seconds: u64) {
        self.forward_micros(seconds * 1_000_000);
    }
}

const ALICE: Subject = Subject::Token(*b"alice's token id");
const BOB: Subject = Subject::Token(*b"bob's token's id");

fn counter(limits: Limits, hand: &Hand) -> Memory {
    Memory::new(limits, Capacity::default(), hand.clock(), 7)
}

fn few() -> Limits {
    Limits {
        read: 5,
        write: 3,
        messaging: 1,
    }
}

/// `(allowed, remaining, reset)`, which is what a client sees.
fn told(quota: Quota) -> (bool, u32, u32) {
    (quota.allowed, quota.remaining, quota.reset_seconds)
}

#[test]
fn the_limits_are_those_of_the_contract() {
    let limits = Limits::default();
    let each = Bucket::ALL.map(|bucket| (bucket.name(), limits.of(bucket)));
    assert_eq!(each, [("read", 600), ("write", 120), ("messaging", 20)]);
}

#[test]
fn the_first_request_opens_a_window_of_sixty_seconds() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    hand.forward(1000);
    let read = || told(counter.charge(ALICE, Bucket::Read, 1));
    assert_eq!(read(), (true, 4, 60));
    hand.forward_micros(1);
    assert_eq!(read(), (true, 3, 60), "59.999999 s are rounded up");
    hand.forward_micros(999_999);
    assert_eq!(read(), (true, 2, 59));
    hand.forward(58);
    assert_eq!(read(), (true, 1, 1));
    hand.forward_micros(999_999);
    assert_eq!(read(), (true, 0, 1), "the last microsecond still says 1");
    assert_eq!(read(), (false, 0, 1));
    hand.forward_micros(1);
    assert_eq!(
        read(),
        (true, 4, 60),
        "sixty seconds after the first request there is a new window"
    );
}

#[test]
fn a_window_starts_with_a_request_and_not_when_the_last_one_ended() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    counter.charge(ALICE, Bucket::Read, 1);
    hand.forward(150);
    assert_eq!(told(counter.charge(ALICE, Bucket::Read, 1)), (true, 4, 60));
}

#[test]
fn what_does_not_fit_is_refused_and_charges_nothing() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    let read = |cost| told(counter.charge(ALICE, Bucket::Read, cost));
    assert_eq!(read(4), (true, 1, 60));
    assert_eq!(read(2), (false, 1, 60));
    assert_eq!(read(u32::MAX), (false, 1, 60));
    assert_eq!(read(1), (true, 0, 60), "the refused ones left the last unit");
    assert_eq!(read(0), (true, 0, 60), "what costs nothing always fits");
    assert_eq!(read(1), (false, 0, 60));
}

#[test]
fn a_refused_first_request_opens_no_window() {
    let hand = Hand::default();
    let counter = counter(
        Limits {
            messaging: 0,
            ..few()
        },
        &hand,
    );
    assert_eq!(told(counter.charge(ALICE, Bucket::Read, 6)), (false, 5, 60));
    hand.forward(30);
    assert_eq!(told(counter.charge(ALICE, Bucket::Read, 5)), (true, 0, 60));
    assert_eq!(
        told(counter.charge(ALICE, Bucket::Messaging, 1)),
        (false, 0, 60),
        "a bucket may be closed"
    );
    assert_eq!(counter.windows(), (1, 0));
}

#[test]
fn subjects_and_buckets_do_not_share() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    let address = Subject::Address(IpAddr::V4(Ipv4Addr::LOCALHOST));
    assert!(counter.charge(ALICE, Bucket::Messaging, 1).allowed);
    assert!(!counter.charge(ALICE, Bucket::Messaging, 1).allowed);
    for (subject, bucket) in [
        (ALICE, Bucket::Read),
        (ALICE, Bucket::Write),
        (BOB, Bucket::Messaging),
        (address, Bucket::Messaging),
    ] {
        assert!(
            counter.charge(subject, bucket, 1).allowed,
            "{subject:?} {bucket:?}"
        );
    }
}

#[test]
fn addresses_of_one_subscriber_share() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    let remaining = |address: &str| {
        counter
            .charge(Subject::Address(address.parse().unwrap()), Bucket::Read, 1)
            .remaining
    };
    assert_eq!(remaining("2001:db8::1"), 4);
    assert_eq!(remaining("2001:db8::ffff:0:0:2"), 3, "the same /64");
    assert_eq!(remaining("2001:db8:0:1::1"), 4, "the next /64");
    assert_eq!(remaining("192.0.2.1"), 4);
    assert_eq!(remaining("::ffff:192.0.2.1"), 3, "IPv4-mapped");
    assert_eq!(remaining("192.0.2.2"), 4);
}

#[test]
fn of_240_at_once_120_fit() {
    let limiter = Limiter::memory(Memory::new(
        Limits::default(),
        Capacity::default(),
        monotonic_clock(),
        1,
    ));
    let allowed: u32 = std::thread::scope(|scope| {
        let charge = || limiter.charge_now(ALICE, Bucket::Write, 1).unwrap().allowed;
        let workers: Vec<_> = (0..24)
            .map(|_| scope.spawn(move || (0..10).map(|_| u32::from(charge())).sum::<u32>()))
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(allowed, 120);
    assert_eq!(limiter.backend_state(), BackendState::Local);
}

#[test]
fn a_flood_of_addresses_is_bounded_and_touches_no_token() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    for _ in 0..3 {
        assert!(counter.charge(ALICE, Bucket::Write, 1).allowed);
    }
    for number in 0..200_000_u32 {
        hand.forward_micros(10);
        let flood = Subject::Address(IpAddr::V4(Ipv4Addr::from_bits(number)));
        assert!(
            counter.charge(flood, Bucket::Read, 5).allowed,
            "a new address is counted, not turned away"
        );
        assert!(
            !counter.charge(flood, Bucket::Read, 1).allowed,
            "and not waved through"
        );
        if number % 10_000 == 0 {
            assert!(counter.windows().1 <= 100_000 + 64, "{:?}", counter.windows());
        }
    }
    let (tokens, addresses) = counter.windows();
    assert_eq!(tokens, 1);
    assert!((90_000..=100_064).contains(&addresses), "{addresses}");
    assert!(
        !counter.charge(ALICE, Bucket::Write, 1).allowed,
        "a token's window outlives the flood"
    );
    let late = Subject::Address(IpAddr::V4(Ipv4Addr::from_bits(199_999)));
    assert!(
        !counter.charge(late, Bucket::Read, 1).allowed,
        "the newest windows are still held"
    );
}

#[test]
fn one_subscriber_with_many_addresses_fills_one_place() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    let network = u128::from(0x2001_0db8_0000_0001_u64) << 64;
    let allowed = (0..50_000_u128)
        .filter(|host| {
            let address = Ipv6Addr::from_bits(network | host);
            counter
                .charge(Subject::Address(IpAddr::V6(address)), Bucket::Read, 1)
                .allowed
        })
        .count();
    assert_eq!((allowed, counter.windows()), (5, (0, 1)));
}

/// One id or address as each kind of subject: what one spends is not missing to another.
#[test]
fn each_kind_of_subject_is_counted_for_itself() {
    let counter = counter(few(), &Hand::default());
    let (id, address) = (*b"the same id here", IpAddr::V4(Ipv4Addr::LOCALHOST));
    let kinds = [
        Subject::Token(id),
        Subject::Person(id),
        Subject::Address(address),
        Subject::SignIn(address),
    ];
    for kind in kinds {
        let allowed = (0..9).filter(|_| counter.charge(kind, Bucket::Read, 1).allowed);
        assert_eq!(allowed.count(), 5, "{kind:?}");
    }
}

#[test]
fn expired_windows_are_swept_by_new_ones() {
    let hand = Hand::default();
    let counter = counter(few(), &hand);
    let address = |number| Subject::Address(IpAddr::V4(Ipv4Addr::from_bits(number)));
    for number in 0..50_000 {
        counter.charge(address(number), Bucket::Read, 1);
    }
    assert_eq!(counter.windows().1, 50_000);
    hand.forward(60);
    // In the other order, so that what is swept meets what was opened anew.
    for number in (20_000..50_000).rev() {
        counter.charge(address(number), Bucket::Read, 1);
    }
    let (_, held) = counter.windows();
    assert!(
        (30_000..33_000).contains(&held),
        "{held}: what expired is gone, what was opened anew is not"
    );
    for number in 20_000..50_000 {
        assert_eq!(
            counter.charge(address(number), Bucket::Read, 1).remaining,
            3,
            "{number}"
        );
    }
}

#[test]
fn the_five_fields_say_the_same() {
    let hand = Hand::default();
    let limiter = Limiter::memory(counter(Limits::default(), &hand));
    let fields = |cost| {
        let charge = limiter.charge_now(ALICE, Bucket::Read, cost).unwrap();
        let mut headers = HeaderMap::new();
        limiter.write_headers(&charge, &mut headers);
        let mut lines: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        lines.sort();
        lines.join("\n")
    };
    assert_eq!(
        fields(1),
        "ratelimit-limit: 600\n\
         ratelimit-policy: \"read\";q=600;w=60\n\
         ratelimit-remaining: 599\n\
         ratelimit-reset: 60\n\
         ratelimit: \"read\";r=599;t=60"
    );
    hand.forward(18);
    assert_eq!(
        fields(600),
        "ratelimit-limit: 600\n\
         ratelimit-policy: \"read\";q=600;w=60\n\
         ratelimit-remaining: 599\n\
         ratelimit-reset: 42\n\
         ratelimit: \"read\";r=599;t=42\n\
         retry-after: 42"
    );
}
