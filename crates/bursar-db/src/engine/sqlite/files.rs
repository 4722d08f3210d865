//! The files of an open database, and whether their names still lead to them.
//!
//! A file that is deleted or replaced while it is open goes on being written to, and is gone with the process. SQLite
//! does not notice.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::super::watch::Watch;
use super::{Role, open};
use crate::error::DbError;

/// The database, its log and the log's index, as they were when the database was opened.
pub(in super::super) struct Files {
    path: PathBuf,
    known: Vec<(PathBuf, Identity)>,
    watch: Watch,
}

/// The device, and the file's number on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity(u64, u64);

impl Identity {
    fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        Some(Identity(metadata.dev(), metadata.ino()))
    }
}

impl Files {
    /// Notes them. The lane has read from the log already and stays open, so that all three are there and stay.
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

    /// One more connection to the same files. Another file is not even opened: SQLite would take the log that is there
    /// for its own, and delete it at the end.
    pub(in super::super) fn open(&self, role: Role) -> Result<Connection, DbError> {
        self.check()?;
        let connection = open(&self.path, role)?;
        self.check()?;
        Ok(connection)
    }

    /// Whether all of them are where they were. What is found is told to those who only look now and then.
    pub(super) fn check(&self) -> Result<(), DbError> {
        self.watch.note(self.compare())
    }

    /// The same, at most once a second.
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
