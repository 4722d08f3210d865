//! `/readyz`. The database is probed at most once a second, by one probe at a time. Requests wait for a probe
//! only for a bounded time, because a load balancer needs an answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bursar_app::{App, DbError};
use bursar_http::limits::BackendState;
use bursar_http::reply::{self, Reply};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::timeout;

use super::serve::Edge;

/// How long a probe's result is reused.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// Counted from the start of the probe.
const WAIT_MAX: Duration = Duration::from_millis(1_500);

/// The result of the last probe, and the probe under way.
#[derive(Clone, Debug, Default)]
pub struct Readiness(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    found: Option<(Instant, Found)>,
    running: Option<(Instant, watch::Receiver<Option<Found>>)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Fine,
    Not {
        /// Short status for the response.
        word: &'static str,
        /// Sentence for the response.
        reason: String,
        /// Detail for the log only.
        cause: String,
    },
}

impl Found {
    /// A failed read means that the whole database is unusable; a failed write alone, only writing. Details that only
    /// an operator should see go to the log.
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
    /// Returns a recent result, or waits for the probe under way.
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
            // The probe panicked.
            Ok(Err(_)) => {
                self.keep(&Found::late());
                Found::late()
            }
            Err(_) => Found::late(),
        }
    }

    /// The probe finishes even if nobody waits for it.
    fn start(&self, app: &App) -> (Instant, watch::Receiver<Option<Found>>) {
        let (sender, receiver) = watch::channel(None);
        let (readiness, app) = (self.clone(), app.clone());
        tokio::spawn(async move {
            // Queue the write first: on SQLite the read runs on this thread.
            let write = app.probe_writes();
            let read = app.examine_schema().await;
            let found = Found::of(read.map(drop), write.await);
            readiness.keep(&found);
            sender.send_replace(Some(found));
        });
        (Instant::now(), receiver)
    }

    /// Stores a result, and logs it if it changed.
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

/// Ready means: not stopping, and the database has this program's schema and accepts writes. Redis may be
/// unavailable: rate limits are then counted in the process.
pub(super) async fn answer(edge: &Edge) -> Reply {
    let (database, reason) = match edge.readiness.database(&edge.app).await {
        Found::Fine => ("ok", None),
        Found::Not { word, reason, .. } => (word, Some(reason)),
    };
    let limits = match edge.limiter.backend_state() {
        BackendState::Local => "local",
        BackendState::Shared => "redis",
        BackendState::Away => "redis is unavailable, counted locally",
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
