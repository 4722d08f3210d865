//! `bursar worker`, and the worker flags that `bursar serve` shares.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bursar_app::housekeeping::Retention;
use bursar_app::online::Teller;
use bursar_app::{App, DatabaseUrl, Opening};
use bursar_domain::webhook::back_off::BackOff;
use bursar_http::metrics;
use bursar_worker::guard::ClockGuard;
use bursar_worker::outlet::{Outlet, Way};
use bursar_worker::sms::Sms;
use bursar_worker::smtp::Smtp;
use bursar_worker::{Bell, Delivery, Running, Setup, Tally, Worker};
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::provider::ApiArgs;
use super::serve::{LogArgs, bind, parse_listen, parse_retention, parse_timeout, parse_tolerance, start_log};
use super::webhook::WebhookArgs;
use super::{Failure, Globals, Outcome, output};
use crate::ambient;

/// Where messages go, and how long things are kept.
#[derive(Clone, Debug, Args)]
pub(crate) struct SendArgs {
    /// The mail server: smtps://USER:PASSWORD@HOST, or smtp://USER:PASSWORD@HOST with STARTTLS (?tls=required,
    /// opportunistic or none); files in `outbox/` by default
    #[arg(long, value_name = "URL", hide_env_values = true)]
    smtp_url: Option<String>,
    /// PEM file of an additional certificate authority to trust for the mail server
    #[arg(long, value_name = "FILE")]
    smtp_ca: Option<PathBuf>,
    /// Sender address of mail
    #[arg(long, value_name = "EMAIL", default_value = "bursar@localhost.localdomain")]
    pub(crate) mail_from: lettre::Address,
    /// SMS provider with a Twilio-compatible API: https://ACCOUNT:TOKEN@HOST; files in `outbox/` by default
    #[arg(long, value_name = "URL", hide_env_values = true, requires = "sms_from")]
    sms_url: Option<String>,
    /// Sender number or name of SMS
    #[arg(long, value_name = "SENDER")]
    sms_from: Option<String>,
    /// How long to keep the address and text of finished messages, such as 90d
    #[arg(long, default_value = "90d", value_parser = parse_retention, value_name = "TIME")]
    pub(crate) message_retention: i64,
    /// How long to keep idempotency records, such as 7d or 36h; at least 24 hours
    #[arg(long, default_value = "7d", value_parser = parse_retention, value_name = "TIME")]
    pub(crate) idempotency_retention: i64,
    /// How long to keep events, such as 30d; at least 24 hours
    #[arg(long, default_value = "30d", value_parser = parse_retention, value_name = "TIME")]
    pub(crate) event_retention: i64,
    /// How long jobs of a crashed worker wait before another worker takes them, such as 60s
    #[arg(long, default_value = "60s", value_parser = parse_timeout, value_name = "TIME")]
    worker_lease: std::time::Duration,
    /// Maximum difference between this machine's clock and the database's before automatic work stops, such as 60s or 2h
    #[arg(long, default_value = "60s", value_parser = parse_tolerance, value_name = "TIME")]
    pub(crate) clock_tolerance: i64,
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    #[command(flatten)]
    pub(crate) online: ApiArgs,
    /// Divide the waits between deliveries to webhooks by this; for tests
    #[arg(long, value_name = "N", default_value_t = 1, hide = true, value_parser = clap::value_parser!(i64).range(1..=100_000))]
    webhook_faster: i64,
    /// Where files go, when not to `outbox/`.
    #[arg(skip)]
    pub(crate) outbox: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct WorkerArgs {
    // Not `--metrics-listen`: both services of a machine can share one file of variables, and each needs its own port.
    /// Where to serve the worker's metrics for Prometheus; nowhere by default
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    worker_metrics_listen: Option<SocketAddr>,
    #[command(flatten)]
    send: SendArgs,
    #[command(flatten)]
    log: LogArgs,
}

pub(crate) fn run(globals: &Globals, args: &WorkerArgs) -> Outcome {
    start_log(&args.log);
    let url: DatabaseUrl = globals.database().parse()?;
    let app = globals.open(Opening::Require)?;
    let watched = Watched::new(&args.send);
    let worker = args.send.worker(&app, &url, &Bell::default(), &watched)?;
    args.send.warn_of_files(&url);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let started: Result<Running, Failure> = runtime.block_on(async {
        let (mut terminate, mut interrupt) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        if let Some(address) = args.worker_metrics_listen {
            let watched = watched.clone();
            let none = Arc::new(metrics::Metrics::new([]));
            tokio::spawn(metrics::serve(bind(address).await?, none, move || {
                watched.figures()
            }));
        }
        let worker = worker.start()?;
        output::say("working");
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        tracing::info!("stopping: finishing the message being sent");
        Ok(worker)
    });
    let told = started.map(Running::stop);
    app.shutdown();
    told
}

#[derive(Clone)]
pub(crate) struct Watched {
    guard: ClockGuard,
    tally: Arc<Tally>,
}

impl Watched {
    pub(crate) fn new(args: &SendArgs) -> Self {
        let (wall, running) = (Arc::new(ambient::now), Arc::new(ambient::running));
        Self {
            guard: ClockGuard::new(wall, running, args.clock_tolerance),
            tally: Arc::default(),
        }
    }

    pub(crate) fn figures(&self) -> Vec<metrics::Figure> {
        let mut figures = self.tally.figures(self.guard.now());
        figures.push(metrics::figure(
            "bursar_worker_clock_held",
            "1 while automatic work waits because the clock cannot be trusted.",
            u64::from(self.guard.is_held()),
        ));
        figures
    }
}

impl SendArgs {
    pub(crate) fn worker(
        &self,
        app: &App,
        url: &DatabaseUrl,
        bell: &Bell,
        watched: &Watched,
    ) -> Result<Worker, Failure> {
        let outlet = |way| Outlet {
            folder: self.folder(url),
            way,
        };
        let outlets = [
            outlet(Way::Mail(self.mail_from.clone(), self.smtp()?.map(Box::new))),
            outlet(Way::Sms(self.sms()?)),
        ];
        Ok(Worker::new(Setup {
            app: app.clone(),
            guard: watched.guard.clone(),
            bell: bell.clone(),
            outlets,
            random: fastrand::Rng::with_seed(u64::from_le_bytes(ambient::entropy()?)),
            retention: Retention {
                idempotency_seconds: self.idempotency_retention,
                event_seconds: self.event_retention,
                message_seconds: self.message_retention,
            },
            lease_seconds: i64::try_from(self.worker_lease.as_secs())?,
            tally: Arc::clone(&watched.tally),
            delivery: Delivery {
                reach: self.webhook.reach.reach(),
                keys: self.webhook.key.file(url),
                back_off: BackOff {
                    faster: self.webhook_faster,
                },
            },
            teller: self.teller(app, url),
        }))
    }

    /// Who asks the payment providers.
    pub(crate) fn teller(&self, app: &App, url: &DatabaseUrl) -> Teller {
        self.online.teller(app, url, &self.webhook.key)
    }

    pub(crate) fn folder(&self, url: &DatabaseUrl) -> PathBuf {
        self.outbox.clone().unwrap_or_else(|| outbox_folder(url))
    }

    /// Messages in files reach nobody, which is easily overlooked.
    pub(super) fn warn_of_files(&self, url: &DatabaseUrl) {
        let folder = self.folder(url);
        let folder = folder.display();
        if self.smtp_url.is_none() {
            tracing::warn!(
                %folder,
                "no mail server is set: e-mail is written to files and reaches nobody; --smtp-url names a server"
            );
        }
        if self.sms_url.is_none() {
            tracing::warn!(
                %folder,
                "no SMS provider is set: SMS are written to files and reach nobody; --sms-url names a provider"
            );
        }
    }

    pub(crate) fn smtp(&self) -> Result<Option<Smtp>, Failure> {
        let ca = match &self.smtp_ca {
            Some(file) => {
                let unreadable = |error| format!("--smtp-ca {} cannot be read: {error}", file.display());
                Some(std::fs::read(file).map_err(unreadable)?)
            }
            None => None,
        };
        let smtp = self
            .smtp_url
            .as_deref()
            .map(|url| Smtp::parse(url, ca.as_deref()));
        Ok(smtp.transpose().map_err(|rule| format!("--smtp-url {rule}"))?)
    }

    pub(crate) fn sms(&self) -> Result<Option<Sms>, Failure> {
        let sms = self
            .sms_url
            .as_deref()
            .map(|url| Sms::parse(url, self.sms_from.as_deref().unwrap_or_default()));
        Ok(sms.transpose().map_err(|rule| format!("--sms-url {rule}"))?)
    }
}

/// `outbox/` beside the SQLite file, or in the working directory.
pub(crate) fn outbox_folder(url: &DatabaseUrl) -> PathBuf {
    match url {
        DatabaseUrl::Sqlite(path) => path.parent().unwrap_or(Path::new("")).join("outbox"),
        DatabaseUrl::Postgres(_) => PathBuf::from("outbox"),
    }
}
