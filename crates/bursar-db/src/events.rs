//! Events: one for each write of a row, in the transaction of the write. They are never changed, so a walk over them needs
//! no history: what is not after its watermark is what there was.
//!
//! A caller may see events of some resources only, and types are what an index can tell apart: a page is read type by
//! type, each in order, and merged. So it costs the same however many events there are of other types.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use bursar_domain::Timestamp;
use bursar_domain::cursor::{Cursor, Position};
use bursar_domain::event::{EventType, TYPES};
use bursar_domain::ids::{EventId, OrganizationId, time_of};
use bursar_domain::resource::leading_key;

use crate::engine::{ColumnType, EngineKind, LoadTarget, OwnedValue, RAW_DOCUMENT, Tx, Value};
use crate::error::DbError;
use crate::housekeeping::PRUNE_ROWS_MAX;
use crate::rows::read;
use crate::table::{int, key, text};
use crate::walk::{Ask, Page, Rows, WalkError, count};

pub static EVENTS: LoadTarget = LoadTarget {
    table: "events",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("created_at", ColumnType::Int),
        ("id", ColumnType::Bytes),
        ("type", ColumnType::Text),
        ("resource_id", ColumnType::Bytes),
        ("document", ColumnType::Text),
    ],
};
pub(crate) static HORIZONS: LoadTarget = LoadTarget {
    table: "event_horizons",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("created_at", ColumnType::Int),
    ],
};

/// Organization, time and id.
const KEY: usize = 3;
/// From this many events on they are loaded.
const LOADED_MIN: usize = 16;
/// Events that wait to be loaded together.
const CHUNK_ROWS: usize = 1_000;

/// An event as it is kept.
#[derive(Debug)]
pub struct NewEvent {
    pub organization: OrganizationId,
    pub at: Timestamp,
    pub id: EventId,
    pub event_type: EventType,
    pub resource_id: [u8; 16],
    pub document: String,
}

/// Events of a transaction that are not written yet.
#[derive(Debug, Default)]
pub struct Pending(Vec<Vec<OwnedValue>>);

impl Pending {
    pub fn add(&mut self, tx: &mut Tx<'_>, event: NewEvent) -> Result<(), DbError> {
        self.0.push(vec![
            key(event.organization),
            int(event.at.micros()),
            key(event.id),
            text(event.event_type.name),
            OwnedValue::Bytes(event.resource_id.to_vec()),
            OwnedValue::Text(event.document),
        ]);
        match self.0.len() < CHUNK_ROWS {
            true => Ok(()),
            false => tx.load(&EVENTS, &std::mem::take(&mut self.0)),
        }
    }

    /// Writes those that are left.
    pub fn write(self, tx: &mut Tx<'_>) -> Result<(), DbError> {
        if self.0.len() >= LOADED_MIN {
            return tx.load(&EVENTS, &self.0);
        }
        for row in &self.0 {
            let values: Vec<Value<'_>> = row.iter().map(OwnedValue::as_value).collect();
            tx.send_of_row(
                KEY,
                "INSERT INTO events (organization_id, created_at, id, type, resource_id, document) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                &values,
            )?;
        }
        Ok(())
    }
}

/// The event as JSON. Its id tells its place.
pub fn document(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: EventId,
) -> Result<Option<(EventType, Vec<u8>)>, DbError> {
    let found = tx.first(
        "SELECT type, document FROM events WHERE organization_id = ?1 AND created_at = ?2 AND id = ?3",
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Int(time_of(id).micros()),
            Value::Bytes(&id.to_bytes()),
        ],
        read::<(String, String)>,
    )?;
    let Some((name, document)) = found else {
        return Ok(None);
    };
    let unknown = || DbError::Internal(format!("event {id} has the unknown type {name}"));
    let event_type = EventType::parse(&name).ok_or_else(unknown)?;
    Ok(Some((event_type, document.into_bytes())))
}

/// The events of one row that are kept, oldest first.
pub fn of_row(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    resource_id: [u8; 16],
) -> Result<Vec<String>, DbError> {
    tx.rows(
        "SELECT document FROM events WHERE organization_id = ?1 AND resource_id = ?2 ORDER BY created_at, id",
        &[Value::Bytes(&organization.to_bytes()), Value::Bytes(&resource_id)],
        read,
    )
}

/// Which events a page has.
#[derive(Clone, Debug)]
pub struct Wanted {
    pub types: Vec<EventType>,
    /// Of this row alone.
    pub resource_id: Option<[u8; 16]>,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// The first page: at this time, or with the first event that is kept.
    Since(Option<Timestamp>),
    After(&'a Cursor),
}

/// Why there is no page.
#[derive(Debug)]
pub enum NoPage {
    /// Events up to this time are no longer kept.
    Behind(Timestamp),
    Walk(WalkError),
}

impl From<DbError> for NoPage {
    fn from(error: DbError) -> Self {
        Self::Walk(WalkError::Db(error))
    }
}

/// All its statements must see one snapshot. `next` makes the cursor of the next page from the watermark and the
/// place.
pub fn page(
    tx: &mut Tx<'_>,
    ask: Ask,
    wanted: &Wanted,
    from: Place<'_>,
    start: Vec<u8>,
    next: impl FnOnce(Timestamp, Position) -> Cursor,
) -> Result<Page, NoPage> {
    let organization = ask.organization.to_bytes();
    let reading: Option<(i64, Option<i64>)> = tx.first(
        "SELECT clock, (SELECT created_at FROM event_horizons WHERE organization_id = ?1) \
         FROM organizations WHERE id = ?1",
        &[Value::Bytes(&organization)],
        read,
    )?;
    let (clock, horizon) = reading.ok_or(NoPage::Walk(WalkError::AheadOfClock))?;
    let horizon = horizon.unwrap_or(i64::MIN);
    let ((at, id), up_to) = match from {
        Place::Since(None) => ((i64::MIN, &[][..]), clock),
        Place::Since(Some(since)) if since.micros() < horizon => {
            return Err(NoPage::Behind(Timestamp::from_micros(horizon)));
        }
        Place::Since(Some(since)) => ((since.micros(), &[][..]), clock),
        Place::After(cursor) => {
            if clock < cursor.watermark.micros() {
                return Err(NoPage::Walk(WalkError::AheadOfClock));
            }
            if cursor.began_before(Timestamp::from_micros(clock)) {
                return Err(NoPage::Walk(WalkError::NotItsStart));
            }
            if cursor.after.updated_at.micros() < horizon {
                return Err(NoPage::Walk(WalkError::Pruned));
            }
            let after = &cursor.after;
            (
                (after.updated_at.micros(), &after.id[..]),
                cursor.watermark.micros(),
            )
        }
    };
    let mut rows = Rows::after(start);
    if !wanted.types.is_empty() {
        let mut params = vec![
            Value::Bytes(&organization),
            Value::Int(at),
            Value::Bytes(id),
            Value::Int(up_to),
            count(ask.limit.rows() + 1),
        ];
        params.extend(wanted.resource_id.as_ref().map(|id| Value::Bytes(id)));
        tx.each(statement(tx.kind(), wanted), &params, |row| {
            rows.push(Some(row.int(0)?), row.raw(1)?);
            Ok(())
        })?;
    }
    let watermark = Timestamp::from_micros(up_to);
    Ok(rows.into_page(ask, |after| next(watermark, after))?)
}

/// For tests that read query plans.
pub fn statement(kind: EngineKind, wanted: &Wanted) -> &'static str {
    type Key = (EngineKind, bool, Vec<&'static str>);
    /// One for each set of resources at most, and each type: they are few.
    static TEXTS: LazyLock<RwLock<HashMap<Key, &'static str>>> = LazyLock::new(RwLock::default);
    let types = wanted.types.iter().map(|known| known.name).collect();
    let key: Key = (kind, wanted.resource_id.is_some(), types);
    let known = TEXTS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&key)
        .copied();
    known.unwrap_or_else(|| {
        let text: &'static str = Box::leak(texts(&key.2, kind, key.1).into_boxed_str());
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        *texts.entry(key).or_insert(text)
    })
}

/// Finds the places first, type by type, then reads what is there.
fn texts(types: &[&str], kind: EngineKind, is_of_row: bool) -> String {
    if types.len() == TYPES.len() && !is_of_row {
        return format!(
            "SELECT created_at, {RAW_DOCUMENT} FROM events WHERE organization_id = ?1 \
             AND (created_at, id) > (?2, ?3) AND created_at <= ?4 ORDER BY created_at, id LIMIT ?5"
        );
    }
    let (index, row) = match is_of_row {
        true => ("events_resource", " AND resource_id = ?6"),
        false => ("events_type", ""),
    };
    let of_type = |name: &&str| match kind {
        EngineKind::Sqlite => format!(
            "SELECT at, named FROM (SELECT created_at AS at, id AS named FROM events INDEXED BY {index} \
             WHERE organization_id = ?1{row} AND type = '{name}' AND (created_at, id) > (?2, ?3) \
             AND created_at <= ?4 ORDER BY created_at, id LIMIT ?5)"
        ),
        // The type is part of the place, so that no index without it has the order: see `walk`.
        EngineKind::Postgres => format!(
            "(SELECT created_at AS at, id AS named FROM events WHERE organization_id = ?1{row} \
             AND type >= '{name}' AND type <= '{name}' AND (type, created_at, id) > ('{name}', ?2, ?3) \
             AND (type, created_at) <= ('{name}', ?4) ORDER BY type, created_at, id LIMIT ?5)"
        ),
    };
    let places: Vec<String> = types.iter().map(of_type).collect();
    format!(
        "SELECT e.created_at, {RAW_DOCUMENT} FROM (SELECT at, named FROM ({}) AS places \
         ORDER BY at, named LIMIT ?5) AS page CROSS JOIN events AS e WHERE e.organization_id = ?1 \
         AND e.created_at = page.at AND e.id = page.named ORDER BY page.at, page.named",
        places.join(" UNION ALL ")
    )
}

/// Organizations that have events from before a time which no enabled endpoint still has to get. The first event of
/// each is one step into the key. For tests that read query plans.
pub const WITH_OLD_EVENTS: &str = "SELECT o.id FROM organizations o WHERE (SELECT MIN(e.created_at) FROM events e \
     WHERE e.organization_id = o.id AND e.created_at <= COALESCE((SELECT MIN(w.cursor_at) FROM webhooks w \
     WHERE w.organization_id = o.id AND w.is_enabled = 1), ?1)) < ?1 ORDER BY o.id";
/// For tests that read query plans.
pub const PRUNE: &str = "DELETE FROM events WHERE (organization_id, created_at, id) IN (SELECT organization_id, created_at, id \
     FROM events WHERE organization_id = ?1 AND created_at < ?2 AND created_at <= COALESCE((SELECT MIN(cursor_at) \
     FROM webhooks WHERE organization_id = ?1 AND is_enabled = 1), ?2) ORDER BY created_at, id LIMIT ?3) \
     RETURNING created_at";

/// Organizations with events to prune.
pub fn with_old_events(tx: &mut Tx<'_>, before: Timestamp) -> Result<Vec<OrganizationId>, DbError> {
    tx.rows(WITH_OLD_EVENTS, &[Value::Int(before.micros())], read)
}

/// Removes an organization's events from before a time and returns how many; fewer than a thousand means that none are
/// left. Records how far they are gone. What an enabled endpoint has not got yet is kept: whoever moves an endpoint
/// holds the change clock, and so must whoever prunes.
pub fn prune(tx: &mut Tx<'_>, organization: OrganizationId, before: Timestamp) -> Result<u64, DbError> {
    let (mut removed, mut newest) = (0, i64::MIN);
    tx.each(
        PRUNE,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Int(before.micros()),
            Value::Int(i64::try_from(PRUNE_ROWS_MAX).unwrap_or(i64::MAX)),
        ],
        |row| {
            newest = newest.max(row.int(0)?);
            removed += 1;
            Ok(())
        },
    )?;
    if removed > 0 {
        set_horizon(tx, organization, Timestamp::from_micros(newest))?;
    }
    Ok(removed)
}

/// Events up to this time are not kept; of an organization that never lost any, the beginning of time.
pub fn horizon(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<i64, DbError> {
    let found = tx.first(
        "SELECT created_at FROM event_horizons WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )?;
    Ok(found.unwrap_or(i64::MIN))
}

/// Events up to this time are not kept. A horizon never goes back.
pub fn set_horizon(tx: &mut Tx<'_>, organization: OrganizationId, at: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO event_horizons (organization_id, created_at) VALUES (?1, ?2) \
         ON CONFLICT (organization_id) DO UPDATE SET created_at = excluded.created_at \
         WHERE event_horizons.created_at < excluded.created_at",
        &[Value::Bytes(&organization.to_bytes()), Value::Int(at.micros())],
    )
    .map(drop)
}

/// An event as it is kept, for checks.
#[derive(Debug)]
pub struct Kept<'a> {
    pub at: Timestamp,
    pub id: EventId,
    pub event_type: &'a str,
    pub resource_id: [u8; 16],
    pub document: &'a str,
}

impl Kept<'_> {
    /// Whether the document begins with the event's own id.
    pub fn has_own_id(&self) -> bool {
        leading_key(self.document.as_bytes()) == Some(self.id.to_bytes())
    }
}

/// In order.
pub fn each(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(Kept<'_>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT created_at, id, type, resource_id, document FROM events WHERE organization_id = ?1 \
         ORDER BY created_at, id",
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            let missing = |what: &str| DbError::Internal(format!("an event has no {what}"));
            visit(Kept {
                at: Timestamp::from_micros(row.int(0)?),
                id: EventId::from_bytes(row.key_opt(1)?.ok_or_else(|| missing("id"))?),
                event_type: row.text(2)?,
                resource_id: row.key_opt(3)?.ok_or_else(|| missing("resource"))?,
                document: row.text(4)?,
            })
        },
    )
}
