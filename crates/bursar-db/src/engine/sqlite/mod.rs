//! SQLite: one lane that writes, and reader connections used on the caller's thread.

mod checkpoint;
mod connection;
mod files;
mod readers;
mod statement;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

pub(super) use self::checkpoint::Checkpointer;
pub(super) use self::connection::{Role, open};
pub(super) use self::files::Files;
pub(super) use self::readers::Readers;
pub(super) use self::statement::{execute, load, visit};

use self::checkpoint::LaneCheckpoint;
use super::fault::Fault;
use super::lane::{Session, Way};
use super::tx::Tx;
use super::{Opening, Options, migrate};
use crate::error::DbError;
use crate::private;

/// After this time a batch takes no more jobs, so that other processes get the write lock.
pub(super) const BATCH_DURATION_MAX: Duration = Duration::from_millis(20);

pub(super) struct SqliteSession {
    connection: Connection,
    checkpoint: Option<LaneCheckpoint>,
    /// A commit is acknowledged only while these files are in place. `None` during a migration.
    files: Option<Arc<Files>>,
}

impl SqliteSession {
    fn new(connection: Connection) -> Self {
        SqliteSession {
            connection,
            checkpoint: None,
            files: None,
        }
    }

    /// For a long write on the caller's thread.
    pub(super) fn exclusive(files: &Arc<Files>) -> Result<Self, DbError> {
        Ok(SqliteSession {
            files: Some(Arc::clone(files)),
            ..SqliteSession::new(files.open(Role::Exclusive)?)
        })
    }

    fn run(&self, sql: &str) -> Result<(), Fault> {
        self.connection.prepare_cached(sql)?.execute([])?;
        Ok(())
    }
}

impl Session for SqliteSession {
    fn begin(&mut self, many: bool, _: Way) -> Result<(), Fault> {
        self.run("BEGIN IMMEDIATE")?;
        if let Some(files) = &self.files {
            files.look().map_err(Fault::statement)?;
            // Nobody changes the schema while this transaction holds the lock.
            migrate::require_version(&mut Tx::sqlite(&self.connection)).map_err(Fault::statement)?;
        }
        if many { self.run("SAVEPOINT job") } else { Ok(()) }
    }

    fn mark(&mut self) -> Result<(), Fault> {
        self.run("RELEASE job")?;
        self.run("SAVEPOINT job")
    }

    fn undo(&mut self, _: bool) -> Result<(), Fault> {
        self.run("ROLLBACK TO job")
    }

    fn commit(&mut self) -> Result<(), Fault> {
        self.run("COMMIT")?;
        match &self.files {
            Some(files) => files.check().map_err(Fault::statement),
            None => Ok(()),
        }
    }

    fn rollback(&mut self) {
        if self.in_transaction()
            && let Err(fault) = self.run("ROLLBACK")
        {
            tracing::error!(error = %fault.error, "a transaction could not be rolled back");
        }
    }

    fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn tx(&mut self) -> Tx<'_> {
        Tx::sqlite(&self.connection)
    }

    fn between(&mut self) {
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.after_commit();
        }
    }
}

pub(super) struct Opened {
    pub(super) files: Arc<Files>,
    pub(super) lane: SqliteSession,
    pub(super) readers: Readers,
    pub(super) checkpointer: Arc<Checkpointer>,
}

/// Opens the file or refuses it, and migrates its schema.
pub(super) fn open_file(path: &Path, options: &Options, opening: Opening) -> Result<Opened, DbError> {
    let mut connection = open(
        path,
        Role::Lane {
            create: opening == Opening::Migrate,
        },
    )?;
    if let Some(pages) = options.page_count_max {
        connection
            .pragma_update(None, "max_page_count", pages)
            .map_err(|error| Fault::from(error).error)?;
    }
    let checkpointer = Checkpointer::new();
    let checkpoint = LaneCheckpoint::new(path, &mut connection, Arc::clone(&checkpointer), options)?;
    let mut lane = SqliteSession::new(connection);
    migrate::migrate(&mut lane, crate::schema::STEPS, opening)?;
    lane.checkpoint = Some(checkpoint);
    let files = Arc::new(Files::of(path));
    lane.files = Some(Arc::clone(&files));
    Ok(Opened {
        readers: Readers::new(&files, options.connections),
        files,
        lane,
        checkpointer,
    })
}

/// Copies the current state while others write.
pub(super) fn backup(path: &Path, to: &Path) -> Result<(), DbError> {
    let unwritable = |error: &dyn std::fmt::Display| {
        DbError::Unwritable(format!("the backup {} cannot be written: {error}", to.display()))
    };
    if let (Ok(from), Ok(existing)) = (path.canonicalize(), to.canonicalize())
        && from == existing
    {
        return Err(unwritable(&"it is the database itself"));
    }
    let Some(name) = to.file_name() else {
        return Err(unwritable(&"it is not a file name"));
    };
    let mut temporary_name = name.to_owned();
    temporary_name.push(format!(".{}.part", std::process::id()));
    let temporary = to.with_file_name(temporary_name);
    // A file of this name is left over from an interrupted backup.
    let _ = std::fs::remove_file(&temporary);
    // SQLite writes into an empty file and keeps its permissions.
    let file = private::create_new(&temporary).map_err(|error| unwritable(&error))?;
    let written = vacuum_into(path, &temporary).and_then(|()| {
        file.sync_all()
            .and_then(|()| std::fs::rename(&temporary, to))
            .and_then(|()| std::fs::File::open(folder_of(to)))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| unwritable(&error))
    });
    if written.is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

/// Writes the file anew, so that nothing of removed and replaced rows is left in it, and empties its log. Waits for other
/// writers and readers, and they wait for it. Returns its size before and after, in bytes.
pub(super) fn compact(files: &Files) -> Result<(u64, u64), DbError> {
    let size = || std::fs::metadata(files.path()).map_or(0, |found| found.len());
    let before = size();
    let connection = files.open(Role::Exclusive)?;
    let run = |sql: &str| {
        connection
            .execute_batch(sql)
            .map_err(|error| Fault::from(error).error)
    };
    run("VACUUM")?;
    match checkpoint::checkpoint(&connection, "PRAGMA wal_checkpoint(TRUNCATE)")? {
        true => Ok((before, size())),
        false => Err(DbError::Unavailable(
            "another process has been reading the database for a long time, so its log still has old content; run the command again later"
                .to_owned(),
        )),
    }
}

fn vacuum_into(path: &Path, temporary: &Path) -> Result<(), DbError> {
    let text = temporary.to_str().ok_or_else(|| {
        DbError::Unwritable(format!(
            "the backup's name {} is not valid UTF-8",
            temporary.display()
        ))
    })?;
    let connection = open(path, Role::Backup)?;
    connection
        .execute("VACUUM INTO ?1", [text])
        .map_err(|error| match Fault::from(error).error {
            DbError::Unwritable(why) => DbError::Unwritable(format!(
                "the backup {} cannot be written: {why}",
                temporary.display()
            )),
            other => other,
        })?;
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}
