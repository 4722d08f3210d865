//! The one handle through which all SQL runs, on both engines.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::EngineKind;
use super::ahead::Change;
use super::dialect;
use super::fault::{Class, Fault};
use super::held;
use super::memo::Memo;
use super::postgres::PgSession;
use super::sqlite;
use super::value::{LoadTarget, OwnedValue, Row, Value};
use crate::error::DbError;

/// A connection lent to one job. SQL texts use `?1, ?2 …` and are the same for both engines.
pub struct Tx<'c> {
    link: Link<'c>,
    /// The last failure, so that the engine can decide without knowing the job's error type.
    failure: Option<Fault>,
    /// Set for a reader of SQLite.
    memo: Option<&'c mut Memo>,
}

enum Link<'c> {
    Sqlite(&'c rusqlite::Connection),
    Postgres(&'c mut PgSession),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Locking {
    Not,
    Lock,
    Claim,
}

impl<'c> Tx<'c> {
    pub(super) fn sqlite(connection: &'c rusqlite::Connection) -> Self {
        Tx {
            link: Link::Sqlite(connection),
            failure: None,
            memo: None,
        }
    }

    pub(super) fn sqlite_reader(connection: &'c rusqlite::Connection, memo: &'c mut Memo) -> Self {
        Tx {
            memo: Some(memo),
            ..Tx::sqlite(connection)
        }
    }

    pub(super) fn postgres(session: &'c mut PgSession) -> Self {
        Tx {
            link: Link::Postgres(session),
            failure: None,
            memo: None,
        }
    }

    pub(super) fn into_failure(self) -> Option<Fault> {
        self.failure
    }

    /// For the few places where a statement cannot be the same.
    pub fn kind(&self) -> EngineKind {
        match self.link {
            Link::Sqlite(_) => EngineKind::Sqlite,
            Link::Postgres(_) => EngineKind::Postgres,
        }
    }

    /// Returns the number of rows changed.
    pub fn execute(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<u64, DbError> {
        let result = match &mut self.link {
            Link::Sqlite(connection) => sqlite::execute(connection, sql, params),
            Link::Postgres(session) => session.execute(sql, params),
        };
        self.note(result)
    }

    /// For a change whose result nobody needs. On PostgreSQL it may travel with the statements after it; if it fails,
    /// the transaction is run again and waits for it.
    pub fn send(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<(), DbError> {
        self.send_change(Change::any(sql, params))
    }

    /// The same for a change of exactly one row.
    pub fn send_one(&mut self, sql: &'static str, params: &[Value<'_>]) -> Result<(), DbError> {
        self.send_update(0, sql, params)
    }

    /// The same for a change of the one row whose key is the first `key` values; it also reads no other row that jobs
    /// change. On PostgreSQL what was foreseen of other rows stays true, and such changes with the same text are sent as
    /// one statement. Their tables have no triggers.
    pub fn send_of_row(
        &mut self,
        key: usize,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> Result<(), DbError> {
        self.send_change(Change {
            key,
            ..Change::any(sql, params)
        })
    }

    /// Like `send_of_row`, for a row that must be there.
    pub fn send_update(
        &mut self,
        key: usize,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> Result<(), DbError> {
        let rows = Some(1);
        self.send_change(Change {
            key,
            rows,
            ..Change::any(sql, params)
        })
    }

    fn send_change(&mut self, change: Change<'_>) -> Result<(), DbError> {
        if let Link::Postgres(session) = &mut self.link
            && session.defers()
        {
            let result = session.defer(&change);
            return self.note(result);
        }
        let changed = self.execute(change.sql, change.params)?;
        match change.rows {
            Some(rows) if rows != changed => Err(DbError::Internal(format!(
                "{changed} rows changed instead of {rows}: {}",
                change.sql
            ))),
            _ => Ok(()),
        }
    }

    /// What the last job of this batch left in the row with this key, if the transaction holds it.
    pub(crate) fn held(&self, key: &held::Key) -> Option<held::Left> {
        match &self.link {
            Link::Sqlite(_) => None,
            Link::Postgres(session) => session.held(key),
        }
    }

    /// Changes a row that this transaction has locked, whose key is the first value. The jobs of a batch on PostgreSQL share it: it is written once,
    /// before the commit, as the last of them says.
    pub(crate) fn hold(
        &mut self,
        key: held::Key,
        left: held::Left,
        sql: &'static str,
        params: &[Value<'_>],
    ) -> Result<(), DbError> {
        if let Link::Postgres(session) = &mut self.link
            && session.defers()
        {
            session.hold(key, left, sql, params);
            return Ok(());
        }
        self.send(sql, params)
    }

    /// Rows are not collected, so memory stays bounded however many there are.
    pub fn each(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        mut f: impl FnMut(&Row<'_>) -> Result<(), DbError>,
    ) -> Result<(), DbError> {
        self.each_until(sql, params, |row| f(row).map(ControlFlow::Continue))
    }

    /// Like `each`, until `f` breaks.
    pub fn each_until(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), DbError> {
        self.visit(sql, Locking::Not, params, f)
    }

    pub fn rows<T>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        self.collect(sql, Locking::Not, params, map)
    }

    pub fn first<T>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        self.take_first(sql, Locking::Not, params, map)
    }

    /// Locks the row until the transaction ends. The text is a plain SELECT.
    pub fn first_locked<T>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        self.take_first(sql, Locking::Lock, params, map)
    }

    /// Skips rows that another worker has claimed and locks the others until the transaction ends. The text is a plain
    /// SELECT.
    pub fn rows_claimed<T>(
        &mut self,
        sql: &'static str,
        params: &[Value<'_>],
        map: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        self.collect(sql, Locking::Claim, params, map)
    }

    pub fn load(&mut self, target: &'static LoadTarget, rows: &[Vec<OwnedValue>]) -> Result<(), DbError> {
        if let Some(row) = rows.iter().find(|row| row.len() != target.columns.len()) {
            return Err(DbError::Internal(format!(
                "a row for {} must have {} values, got {}",
                target.table,
                target.columns.len(),
                row.len()
            )));
        }
        let result = match &mut self.link {
            Link::Sqlite(connection) => sqlite::load(connection, target, rows),
            Link::Postgres(session) => session.load(target, rows),
        };
        self.note(result)
    }

    /// Runs several statements, in the dialect of the schema text.
    pub fn batch(&mut self, sql: &str) -> Result<(), DbError> {
        let text = dialect::ddl(sql, self.kind());
        let result = match &mut self.link {
            Link::Sqlite(connection) => connection.execute_batch(&text).map_err(Fault::from),
            Link::Postgres(session) => session.batch(&text),
        };
        self.note(result)
    }

    /// From here on, all statements of a read see one snapshot. Does nothing on SQLite and in a transaction.
    pub fn hold_snapshot(&mut self) -> Result<(), DbError> {
        let result = match &mut self.link {
            Link::Sqlite(_) => Ok(()),
            Link::Postgres(session) => session.hold_snapshot(),
        };
        self.note(result)
    }

    /// What `find` returns, remembered while the engine can tell that nothing was committed. The key also names the
    /// question. `None` is not remembered.
    pub fn remembered<T: Send + Sync + 'static>(
        &mut self,
        key: [u8; 32],
        find: impl FnOnce(&mut Self) -> Result<Option<T>, DbError>,
    ) -> Result<Option<Arc<T>>, DbError> {
        if let Some(known) = self.memo.as_ref().and_then(|memo| memo.get(&key)) {
            return Ok(Some(known));
        }
        let found = find(self)?.map(Arc::new);
        if let (Some(found), Some(memo)) = (&found, &mut self.memo) {
            memo.keep(key, found);
        }
        Ok(found)
    }

    fn collect<T>(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
        mut map: impl FnMut(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Vec<T>, DbError> {
        let mut found = Vec::new();
        self.visit(sql, locking, params, |row| {
            found.push(map(row)?);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    fn take_first<T>(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
        map: impl FnOnce(&Row<'_>) -> Result<T, DbError>,
    ) -> Result<Option<T>, DbError> {
        let mut found = None;
        let mut map = Some(map);
        self.visit(sql, locking, params, |row| {
            if let Some(map) = map.take() {
                found = Some(map(row)?);
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    fn visit(
        &mut self,
        sql: &'static str,
        locking: Locking,
        params: &[Value<'_>],
        f: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), DbError> {
        let result = match &mut self.link {
            // BEGIN IMMEDIATE already holds the lock of the whole database.
            Link::Sqlite(connection) => sqlite::visit(connection, sql, params, f),
            Link::Postgres(session) => session.visit(sql, locking, params, f),
        };
        self.note(result)
    }

    fn note<T>(&mut self, result: Result<T, Fault>) -> Result<T, DbError> {
        result.map_err(|fault| {
            let error = fault.error.clone();
            if fault.class != Class::Caller {
                self.failure = Some(fault);
            }
            error
        })
    }
}
