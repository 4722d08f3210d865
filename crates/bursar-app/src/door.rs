//! The one door: an open database, and the ways to act on it and to look at it.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bursar_db::{DatabaseUrl, Db, DbError, EngineKind, Opening, Options, Reply, Stats};
use bursar_domain::Timestamp;
use bursar_domain::ids::{IdSource, OrganizationId, RequestId};
use bursar_domain::token::TokenHash;

use crate::act::{Act, Context, View, Whole};
use crate::caller::{Identity, TokenCaller};
use crate::error::AppError;
use crate::once::Running;

/// Tells the time on the wall.
pub type WallClock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// The door to an open database. Clones are the same one; the last to go shuts the database down.
#[derive(Clone)]
pub struct App {
    db: Db,
    clock: WallClock,
    ids: Arc<Mutex<IdSource>>,
    pub(crate) running: Running,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App")
            .field("db", &self.db)
            .finish_non_exhaustive()
    }
}

/// Somebody at the door, and the request that they come with.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// What they present.
    pub who: Identity,
    /// The request it is part of.
    pub request: Option<RequestId>,
}

impl From<Identity> for Visit {
    fn from(who: Identity) -> Self {
        Self { who, request: None }
    }
}

impl App {
    /// Opens a database. Time and randomness come from outside.
    pub fn open(
        url: &DatabaseUrl,
        options: &Options,
        opening: Opening,
        clock: WallClock,
        ids: IdSource,
    ) -> Result<Self, DbError> {
        Ok(Self::new(Db::open(url, options, opening)?, clock, ids))
    }

    /// The door to a database that is open.
    pub fn new(db: Db, clock: WallClock, ids: IdSource) -> Self {
        Self {
            db,
            clock,
            ids: Arc::new(Mutex::new(ids)),
            running: Running::default(),
        }
    }

    /// The same database at another time.
    #[must_use]
    pub fn at(&self, clock: WallClock) -> Self {
        Self {
            clock,
            ..self.clone()
        }
    }

    /// The same database with ids from another source.
    #[must_use]
    pub fn with_ids(&self, ids: IdSource) -> Self {
        Self {
            ids: Arc::new(Mutex::new(ids)),
            ..self.clone()
        }
    }

    /// The time on the wall.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// An act on an organization: one transaction, committed together with others. The work may run again when its
    /// transaction was undone; the caller is looked up anew each time.
    pub fn act<T, E>(
        &self,
        visit: impl Into<Visit>,
        organization: OrganizationId,
        mut work: impl FnMut(&mut Act<'_, '_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<AppError> + From<DbError> + Send + 'static,
    {
        let (clock, mut context) = (Arc::clone(&self.clock), self.context(visit.into()));
        self.db.write(organization.to_bytes(), move |tx| {
            context.now = clock();
            Act::run(tx, &mut context, organization, &mut work)
        })
    }

    /// A look at an organization, in one snapshot.
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

    /// A read that begins with looking a token up; the work is told whom that found. On PostgreSQL each statement sees a
    /// state of its own, unless the work says otherwise.
    pub fn ask<T, E>(
        &self,
        hash: TokenHash,
        now: Timestamp,
        work: impl FnOnce(Option<(TokenCaller, View<'_, '_>)>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.db.read(move |tx| {
            let found = TokenCaller::known(tx, &hash, now)?;
            work(found.map(|caller| (caller.clone(), View::of_token(tx, caller, now))))
        })
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

    /// A look at all organizations, in one snapshot.
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

    /// A change that is not one organization's affair, in the order of this organization's writes.
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

    /// A long look at everything on the caller's thread, in one snapshot with a connection of its own.
    pub fn survey<T, E: From<AppError> + From<DbError>>(
        &self,
        visit: impl Into<Visit>,
        work: impl FnOnce(&mut Whole<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut context = self.context(visit.into());
        self.db.survey(|tx| work(&mut Whole::open(tx, &mut context)?))
    }

    /// A long change on the caller's thread with a connection of its own, all or nothing.
    pub fn exclusive<T, E: From<AppError> + From<DbError>>(
        &self,
        visit: impl Into<Visit>,
        work: impl FnOnce(&mut Whole<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut context = self.context(visit.into());
        self.db.exclusive(|tx| work(&mut Whole::open(tx, &mut context)?))
    }

    /// Which engine it is.
    pub fn engine(&self) -> EngineKind {
        self.db.kind()
    }

    /// What was committed so far.
    pub fn stats(&self) -> Stats {
        self.db.stats()
    }

    /// Writes something that changes nothing, on the way of every write.
    pub fn probe_writes(&self) -> Reply<(), DbError> {
        self.db.probe_writes()
    }

    /// Compares the schema with what this program makes; the tables and indexes that are an operator's own.
    pub fn examine_schema(&self) -> Reply<Vec<String>, DbError> {
        self.db.examine_schema()
    }

    /// Writes a consistent copy of the embedded database to a file while others write.
    pub fn backup(&self, to: &Path) -> Result<(), DbError> {
        self.db.backup(to)
    }

    /// Takes no more work, finishes what is queued and closes the database. Calling it again does nothing.
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
