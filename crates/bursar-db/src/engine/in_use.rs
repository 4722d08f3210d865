//! Who else has a database open. Asked before this process opens it: on SQLite, closing any file of a database drops the
//! locks that the process holds on it.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Flock, FlockOffsetType, FlockType, fcntl_getlk};

use super::postgres::{Mode, PgSession, Server};
use super::tx::Tx;
use super::url::{DatabaseUrl, PostgresUrl};
use crate::error::DbError;

/// Every connection of SQLite holds a lock on this byte of the log's index (`UNIX_SHM_DMS`).
const OPEN_BYTE: u64 = 128;
/// A connection of PostgreSQL whose client has just ended is gone after a moment.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

/// `process 1234`, or `2 connections`. `None` if nobody has.
pub fn in_use(url: &DatabaseUrl) -> Result<Option<String>, DbError> {
    match url {
        DatabaseUrl::Sqlite(path) => Ok(process_on(path)),
        DatabaseUrl::Postgres(url) => connections_to(url),
    }
}

fn process_on(path: &Path) -> Option<String> {
    // SQLite names its files after what a link leads to.
    let mut index = path.canonicalize().ok()?.into_os_string();
    index.push("-shm");
    // There is none while nobody has the database open.
    let index = File::open(index).ok()?;
    let wanted = Flock {
        start: OPEN_BYTE,
        length: 1,
        pid: None,
        typ: FlockType::WriteLock,
        offset_type: FlockOffsetType::Set,
    };
    let held = fcntl_getlk(&index, &wanted).ok()??;
    Some(match held.pid {
        Some(pid) => format!("process {}", pid.as_raw_nonzero()),
        None => "another process".to_owned(),
    })
}

fn connections_to(url: &PostgresUrl) -> Result<Option<String>, DbError> {
    let server = Arc::new(Server::new(url, None)?);
    let mut session = PgSession::new(server, Mode::Read);
    session.connect_once().map_err(|fault| fault.error)?;
    let mut count = 0;
    for _ in 0..LOOKS {
        let found = Tx::postgres(&mut session).first(OTHERS, &[], |row| row.int(0))?;
        count = found.unwrap_or(0);
        if count == 0 {
            return Ok(None);
        }
        sleep(BETWEEN_LOOKS);
    }
    Ok(Some(match count {
        1 => "1 connection of bursar".to_owned(),
        count => format!("{count} connections of bursar"),
    }))
}

/// Held by every connection of this program, whatever its name and user, and by nobody else: an administrator's session
/// is no use of the database.
pub(super) const SIGN: &str = "SELECT pg_advisory_lock_shared(7094698)";
const OTHERS: &str = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' \
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
     AND classid = 0 AND objid = 7094698 AND objsubid = 1 AND pid <> pg_backend_pid()";
