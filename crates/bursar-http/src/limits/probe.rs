//! A one-time check of Redis for `bursar doctor`.

use std::time::{Duration, Instant};

use redis::{AsyncConnectionConfig, Client, RedisError};
use tokio::time::timeout;

use super::redis::{InvalidRedisUrl, SCRIPT};

/// Redis deletes this window after a minute.
const KEY: &str = "bursar:rl:{look}:read";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    pub version: String,
    /// How long a charge took.
    pub charge: Duration,
}

/// Connects, reads the version, and charges as a request would.
pub async fn probe(url: &str, at_most: Duration) -> Result<Probed, String> {
    let client = Client::open(url).map_err(|error| InvalidRedisUrl(error).to_string())?;
    let look = look(&client, at_most);
    match timeout(at_most, look).await {
        Ok(seen) => seen.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no answer in {} s", at_most.as_secs())),
    }
}

async fn look(client: &Client, at_most: Duration) -> Result<Probed, RedisError> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(at_most))
        .set_response_timeout(None);
    let mut connection = client
        .get_multiplexed_async_connection_with_config(&config)
        .await?;
    redis::cmd("PING").query_async::<()>(&mut connection).await?;
    let info: String = redis::cmd("INFO")
        .arg("server")
        .query_async(&mut connection)
        .await?;
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
    let mut charge = redis::cmd("EVAL");
    charge.arg(SCRIPT).arg(1).arg(KEY).arg(1).arg(u32::MAX);
    // The first charge loads the script; a request finds it loaded.
    charge.query_async::<(u32, u32, u64)>(&mut connection).await?;
    let since = Instant::now();
    charge.query_async::<(u32, u32, u64)>(&mut connection).await?;
    Ok(Probed {
        version: version.unwrap_or("of an unknown version").trim().to_owned(),
        charge: since.elapsed(),
    })
}
