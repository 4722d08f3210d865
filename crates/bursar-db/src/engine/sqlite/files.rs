//! The files of an open database, and whether their names still lead to them.
//!
//! A process can go on writing to a file that was deleted or replaced while open, and loses it all on exit. SQLite does
//! not notice.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::super::watch::Watch;
use super::{Role, open};
use crate::error::DbError;

/// The database, its log and the log's index, as they were on opening.
pub(in super::super) struct Files {
    path: PathBuf,
    known: Vec<(PathBuf, Identity)>,
    watch: Watch,
}

/// The device and inode numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity(u64, u64);

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Identity(metadata.dev(), metadata.ino()))
    }
}

impl Files {
    /// The lane has read from the log already and stays open, so all three exist and stay.
    pub(super) fn of(path: &Path) -> Self {
        let beside = |suffix: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        let files = [path.to_owned(), beside("-wal"), beside("-shm")].into_iter();
        Files {
            path: path.to_owned(),
            known: files
                .filter_map(|file| Identity::of(&file).map(|identity| (file, identity)))
                .collect(),
            watch: Watch::new(),
        }
    }

    pub(in super::super) fn path(&self) -> &Path {
        &self.path
    }

    /// One more connection to the same files. If the file was replaced, it is not even opened: SQLite would take the
    /// log for its own and delete it at the end.
    pub(in super::super) fn open(&self, role: Role) -> Result<Connection, DbError> {
        self.check()?;
        let connection = open(&self.path, role)?;
        self.check()?;
        Ok(connection)
    }

    /// Whether all of them are where they were. [`Files::look`] reports the finding too.
    pub(super) fn check(&self) -> Result<(), DbError> {
        self.watch.note(self.compare())
    }

    /// Like `check`, at most once a second.
    pub(super) fn look(&self) -> Result<(), DbError> {
        self.watch.look(|| self.compare())
    }

    fn compare(&self) -> Result<(), DbError> {
        let moved = |(file, identity): &&(PathBuf, Identity)| Identity::of(file) != Some(*identity);
        match self.known.iter().find(moved) {
            None => Ok(()),
            Some((file, _)) => Err(DbError::FileReplaced(format!(
                "{} was deleted or replaced while it was in use; put the file back, or restart the server",
                file.display()
            ))),
        }
    }
}
