//! What falls due by itself: reminders and dues.

use bursar_domain::ids::{CampaignId, GroupId, MemberId, OrganizationId, PaymentId, ReminderId};
use bursar_domain::{Date, Timestamp};

use crate::engine::{Tx, Value};
use crate::error::DbError;

/// Scheduled reminders whose time has come, the longest due first. Those that wait for send-now are not among them.
pub fn reminders(
    tx: &mut Tx<'_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(OrganizationId, ReminderId)>, DbError> {
    tx.rows(
        "SELECT organization_id, id FROM reminders WHERE status = 'scheduled' AND is_held = 0 AND scheduled_at <= ?1 \
         ORDER BY scheduled_at LIMIT ?2",
        &[Value::Int(now.micros()), Value::Int(limit)],
        |row| Ok((OrganizationId::from_bytes(row.key(0)?), ReminderId::from_bytes(row.key(1)?))),
    )
}

/// Groups whose dues fall due by `today`, the longest due first. Dues of a time before `dues_from` never do; a series
/// goes on from there.
pub fn groups(tx: &mut Tx<'_>, today: Date, limit: i64) -> Result<Vec<(OrganizationId, GroupId)>, DbError> {
    let today = today.to_string();
    tx.rows(
        "SELECT organization_id, id FROM groups WHERE amount_due IS NOT NULL AND amount_due > 0 AND due_date <= ?1 \
         AND (dues_from IS NULL OR dues_from <= due_date OR (is_recurring = 1 AND dues_from <= ?1)) ORDER BY due_date LIMIT ?2",
        &[Value::Text(&today), Value::Int(limit)],
        |row| Ok((OrganizationId::from_bytes(row.key(0)?), GroupId::from_bytes(row.key(1)?))),
    )
}

/// Up to `limit` active members of a group with their names, by id, after `after`, who joined it before
/// `joined_before`, were not charged by [`raised`] and have no payment for this group and due date.
pub fn uncharged(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Date,
    joined_before: Timestamp,
    after: Option<MemberId>,
    limit: i64,
) -> Result<Vec<(MemberId, String)>, DbError> {
    let (organization, group, due) = (organization.to_bytes(), group.to_bytes(), due.to_string());
    let after = after.map(|id| id.to_bytes());
    let after = after.as_ref().map_or(&[][..], |key| &key[..]);
    tx.rows(
        "SELECT s.member_id, m.first_name, m.last_name FROM memberships s \
         JOIN members m ON m.organization_id = s.organization_id AND m.id = s.member_id \
         WHERE s.organization_id = ?1 AND s.group_id = ?2 AND s.member_id > ?3 AND s.joined_at < ?4 AND m.is_active = 1 \
         AND NOT EXISTS (SELECT 1 FROM payments p WHERE p.organization_id = ?1 AND p.group_id = ?2 AND p.due_date = ?5 \
         AND p.member_id = s.member_id) \
         AND NOT EXISTS (SELECT 1 FROM dues_raised r WHERE r.organization_id = ?1 AND r.group_id = ?2 AND r.due_date = ?5 \
         AND r.member_id = s.member_id) ORDER BY s.member_id LIMIT ?6",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Bytes(after),
            Value::Int(joined_before.micros()),
            Value::Text(&due),
            Value::Int(limit),
        ],
        |row| {
            let name = format!("{} {}", row.text(1)?, row.text(2)?);
            Ok((MemberId::from_bytes(row.key(0)?), name))
        },
    )
}

/// Writes down which payment the dues of a member for a period are. The key refuses a second one, whoever tries.
pub fn raised(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Date,
    member: MemberId,
    payment: PaymentId,
) -> Result<(), DbError> {
    let (organization, group, due) = (organization.to_bytes(), group.to_bytes(), due.to_string());
    let (member, payment) = (member.to_bytes(), payment.to_bytes());
    tx.execute(
        "INSERT INTO dues_raised (organization_id, group_id, due_date, member_id, payment_id) VALUES (?1, ?2, ?3, ?4, ?5)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&due),
            Value::Bytes(&member),
            Value::Bytes(&payment),
        ],
    )
    .map(drop)
}

/// Gives each charge that [`raised`] wrote down to `visit`.
pub fn each_raised(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut visit: impl FnMut(GroupId, MemberId, PaymentId) -> Result<(), DbError>,
) -> Result<(), DbError> {
    tx.each(
        "SELECT group_id, member_id, payment_id FROM dues_raised WHERE organization_id = ?1",
        &[Value::Bytes(&organization.to_bytes())],
        |row| {
            visit(
                GroupId::from_bytes(row.key(0)?),
                MemberId::from_bytes(row.key(1)?),
                PaymentId::from_bytes(row.key(2)?),
            )
        },
    )
}

/// Active campaigns whose last day lies before `today`, those aside whose last day was over when they were imported.
pub fn campaigns(
    tx: &mut Tx<'_>,
    today: Date,
    limit: i64,
) -> Result<Vec<(OrganizationId, CampaignId)>, DbError> {
    let today = today.to_string();
    tx.rows(
        "SELECT organization_id, id FROM campaigns WHERE status = 'active' AND is_held = 0 AND end_date < ?1 ORDER BY end_date LIMIT ?2",
        &[Value::Text(&today), Value::Int(limit)],
        |row| Ok((OrganizationId::from_bytes(row.key(0)?), CampaignId::from_bytes(row.key(1)?))),
    )
}

/// Writes down from which day on a group's dues are raised. It is part of no representation, so nothing moves.
pub fn set_dues_from(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    from: Option<Date>,
) -> Result<(), DbError> {
    let (organization, group) = (organization.to_bytes(), group.to_bytes());
    let from = from.map(|day| day.to_string());
    tx.execute(
        "UPDATE groups SET dues_from = ?3 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            from.as_deref().into(),
        ],
    )
    .map(drop)
}
