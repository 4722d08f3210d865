//! Rate limits shared through a real Redis.

use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_http::limits::{
    BackendState, Bucket, Capacity, Limiter, Limits, Memory, Redis, RedisOptions, Subject, monotonic_clock,
};
use bursar_testing::redis_url;
use redis::aio::MultiplexedConnection;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// A token nobody else uses, in this run or an earlier one.
pub(crate) fn somebody() -> Subject {
    let half = || u128::from(RandomState::new().hash_one(std::process::id()));
    Subject::Token((half() << 64 | half()).to_be_bytes())
}

pub(crate) fn quick() -> RedisOptions {
    RedisOptions {
        // A busy machine must not turn a test of counting into one of falling back.
        deadline: Duration::from_secs(2),
        retry_min: Duration::from_millis(50),
        retry_max: Duration::from_millis(100),
        check_every: Duration::from_millis(100),
        ..RedisOptions::default()
    }
}

pub(crate) fn limiter(url: &str, limits: Limits, options: RedisOptions) -> Limiter {
    let memory = Memory::new(limits, Capacity::default(), monotonic_clock(), 3);
    Limiter::redis(Redis::connect(url, memory, options).unwrap())
}

pub(crate) async fn shared(url: &str, options: RedisOptions) -> Arc<Limiter> {
    let limiter = limiter(url, Limits::default(), options);
    assert_eq!(
        limiter.settle(Duration::from_secs(10)).await,
        BackendState::Shared
    );
    Arc::new(limiter)
}

async fn direct() -> MultiplexedConnection {
    redis::Client::open(redis_url())
        .unwrap()
        .get_multiplexed_async_connection()
        .await
        .unwrap()
}

fn key(subject: Subject, bucket: Bucket) -> String {
    match subject {
        Subject::Token(id) => {
            format!(
                "bursar:rl:{{token:{:032x}}}:{}",
                u128::from_be_bytes(id),
                bucket.name()
            )
        }
        Subject::Address(address) => format!("bursar:rl:{{address:{address}}}:{}", bucket.name()),
        Subject::Person(_) | Subject::SignIn(_) => unreachable!("no test asks for these by key"),
    }
}

pub(crate) async fn until(what: &str, limiter: &Limiter, state: BackendState) {
    let start = Instant::now();
    while limiter.backend_state() != state {
        assert!(
            start.elapsed() < Duration::from_secs(20),
            "{what}: still {:?}",
            limiter.backend_state()
        );
        sleep(Duration::from_millis(5)).await;
    }
}

/// How many of so many charges of one unit fit, sent at once to these limiters in turn.
pub(crate) async fn fitting(
    limiters: &[Arc<Limiter>],
    subject: Subject,
    bucket: Bucket,
    count: usize,
) -> usize {
    let charges: Vec<_> = (0..count)
        .map(|number| {
            let limiter = Arc::clone(&limiters[number % limiters.len()]);
            tokio::spawn(async move { limiter.charge(subject, bucket, 1).await.allowed })
        })
        .collect();
    let mut fitted = 0;
    for charge in charges {
        fitted += usize::from(charge.await.unwrap());
    }
    fitted
}

#[tokio::test(flavor = "multi_thread")]
async fn of_240_at_once_through_two_replicas_120_fit() {
    let replicas = [
        shared(&redis_url(), quick()).await,
        shared(&redis_url(), quick()).await,
    ];
    assert_eq!(fitting(&replicas, somebody(), Bucket::Write, 240).await, 120);
    assert!(
        replicas
            .iter()
            .all(|replica| replica.backend_state() == BackendState::Shared)
    );
}

#[tokio::test]
async fn the_rules_are_those_of_the_local_counter() {
    let limiter = shared(&redis_url(), quick()).await;
    let subject = somebody();
    let mut redis = direct().await;
    assert_eq!(
        limiter.charge_now(subject, Bucket::Write, 1),
        None,
        "the shared counter has to be asked"
    );
    let charge = async |cost| {
        let charge = limiter.charge(subject, Bucket::Write, cost).await;
        (charge.allowed, charge.remaining, charge.reset_seconds)
    };
    assert_eq!(charge(121).await, (false, 120, 60));
    let exists: bool = redis::cmd("EXISTS")
        .arg(key(subject, Bucket::Write))
        .query_async(&mut redis)
        .await
        .unwrap();
    assert!(!exists, "a refused first request opens no window");
    assert_eq!(charge(118).await, (true, 2, 60));
    assert!(!charge(3).await.0);
    assert_eq!(charge(2).await.1, 0);
    assert!(!charge(1).await.0);
    let left: i64 = redis::cmd("PTTL")
        .arg(key(subject, Bucket::Write))
        .query_async(&mut redis)
        .await
        .unwrap();
    assert!((1..=60_000).contains(&left), "{left}");

    let expire = redis::cmd("PEXPIRE")
        .arg(key(subject, Bucket::Write))
        .arg(2500)
        .to_owned();
    expire.query_async::<()>(&mut redis).await.unwrap();
    let (allowed, remaining, reset) = charge(1).await;
    assert!(!allowed && remaining == 0 && (1..=3).contains(&reset), "{reset}");
    let expire = redis::cmd("PEXPIRE")
        .arg(key(subject, Bucket::Write))
        .arg(1)
        .to_owned();
    expire.query_async::<()>(&mut redis).await.unwrap();
    sleep(Duration::from_millis(20)).await;
    assert_eq!(charge(1).await, (true, 119, 60), "the window ends with its key");
}

#[tokio::test]
async fn a_key_that_never_expires_is_replaced() {
    let limiter = shared(&redis_url(), quick()).await;
    let subject = somebody();
    let mut redis = direct().await;
    let set = redis::cmd("SET")
        .arg(key(subject, Bucket::Read))
        .arg(600)
        .to_owned();
    set.query_async::<()>(&mut redis).await.unwrap();
    assert_eq!(limiter.charge(subject, Bucket::Read, 1).await.remaining, 599);
    let left: i64 = redis::cmd("PTTL")
        .arg(key(subject, Bucket::Read))
        .query_async(&mut redis)
        .await
        .unwrap();
    assert!(left > 0);
}

#[tokio::test]
async fn addresses_share_by_64_in_redis_too() {
    let limiter = shared(&redis_url(), quick()).await;
    let mut redis = direct().await;
    let Subject::Token([a, b, c, d, e, f, ..]) = somebody() else {
        unreachable!()
    };
    let network = u128::from_be_bytes([0x20, 1, a, b, c, d, e, f, 0, 0, 0, 0, 0, 0, 0, 0]);
    let address = |host: u128| Subject::Address(IpAddr::from((network | host).to_be_bytes()));
    assert_eq!(limiter.charge(address(1), Bucket::Read, 1).await.remaining, 599);
    assert_eq!(limiter.charge(address(2), Bucket::Read, 1).await.remaining, 598);
    let used: u32 = redis::cmd("GET")
        .arg(key(address(0), Bucket::Read))
        .query_async(&mut redis)
        .await
        .unwrap();
    assert_eq!(used, 2);
}

#[tokio::test]
async fn a_flushed_script_comes_back_by_itself() {
    let limiter = shared(&redis_url(), quick()).await;
    let subject = somebody();
    limiter.charge(subject, Bucket::Read, 1).await;
    let mut redis = direct().await;
    redis::cmd("SCRIPT")
        .arg("FLUSH")
        .query_async::<()>(&mut redis)
        .await
        .unwrap();
    assert_eq!(limiter.charge(subject, Bucket::Read, 1).await.remaining, 598);
    let used: u32 = redis::cmd("GET")
        .arg(key(subject, Bucket::Read))
        .query_async(&mut redis)
        .await
        .unwrap();
    assert_eq!(used, 2, "counted in Redis, not by falling back");
}

#[tokio::test(flavor = "multi_thread")]
async fn counting_goes_on_locally_while_redis_is_away_and_is_shared_again_after() {
    let relay = Relay::start().await;
    let replicas = [
        shared(&relay.url(), quick()).await,
        shared(&relay.url(), quick()).await,
    ];
    let subject = somebody();
    let [one, two] = &replicas;
    assert_eq!(fitting(&replicas, subject, Bucket::Write, 100).await, 100);
    assert_eq!(one.charge(subject, Bucket::Write, 0).await.remaining, 20);

    relay.set(Mode::Down);
    until("the loss is noticed", one, BackendState::Away).await;
    until("by both", two, BackendState::Away).await;
    let fitted = fitting(std::slice::from_ref(one), subject, Bucket::Write, 100).await;
    assert_eq!(fitted, 20, "the local count goes on from what Redis said last");
    assert_eq!(
        fitting(std::slice::from_ref(one), subject, Bucket::Write, 20).await,
        0,
        "and holds"
    );
    assert!(
        one.charge_now(somebody(), Bucket::Write, 1).unwrap().allowed,
        "nobody waits for Redis now"
    );

    relay.set(Mode::Up);
    until("it comes back", one, BackendState::Shared).await;
    until("to both", two, BackendState::Shared).await;
    assert_eq!(
        fitting(&replicas, somebody(), Bucket::Write, 240).await,
        120,
        "shared again"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn redis_lost_mid_run_refuses_nobody_who_has_units_left() {
    let relay = Relay::start().await;
    let limiter = shared(&relay.url(), quick()).await;
    let subject = somebody();
    let mut running = Vec::new();
    for number in 0..120 {
        if number == 60 {
            relay.set(Mode::Down);
        }
        let limiter = Arc::clone(&limiter);
        running.push(tokio::spawn(async move {
            limiter.charge(subject, Bucket::Write, 1).await.allowed
        }));
        tokio::task::yield_now().await;
    }
    for charge in running {
        assert!(
            charge.await.unwrap(),
            "every one of the first 120 fits, wherever it is counted"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redis_that_hangs_costs_a_few_requests_their_deadline_and_the_others_nothing() {
    let relay = Relay::start().await;
    let deadline = Duration::from_millis(50);
    let options = RedisOptions {
        deadline,
        check_every: Duration::from_secs(60),
        retry_min: Duration::from_millis(200),
        ..quick()
    };
    let limiter = shared(&relay.url(), options).await;
    relay.set(Mode::Frozen);
    let subject = somebody();
    for number in 1..=3 {
        let start = Instant::now();
        assert!(
            limiter.charge(subject, Bucket::Messaging, 1).await.allowed,
            "{number}: counted locally"
        );
        let took = start.elapsed();
        assert!(
            took >= deadline && took < Duration::from_secs(1),
            "{number}: {took:?}"
        );
    }
    assert_eq!(
        limiter.backend_state(),
        BackendState::Away,
        "three in a row open the breaker"
    );
    let start = Instant::now();
    for _ in 0..1000 {
        limiter.charge(subject, Bucket::Messaging, 1).await;
    }
    assert!(
        start.elapsed() < Duration::from_millis(500),
        "with the breaker open nobody waits"
    );
    assert!(
        !limiter.charge(subject, Bucket::Messaging, 1).await.allowed,
        "and the local count holds"
    );
    relay.set(Mode::Up);
    until("it answers again", &limiter, BackendState::Shared).await;
}

#[tokio::test]
async fn a_server_starts_without_redis_and_shares_when_it_comes() {
    let relay = Relay::start().await;
    relay.set(Mode::Down);
    let limiter = limiter(&relay.url(), Limits::default(), quick());
    assert_eq!(limiter.backend_state(), BackendState::Away);
    assert!(limiter.charge(somebody(), Bucket::Read, 1).await.allowed);
    assert_eq!(
        limiter.settle(Duration::from_millis(100)).await,
        BackendState::Away
    );
    relay.set(Mode::Up);
    assert_eq!(
        limiter.settle(Duration::from_secs(10)).await,
        BackendState::Shared
    );
}

#[tokio::test]
async fn a_quiet_connection_is_checked_so_that_the_state_is_true() {
    let relay = Relay::start().await;
    let limiter = shared(&relay.url(), quick()).await;
    relay.set(Mode::Down);
    until("without any request", &limiter, BackendState::Away).await;
}

#[tokio::test]
async fn a_wrong_address_is_refused_without_repeating_it() {
    for url in [
        "not a url",
        "http://user:hunter2@localhost",
        "redis://user:hunter2@host:99999",
    ] {
        let memory = Memory::new(Limits::default(), Capacity::default(), monotonic_clock(), 3);
        let refused = Redis::connect(url, memory, quick()).unwrap_err().to_string();
        assert!(
            refused.contains("redis://[USER:PASSWORD@]HOST[:PORT][/DB]"),
            "{refused}"
        );
        assert!(!refused.contains("hunter2"), "{refused}");
    }
}

/// What happens to the bytes between a limiter and Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Up,
    Down,
    Frozen,
}

/// Stands between limiter and Redis, so that a test can take Redis away from one limiter alone.
struct Relay {
    address: SocketAddr,
    mode: watch::Sender<Mode>,
}

impl Relay {
    async fn start() -> Self {
        let url = redis_url();
        let behind = url
            .trim_start_matches("redis://")
            .trim_end_matches('/')
            .to_owned();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = watch::Sender::new(Mode::Up);
        let watched = mode.subscribe();
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(carry(client, behind.clone(), watched.clone()));
            }
        });
        Self { address, mode }
    }

    fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }
}

async fn carry(client: TcpStream, behind: String, mode: watch::Receiver<Mode>) {
    if *mode.borrow() == Mode::Down {
        return;
    }
    let redis = TcpStream::connect(behind).await.unwrap();
    let (from_client, to_client) = client.into_split();
    let (from_redis, to_redis) = redis.into_split();
    let mut watched = mode.clone();
    tokio::select! {
        () = pump(from_client, to_redis, mode.clone()) => {}
        () = pump(from_redis, to_client, mode) => {}
        _ = watched.wait_for(|mode| *mode == Mode::Down) => {}
    }
}

async fn pump(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut mode: watch::Receiver<Mode>,
) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut buffer).await {
        if mode.wait_for(|mode| *mode == Mode::Up).await.is_err()
            || to.write_all(&buffer[..read]).await.is_err()
        {
            return;
        }
    }
}

#[tokio::test]
async fn the_relay_itself_carries() {
    let relay = Relay::start().await;
    let client = redis::Client::open(relay.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    redis::cmd("PING")
        .query_async::<()>(&mut connection)
        .await
        .unwrap();
    relay.set(Mode::Frozen);
    let frozen = timeout(
        Duration::from_millis(100),
        redis::cmd("PING").query_async::<()>(&mut connection),
    )
    .await;
    assert!(frozen.is_err());
}
