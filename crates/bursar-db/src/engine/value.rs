//! Parameters of statements and rows of results.

use postgres::types::{IsNull, ToSql as PostgresToSql, Type, to_sql_checked};
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

type BoxedError = Box<dyn std::error::Error + Sync + Send>;

impl PostgresToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut bytes::BytesMut) -> Result<IsNull, BoxedError> {
        let text = *ty == Type::TEXT || *ty == Type::VARCHAR;
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Int(value) if *ty == Type::INT8 => PostgresToSql::to_sql(value, ty, out),
            Value::Int(value) if *ty == Type::INT4 => PostgresToSql::to_sql(&i32::try_from(*value)?, ty, out),
            Value::Text(value) if text => PostgresToSql::to_sql(value, ty, out),
            Value::Bytes(value) if *ty == Type::BYTEA => PostgresToSql::to_sql(value, ty, out),
            // The value may be private, so the message names only the kinds.
            Value::Int(_) => Err(format!("an integer was given where the statement wants {ty}").into()),
            Value::Text(_) => Err(format!("a text was given where the statement wants {ty}").into()),
            Value::Bytes(_) => Err(format!("bytes were given where the statement wants {ty}").into()),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8, Type::INT4, Type::TEXT, Type::VARCHAR, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
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
    Postgres(&'r postgres::Row),
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
            RowInner::Postgres(row) => {
                // PostgreSQL returns literals and comparisons as narrower types.
                let ty = postgres_type(row, column)?;
                if *ty == Type::INT8 {
                    get(row, column)
                } else if *ty == Type::INT4 {
                    Ok(get::<i32>(row, column)?.map(i64::from))
                } else if *ty == Type::BOOL {
                    Ok(get::<bool>(row, column)?.map(i64::from))
                } else {
                    Err(mismatch(column, "an integer", ty))
                }
            }
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
                ValueRef::Text(value) => std::str::from_utf8(value)
                    .map(Some)
                    .map_err(|_| DbError::Internal(format!("column {column} is not valid UTF-8"))),
                other => Err(mismatch(column, "a text", &other.data_type())),
            },
            RowInner::Postgres(row) => get(row, column),
        }
    }

    /// The column's bytes, even of a text, which is then not checked for UTF-8. `CAST(… AS BLOB)` keeps SQLite from
    /// making a zero-terminated copy.
    pub fn raw(&self, column: usize) -> Result<&'r [u8], DbError> {
        match self.0 {
            RowInner::Sqlite(row) => match sqlite_column(row, column)? {
                ValueRef::Text(value) | ValueRef::Blob(value) => Ok(value),
                ValueRef::Null => Err(unexpected_null(column)),
                other => Err(mismatch(column, "a text", &other.data_type())),
            },
            RowInner::Postgres(_) => self.text(column).map(str::as_bytes),
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
            RowInner::Postgres(row) => get(row, column),
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

fn postgres_type(row: &postgres::Row, column: usize) -> Result<&Type, DbError> {
    row.columns()
        .get(column)
        .map(postgres::Column::type_)
        .ok_or_else(|| no_column(column))
}

fn get<'r, T: postgres::types::FromSql<'r>>(
    row: &'r postgres::Row,
    column: usize,
) -> Result<Option<T>, DbError> {
    row.try_get(column)
        .map_err(|error| DbError::Internal(format!("column {column}: {error}")))
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
