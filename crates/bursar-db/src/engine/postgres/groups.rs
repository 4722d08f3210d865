//! Changes of a batch that are sent together: those with the same text, one row each, become one statement.
//!
//! Most of what a small statement costs PostgreSQL is starting it. A change may join an earlier one if nothing in
//! between is about its row, so every row goes through its changes in their order.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bytes::{BufMut, BytesMut};

use super::super::ahead::{Change, may_meet};
use super::wire::Statement;

#[derive(Default)]
pub(super) struct Groups {
    /// In the order in which they are sent.
    all: Vec<Group>,
    bytes: usize,
    /// Whether two texts may be about the same row, by their addresses.
    meetings: HashMap<(usize, usize), bool>,
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
        let ends = self.encode(change, statement)?;
        let key_end = ends[..change.key.min(ends.len())].last().copied().unwrap_or(0);
        let place = self.place(change, key_end).unwrap_or_else(|| {
            self.all.push(Group {
                sql: change.sql,
                statement: Arc::clone(statement),
                rows: 0,
                each: change.rows,
                columns: vec![BytesMut::new(); ends.len()],
                key: change.key,
                keys: HashSet::new(),
            });
            self.all.len() - 1
        });
        let group = &mut self.all[place];
        group.rows += 1;
        group.keys.insert(self.row[..key_end].into());
        let mut from = 0;
        for (column, end) in group.columns.iter_mut().zip(ends) {
            column.put_slice(&self.row[from..end]);
            from = end;
        }
        self.bytes += self.row.len();
        Ok(())
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves none.
    pub(super) fn take(&mut self) -> Vec<Group> {
        self.bytes = 0;
        std::mem::take(&mut self.all)
    }

    /// Writes the row that is added. Returns where its values end.
    fn encode(&mut self, change: &Change<'_>, statement: &Statement) -> Result<Vec<usize>, String> {
        let types = statement.parameters();
        statement.expect_values(change.params.len())?;
        self.row.clear();
        let mut ends = Vec::with_capacity(types.len());
        for (value, kind) in change.params.iter().zip(types) {
            value.encode_with_length(*kind, &mut self.row)?;
            ends.push(self.row.len());
        }
        Ok(ends)
    }

    /// The group that the row with this key may join.
    fn place(&mut self, change: &Change<'_>, key_end: usize) -> Option<usize> {
        let key = &self.row[..key_end];
        for (place, group) in self.all.iter().enumerate().rev() {
            let is_apart = change.key > 0 && change.key == group.key && !group.keys.contains(key);
            if is_apart && std::ptr::eq(change.sql, group.sql) {
                return Some(place);
            }
            let pair = (change.sql.as_ptr().addr(), group.sql.as_ptr().addr());
            let meetings = &mut self.meetings;
            if !is_apart
                && *meetings
                    .entry(pair)
                    .or_insert_with(|| may_meet(change.sql, group.sql))
            {
                return None;
            }
        }
        None
    }
}

impl Group {
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

pub(super) struct Array<'g> {
    kind: u32,
    count: u64,
    values: &'g [u8],
}

impl Array<'_> {
    /// One dimension, counted from 1. That there are no NULLs is a hint that nobody relies on.
    pub(super) fn encode(&self, out: &mut BytesMut) -> Result<(), String> {
        let count = i32::try_from(self.count).map_err(|_| "too many rows".to_owned())?;
        out.put_i32(1);
        out.put_i32(1);
        out.put_u32(self.kind);
        out.put_i32(count);
        out.put_i32(1);
        out.put_slice(self.values);
        Ok(())
    }
}
