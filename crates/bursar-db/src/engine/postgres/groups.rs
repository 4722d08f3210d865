//! What the jobs of a batch send together: their questions with the same text become one statement, and so do their
//! changes.
//!
//! Most of what a small statement costs PostgreSQL is starting it. A change may join an earlier one if nothing in
//! between is about its row, so every row goes through its changes in their order.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::{BufMut, BytesMut};

use super::super::ahead::{Change, Concerns};
use super::super::value::Value;
use super::wire::Statement;

#[derive(Default)]
pub(super) struct Groups {
    /// In the order in which they are sent.
    all: Vec<Group>,
    bytes: usize,
    concerns: Concerns,
    /// The row that is added, as a message has it.
    row: BytesMut,
}

/// Rows for one text.
pub(super) struct Group {
    pub(super) sql: &'static str,
    pub(super) statement: Arc<Statement>,
    pub(super) rows: u64,
    /// How many rows each of them must change.
    pub(super) each: Option<u64>,
    /// One for each parameter: its values in all rows, each behind its length, as a message has them.
    columns: Vec<BytesMut>,
    /// How many of the first values are a row's key. 0 if it may be about any row.
    key: usize,
    keys: HashSet<Box<[u8]>>,
}

impl Groups {
    /// Adds a change behind all that it must come after. Without effect if a value does not fit its parameter.
    pub(super) fn add(&mut self, change: &Change<'_>, statement: &Arc<Statement>) -> Result<(), String> {
        let key_end = self.encode(change.params.iter().copied(), statement, change.key)?;
        let place = self.place(change, key_end).unwrap_or_else(|| {
            self.all.push(Group {
                each: change.rows,
                key: change.key,
                ..Group::new(change.sql, statement)
            });
            self.all.len() - 1
        });
        self.all[place].keys.insert(self.row[..key_end].into());
        self.put(place);
        Ok(())
    }

    /// Adds a question. All with the same text are one group, and it comes where the first of them came. Returns the
    /// group's place.
    pub(super) fn ask<'v>(
        &mut self,
        sql: &'static str,
        values: impl ExactSizeIterator<Item = Value<'v>>,
        statement: &Arc<Statement>,
    ) -> Result<usize, String> {
        self.encode(values, statement, 0)?;
        let same = |group: &Group| std::ptr::eq(group.sql, sql);
        let place = self.all.iter().position(same).unwrap_or_else(|| {
            self.all.push(Group::new(sql, statement));
            self.all.len() - 1
        });
        self.put(place);
        Ok(place)
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves none.
    pub(super) fn take(&mut self) -> Vec<Group> {
        self.bytes = 0;
        std::mem::take(&mut self.all)
    }

    /// Writes the row that is added. Returns where its key ends.
    fn encode<'v>(
        &mut self,
        values: impl ExactSizeIterator<Item = Value<'v>>,
        statement: &Statement,
        key: usize,
    ) -> Result<usize, String> {
        statement.expect_values(values.len())?;
        self.row.clear();
        let mut key_end = 0;
        for (number, (value, kind)) in (1..).zip(values.zip(statement.parameters())) {
            value.encode_with_length(*kind, &mut self.row)?;
            if number <= key {
                key_end = self.row.len();
            }
        }
        Ok(key_end)
    }

    /// Puts the row that is added into a group.
    fn put(&mut self, place: usize) {
        let group = &mut self.all[place];
        group.rows += 1;
        let mut rest = &self.row[..];
        for column in &mut group.columns {
            let before = rest;
            split_value(&mut rest);
            column.put_slice(&before[..before.len() - rest.len()]);
        }
        self.bytes += self.row.len();
    }

    /// The group that the row with this key may join.
    fn place(&mut self, change: &Change<'_>, key_end: usize) -> Option<usize> {
        let key = &self.row[..key_end];
        for (place, group) in self.all.iter().enumerate().rev() {
            let is_apart = change.key > 0 && change.key == group.key && !group.keys.contains(key);
            if is_apart && std::ptr::eq(change.sql, group.sql) {
                return Some(place);
            }
            let mut may_meet =
                || self.concerns.of(change.sql, group.sql) || self.concerns.of(group.sql, change.sql);
            if !is_apart && may_meet() {
                return None;
            }
        }
        None
    }
}

impl Group {
    fn new(sql: &'static str, statement: &Arc<Statement>) -> Self {
        Group {
            sql,
            statement: Arc::clone(statement),
            rows: 0,
            each: None,
            columns: vec![BytesMut::new(); statement.parameters().len()],
            key: 0,
            keys: HashSet::new(),
        }
    }

    /// The rows, each as its values.
    pub(super) fn each_row(&self) -> impl Iterator<Item = Vec<Option<&[u8]>>> {
        let mut rest: Vec<&[u8]> = self.columns.iter().map(|column| &column[..]).collect();
        (0..self.rows).map(move |_| rest.iter_mut().map(|column| split_value(column)).collect())
    }

    /// For each parameter, its values in all rows as one array.
    pub(super) fn arrays(&self) -> impl ExactSizeIterator<Item = Array<'_>> {
        self.columns
            .iter()
            .zip(self.statement.parameters())
            .map(|(values, kind)| Array {
                kind: *kind,
                count: self.rows,
                values,
            })
    }
}

/// Takes the first value and its length off the front. `None` is NULL.
fn split_value<'v>(column: &mut &'v [u8]) -> Option<&'v [u8]> {
    let (length, rest) = column.split_first_chunk::<4>()?;
    // NULL has the length -1.
    let length = usize::try_from(i32::from_be_bytes(*length));
    let (value, rest) = rest.split_at_checked(length.unwrap_or(0))?;
    *column = rest;
    length.is_ok().then_some(value)
}

/// Values of one type, each behind its length.
pub(super) struct Array<'g> {
    pub(super) kind: u32,
    pub(super) count: u64,
    pub(super) values: &'g [u8],
}

impl Array<'_> {
    /// One dimension, counted from 1. That there may be NULLs is a hint that nobody relies on.
    pub(super) fn encode(&self, out: &mut BytesMut) -> Result<bool, String> {
        let count = i32::try_from(self.count).map_err(|_| "too many rows".to_owned())?;
        out.put_i32(1);
        out.put_i32(1);
        out.put_u32(self.kind);
        out.put_i32(count);
        out.put_i32(1);
        out.put_slice(self.values);
        Ok(true)
    }
}
