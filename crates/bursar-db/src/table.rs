//! One way to keep every resource: typed columns, which are the truth, and beside them the v1 representation as it is
//! sent. A change copies the version it replaces into `history`.

use std::sync::OnceLock;

use bursar_domain::ids::{Id, OrganizationId};
use bursar_domain::money::Currency;
use bursar_domain::resource::{Cell, FieldType};
use bursar_domain::{Resource, Stamps, Timestamp};

use crate::clock::Moment;
use crate::engine::{ColumnType, Foreseen, LoadTarget, OwnedValue, RAW_DOCUMENT, Row, Tx, Value};
use crate::error::DbError;
use crate::rows::read;

/// The columns that every resource's table starts with.
pub(crate) const COMMON: [(&str, ColumnType); 5] = [
    ("organization_id", ColumnType::Bytes),
    ("id", ColumnType::Bytes),
    ("updated_at", ColumnType::Int),
    ("created_at", ColumnType::Int),
    ("document", ColumnType::Text),
];

/// The first of them, organization and id, are a row's key.
const KEY: usize = 2;

/// The columns of `history` that every table's versions have. The first ones are a version's key.
const HISTORY: [&str; 7] = [
    "organization_id",
    "list",
    "updated_at",
    "id",
    "superseded_at",
    "epoch",
    "document",
];
const HISTORY_KEY: usize = 4;

/// The values of the common columns, without the document.
type Common<R> = (OrganizationId, Id<<R as Resource>::Kind>, Timestamp, Timestamp);

pub(crate) const fn columns<R: Resource, const N: usize>() -> [(&'static str, ColumnType); N] {
    let mut columns = [("", ColumnType::Int); N];
    let mut i = 0;
    while i < N {
        columns[i] = if i < COMMON.len() {
            COMMON[i]
        } else {
            let field = &R::FIELDS[i - COMMON.len()];
            (field.column, kind_of(field.field_type))
        };
        i += 1;
    }
    columns
}

const fn kind_of(field_type: FieldType) -> ColumnType {
    match field_type {
        FieldType::Boolean | FieldType::Integer | FieldType::Timestamp | FieldType::Money => ColumnType::Int,
        FieldType::Text | FieldType::Date | FieldType::Currency | FieldType::Word(_) | FieldType::List => {
            ColumnType::Text
        }
        FieldType::Id(_) | FieldType::Ids(_) => ColumnType::Bytes,
    }
}

#[derive(Debug)]
pub struct Table {
    pub target: LoadTarget,
    /// The table's number in `history`.
    pub list: i64,
    /// Columns that a list can be filtered by. `history` has them under the same names.
    pub filters: &'static [&'static str],
    /// The index for each set of filters, as a suffix of the table's name and of `history`. Ordered by the bits of
    /// `filters`, without the empty set.
    pub indexes: &'static [&'static str],
    pub texts: OnceLock<Texts>,
    /// For each engine and set of filters, by the bits of `filters`.
    pub walks: OnceLock<Vec<crate::walk::WalkTexts>>,
}

#[derive(Debug)]
pub struct Texts {
    insert: String,
    update: String,
    remove: String,
    supersede: String,
    get: String,
    all: String,
    everyone: String,
    document: String,
    owner: String,
    shared: String,
    in_status: String,
    count_in_status: String,
}

impl Table {
    pub(crate) fn texts(&'static self) -> &'static Texts {
        self.texts.get_or_init(|| Texts::new(self))
    }
}

impl Texts {
    fn new(table: &Table) -> Self {
        let name = table.target.table;
        let columns: Vec<&str> = table.target.columns.iter().map(|(column, _)| *column).collect();
        let listed = columns.join(", ");
        let places = (1..=columns.len())
            .map(|i| format!("?{i}"))
            .collect::<Vec<_>>()
            .join(", ");
        let sets = columns.iter().enumerate().skip(1).filter(|(_, c)| **c != "id");
        let sets = sets
            .map(|(i, c)| format!("{c} = ?{}", i + 1))
            .collect::<Vec<_>>()
            .join(", ");
        let filters: String = table.filters.iter().map(|f| format!(", {f}")).collect();
        let history_places = (1..=HISTORY.len() + table.filters.len())
            .map(|i| format!("?{i}"))
            .collect::<Vec<_>>()
            .join(", ");
        Self {
            insert: format!("INSERT INTO {name} ({listed}) VALUES ({places})"),
            update: format!("UPDATE {name} SET {sets} WHERE organization_id = ?1 AND id = ?2"),
            remove: format!("DELETE FROM {name} WHERE organization_id = ?1 AND id = ?2"),
            supersede: format!(
                "INSERT INTO history ({}{filters}) VALUES ({history_places})",
                HISTORY.join(", ")
            ),
            get: format!("SELECT {listed} FROM {name} WHERE organization_id = ?1 AND id = ?2"),
            all: format!("SELECT {listed} FROM {name} WHERE organization_id = ?1 ORDER BY id"),
            everyone: format!("SELECT {listed} FROM {name} ORDER BY id"),
            document: format!("SELECT {RAW_DOCUMENT} FROM {name} WHERE organization_id = ?1 AND id = ?2"),
            owner: format!("SELECT organization_id FROM {name} WHERE id = ?1"),
            // The keys first, which an index alone can tell. Otherwise SQLite would read rows of every status.
            in_status: format!(
                "SELECT {} FROM (SELECT updated_at AS at, id AS named FROM {name} WHERE organization_id = ?1 \
                 AND status = ?2 AND (updated_at, id) < (?3, ?4) ORDER BY updated_at DESC, id DESC LIMIT ?5) k \
                 CROSS JOIN {name} t WHERE t.organization_id = ?1 AND t.updated_at = k.at AND t.id = k.named \
                 ORDER BY k.at DESC, k.named DESC",
                columns
                    .iter()
                    .map(|c| format!("t.{c}"))
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            count_in_status: format!(
                "SELECT COUNT(*) FROM {name} WHERE organization_id = ?1 AND status = ?2"
            ),
            shared: format!("SELECT id FROM {name} GROUP BY id HAVING COUNT(*) > 1 ORDER BY id LIMIT ?1"),
        }
    }
}

/// For tests that read query plans.
pub fn statements<R: Stored>() -> [&'static str; 5] {
    let texts = R::table().texts();
    [
        &texts.get,
        &texts.document,
        &texts.owner,
        &texts.update,
        &texts.remove,
    ]
}

pub trait Stored: Resource {
    fn table() -> &'static Table;
}

pub fn row_values<R: Stored>(organization: OrganizationId, resource: &R) -> Vec<OwnedValue> {
    let stamps = resource.stamps();
    let mut values = Vec::with_capacity(COMMON.len() + R::FIELDS.len());
    values.extend([
        key(organization),
        key(resource.id()),
        int(stamps.updated_at.micros()),
        int(stamps.created_at.micros()),
        OwnedValue::Text(resource.document()),
    ]);
    values.extend(R::FIELDS.iter().map(|field| (field.cell)(resource).into()));
    values
}

impl From<Cell<'_>> for OwnedValue {
    fn from(cell: Cell<'_>) -> Self {
        match cell {
            Cell::Null => OwnedValue::Null,
            Cell::Int(value) => OwnedValue::Int(value),
            Cell::Text(text) => OwnedValue::Text(text.into_owned()),
            Cell::Bytes(bytes) => OwnedValue::Bytes(bytes.into_owned()),
        }
    }
}

/// The representation in a row's values.
pub fn document_in(values: &[OwnedValue]) -> &str {
    match values.get(COMMON.len() - 1) {
        Some(OwnedValue::Text(document)) => document,
        _ => "",
    }
}

fn take_document(mut values: Vec<OwnedValue>) -> String {
    match values.swap_remove(COMMON.len() - 1) {
        OwnedValue::Text(document) => document,
        _ => String::new(),
    }
}

/// Returns the row's representation.
pub fn insert<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    resource: &R,
) -> Result<String, DbError> {
    let values = row_values(organization, resource);
    let borrowed: Vec<Value<'_>> = values.iter().map(OwnedValue::as_value).collect();
    tx.send_of_row(KEY, &R::table().texts().insert, &borrowed)?;
    Ok(take_document(values))
}

/// Walks that began before `at` still show it: its last version goes to `history`. Returns false if there was none.
pub fn remove<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: Id<R::Kind>,
    at: Moment,
) -> Result<bool, DbError> {
    let Some(before) = get::<R>(tx, organization, id)? else {
        return Ok(false);
    };
    supersede(tx, organization, &before, at)?;
    let params = [
        Value::Bytes(&organization.to_bytes()),
        Value::Bytes(&id.to_bytes()),
    ];
    Ok(tx.execute(&R::table().texts().remove, &params)? > 0)
}

/// Replaces a version, which goes to `history`. Returns the row's representation.
pub fn update<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    before: &R,
    after: &R,
    epoch: i64,
) -> Result<String, DbError> {
    let values = row_values(organization, after);
    let borrowed: Vec<Value<'_>> = values.iter().map(OwnedValue::as_value).collect();
    let at = Moment {
        at: after.stamps().updated_at,
        epoch,
    };
    supersede(tx, organization, before, at)?;
    tx.send_update(KEY, &R::table().texts().update, &borrowed)?;
    Ok(take_document(values))
}

fn supersede<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    version: &R,
    moment: Moment,
) -> Result<(), DbError> {
    let table = R::table();
    let (organization, id, document) = (
        organization.to_bytes(),
        version.id().to_bytes(),
        version.document(),
    );
    let filters: Vec<OwnedValue> = table
        .filters
        .iter()
        .map(|filter| {
            let field = R::FIELDS.iter().find(|field| field.column == *filter);
            field.map_or(OwnedValue::Null, |field| (field.cell)(version).into())
        })
        .collect();
    let mut values = vec![
        Value::Bytes(&organization),
        Value::Int(table.list),
        Value::Int(version.stamps().updated_at.micros()),
        Value::Bytes(&id),
        Value::Int(moment.at.micros()),
        Value::Int(moment.epoch),
        Value::Text(&document),
    ];
    values.extend(filters.iter().map(OwnedValue::as_value));
    tx.send_of_row(HISTORY_KEY, &table.texts().supersede, &values)
}

pub fn get<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: Id<R::Kind>,
) -> Result<Option<R>, DbError> {
    let params = [
        Value::Bytes(&organization.to_bytes()),
        Value::Bytes(&id.to_bytes()),
    ];
    tx.first(&R::table().texts().get, &params, |row| read_row(row))
}

/// What [`get`] asks.
pub fn get_foreseen<R: Stored>(organization: OrganizationId, id: Id<R::Kind>) -> Foreseen {
    let params = [
        Value::Bytes(&organization.to_bytes()),
        Value::Bytes(&id.to_bytes()),
    ];
    Foreseen::of_row(KEY, &R::table().texts().get, &params)
}

/// The v1 representation as kept: JSON in UTF-8.
pub fn document<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: Id<R::Kind>,
) -> Result<Option<Vec<u8>>, DbError> {
    let params = [
        Value::Bytes(&organization.to_bytes()),
        Value::Bytes(&id.to_bytes()),
    ];
    tx.first(&R::table().texts().document, &params, |row| {
        row.raw(0).map(<[u8]>::to_vec)
    })
}

/// What [`document`] asks.
pub fn document_foreseen<R: Stored>(organization: OrganizationId, id: Id<R::Kind>) -> Foreseen {
    let params = [
        Value::Bytes(&organization.to_bytes()),
        Value::Bytes(&id.to_bytes()),
    ];
    Foreseen::of_row(KEY, &R::table().texts().document, &params)
}

/// A row as it is kept. Its id and document can be read even if the resource cannot.
#[derive(Debug)]
pub struct Kept<'a, R: Stored> {
    pub id: Id<R::Kind>,
    pub resource: Result<R, DbError>,
    pub document: &'a str,
}

/// By id. Includes rows that cannot be read.
pub fn each<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(Kept<'_, R>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        &R::table().texts().all,
        &[Value::Bytes(&organization.to_bytes())],
        |row| visit(read_kept(row)?),
    )
}

/// By id, for the organizations that are `wanted`. Includes rows that cannot be read. Rows of other organizations are
/// not parsed, so damage in them does not matter.
pub fn each_of_all<R: Stored>(
    tx: &mut Tx<'_>,
    wanted: impl Fn(OrganizationId) -> bool,
    mut visit: impl FnMut(OrganizationId, Kept<'_, R>) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(&R::table().texts().everyone, &[], |row| {
        let organization = read(row)?;
        match wanted(organization) {
            true => visit(organization, read_kept(row)?),
            false => Ok(()),
        }
    })
}

/// An id belongs to one organization in the whole database.
pub fn owner<R: Stored>(tx: &mut Tx<'_>, id: Id<R::Kind>) -> Result<Option<OrganizationId>, DbError> {
    tx.first(&R::table().texts().owner, &[Value::Bytes(&id.to_bytes())], read)
}

/// Ids that more than one organization has: there must be none.
pub fn shared<R: Stored>(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Id<R::Kind>>, DbError> {
    tx.rows(&R::table().texts().shared, &[Value::Int(limit)], read)
}

/// Reads whole rows of an organization; `rest` comes after the condition on it.
pub(crate) fn select<R: Stored>(rest: &str) -> String {
    let target = &R::table().target;
    let columns: Vec<&str> = target.columns.iter().map(|(column, _)| *column).collect();
    format!(
        "SELECT {} FROM {} WHERE organization_id = ?1 {rest}",
        columns.join(", "),
        target.table
    )
}

/// What a statement of [`select`] finds.
pub(crate) fn rows<R: Stored>(
    tx: &mut Tx<'_>,
    sql: &'static str,
    params: &[Value<'_>],
) -> Result<Vec<R>, DbError> {
    tx.rows(sql, params, |row| read_row(row))
}

/// Rows in a status before a place, the last changed first. Only for tables with a status.
pub(crate) fn in_status<R: Stored>() -> &'static str {
    &R::table().texts().in_status
}

pub(crate) fn count_in_status<R: Stored>() -> &'static str {
    &R::table().texts().count_in_status
}

fn read_kept<'a, R: Stored>(row: &'a Row<'_>) -> Result<Kept<'a, R>, DbError> {
    Ok(Kept {
        id: read::<Common<R>>(row)?.1,
        resource: read_row(row),
        document: row.text(COMMON.len() - 1)?,
    })
}

fn read_row<R: Stored>(row: &Row<'_>) -> Result<R, DbError> {
    let table = &R::table().target;
    let (_, id, updated_at, created_at): Common<R> = read(row)?;
    let stamps = Stamps {
        created_at,
        updated_at,
    };
    let wrong = |what: &str| DbError::Internal(format!("{id} of {} {what}", table.table));
    let columns = || (COMMON.len()..).zip(R::FIELDS);
    // Amounts are read in the row's currency. A resource without one has no amounts.
    let currency = match columns().find(|(_, field)| field.field_type == FieldType::Currency) {
        Some((column, _)) => {
            Currency::parse(row.text(column)?).ok_or_else(|| wrong("has no known currency"))?
        }
        None => Currency::USD,
    };
    let mut resource = R::blank(id, currency, stamps);
    for (column, field) in columns() {
        let cell = read_cell(row, column, kind_of(field.field_type))?;
        if !(field.load)(&mut resource, &cell, currency) {
            return Err(wrong(&format!("cannot hold what is in {}", field.column)));
        }
    }
    resource.loaded().map_err(|rule| wrong(&rule))?;
    Ok(resource)
}

pub(crate) fn read_cell<'r>(row: &Row<'r>, column: usize, kind: ColumnType) -> Result<Cell<'r>, DbError> {
    Ok(match kind {
        ColumnType::Int => row.int_opt(column)?.map_or(Cell::Null, Cell::Int),
        ColumnType::Text => row
            .text_opt(column)?
            .map_or(Cell::Null, |text| Cell::Text(text.into())),
        ColumnType::Bytes => row
            .bytes_opt(column)?
            .map_or(Cell::Null, |bytes| Cell::Bytes(bytes.into())),
    })
}

pub(crate) fn key<K>(id: Id<K>) -> OwnedValue {
    OwnedValue::Bytes(id.to_bytes().to_vec())
}

pub(crate) fn int(value: i64) -> OwnedValue {
    OwnedValue::Int(value)
}

pub(crate) fn text(value: &str) -> OwnedValue {
    OwnedValue::Text(value.to_owned())
}

pub(crate) fn text_opt(value: Option<&str>) -> OwnedValue {
    value.map_or(OwnedValue::Null, text)
}
