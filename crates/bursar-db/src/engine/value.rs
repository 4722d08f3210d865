//! Parameters of statements and rows of results.

use bytes::{BufMut, BytesMut};
use rusqlite::types::{ToSql as SqliteToSql, ToSqlOutput, ValueRef};

use crate::error::DbError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    Null,
    /// Booleans are 0 and 1.
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Value::Int(value)
    }
}

impl From<bool> for Value<'_> {
    fn from(value: bool) -> Self {
        Value::Int(i64::from(value))
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Value::Text(value)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Value::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(value: &'a [u8]) -> Self {
        Value::Bytes(value)
    }
}

impl<'a, const N: usize> From<&'a [u8; N]> for Value<'a> {
    fn from(value: &'a [u8; N]) -> Self {
        Value::Bytes(value)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

impl SqliteToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Integer(*value),
            Value::Text(value) => ValueRef::Text(value.as_bytes()),
            Value::Bytes(value) => ValueRef::Blob(value),
        }))
    }
}

/// Types of PostgreSQL, by their numbers in `pg_type`.
pub(super) mod oid {
    pub(in super::super) const BOOL: u32 = 16;
    pub(in super::super) const BYTEA: u32 = 17;
    pub(in super::super) const NAME: u32 = 19;
    pub(in super::super) const INT8: u32 = 20;
    pub(in super::super) const INT4: u32 = 23;
    pub(in super::super) const TEXT: u32 = 25;
    pub(in super::super) const UNKNOWN: u32 = 705;
    pub(in super::super) const VARCHAR: u32 = 1043;

    /// The name of a type that a parameter can have.
    pub(in super::super) fn name(kind: u32) -> Option<&'static str> {
        match kind {
            BYTEA => Some("bytea"),
            INT4 => Some("int4"),
            INT8 => Some("int8"),
            TEXT => Some("text"),
            VARCHAR => Some("varchar"),
            _ => None,
        }
    }
}

impl Value<'_> {
    /// Appends the value as PostgreSQL's binary format has it. Returns false for NULL.
    pub(super) fn encode(&self, kind: u32, out: &mut BytesMut) -> Result<bool, String> {
        match (self, kind) {
            (Value::Null, _) => return Ok(false),
            (Value::Int(value), oid::INT8) => out.put_i64(*value),
            (Value::Int(value), oid::INT4) => {
                let value = i32::try_from(*value)
                    .map_err(|_| "an integer is too large for its parameter".to_owned())?;
                out.put_i32(value);
            }
            (Value::Text(value), oid::TEXT | oid::VARCHAR) => out.put_slice(value.as_bytes()),
            (Value::Bytes(value), oid::BYTEA) => out.put_slice(value),
            // The value may be private, so the message names only the kinds.
            (Value::Int(_), _) => return Err(wrong("an integer was", kind)),
            (Value::Text(_), _) => return Err(wrong("a text was", kind)),
            (Value::Bytes(_), _) => return Err(wrong("bytes were", kind)),
        }
        Ok(true)
    }

    /// The same behind its length, which is -1 for NULL.
    pub(super) fn encode_with_length(&self, kind: u32, out: &mut BytesMut) -> Result<(), String> {
        let at = out.len();
        out.put_i32(-1);
        if self.encode(kind, out)? {
            let bytes = i32::try_from(out.len() - at - 4).map_err(|_| "a value is too large".to_owned())?;
            out[at..at + 4].copy_from_slice(&bytes.to_be_bytes());
        }
        Ok(())
    }
}

fn wrong(given: &str, kind: u32) -> String {
    format!("{given} given where the statement wants {}", type_name(kind))
}

fn type_name(kind: u32) -> String {
    match kind {
        oid::BOOL => "a boolean".to_owned(),
        oid::BYTEA => "bytes".to_owned(),
        oid::INT4 | oid::INT8 => "an integer".to_owned(),
        oid::NAME | oid::TEXT | oid::UNKNOWN | oid::VARCHAR => "a text".to_owned(),
        other => format!("type {other}"),
    }
}

/// A row of PostgreSQL: its bytes, where the cells are in them, and their types.
#[derive(Clone, Copy)]
pub(super) struct PgRow<'r> {
    pub(super) body: &'r [u8],
    pub(super) cells: &'r [Option<(usize, usize)>],
    pub(super) types: &'r [u32],
}

impl<'r> PgRow<'r> {
    /// The bytes of a cell and its type. `None` is NULL.
    fn cell(&self, column: usize) -> Result<Option<(&'r [u8], u32)>, DbError> {
        match (self.cells.get(column), self.types.get(column)) {
            (Some(Some((from, to))), Some(kind)) => Ok(Some((&self.body[*from..*to], *kind))),
            (Some(None), Some(_)) => Ok(None),
            _ => Err(no_column(column)),
        }
    }

    fn int(&self, column: usize) -> Result<Option<i64>, DbError> {
        let Some((bytes, kind)) = self.cell(column)? else {
            return Ok(None);
        };
        // PostgreSQL returns literals and comparisons as narrower types.
        let read = match kind {
            oid::INT8 => bytes.try_into().ok().map(i64::from_be_bytes),
            oid::INT4 => bytes.try_into().ok().map(i32::from_be_bytes).map(i64::from),
            oid::BOOL => bytes.first().map(|byte| i64::from(*byte)),
            _ => None,
        };
        read.map(Some)
            .ok_or_else(|| mismatch(column, "an integer", &type_name(kind)))
    }

    /// A text's bytes.
    fn raw(&self, column: usize) -> Result<Option<&'r [u8]>, DbError> {
        match self.cell(column)? {
            None => Ok(None),
            Some((bytes, oid::TEXT | oid::VARCHAR | oid::NAME | oid::UNKNOWN)) => Ok(Some(bytes)),
            Some((_, kind)) => Err(mismatch(column, "a text", &type_name(kind))),
        }
    }

    fn text(&self, column: usize) -> Result<Option<&'r str>, DbError> {
        self.raw(column)?.map(|bytes| utf8(bytes, column)).transpose()
    }

    fn bytes(&self, column: usize) -> Result<Option<&'r [u8]>, DbError> {
        match self.cell(column)? {
            None => Ok(None),
            Some((bytes, oid::BYTEA)) => Ok(Some(bytes)),
            Some((_, kind)) => Err(mismatch(column, "bytes", &type_name(kind))),
        }
    }
}

fn utf8(bytes: &[u8], column: usize) -> Result<&str, DbError> {
    std::str::from_utf8(bytes).map_err(|_| DbError::Internal(format!("column {column} is not valid UTF-8")))
}

/// For loading many rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnedValue {
    Null,
    /// Booleans are 0 and 1.
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl OwnedValue {
    pub fn as_value(&self) -> Value<'_> {
        match self {
            OwnedValue::Null => Value::Null,
            OwnedValue::Int(value) => Value::Int(*value),
            OwnedValue::Text(value) => Value::Text(value),
            OwnedValue::Bytes(value) => Value::Bytes(value),
        }
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => OwnedValue::Null,
            Value::Int(value) => OwnedValue::Int(value),
            Value::Text(value) => OwnedValue::Text(value.to_owned()),
            Value::Bytes(value) => OwnedValue::Bytes(value.to_vec()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    Int,
    Text,
    Bytes,
}

impl ColumnType {
    /// PostgreSQL's type.
    pub(crate) fn oid(self) -> u32 {
        match self {
            ColumnType::Int => oid::INT8,
            ColumnType::Text => oid::TEXT,
            ColumnType::Bytes => oid::BYTEA,
        }
    }
}

/// The table that many rows are loaded into.
#[derive(Debug, Clone, Copy)]
pub struct LoadTarget {
    pub table: &'static str,
    /// In the order of each row's values.
    pub columns: &'static [(&'static str, ColumnType)],
}

/// Columns count from 0.
pub struct Row<'r>(pub(super) RowInner<'r>);

pub(super) enum RowInner<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(PgRow<'r>),
}

impl<'r> Row<'r> {
    pub fn int(&self, column: usize) -> Result<i64, DbError> {
        self.int_opt(column)?.ok_or_else(|| unexpected_null(column))
    }

    pub fn int_opt(&self, column: usize) -> Result<Option<i64>, DbError> {
        match self.0 {
            RowInner::Sqlite(row) => match sqlite_column(row, column)? {
                ValueRef::Null => Ok(None),
                ValueRef::Integer(value) => Ok(Some(value)),
                other => Err(mismatch(column, "an integer", &other.data_type())),
            },
            RowInner::Postgres(row) => row.int(column),
        }
    }

    pub fn bool(&self, column: usize) -> Result<bool, DbError> {
        match self.int(column)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(DbError::Internal(format!(
                "column {column} must be 0 or 1, got {other}"
            ))),
        }
    }

    pub fn text(&self, column: usize) -> Result<&'r str, DbError> {
        self.text_opt(column)?.ok_or_else(|| unexpected_null(column))
    }

    pub fn text_opt(&self, column: usize) -> Result<Option<&'r str>, DbError> {
        match self.0 {
            RowInner::Sqlite(row) => match sqlite_column(row, column)? {
                ValueRef::Null => Ok(None),
                ValueRef::Text(value) => utf8(value, column).map(Some),
                other => Err(mismatch(column, "a text", &other.data_type())),
            },
            RowInner::Postgres(row) => row.text(column),
        }
    }

    /// The column's bytes, even of a text, which is then not checked for UTF-8. `CAST(… AS BLOB)` keeps SQLite from
    /// making a zero-terminated copy.
    pub fn raw(&self, column: usize) -> Result<&'r [u8], DbError> {
        self.raw_opt(column)?.ok_or_else(|| unexpected_null(column))
    }

    pub fn raw_opt(&self, column: usize) -> Result<Option<&'r [u8]>, DbError> {
        match self.0 {
            RowInner::Sqlite(row) => match sqlite_column(row, column)? {
                ValueRef::Text(value) | ValueRef::Blob(value) => Ok(Some(value)),
                ValueRef::Null => Ok(None),
                other => Err(mismatch(column, "a text", &other.data_type())),
            },
            RowInner::Postgres(row) => row.raw(column),
        }
    }

    pub fn bytes(&self, column: usize) -> Result<&'r [u8], DbError> {
        self.bytes_opt(column)?.ok_or_else(|| unexpected_null(column))
    }

    pub fn bytes_opt(&self, column: usize) -> Result<Option<&'r [u8]>, DbError> {
        match self.0 {
            RowInner::Sqlite(row) => match sqlite_column(row, column)? {
                ValueRef::Null => Ok(None),
                ValueRef::Blob(value) => Ok(Some(value)),
                other => Err(mismatch(column, "bytes", &other.data_type())),
            },
            RowInner::Postgres(row) => row.bytes(column),
        }
    }

    pub fn key(&self, column: usize) -> Result<[u8; 16], DbError> {
        self.key_opt(column)?.ok_or_else(|| unexpected_null(column))
    }

    pub fn key_opt(&self, column: usize) -> Result<Option<[u8; 16]>, DbError> {
        let Some(bytes) = self.bytes_opt(column)? else {
            return Ok(None);
        };
        <[u8; 16]>::try_from(bytes).map(Some).map_err(|_| {
            DbError::Internal(format!(
                "column {column} must be a key of 16 bytes, got {}",
                bytes.len()
            ))
        })
    }
}

fn sqlite_column<'r>(row: &'r rusqlite::Row<'r>, column: usize) -> Result<ValueRef<'r>, DbError> {
    row.get_ref(column).map_err(|_| no_column(column))
}

fn no_column(column: usize) -> DbError {
    DbError::Internal(format!("the row has no column {column}"))
}

fn unexpected_null(column: usize) -> DbError {
    DbError::Internal(format!("column {column} is NULL"))
}

fn mismatch(column: usize, wanted: &str, found: &dyn std::fmt::Display) -> DbError {
    DbError::Internal(format!("column {column} is not {wanted} but {found}"))
}
