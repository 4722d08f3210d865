//! A card provider that moves no money, for the demo and for tests: a server in the shape of Stripe's API, with the page on
//! which a payer chooses a test card, and signed reports.
//!
//! `api` is what bursar calls, `till` what happens to money, `page` what payers see, `reports` what is sent to bursar. The
//! API has an address of its own on this machine; payers' pages are also where bursar serves.

mod api;
mod page;
mod reports;
mod state;
mod test_cards;
mod till;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bursar_domain::Timestamp;
use bursar_http::body;
use bursar_http::listen::{self, Panicked, Service};
use bursar_http::reply::{self, Reply};
use bursar_worker::Bell;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::AUTHORIZATION;
use hyper::http::request::Parts;
use hyper::{Method, Request};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use self::api::{Fields, Problem};
use self::page::Said;
use self::state::{Account, Hook, State};
use self::till::Till;
use crate::ambient;

/// Below this are payers' pages, wherever they are served.
pub(crate) const PATH: &str = "/demo/cards/";
/// A form or a call is smaller.
const BODY_MAX: usize = 256 << 10;
const ACCOUNTS_MAX: usize = 1_000;
/// How often it is looked at what is due.
const TICK: Duration = Duration::from_millis(500);

/// The provider while it runs. It ends when this is dropped.
#[derive(Debug)]
pub struct CardDesk {
    pub(crate) counter: Arc<Counter>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

/// What answers. The threads of a [`CardDesk`] and bursar's own server share it.
#[derive(Debug)]
pub(crate) struct Counter {
    state: Mutex<State>,
    file: Option<PathBuf>,
    /// Where bursar is reached: by browsers, and by reports.
    site: OnceLock<(String, String)>,
    /// Where payers' pages are before that is known.
    address: String,
    /// In place of the wall clock.
    then: Mutex<Option<Timestamp>>,
    bell: Bell,
}

impl CardDesk {
    /// Listens on this address of this machine; port 0 picks one. Without a file, everything is forgotten in the end.
    /// With a new file, ids begin after `number`.
    pub fn start(listen: SocketAddr, file: Option<PathBuf>, number: u64) -> Result<Self, String> {
        let state = match &file {
            Some(file) => State::read(file, number)?,
            None => State::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let listener = runtime
            .block_on(TcpListener::bind(listen))
            .map_err(|error| format!("the demo's card provider cannot listen on {listen}: {error}"))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let counter = Arc::new(Counter {
            state: Mutex::new(state),
            file,
            site: OnceLock::new(),
            address: format!("http://{address}"),
            then: Mutex::new(None),
            bell: Bell::default(),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let service = Arc::clone(&counter);
        let serve = move || {
            let leave = async {
                let _ = stopped.await;
            };
            let options = listen::Options::default();
            runtime.block_on(listen::serve(listener, service, options, leave, async {}));
        };
        let sender = Arc::clone(&counter);
        let named = |name: &str| thread::Builder::new().name(name.into());
        let threads = [
            named("demo-cards").spawn(serve),
            named("demo-cards-reports").spawn(move || sender.keep_reporting()),
        ];
        let threads: Result<Vec<_>, _> = threads.into_iter().collect();
        Ok(Self {
            counter,
            address,
            stop: Some(stop),
            threads: threads.map_err(|error| error.to_string())?,
        })
    }

    /// What `--stripe-api` names.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes it so many seconds later from now on, and does what is due by then.
    pub fn pass(&self, seconds: i64) {
        let then = self.counter.now() + seconds;
        self.counter
            .set_time(Some(Timestamp::from_micros(then * 1_000_000)));
        self.counter.tick();
    }

    /// What was paid back in all, in the smallest unit.
    pub fn refunded(&self) -> i64 {
        let state = self.counter.state();
        let objects = state
            .accounts
            .values()
            .flat_map(|account| account.objects.values());
        let refunds = objects.filter(|object| object["object"] == "refund");
        refunds.map(|refund| till::number_of(&refund["amount"])).sum()
    }
}

impl Drop for CardDesk {
    fn drop(&mut self) {
        drop(self.stop.take());
        self.counter.bell.stop();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Service for Counter {
    type Body = Full<Bytes>;

    async fn call(self: &Arc<Self>, request: Request<Incoming>, _peer: SocketAddr) -> Reply {
        let (parts, mut incoming) = request.into_parts();
        match parts.uri.path().starts_with(PATH) {
            true => self.page(&parts, &mut incoming).await,
            false => self.api(&parts, &mut incoming).await,
        }
    }

    fn on_panic(&self, panicked: Panicked) -> Reply {
        tracing::error!(cause = %panicked, "the demo's card provider failed");
        refused(&Problem::new(500, "The demo's card provider failed."))
    }
}

fn refused(problem: &Problem) -> Reply {
    reply::json(problem.status, problem.body.to_string())
}

impl Counter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> i64 {
        let then = *self.then.lock().unwrap_or_else(PoisonError::into_inner);
        then.unwrap_or_else(ambient::now).micros().div_euclid(1_000_000)
    }

    /// Until further notice, it is this time; without one, it is now.
    pub(crate) fn set_time(&self, then: Option<Timestamp>) {
        *self.then.lock().unwrap_or_else(PoisonError::into_inner) = then;
    }

    /// Where bursar is reached: by browsers, and by reports.
    pub(crate) fn opened_at(&self, browsers: &str, reports: &str) {
        let site = (browsers.to_owned(), reports.to_owned());
        // A server opens once.
        let _ = self.site.set(site);
        self.bell.ring();
    }

    fn save(&self, state: &State) {
        let written = self.file.as_ref().map(|file| (file, state.write(file)));
        if let Some((file, Err(error))) = written {
            tracing::error!(file = %file.display(), %error, "the state of the demo's card provider cannot be written");
        }
    }

    /// Works on an account, and keeps what changed.
    fn with<T>(&self, state: &mut State, key: &str, work: impl FnOnce(&mut Till<'_>) -> T) -> T {
        let base = self.site.get().map_or(&self.address, |(browsers, _)| browsers);
        let pages = format!("{base}{PATH}pay/");
        let account = state.accounts.entry(key.to_owned()).or_default();
        work(&mut Till {
            account,
            number: &mut state.number,
            now: self.now(),
            pages: &pages,
        })
    }

    /// Does what is due in every account.
    pub(crate) fn tick(&self) {
        let mut state = self.state();
        let keys: Vec<String> = state.accounts.keys().cloned().collect();
        let mut is_changed = false;
        for key in keys {
            is_changed |= self.with(&mut state, &key, |till| till.tick());
        }
        if is_changed {
            self.save(&state);
        }
    }

    /// The name that payers see and where reports go, signed with this secret.
    pub(crate) fn connect(&self, key: &str, name: &str, path: String, secret: String) {
        let mut state = self.state();
        self.with(&mut state, key, |till| {
            till.account.name = Some(name.to_owned());
            till.account.hook = Some(Hook { path, secret });
        });
        self.save(&state);
    }

    pub(crate) fn is_connected(&self, key: &str) -> bool {
        let state = self.state();
        state
            .accounts
            .get(key)
            .is_some_and(|account| account.hook.is_some())
    }

    /// Pays on a page, as a browser does.
    pub(crate) fn pay(&self, session: &str, last4: &str) -> Reply {
        let mut state = self.state();
        let is_here = |(_, account): &(&String, &Account)| account.objects.contains_key(session);
        let Some(key) = state.accounts.iter().find(is_here).map(|(key, _)| key.clone()) else {
            return page::missing();
        };
        let reply = self.with(&mut state, &key, |till| till.chosen(session, Some(last4)));
        self.save(&state);
        drop(state);
        self.bell.ring();
        reply
    }

    pub(crate) async fn page(&self, parts: &Parts, incoming: &mut Incoming) -> Reply {
        let path = parts.uri.path().strip_prefix(PATH).unwrap_or_default();
        if path == page::STYLE_PATH {
            return page::style();
        }
        let Some(session) = path.strip_prefix("pay/") else {
            return page::missing();
        };
        if parts.method == Method::POST {
            let text = body::read_form(incoming, &parts.headers, BODY_MAX).await;
            let fields = Fields::parse(&text.unwrap_or_default());
            return self.pay(session, fields.get("card").unwrap_or_default());
        }
        let mut state = self.state();
        let is_here = |(_, account): &(&String, &Account)| account.objects.contains_key(session);
        match state.accounts.iter().find(is_here).map(|(key, _)| key.clone()) {
            Some(key) => self.with(&mut state, &key, |till| till.show(session, Said::default())),
            None => page::missing(),
        }
    }

    async fn api(&self, parts: &Parts, incoming: &mut Incoming) -> Reply {
        let Ok(text) = body::read_form(incoming, &parts.headers, BODY_MAX).await else {
            return refused(&Problem::new(400, "The form cannot be read."));
        };
        let header = |name: &str| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let key = header(AUTHORIZATION.as_str()).and_then(|value| value.strip_prefix("Bearer "));
        let Some(key) = key.filter(|key| key.contains("_test_")) else {
            return refused(&Problem::new(401, "The demo's card provider has test keys only."));
        };
        let once = header("idempotency-key").filter(|_| parts.method == Method::POST);
        let (status, body) = self.call(parts, key, once, &text);
        self.bell.ring();
        reply::json(status, body.to_string())
    }

    fn call(&self, parts: &Parts, key: &str, once: Option<&str>, form: &str) -> (u16, Value) {
        let path = parts.uri.path();
        let mut fields = Fields::parse(form);
        fields
            .0
            .extend(Fields::parse(parts.uri.query().unwrap_or_default()).0);
        let mut state = self.state();
        if !state.accounts.contains_key(key) && state.accounts.len() >= ACCOUNTS_MAX {
            return (429, Problem::new(429, "There are too many accounts.").body);
        }
        let answer = self.with(&mut state, key, |till| {
            let once = once.map(|once| format!("{path} {once}"));
            if let Some(known) = once.as_ref().and_then(|once| till.account.answers.get(once)) {
                return match known.form == fields.0 {
                    true => (known.status, known.body.clone()),
                    false => (
                        400,
                        Problem::new(
                            400,
                            "Keys for idempotent requests can only be used with the same parameters.",
                        )
                        .body,
                    ),
                };
            }
            let (status, body) = match till.call(parts.method.as_str(), path, &fields) {
                Ok(body) => (200, body),
                Err(problem) => (problem.status, problem.body),
            };
            // What was refused before anything happened can be tried again.
            if let (Some(once), 200 | 402) = (once, status) {
                till.account.answered(once, &fields.0, (status, &body));
            }
            (status, body)
        });
        if parts.method == Method::POST {
            self.save(&state);
        }
        answer
    }
}

#[cfg(test)]
mod tests;
