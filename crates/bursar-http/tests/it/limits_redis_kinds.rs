//! Redis as people run it: with a password and TLS, behind sentinels, and as a cluster. Each test starts servers of its own.

use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bursar_http::limits::{BackendState, Bucket, Limiter, Limits, RedisOptions, probe};
use redis::aio::MultiplexedConnection;
use tempfile::TempDir;
use tokio::time::sleep;

use crate::limits_redis::{fitting, limiter, quick, shared, somebody, until};

/// A `redis-server` that ends with the test.
struct Server {
    child: Child,
    port: u16,
    _dir: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Also the port of a cluster's own protocol, 10,000 above it, must be free and exist.
fn free_port() -> u16 {
    loop {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        if port < 50_000 && TcpListener::bind((Ipv4Addr::LOCALHOST, port + 10_000)).is_ok() {
            return port;
        }
    }
}

/// Starts with this configuration, in which `PORT` stands for its port.
fn start(configuration: &str, arguments: &[&str]) -> Server {
    let (dir, port) = (TempDir::new().unwrap(), free_port());
    let file = dir.path().join("redis.conf");
    let always = format!("bind 127.0.0.1\ndir {}\n", dir.path().display());
    std::fs::write(&file, always + &configuration.replace("PORT", &port.to_string())).unwrap();
    let child = Command::new("redis-server")
        .arg(&file)
        .args(arguments)
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is needed; scripts/test installs it");
    let server = Server {
        child,
        port,
        _dir: dir,
    };
    let start = Instant::now();
    while std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "Redis does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    server
}

const PLAIN: &str = "port PORT\nsave \"\"\nappendonly no\n";

async fn to(server: &Server) -> MultiplexedConnection {
    let client = redis::Client::open(format!("redis://127.0.0.1:{}/", server.port)).unwrap();
    client.get_multiplexed_async_connection().await.unwrap()
}

async fn ask<T: redis::FromRedisValue>(server: &Server, words: &[&str]) -> T {
    let mut cmd = redis::cmd(words[0]);
    for word in &words[1..] {
        cmd.arg(*word);
    }
    cmd.query_async(&mut to(server).await).await.unwrap()
}

fn tls_file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/tls")
        .join(name);
    path.display().to_string()
}

/// A request is never held up: it is counted here.
async fn goes_on(limiter: &Limiter) {
    let start = Instant::now();
    let quota = limiter.charge(somebody(), Bucket::Read, 1).await;
    assert!(quota.allowed && start.elapsed() < Duration::from_secs(4));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_and_tls_with_an_authority_of_ones_own() {
    let pem = tls_file("server.pem");
    let server = start(
        &format!(
            "port 0\ntls-port PORT\ntls-cert-file {pem}\ntls-key-file {pem}\ntls-ca-cert-file {}\ntls-auth-clients no\n\
             requirepass a:b@c\nsave \"\"\n",
            tls_file("authority.pem")
        ),
        &[],
    );
    let (host, ca) = (format!("localhost:{}", server.port), tls_file("authority.pem"));
    let right = format!("rediss://:a%3Ab%40c@{host}/1?ca={ca}");
    let replicas = [shared(&right, quick()).await, shared(&right, quick()).await];
    assert_eq!(fitting(&replicas, somebody(), Bucket::Write, 240).await, 120);
    assert!(
        probe(&right, Duration::from_secs(5))
            .await
            .unwrap()
            .version
            .starts_with(char::is_numeric)
    );

    for (wrong, why) in [
        (format!("rediss://:a%3Ab%40c@{host}/"), "UnknownIssuer"),
        (
            format!("rediss://:secret@{host}/?ca={ca}"),
            "Password authentication failed",
        ),
        (format!("redis://:a%3Ab%40c@{host}/"), ""),
    ] {
        let limiter = limiter(&wrong, Limits::default(), quick());
        assert_eq!(
            limiter.settle(Duration::from_secs(1)).await,
            BackendState::Away,
            "{wrong}"
        );
        goes_on(&limiter).await;
        let told = probe(&wrong, Duration::from_secs(5)).await.unwrap_err();
        assert!(told.contains(why) && !told.contains("secret"), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sentinels_name_the_primary_also_after_a_failover() {
    let primary = start(PLAIN, &[]);
    let replica = start(&format!("{PLAIN}replicaof 127.0.0.1 {}\n", primary.port), &[]);
    let watch = format!(
        "port PORT\nsentinel monitor club 127.0.0.1 {} 1\nsentinel down-after-milliseconds club 500\n\
         sentinel failover-timeout club 2000\n",
        primary.port
    );
    let sentinel = start(&watch, &["--sentinel"]);
    // A sentinel that accepts and never responds stands first, and one that is not there second.
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let hosts = format!(
        "127.0.0.1:{},127.0.0.1:{},127.0.0.1:{}",
        silent.local_addr().unwrap().port(),
        free_port(),
        sentinel.port
    );
    let url = format!("redis+sentinel://{hosts}/club");
    let limiters = [shared(&url, quick()).await, shared(&url, quick()).await];
    assert_eq!(fitting(&limiters, somebody(), Bucket::Write, 240).await, 120);

    let unknown = url.replace("/club", "/nobody");
    let told = probe(&unknown, Duration::from_secs(5)).await.unwrap_err();
    assert!(told.contains("knows no primary called \"nobody\""), "{told}");

    let start = Instant::now();
    while ask::<Vec<redis::Value>>(&sentinel, &["SENTINEL", "replicas", "club"])
        .await
        .is_empty()
    {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "the sentinel finds no replica"
        );
        sleep(Duration::from_millis(50)).await;
    }
    drop(primary);
    goes_on(&limiters[0]).await;
    for limiter in &limiters {
        until("the primary is gone", limiter, BackendState::Away).await;
    }
    for limiter in &limiters {
        until("the replica has taken over", limiter, BackendState::Shared).await;
    }
    assert_eq!(fitting(&limiters, somebody(), Bucket::Write, 240).await, 120);
    let counted: i64 = ask(&replica, &["DBSIZE"]).await;
    assert!(counted > 0, "it is the new primary that counts");
}

/// A sentinel that was cut off still names the primary of before.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_not_used_unless_it_says_itself_that_it_is_the_primary() {
    let primary = start(PLAIN, &[]);
    let replica = start(&format!("{PLAIN}replicaof 127.0.0.1 {}\n", primary.port), &[]);
    let naming = |server: &Server| {
        let watch = format!(
            "port PORT\nsentinel monitor club 127.0.0.1 {} 1\nsentinel down-after-milliseconds club 600000\n",
            server.port
        );
        start(&watch, &["--sentinel"])
    };
    let (stale, current) = (naming(&replica), naming(&primary));

    let misled = format!("redis+sentinel://127.0.0.1:{}/club", stale.port);
    let told = probe(&misled, Duration::from_secs(5)).await.unwrap_err();
    assert!(told.contains("a server that is not the primary"), "{told}");
    let limiter = limiter(&misled, Limits::default(), quick());
    assert_eq!(limiter.settle(Duration::from_secs(1)).await, BackendState::Away);
    goes_on(&limiter).await;

    let both = format!(
        "redis+sentinel://127.0.0.1:{},127.0.0.1:{}/club",
        stale.port, current.port
    );
    let limiters = [shared(&both, quick()).await, shared(&both, quick()).await];
    assert_eq!(fitting(&limiters, somebody(), Bucket::Write, 240).await, 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_shares_counts_and_may_lose_a_node() {
    let configuration =
        format!("{PLAIN}cluster-enabled yes\ncluster-node-timeout 2000\ncluster-require-full-coverage no\n");
    let mut nodes: Vec<Server> = (0..3).map(|_| start(&configuration, &[])).collect();
    for (node, (first, last)) in nodes.iter().zip([(0, 5460), (5461, 10922), (10923, 16383)]) {
        let slots = [first.to_string(), last.to_string()];
        ask::<()>(node, &["CLUSTER", "ADDSLOTSRANGE", &slots[0], &slots[1]]).await;
    }
    for node in &nodes[1..] {
        ask::<()>(
            &nodes[0],
            &["CLUSTER", "MEET", "127.0.0.1", &node.port.to_string()],
        )
        .await;
    }
    let start = Instant::now();
    for node in &nodes {
        // The state may be ok before a node knows who has the other slots, and not yet ok when it does.
        loop {
            let info: String = ask(node, &["CLUSTER", "INFO"]).await;
            let formed = [
                "cluster_state:ok",
                "cluster_slots_ok:16384",
                "cluster_known_nodes:3",
            ];
            if formed.iter().all(|line| info.contains(line)) {
                break;
            }
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "the cluster does not form"
            );
            sleep(Duration::from_millis(50)).await;
        }
    }
    // One address is enough to find the others.
    let urls = [
        format!("redis+cluster://127.0.0.1:{}", nodes[0].port),
        format!(
            "redis+cluster://127.0.0.1:{},127.0.0.1:{}",
            free_port(),
            nodes[2].port
        ),
    ];
    let options = RedisOptions {
        connect_timeout: Duration::from_secs(5),
        ..quick()
    };
    let limiters = [shared(&urls[0], options).await, shared(&urls[1], options).await];
    for _ in 0..8 {
        assert_eq!(fitting(&limiters, somebody(), Bucket::Messaging, 40).await, 20);
    }
    // Each is on a node by chance: with a hundred, the chance that a node has none is one in 10^17.
    for _ in 0..100 {
        assert!(limiters[0].charge(somebody(), Bucket::Read, 1).await.allowed);
    }
    for node in &nodes {
        let counted: i64 = ask(node, &["DBSIZE"]).await;
        assert!(counted > 0, "every node counts for some");
    }
    assert!(probe(&urls[0], Duration::from_secs(5)).await.is_ok());

    drop(nodes.pop());
    for _ in 0..20 {
        goes_on(&limiters[0]).await;
    }
}
