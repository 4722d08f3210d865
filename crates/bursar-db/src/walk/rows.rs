//! The rows of a page while it is being read.

use std::ops::Range;

use bursar_domain::Timestamp;
use bursar_domain::cursor::{Cursor, Position};
use bursar_domain::resource::leading_key;

use super::{Ask, Page};
use crate::error::DbError;

/// In order. Each piece is a range of `text`, where documents are joined by commas.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) text: Vec<u8>,
    /// Where the first row starts. The text before it is the caller's.
    start: usize,
    pub(crate) pieces: Vec<Piece>,
}

pub(crate) struct Piece {
    range: Range<usize>,
    /// Read only if needed: for every row if the page is merged with history, else for the page's last one.
    pub(crate) updated_at: Option<i64>,
}

impl Rows {
    /// Keeps what the caller began.
    pub(crate) fn after(text: Vec<u8>) -> Self {
        Self {
            start: text.len(),
            text,
            pieces: Vec::new(),
        }
    }

    /// Makes room for the page when its first row is known: documents of one list have similar lengths.
    pub(crate) fn reserve(&mut self, ask: Ask, first: &[u8]) {
        if self.pieces.is_empty() {
            let rows_max = ask.limit.rows() + 1;
            self.text.reserve((first.len() + 32) * rows_max);
            self.pieces.reserve(rows_max);
        }
    }

    /// Without its rows.
    pub(crate) fn emptied(mut self) -> Self {
        self.text.truncate(self.start);
        self.pieces.clear();
        self
    }

    pub(crate) fn push(&mut self, updated_at: Option<i64>, document: &[u8]) {
        if !self.pieces.is_empty() {
            self.text.push(b',');
        }
        let start = self.text.len();
        self.text.extend_from_slice(document);
        self.pieces.push(Piece {
            range: start..self.text.len(),
            updated_at,
        });
    }

    fn document(&self, piece: &Piece) -> &[u8] {
        &self.text[piece.range.clone()]
    }

    /// A representation starts with the row's id.
    fn position(&self, piece: &Piece) -> Result<Position, DbError> {
        let key = leading_key(self.document(piece));
        match (piece.updated_at, key) {
            (Some(updated_at), Some(id)) => Ok(Position {
                updated_at: Timestamp::from_micros(updated_at),
                id,
            }),
            _ => Err(DbError::Internal("a row of a page has no position".to_owned())),
        }
    }

    /// The time of the extra row that shows whether there is a next page. Rows after it cannot be on this page.
    pub(crate) fn end(&self, ask: Ask) -> Option<i64> {
        self.pieces.get(ask.limit.rows())?.updated_at
    }

    /// The place of that row.
    pub(crate) fn last_key(&self, ask: Ask) -> Option<(Option<i64>, &[u8])> {
        let piece = self.pieces.get(ask.limit.rows())?;
        piece.updated_at?;
        Some(self.key(piece))
    }

    /// Merges by time, then by the id at the start of the document, as far as the page goes. Most rows of a page come
    /// from one side, so they are copied in runs.
    pub(crate) fn merge(self, other: &Self, ask: Ask) -> Self {
        if other.pieces.is_empty() {
            return self;
        }
        let rows_max = ask.limit.rows() + 1;
        let mut merged = Self {
            text: Vec::with_capacity(self.text.len() + other.text.len() + 1),
            start: self.start,
            pieces: Vec::with_capacity(rows_max),
        };
        merged.text.extend_from_slice(&self.text[..self.start]);
        let (mut own, mut others) = (&self.pieces[..], &other.pieces[..]);
        while !(own.is_empty() && others.is_empty()) && merged.pieces.len() < rows_max {
            let end = others.first().map(|piece| other.key(piece));
            own = merged.push_run(&self, own, rows_max, |key| end.is_none_or(|end| key < end));
            let end = own.first().map(|piece| self.key(piece));
            others = merged.push_run(other, others, rows_max, |key| end.is_none_or(|end| key <= end));
        }
        merged
    }

    fn key(&self, piece: &Piece) -> (Option<i64>, &[u8]) {
        (piece.updated_at, self.document(piece))
    }

    /// Adds the first rows of another page that are `before` something. Returns those that are left.
    fn push_run<'p>(
        &mut self,
        other: &Self,
        pieces: &'p [Piece],
        rows_max: usize,
        before: impl Fn((Option<i64>, &[u8])) -> bool,
    ) -> &'p [Piece] {
        let room = pieces.iter().take(rows_max - self.pieces.len());
        let (run, rest) = pieces.split_at(room.take_while(|piece| before(other.key(piece))).count());
        if let (Some(first), Some(last)) = (run.first(), run.last()) {
            if !self.pieces.is_empty() {
                self.text.push(b',');
            }
            let (from, to) = (first.range.start, self.text.len());
            self.text.extend_from_slice(&other.text[from..last.range.end]);
            self.pieces.extend(run.iter().map(|piece| Piece {
                range: piece.range.start - from + to..piece.range.end - from + to,
                updated_at: piece.updated_at,
            }));
        }
        rest
    }

    /// The extra row shows whether there is a next page.
    pub(crate) fn into_page(
        mut self,
        ask: Ask,
        cursor_after: impl FnOnce(Position) -> Cursor,
    ) -> Result<Page, DbError> {
        let rows_max = ask.limit.rows();
        let has_more = self.pieces.len() > rows_max;
        self.pieces.truncate(rows_max);
        let next = match self.pieces.last() {
            Some(last) if has_more => Some(cursor_after(self.position(last)?)),
            _ => None,
        };
        let end = self.pieces.last().map_or(self.start, |last| last.range.end);
        self.text.truncate(end);
        Ok(Page {
            text: self.text,
            count: self.pieces.len(),
            next,
        })
    }
}
