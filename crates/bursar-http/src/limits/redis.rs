//! Counts shared by all replicas in Redis: one atomic script per request, with a deadline and a circuit breaker.
//!
//! The window is the key's time to live in Redis, so the replicas' clocks do not matter. Rate limits protect
//! the service and must never take it down. So a call that fails or is late is counted in this process instead,
//! and after a few of those no request asks Redis until a background probe succeeds. Redis's replies
//! are noted in the local counter, so that counting continues from there.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};
use std::time::Duration;

use redis::{ErrorKind, RedisError, Script, ServerErrorKind};
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use super::servers::{Connection, InvalidRedisUrl, Servers, late};
use super::{BackendState, Bucket, Limits, Memory, Quota, Subject};
use crate::address;

/// Charges `ARGV[1]` units to the window `KEYS[1]` with the limit `ARGV[2]`. Returns whether it fitted, the units used,
/// and the window's remaining milliseconds. A key without a time to live is not ours and is replaced.
pub(super) const SCRIPT: &str = r"
local cost, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
local left = redis.call('PTTL', KEYS[1])
local used = 0
if left > 0 then used = tonumber(redis.call('GET', KEYS[1])) else left = 0 end
if used + cost > limit then
  if left == 0 then left = 60000 end
  return {0, used, left}
end
if left == 0 then
  redis.call('SET', KEYS[1], cost, 'PX', 60000)
  return {1, cost, 60000}
end
return {1, redis.call('INCRBY', KEYS[1], cost), left}
";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedisOptions {
    /// How long one request waits for Redis.
    pub deadline: Duration,
    /// Consecutive failures that open the breaker.
    pub failures_max: u32,
    /// The first wait before Redis is probed again; doubles up to `retry_max`.
    pub retry_min: Duration,
    pub retry_max: Duration,
    /// How often an idle connection is checked, so that health reports are true without traffic.
    pub check_every: Duration,
    /// For connecting, and for the check of an idle connection.
    pub connect_timeout: Duration,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            deadline: Duration::from_millis(50),
            failures_max: 3,
            retry_min: Duration::from_secs(1),
            retry_max: Duration::from_secs(5),
            check_every: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(1),
        }
    }
}

/// Dropping it ends its background task.
#[derive(Debug)]
pub struct Redis {
    link: Arc<Link>,
    keeper: AbortHandle,
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

impl Redis {
    /// Connects in the background and returns at once, even if Redis is unavailable. Must be called inside a tokio runtime.
    pub fn connect(url: &str, memory: Memory, options: RedisOptions) -> Result<Self, InvalidRedisUrl> {
        let servers = Servers::parse(url)?;
        let link = Arc::new(Link {
            memory,
            options,
            script: Script::new(SCRIPT),
            connection: RwLock::default(),
            failures: AtomicU32::new(0),
            state: watch::Sender::new(None),
            opened: Notify::new(),
        });
        let keeper = tokio::spawn(keep_connected(Arc::clone(&link), servers)).abort_handle();
        Ok(Self { link, keeper })
    }

    pub fn limits(&self) -> &Limits {
        self.link.memory.limits()
    }

    pub(super) fn state(&self) -> BackendState {
        self.link.state.borrow().unwrap_or(BackendState::Away)
    }

    pub(super) async fn settle(&self, at_most: Duration) -> BackendState {
        let mut state = self.link.state.subscribe();
        // A timeout is fine too: the current state is returned.
        let _ = timeout(
            at_most,
            state.wait_for(|state| *state == Some(BackendState::Shared)),
        )
        .await;
        self.state()
    }

    pub(super) fn charge_now(&self, subject: Subject, bucket: Bucket, cost: u32) -> Option<Quota> {
        (self.state() == BackendState::Away).then(|| self.link.memory.charge(subject, bucket, cost))
    }

    /// What Redis last reported for the subject, less what was counted here since.
    pub(super) fn left(&self, subject: Subject, bucket: Bucket) -> u32 {
        self.link.memory.left(subject, bucket)
    }

    pub(super) async fn charge(&self, subject: Subject, bucket: Bucket, cost: u32) -> Quota {
        let link = &*self.link;
        if let Some(connection) = link.connection() {
            match timeout(link.options.deadline, link.ask(connection, subject, bucket, cost)).await {
                Ok(Ok(quota)) => return quota,
                Ok(Err(error)) => link.failed(&error, error.is_unrecoverable_error()),
                Err(late) => link.failed(&late, false),
            }
        }
        link.memory.charge(subject, bucket, cost)
    }
}

/// The connection and its breaker. The breaker is closed while there is a connection.
struct Link {
    memory: Memory,
    options: RedisOptions,
    script: Script,
    connection: RwLock<Option<Connection>>,
    failures: AtomicU32,
    /// `None` until the first attempt to connect has ended.
    state: watch::Sender<Option<BackendState>>,
    /// Wakes the background task when the breaker opens.
    opened: Notify,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl Link {
    fn connection(&self) -> Option<Connection> {
        self.connection
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn ask(
        &self,
        mut connection: Connection,
        subject: Subject,
        bucket: Bucket,
        cost: u32,
    ) -> Result<Quota, RedisError> {
        let limit = self.memory.limits().of(bucket);
        let key = key(subject, bucket);
        let call = |command, script: &str| {
            let mut call = redis::cmd(command);
            call.arg(script).arg(1).arg(&key).arg(cost).arg(limit);
            call
        };
        let mut reply = call("EVALSHA", self.script.get_hash())
            .query_async(&mut connection)
            .await;
        // Redis was restarted or its scripts were flushed; EVAL loads the script again.
        if let Err(error) = &reply
            && error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
        {
            reply = call("EVAL", SCRIPT).query_async(&mut connection).await;
        }
        let (allowed, used, left_millis): (u32, u32, u64) = reply?;
        self.failures.store(0, Ordering::Relaxed);
        let left_micros = left_millis.saturating_mul(1000);
        if used > 0 {
            self.memory.note(subject, bucket, used, left_micros);
        }
        Ok(Quota::new(bucket, limit, used, left_micros, allowed == 1))
    }

    /// Opens the breaker after too many failures in a row, or at once when the connection is lost.
    fn failed(&self, why: &dyn fmt::Display, lost: bool) {
        let failures = self.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if lost || failures >= self.options.failures_max {
            self.open(why);
        }
    }

    fn open(&self, why: &dyn fmt::Display) {
        let mut connection = self.connection_mut();
        *connection = None;
        if self.change(BackendState::Away) {
            tracing::warn!(error = %why, "Redis is unavailable: rate limits are counted in this process until it is back");
            self.opened.notify_one();
        }
    }

    fn close(&self, fresh: Connection) {
        let mut connection = self.connection_mut();
        *connection = Some(fresh);
        self.failures.store(0, Ordering::Relaxed);
        if self.change(BackendState::Shared) {
            tracing::info!("Redis is available: rate limits are shared");
        }
    }

    /// Held while the state changes too, so that connection and state never disagree.
    fn connection_mut(&self) -> RwLockWriteGuard<'_, Option<Connection>> {
        self.connection.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the state changed, so that each change is logged once however many requests notice it.
    fn change(&self, to: BackendState) -> bool {
        self.state.send_if_modified(|state| state.replace(to) != Some(to))
    }
}

/// The background task that connects, checks and reconnects. Requests never wait for a probe.
async fn keep_connected(link: Arc<Link>, servers: Servers) {
    let options = link.options;
    let mut retry = options.retry_min;
    loop {
        let wait = match link.connection() {
            Some(mut connection) => {
                let ping = redis::cmd("PING");
                match timeout(options.connect_timeout, ping.query_async::<()>(&mut connection)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => link.open(&error),
                    Err(late) => link.open(&late),
                }
                options.check_every
            }
            None => match probe(&link, &servers).await {
                Ok(connection) => {
                    link.close(connection);
                    retry = options.retry_min;
                    options.check_every
                }
                Err(error) => {
                    link.open(&error);
                    let wait = retry;
                    retry = retry.saturating_mul(2).min(options.retry_max);
                    wait
                }
            },
        };
        tokio::select! {
            () = sleep(wait) => {}
            // The breaker opened: wait before the next probe.
            () = link.opened.notified() => sleep(options.retry_min).await,
        }
    }
}

/// Opens a connection that responds within a request's deadline; loading the script proves it.
async fn probe(link: &Link, servers: &Servers) -> Result<Connection, RedisError> {
    let mut connection = servers.connect(link.options.connect_timeout).await?;
    timeout(link.options.deadline, link.script.load_async(&mut connection))
        .await
        .map_err(late)??;
    Ok(connection)
}

/// The braces keep a subject's windows on one node of a cluster.
fn key(subject: Subject, bucket: Bucket) -> String {
    let mut key = String::with_capacity(72);
    key.push_str("bursar:rl:{");
    // Writing to a String cannot fail.
    let _ = match subject {
        Subject::Token(id) => write!(key, "token:{:032x}", u128::from_be_bytes(id)),
        Subject::Person(id) => write!(key, "person:{:032x}", u128::from_be_bytes(id)),
        Subject::Address(address) => write!(key, "address:{}", address::counted(address)),
        Subject::SignIn(address) => write!(key, "sign-in:{}", address::counted(address)),
    };
    key.push_str("}:");
    key.push_str(bucket.name());
    key
}
