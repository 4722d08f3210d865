//! Where Redis is: one server, the primary that sentinels name, or a cluster.

use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, Pipeline, RedisError, RedisFuture, RedisResult,
    TlsCertificates, Value,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

const SENTINEL_PORT: u16 = 26379;
const FORMS: &str = "give redis://[USER:PASSWORD@]HOST[:PORT][/DB], redis+sentinel://[USER:PASSWORD@]HOST[:PORT],…/NAME[/DB] \
                     or redis+cluster://[USER:PASSWORD@]HOST[:PORT],…; rediss instead of redis for TLS, and ?ca=FILE for a \
                     certificate authority of your own";

/// The message never contains the URL, which may hold a password.
#[derive(Debug)]
pub struct InvalidRedisUrl(String);

impl fmt::Display for InvalidRedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a usable Redis URL ({}); {FORMS}", self.0)
    }
}

impl std::error::Error for InvalidRedisUrl {}

impl From<RedisError> for InvalidRedisUrl {
    fn from(error: RedisError) -> Self {
        Self(error.to_string())
    }
}

pub(super) enum Servers {
    One(Client),
    Sentinels {
        asked: Vec<Client>,
        /// The name by which the sentinels know the primary.
        primary: String,
        /// What a primary's URL has beside its address.
        reach: Reach,
    },
    Cluster(Box<ClusterClient>),
}

#[derive(Clone)]
pub(super) struct Reach {
    scheme: String,
    /// With its `@`, or empty.
    login: String,
    database: String,
    authority: Option<Vec<u8>>,
}

impl Reach {
    fn client(&self, address: &str) -> RedisResult<Client> {
        let url = format!("{}://{}{address}/{}", self.scheme, self.login, self.database);
        match &self.authority {
            Some(_) => Client::build_with_tls(url, self.certificates()),
            None => Client::open(url),
        }
    }

    fn certificates(&self) -> TlsCertificates {
        TlsCertificates {
            client_tls: None,
            root_cert: self.authority.clone(),
        }
    }
}

/// The parts of a URL's query that are ours.
#[derive(Default)]
struct Options {
    authority: Option<Vec<u8>>,
    sentinel_login: String,
}

impl Options {
    fn read(query: &str, with_sentinels: bool) -> Result<Self, InvalidRedisUrl> {
        let mut options = Self::default();
        let (mut user, mut password) = (String::new(), None);
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("ca", file)) => {
                    let file = percent_decode_str(file).decode_utf8_lossy();
                    let pem = std::fs::read(&*file)
                        .map_err(|error| InvalidRedisUrl(format!("ca={file} cannot be read: {error}")))?;
                    options.authority = Some(pem);
                }
                // They stay percent-encoded: they become part of a URL again.
                Some(("sentinel-user", value)) if with_sentinels => value.clone_into(&mut user),
                Some(("sentinel-password", value)) if with_sentinels => password = Some(value),
                _ => {
                    let name = pair.split('=').next().unwrap_or_default();
                    return Err(InvalidRedisUrl(format!("{name} is not an option")));
                }
            }
        }
        if let Some(password) = password {
            options.sentinel_login = format!("{user}:{password}@");
        }
        Ok(options)
    }
}

impl Servers {
    pub(super) fn parse(url: &str) -> Result<Self, InvalidRedisUrl> {
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| InvalidRedisUrl("it has no scheme".to_owned()))?;
        let (plain, many) = match scheme.rsplit_once('+') {
            Some((plain @ ("redis" | "rediss"), many @ ("sentinel" | "cluster"))) => (plain, Some(many)),
            _ => (scheme, None),
        };
        if plain == "rediss" {
            // Redis's library uses the process's provider. Another part may have installed the same one before.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if many.is_none() && !query.split('&').any(|pair| pair.starts_with("ca=")) {
            return Ok(Self::One(Client::open(url)?));
        }
        let options = Options::read(query, many == Some("sentinel"))?;
        if options.authority.is_some() && plain != "rediss" {
            return Err(InvalidRedisUrl("ca is for rediss, which uses TLS".to_owned()));
        }
        let (login, rest) = match rest.rsplit_once('@') {
            Some((login, rest)) => (format!("{login}@"), rest),
            None => (String::new(), rest),
        };
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let hosts: Vec<&str> = hosts.split(',').collect();
        let mut reach = Reach {
            scheme: plain.to_owned(),
            login,
            database: path.to_owned(),
            authority: options.authority,
        };
        match many {
            None => Ok(Self::One(
                reach.client(hosts.first().copied().unwrap_or_default())?,
            )),
            Some("sentinel") => {
                let (primary, database) = path.split_once('/').unwrap_or((path, ""));
                if primary.is_empty() {
                    let missing = "the name of the primary is missing, such as /mymaster";
                    return Err(InvalidRedisUrl(missing.to_owned()));
                }
                reach.database = database.to_owned();
                // A wrong login or database is found here, and not when the primary is first looked for.
                reach.client("127.0.0.1")?;
                let sentinel = Reach {
                    login: options.sentinel_login,
                    database: String::new(),
                    ..reach.clone()
                };
                let asked = hosts.iter().map(|host| sentinel.client(&with_port(host)));
                Ok(Self::Sentinels {
                    asked: asked.collect::<RedisResult<_>>()?,
                    primary: percent_decode_str(primary).decode_utf8_lossy().into_owned(),
                    reach,
                })
            }
            Some(_) => {
                if !path.is_empty() {
                    return Err(InvalidRedisUrl("a cluster has no databases by number".to_owned()));
                }
                let urls = hosts
                    .iter()
                    .map(|host| format!("{plain}://{}{host}", reach.login));
                let mut builder = ClusterClient::builder(urls).retries(0);
                if reach.authority.is_some() {
                    builder = builder.certs(reach.certificates());
                }
                Ok(Self::Cluster(Box::new(builder.build()?)))
            }
        }
    }

    /// Each step has the time limit, so that a silent host does not use up another's.
    pub(super) async fn connect(&self, at_most: Duration) -> RedisResult<Connection> {
        match self {
            Self::One(client) => Ok(Connection::One(open(client, at_most).await?)),
            Self::Sentinels {
                asked,
                primary,
                reach,
            } => to_primary(asked, primary, reach, at_most).await,
            Self::Cluster(client) => {
                let connecting = client.get_async_connection();
                let connection = timeout(at_most, connecting).await.map_err(late)??;
                Ok(Connection::Cluster(connection))
            }
        }
    }
}

/// Asks all sentinels at the same time, and takes the first server named that says itself that it is the primary. A
/// sentinel that is cut off from the others may name an old one.
async fn to_primary(
    asked: &[Client],
    name: &str,
    reach: &Reach,
    at_most: Duration,
) -> RedisResult<Connection> {
    let mut answers = JoinSet::new();
    for sentinel in asked {
        let (sentinel, name) = (sentinel.clone(), name.to_owned());
        answers.spawn(async move {
            let mut connection = open(&sentinel, at_most).await?;
            let mut question = redis::cmd("SENTINEL");
            question.arg("GET-MASTER-ADDR-BY-NAME").arg(&name);
            let named: Option<(String, u16)> = timeout(at_most, question.query_async(&mut connection))
                .await
                .map_err(late)??;
            named.ok_or_else(|| {
                let unknown = format!("the sentinel knows no primary called {name:?}");
                RedisError::from((ErrorKind::InvalidClientConfig, "sentinel", unknown))
            })
        });
    }
    let mut tried: Vec<(String, u16)> = Vec::new();
    let mut failure = RedisError::from((ErrorKind::InvalidClientConfig, "no sentinel responds"));
    while let Some(answer) = answers.join_next().await {
        let named = match answer {
            Ok(Ok(named)) if !tried.contains(&named) => named,
            Ok(Ok(_)) | Err(_) => continue,
            // What a sentinel says is worth more than that another is silent.
            Ok(Err(error)) => {
                if tried.is_empty() && !error.is_io_error() {
                    failure = error;
                }
                continue;
            }
        };
        let client = reach.client(&address(&named))?;
        tried.push(named);
        match confirmed(&client, at_most).await {
            Ok(connection) => return Ok(Connection::One(connection)),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

async fn confirmed(client: &Client, at_most: Duration) -> RedisResult<MultiplexedConnection> {
    let mut connection = open(client, at_most).await?;
    let ask = redis::cmd("ROLE");
    let role: Vec<Value> = timeout(at_most, ask.query_async(&mut connection))
        .await
        .map_err(late)??;
    let role = role.into_iter().next().map(redis::from_redis_value::<String>);
    match role {
        Some(Ok(role)) if role == "master" => Ok(connection),
        _ => Err((
            ErrorKind::InvalidClientConfig,
            "the sentinels name a server that is not the primary",
        )
            .into()),
    }
}

async fn open(client: &Client, at_most: Duration) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(at_most))
        // Each call has its own deadline.
        .set_response_timeout(None)
        // Requests wait in this queue within their deadline; if it is full, they count locally.
        .set_pipeline_buffer_size(1024);
    // The connection's own timeout does not cover the DNS look-up.
    let connecting = client.get_multiplexed_async_connection_with_config(&config);
    timeout(at_most, connecting).await.map_err(late)?
}

pub(super) fn late(_: tokio::time::error::Elapsed) -> RedisError {
    std::io::Error::from(std::io::ErrorKind::TimedOut).into()
}

fn with_port(host: &str) -> String {
    let after_brackets = host.rsplit_once(']').map_or(host, |(_, after)| after);
    match after_brackets.contains(':') {
        true => host.to_owned(),
        false => format!("{host}:{SENTINEL_PORT}"),
    }
}

fn address((host, port): &(String, u16)) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

#[derive(Clone)]
pub(super) enum Connection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One(connection) => connection.req_packed_command(cmd),
            Self::Cluster(connection) => connection.req_packed_command(cmd),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One(connection) => connection.req_packed_commands(pipeline, offset, count),
            Self::Cluster(connection) => connection.req_packed_commands(pipeline, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One(connection) => connection.get_db(),
            Self::Cluster(connection) => connection.get_db(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_one_server_sentinels_or_a_cluster() {
        let kind = |url: &str| match Servers::parse(url) {
            Ok(Servers::One(_)) => "one".to_owned(),
            Ok(Servers::Sentinels {
                asked,
                primary,
                reach,
            }) => {
                let asked: Vec<String> = asked
                    .iter()
                    .map(|client| client.get_connection_info().addr().to_string())
                    .collect();
                format!("{} name {primary} /{}", asked.join(" "), reach.database)
            }
            Ok(Servers::Cluster(_)) => "cluster".to_owned(),
            Err(error) => error.0,
        };
        for (url, wanted) in [
            ("redis://127.0.0.1/", "one"),
            ("rediss://:secret@cache.example.org:6380/2", "one"),
            ("unix:///run/redis.sock", "one"),
            (
                "redis+sentinel://:secret@a.example.org,b.example.org:5000,[::1]/club",
                "a.example.org:26379 b.example.org:5000 ::1:26379 name club /",
            ),
            (
                "rediss+sentinel://a.example.org/club/3?sentinel-password=x%40y",
                "a.example.org:26379 name club /3",
            ),
            ("redis+cluster://a.example.org,b.example.org:7001", "cluster"),
            (
                "redis+sentinel://a.example.org",
                "the name of the primary is missing, such as /mymaster",
            ),
            (
                "redis+cluster://a.example.org/1",
                "a cluster has no databases by number",
            ),
            (
                "redis://a.example.org/?ca=/none",
                "ca=/none cannot be read: No such file or directory (os error 2)",
            ),
            (
                "redis+cluster://a.example.org?retries=3",
                "retries is not an option",
            ),
            ("localhost:6379", "it has no scheme"),
        ] {
            assert_eq!(kind(url), wanted, "{url}");
        }
        for url in [
            "http://:secret@a/",
            "redis://:secret@a:x/",
            "redis+sentinel://:secret@a:x/club",
        ] {
            let told = Servers::parse(url)
                .err()
                .map(|error| error.to_string())
                .unwrap_or_default();
            assert!(!told.is_empty() && !told.contains("secret"), "{url}: {told}");
        }
    }
}
