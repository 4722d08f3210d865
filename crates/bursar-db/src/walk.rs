//! List pages. One walk serves every list.
//!
//! A walk is a snapshot at its watermark W, the change clock when its first page was read. A later page reads
//! live rows that have not changed since W, then the versions in `history` that stood at W, after the cursor and
//! up to the page's last live row (to W if the page is short), and merges the two by `(updated_at, id)`. When the
//! clock still equals W there is no history to read. A page costs the same at any depth.

use bursar_domain::Timestamp;
use bursar_domain::cursor::{Cursor, Filters, Position};
use bursar_domain::ids::OrganizationId;
use bursar_domain::page::PageLimit;

use crate::engine::{RAW_DOCUMENT, Row, Tx, Value};
use crate::error::DbError;
use crate::table::{Stored, Table};

/// The statements of one list with one set of filters.
#[derive(Debug)]
pub struct WalkTexts {
    live: String,
    history: String,
}

/// One page.
#[derive(Debug)]
pub struct Page {
    /// The rows' representations, joined by commas: JSON as it is kept, which is UTF-8.
    pub data: Vec<u8>,
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
    fn walk_texts(&'static self, mask: usize) -> &'static WalkTexts {
        let all = self.walks.get_or_init(|| {
            (0..1 << self.filters.len())
                .map(|mask| WalkTexts::new(self, mask))
                .collect()
        });
        &all[mask]
    }
}

impl WalkTexts {
    /// The first filter stands before the position in one row value, and in the order of the rows: so only the
    /// index that starts with it finds the rows and has them in order. With `filter = ?` SQLite would take the
    /// primary key, because it is clustered, and read past every row that the filter leaves out. Of what passes
    /// the first filter the others are compared row by row: one member has few payments, one status many. In
    /// history `|| ''` keeps PostgreSQL from taking the index of the other filter.
    fn new(table: &Table, mask: usize) -> Self {
        let given: Vec<&str> = (0..table.filters.len())
            .filter(|i| mask & (1 << i) != 0)
            .map(|i| table.filters[i])
            .collect();
        let column = given
            .first()
            .map_or(String::new(), |filter| format!("{filter}, "));
        let value = |place: usize| given.first().map_or(String::new(), |_| format!("?{place}, "));
        let others = |first: usize, compared: &str| -> String {
            let others = given.iter().enumerate().skip(1);
            others
                .map(|(n, filter)| format!(" AND {filter}{compared} ?{}", first + n))
                .collect()
        };
        // The indexes of history leave out the rows of lists that do not have the filter.
        let has_value = given
            .first()
            .map_or(String::new(), |filter| format!(" AND {filter} IS NOT NULL"));
        let (live, history) = (value(6), value(8));
        Self {
            live: format!(
                "SELECT updated_at, id, {RAW_DOCUMENT}, (SELECT clock FROM organizations WHERE id = ?1) FROM {} \
                 WHERE organization_id = ?1 AND ({column}updated_at, id) > ({live}?2, ?3) \
                 AND ({column}updated_at) <= ({live}?4){} ORDER BY {column}updated_at, id LIMIT ?5",
                table.bulk.table,
                others(6, " =")
            ),
            history: format!(
                "SELECT updated_at, id, {RAW_DOCUMENT} FROM history \
                 WHERE organization_id = ?1 AND list = {} AND ({column}updated_at, id) > ({history}?2, ?3) \
                 AND ({column}updated_at, id) <= ({history}?4, ?5) AND superseded_at > ?6{has_value}{} \
                 ORDER BY {column}updated_at, id LIMIT ?7",
                table.list,
                others(8, " || '' =")
            ),
        }
    }
}

/// The statements of a list with the given filters, for tests that read their plans.
pub fn statements<R: Stored>(filters: &Filters) -> (&'static str, &'static str) {
    let (mask, _) = narrowing(R::table(), filters, &[0; 16]);
    let texts = R::table().walk_texts(mask);
    (&texts.live, &texts.history)
}

/// Reads a walk's first page, in one statement.
pub fn first_page<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    filters: Filters,
    limit: PageLimit,
    now: Timestamp,
) -> Result<Page, WalkError> {
    let since = filters.updated_since.map_or(i64::MIN, Timestamp::micros);
    let from = (since, BELOW);
    let live = read_live(tx, R::table(), organization, &filters, from, i64::MAX, limit)?;
    // A list without rows needs no watermark: there is no next page.
    let watermark = Timestamp::from_micros(live.clock.unwrap_or(0));
    Ok(live.rows.into_page(limit, |after| Cursor {
        filters,
        watermark,
        started_at: now,
        after,
    }))
}

/// Reads a later page. All its statements must see one snapshot.
pub fn next_page<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    cursor: &Cursor,
    limit: PageLimit,
) -> Result<Page, WalkError> {
    let watermark = cursor.watermark.micros();
    let from = (cursor.after.updated_at.micros(), &cursor.after.id[..]);
    let live = read_live(
        tx,
        R::table(),
        organization,
        &cursor.filters,
        from,
        watermark,
        limit,
    )?;
    let clock = match live.clock {
        Some(clock) => clock,
        None => crate::organizations::clock(tx, organization)?.ok_or(WalkError::NoOrganization)?,
    };
    if clock < watermark {
        return Err(WalkError::AheadOfClock);
    }
    let mut rows = live.rows;
    if clock > watermark {
        let old = read_history(tx, R::table(), organization, cursor, &rows, limit)?;
        rows = rows.merge(old);
    }
    Ok(rows.into_page(limit, |after| Cursor { after, ..*cursor }))
}

/// Rows in order: each one's piece of `text`, where the pieces are joined by commas, and where it stands.
#[derive(Default)]
struct Rows {
    text: Vec<u8>,
    pieces: Vec<Piece>,
}

struct Piece {
    range: std::ops::Range<usize>,
    /// Read where it is needed: of every row when the page is merged with history, else of the page's last one.
    position: Option<Position>,
}

struct Live {
    rows: Rows,
    /// Known when there is at least one row.
    clock: Option<i64>,
}

impl Rows {
    fn push(&mut self, position: Option<Position>, document: &[u8]) {
        if !self.pieces.is_empty() {
            self.text.push(b',');
        }
        let start = self.text.len();
        self.text.extend_from_slice(document);
        self.pieces.push(Piece {
            range: start..self.text.len(),
            position,
        });
    }

    fn merge(self, other: Self) -> Self {
        if other.pieces.is_empty() {
            return self;
        }
        let mut merged = Self {
            text: Vec::with_capacity(self.text.len() + other.text.len()),
            pieces: Vec::new(),
        };
        let (mut a, mut b) = (self.pieces.iter().peekable(), other.pieces.iter().peekable());
        loop {
            let from_a = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.position < y.position,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return merged,
            };
            let (side, text) = if from_a {
                (&mut a, &self.text)
            } else {
                (&mut b, &other.text)
            };
            if let Some(piece) = side.next() {
                merged.push(piece.position, &text[piece.range.clone()]);
            }
        }
    }

    /// Cuts the rows to the page's size; the one row more that was read says whether there is a next page.
    fn into_page(mut self, limit: PageLimit, cursor_after: impl FnOnce(Position) -> Cursor) -> Page {
        let has_more = self.pieces.len() > limit.rows();
        self.pieces.truncate(limit.rows());
        let last = self.pieces.last();
        self.text.truncate(last.map_or(0, |piece| piece.range.end));
        let next = last
            .filter(|_| has_more)
            .and_then(|piece| piece.position)
            .map(cursor_after);
        Page {
            data: self.text,
            count: self.pieces.len(),
            next,
        }
    }
}

fn read_position(row: &Row<'_>) -> Result<Position, DbError> {
    Ok(Position {
        updated_at: Timestamp::from_micros(row.int(0)?),
        id: row.key(1)?,
    })
}

fn read_live(
    tx: &mut Tx<'_>,
    table: &'static Table,
    organization: OrganizationId,
    filters: &Filters,
    from: (i64, &[u8]),
    up_to: i64,
    limit: PageLimit,
) -> Result<Live, DbError> {
    let organization = organization.to_bytes();
    let member = member_key(filters);
    let (mask, narrowed) = narrowing(table, filters, &member);
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Int(from.0),
        Value::Bytes(from.1),
        Value::Int(up_to),
        one_more(limit),
    ];
    params.extend(narrowed);
    let mut live = Live {
        rows: Rows::default(),
        clock: None,
    };
    let mut merges = false;
    tx.each(&table.walk_texts(mask).live, &params, |row| {
        let document = row.raw(2)?;
        if live.clock.is_none() {
            let clock = row.int(3)?;
            live.clock = Some(clock);
            merges = clock > up_to;
            // Documents of one list are much alike: the first one tells how long the page will be.
            live.rows.text.reserve((document.len() + 32) * (limit.rows() + 1));
            live.rows.pieces.reserve(limit.rows() + 1);
        }
        let is_last = live.rows.pieces.len() + 1 == limit.rows();
        let position = (merges || is_last).then(|| read_position(row)).transpose()?;
        live.rows.push(position, document);
        Ok(())
    })?;
    Ok(live)
}

fn read_history(
    tx: &mut Tx<'_>,
    table: &'static Table,
    organization: OrganizationId,
    cursor: &Cursor,
    live: &Rows,
    limit: PageLimit,
) -> Result<Rows, DbError> {
    let organization = organization.to_bytes();
    let member = member_key(&cursor.filters);
    let (mask, narrowed) = narrowing(table, &cursor.filters, &member);
    let watermark = cursor.watermark.micros();
    // A full page ends at its last live row; nothing behind it can be on this page.
    let last = live.pieces.last().and_then(|piece| piece.position.as_ref());
    let end = last.filter(|_| live.pieces.len() > limit.rows());
    let end = end.map_or((watermark, ABOVE), |position| {
        (position.updated_at.micros(), &position.id[..])
    });
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Int(cursor.after.updated_at.micros()),
        Value::Bytes(&cursor.after.id),
        Value::Int(end.0),
        Value::Bytes(end.1),
        Value::Int(watermark),
        one_more(limit),
    ];
    params.extend(narrowed);
    let mut rows = Rows::default();
    tx.each(&table.walk_texts(mask).history, &params, |row| {
        rows.push(Some(read_position(row)?), row.raw(2)?);
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

fn one_more(limit: PageLimit) -> Value<'static> {
    Value::Int(i64::try_from(limit.rows() + 1).unwrap_or(i64::MAX))
}
