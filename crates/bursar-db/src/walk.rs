//! List pages. One implementation serves every list.
//!
//! A walk is a snapshot at its watermark W, the change clock when its first page was read. A later page reads live rows
//! that have not changed since W, then the versions in `history` that were current at W, after the cursor and up to the
//! time of the last live row (to W if the page is short), and merges the two by `(updated_at, id)`. If the clock still
//! equals W, there is no history to read.
//!
//! What was current at W was superseded after it, so it is in the epoch of W + 1 or a later one. Older epochs are
//! skipped, so a page costs the same at any depth and however many versions were superseded before W. First, a bounded
//! number of versions of all epochs is tried in the order of the list: usually few of them are useless, and that is one
//! search instead of one per epoch.

mod rows;
mod texts;

use std::cmp::Ordering;
use std::ops::ControlFlow;

use bursar_domain::Timestamp;
use bursar_domain::cursor::{Cursor, Filters};
use bursar_domain::ids::{Id, OrganizationId};
use bursar_domain::page::PageLimit;
use bursar_domain::resource::leading_key;

pub(crate) use self::rows::Rows;
pub use self::texts::WalkTexts;
use self::texts::{After, Since};
use crate::engine::{EngineKind, Row, Tx, Value};
use crate::error::DbError;
use crate::organizations::{self, Reading};
use crate::table::{Stored, Table};

#[derive(Debug)]
pub struct Page {
    /// What the caller began, then the rows' representations joined by commas: JSON in UTF-8, as kept.
    pub text: Vec<u8>,
    pub count: usize,
    /// `None` on the last page.
    pub next: Option<Cursor>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum WalkError {
    /// The cursor's watermark is ahead of the clock, or the organization does not exist: the cursor is from before a
    /// backup was restored.
    AheadOfClock,
    /// The walk began earlier than the cursor says.
    NotItsStart,
    /// Versions that the walk needs were pruned. Without them it would miss rows.
    Pruned,
    Db(DbError),
}

impl From<DbError> for WalkError {
    fn from(error: DbError) -> Self {
        Self::Db(error)
    }
}

/// Versions tried in the order of the list, for each row of a page.
const TRIED: usize = 1;

/// Sorts before every id.
const BELOW: &[u8] = &[];

/// For tests that read query plans.
#[derive(Debug)]
pub struct Statements {
    pub live: Vec<&'static str>,
    /// Versions of all epochs, in the order of the list.
    pub in_order: Vec<&'static str>,
    pub of_epoch: &'static str,
    /// Versions of several epochs, or the epochs of a list.
    pub since: Vec<&'static str>,
}

pub fn statements<R: Stored>(kind: EngineKind, filters: &Filters) -> Statements {
    let (mask, _) = narrowing(R::table(), filters, &Keys::of(filters));
    let texts = R::table().walk_texts(kind, mask);
    let live = std::iter::once(&texts.first).chain(texts.rest.all());
    Statements {
        live: live.map(String::as_str).collect(),
        in_order: texts.history.in_order.all().map(String::as_str).collect(),
        of_epoch: &texts.history.of_epoch,
        since: match &texts.history.since {
            Since::Epochs { last, next } => vec![last, next],
            Since::Whole(whole) => vec![whole],
        },
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub organization: OrganizationId,
    pub limit: PageLimit,
}

/// Takes one statement. Rows are appended to `text`, so that a page need not be copied into its response.
pub fn first_page<R: Stored>(
    tx: &mut Tx<'_>,
    ask: Ask,
    filters: Filters,
    now: Timestamp,
    text: Vec<u8>,
) -> Result<Page, WalkError> {
    let since = filters.updated_since.map_or(i64::MIN, Timestamp::micros);
    let rows = Rows::after(text);
    let live = read_live(tx, R::table(), ask, &filters, LiveRange::From(since), rows)?;
    // A list without rows needs no watermark: there is no next page.
    let watermark = Timestamp::from_micros(live.reading.map_or(0, |reading| reading.clock));
    Ok(live.rows.into_page(ask, |after| Cursor {
        filters,
        watermark,
        started_at: now,
        after,
    })?)
}

/// All its statements must see one snapshot.
pub fn next_page<R: Stored>(
    tx: &mut Tx<'_>,
    ask: Ask,
    cursor: &Cursor,
    text: Vec<u8>,
) -> Result<Page, WalkError> {
    let rows = Rows::after(text);
    let live = read_live(tx, R::table(), ask, &cursor.filters, LiveRange::Of(cursor), rows)?;
    let reading = match live.reading {
        Some(reading) => reading,
        None => organizations::reading(tx, ask.organization)?.ok_or(WalkError::AheadOfClock)?,
    };
    let watermark = cursor.watermark.micros();
    if reading.clock < watermark {
        return Err(WalkError::AheadOfClock);
    }
    if cursor.began_before(Timestamp::from_micros(reading.clock)) {
        return Err(WalkError::NotItsStart);
    }
    let mut rows = live.rows;
    if reading.clock > watermark {
        if reading.horizon > watermark {
            return Err(WalkError::Pruned);
        }
        rows = add_history(tx, R::table(), ask, cursor, reading.epoch, rows)?;
    }
    Ok(rows.into_page(ask, |after| Cursor { after, ..*cursor })?)
}

#[derive(Clone, Copy)]
enum LiveRange<'a> {
    /// From this time on.
    From(i64),
    /// After a walk's last row, up to its watermark.
    Of(&'a Cursor),
}

struct Live {
    rows: Rows,
    /// On PostgreSQL, unknown if there is no row. `None` if the organization is gone.
    reading: Option<Reading>,
}

impl Live {
    /// Stops after one row more than the page has, and at the first row beyond the watermark: PostgreSQL's statement
    /// leaves these out, and SQLite would compare every row with it. Without a change since then there is none.
    fn take(&mut self, ask: Ask, up_to: i64, row: &Row<'_>) -> Result<ControlFlow<()>, DbError> {
        let (rows, rows_max) = (&mut self.rows, ask.limit.rows());
        let document = row.raw(1)?;
        if rows.pieces.is_empty() {
            if self.reading.is_none() {
                self.reading = Reading::read(row, 2)?;
            }
            rows.reserve(ask, document);
        }
        let merges = self.reading.is_some_and(|reading| reading.clock > up_to);
        let is_last = rows.pieces.len() + 1 == rows_max;
        let updated_at = (merges || is_last).then(|| row.int(0)).transpose()?;
        if updated_at.is_some_and(|updated_at| updated_at > up_to) {
            return Ok(ControlFlow::Break(()));
        }
        rows.push(updated_at, document);
        Ok(if rows.pieces.len() > rows_max {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    }
}

fn read_live(
    tx: &mut Tx<'_>,
    table: &'static Table,
    ask: Ask,
    filters: &Filters,
    range: LiveRange<'_>,
    rows: Rows,
) -> Result<Live, DbError> {
    let organization = ask.organization.to_bytes();
    let keys = Keys::of(filters);
    let (mask, narrowed) = narrowing(table, filters, &keys);
    let texts = table.walk_texts(tx.kind(), mask);
    let reading = match tx.kind() {
        EngineKind::Sqlite => organizations::reading(tx, ask.organization)?,
        EngineKind::Postgres => None,
    };
    let (from, up_to) = match range {
        LiveRange::From(since) => ((since, BELOW), i64::MAX),
        LiveRange::Of(Cursor { after, watermark, .. }) => {
            ((after.updated_at.micros(), &after.id[..]), watermark.micros())
        }
    };
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Int(from.0),
        Value::Bytes(from.1),
        Value::Int(up_to),
        count(ask.limit.rows() + 1),
    ];
    params.extend(narrowed);
    let mut live = Live { rows, reading };
    match range {
        LiveRange::From(_) => tx.each_until(&texts.first, &params, |row| live.take(ask, up_to, row))?,
        LiveRange::Of(_) => each_after(tx, &texts.rest, &mut params, 4, |row| live.take(ask, up_to, row))?,
    }
    Ok(live)
}

/// Visits the rows after the place of the second and third parameter, until `visit` ends it. The parameter at `limit`
/// says how many.
fn each_after(
    tx: &mut Tx<'_>,
    after: &'static After,
    params: &mut [Value<'_>],
    limit: usize,
    mut visit: impl FnMut(&Row<'_>) -> Result<ControlFlow<()>, DbError>,
) -> Result<(), DbError> {
    let (Value::Int(at), Value::Bytes(id), Value::Int(rows)) = (params[1], params[2], params[limit]) else {
        return Err(DbError::Internal("a page begins at no place".to_owned()));
    };
    if let Some(sql) = &after.from {
        params[limit] = Value::Int(rows + 1);
        let (mut is_first, mut has_ties) = (true, false);
        tx.each_until(sql, params, |row| {
            if std::mem::take(&mut is_first) && row.int(0)? == at {
                let key = row.raw_opt(1)?.and_then(leading_key);
                match key.as_ref().map(|key| &key[..]).cmp(&Some(id)) {
                    Ordering::Less => {
                        has_ties = true;
                        return Ok(ControlFlow::Break(()));
                    }
                    Ordering::Equal => return Ok(ControlFlow::Continue(())),
                    Ordering::Greater => {}
                }
            }
            visit(row)
        })?;
        if !has_ties {
            return Ok(());
        }
        params[limit] = Value::Int(rows);
    }
    let mut is_done = false;
    for sql in &after.exact {
        if !is_done {
            tx.each_until(sql, params, |row| {
                let flow = visit(row)?;
                is_done = flow.is_break();
                Ok(flow)
            })?;
        }
    }
    Ok(())
}

/// Adds the versions that were current at the watermark. `open` is the epoch that is open now.
fn add_history(
    tx: &mut Tx<'_>,
    table: &'static Table,
    ask: Ask,
    cursor: &Cursor,
    open: i64,
    mut rows: Rows,
) -> Result<Rows, DbError> {
    let organization = ask.organization.to_bytes();
    let keys = Keys::of(&cursor.filters);
    let (mask, narrowed) = narrowing(table, &cursor.filters, &keys);
    let watermark = cursor.watermark.micros();
    let texts = &table.walk_texts(tx.kind(), mask).history;
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Int(cursor.after.updated_at.micros()),
        Value::Bytes(&cursor.after.id),
        Value::Null,
        Value::Int(watermark),
        count(ask.limit.rows() + 1),
        Value::Null,
    ];
    params.extend_from_slice(&narrowed);
    let mut add = |tx: &mut Tx<'_>, rows: Rows, sql: &'static str, epoch: i64| {
        params[3] = Value::Int(rows.end(ask).unwrap_or(watermark));
        params[6] = Value::Int(epoch);
        let mut old = Rows::default();
        tx.each(sql, &params, |row| {
            old.push(Some(row.int(0)?), row.raw(1)?);
            Ok(())
        })?;
        Ok::<_, DbError>(rows.merge(&old, ask))
    };
    let is_all;
    (is_all, rows) = add_in_order(tx, &texts.in_order, ask, cursor, &narrowed, rows)?;
    if is_all {
        return Ok(rows);
    }
    let since = watermark + 1;
    if open <= since {
        return add(tx, rows, &texts.of_epoch, open);
    }
    let (last, next) = match &texts.since {
        Since::Whole(sql) => return add(tx, rows, sql, since),
        Since::Epochs { last, next } => (last, next),
    };
    let found = |tx: &mut Tx<'_>, sql, epoch| {
        let params = [Value::Bytes(&organization), Value::Int(epoch)];
        tx.first(sql, &params, |row| row.int(0))
    };
    let mut epoch = found(tx, last, since)?.unwrap_or(0);
    loop {
        rows = add(tx, rows, &texts.of_epoch, epoch)?;
        epoch = match found(tx, next, epoch)? {
            Some(epoch) => epoch,
            None => return Ok(rows),
        };
    }
}

/// Adds versions in the order of the list if a bounded number of them are all that the page needs. Returns whether they
/// are; if not, the rows are as they were.
fn add_in_order(
    tx: &mut Tx<'_>,
    texts: &'static After,
    ask: Ask,
    cursor: &Cursor,
    narrowed: &[Value<'_>],
    mut live: Rows,
) -> Result<(bool, Rows), DbError> {
    let (organization, watermark) = (ask.organization.to_bytes(), cursor.watermark.micros());
    let rows_max = ask.limit.rows();
    let versions_max = TRIED * (rows_max + 1);
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Int(cursor.after.updated_at.micros()),
        Value::Bytes(&cursor.after.id),
        Value::Int(live.end(ask).unwrap_or(watermark)),
        Value::Int(watermark),
        count(versions_max),
    ];
    params.extend_from_slice(narrowed);
    // Without a live row the page is what is read here.
    let merges = !live.pieces.is_empty();
    let mut old = match merges {
        true => Rows::default(),
        false => std::mem::take(&mut live),
    };
    let (mut tried, mut is_past) = (0, false);
    let end = live.last_key(ask);
    each_after(tx, texts, &mut params, 5, |row| {
        tried += 1;
        if let Some(document) = row.raw_opt(1)? {
            let is_last = old.pieces.len() + 1 == rows_max;
            let updated_at = (merges || is_last).then(|| row.int(0)).transpose()?;
            // After an import thousands of versions have the time of the page's end.
            is_past = end.is_some_and(|end| (updated_at, document) > end);
            if !is_past {
                old.reserve(ask, document);
                old.push(updated_at, document);
            }
        }
        Ok(if is_past || old.pieces.len() > rows_max {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        })
    })?;
    let is_all = is_past || tried < versions_max || old.pieces.len() > rows_max;
    Ok(match (merges, is_all) {
        (true, true) => (true, live.merge(&old, ask)),
        (true, false) => (false, live),
        (false, true) => (true, old),
        (false, false) => (false, old.emptied()),
    })
}

/// The ids of filters, as the database keeps them.
struct Keys {
    member: Option<[u8; 16]>,
    listing: Option<[u8; 16]>,
}

impl Keys {
    fn of(filters: &Filters) -> Self {
        Self {
            member: filters.member_id.map(Id::to_bytes),
            listing: filters.listing_id.map(Id::to_bytes),
        }
    }
}

/// The given filters as bits, and their values in order.
fn narrowing<'a>(table: &Table, filters: &'a Filters, keys: &'a Keys) -> (usize, Vec<Value<'a>>) {
    let mut mask = 0;
    let mut values = Vec::new();
    for (i, column) in table.filters.iter().enumerate() {
        let value = match *column {
            "is_active" => filters.is_active.map(Value::from),
            "status" => filters.status.map(Value::Text),
            "member_id" => keys.member.as_ref().map(|key| Value::Bytes(key)),
            "listing_id" => keys.listing.as_ref().map(|key| Value::Bytes(key)),
            _ => None,
        };
        if let Some(value) = value {
            mask |= 1 << i;
            values.push(value);
        }
    }
    (mask, values)
}

pub(crate) fn count(rows: usize) -> Value<'static> {
    Value::Int(i64::try_from(rows).unwrap_or(i64::MAX))
}
