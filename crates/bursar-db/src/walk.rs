//! List pages. One walk serves every list.
//!
//! A walk is a snapshot at its watermark W, the change clock when its first page was read. A later page reads
//! live rows that have not changed since W, then the versions in `history` that stood at W, after the cursor and
//! up to the page's last live row (to W if the page is short), and merges the two by `(updated_at, id)`. When the
//! clock still equals W there is no history to read. A page costs the same at any depth.

use std::ops::Range;

use bursar_domain::Timestamp;
use bursar_domain::cursor::{Cursor, Filters, Position};
use bursar_domain::ids::OrganizationId;
use bursar_domain::page::PageLimit;
use bursar_domain::resource::leading_key;

use crate::engine::{EngineKind, RAW_DOCUMENT, Tx, Value};
use crate::error::DbError;
use crate::organizations;
use crate::table::{Stored, Table};

/// The statements of one list with one set of filters.
#[derive(Debug)]
pub struct WalkTexts {
    /// Live rows from a time on.
    first: Vec<String>,
    /// Live rows after a row.
    rest: Vec<String>,
    /// Live rows after a row, up to a time.
    later: Vec<String>,
    history: String,
}

/// One page.
#[derive(Debug)]
pub struct Page {
    /// The lead, and the rows' representations, joined by commas: JSON as it is kept, which is UTF-8.
    pub text: Vec<u8>,
    /// How many rows there are.
    pub count: usize,
    /// The walk from here on, when there is more.
    pub next: Option<Cursor>,
}

/// Why there is no page.
#[derive(Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The cursor's watermark lies ahead of the clock: it is from another time of this database, before a backup
    /// was restored.
    AheadOfClock,
    /// The organization is gone.
    NoOrganization,
    /// The database.
    Db(DbError),
}

impl From<DbError> for WalkError {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

/// Below and above every id that a row can have.
const BELOW: &[u8] = &[];
const ABOVE: &[u8] = &[0xff; 17];

impl Table {
    fn walk_texts(&'static self, kind: EngineKind, mask: usize) -> &'static WalkTexts {
        let masks = 1 << self.filters.len();
        let all = self.walks.get_or_init(|| {
            let of = |kind| (0..masks).map(move |mask| WalkTexts::new(self, kind, mask));
            of(EngineKind::Sqlite).chain(of(EngineKind::Postgres)).collect()
        });
        match kind {
            EngineKind::Sqlite => &all[mask],
            EngineKind::Postgres => &all[masks + mask],
        }
    }
}

/// How an engine is made to take the index that starts with the first of the given filters: that one alone finds the
/// rows and has them in order. Left to themselves both would now and then take the primary key and read past every
/// row that the filter leaves out.
struct Narrowing<'a> {
    filter: Option<&'a str>,
    kind: EngineKind,
}

impl Narrowing<'_> {
    /// The table. SQLite can be told the index.
    fn source(&self, table: &str) -> String {
        match (self.kind, self.filter) {
            (EngineKind::Sqlite, Some(filter)) => {
                let named = filter.trim_start_matches("is_").trim_end_matches("_id");
                format!("{table} INDEXED BY {table}_{named}")
            }
            _ => table.to_owned(),
        }
    }

    /// The filter's condition on SQLite.
    fn equal(&self, place: usize) -> String {
        match (self.kind, self.filter) {
            (EngineKind::Sqlite, Some(filter)) => format!(" AND {filter} = ?{place}"),
            _ => String::new(),
        }
    }

    /// What stands before the position in row values, and in the order of the rows. PostgreSQL has the filter there,
    /// which leaves it no other index.
    fn before_position(&self, place: usize) -> (String, String) {
        match (self.kind, self.filter) {
            (EngineKind::Postgres, Some(filter)) => (format!("{filter}, "), format!("?{place}, ")),
            _ => (String::new(), String::new()),
        }
    }
}

impl WalkTexts {
    /// Of what passes the first filter the others are compared row by row: one member has few payments, one status
    /// many. In history `|| ''` keeps PostgreSQL from taking the index of the other filter.
    fn new(table: &Table, kind: EngineKind, mask: usize) -> Self {
        let given: Vec<&str> = (0..table.filters.len())
            .filter(|i| mask & (1 << i) != 0)
            .map(|i| table.filters[i])
            .collect();
        let narrowing = Narrowing {
            filter: given.first().copied(),
            kind,
        };
        let others = |first: usize, compared: &str| -> String {
            let others = given.iter().enumerate().skip(1);
            others
                .map(|(n, filter)| format!(" AND {filter}{compared} ?{}", first + n))
                .collect()
        };
        let (lead, value) = narrowing.before_position(6);
        // SQLite remembers the clock; PostgreSQL tells it in the same statement, so that it is of the same moment.
        let clock = match kind {
            EngineKind::Sqlite => "",
            EngineKind::Postgres => ", (SELECT clock FROM organizations WHERE id = ?1)",
        };
        let live = |bounds: &str| {
            format!(
                "SELECT updated_at, {RAW_DOCUMENT}{clock} FROM {} \
                 WHERE organization_id = ?1{}{bounds}{} ORDER BY {lead}updated_at, id LIMIT ?5",
                narrowing.source(table.bulk.table),
                narrowing.equal(6),
                others(6, " =")
            )
        };
        let (first, rest, later) = match kind {
            // With a row value SQLite finds the place, and then compares every row with it once more. What changed at
            // the same time as the cursor's row, which is seldom anything, has a statement of its own instead.
            EngineKind::Sqlite => {
                let tied = live(" AND updated_at = ?2 AND id > ?3");
                (
                    vec![live(" AND updated_at >= ?2")],
                    vec![tied.clone(), live(" AND updated_at > ?2")],
                    vec![tied, live(" AND updated_at > ?2 AND updated_at <= ?4")],
                )
            }
            // All in one, because a parameter that a text leaves out has no type there.
            EngineKind::Postgres => {
                let all = vec![live(&format!(
                    " AND ({lead}updated_at, id) > ({value}?2, ?3) AND ({lead}updated_at) <= ({value}?4)"
                ))];
                (all.clone(), all.clone(), all)
            }
        };
        // The indexes of history leave out the rows of lists that do not have the filter.
        let has_value = given
            .first()
            .map_or(String::new(), |filter| format!(" AND {filter} IS NOT NULL"));
        let (lead, value) = narrowing.before_position(8);
        let history = format!(
            "SELECT updated_at, {RAW_DOCUMENT} FROM {} \
             WHERE organization_id = ?1 AND list = {}{} AND ({lead}updated_at, id) > ({value}?2, ?3) \
             AND ({lead}updated_at, id) <= ({value}?4, ?5) AND superseded_at > ?6{has_value}{} \
             ORDER BY {lead}updated_at, id LIMIT ?7",
            narrowing.source("history"),
            table.list,
            narrowing.equal(8),
            others(8, " || '' =")
        );
        Self {
            first,
            rest,
            later,
            history,
        }
    }
}

/// The statements of a list with the given filters, for tests that read their plans.
pub fn statements<R: Stored>(kind: EngineKind, filters: &Filters) -> (Vec<&'static str>, &'static str) {
    let (mask, _) = narrowing(R::table(), filters, &[0; 16]);
    let texts = R::table().walk_texts(kind, mask);
    let live = [&texts.first, &texts.rest, &texts.later];
    (
        live.into_iter().flatten().map(String::as_str).collect(),
        &texts.history,
    )
}

/// Whose rows a page has, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Whose rows.
    pub organization: OrganizationId,
    /// How many.
    pub limit: PageLimit,
    /// What the page's text begins with: the envelope that it will be sent in, so that it need not be copied there.
    pub lead: &'static [u8],
}

/// Reads a walk's first page, in one statement.
pub fn first_page<R: Stored>(
    tx: &mut Tx<'_>,
    ask: Ask,
    filters: Filters,
    now: Timestamp,
) -> Result<Page, WalkError> {
    let since = filters.updated_since.map_or(i64::MIN, Timestamp::micros);
    let live = read_live(tx, R::table(), ask, &filters, LiveRange::From(since))?;
    // A list without rows needs no watermark: there is no next page.
    let watermark = Timestamp::from_micros(live.clock.unwrap_or(0));
    Ok(live.rows.into_page(ask, |after| Cursor {
        filters,
        watermark,
        started_at: now,
        after,
    })?)
}

/// Reads a later page. All its statements must see one snapshot.
pub fn next_page<R: Stored>(tx: &mut Tx<'_>, ask: Ask, cursor: &Cursor) -> Result<Page, WalkError> {
    let live = read_live(tx, R::table(), ask, &cursor.filters, LiveRange::Of(cursor))?;
    let clock = match live.clock {
        Some(clock) => clock,
        None => organizations::clock(tx, ask.organization)?.ok_or(WalkError::NoOrganization)?,
    };
    let watermark = cursor.watermark.micros();
    if clock < watermark {
        return Err(WalkError::AheadOfClock);
    }
    let mut rows = live.rows;
    if clock > watermark {
        let old = read_history(tx, R::table(), ask, cursor, &rows)?;
        rows = rows.merge(&old, ask);
    }
    Ok(rows.into_page(ask, |after| Cursor { after, ..*cursor })?)
}

/// The live rows that a page asks for.
#[derive(Clone, Copy)]
enum LiveRange<'a> {
    /// From a time on.
    From(i64),
    /// After a walk's last row, up to its watermark.
    Of(&'a Cursor),
}

/// Rows in order: each one's piece of `text`, where the pieces are joined by commas. In front of the first is the
/// page's lead.
#[derive(Default)]
struct Rows {
    text: Vec<u8>,
    pieces: Vec<Piece>,
}

struct Piece {
    range: Range<usize>,
    /// Read where it is needed: of every row when the page is merged with history, else of the page's last one.
    updated_at: Option<i64>,
}

struct Live {
    rows: Rows,
    /// Not known to PostgreSQL when there is no row, and not there when the organization is gone.
    clock: Option<i64>,
}

impl Rows {
    fn push(&mut self, ask: Ask, updated_at: Option<i64>, document: &[u8]) {
        if self.pieces.is_empty() {
            self.text.extend_from_slice(ask.lead);
        } else {
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

    /// The rows' times and documents.
    fn iter(&self) -> impl Iterator<Item = (Option<i64>, &[u8])> {
        let rows = self.pieces.iter();
        rows.map(|piece| (piece.updated_at, self.document(piece)))
    }

    /// Where a row stands. Its id is what its representation starts with.
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

    /// Both in one order: by time, and by the id with which documents start.
    fn merge(self, other: &Self, ask: Ask) -> Self {
        if other.pieces.is_empty() {
            return self;
        }
        let mut merged = Self {
            text: Vec::with_capacity(self.text.len() + other.text.len()),
            pieces: Vec::with_capacity(self.pieces.len() + other.pieces.len()),
        };
        let (mut a, mut b) = (self.iter().peekable(), other.iter().peekable());
        loop {
            let from_a = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x < y,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return merged,
            };
            let next = if from_a { a.next() } else { b.next() };
            if let Some((updated_at, document)) = next {
                merged.push(ask, updated_at, document);
            }
        }
    }

    /// Cuts the rows to the page's size; the one row more that was read says whether there is a next page.
    fn into_page(mut self, ask: Ask, cursor_after: impl FnOnce(Position) -> Cursor) -> Result<Page, DbError> {
        let rows_max = ask.limit.rows();
        let has_more = self.pieces.len() > rows_max;
        self.pieces.truncate(rows_max);
        let next = match self.pieces.last() {
            Some(last) if has_more => Some(cursor_after(self.position(last)?)),
            _ => None,
        };
        match self.pieces.last() {
            Some(last) => self.text.truncate(last.range.end),
            None => self.text.extend_from_slice(ask.lead),
        }
        Ok(Page {
            text: self.text,
            count: self.pieces.len(),
            next,
        })
    }
}

fn read_live(
    tx: &mut Tx<'_>,
    table: &'static Table,
    ask: Ask,
    filters: &Filters,
    range: LiveRange<'_>,
) -> Result<Live, DbError> {
    let organization = ask.organization.to_bytes();
    let member = member_key(filters);
    let (mask, narrowed) = narrowing(table, filters, &member);
    let texts = table.walk_texts(tx.kind(), mask);
    let mut clock = match tx.kind() {
        EngineKind::Sqlite => organizations::known_clock(tx, ask.organization)?,
        EngineKind::Postgres => None,
    };
    let (statements, from, up_to) = match range {
        LiveRange::From(since) => (&texts.first, (since, BELOW), i64::MAX),
        LiveRange::Of(Cursor { after, watermark, .. }) => {
            let watermark = watermark.micros();
            // Where nothing has changed since, no row is behind the watermark.
            let is_still = clock == Some(watermark);
            let statements = if is_still { &texts.rest } else { &texts.later };
            (statements, (after.updated_at.micros(), &after.id[..]), watermark)
        }
    };
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Int(from.0),
        Value::Bytes(from.1),
        Value::Int(up_to),
        count(0),
    ];
    params.extend(narrowed);
    let rows_max = ask.limit.rows();
    let mut rows = Rows::default();
    for sql in statements {
        let wanted = rows_max + 1 - rows.pieces.len();
        if wanted == 0 {
            break;
        }
        params[4] = count(wanted);
        tx.each(sql, &params, |row| {
            let document = row.raw(1)?;
            if rows.pieces.is_empty() {
                if clock.is_none() {
                    clock = Some(row.int(2)?);
                }
                // Documents of one list are much alike: the first one tells how long the page will be.
                rows.text.reserve((document.len() + 32) * (rows_max + 1));
                rows.pieces.reserve(rows_max + 1);
            }
            let merges = clock > Some(up_to);
            let is_last = rows.pieces.len() + 1 == rows_max;
            let updated_at = (merges || is_last).then(|| row.int(0)).transpose()?;
            rows.push(ask, updated_at, document);
            Ok(())
        })?;
    }
    Ok(Live { rows, clock })
}

fn read_history(
    tx: &mut Tx<'_>,
    table: &'static Table,
    ask: Ask,
    cursor: &Cursor,
    live: &Rows,
) -> Result<Rows, DbError> {
    let organization = ask.organization.to_bytes();
    let member = member_key(&cursor.filters);
    let (mask, narrowed) = narrowing(table, &cursor.filters, &member);
    let watermark = cursor.watermark.micros();
    // A full page ends at its last live row; nothing behind it can be on this page.
    let last = live
        .pieces
        .last()
        .filter(|_| live.pieces.len() > ask.limit.rows());
    let last = last.map(|piece| live.position(piece)).transpose()?;
    let end = last.as_ref().map_or((watermark, ABOVE), |position| {
        (position.updated_at.micros(), &position.id[..])
    });
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Int(cursor.after.updated_at.micros()),
        Value::Bytes(&cursor.after.id),
        Value::Int(end.0),
        Value::Bytes(end.1),
        Value::Int(watermark),
        count(ask.limit.rows() + 1),
    ];
    params.extend(narrowed);
    let texts = table.walk_texts(tx.kind(), mask);
    let mut rows = Rows::default();
    tx.each(&texts.history, &params, |row| {
        rows.push(ask, Some(row.int(0)?), row.raw(1)?);
        Ok(())
    })?;
    Ok(rows)
}

fn member_key(filters: &Filters) -> [u8; 16] {
    filters
        .member_id
        .map_or([0; 16], bursar_domain::ids::Id::to_bytes)
}

/// Which of the table's filters are given, as bits, and their values in order.
fn narrowing<'a>(table: &Table, filters: &'a Filters, member: &'a [u8; 16]) -> (usize, Vec<Value<'a>>) {
    let mut mask = 0;
    let mut values = Vec::new();
    for (i, column) in table.filters.iter().enumerate() {
        let value = match *column {
            "is_active" => filters.is_active.map(Value::from),
            "status" => filters.status.map(Value::Text),
            "member_id" => filters.member_id.map(|_| Value::Bytes(member)),
            _ => None,
        };
        if let Some(value) = value {
            mask |= 1 << i;
            values.push(value);
        }
    }
    (mask, values)
}

fn count(rows: usize) -> Value<'static> {
    Value::Int(i64::try_from(rows).unwrap_or(i64::MAX))
}
