//! Whom a reminder reaches, and what they owe.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::OnceLock;

use bursar_domain::ids::{GroupId, MemberId, OrganizationId};
use bursar_domain::{Date, Timestamp};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::memberships;
use crate::rows::{read, record};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub id: MemberId,
    pub first_name: String,
    pub last_name: String,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub payer_id: Option<MemberId>,
    pub reference: Option<String>,
}

impl Candidate {
    pub fn name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }
}

record! { candidate_columns: Candidate { id, first_name, last_name, email, phone, payer_id, reference } }

/// The most members in one statement.
const LOOK_UP: usize = 50;
/// Members read before checking whether there are enough.
const PAGE_ROWS: i64 = 500;
const EVER: Range<Timestamp> = Timestamp::from_micros(i64::MIN)..Timestamp::from_micros(i64::MAX);

fn places(first: usize) -> String {
    let places: Vec<String> = (first..first + LOOK_UP)
        .map(|place| format!("?{place}"))
        .collect();
    places.join(", ")
}

/// A planner without statistics takes every condition on an index's first columns for selective, and would read all
/// active members of the organization. So it only sees the ids: `IS TRUE` hides the rest.
pub(crate) fn by_id() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!(
            "SELECT is_active, {} FROM members WHERE (organization_id = ?1) IS TRUE AND id IN ({})",
            candidate_columns!(),
            places(2)
        )
    })
}

/// Which of these members owe the group something. Here the organization and the members lead to the index.
pub(crate) fn owing() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!(
            "SELECT DISTINCT member_id FROM payments WHERE organization_id = ?1 AND (group_id = ?2) IS TRUE \
             AND (status IN ('pending', 'partially_paid', 'failed')) IS TRUE AND amount > paid_to_date AND member_id IN ({})",
            places(3)
        )
    })
}

/// Runs a statement for ids in portions. The last portion is filled up with an id that it has already.
fn each_portion(
    before: &[Value<'_>],
    ids: &[MemberId],
    mut run: impl FnMut(&[Value<'_>]) -> Result<(), DbError>,
) -> Result<(), DbError> {
    for portion in ids.chunks(LOOK_UP) {
        let keys: Vec<[u8; 16]> = portion.iter().map(|id| id.to_bytes()).collect();
        let filled = keys.iter().chain(keys.last().into_iter().cycle()).take(LOOK_UP);
        let values: Vec<Value<'_>> = before
            .iter()
            .copied()
            .chain(filled.map(|key| Value::Bytes(key)))
            .collect();
        run(&values)?;
    }
    Ok(())
}

/// Those of these members who are active, by id.
pub fn active(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    ids: &[MemberId],
) -> Result<Vec<Candidate>, DbError> {
    let mut found = Vec::with_capacity(ids.len());
    let organization = organization.to_bytes();
    each_portion(&[Value::Bytes(&organization)], ids, |values| {
        tx.each(by_id(), values, |row| {
            let (is_active, candidate): (bool, Candidate) = read(row)?;
            if is_active {
                found.push(candidate);
            }
            Ok(())
        })
    })?;
    found.sort_unstable_by_key(|candidate| candidate.id);
    Ok(found)
}

pub fn member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Option<Candidate>, DbError> {
    Ok(active(tx, organization, &[member])?.pop())
}

pub fn of_group(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    after: Option<[u8; 16]>,
    limit: i64,
) -> Result<Vec<Candidate>, DbError> {
    likely_of_group(tx, organization, group, (false, false), after, limit)
}

/// Only members with a phone number or a payer if `with_phone`, and only those who owe the group something if `owing`.
pub fn likely_of_group(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    (with_phone, owing): (bool, bool),
    after: Option<[u8; 16]>,
    limit: i64,
) -> Result<Vec<Candidate>, DbError> {
    let after = after.map(MemberId::from_bytes);
    paged(tx, organization, group, (&EVER, after, limit), |tx, _, ids| {
        let mut candidates = active(tx, organization, ids)?;
        candidates
            .retain(|candidate| !with_phone || candidate.phone.is_some() || candidate.payer_id.is_some());
        if owing {
            let ids: Vec<MemberId> = candidates.iter().map(|candidate| candidate.id).collect();
            let owing = owing_of(tx, organization, group, &ids)?;
            candidates.retain(|candidate| owing.contains(&candidate.id));
        }
        Ok(candidates)
    })
}

/// Reads the members of a group who joined in a time, page by page, until `limit` of them were chosen. Each step is a
/// statement on one table, so that none depends on how a planner estimates a join.
pub(crate) fn paged<T>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    (joined, mut after, limit): (&Range<Timestamp>, Option<MemberId>, i64),
    mut choose: impl FnMut(&mut Tx<'_>, Option<MemberId>, &[MemberId]) -> Result<Vec<T>, DbError>,
) -> Result<Vec<T>, DbError> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut chosen = Vec::new();
    loop {
        let ids = memberships::page(tx, organization, group, joined, after, PAGE_ROWS)?;
        chosen.extend(choose(tx, after, &ids)?);
        let is_last = i64::try_from(ids.len()).unwrap_or(i64::MAX) < PAGE_ROWS;
        if is_last || chosen.len() >= limit {
            chosen.truncate(limit);
            return Ok(chosen);
        }
        after = ids.last().copied();
    }
}

fn owing_of(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    ids: &[MemberId],
) -> Result<HashSet<MemberId>, DbError> {
    let (organization, group) = (organization.to_bytes(), group.to_bytes());
    let mut found = HashSet::new();
    each_portion(
        &[Value::Bytes(&organization), Value::Bytes(&group)],
        ids,
        |values| {
            tx.each(owing(), values, |row| {
                found.insert(read(row)?);
                Ok(())
            })
        },
    )?;
    Ok(found)
}

/// Of these members, whom they pay for: payer and member.
pub fn paid_for_by(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    payers: &[MemberId],
) -> Result<Vec<(MemberId, MemberId)>, DbError> {
    let organization = organization.to_bytes();
    let mut found = Vec::new();
    each_portion(&[Value::Bytes(&organization)], payers, |values| {
        tx.each(paid_for(), values, |row| {
            found.push(read(row)?);
            Ok(())
        })
    })?;
    found.sort_unstable();
    Ok(found)
}

pub(crate) fn paid_for() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!(
            "SELECT payer_id, id FROM members WHERE organization_id = ?1 AND payer_id IN ({})",
            places(2)
        )
    })
}

/// A charge that is not settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    pub description: String,
    pub due_date: Option<Date>,
    /// Minor units.
    pub open: i64,
    pub reference: Option<String>,
}

record! { owed_columns: Owed { description, due_date, open = "amount - paid_to_date", reference } }

macro_rules! select_owed {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            owed_columns!(),
            " FROM payments WHERE organization_id = ?1 AND ",
            $condition,
            " AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date \
             ORDER BY COALESCE(due_date, '9999-12-31'), id"
        )
    };
}

/// Oldest due date first; only the group's payments if one is given.
pub fn owed_by_member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    group: Option<GroupId>,
) -> Result<Vec<Owed>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&member)];
    match group {
        None => tx.rows(select_owed!("member_id = ?2"), &params, read),
        Some(group) => {
            let group = group.to_bytes();
            tx.rows(
                select_owed!("member_id = ?2 AND group_id = ?3"),
                &[params[0], params[1], Value::Bytes(&group)],
                read,
            )
        }
    }
}

pub fn owed_by_organization(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    debtor: OrganizationId,
) -> Result<Vec<Owed>, DbError> {
    let (organization, debtor) = (organization.to_bytes(), debtor.to_bytes());
    tx.rows(
        select_owed!("target_organization_id = ?2"),
        &[Value::Bytes(&organization), Value::Bytes(&debtor)],
        read,
    )
}
