//! Charges that are late, and the groups that have a fee for it.

use bursar_domain::ids::{GroupId, OrganizationId, PaymentId};
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Timestamp};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::organizations;
use crate::rows::read;

/// A group whose late charges are to be looked for on a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateWork {
    pub next: Date,
    pub organization: OrganizationId,
    pub group: GroupId,
    /// The organization's. Its day may not have come yet.
    pub zone: Zone,
}

const GROUPS: &str = "SELECT late_next, organization_id, id FROM groups \
     WHERE late_next <= ?1 AND (late_next, organization_id, id) > (?2, ?3, ?4) \
     ORDER BY late_next, organization_id, id LIMIT ?5";

/// Groups of all organizations to look at by `latest`, longest due first.
pub fn groups(
    tx: &mut Tx<'_>,
    latest: Date,
    after: Option<&LateWork>,
    limit: i64,
) -> Result<Vec<LateWork>, DbError> {
    let latest = latest.to_string();
    let (date, organization, group) = after.map_or_else(
        || (String::new(), Vec::new(), Vec::new()),
        |work| {
            let (organization, group) = (work.organization.to_bytes(), work.group.to_bytes());
            (work.next.to_string(), organization.to_vec(), group.to_vec())
        },
    );
    let params = [
        Value::Text(&latest),
        Value::Text(&date),
        Value::Bytes(&organization),
        Value::Bytes(&group),
        Value::Int(limit),
    ];
    let found: Vec<(Date, OrganizationId, GroupId)> = tx.rows(GROUPS, &params, read)?;
    let zones = organizations::zones(tx, found.iter().map(|(_, organization, _)| *organization))?;
    let work = |(next, organization, group)| LateWork {
        next,
        organization,
        group,
        zone: zones[&organization].clone(),
    };
    Ok(found.into_iter().map(work).collect())
}

/// Which charges of a group are late.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    pub organization: OrganizationId,
    pub group: GroupId,
    /// Due on this day or before.
    pub last_due: Date,
    /// Charges that were due before this day and made before `since` are left alone.
    pub first_due: Date,
    pub since: Timestamp,
}

/// Read from the index of what is owed, by due day. `IS TRUE` hides the group, because another index with it leads to
/// everything that was ever due.
const CHARGES: &str = "SELECT p.due_date, p.id FROM payments p WHERE p.organization_id = ?1 \
     AND COALESCE(p.due_date, '9999-12-31') >= ?3 AND COALESCE(p.due_date, '9999-12-31') <= ?5 \
     AND p.status IN ('pending', 'partially_paid', 'failed') AND p.amount > p.paid_to_date \
     AND (p.group_id = ?2) IS TRUE AND (p.fee_of IS NULL) IS TRUE AND (p.due_date > ?3 OR p.id > ?4) \
     AND (p.due_date >= ?6 OR p.created_at >= ?7) \
     AND NOT EXISTS (SELECT 1 FROM payments f WHERE f.organization_id = ?1 AND f.fee_of = p.id) \
     ORDER BY COALESCE(p.due_date, '9999-12-31'), p.id LIMIT ?8";

/// Charges that are open and late and never had a fee, by due day and id. A fee that was cancelled counts: an officer
/// cancelled it for a reason.
pub fn charges(
    tx: &mut Tx<'_>,
    late: &Late,
    after: Option<(Date, PaymentId)>,
    limit: i64,
) -> Result<Vec<(Date, PaymentId)>, DbError> {
    let (organization, group) = (late.organization.to_bytes(), late.group.to_bytes());
    let (due, id) = after.map_or_else(
        || (String::new(), Vec::new()),
        |(due, id)| (due.to_string(), id.to_bytes().to_vec()),
    );
    let (last_due, first_due) = (late.last_due.to_string(), late.first_due.to_string());
    tx.rows(
        CHARGES,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&due),
            Value::Bytes(&id),
            Value::Text(&last_due),
            Value::Text(&first_due),
            Value::Int(late.since.micros()),
            Value::Int(limit),
        ],
        read,
    )
}

/// No representation shows it, so no stamp moves.
pub fn look_next(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    next: Option<Date>,
) -> Result<(), DbError> {
    let (organization, group) = (organization.to_bytes(), group.to_bytes());
    let next = next.map(|day| day.to_string());
    tx.execute(
        "UPDATE groups SET late_next = ?3 WHERE organization_id = ?1 AND id = ?2",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            next.as_deref().into(),
        ],
    )
    .map(drop)
}

/// A charge was made or moved that may be late at once.
pub fn look_again(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    today: Date,
) -> Result<(), DbError> {
    let (organization, group, today) = (organization.to_bytes(), group.to_bytes(), today.to_string());
    tx.execute(
        "UPDATE groups SET late_next = ?3 WHERE organization_id = ?1 AND id = ?2 AND late_next > ?3",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&today),
        ],
    )
    .map(drop)
}

/// Leaves alone what was late before this moment.
pub fn leave_what_was_late(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    now: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE groups SET late_since = ?2 WHERE organization_id = ?1 AND late_since < ?2",
        &[Value::Bytes(&organization.to_bytes()), Value::Int(now.micros())],
    )
    .map(drop)
}

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 2] {
    [("groups with late fees", GROUPS), ("late charges", CHARGES)]
}
