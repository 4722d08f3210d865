//! Cards by holder.

use bursar_domain::ids::{CardId, MemberId, OrganizationId};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;

pub fn active_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Vec<CardId>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.rows(
        "SELECT id FROM cards WHERE organization_id = ?1 AND status = 'active' AND assigned_member_id = ?2 ORDER BY id",
        &[Value::Bytes(&organization), Value::Bytes(&member)],
        read,
    )
}
