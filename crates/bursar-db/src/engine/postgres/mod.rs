//! PostgreSQL: lanes that write and readers, each a thread with its own connection.

mod answers;
mod groups;
mod link;
mod readers;
mod session;
mod tls;
mod wire;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(super) use self::readers::Readers;
pub(super) use self::session::{Mode, PgSession};
pub(super) use self::wire::{Told, WireError};

use self::wire::{Eras, Target, Wire};
use super::fault::{Class, Fault, NO_RIGHT, way_to_right};
use super::tx::Tx;
use super::url::{PostgresUrl, TlsMode};
use super::{Opening, in_use, migrate};
use crate::error::DbError;
use crate::tables::EVERY_TABLE;

/// After this time a batch takes no more jobs, so that other organizations get their turn.
pub(super) const BATCH_DURATION_MAX: Duration = Duration::from_millis(20);

const CONNECT_MAX: Duration = Duration::from_secs(5);
/// How long a flight of statements may take. The server ends a statement after 30 seconds; if nothing comes even then,
/// it is frozen or gone.
const FLIGHT_MAX: Duration = Duration::from_secs(32);
const SILENCE_MAX: Duration = Duration::from_secs(30);

pub(super) struct Server {
    target: Target,
    name: String,
    flight_max: Duration,
}

impl Server {
    pub(super) fn new(url: &PostgresUrl, flight_max: Option<Duration>) -> Result<Self, DbError> {
        let mut config = postgres::Config::clone(&url.config);
        // Notices a server that vanished silently within half a minute, not in the system's hours.
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE_MAX);
        }
        config.keepalives_idle(config.get_keepalives_idle().min(SILENCE_MAX / 2));
        config.keepalives_interval(config.get_keepalives_interval().unwrap_or(SILENCE_MAX / 6));
        config.keepalives_retries(config.get_keepalives_retries().unwrap_or(3));
        if config.get_application_name().is_none() {
            config.application_name("bursar");
        }
        let tls = match url.tls {
            TlsMode::Disable => None,
            mode => Some(Arc::new(tls::client_config(
                mode,
                url.root_certificate.as_deref(),
            )?)),
        };
        Ok(Server {
            target: Target {
                config,
                tls,
                tls_is_optional: url.tls == TlsMode::Prefer,
                flights: Arc::default(),
                eras: Arc::new(Eras::new()),
            },
            name: url.server(),
            flight_max: flight_max.unwrap_or(FLIGHT_MAX),
        })
    }

    /// How often something was sent and then waited for.
    pub(super) fn round_trips(&self) -> u64 {
        self.target.flights.load(Ordering::Relaxed)
    }

    /// Connects and configures the session.
    fn connect(&self, mode: Mode, timeout: Option<Duration>) -> Result<Wire, Fault> {
        let settings = format!("{}; {}", mode.settings(), in_use::SIGN);
        let connected = self.target.connect(self.each_host_max(timeout), &settings);
        let mut wire = connected.map_err(|error| self.explain(&error))?;
        let limit = mode.is_short().then_some(self.flight_max);
        wire.limit(limit).map_err(|error| self.explain(&error))?;
        Ok(wire)
    }

    /// Refuses a pooler that gives the server of a session to others between two transactions, as PgBouncer does unless
    /// `pool_mode` is `session`: what a session has prepared and set would be somebody else's. Found by holding a
    /// transaction in a second session: the first one must keep its server.
    fn refuse_shared(&self, first: &mut Wire) -> Result<(), Fault> {
        let lost = |error: WireError| self.explain(&error);
        let served_by = first.serving().map_err(lost)?;
        if served_by == first.process() {
            return Ok(());
        }
        let mut second = self.connect(Mode::Read, None)?;
        let is_shared = match second.run("BEGIN") {
            // A pooler of statements takes no transaction.
            Err(WireError::Told(_)) => true,
            begun => {
                begun.map_err(lost)?;
                second.serving().map_err(lost)? == served_by || first.serving().map_err(lost)? != served_by
            }
        };
        match is_shared {
            false => Ok(()),
            true => Err(Fault::statement(DbError::BadUrl(format!(
                "the pooler at {} gives a session's server to others between transactions; bursar prepares statements \
                 and sets limits once for a session. Set pool_mode = session for this database in PgBouncer, or name \
                 PostgreSQL itself in the database URL",
                self.name
            )))),
        }
    }

    fn each_host_max(&self, timeout: Option<Duration>) -> Duration {
        let own = self.target.config.get_connect_timeout();
        let own = own.copied().unwrap_or(CONNECT_MAX);
        own.min(timeout.unwrap_or(own))
    }

    /// How long an attempt to connect may take if all hosts of the URL are tried one after the other.
    fn patience(&self, timeout: Option<Duration>) -> Duration {
        self.each_host_max(timeout) * u32::try_from(self.target.hosts()).unwrap_or(1)
    }

    /// For a server that accepts connections and then does not respond.
    fn is_silent(&self) -> Fault {
        Fault::lost(format!(
            "PostgreSQL at {} does not respond: it accepted the connection but sent nothing",
            self.name
        ))
    }

    fn explain(&self, error: &WireError) -> Fault {
        let name = &self.name;
        match error {
            // Wrong user or password, or no such database: waiting does not help.
            WireError::Told(Told { code, .. }) if code.starts_with("28") || code == "3D000" => {
                Fault::statement(DbError::BadUrl(format!(
                    "PostgreSQL at {name} refuses the connection: {error}; check the database URL"
                )))
            }
            WireError::Told(Told { code, message }) if code == NO_RIGHT => {
                Fault::statement(DbError::BadUrl(format!(
                    "PostgreSQL at {name} refuses the connection: {message}; {}",
                    way_to_right(message)
                )))
            }
            WireError::Login(_) => Fault::statement(DbError::BadUrl(format!(
                "PostgreSQL at {name} cannot be used: {error}; check the database URL"
            ))),
            WireError::Told(_) => {
                Fault::lost(format!("PostgreSQL at {name} refuses the connection: {error}"))
            }
            WireError::Tls(_) => Fault::statement(DbError::BadUrl(format!(
                "PostgreSQL at {name} cannot be trusted: {error}; name its certificate authority with sslrootcert=FILE \
                 in the database URL, or a weaker sslmode if the network is trusted"
            ))),
            WireError::Silent => self.is_silent(),
            // A standby may be promoted in a moment.
            WireError::ReadOnly => Fault::lost(format!(
                "PostgreSQL at {name} takes no writes, and no other host of the database URL does"
            )),
            WireError::Closed | WireError::Io(_) | WireError::Protocol(_) | WireError::Value(_) => {
                Fault::lost(format!("PostgreSQL at {name} is unreachable: {error}"))
            }
        }
    }
}

/// Migrates the schema on its own thread, because the caller's may be an async one.
pub(super) fn prepare_schema(server: &Arc<Server>, opening: Opening) -> Result<(), DbError> {
    let server = Arc::clone(server);
    let worker = std::thread::Builder::new()
        .name("bursar-schema".to_owned())
        .spawn(move || {
            let mut session = PgSession::new(server, Mode::Schema);
            session.connect_once().map_err(|fault| fault.error)?;
            let tx = &mut Tx::postgres(&mut session);
            refuse_foreign(tx)?;
            // Data in such a database can still be read, to move it.
            if opening == Opening::Migrate {
                refuse_text(tx)?;
            }
            migrate::migrate(&mut session, crate::schema::STEPS, opening)
        });
    let worker =
        worker.map_err(|error| DbError::Unavailable(format!("no thread could be started: {error}")))?;
    worker
        .join()
        .unwrap_or_else(|_| Err(DbError::Internal("the migration panicked".to_owned())))
}

/// Refuses a database that has a table named like ours but no version table: it is another program's.
fn refuse_foreign(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let sql = "SELECT COUNT(*) FROM pg_catalog.pg_tables \
               WHERE schemaname = current_schema() AND tablename = 'organizations'";
    if tx.first(sql, &[], |row| row.int(0))? != Some(0) && !migrate::has_schema(tx)? {
        return Err(DbError::Foreign(
            "the PostgreSQL database has a table organizations that belongs to another program; use a separate database"
                .to_owned(),
        ));
    }
    Ok(())
}

/// Refuses a database that could not keep every text, or does not sort texts by their bytes: then an index could come out of
/// order with an upgrade of the system, and pages of a list with each other.
fn refuse_text(tx: &mut Tx<'_>) -> Result<(), DbError> {
    let sql = "SELECT current_setting('server_encoding'), CASE WHEN 'B' < 'a' THEN 1 ELSE 0 END";
    let found = tx.first(sql, &[], |row| Ok((row.text(0)?.to_owned(), row.int(1)?)))?;
    let what = match found {
        Some((encoding, _)) if encoding != "UTF8" => format!("is encoded in {encoding}, not in UTF8"),
        Some((_, 0)) => "sorts texts by the rules of a language, not in the order of C".to_owned(),
        _ => return Ok(()),
    };
    Err(DbError::Foreign(format!(
        "the PostgreSQL database {what}; create another with `createdb --template=template0 --locale=C --encoding=UTF8 \
         NAME`, and move data that is in this one with `bursar copy`"
    )))
}

/// Locks every table as a write would, to find one that somebody else has locked.
pub(super) fn lock_every_table() -> String {
    let names: Vec<&str> = EVERY_TABLE.iter().map(|table| table.table).collect();
    format!(
        "SET LOCAL lock_timeout = '1s'; LOCK TABLE {} IN ROW EXCLUSIVE MODE",
        names.join(", ")
    )
}

/// A response of the server to a commit is certain; after a lost connection the outcome is unknown.
fn commit_fault(fault: Fault) -> Fault {
    if fault.class == Class::Lost {
        return Fault::statement(DbError::Unavailable(
            "the connection was lost during the commit, so that it is unknown whether the change was made"
                .to_owned(),
        ));
    }
    fault
}
