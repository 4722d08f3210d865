//! Whether the server can do its work. The database is asked at most once a second, by one probe at a time, and nobody
//! waits for it longer than a probe may take: a balancer that hears nothing learns nothing.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bursar_app::{App, DbError};
use bursar_http::limits::BackendState;
use bursar_http::reply::{self, Reply};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use super::serve::Edge;

/// How long an answer of the database is good for.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// How long a probe is waited for, from its beginning.
const WAIT_MAX: Duration = Duration::from_millis(1_500);

/// What the last probe found, and the one that is under way.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    found: Option<(Instant, Found)>,
    running: Option<(Instant, watch::Receiver<Option<Found>>)>,
}

/// What the database can do.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Fine,
    Not {
        /// What is told in a word.
        word: &'static str,
        /// What is told in a sentence.
        reason: String,
        /// What is logged.
        cause: String,
    },
}

impl Found {
    /// The probe of a read tells what is wrong with all of the database; the one of a write, what is wrong with
    /// writing. What only an operator should know is in the log.
    fn of(read: Result<(), DbError>, write: Result<(), DbError>) -> Self {
        let (error, is_readable) = match (read, write) {
            (Ok(()), Ok(())) => return Found::Fine,
            (Err(error), _) => (error, false),
            (Ok(()), Err(error)) => (error, true),
        };
        let (word, reason) = match &error {
            DbError::SchemaNewer { .. } | DbError::SchemaOlder { .. } => {
                ("another schema", error.to_string())
            }
            DbError::SchemaDamaged(_) => ("damaged", error.to_string()),
            DbError::FileReplaced(_) | DbError::NoDatabase(_) => (
                "replaced",
                "the database file was deleted or replaced while the server had it open; \
                 put the file back, or restart the server"
                    .to_owned(),
            ),
            DbError::Full(_) => ("not writable", "the disk of the database is full".to_owned()),
            DbError::Unwritable(_) => ("not writable", "the database is read-only".to_owned()),
            _ if is_readable => (
                "not writable",
                "the database can be read but not written; the log says why".to_owned(),
            ),
            _ => ("away", "the database is unavailable; the log says why".to_owned()),
        };
        let cause = error.to_string();
        Found::Not { word, reason, cause }
    }

    fn late() -> Self {
        let reason = "the database does not answer in time".to_owned();
        Found::Not {
            word: "no answer",
            cause: reason.clone(),
            reason,
        }
    }
}

impl Readiness {
    /// What the database can do, as it is known now or in a moment.
    async fn database(&self, app: &App) -> Found {
        let (since, mut probe) = {
            let mut state = self.lock();
            if let Some((at, found)) = &state.found
                && at.elapsed() < GOOD_FOR
            {
                return found.clone();
            }
            state.running.get_or_insert_with(|| self.start(app)).clone()
        };
        let left = WAIT_MAX.saturating_sub(since.elapsed());
        match timeout(left, probe.wait_for(Option::is_some)).await {
            Ok(Ok(found)) => found.clone().unwrap_or_else(Found::late),
            // A probe that panicked is over.
            Ok(Err(_)) => {
                self.keep(&Found::late());
                Found::late()
            }
            Err(_) => Found::late(),
        }
    }

    /// Starts a probe that ends whether or not somebody waits for it.
    fn start(&self, app: &App) -> (Instant, watch::Receiver<Option<Found>>) {
        let (sender, receiver) = watch::channel(None);
        let (readiness, app) = (self.clone(), app.clone());
        tokio::spawn(async move {
            // The write is queued first: reads of an embedded database run right here.
            let write = app.probe_writes();
            let read = app.examine_schema().await;
            let found = Found::of(read.map(drop), write.await);
            readiness.keep(&found);
            sender.send_replace(Some(found));
        });
        (Instant::now(), receiver)
    }

    /// Keeps what a probe has found, and logs it where it is new.
    fn keep(&self, found: &Found) {
        let mut state = self.lock();
        let before = state.found.replace((Instant::now(), found.clone()));
        state.running = None;
        drop(state);
        let before = before.map_or(Found::Fine, |(_, before)| before);
        match found {
            Found::Fine if before != Found::Fine => tracing::info!("ready: the database can be used again"),
            Found::Not { cause, .. } if before != *found => {
                tracing::warn!(cause, "not ready: the database cannot be used");
            }
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ready means: not told to stop, and the database has this program's schema and takes writes. Redis may be away: the
/// API keeps serving and counts in the process.
pub(super) async fn answer(edge: &Edge) -> Reply {
    let (database, reason) = match edge.readiness.database(&edge.app).await {
        Found::Fine => ("ok", None),
        Found::Not { word, reason, .. } => (word, Some(reason)),
    };
    let limits = match edge.limiter.backend_state() {
        BackendState::Local => "local",
        BackendState::Shared => "redis",
        BackendState::Away => "redis is away, counted locally",
    };
    let stopping = !edge.takes_requests();
    let is_ready = !stopping && reason.is_none();
    let status = if is_ready { "ready" } else { "not ready" };
    let mut body =
        json!({ "status": status, "database": database, "rateLimits": limits, "stopping": stopping });
    if let Some(reason) = reason {
        body["reason"] = reason.into();
    }
    reply::json(if is_ready { 200 } else { 503 }, body.to_string())
}
