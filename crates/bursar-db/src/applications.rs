//! Applications for cards, of organizations that are not approved for issuing yet.

use bursar_domain::Timestamp;
use bursar_domain::card::NewCard;
use bursar_domain::ids::{ApplicationId, OrganizationId};

use crate::engine::{Tx, Value};
use crate::error::DbError;

/// Keeps an application.
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
