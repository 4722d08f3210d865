//! The one door to a database: opens it and runs acts and views.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bursar_db::clock::Clock;
use bursar_db::{DatabaseUrl, Db, DbError, EngineKind, Opening, Options, Reply, Stats};
use bursar_domain::Timestamp;
use bursar_domain::ids::{IdSource, OrganizationId, RequestId};
use bursar_domain::token::TokenHash;

use crate::act::{Act, Context, View, Whole};
use crate::ahead::{Next, Remembered};
use crate::caller::{Identity, TokenCaller};
use crate::error::AppError;
use crate::once::{Once, Output, Running};
use crate::rule::Rule;

pub type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Clones share one database. Dropping the last one shuts it down.
#[derive(Clone)]
pub struct App {
    db: Db,
    clock: WallClock,
    ids: Arc<Mutex<IdSource>>,
    running: Running,
    remembered: Remembered,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("db", &self.db)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Visit {
    pub who: Identity,
    pub request: Option<RequestId>,
}

impl From<Identity> for Visit {
    fn from(who: Identity) -> Self {
        Self { who, request: None }
    }
}

pub struct Doing<E> {
    /// The output, and whether it is a replay.
    pub reply: Reply<(Output, bool), E>,
    /// Whether an earlier act with this key was still running in this process. This one runs after it.
    pub is_second: bool,
}

impl App {
    pub fn open(
        url: &DatabaseUrl,
        options: &Options,
        opening: Opening,
        clock: WallClock,
        ids: IdSource,
    ) -> Result<Self, DbError> {
        Ok(Self::new(Db::open(url, options, opening)?, clock, ids))
    }

    pub fn new(db: Db, clock: WallClock, ids: IdSource) -> Self {
        Self {
            db,
            clock,
            ids: Arc::new(Mutex::new(ids)),
            running: Running::default(),
            remembered: Remembered::default(),
        }
    }

    #[must_use]
    pub fn at(&self, clock: WallClock) -> Self {
        Self {
            clock,
            ..self.clone()
        }
    }

    #[must_use]
    pub fn with_ids(&self, ids: IdSource) -> Self {
        Self {
            ids: Arc::new(Mutex::new(ids)),
            ..self.clone()
        }
    }

    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Runs one transaction, committed together with others. The work may run again after a rollback; the caller is
    /// looked up each time.
    pub fn act<T, E>(
        &self,
        visit: impl Into<Visit>,
        organization: OrganizationId,
        work: impl FnMut(&mut Act<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        self.act_ahead(visit, organization, Vec::new(), work)
    }

    /// Like `act`, for work that will probably read what is `next` before it changes anything.
    pub fn act_ahead<T, E>(
        &self,
        visit: impl Into<Visit>,
        organization: OrganizationId,
        next: Vec<Next>,
        mut work: impl FnMut(&mut Act<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        let (clock, mut context) = (Arc::clone(&self.clock), self.context(visit.into()));
        let ahead = match (self.engine(), context.who) {
            (EngineKind::Sqlite, _) => Vec::new(),
            (EngineKind::Postgres, who) => {
                let mut ahead = vec![Clock::take_foreseen(organization)];
                if let Identity::Token(hash) = who {
                    ahead.extend(self.remembered.ahead(&hash, next));
                }
                ahead
            }
        };
        self.db.write_ahead(organization.to_bytes(), ahead, move |tx| {
            context.now = clock();
            Act::run(tx, &mut context, organization, &mut work)
        })
    }

    /// Runs an act once under its key, or returns the recorded output. The acts of one organization run one after the
    /// other, so an act with the same key sees the record of the first. `next` is what the work will probably read.
    pub fn once<E>(
        &self,
        visit: impl Into<Visit>,
        rule: &'static Rule,
        once: Once,
        next: Option<Next>,
        mut work: impl FnMut(&mut Act<'_, '_>) -> Result<Output, E> + Send + 'static,
    ) -> Doing<E>
    where
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        let running = self.running.begin(&once);
        let is_second = running.is_none();
        // When the act was asked for, not when it runs: the key is looked up ahead.
        let since = once.since(self.now());
        let next = [once.next(since)].into_iter().chain(next).collect();
        let reply = self.act_ahead(visit, once.organization(), next, move |act| {
            // Counts as running until the job is dropped, which is after its commit.
            let _ = &running;
            once.run(act, rule, since, &mut work)
        });
        Doing { reply, is_second }
    }

    /// Reads one organization in one snapshot.
    pub fn view<T, E>(
        &self,
        visit: impl Into<Visit>,
        organization: OrganizationId,
        work: impl FnOnce(&mut View<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        let (who, now) = (visit.into().who, self.now());
        self.db
            .snapshot(move |tx| View::look(tx, who, now, organization, work))
    }

    /// Reads after looking up a token; the work receives the caller found. On PostgreSQL each statement sees its own
    /// state, unless the work holds a snapshot. `next` is what the work will probably read.
    pub fn ask<T, E>(
        &self,
        hash: TokenHash,
        now: Timestamp,
        next: Option<Next>,
        work: impl FnOnce(Option<(TokenCaller, View<'_, '_>)>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let remembered = match self.engine() {
            EngineKind::Sqlite => None,
            EngineKind::Postgres => Some(self.remembered.clone()),
        };
        let ahead = remembered.as_ref().map(|tokens| tokens.ahead(&hash, next));
        self.db.read_ahead(ahead.unwrap_or_default(), move |tx| {
            let found = TokenCaller::known(tx, &hash, now)?;
            if let Some(remembered) = &remembered {
                remembered.learn(&hash, found.as_ref());
            }
            work(found.map(|caller| (caller.clone(), View::of_token(tx, caller, now))))
        })
    }

    /// What the last look-up of a token found, on PostgreSQL, where another one would be a round trip. A change can be
    /// planned with it; it is valid only if the act finds the same ([`TokenCaller::is_as`]).
    pub fn remembered(&self, hash: &TokenHash, now: Timestamp) -> Option<TokenCaller> {
        self.remembered.get(hash)?.at(now)
    }

    /// Another read by a token that was found in this request.
    pub fn ask_again<T, E>(
        &self,
        caller: TokenCaller,
        now: Timestamp,
        work: impl FnOnce(View<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.db.read(move |tx| work(View::of_token(tx, caller, now)))
    }

    /// Reads all organizations in one snapshot.
    pub fn look<T, E>(
        &self,
        visit: impl Into<Visit>,
        work: impl FnOnce(&mut Whole<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        let mut context = self.context(visit.into());
        self.db
            .snapshot(move |tx| work(&mut Whole::open(tx, &mut context)?))
    }

    /// A write that is not about one organization, in order with this organization's writes.
    pub fn change<T, E>(
        &self,
        visit: impl Into<Visit>,
        organization: OrganizationId,
        mut work: impl FnMut(&mut Whole<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        let (clock, mut context) = (Arc::clone(&self.clock), self.context(visit.into()));
        self.db.write(organization.to_bytes(), move |tx| {
            context.now = clock();
            work(&mut Whole::open(tx, &mut context)?)
        })
    }

    /// A long read on the caller's thread, in one snapshot on its own connection.
    pub fn survey<T, E: From<AppError> + From<DbError>>(
        &self,
        visit: impl Into<Visit>,
        work: impl FnOnce(&mut Whole<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut context = self.context(visit.into());
        self.db.survey(|tx| work(&mut Whole::open(tx, &mut context)?))
    }

    /// A long write on the caller's thread and its own connection, all or nothing.
    pub fn exclusive<T, E: From<AppError> + From<DbError>>(
        &self,
        visit: impl Into<Visit>,
        work: impl FnOnce(&mut Whole<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut context = self.context(visit.into());
        self.db.exclusive(|tx| work(&mut Whole::open(tx, &mut context)?))
    }

    pub fn engine(&self) -> EngineKind {
        self.db.kind()
    }

    pub fn stats(&self) -> Stats {
        self.db.stats()
    }

    /// Makes a write without effect, on the path that every write takes.
    pub fn probe_writes(&self) -> Reply<(), DbError> {
        self.db.probe_writes()
    }

    /// Compares the schema with the one this program creates. Returns the tables and indexes that the operator added.
    pub fn examine_schema(&self) -> Reply<Vec<String>, DbError> {
        self.db.examine_schema()
    }

    /// Writes a consistent copy of the SQLite database to a file while others write.
    pub fn backup(&self, to: &Path) -> Result<(), DbError> {
        self.db.backup(to)
    }

    /// Writes an SQLite file anew, without what was removed. Returns its size before and after, in bytes; `None` on
    /// PostgreSQL.
    pub fn compact(&self) -> Result<Option<(u64, u64)>, DbError> {
        self.db.compact()
    }

    /// Takes no new work, finishes the queue and closes the database. Calling it again does nothing.
    pub fn shutdown(&self) {
        self.db.shutdown();
    }

    fn context(&self, visit: Visit) -> Context {
        Context {
            now: self.now(),
            ids: self.ids.lock().unwrap_or_else(PoisonError::into_inner).fork(),
            who: visit.who,
            request_id: visit.request,
        }
    }
}
