//! Finds things by their names. The database narrows the rows down by patterns that match whatever the case; the
//! caller decides which of them is meant, because the engines disagree about the case of letters beyond ASCII.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use bursar_domain::ids::{Id, MemberId, OrganizationId};
use bursar_domain::organization::Organization;

use crate::engine::{Row, Tx, Value};
use crate::error::DbError;
use crate::organizations;
use crate::rows::read;

/// Names of ids are looked up this many at a time.
const CHUNK_IDS: usize = 64;
/// Patterns of one query.
pub const PATTERNS_MAX: usize = 6;
/// Matches no text that is kept.
const NOTHING: &str = "\u{1}";

/// Where the names of one kind are kept.
#[derive(Debug)]
pub struct Shelf {
    table: &'static str,
    /// SQL of the name.
    name: &'static str,
    /// SQL of the name in its other order.
    turned: &'static str,
    /// SQL of the e-mail address; an empty text if the kind has none.
    address: &'static str,
    /// SQL of the phone number; an empty text if the kind has none.
    phone: &'static str,
    texts: OnceLock<Texts>,
}

#[derive(Debug)]
struct Texts {
    called: String,
    near: String,
    holding: String,
    of: String,
}

impl Shelf {
    const fn new(table: &'static str) -> Self {
        Self {
            table,
            name: "name",
            turned: "name",
            address: "''",
            phone: "''",
            texts: OnceLock::new(),
        }
    }

    fn texts(&'static self) -> &'static Texts {
        self.texts.get_or_init(|| {
            let Self {
                table,
                name,
                turned,
                address,
                phone,
                ..
            } = self;
            let columns = format!("id, {name}, {address}, {phone}");
            let all = format!("{name} || ' ' || {address}");
            // `?2` to `?7` ignore the case of ASCII, `?8` to `?13` have the case that was typed.
            let hit = |n: usize| {
                format!(
                    "CASE WHEN LOWER({all}) LIKE ?{} OR {all} LIKE ?{} THEN 1 ELSE 0 END",
                    n + 2,
                    n + 2 + PATTERNS_MAX
                )
            };
            let hits: Vec<String> = (0..PATTERNS_MAX).map(hit).collect();
            let hits = hits.join(" + ");
            let digits = "+-. ()/".chars().fold((*phone).to_owned(), |sql, sign| {
                format!("REPLACE({sql}, '{sign}', '')")
            });
            let has = |n: usize| {
                format!(
                    "AND (LOWER({all}) LIKE ?{} OR {digits} LIKE ?{})",
                    n + 2,
                    n + 2 + PATTERNS_MAX
                )
            };
            let words: Vec<String> = (0..PATTERNS_MAX).map(has).collect();
            let places: Vec<String> = (2..CHUNK_IDS + 2).map(|n| format!("?{n}")).collect();
            Texts {
                called: format!(
                    "SELECT {columns} FROM {table} WHERE organization_id = ?1 AND (LOWER({name}) LIKE ?2 \
                     OR LOWER({turned}) LIKE ?2 OR LOWER({address}) LIKE ?2) ORDER BY id"
                ),
                near: format!(
                    "SELECT {columns} FROM {table} WHERE organization_id = ?1 AND {hits} > 0 \
                     ORDER BY {hits} DESC, id LIMIT ?{}",
                    2 + 2 * PATTERNS_MAX
                ),
                holding: format!(
                    "SELECT {columns} FROM {table} WHERE organization_id = ?1 {} ORDER BY id",
                    words.join(" ")
                ),
                // So that SQLite looks each id up instead of reading the whole organization.
                of: format!(
                    "SELECT {columns} FROM {table} WHERE (organization_id = ?1) IS TRUE AND id IN ({})",
                    places.join(", ")
                ),
            }
        })
    }
}

/// Every member's first and last name.
pub fn each_member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(MemberId, String),
) -> Result<(), DbError> {
    tx.each(
        "SELECT id, first_name || ' ' || last_name FROM members WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            let (member, name) = read(row)?;
            visit(member, name);
            Ok(())
        },
    )
}

pub static MEMBERS: Shelf = Shelf {
    table: "members",
    name: "first_name || ' ' || last_name",
    turned: "last_name || ' ' || first_name",
    address: "COALESCE(email, '')",
    phone: "COALESCE(phone, '')",
    texts: OnceLock::new(),
};
pub static GROUPS: Shelf = Shelf::new("groups");
pub static CAMPAIGNS: Shelf = Shelf::new("campaigns");
pub static LISTINGS: Shelf = Shelf::new("listings");

/// A row with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    pub id: [u8; 16],
    pub name: String,
    pub address: String,
    pub phone: String,
}

impl Named {
    fn read(row: &Row<'_>) -> Result<Self, DbError> {
        let (id, name, address, phone) = read(row)?;
        Ok(Self {
            id,
            name,
            address,
            phone,
        })
    }

    pub fn id<K>(&self) -> Id<K> {
        Id::from_bytes(self.id)
    }
}

/// Rows whose name or address matches the pattern, until `visit` breaks.
pub fn called(
    tx: &mut Tx<'_>,
    shelf: &'static Shelf,
    organization: OrganizationId,
    pattern: &str,
    mut visit: impl FnMut(Named) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let params = [Value::Bytes(&organization.to_bytes()), Value::Text(pattern)];
    tx.each_until(&shelf.texts().called, &params, |row| Ok(visit(Named::read(row)?)))
}

/// Rows that match some of the patterns, those that match most first. A pattern is a pair: in lower case, and as typed.
pub fn near(
    tx: &mut Tx<'_>,
    shelf: &'static Shelf,
    organization: OrganizationId,
    patterns: &[(String, String)],
    limit: i64,
) -> Result<Vec<Named>, DbError> {
    let organization = organization.to_bytes();
    let mut params = padded(&organization, patterns, (NOTHING, NOTHING));
    params.push(Value::Int(limit));
    tx.rows(&shelf.texts().near, &params, Named::read)
}

/// Rows that match every pattern, until `visit` breaks. A pattern is a pair: for name and address, and for the digits of
/// the phone number.
pub fn holding(
    tx: &mut Tx<'_>,
    shelf: &'static Shelf,
    organization: OrganizationId,
    patterns: &[(String, String)],
    mut visit: impl FnMut(Named) -> ControlFlow<()>,
) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    let params = padded(&organization, patterns, ("%", NOTHING));
    tx.each_until(&shelf.texts().holding, &params, |row| {
        Ok(visit(Named::read(row)?))
    })
}

fn padded<'a>(
    organization: &'a [u8],
    patterns: &'a [(String, String)],
    filler: (&'a str, &'a str),
) -> Vec<Value<'a>> {
    let all = || {
        let given = patterns.iter().map(|(a, b)| (a.as_str(), b.as_str()));
        given.chain(std::iter::repeat(filler)).take(PATTERNS_MAX)
    };
    std::iter::once(Value::Bytes(organization))
        .chain(all().map(|(first, _)| Value::Text(first)))
        .chain(all().map(|(_, second)| Value::Text(second)))
        .collect()
}

/// The names of these ids, in any order. Ids of other organizations are left out.
pub fn of(
    tx: &mut Tx<'_>,
    shelf: &'static Shelf,
    organization: OrganizationId,
    ids: &[[u8; 16]],
) -> Result<Vec<Named>, DbError> {
    let organization = organization.to_bytes();
    let mut found = Vec::with_capacity(ids.len());
    for chunk in ids.chunks(CHUNK_IDS) {
        let last = chunk.last().copied().unwrap_or_default();
        let filled: Vec<[u8; 16]> = chunk
            .iter()
            .copied()
            .chain(std::iter::repeat(last))
            .take(CHUNK_IDS)
            .collect();
        let params: Vec<Value<'_>> = std::iter::once(Value::Bytes(&organization))
            .chain(filled.iter().map(|id| Value::Bytes(id)))
            .collect();
        tx.each(&shelf.texts().of, &params, |row| {
            found.push(Named::read(row)?);
            Ok(())
        })?;
    }
    Ok(found)
}

/// Organizations whose name matches the pattern, by id.
pub fn organizations(tx: &mut Tx<'_>, pattern: &str) -> Result<Vec<Organization>, DbError> {
    let mut ids: Vec<OrganizationId> = Vec::new();
    tx.each(
        "SELECT id FROM organizations WHERE LOWER(name) LIKE ?1 ORDER BY id",
        &[Value::Text(pattern)],
        |row| {
            ids.push(read(row)?);
            Ok(())
        },
    )?;
    each_of(tx, &ids)
}

/// The first organizations by id.
pub fn first_organizations(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Organization>, DbError> {
    let sql = "SELECT id FROM organizations ORDER BY id LIMIT ?1";
    let ids: Vec<OrganizationId> = tx.rows(sql, &[Value::Int(limit)], read)?;
    each_of(tx, &ids)
}

fn each_of(tx: &mut Tx<'_>, ids: &[OrganizationId]) -> Result<Vec<Organization>, DbError> {
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        found.extend(organizations::get(tx, *id)?);
    }
    Ok(found)
}
