//! Opening an SQLite file: which files are accepted, and the settings of every connection.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::super::fault::sqlite_error;
use super::super::migrate::APPLICATION_ID;
use crate::error::DbError;
use crate::private;

/// How long a connection polls for a lock that another process holds.
const BUSY_MAX: Duration = Duration::from_secs(30);
/// How long the lane waits for readers when it checkpoints itself: they are short, and writers wait meanwhile.
const CHECKPOINT_BUSY_MAX: Duration = Duration::from_millis(100);
/// More than the number of SQL texts in the program, so that none is prepared twice.
const STATEMENTS_MAX: usize = 512;
const MMAP_BYTES_MAX: i64 = 1 << 30;
/// The size to which the WAL file is truncated when it starts over.
const JOURNAL_BYTES_MAX: i64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Role {
    /// The only writer. It may create the file.
    Lane {
        create: bool,
    },
    Exclusive,
    Checkpoint,
    Reader,
    /// Reads this file, writes another one.
    Backup,
}

impl Role {
    fn writes(self) -> bool {
        matches!(self, Role::Lane { .. } | Role::Exclusive | Role::Checkpoint)
    }

    /// Readers use the mapped file and need almost no cache; a writer keeps the pages it has changed.
    fn cache_kib(self) -> i64 {
        match self {
            Role::Lane { .. } | Role::Exclusive => 8_192,
            Role::Checkpoint => 64,
            Role::Reader | Role::Backup => 512,
        }
    }

    fn busy_max(self) -> Duration {
        if self == Role::Checkpoint {
            CHECKPOINT_BUSY_MAX
        } else {
            BUSY_MAX
        }
    }
}

/// Refuses files that are not ours.
pub(in super::super) fn open(path: &Path, role: Role) -> Result<Connection, DbError> {
    let create = matches!(role, Role::Lane { create: true });
    if !create && matches!(path.try_exists(), Ok(false)) {
        return Err(DbError::NoDatabase(format!(
            "there is no database at {}; `bursar serve` or `bursar import` creates one",
            path.display()
        )));
    }
    let mut flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    flags |= if role.writes() {
        OpenFlags::SQLITE_OPEN_READ_WRITE
    } else {
        OpenFlags::SQLITE_OPEN_READ_ONLY
    };
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
        // SQLite gives its log the same permissions. An existing file keeps its own, and the open below reports what
        // goes wrong better.
        drop(private::create_new(path));
    }
    let mut connection = Connection::open_with_flags(path, flags).map_err(|e| opening_error(path, &e))?;
    wait_when_busy(&mut connection, role.busy_max()).map_err(|e| opening_error(path, &e))?;
    if matches!(role, Role::Lane { .. }) {
        identify(&connection, path)?;
    }
    configure(&connection, role, path)?;
    Ok(connection)
}

/// Polls, with sleeps that grow to 10 ms: SQLite has no wait queue.
fn wait_when_busy(connection: &mut Connection, busy_max: Duration) -> rusqlite::Result<()> {
    let mut since = Instant::now();
    connection.busy_handler(Some(move |count: i32| {
        if count == 0 {
            since = Instant::now();
        }
        let exponent = u32::try_from(count).unwrap_or(0).min(6);
        std::thread::sleep(Duration::from_micros(200 << exponent).min(Duration::from_millis(10)));
        since.elapsed() < busy_max
    }))
}

/// Refuses another program's file before anything in it is changed.
fn identify(connection: &Connection, path: &Path) -> Result<(), DbError> {
    let read = |sql: &str| -> Result<i64, DbError> {
        connection
            .query_row(sql, [], |row| row.get(0))
            .map_err(|e| opening_error(path, &e))
    };
    // The tables first: a process that is creating the file sets both in one transaction.
    let tables = read("SELECT COUNT(*) FROM sqlite_schema")?;
    let application_id = read("PRAGMA application_id")?;
    if application_id == APPLICATION_ID || (application_id == 0 && tables == 0) {
        return Ok(());
    }
    Err(DbError::Foreign(format!(
        "{} is an SQLite database of another program; give --database another file",
        path.display()
    )))
}

fn configure(connection: &Connection, role: Role, path: &Path) -> Result<(), DbError> {
    let settings = || -> rusqlite::Result<()> {
        // Without it, STAT4 prepares cached statements again for each new value.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
        connection.pragma_update(None, "cache_size", -role.cache_kib())?;
        connection.pragma_update_and_check(None, "mmap_size", MMAP_BYTES_MAX, |_| Ok(()))?;
        if role == Role::Reader {
            connection.pragma_update(None, "query_only", true)?;
        }
        if role.writes() {
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update_and_check(None, "journal_size_limit", JOURNAL_BYTES_MAX, |_| Ok(()))?;
        }
        if matches!(role, Role::Lane { .. }) {
            connection.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
        }
        Ok(())
    };
    if role.writes() {
        write_ahead(connection, path)?;
    }
    settings().map_err(|e| opening_error(path, &e))?;
    if role.writes() {
        let level: i64 = connection
            .pragma_query_value(None, "synchronous", |row| row.get(0))
            .map_err(|e| opening_error(path, &e))?;
        if level != 2 {
            return Err(DbError::Internal(format!(
                "{}: synchronous must be 2 (FULL), SQLite says {level}",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Turns the write-ahead log on. SQLite does not call the busy handler for this, so it waits here.
fn write_ahead(connection: &Connection, path: &Path) -> Result<(), DbError> {
    let since = Instant::now();
    loop {
        let mode =
            connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && since.elapsed() < BUSY_MAX =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(mode) => {
                return Err(DbError::Unwritable(format!(
                    "{} cannot use a write-ahead log (journal mode {mode}); put it on a local disk",
                    path.display()
                )));
            }
            Err(error) => return Err(opening_error(path, &error)),
        }
    }
}

/// Adds the file's name and the way out.
fn opening_error(path: &Path, error: &rusqlite::Error) -> DbError {
    let path = path.display();
    match sqlite_error(error) {
        DbError::Foreign(_) => DbError::Foreign(format!(
            "{path} is damaged or not an SQLite database ({error}); restore a backup or give --database another file"
        )),
        DbError::Unwritable(_) => DbError::Unwritable(format!(
            "{path} cannot be opened for writing ({error}); check that its folder exists and may be written to"
        )),
        DbError::Unavailable(why) => DbError::Unavailable(format!("{path}: {why}")),
        DbError::Internal(why) => DbError::Internal(format!("{path}: {why}")),
        other => other,
    }
}
