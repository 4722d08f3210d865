//! Who is in which group: leads from a group to its members. A member's row names its groups too.

use std::ops::Range;

use bursar_domain::Timestamp;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId};

use crate::engine::{ColumnType, LoadTarget, OwnedValue, Tx, Value};
use crate::error::DbError;
use crate::rows::read;

pub static MEMBERSHIPS: LoadTarget = LoadTarget {
    table: "memberships",
    columns: &[
        ("organization_id", ColumnType::Bytes),
        ("group_id", ColumnType::Bytes),
        ("member_id", ColumnType::Bytes),
        ("joined_at", ColumnType::Int),
    ],
};

/// A row for [`MEMBERSHIPS`].
pub fn row_values(
    organization: OrganizationId,
    group: GroupId,
    member: MemberId,
    joined_at: Timestamp,
) -> Vec<OwnedValue> {
    vec![
        OwnedValue::Bytes(organization.to_bytes().to_vec()),
        OwnedValue::Bytes(group.to_bytes().to_vec()),
        OwnedValue::Bytes(member.to_bytes().to_vec()),
        OwnedValue::Int(joined_at.micros()),
    ]
}

pub fn add(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    member: MemberId,
    joined_at: Timestamp,
) -> Result<(), DbError> {
    let (organization, group, member) = (organization.to_bytes(), group.to_bytes(), member.to_bytes());
    tx.execute(
        "INSERT INTO memberships (organization_id, group_id, member_id, joined_at) VALUES (?1, ?2, ?3, ?4)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Bytes(&member),
            Value::Int(joined_at.micros()),
        ],
    )
    .map(drop)
}

/// Returns false if the member was not in the group.
pub fn remove(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    member: MemberId,
) -> Result<bool, DbError> {
    let (organization, group, member) = (organization.to_bytes(), group.to_bytes(), member.to_bytes());
    let rows = tx.execute(
        "DELETE FROM memberships WHERE organization_id = ?1 AND group_id = ?2 AND member_id = ?3",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Bytes(&member),
        ],
    )?;
    Ok(rows > 0)
}

pub(crate) const PAGE: &str = "SELECT member_id FROM memberships WHERE organization_id = ?1 AND group_id = ?2 AND member_id > ?3 \
     AND joined_at >= ?4 AND joined_at < ?5 ORDER BY member_id LIMIT ?6";

/// Members who joined in this time, including archived ones, by id.
pub fn page(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    joined: &Range<Timestamp>,
    after: Option<MemberId>,
    limit: i64,
) -> Result<Vec<MemberId>, DbError> {
    let (organization, group) = (organization.to_bytes(), group.to_bytes());
    let after = after.map(|id| id.to_bytes());
    tx.rows(
        PAGE,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Bytes(after.as_ref().map_or(&[][..], |key| &key[..])),
            Value::Int(joined.start.micros()),
            Value::Int(joined.end.micros()),
            Value::Int(limit),
        ],
        read,
    )
}

pub fn joined_at(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    member: MemberId,
) -> Result<Option<Timestamp>, DbError> {
    let (organization, group, member) = (organization.to_bytes(), group.to_bytes(), member.to_bytes());
    tx.first(
        "SELECT joined_at FROM memberships WHERE organization_id = ?1 AND group_id = ?2 AND member_id = ?3",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Bytes(&member),
        ],
        read,
    )
}

pub fn count_active(tx: &mut Tx<'_>, organization: OrganizationId, group: GroupId) -> Result<i64, DbError> {
    let (organization, group) = (organization.to_bytes(), group.to_bytes());
    let count = tx.first(
        "SELECT COUNT(*) FROM memberships s JOIN members m ON m.organization_id = s.organization_id AND m.id = s.member_id \
         WHERE s.organization_id = ?1 AND s.group_id = ?2 AND m.is_active = 1",
        &[Value::Bytes(&organization), Value::Bytes(&group)],
        read,
    )?;
    Ok(count.unwrap_or(0))
}

pub fn each(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(GroupId, MemberId) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT group_id, member_id FROM memberships WHERE organization_id = ?1 ORDER BY group_id, member_id",
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            let (group, member) = read(row)?;
            visit(group, member)
        },
    )
}
