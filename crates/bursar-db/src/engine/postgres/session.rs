//! One connection: its statements, its transaction, and what happens if it is lost.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use super::super::ahead::{Change, Foreseen, may_change};
use super::super::fault::{Class, Fault};
use super::super::held::{self, HeldRows};
use super::super::lane::{Session, Way};
use super::super::migrate;
use super::super::schedule::Organization;
use super::super::tx::{Locking, Tx};
use super::super::value::{LoadTarget, OwnedValue, Row, Value};
use super::link::Link;
use super::wire::Wire;
use super::{Server, commit_fault};
use crate::clock;
use crate::error::DbError;
use crate::rows::read;

/// How long a job waits for a connection.
const RECONNECT_MAX: Duration = Duration::from_secs(2);
/// How long a command's own transaction waits for one: nobody waits behind it.
const LONG_RECONNECT_MAX: Duration = Duration::from_secs(10);
/// While the server is unavailable, jobs between two connection attempts fail at once.
const RECONNECT_PAUSE: Duration = Duration::from_millis(500);
/// How long a batch of several organizations waits for another process that has locked most of them.
const CLAIM_MILLIS_MAX: u32 = 500;
const UNDEFINED_TABLE: &str = "42P01";
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
const SAVEPOINT: &str = "SAVEPOINT job";
const RELEASE: &str = "RELEASE SAVEPOINT job";
const UNDO: &str = "ROLLBACK TO SAVEPOINT job";
const COMMIT: &str = "COMMIT";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Mode {
    /// Each statement on its own.
    Read,
    Snapshot,
    Write,
    /// On the caller's thread.
    LongWrite,
    /// A long snapshot on the caller's thread.
    Survey,
    /// Reads and migrates the schema.
    Schema,
}

impl Mode {
    pub(super) fn settings(self) -> &'static str {
        match self {
            Mode::Read | Mode::Snapshot => {
                "SET lock_timeout = '10s'; SET statement_timeout = '30s'; \
                 SET idle_in_transaction_session_timeout = '60s'; SET TimeZone = 'UTC'; \
                 SET default_transaction_read_only = on"
            }
            // A plan is made once, and a table that was small then may grow: without this it would be read as a whole
            // until PostgreSQL looks at it again. What has no index must not be compiled for it.
            Mode::Write => {
                "SET lock_timeout = '10s'; SET statement_timeout = '30s'; \
                 SET idle_in_transaction_session_timeout = '60s'; SET TimeZone = 'UTC'; \
                 SET enable_seqscan = off; SET jit = off"
            }
            Mode::LongWrite => {
                "SET lock_timeout = '10s'; SET statement_timeout = 0; \
                 SET idle_in_transaction_session_timeout = 0; SET TimeZone = 'UTC'"
            }
            Mode::Survey => {
                "SET lock_timeout = '10s'; SET statement_timeout = 0; \
                 SET idle_in_transaction_session_timeout = 0; SET TimeZone = 'UTC'; \
                 SET default_transaction_read_only = on"
            }
            // Another process may be in a long step: wait for its lock.
            Mode::Schema => {
                "SET lock_timeout = 0; SET statement_timeout = 0; \
                 SET idle_in_transaction_session_timeout = 0; SET TimeZone = 'UTC'"
            }
        }
    }

    /// Whether others wait behind it. The server ends its statements after a while.
    pub(super) fn is_short(self) -> bool {
        match self {
            Mode::Read | Mode::Snapshot | Mode::Write => true,
            Mode::LongWrite | Mode::Survey | Mode::Schema => false,
        }
    }

    fn begin(self) -> Option<&'static str> {
        match self {
            Mode::Read => None,
            Mode::Snapshot | Mode::Survey => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Mode::Write | Mode::LongWrite | Mode::Schema => Some(BEGIN),
        }
    }

    fn autocommits(self) -> bool {
        matches!(self, Mode::Read | Mode::Schema)
    }
}

/// A connection that reconnects if it is lost.
pub(in super::super) struct PgSession {
    server: Arc<Server>,
    mode: Mode,
    link: Option<Link>,
    in_transaction: bool,
    /// Whether a read that loses its connection may be repeated on a new one, because nothing was read yet.
    repeatable: bool,
    way: Way,
    /// Whether the jobs have savepoints.
    is_marked: bool,
    /// Whether the job that runs has changed something.
    has_changed: bool,
    held: HeldRows,
    away: Option<(Instant, Fault)>,
    /// An attempt to connect that has no response yet. The next attempt waits for it too, so that a silent server holds
    /// only one thread per session.
    dialling: Option<Dialling>,
}

type Dialling = mpsc::Receiver<Result<Wire, Fault>>;

impl PgSession {
    pub(in super::super) fn new(server: Arc<Server>, mode: Mode) -> Self {
        PgSession {
            server,
            mode,
            link: None,
            in_transaction: false,
            repeatable: false,
            way: Way::Careful,
            is_marked: false,
            has_changed: false,
            held: HeldRows::default(),
            away: None,
            dialling: None,
        }
    }

    /// Prepares a read job, with a snapshot if asked for.
    pub(super) fn start(&mut self, snapshot: bool) -> Result<(), Fault> {
        self.mode = Mode::Read;
        self.repeatable = true;
        if snapshot { self.hold_snapshot() } else { Ok(()) }
    }

    /// The rest of a read job sees this snapshot. Does nothing in a transaction.
    pub(in super::super) fn hold_snapshot(&mut self) -> Result<(), Fault> {
        if self.in_transaction {
            return Ok(());
        }
        self.mode = Mode::Snapshot;
        self.repeatable = true;
        match self.start_reading() {
            Err(fault) if fault.class == Class::Lost => self.start_reading(),
            result => result,
        }
    }

    /// Connects if needed and begins the snapshot.
    pub(in super::super) fn start_reading(&mut self) -> Result<(), Fault> {
        self.connect()?;
        let Some(begin) = self.mode.begin() else {
            return Ok(());
        };
        self.run(begin)?;
        self.in_transaction = true;
        Ok(())
    }

    /// Leaves no transaction behind.
    pub(super) fn finish(&mut self, intact: bool) {
        if intact {
            self.rollback();
        } else {
            self.disconnect();
        }
    }

    /// Sends what the next jobs will probably ask, in one flight. A job that asks something else, or whose statement
    /// failed, asks for itself.
    pub(super) fn send_ahead<'f>(&mut self, jobs: impl Iterator<Item = &'f [Foreseen]>) {
        if self.connect().is_err() {
            return;
        }
        let Some(link) = &mut self.link else {
            return;
        };
        let put = link.forget().and_then(|()| link.foresee(jobs, |_| false));
        if put.and_then(|()| link.post()).is_err() {
            self.disconnect();
        }
    }

    /// Whether statements may travel with those after them.
    pub(in super::super) fn defers(&self) -> bool {
        self.in_transaction && self.defers_all()
    }

    pub(in super::super) fn held(&self, key: &held::Key) -> Option<held::Left> {
        self.held.left(key)
    }

    pub(in super::super) fn hold(
        &mut self,
        key: held::Key,
        left: held::Left,
        sql: &'static str,
        params: &[Value<'_>],
    ) {
        self.has_changed = true;
        self.held.put(key, left, sql, params);
    }

    pub(in super::super) fn defer(&mut self, change: &Change<'_>) -> Result<(), Fault> {
        self.has_changed = true;
        self.attempt(|link| link.defer(change))
    }

    /// Forgets what was sent ahead for a job and is still there.
    pub(super) fn end_turn(&mut self) {
        let ended = self.link.as_mut().map(Link::end_turn);
        if matches!(ended, Some(Err(_))) {
            self.disconnect();
        }
    }

    pub(in super::super) fn execute(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> Result<u64, Fault> {
        // A statement that may have had its effect is not repeated.
        self.repeatable = false;
        self.has_changed = true;
        self.attempt(|link| link.execute(sql, params))
    }

    pub(in super::super) fn visit(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), Fault> {
        self.has_changed |= may_change(sql);
        let repeatable = self.repeatable;
        let delivered = Cell::new(false);
        let result = self.attempt_unless(&delivered, |link| {
            let visited = link.visit(sql, locking, params, |row| {
                delivered.set(true);
                f(row)
            });
            visited.and_then(|()| link.require_current())
        });
        if self.mode != Mode::Read {
            self.repeatable = false;
        }
        result.map_err(|mut fault| {
            if repeatable && delivered.get() && fault.class == Class::Lost {
                fault.class = Class::Statement;
            }
            fault
        })
    }

    pub(in super::super) fn load(
        &mut self,
        target: &LoadTarget,
        rows: &[Vec<OwnedValue>],
    ) -> Result<(), Fault> {
        let names: Vec<&str> = target.columns.iter().map(|(name, _)| *name).collect();
        let types: Vec<u32> = target.columns.iter().map(|(_, kind)| kind.oid()).collect();
        let sql = format!(
            "COPY {} ({}) FROM STDIN (FORMAT binary)",
            target.table,
            names.join(", ")
        );
        self.repeatable = false;
        self.has_changed = true;
        self.attempt(|link| {
            let rows = rows.iter().map(|row| row.iter().map(OwnedValue::as_value));
            Ok(link.wire()?.copy(&sql, &types, rows)?)
        })
    }

    pub(in super::super) fn batch(&mut self, sql: &str) -> Result<(), Fault> {
        self.repeatable = false;
        self.has_changed = true;
        self.attempt(|link| link.run(sql).map(drop))
    }

    fn attempt<T>(&mut self, f: impl FnMut(&mut Link) -> Result<T, Fault>) -> Result<T, Fault> {
        self.attempt_unless(&Cell::new(false), f)
    }

    /// Repeats a read that has seen nothing yet once on a new connection. One that has rows already would get them again.
    fn attempt_unless<T>(
        &mut self,
        delivered: &Cell<bool>,
        mut f: impl FnMut(&mut Link) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match self.once(&mut f) {
            Err(fault) if fault.class == Class::Lost && self.repeatable && !delivered.get() => {
                self.repeatable = false;
                self.start_reading()?;
                self.once(&mut f)
            }
            result => result,
        }
    }

    fn once<T>(&mut self, f: &mut impl FnMut(&mut Link) -> Result<T, Fault>) -> Result<T, Fault> {
        if !self.in_transaction {
            // After a transaction was begun, a statement must never run outside of it on a new connection.
            if !self.mode.autocommits() {
                return Err(Fault::lost("the connection to PostgreSQL was lost"));
            }
            self.connect()?;
        }
        let Some(link) = &mut self.link else {
            return Err(Fault::lost("the connection to PostgreSQL was lost"));
        };
        let result = f(link).map_err(|fault| link.judge(fault));
        if matches!(&result, Err(fault) if fault.class == Class::Lost) {
            self.disconnect();
        }
        result
    }

    /// Whether this transaction will be one that defers.
    fn defers_all(&self) -> bool {
        self.mode == Mode::Write && self.way != Way::Careful
    }

    fn run(&mut self, sql: &str) -> Result<(), Fault> {
        let Some(link) = &mut self.link else {
            return Err(Fault::lost("the connection to PostgreSQL was lost"));
        };
        let result = link.run(sql).map(drop).map_err(|fault| link.judge(fault));
        if matches!(&result, Err(fault) if fault.class == Class::Lost) {
            self.disconnect();
        }
        result
    }

    /// Those that nobody else has locked, with their clocks and last references.
    fn claim_free(
        &mut self,
        organizations: &[Organization],
    ) -> Result<Vec<(Organization, i64, i64, i64)>, Fault> {
        let mut found = Vec::new();
        self.attempt(|link| {
            found.clear();
            link.claim(clock::CLAIM, organizations, |row| {
                found.push(read(row)?);
                Ok(ControlFlow::Continue(()))
            })
        })?;
        Ok(found)
    }

    /// Begins the transaction again when this organization is free. While it waits it holds no lock that another
    /// process could wait for, and it does not wait long: others of its batch could go on.
    fn begin_after(&mut self, organization: &Organization) -> Result<(), Fault> {
        let key: String = organization.iter().map(|byte| format!("{byte:02x}")).collect();
        let mark = if self.is_marked { "; SAVEPOINT job" } else { "" };
        let lock = clock::lock(&key);
        self.begin_guarded(&format!(
            "ROLLBACK; {BEGIN}; {}; SET LOCAL lock_timeout = '{CLAIM_MILLIS_MAX}ms'; {lock}; \
             SET LOCAL lock_timeout = '10s'; {}{mark}",
            migrate::SHARED_LOCK,
            migrate::VERSION
        ))
    }

    /// Begins a transaction and refuses a schema that is not this program's.
    fn begin_guarded(&mut self, text: &str) -> Result<(), Fault> {
        let Some(link) = &mut self.link else {
            return Err(Fault::lost("the connection to PostgreSQL was lost"));
        };
        let version = match link.wire()?.run(text) {
            // The version is the last row.
            Ok(rows) => rows.last().and_then(|version| version.parse().ok()),
            Err(error) if error.code() == Some(UNDEFINED_TABLE) => None,
            Err(error) => {
                let fault = link.judge(error.into());
                if fault.class == Class::Lost {
                    self.disconnect();
                }
                return Err(fault);
            }
        };
        migrate::compare_version(version.unwrap_or(0)).map_err(Fault::statement)
    }

    fn disconnect(&mut self) {
        self.link = None;
        self.in_transaction = false;
    }

    /// With the full connection timeout, and a look at what is in between.
    pub(in super::super) fn connect_once(&mut self) -> Result<(), Fault> {
        let mut wire = self.dial(None)?;
        self.server.refuse_shared(&mut wire)?;
        self.link = Some(Link::new(wire, false));
        Ok(())
    }

    /// Connects on its own thread, because looking up a host's name has no limit of its own.
    fn dial(&mut self, timeout: Option<Duration>) -> Result<Wire, Fault> {
        let dialling = match self.dialling.take() {
            Some(dialling) => dialling,
            None => self.start_dialling(timeout)?,
        };
        match dialling.recv_timeout(self.server.patience(timeout)) {
            Ok(result) => result,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                self.dialling = Some(dialling);
                Err(self.server.is_silent())
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err(Fault::statement(DbError::Internal(
                "the attempt to connect to PostgreSQL panicked".to_owned(),
            ))),
        }
    }

    fn start_dialling(&self, timeout: Option<Duration>) -> Result<Dialling, Fault> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let (server, mode) = (Arc::clone(&self.server), self.mode);
        std::thread::Builder::new()
            .name("bursar-connect".to_owned())
            // If the session is gone, the connection is closed.
            .spawn(move || drop(sender.send(server.connect(mode, timeout))))
            .map_err(|error| Fault::lost(format!("no thread could be started: {error}")))?;
        Ok(receiver)
    }

    /// Makes sure that there is a connection. Waits a bounded time for the server to come back.
    fn connect(&mut self) -> Result<(), Fault> {
        if self.link.as_ref().is_some_and(|link| !link.is_outdated()) {
            return Ok(());
        }
        self.disconnect();
        let since = Instant::now();
        let was_away = self.away.is_some();
        if let Some((tried_at, fault)) = &self.away
            && tried_at.elapsed() < RECONNECT_PAUSE
        {
            return Err(fault.clone());
        }
        let wait_max = match self.mode {
            Mode::Read | Mode::Snapshot | Mode::Write => RECONNECT_MAX,
            Mode::LongWrite | Mode::Survey | Mode::Schema => LONG_RECONNECT_MAX,
        };
        let mut pause = Duration::from_millis(50);
        loop {
            match self.dial(Some(wait_max)) {
                Ok(wire) => {
                    self.link = Some(Link::new(wire, self.mode == Mode::Write));
                    self.away = None;
                    return Ok(());
                }
                Err(fault) => {
                    let patient = !was_away && since.elapsed() + pause < wait_max;
                    if fault.class != Class::Lost || !patient {
                        // The wait is over; running the batch again would only wait again. Whatever the server says, to
                        // a running program it is merely unavailable.
                        let error = match fault.error {
                            DbError::BadUrl(line) => DbError::Unavailable(line),
                            other => other,
                        };
                        let fault = Fault::statement(error);
                        self.away = Some((Instant::now(), fault.clone()));
                        return Err(fault);
                    }
                }
            }
            std::thread::sleep(pause);
            pause *= 2;
        }
    }
}

/// Puts the start of a transaction into the buffer. The version is read under the lock: no step is applied until this
/// transaction ends.
fn begin_ahead(link: &mut Link, marked: bool) -> Result<(), Fault> {
    let begun = (|| {
        link.forget()?;
        // Once a connection, and before the transaction: in one that failed not all could be prepared.
        for sql in [
            BEGIN,
            migrate::SHARED_LOCK,
            migrate::VERSION,
            SAVEPOINT,
            RELEASE,
            UNDO,
            COMMIT,
        ] {
            link.prepare(sql)?;
        }
        link.command(BEGIN)?;
        link.command(migrate::SHARED_LOCK)?;
        link.defer_version()?;
        if marked {
            link.command(SAVEPOINT)?;
        }
        Ok(())
    })();
    // Without a schema, for example. Whoever waits for each statement can tell.
    begun.map_err(Fault::unawaited)
}

/// Sends the commit with what is in the buffer.
fn commit_ahead(link: &mut Link, held: &HeldRows) -> Result<(), Fault> {
    for (sql, params) in held.writes() {
        link.defer(&Change {
            key: 1,
            ..Change::any(sql, &params)
        })?;
    }
    link.put_groups()?;
    // The server skips the commit if a statement fails. What only we can judge must be known before.
    if link.is_expecting() {
        link.catch_up()?;
    }
    link.command(COMMIT)?;
    link.catch_up()
}

impl Session for PgSession {
    fn begin(&mut self, many: bool, way: Way) -> Result<(), Fault> {
        self.connect()?;
        self.way = way;
        let marked = many && way != Way::Quick;
        self.is_marked = marked;
        self.has_changed = false;
        self.held.clear();
        if self.defers_all() {
            self.in_transaction = true;
            let begun = self.attempt(|link| begin_ahead(link, marked));
            if begun.is_err() {
                self.rollback();
            }
            return begun;
        }
        let begin = self.mode.begin().unwrap_or("BEGIN");
        if self.mode == Mode::Schema {
            self.run(begin)?;
            self.in_transaction = true;
            return Ok(());
        }
        // One message, so that it costs no extra round trip. The version is read under the lock: no step is applied
        // until this transaction ends.
        let mark = if marked { "; SAVEPOINT job" } else { "" };
        let text = format!("{begin}; {}; {}{mark}", migrate::SHARED_LOCK, migrate::VERSION);
        self.in_transaction = true;
        let result = self.begin_guarded(&text);
        if result.is_err() {
            self.rollback();
        }
        result
    }

    fn claim(&mut self, organizations: &[Organization]) -> Result<Option<Vec<Organization>>, Fault> {
        if !self.defers() {
            return Ok(None);
        }
        let mut found = self.claim_free(organizations)?;
        if found.len() < organizations.len() / 2 {
            // Another process writes most of them, in one batch: after it they are free together.
            let is_found = |organization: &Organization| found.iter().any(|(key, ..)| key == organization);
            if let Some(taken) = organizations.iter().find(|organization| !is_found(organization)) {
                self.begin_after(taken).map_err(Fault::unawaited)?;
                found = self.claim_free(organizations)?;
            }
        }
        for (key, taken, last_reference, epoch) in &found {
            self.held.claim(*key, [*taken, *last_reference, *epoch, 0]);
        }
        // If a job is undone, the locks stay.
        self.mark()?;
        Ok(Some(found.into_iter().map(|(key, ..)| key).collect()))
    }

    fn foresee<'e>(&mut self, jobs: impl Iterator<Item = &'e [Foreseen]> + Clone) -> Result<(), Fault> {
        match self.defers() {
            true => {
                let held = std::mem::take(&mut self.held);
                let put = self.attempt(|link| link.foresee(jobs.clone(), |foreseen| held.answers(foreseen)));
                self.held = held;
                put?;
                // If a job is undone, what was locked to answer the questions stays locked.
                self.mark()
            }
            false => Ok(()),
        }
    }

    fn turn_to(&mut self, job: usize) {
        if let Some(link) = &mut self.link {
            link.turn_to(job);
        }
    }

    fn mark(&mut self) -> Result<(), Fault> {
        self.held.mark();
        match (self.is_marked, self.defers()) {
            (false, _) => {}
            (true, false) => self.run("RELEASE SAVEPOINT job; SAVEPOINT job")?,
            (true, true) => {
                self.attempt(|link| link.command(RELEASE).and_then(|()| link.command(SAVEPOINT)))?;
            }
        }
        self.has_changed = false;
        Ok(())
    }

    fn undo(&mut self, is_broken: bool) -> Result<(), Fault> {
        match (self.is_marked, self.defers()) {
            (false, _) if is_broken || self.has_changed => return Err(Fault::unmarked()),
            (false, _) => {}
            (true, false) => self.run(UNDO)?,
            (true, true) => self.attempt(|link| link.command(UNDO))?,
        }
        self.held.undo();
        self.has_changed = false;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Fault> {
        let Some(link) = &mut self.link else {
            return Err(Fault::lost("the connection to PostgreSQL was lost"));
        };
        // Nothing was sent yet, so certainly nothing was committed.
        if link.is_closed() || link.is_outdated() {
            self.disconnect();
            return Err(Fault::lost("the connection to PostgreSQL was lost"));
        }
        let result = match self.way {
            Way::Careful => link.run(COMMIT).map(drop),
            Way::Quick | Way::Marked => commit_ahead(link, &self.held),
        };
        let result = result.map_err(|fault| link.judge(fault));
        if matches!(&result, Err(fault) if fault.class == Class::Late) {
            // The server skipped what came behind the statement that failed, so nothing was committed.
            return result;
        }
        let result = result.map_err(commit_fault);
        self.in_transaction = false;
        if result.is_err() {
            self.disconnect();
        }
        result
    }

    fn rollback(&mut self) {
        if let Some(link) = &mut self.link {
            link.discard();
        }
        if self.in_transaction && self.run("ROLLBACK").is_err() {
            self.disconnect();
        }
        self.in_transaction = false;
    }

    fn in_transaction(&self) -> bool {
        self.in_transaction
    }

    fn tx(&mut self) -> Tx<'_> {
        Tx::postgres(self)
    }
}
