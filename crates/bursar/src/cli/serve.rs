use std::fs::File;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bursar_api::serve::Edge;
use bursar_api::{Lookups, Readiness, Site, routes};
use bursar_app::tokens::last_used::LastUsed;
use bursar_app::{
    App, AppError, DatabaseUrl, EngineKind, Identity, NO_ORGANIZATION, Opening, Options, member_access, setup,
};
use bursar_console::Console;
use bursar_domain::token::masked;
use bursar_http::address::TrustedProxies;
use bursar_http::limits::{Capacity, Limiter, Limits, Memory, Redis, RedisOptions, monotonic_clock};
use bursar_http::metrics::{self, figure};
use bursar_http::request_log::RequestLog;
use bursar_http::{listen, log};
use bursar_worker::Bell;
use clap::Args;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::oidc::OidcArgs;
use super::url::{parse_base_url, parse_origin};
use super::worker::{SendArgs, Watched};
use super::{Failure, Globals, Outcome, open, output};
use crate::demo::cards::Counter;
use crate::front::Front;
use crate::hooks::Hooks;
use crate::{ambient, open_files};

/// How often last-used times are collected; each is stored at most once a minute.
const LAST_USED_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// Listen address; port 0 picks a free port
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS", value_parser = parse_listen)]
    pub(crate) listen: SocketAddr,
    /// Listen address for Prometheus metrics; off by default
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// Redis for rate limits shared by several servers: redis://…, redis+sentinel://… or redis+cluster://…
    #[arg(long, value_name = "URL", hide_env_values = true)]
    pub(crate) redis: Option<String>,
    /// Base of the URLs in responses; the listen address by default
    #[arg(long, value_name = "URL", value_parser = parse_base_url)]
    pub(crate) base_url: Option<String>,
    #[command(flatten)]
    pub(crate) oidc: OidcArgs,
    #[command(flatten)]
    pub(crate) send: SendArgs,
    /// Proxies whose X-Forwarded-For header is trusted: addresses or CIDR blocks
    #[arg(long, value_name = "ADDRESS", value_delimiter = ',')]
    pub(crate) trusted_proxy: Vec<String>,
    /// Origin that may call the API from a browser (CORS)
    #[arg(long, value_name = "ORIGIN", value_parser = parse_origin)]
    pub(crate) cors_origin: Option<String>,
    /// Read limit: units per token per minute
    #[arg(long, default_value_t = 600, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate_limit_read: u32,
    /// Write limit: units per token per minute
    #[arg(long, default_value_t = 120, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate_limit_write: u32,
    /// Messaging limit: units per token per minute
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rate_limit_messaging: u32,
    /// Maximum size of a request body, such as 64KiB
    #[arg(long, default_value = "64KiB", value_parser = parse_bytes, value_name = "BYTES")]
    pub(crate) body_limit: usize,
    /// Time limit for a request, such as 30s
    #[arg(long, default_value = "30s", value_parser = parse_timeout, value_name = "TIME")]
    pub(crate) request_timeout: Duration,
    /// How long to keep serving after SIGTERM while /readyz reports not ready; 0 stops at once
    #[arg(long, default_value = "7s", value_parser = parse_delay, value_name = "TIME")]
    pub(crate) drain_delay: Duration,
    /// Number of database connections
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) database_connections: u16,
    #[command(flatten)]
    pub(crate) log: LogArgs,
    /// Do not run the background worker in this process
    #[arg(long)]
    pub(crate) no_worker: bool,
    /// The card provider of `bursar demo`
    #[arg(skip)]
    pub(crate) demo: Option<Arc<Counter>>,
}

/// What is logged, and how.
#[derive(Clone, Debug, Args)]
pub(crate) struct LogArgs {
    /// text or json
    #[arg(long, default_value = "text", value_parser = ["text", "json"])]
    pub(crate) log_format: String,
    /// error, warn, info, debug or trace
    #[arg(long, default_value = "info", value_parser = ["error", "warn", "info", "debug", "trace", "off"])]
    pub(crate) log_level: String,
}

impl ServeArgs {
    pub(crate) fn options(&self) -> Options {
        Options {
            connections: usize::from(self.database_connections),
            ..Options::default()
        }
    }
}

impl LogArgs {
    /// Requests are logged at level info.
    fn of_requests(&self) -> RequestLog {
        match (&*self.log_level, &*self.log_format) {
            ("error" | "warn" | "off", _) => RequestLog::Off,
            (_, "json") => RequestLog::Json,
            _ => RequestLog::Text,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct OpenapiArgs {
    /// Base of the URLs in it
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:8080")]
    base_url: String,
}

pub(crate) fn openapi(args: &OpenapiArgs) -> Outcome {
    let document = bursar_api::openapi::document(args.base_url.trim_end_matches('/'));
    output::document(&serde_json::to_string_pretty(&document)?);
    Ok(())
}

/// Parses `30s`, `5m`, `36h`, `7d` or a plain number of seconds.
fn parse_seconds(text: &str) -> Result<i64, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim() {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" | "days" | "day" => 86_400,
        _ => return Err("must be a time such as 30s, 5m, 36h or 7d".into()),
    };
    let number: i64 = number
        .parse()
        .map_err(|_| "must be a time such as 30s, 5m, 36h or 7d".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "is too long".to_owned())
}

pub(crate) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let rule =
        "must be an address of this machine and a port, such as 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080";
    text.parse().map_err(|_| rule.to_owned())
}

pub(crate) fn parse_retention(text: &str) -> Result<i64, String> {
    // A plain number is in days, the unit of retentions.
    let seconds = if text.bytes().all(|b| b.is_ascii_digit()) {
        parse_seconds(&format!("{text}d"))?
    } else {
        parse_seconds(text)?
    };
    if (86_400..=3_650 * 86_400).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("must be at least 24 hours and at most 3650 days".into())
    }
}

pub(crate) fn parse_timeout(text: &str) -> Result<Duration, String> {
    match parse_seconds(text)? {
        seconds @ 1..=3600 => Ok(Duration::from_secs(seconds.unsigned_abs())),
        _ => Err("must be from 1 second to 1 hour".into()),
    }
}

fn parse_delay(text: &str) -> Result<Duration, String> {
    match parse_seconds(text)? {
        seconds @ 0..=300 => Ok(Duration::from_secs(seconds.unsigned_abs())),
        _ => Err("must be from 0 to 300 seconds".into()),
    }
}

pub(crate) fn parse_tolerance(text: &str) -> Result<i64, String> {
    match parse_seconds(text)? {
        seconds @ 1..=315_360_000 => Ok(seconds),
        _ => Err("must be from 1 second to 3650 days".into()),
    }
}

fn parse_bytes(text: &str) -> Result<usize, String> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = match unit.trim() {
        "" | "B" => 1,
        "K" | "KiB" => 1 << 10,
        "M" | "MiB" => 1 << 20,
        _ => return Err("must be a size such as 65536, 64KiB or 1MiB".into()),
    };
    let number: usize = number
        .parse()
        .map_err(|_| "must be a size such as 65536, 64KiB or 1MiB".to_owned())?;
    match number.checked_mul(factor) {
        Some(bytes @ 1..=1_048_576) => Ok(bytes),
        _ => Err("must be from 1 byte to 1 MiB".into()),
    }
}

pub(crate) fn run(globals: &Globals, args: &ServeArgs) -> Outcome {
    start_log(&args.log);
    // Before a database is made.
    args.oidc.settings()?;
    let url: DatabaseUrl = globals.database().parse()?;
    let app = open(&url, &args.options(), Opening::Migrate)?;
    let setup = app.change::<_, AppError>(Identity::Operator, NO_ORGANIZATION, {
        let entropy = ambient::entropy()?;
        move |whole| setup::make_link(whole, &entropy)
    });
    let setup = setup.wait()?;
    serve(app, &url, args, Until::Signalled, &mut |address| {
        output::announce(&format!("listening on {address}"));
        if !args.no_worker {
            args.send.warn_of_files(&url);
        }
        if let Some(link) = &setup {
            let base = args.base_url.as_deref().unwrap_or(address).trim_end_matches('/');
            output::announce(&format!(
                "there is no organization yet: set one up at {base}/console/setup/{link}"
            ));
        }
    })
}

pub(crate) enum Until {
    /// Until SIGTERM or SIGINT.
    Signalled,
    /// Until the sender is dropped.
    Told(oneshot::Receiver<()>),
}

/// How long PostgreSQL has to answer the last statements.
const LEAVE_MAX: Duration = Duration::from_secs(3);

/// `started` gets the address once the server accepts connections.
pub(crate) fn serve(
    app: App,
    url: &DatabaseUrl,
    args: &ServeArgs,
    until: Until,
    started: &mut dyn FnMut(&str),
) -> Outcome {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let bell = Bell::default();
    let last_used = Arc::new(LastUsed::default());
    let watched = Watched::new(&args.send);
    let worker = match args.no_worker {
        true => None,
        false => Some(args.send.worker(&app, url, &bell, &watched)?.start()?),
    };
    let storing = store_last_used(&app, &bell, &last_used)?;
    let outcome = runtime.block_on(accept(
        (app.clone(), url),
        args,
        &bell,
        (last_used, watched),
        until,
        started,
    ));
    bell.stop();
    let (is_remote, (ended, end)) = (app.engine() == EngineKind::Postgres, mpsc::channel());
    let end_all = move || {
        if let Some(worker) = worker {
            worker.stop();
        }
        let _ = storing.join();
        app.shutdown();
        let _ = ended.send(());
    };
    // Nothing that anybody waits for is left. What a database that is silent has not confirmed is not lost by leaving.
    match is_remote {
        false => end_all(),
        true => {
            thread::Builder::new().name("bursar-end".into()).spawn(end_all)?;
            if end.recv_timeout(LEAVE_MAX).is_err() {
                tracing::warn!("stopping: the database does not respond; exiting without waiting for it");
            }
        }
    }
    outcome
}

/// Stores when tokens were last used, until the server stops.
fn store_last_used(app: &App, bell: &Bell, used: &Arc<LastUsed>) -> std::io::Result<JoinHandle<()>> {
    let (app, bell, used) = (app.clone(), bell.clone(), Arc::clone(used));
    let store = move || {
        loop {
            let is_over = bell.pause(LAST_USED_EVERY);
            if let Err(error) = used.store(&app, is_over) {
                tracing::warn!(%error, "the times at which tokens were last used could not be stored");
            }
            if is_over {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("bursar-last-used".into())
        .spawn(store)
}

/// Links in messages lead here from now on.
async fn announce(app: &App, base_url: &str) -> Outcome {
    let (entropy, base_url) = (ambient::entropy()?, base_url.to_owned());
    let stored: Result<(), AppError> = app
        .change(Identity::Operator, NO_ORGANIZATION, move |whole| {
            member_access::announce(whole, &base_url, &entropy)
        })
        .await;
    if let Err(error) = stored {
        tracing::warn!(%error, "the base URL was not stored: links in messages lead to the earlier one");
    }
    Ok(())
}

async fn accept(
    (app, url): (App, &DatabaseUrl),
    args: &ServeArgs,
    bell: &Bell,
    (last_used, watched): (Arc<LastUsed>, Watched),
    until: Until,
    started: &mut dyn FnMut(&str),
) -> Outcome {
    let oidc = args.oidc.settings()?;
    let files_allowed = open_files::raise();
    let listener = TcpListener::bind(args.listen).await.map_err(|error| {
        format!(
            "cannot listen on {}: {error}; --listen names another address, and port 0 picks one",
            args.listen
        )
    })?;
    let listening = listener.local_addr()?;
    let address = format!("http://{listening}");
    let base_url = args.base_url.clone().unwrap_or_else(|| address.clone());
    let base_url = base_url.trim_end_matches('/').to_owned();
    let limits = Limits {
        read: args.rate_limit_read,
        write: args.rate_limit_write,
        messaging: args.rate_limit_messaging,
    };
    let memory = Memory::new(
        limits,
        Capacity::default(),
        monotonic_clock(),
        u64::from_le_bytes(ambient::entropy()?),
    );
    let limiter = match &args.redis {
        Some(redis) => Limiter::redis(
            Redis::connect(redis, memory, RedisOptions::default())
                .map_err(|e| format!("--redis cannot be used: {e}"))?,
        ),
        None => Limiter::memory(memory),
    };
    limiter.settle(Duration::from_secs(1)).await;
    let limiter = Arc::new(limiter);
    let trusted_proxies = TrustedProxies::parse(&args.trusted_proxy)?;
    let cors_origin = args
        .cors_origin
        .as_deref()
        .map(hyper::header::HeaderValue::from_str)
        .transpose();
    let metrics = Arc::new(routes::metrics());
    let ring = bell.clone();
    // A passkey cannot belong to a number, so the console of this machine alone has its name.
    let console_url = match args.base_url {
        Some(_) => base_url.clone(),
        None => base_url.replacen("://127.0.0.1", "://localhost", 1),
    };
    announce(&app, &console_url).await?;
    let console = Arc::new(Console::new(bursar_console::Options {
        app: app.clone(),
        base_url: console_url
            .parse()
            .map_err(|error| format!("--base-url cannot be read: {error}"))?,
        oidc,
        ids: ambient::ids()?,
        entropy: ambient::entropy,
        webhooks: bursar_console::Webhooks {
            reach: args.send.webhook.reach.reach(),
            key: args.send.webhook.key.file(url),
        },
        outbox: args.send.folder(url),
        body_limit: args.body_limit,
        request_timeout: args.request_timeout,
        key_seconds: args.send.idempotency_retention,
        request_log: args.log.of_requests(),
        limiter: Arc::clone(&limiter),
        trusted_proxies: trusted_proxies.clone(),
        is_demo: args.demo.is_some(),
        teller: args.send.teller(&app, url),
        on_queued: Arc::new({
            let ring = bell.clone();
            move || ring.ring()
        }),
    }));
    let hooks = Arc::new(Hooks {
        teller: args.send.teller(&app, url),
        app: app.clone(),
        bell: bell.clone(),
        ids: Mutex::new(ambient::ids()?),
        limiter: Arc::clone(&limiter),
        trusted_proxies: trusted_proxies.clone(),
        request_log: args.log.of_requests(),
    });
    let edge = Arc::new(Edge {
        app: app.clone(),
        limiter,
        trusted_proxies,
        cors_origin: cors_origin
            .map_err(|_| "--cors-origin must be an origin such as https://app.example.org")?,
        body_limit: args.body_limit,
        request_timeout: args.request_timeout,
        ids: Mutex::new(ambient::ids()?),
        idempotency_seconds: args.send.idempotency_retention,
        lookups: (app.engine() == EngineKind::Postgres)
            .then(|| Lookups::new(usize::from(args.database_connections))),
        metrics: Arc::clone(&metrics),
        request_log: args.log.of_requests(),
        last_used,
        is_ready: AtomicBool::new(true),
        readiness: Readiness::default(),
        site: Site::new(&base_url),
        base_url,
        on_queued: Arc::new(move || ring.ring()),
    });
    let told: Pin<Box<dyn Future<Output = bool> + Send>> = match until {
        Until::Signalled => {
            let (mut terminate, mut interrupt) =
                (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
            Box::pin(async move {
                tokio::select! {
                    _ = terminate.recv() => false,
                    // Somebody is waiting at the terminal.
                    _ = interrupt.recv() => true,
                }
            })
        }
        Until::Told(told) => Box::pin(async move { told.await.is_err() }),
    };
    let is_hurried = AtomicBool::new(args.drain_delay.is_zero());
    let leave = {
        let (edge, is_hurried) = (Arc::clone(&edge), &is_hurried);
        async move {
            is_hurried.fetch_or(told.await, Ordering::Relaxed);
            edge.is_ready.store(false, Ordering::Relaxed);
        }
    };
    let stop = async {
        if !is_hurried.load(Ordering::Relaxed) {
            tracing::info!(
                seconds = args.drain_delay.as_secs(),
                "stopping: not ready; still serving until load balancers notice"
            );
            let _ = timeout(args.drain_delay, another_signal()).await;
        }
        tracing::info!("stopping: finishing the requests in flight");
    };
    if let Some(address) = args.metrics_listen {
        let figures = move || {
            let stats = app.stats();
            let mut figures = watched.figures();
            figures.extend([
                figure(
                    "bursar_write_batches",
                    "Transactions committed for writes.",
                    stats.batches,
                ),
                figure("bursar_write_jobs", "Writes that ran in them.", stats.jobs),
                figure(
                    "bursar_database_round_trips",
                    "Times that PostgreSQL was waited for.",
                    stats.round_trips,
                ),
            ]);
            figures
        };
        tokio::spawn(metrics::serve(bind(address).await?, metrics, figures));
    }
    if let Some(cards) = &args.demo {
        cards.opened_at(&console_url, &reached_at(listening));
    }
    started(&address);
    let options = listen::Options {
        connections_max: open_files::connections_max(files_allowed, open_files::beside(args)),
        ..listen::Options::default()
    };
    let front = Arc::new(Front {
        api: edge,
        console,
        hooks,
        cards: args.demo.clone(),
    });
    let drained = listen::serve(listener, front, options, leave, stop).await;
    if drained.cut > 0 {
        tracing::warn!(connections = drained.cut, "stopped with connections cut");
    }
    Ok(())
}

/// The same server, from this machine.
fn reached_at(listening: SocketAddr) -> String {
    let mut here = listening;
    if here.ip().is_unspecified() {
        here.set_ip(match here {
            SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{here}")
}

/// For metrics.
pub(crate) async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    let bound = TcpListener::bind(address).await;
    Ok(bound.map_err(|error| format!("cannot listen on {address}: {error}"))?)
}

/// Ignores signals that came before.
async fn another_signal() {
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    if let (Ok(mut terminate), Ok(mut interrupt)) = signals {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
    } else {
        std::future::pending().await
    }
}

pub(crate) fn start_log(args: &LogArgs) {
    // Standard output is for results; the log goes to standard error.
    if let Ok(stderr) = std::io::stderr().as_fd().try_clone_to_owned() {
        start_log_on(args, stderr.into());
    }
}

pub(crate) fn start_log_on(args: &LogArgs, file: File) {
    let level = args
        .log_level
        .parse()
        .unwrap_or(tracing_subscriber::filter::LevelFilter::INFO);
    let is_colourful = output::is_colourful(&std::io::stderr());
    let format = match args.log_format.as_str() {
        "json" => log::Format::Json,
        _ => log::Format::Text { is_colourful },
    };
    let options = log::Options {
        format,
        clock: || ambient::now().to_string(),
        masked,
    };
    log::start(options, file);
    let builder = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(move || log::Lines(options))
        .with_target(false);
    let _ = match format {
        log::Format::Json => builder.json().flatten_event(true).with_ansi(false).try_init(),
        log::Format::Text { is_colourful } => builder.with_ansi(is_colourful).try_init(),
    };
}
