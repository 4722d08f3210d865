//! A one-time check of Redis for `bursar doctor`.

use std::time::{Duration, Instant};

use redis::RedisError;
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use tokio::time::timeout;

use super::redis::SCRIPT;
use super::servers::{Connection, Servers};

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
    let servers = Servers::parse(url).map_err(|error| error.to_string())?;
    match timeout(at_most, look(&servers, at_most / 3)).await {
        Ok(seen) => seen.map_err(|error| error.to_string()),
        Err(_) => Err(format!("no response in {} s", at_most.as_secs())),
    }
}

async fn look(servers: &Servers, each_step: Duration) -> Result<Probed, RedisError> {
    let mut connection = servers.connect(each_step).await?;
    redis::cmd("PING").query_async::<()>(&mut connection).await?;
    let version = version(&mut connection).await?;
    let mut charge = redis::cmd("EVAL");
    charge.arg(SCRIPT).arg(1).arg(KEY).arg(1).arg(u32::MAX);
    // The first charge loads the script; a request finds it loaded.
    charge.query_async::<(u32, u32, u64)>(&mut connection).await?;
    let since = Instant::now();
    charge.query_async::<(u32, u32, u64)>(&mut connection).await?;
    Ok(Probed {
        version,
        charge: since.elapsed(),
    })
}

async fn version(connection: &mut Connection) -> Result<String, RedisError> {
    let mut info = redis::cmd("INFO");
    info.arg("server");
    let info: String = match connection {
        Connection::One(connection) => info.query_async(connection).await?,
        Connection::Cluster(connection) => {
            let node = RoutingInfo::SingleNode(SingleNodeRoutingInfo::Random);
            redis::from_redis_value(connection.route_command(info, node).await?)?
        }
    };
    let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
    Ok(version.unwrap_or("of an unknown version").trim().to_owned())
}
