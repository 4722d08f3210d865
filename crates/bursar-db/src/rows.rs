//! Reading rows by type, column after column. A record lists its columns once; the text of its statements and the
//! reading follow from that.

use bursar_domain::access::{Role, ScopeSet};
use bursar_domain::account::AccountType;
use bursar_domain::attachment::ContentType;
use bursar_domain::autopay::{AutopayState, AutopayStep, RetryDays};
use bursar_domain::card::LimitFrequency;
use bursar_domain::ids::Id;
use bursar_domain::journal::EntryKind;
use bursar_domain::message::{JobKind, MessageState};
use bursar_domain::money::Currency;
use bursar_domain::online::{MoveKind, MoveState, OnlineState, ProviderKind};
use bursar_domain::order::OrderStatus;
use bursar_domain::organization::{CardIssuing, OrganizationKind};
use bursar_domain::payment::PaymentStatus;
use bursar_domain::receipt::ReceiptStatus;
use bursar_domain::reimbursement::ReimbursementStatus;
use bursar_domain::reminder::Method;
use bursar_domain::sign_in::SecretHash;
use bursar_domain::statement::{LineStatus, StatementFormat};
use bursar_domain::states::Word;
use bursar_domain::token::TokenKind;
use bursar_domain::webhook::outcome::Outcome;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Timestamp};

use crate::engine::Row;
use crate::error::DbError;

/// The columns of a row that have not been read yet.
pub(crate) struct Columns<'a, 'r> {
    row: &'a Row<'r>,
    next: usize,
}

impl std::fmt::Debug for Columns<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Columns")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl<'a, 'r> Columns<'a, 'r> {
    pub(crate) fn of(row: &'a Row<'r>) -> Self {
        Self { row, next: 0 }
    }

    pub(crate) fn next<T: FromColumns>(&mut self) -> Result<T, DbError> {
        T::read(self)
    }

    fn one<T: FromColumn>(&mut self) -> Result<Option<T>, DbError> {
        self.next += 1;
        T::find(self.row, self.next - 1)
    }
}

pub(crate) fn read<T: FromColumns>(row: &Row<'_>) -> Result<T, DbError> {
    T::read(&mut Columns::of(row))
}

/// Read from one column or from several adjacent ones.
pub(crate) trait FromColumns: Sized {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError>;
}

pub(crate) trait FromColumn: Sized {
    /// `None` for NULL.
    fn find(row: &Row<'_>, column: usize) -> Result<Option<Self>, DbError>;
}

impl<T: FromColumn> FromColumns for T {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let column = columns.next;
        let value = columns.one()?;
        value.ok_or_else(|| DbError::Internal(format!("column {column} is NULL")))
    }
}

impl<T: FromColumn> FromColumns for Option<T> {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        columns.one()
    }
}

macro_rules! tuples {
    ($(($($part:ident),+))*) => {$(
        impl<$($part: FromColumns),+> FromColumns for ($($part,)+) {
            fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
                Ok(($($part::read(columns)?,)+))
            }
        }
    )*};
}
tuples! { (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F) }

/// `None` from the conversion means that the type has no such value.
macro_rules! from_column {
    ($($type:ty: $read:ident, $convert:expr;)*) => {$(
        impl FromColumn for $type {
            fn find(row: &Row<'_>, column: usize) -> Result<Option<Self>, DbError> {
                let Some(value) = row.$read(column)? else {
                    return Ok(None);
                };
                let value: Option<Self> = $convert(value);
                let unknown = || format!("column {column} holds what is no {}", stringify!($type));
                value.map(Some).ok_or_else(|| DbError::Internal(unknown()))
            }
        }
    )*};
}

from_column! {
    i64: int_opt, Some;
    u16: int_opt, |value: i64| value.try_into().ok();
    bool: int_opt, |value| (0..=1).contains(&value).then_some(value == 1);
    Timestamp: int_opt, |micros| Some(Self::from_micros(micros));
    ScopeSet: int_opt, |bits| Some(Self::from_bits(bits));
    String: text_opt, |text: &str| Some(text.to_owned());
    Date: text_opt, Self::parse;
    Currency: text_opt, Self::parse;
    Role: text_opt, Word::parse;
    AutopayState: text_opt, Word::parse;
    AutopayStep: text_opt, Word::parse;
    RetryDays: text_opt, |text: &str| Self::parse(text).ok();
    TokenKind: text_opt, Word::parse;
    OrganizationKind: text_opt, Word::parse;
    CardIssuing: text_opt, Word::parse;
    LimitFrequency: text_opt, Word::parse;
    Method: text_opt, Word::parse;
    JobKind: text_opt, Word::parse;
    MessageState: text_opt, Word::parse;
    AccountType: text_opt, Word::parse;
    EntryKind: text_opt, Word::parse;
    bursar_domain::receipt::Method: text_opt, Word::parse;
    ReceiptStatus: text_opt, Word::parse;
    StatementFormat: text_opt, Word::parse;
    LineStatus: text_opt, Word::parse;
    Outcome: text_opt, Word::parse;
    Vec<String>: text_opt, |text: &str| serde_json::from_str(text).ok();
    PaymentStatus: text_opt, Word::parse;
    OrderStatus: text_opt, Word::parse;
    ProviderKind: text_opt, Word::parse;
    OnlineState: text_opt, Word::parse;
    MoveKind: text_opt, Word::parse;
    MoveState: text_opt, Word::parse;
    ReimbursementStatus: text_opt, Word::parse;
    Zone: text_opt, |name| Self::parse(name).ok();
    ContentType: text_opt, Word::parse;
    Vec<u8>: bytes_opt, |bytes: &[u8]| Some(bytes.to_vec());
    [u8; 16]: key_opt, Some;
    [u8; 32]: bytes_opt, |bytes: &[u8]| bytes.try_into().ok();
    SecretHash: bytes_opt, |bytes: &[u8]| bytes.try_into().ok().map(Self);
}

impl<K> FromColumn for Id<K> {
    fn find(row: &Row<'_>, column: usize) -> Result<Option<Self>, DbError> {
        Ok(row.key_opt(column)?.map(Self::from_bytes))
    }
}

/// Declares how a record is read: its fields, each with the SQL of its column if that has another name. Makes a macro
/// with the list of columns for statements, and reads them in the same order.
macro_rules! record {
    ($list:ident: $record:ident $fields:tt) => {
        $crate::rows::record! { $list: $record, "" $fields }
    };
    ($list:ident: $record:ident, $prefix:literal {
        $first:ident $(= $first_sql:expr)? $(, $field:ident $(= $sql:expr)?)* $(,)?
    }) => {
        macro_rules! $list {
            () => {
                concat!(
                    $crate::rows::column!($prefix, $first $(= $first_sql)?)
                    $(, ", ", $crate::rows::column!($prefix, $field $(= $sql)?))*
                )
            };
        }

        impl $crate::rows::FromColumns for $record {
            fn read(columns: &mut $crate::rows::Columns<'_, '_>) -> Result<Self, $crate::error::DbError> {
                Ok(Self {
                    $first: columns.next()?,
                    $($field: columns.next()?,)*
                })
            }
        }
    };
}

macro_rules! column {
    ($prefix:literal, $field:ident) => {
        concat!($prefix, stringify!($field))
    };
    ($prefix:literal, $field:ident = $sql:expr) => {
        $sql
    };
}

pub(crate) use {column, record};
