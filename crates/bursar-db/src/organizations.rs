//! Organizations, users, roles and policies.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use bursar_domain::Timestamp;
use bursar_domain::access::{Policy, Role, ScopeSet};
use bursar_domain::ids::{OrganizationId, UserId};
use bursar_domain::organization::{Organization, User, address_key};
use bursar_domain::zone::Zone;

use crate::engine::{Foreseen, Row, Tx, Value};
use crate::error::DbError;
use crate::rows::{Columns, FromColumns, read, record};

record! { organization_columns: Organization {
    id, name, kind, parent_id, currency, contact_email, contact_phone, card_issuing, time_zone, closed_until,
    auto_credit, auto_reference, pay_text, iban, retention_years, autopay_retries,
} }
record! { user_columns: User { id, email, name } }

macro_rules! select_organization {
    ($rest:literal) => {
        concat!("SELECT ", organization_columns!(), " FROM organizations ", $rest)
    };
}

macro_rules! select_user {
    ($rest:literal) => {
        concat!("SELECT ", user_columns!(), " FROM users ", $rest)
    };
}

const GET: &str = select_organization!("WHERE id = ?1");

pub fn get(tx: &mut Tx<'_>, id: OrganizationId) -> Result<Option<Organization>, DbError> {
    tx.first(GET, &[Value::Bytes(&id.to_bytes())], read)
}

/// What [`get`] asks.
pub fn get_foreseen(id: OrganizationId) -> Foreseen {
    Foreseen::new(GET, &[Value::Bytes(&id.to_bytes())])
}

pub fn all(tx: &mut Tx<'_>) -> Result<Vec<Organization>, DbError> {
    tx.rows(select_organization!("ORDER BY id"), &[], read)
}

/// How many members and payments there are in all organizations.
pub fn members_and_payments(tx: &mut Tx<'_>) -> Result<(i64, i64), DbError> {
    let counts = tx.first(
        "SELECT (SELECT COUNT(*) FROM members), (SELECT COUNT(*) FROM payments)",
        &[],
        read,
    )?;
    Ok(counts.unwrap_or_default())
}

/// Direct children, by id.
pub fn children(tx: &mut Tx<'_>, id: OrganizationId) -> Result<Vec<Organization>, DbError> {
    tx.rows(
        select_organization!("WHERE parent_id = ?1 ORDER BY id"),
        &[Value::Bytes(&id.to_bytes())],
        read,
    )
}

/// The time zones of some organizations.
pub(crate) fn zones(
    tx: &mut Tx<'_>,
    ids: impl Iterator<Item = OrganizationId>,
) -> Result<HashMap<OrganizationId, Zone>, DbError> {
    let mut zones = HashMap::new();
    for id in ids {
        if let Entry::Vacant(zone) = zones.entry(id) {
            let own = get(tx, id)?;
            zone.insert(own.map(|own| own.time_zone).unwrap_or_default());
        }
    }
    Ok(zones)
}

pub fn clock(tx: &mut Tx<'_>, id: OrganizationId) -> Result<Option<i64>, DbError> {
    tx.first(
        "SELECT clock FROM organizations WHERE id = ?1",
        &[Value::Bytes(&id.to_bytes())],
        read,
    )
}

/// The number of the organization's last creditor reference.
pub fn last_reference(tx: &mut Tx<'_>, id: OrganizationId) -> Result<i64, DbError> {
    let sql = "SELECT last_reference FROM organizations WHERE id = ?1";
    let found = tx.first(sql, &[Value::Bytes(&id.to_bytes())], read)?;
    Ok(found.unwrap_or(0))
}

/// An organization's change clock and its open epoch of history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub clock: i64,
    /// The epoch of versions superseded from now on.
    pub epoch: i64,
    /// The largest `superseded_at` of the pruned versions. A walk with an older watermark may miss rows.
    pub horizon: i64,
}

/// For the organization `?1`.
macro_rules! reading_columns {
    () => {
        "(SELECT clock FROM organizations WHERE id = ?1), (SELECT epoch FROM organizations WHERE id = ?1), \
         COALESCE((SELECT superseded_at FROM history_horizons WHERE organization_id = ?1), 0)"
    };
}
pub(crate) use reading_columns;

impl Reading {
    /// `first` is the number of the first column. `None` if there is no such organization.
    pub(crate) fn read(row: &Row<'_>, first: usize) -> Result<Option<Self>, DbError> {
        let Some(clock) = row.int_opt(first)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            clock,
            epoch: row.int(first + 1)?,
            horizon: row.int(first + 2)?,
        }))
    }
}

/// Remembered until something is committed.
pub fn reading(tx: &mut Tx<'_>, id: OrganizationId) -> Result<Option<Reading>, DbError> {
    let id = id.to_bytes();
    let mut key = *b"the change clock of             ";
    key[16..].copy_from_slice(&id);
    let known = tx.remembered(key, |tx| {
        let sql = concat!("SELECT ", reading_columns!());
        tx.first(sql, &[Value::Bytes(&id)], |row| Reading::read(row, 0))
            .map(Option::flatten)
    })?;
    Ok(known.map(|reading| *reading))
}

pub fn insert(tx: &mut Tx<'_>, organization: &Organization, clock: Timestamp) -> Result<(), DbError> {
    write(
        tx,
        "INSERT INTO organizations (id, name, kind, parent_id, currency, contact_email, contact_phone, card_issuing, \
         time_zone, closed_until, auto_credit, auto_reference, pay_text, iban, retention_years, autopay_retries, clock) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        organization,
        Some(clock),
    )
}

/// Does not change the clock.
pub fn update(tx: &mut Tx<'_>, organization: &Organization) -> Result<(), DbError> {
    write(
        tx,
        "UPDATE organizations SET name = ?2, kind = ?3, parent_id = ?4, currency = ?5, contact_email = ?6, \
         contact_phone = ?7, card_issuing = ?8, time_zone = ?9, closed_until = ?10, auto_credit = ?11, \
         auto_reference = ?12, pay_text = ?13, iban = ?14, retention_years = ?15, autopay_retries = ?16 WHERE id = ?1",
        organization,
        None,
    )
}

fn write(
    tx: &mut Tx<'_>,
    sql: &'static str,
    organization: &Organization,
    clock: Option<Timestamp>,
) -> Result<(), DbError> {
    let (id, parent) = (
        organization.id.to_bytes(),
        organization.parent_id.map(|id| id.to_bytes()),
    );
    let autopay_retries = organization.autopay_retries.to_string();
    let closed_until = organization.closed_until.map(|day| day.to_string());
    let mut params = vec![
        Value::Bytes(&id),
        Value::Text(&organization.name),
        Value::Text(organization.kind.as_str()),
        parent.as_ref().into(),
        Value::Text(organization.currency.code()),
        organization.contact_email.as_deref().into(),
        organization.contact_phone.as_deref().into(),
        Value::Text(organization.card_issuing.as_str()),
        Value::Text(organization.time_zone.name()),
        closed_until.as_deref().into(),
        Value::Int(i64::from(organization.auto_credit)),
        Value::Int(i64::from(organization.auto_reference)),
        organization.pay_text.as_deref().into(),
        organization.iban.as_deref().into(),
        Value::Int(organization.retention_years),
        Value::Text(&autopay_retries),
    ];
    params.extend(clock.map(|clock| Value::Int(clock.micros())));
    tx.execute(sql, &params).map(drop)
}

pub fn user(tx: &mut Tx<'_>, id: UserId) -> Result<Option<User>, DbError> {
    tx.first(
        select_user!("WHERE id = ?1"),
        &[Value::Bytes(&id.to_bytes())],
        read,
    )
}

/// Ignores case.
pub fn user_by_email(tx: &mut Tx<'_>, email: &str) -> Result<Option<User>, DbError> {
    let key = address_key(email);
    tx.first(select_user!("WHERE address_key = ?1"), &[Value::Text(&key)], read)
}

pub fn users(tx: &mut Tx<'_>) -> Result<Vec<User>, DbError> {
    tx.rows(select_user!("ORDER BY id"), &[], read)
}

/// Returns the user with this address, added if there is none. Safe if several try at once.
pub fn user_or_insert(tx: &mut Tx<'_>, user: &User) -> Result<User, DbError> {
    if let Some(found) = user_by_email(tx, &user.email)? {
        return Ok(found);
    }
    write_user(
        tx,
        "INSERT INTO users (id, email, address_key, name) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (address_key) DO NOTHING",
        user,
    )?;
    let gone = || DbError::Unavailable("the user was changed at this very moment".to_owned());
    user_by_email(tx, &user.email)?.ok_or_else(gone)
}

pub fn insert_user(tx: &mut Tx<'_>, user: &User) -> Result<(), DbError> {
    write_user(
        tx,
        "INSERT INTO users (id, email, address_key, name) VALUES (?1, ?2, ?3, ?4)",
        user,
    )
}

/// Frees a user's address for somebody else until [`update_user`] sets another one.
pub fn give_up_address(tx: &mut Tx<'_>, id: UserId) -> Result<(), DbError> {
    // An address has an @, an id has none.
    let (key, id) = (id.to_string(), id.to_bytes());
    tx.execute(
        "UPDATE users SET address_key = ?2 WHERE id = ?1",
        &[Value::Bytes(&id), Value::Text(&key)],
    )
    .map(drop)
}

pub fn update_user(tx: &mut Tx<'_>, user: &User) -> Result<(), DbError> {
    write_user(
        tx,
        "UPDATE users SET email = ?2, address_key = ?3, name = ?4 WHERE id = ?1",
        user,
    )
}

/// The parameters are the columns in the order id, email, address_key, name.
fn write_user(tx: &mut Tx<'_>, sql: &'static str, user: &User) -> Result<(), DbError> {
    let (id, key) = (user.id.to_bytes(), address_key(&user.email));
    let params = [
        Value::Bytes(&id),
        Value::Text(&user.email),
        Value::Text(&key),
        user.name.as_deref().into(),
    ];
    tx.execute(sql, &params).map(drop)
}

pub fn role(tx: &mut Tx<'_>, organization: OrganizationId, user: UserId) -> Result<Option<Role>, DbError> {
    let (organization, user) = (organization.to_bytes(), user.to_bytes());
    tx.first(
        "SELECT role FROM roles WHERE organization_id = ?1 AND user_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&user)],
        read,
    )
}

/// The organizations where the user has a role, by name.
pub fn places(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<(Organization, Role)>, DbError> {
    let sql = concat!(
        "SELECT ",
        organization_columns!(),
        ", role FROM roles JOIN organizations ON id = organization_id WHERE user_id = ?1 ORDER BY name, id",
    );
    tx.rows(sql, &[Value::Bytes(&user.to_bytes())], read)
}

pub fn roles(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<(UserId, Role)>, DbError> {
    tx.rows(
        "SELECT user_id, role FROM roles WHERE organization_id = ?1 ORDER BY user_id",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

pub fn set_role(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    user: UserId,
    role: Role,
) -> Result<(), DbError> {
    let (organization, user) = (organization.to_bytes(), user.to_bytes());
    tx.execute(
        "INSERT INTO roles (organization_id, user_id, role) VALUES (?1, ?2, ?3) \
         ON CONFLICT (organization_id, user_id) DO UPDATE SET role = excluded.role",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&user),
            Value::Text(role.as_str()),
        ],
    )
    .map(drop)
}

/// Returns false if there was none.
pub fn remove_role(tx: &mut Tx<'_>, organization: OrganizationId, user: UserId) -> Result<bool, DbError> {
    let (organization, user) = (organization.to_bytes(), user.to_bytes());
    let rows = tx.execute(
        "DELETE FROM roles WHERE organization_id = ?1 AND user_id = ?2",
        &[Value::Bytes(&organization), Value::Bytes(&user)],
    )?;
    Ok(rows > 0)
}

pub fn policy(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Option<Policy>, DbError> {
    tx.first(
        "SELECT blocked_scopes, max_token_days FROM policies WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

/// Both columns are NULL if an organization has set none.
impl FromColumns for Policy {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (blocked_scopes, max_token_days): (Option<ScopeSet>, _) = columns.next()?;
        Ok(Self {
            blocked_scopes: blocked_scopes.unwrap_or_default(),
            max_token_days,
        })
    }
}

pub fn set_policy(tx: &mut Tx<'_>, organization: OrganizationId, policy: Policy) -> Result<(), DbError> {
    let organization = organization.to_bytes();
    tx.execute(
        "INSERT INTO policies (organization_id, blocked_scopes, max_token_days) VALUES (?1, ?2, ?3) \
         ON CONFLICT (organization_id) DO UPDATE SET blocked_scopes = excluded.blocked_scopes, max_token_days = excluded.max_token_days",
        &[
            Value::Bytes(&organization),
            Value::Int(policy.blocked_scopes.bits()),
            policy.max_token_days.map(i64::from).into(),
        ],
    )
    .map(drop)
}
