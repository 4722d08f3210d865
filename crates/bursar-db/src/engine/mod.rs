//! The two engines behind one handle: reads, group-committed writes, and long work on the caller's thread.

mod ahead;
mod dialect;
mod fault;
mod held;
mod in_use;
mod job;
mod lane;
mod memo;
mod migrate;
mod postgres;
mod reply;
mod schedule;
mod shape;
mod sqlite;
mod tx;
mod url;
mod value;
mod watch;

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

pub use self::ahead::Foreseen;
pub(crate) use self::dialect::RAW_DOCUMENT;
#[cfg(feature = "testing")]
pub(crate) use self::dialect::{postgres_many, postgres_text};
pub(crate) use self::fault::way_to_right;
pub use self::in_use::in_use;
pub use self::lane::Stats;
pub use self::reply::Reply;
pub use self::tx::Tx;
pub use self::url::{DatabaseUrl, PostgresUrl, TlsMode};
pub use self::value::{ColumnType, LoadTarget, OwnedValue, Row, Value};

use self::lane::{Counters, Session, Way};
use self::schedule::{Lanes, Schedule};
use crate::error::DbError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EngineKind {
    Sqlite,
    Postgres,
}

#[derive(Debug, Clone)]
pub struct Options {
    /// On SQLite, readers. On PostgreSQL, readers and lanes together: half of each, and at least two.
    pub connections: usize,
    /// Writes that may wait. One organization may have half of them.
    pub queue_max: usize,
    pub batch_max: usize,
    /// The size at which SQLite's write-ahead log is truncated, even if writers have to wait.
    pub wal_bytes_max: u64,
    /// The size at which an SQLite file counts as full, for tests.
    #[doc(hidden)]
    pub page_count_max: Option<u32>,
    /// How long PostgreSQL may take for what was sent together, for tests.
    #[doc(hidden)]
    pub flight_max: Option<std::time::Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            connections: 8,
            queue_max: 1_024,
            batch_max: 64,
            wal_bytes_max: 64 << 20,
            page_count_max: None,
            flight_max: None,
        }
    }
}

/// What to do with a database that has no schema or an older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opening {
    Migrate,
    Require,
}

/// The organization of probes, so that they do not wait behind the writes of a real one.
const PROBE: [u8; 16] = [0xFF; 16];

/// An open database. Clones share it; dropping the last one shuts it down.
#[derive(Clone)]
pub struct Db(Arc<Shared>);

struct Shared {
    engine: Engine,
    schedule: Arc<Schedule>,
    counters: Arc<Counters>,
    lanes: Mutex<Vec<JoinHandle<()>>>,
    /// These must outlive the lanes: SQLite's checkpoint thread, PostgreSQL's readers.
    helpers: Mutex<Vec<JoinHandle<()>>>,
}

enum Engine {
    Sqlite {
        files: Arc<sqlite::Files>,
        readers: sqlite::Readers,
        checkpointer: Arc<sqlite::Checkpointer>,
    },
    Postgres {
        server: Arc<postgres::Server>,
        readers: Arc<postgres::Readers>,
    },
}

impl Db {
    /// Opens the database and starts its threads. PostgreSQL connections are made when first needed.
    pub fn open(url: &DatabaseUrl, options: &Options, opening: Opening) -> Result<Db, DbError> {
        match url {
            DatabaseUrl::Sqlite(path) => Db::open_sqlite(path, options, opening),
            DatabaseUrl::Postgres(url) => Db::open_postgres(url, options, opening),
        }
    }

    fn open_sqlite(path: &Path, options: &Options, opening: Opening) -> Result<Db, DbError> {
        let opened = sqlite::open_file(path, options, opening)?;
        let checkpointer = Arc::clone(&opened.checkpointer);
        let db = Db::new(
            Engine::Sqlite {
                files: opened.files,
                readers: opened.readers,
                checkpointer,
            },
            Schedule::new(options.queue_max, options.batch_max, Lanes::Mixed),
        );
        let path = path.to_owned();
        db.start_helper("bursar-checkpoint", move || opened.checkpointer.run(&path))?;
        db.start_lane(opened.lane, sqlite::BATCH_DURATION_MAX)?;
        Ok(db)
    }

    fn open_postgres(url: &PostgresUrl, options: &Options, opening: Opening) -> Result<Db, DbError> {
        let server = Arc::new(postgres::Server::new(url, options.flight_max)?);
        postgres::prepare_schema(&server, opening)?;
        let each = (options.connections / 2).max(2);
        let readers = Arc::new(postgres::Readers::new(options.queue_max, each));
        let db = Db::new(
            Engine::Postgres {
                server: Arc::clone(&server),
                readers: Arc::clone(&readers),
            },
            Schedule::new(options.queue_max, options.batch_max, Lanes::Holding),
        );
        for _ in 0..each {
            let lane = postgres::PgSession::new(Arc::clone(&server), postgres::Mode::Write);
            db.start_lane(lane, postgres::BATCH_DURATION_MAX)?;
            let (server, readers) = (Arc::clone(&server), Arc::clone(&readers));
            db.start_helper("bursar-reader", move || readers.run(server))?;
        }
        Ok(db)
    }

    fn new(engine: Engine, schedule: Schedule) -> Db {
        Db(Arc::new(Shared {
            engine,
            schedule: Arc::new(schedule),
            counters: Arc::default(),
            lanes: Mutex::default(),
            helpers: Mutex::default(),
        }))
    }

    fn start_lane(
        &self,
        mut session: impl Session + Send + 'static,
        batch_duration_max: std::time::Duration,
    ) -> Result<(), DbError> {
        let schedule = Arc::clone(&self.0.schedule);
        let counters = Arc::clone(&self.0.counters);
        let run = move || lane::run(&mut session, &schedule, &counters, batch_duration_max);
        start(&self.0.lanes, "bursar-lane", run)
    }

    fn start_helper(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<(), DbError> {
        start(&self.0.helpers, name, run)
    }

    pub fn kind(&self) -> EngineKind {
        match self.0.engine {
            Engine::Sqlite { .. } => EngineKind::Sqlite,
            Engine::Postgres { .. } => EngineKind::Postgres,
        }
    }

    /// On PostgreSQL each statement sees its own state.
    pub fn read<T, E>(&self, work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.0.read(false, Vec::new(), work)
    }

    /// Like `read`, for work that will probably ask what `ahead` names, in this order. On PostgreSQL that is sent
    /// before the work runs, so that it waits once; on SQLite it has no effect.
    pub fn read_ahead<T, E>(
        &self,
        ahead: Vec<Foreseen>,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.0.read(false, ahead, work)
    }

    /// All statements see one snapshot.
    pub fn snapshot<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.0.read(true, Vec::new(), work)
    }

    /// Reads on this thread, in one snapshot, if the database is in this process. Returns `None` on PostgreSQL.
    pub fn read_here<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        match &self.0.engine {
            Engine::Sqlite { readers, .. } => Some(readers.read(work)),
            Engine::Postgres { .. } => None,
        }
    }

    /// One transaction for an organization, committed together with others.
    ///
    /// The work may run again if its transaction was undone. A failed statement fails it, even if the work goes on.
    pub fn write<T, E>(
        &self,
        organization: [u8; 16],
        work: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        self.write_ahead(organization, Vec::new(), work)
    }

    /// Like `write`, for work that will probably ask what `ahead` names, in this order, before it changes anything.
    pub fn write_ahead<T, E>(
        &self,
        organization: [u8; 16],
        ahead: Vec<Foreseen>,
        work: impl FnMut(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        let (job, reply) = job::write(work);
        self.0.schedule.submit(organization, ahead, job);
        reply
    }

    /// A long transaction on the caller's thread with its own connection. It commits on `Ok`.
    ///
    /// Like every blocking call, it must not be made on an async thread.
    pub fn exclusive<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.0.engine {
            Engine::Sqlite { files, .. } => exclusive(&mut sqlite::SqliteSession::exclusive(files)?, work),
            Engine::Postgres { server, .. } => exclusive(
                &mut postgres::PgSession::new(Arc::clone(server), postgres::Mode::LongWrite),
                work,
            ),
        }
    }

    /// A long read in one snapshot, on the caller's thread with its own connection.
    pub fn survey<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.0.engine {
            Engine::Sqlite { files, .. } => {
                let connection = files.open(sqlite::Role::Reader)?;
                connection
                    .execute_batch("BEGIN DEFERRED")
                    .map_err(|e| fault::sqlite_error(&e))?;
                let mut tx = Tx::sqlite(&connection);
                migrate::require_version(&mut tx)?;
                work(&mut tx)
            }
            Engine::Postgres { server, .. } => {
                let mut session = postgres::PgSession::new(Arc::clone(server), postgres::Mode::Survey);
                session.start_reading().map_err(|fault| fault.error)?;
                let mut tx = Tx::postgres(&mut session);
                migrate::require_version(&mut tx)?;
                work(&mut tx)
            }
        }
    }

    /// Writes a consistent copy to a file while others write.
    pub fn backup(&self, to: &Path) -> Result<(), DbError> {
        match &self.0.engine {
            Engine::Sqlite { files, .. } => sqlite::backup(files.path(), to),
            Engine::Postgres { .. } => Err(DbError::BadUrl(
                "backup copies the embedded database only; on PostgreSQL use pg_dump".to_owned(),
            )),
        }
    }

    /// Writes an SQLite file anew, without what was removed. Returns its size before and after, in bytes; `None` on
    /// PostgreSQL, which looks after its own files.
    pub fn compact(&self) -> Result<Option<(u64, u64)>, DbError> {
        match &self.0.engine {
            Engine::Sqlite { files, .. } => sqlite::compact(files).map(Some),
            Engine::Postgres { .. } => Ok(None),
        }
    }

    /// Makes a write without effect, in the same way as every write, and waits at most a second for a lock. Fails if a
    /// write would: the lanes are stuck, the disk is full, the server is read-only, a table is locked.
    pub fn probe_writes(&self) -> Reply<(), DbError> {
        self.write(PROBE, |tx| {
            if tx.kind() == EngineKind::Postgres {
                tx.batch(&postgres::lock_every_table())?;
            }
            // SQLite writes nothing if a row is replaced by the same one.
            tx.execute("INSERT INTO bursar_schema (version) VALUES (-1)", &[])?;
            tx.execute("DELETE FROM bursar_schema WHERE version = -1", &[])?;
            Ok(())
        })
    }

    /// Compares the schema as it is now with this program's. Returns additional tables and indexes, which are the
    /// operator's own.
    pub fn examine_schema(&self) -> Reply<Vec<String>, DbError> {
        self.read(|tx| migrate::examine(tx, crate::schema::STEPS))
    }

    pub fn stats(&self) -> Stats {
        Stats {
            round_trips: match &self.0.engine {
                Engine::Sqlite { .. } => 0,
                Engine::Postgres { server, .. } => server.round_trips(),
            },
            ..self.0.counters.read()
        }
    }

    /// Accepts no more jobs, finishes the queued ones and ends the threads. Calling it again does nothing.
    pub fn shutdown(&self) {
        self.0.shutdown();
    }
}

impl Shared {
    fn read<T, E>(
        &self,
        snapshot: bool,
        ahead: Vec<Foreseen>,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Reply<T, E>
    where
        T: Send + 'static,
        E: From<DbError> + Send + 'static,
    {
        match &self.engine {
            Engine::Sqlite { readers, .. } => Reply::ready(readers.read(work)),
            Engine::Postgres { readers, .. } => {
                let (job, reply) = job::read(work);
                readers.submit(job, snapshot, ahead);
                reply
            }
        }
    }

    fn shutdown(&self) {
        self.schedule.close();
        match &self.engine {
            Engine::Sqlite { readers, .. } => readers.close(),
            Engine::Postgres { readers, .. } => readers.close(),
        }
        join(&self.lanes);
        // The checkpointer is last: a reader that closes the file last could not empty the write-ahead log.
        if let Engine::Sqlite { checkpointer, .. } = &self.engine {
            checkpointer.close();
        }
        join(&self.helpers);
    }
}

impl fmt::Debug for Db {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Db")
            .field("kind", &self.kind())
            .finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.shutdown();
    }
}

fn exclusive<T, E: From<DbError>>(
    session: &mut impl Session,
    work: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
) -> Result<T, E> {
    session.begin(false, Way::Careful).map_err(|fault| fault.error)?;
    let mut tx = session.tx();
    let result = work(&mut tx);
    let failure = tx.into_failure();
    let result = match (failure, result) {
        (Some(fault), Ok(_)) => Err(fault.error.into()),
        (_, result) => result,
    };
    let result = result.and_then(|value| match session.commit() {
        Ok(()) => Ok(value),
        Err(fault) => Err(fault.error.into()),
    });
    if result.is_err() {
        session.rollback();
    }
    result
}

fn start(
    threads: &Mutex<Vec<JoinHandle<()>>>,
    name: &str,
    run: impl FnOnce() + Send + 'static,
) -> Result<(), DbError> {
    let handle = thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(|error| DbError::Unavailable(format!("no thread could be started: {error}")))?;
    threads
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(handle);
    Ok(())
}

fn join(threads: &Mutex<Vec<JoinHandle<()>>>) {
    let handles = std::mem::take(&mut *threads.lock().unwrap_or_else(PoisonError::into_inner));
    for handle in handles {
        // A job may hold the last handle to the database, and a thread cannot wait for itself.
        if handle.thread().id() != thread::current().id() && handle.join().is_err() {
            tracing::error!("a database thread panicked");
        }
    }
}
