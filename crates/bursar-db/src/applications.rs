//! Card applications of organizations that are not approved for issuing yet.

use bursar_domain::Timestamp;
use bursar_domain::card::NewCard;
use bursar_domain::ids::{ApplicationId, OrganizationId};
use bursar_domain::money::Money;

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{Columns, FromColumns, read};

pub fn insert(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: ApplicationId,
    new: &NewCard,
    now: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    let member = new.assigned_member_id.map(|id| id.to_bytes());
    tx.execute(
        "INSERT INTO card_applications (organization_id, id, created_at, status, name, spend_limit, spend_limit_frequency, \
         transaction_limit, assigned_member_id, currency) VALUES (?1, ?2, ?3, 'pending', ?4, ?5, ?6, ?7, ?8, ?9)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Int(now.micros()),
            Value::Text(&new.name),
            Value::Int(new.spend_limit.minor),
            Value::Text(new.spend_limit_frequency.as_str()),
            new.transaction_limit.map(|limit| limit.minor).into(),
            member.as_ref().into(),
            Value::Text(new.spend_limit.currency.code()),
        ],
    )
    .map(drop)
}

macro_rules! new_card_columns {
    () => {
        "currency, name, spend_limit, spend_limit_frequency, transaction_limit, assigned_member_id"
    };
}

pub fn pending(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: ApplicationId,
) -> Result<Option<NewCard>, DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.first(
        concat!(
            "SELECT ",
            new_card_columns!(),
            " FROM card_applications WHERE organization_id = ?1 AND id = ?2 AND status = 'pending'"
        ),
        &[Value::Bytes(&organization), Value::Bytes(&id)],
        read,
    )
}

/// With their status, oldest first.
pub fn all(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
) -> Result<Vec<(ApplicationId, String, NewCard)>, DbError> {
    tx.rows(
        concat!(
            "SELECT id, status, ",
            new_card_columns!(),
            " FROM card_applications WHERE organization_id = ?1 ORDER BY id"
        ),
        &[Value::Bytes(&organization.to_bytes())],
        read,
    )
}

impl FromColumns for NewCard {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (currency, name, spend_limit) = columns.next()?;
        let money = |minor| Money::new(minor, currency);
        Ok(Self {
            name,
            spend_limit: money(spend_limit),
            spend_limit_frequency: columns.next()?,
            transaction_limit: columns.next::<Option<i64>>()?.map(money),
            assigned_member_id: columns.next()?,
        })
    }
}

pub fn decide(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    id: ApplicationId,
    status: &str,
) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), id.to_bytes());
    tx.execute(
        "UPDATE card_applications SET status = ?3 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Text(status),
        ],
    )
    .map(drop)
}
