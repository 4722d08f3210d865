//! What falls due without a request: reminders, dues and ends of campaigns.

use std::collections::HashSet;
use std::ops::Range;

use bursar_domain::ids::{CampaignId, GroupId, MemberId, OrganizationId, ReminderId};
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Timestamp};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;
use crate::{memberships, organizations, recipients};

/// Longest due first, without those held for send-now.
pub fn reminders(
    tx: &mut Tx<'_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(OrganizationId, ReminderId)>, DbError> {
    tx.rows(
        "SELECT organization_id, id FROM reminders WHERE status = 'scheduled' AND is_held = 0 AND scheduled_at <= ?1 \
         ORDER BY scheduled_at LIMIT ?2",
        &[Value::Int(now.micros()), Value::Int(limit)],
        read,
    )
}

/// Dues to raise, or a due day to close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuesWork {
    pub due: Date,
    pub organization: OrganizationId,
    pub group: GroupId,
    /// The dues were raised on this day, which is closed once it is over.
    pub is_raised: bool,
    /// The day on which it is to be done.
    from: Date,
    /// The organization's. The day may not have come yet there.
    zone: Zone,
}

impl DuesWork {
    /// Whether its day has come where the organization is.
    pub fn is_time(&self, now: Timestamp) -> bool {
        self.from <= self.zone.date(now)
    }
}

/// Dues to raise by `latest`, and due days before it to close, longest due first. Dues before `dues_from` are never
/// raised; a series continues from there.
pub fn dues(
    tx: &mut Tx<'_>,
    latest: Date,
    after: Option<&DuesWork>,
    limit: i64,
) -> Result<Vec<DuesWork>, DbError> {
    let latest = latest.to_string();
    let (date, organization, group) = after.map_or_else(
        || (String::new(), Vec::new(), Vec::new()),
        |work| {
            let (organization, group) = (work.organization.to_bytes(), work.group.to_bytes());
            (work.due.to_string(), organization.to_vec(), group.to_vec())
        },
    );
    let found: Vec<(Date, OrganizationId, GroupId, bool, Date)> = tx.rows(
        "SELECT due_date, organization_id, group_id, 1, due_date FROM dues_open \
         WHERE due_date < ?1 AND (due_date, organization_id, group_id) > (?2, ?3, ?4) \
         UNION ALL SELECT due_date, organization_id, id, 0, \
         CASE WHEN dues_from > due_date THEN dues_from ELSE due_date END FROM groups \
         WHERE amount_due > 0 AND due_date <= ?1 \
         AND (dues_from IS NULL OR dues_from <= due_date OR (is_recurring = 1 AND dues_from <= ?1)) \
         AND (due_date, organization_id, id) > (?2, ?3, ?4) ORDER BY 1, 2, 3, 4 DESC LIMIT ?5",
        &[
            Value::Text(&latest),
            Value::Text(&date),
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Int(limit),
        ],
        read,
    )?;
    let zones = organizations::zones(tx, found.iter().map(|row| row.1))?;
    let work = |(due, organization, group, is_raised, from): (Date, _, _, _, Date)| DuesWork {
        due,
        organization,
        group,
        is_raised,
        from: if is_raised { from.plus_days(1) } else { from },
        zone: zones[&organization].clone(),
    };
    Ok(found.into_iter().map(work).collect())
}

/// Records that dues were raised for a day on which others can still join, and their amount.
pub fn keep_open(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Date,
    amount: i64,
) -> Result<(), DbError> {
    let (organization, group, due) = (organization.to_bytes(), group.to_bytes(), due.to_string());
    tx.execute(
        "INSERT INTO dues_open (organization_id, group_id, due_date, amount) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (organization_id, group_id, due_date) DO UPDATE SET amount = excluded.amount",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&due),
            Value::Int(amount),
        ],
    )
    .map(drop)
}

pub fn open_amount(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Date,
) -> Result<Option<i64>, DbError> {
    let (organization, group, due) = (organization.to_bytes(), group.to_bytes(), due.to_string());
    tx.first(
        "SELECT amount FROM dues_open WHERE organization_id = ?1 AND group_id = ?2 AND due_date = ?3",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Text(&due),
        ],
        read,
    )
}

/// Removes what [`keep_open`] recorded: one day, or all of a group.
pub fn close(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Option<Date>,
) -> Result<(), DbError> {
    let (organization, group) = (organization.to_bytes(), group.to_bytes());
    let due = due.map(|due| due.to_string());
    tx.execute(
        "DELETE FROM dues_open WHERE organization_id = ?1 AND group_id = ?2 AND due_date = COALESCE(?3, due_date)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            due.as_deref().into(),
        ],
    )
    .map(drop)
}

/// Active members by id, with their names, who joined in this time and have no dues of this group and day. Cancelled dues
/// count: an officer cancelled them for a reason.
pub fn uncharged(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    due: Date,
    joined: Range<Timestamp>,
    after: Option<MemberId>,
    limit: i64,
) -> Result<Vec<(MemberId, String)>, DbError> {
    let due = due.to_string();
    let period = (organization, group, due.as_str());
    let found = recipients::paged(
        tx,
        organization,
        group,
        (&joined, after, limit),
        |tx, after, ids| {
            let Some(last) = ids.last() else {
                return Ok(Vec::new());
            };
            let mut charged = HashSet::new();
            note_charged(tx, period, (after, *last), &mut charged)?;
            let uncharged: Vec<MemberId> = ids.iter().copied().filter(|id| !charged.contains(id)).collect();
            recipients::active(tx, organization, &uncharged)
        },
    )?;
    Ok(found
        .into_iter()
        .map(|candidate| (candidate.id, candidate.name()))
        .collect())
}

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 5] {
    [
        ("members of a group", memberships::PAGE),
        ("members by id", recipients::by_id()),
        ("members who owe", recipients::owing()),
        ("members with a payer", recipients::paid_for()),
        ("members with dues", CHARGED),
    ]
}

/// The members in a range who have dues of a group and day. As a range of row values it is read from the one
/// index that has that day. To a planner without statistics another index looks as good, but it leads to the payments of
/// all members. The limit keeps a planner with statistics from reading the table.
const CHARGED: &str = "SELECT member_id FROM payments WHERE organization_id = ?1 \
     AND (dues_for, group_id, member_id) > (?3, ?2, ?4) AND (dues_for, group_id, member_id) <= (?3, ?2, ?5) \
     ORDER BY dues_for, group_id, member_id LIMIT ?6";
const CHARGED_ROWS: usize = 500;

fn note_charged(
    tx: &mut Tx<'_>,
    (organization, group, due): (OrganizationId, GroupId, &str),
    (mut after, last): (Option<MemberId>, MemberId),
    charged: &mut HashSet<MemberId>,
) -> Result<(), DbError> {
    let (organization, group, last) = (organization.to_bytes(), group.to_bytes(), last.to_bytes());
    loop {
        let from = after.map(|id| id.to_bytes());
        let found = tx.rows(
            CHARGED,
            &[
                Value::Bytes(&organization),
                Value::Bytes(&group),
                Value::Text(due),
                Value::Bytes(from.as_ref().map_or(&[][..], |key| &key[..])),
                Value::Bytes(&last),
                Value::Int(i64::try_from(CHARGED_ROWS).unwrap_or(i64::MAX)),
            ],
            read,
        )?;
        after = found.last().copied();
        let is_last = found.len() < CHARGED_ROWS;
        charged.extend(found);
        if is_last {
            return Ok(());
        }
    }
}

/// Active campaigns whose last day is over where their organization is, without those that were over when they were
/// imported.
pub fn campaigns(
    tx: &mut Tx<'_>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(OrganizationId, CampaignId)>, DbError> {
    let (latest, most) = (
        Zone::latest_date(now).to_string(),
        usize::try_from(limit).unwrap_or(0),
    );
    let (mut over, mut after) = (Vec::new(), (String::new(), Vec::new(), Vec::new()));
    loop {
        let found: Vec<(Date, OrganizationId, CampaignId)> = tx.rows(
            "SELECT end_date, organization_id, id FROM campaigns \
             WHERE status = 'active' AND is_held = 0 AND end_date < ?1 AND end_date >= ?2 \
             AND (end_date, organization_id, id) > (?2, ?3, ?4) ORDER BY end_date, organization_id, id LIMIT ?5",
            &[
                Value::Text(&latest),
                Value::Text(&after.0),
                Value::Bytes(&after.1),
                Value::Bytes(&after.2),
                Value::Int(limit),
            ],
            read,
        )?;
        let zones = organizations::zones(tx, found.iter().map(|row| row.1))?;
        let is_over = |(end, organization, _): &&_| *end < zones[organization].date(now);
        over.extend(
            found
                .iter()
                .filter(is_over)
                .map(|(_, organization, id)| (*organization, *id)),
        );
        let Some((end, organization, id)) = found.last().filter(|_| found.len() == most && over.len() < most)
        else {
            over.truncate(most);
            return Ok(over);
        };
        after = (
            end.to_string(),
            organization.to_bytes().to_vec(),
            id.to_bytes().to_vec(),
        );
    }
}

/// No representation shows it, so no stamp moves.
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
