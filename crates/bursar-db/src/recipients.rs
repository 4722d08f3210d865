//! Whom a reminder would reach, and what they owe.

use bursar_domain::ids::{GroupId, MemberId, OrganizationId};

use crate::engine::{Row, Tx, Value};
use crate::error::DbError;
use crate::table::Columns;

/// A member who may be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Names the member.
    pub id: MemberId,
    /// The member's name.
    pub name: String,
    /// Where to write to.
    pub email: String,
    /// Where to send an SMS.
    pub phone: Option<String>,
}

fn read_candidate(row: &Row<'_>) -> Result<Candidate, DbError> {
    let mut row = Columns::from(row, 0);
    let (id, first, last) = (row.id()?, row.text()?, row.text()?);
    Ok(Candidate {
        id,
        name: format!("{first} {last}"),
        email: row.text()?,
        phone: row.text_opt()?,
    })
}

/// The member, if it is active.
pub fn member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
) -> Result<Option<Candidate>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    tx.first(
        "SELECT id, first_name, last_name, email, phone FROM members WHERE organization_id = ?1 AND id = ?2 AND is_active = 1",
        &[Value::Bytes(&organization), Value::Bytes(&member)],
        read_candidate,
    )
}

macro_rules! select_of_group {
    ($condition:literal) => {
        concat!(
            "SELECT m.id, m.first_name, m.last_name, m.email, m.phone FROM memberships s \
             JOIN members m ON m.organization_id = s.organization_id AND m.id = s.member_id \
             WHERE s.organization_id = ?1 AND s.group_id = ?2 AND s.member_id > ?3 AND m.is_active = 1",
            $condition,
            " ORDER BY s.member_id LIMIT ?4"
        )
    };
}

/// Up to `limit` active members of a group, by id, after `after`.
pub fn of_group(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    after: Option<[u8; 16]>,
    limit: i64,
) -> Result<Vec<Candidate>, DbError> {
    read_group(tx, select_of_group!(""), organization, group, after, limit)
}

/// The same, but only those with a telephone number where it is needed, and only those who owe the group something
/// where that is: a group without any is looked through in one statement.
pub fn likely_of_group(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    group: GroupId,
    (with_phone, owing): (bool, bool),
    after: Option<[u8; 16]>,
    limit: i64,
) -> Result<Vec<Candidate>, DbError> {
    let sql = match (with_phone, owing) {
        (false, false) => select_of_group!(""),
        (true, false) => select_of_group!(" AND m.phone IS NOT NULL"),
        (false, true) => select_of_group!(
            " AND EXISTS (SELECT 1 FROM payments p WHERE p.organization_id = ?1 AND p.member_id = s.member_id AND p.group_id = ?2 \
             AND p.status IN ('pending', 'partially_paid', 'failed') AND p.amount > p.paid_to_date)"
        ),
        (true, true) => select_of_group!(
            " AND m.phone IS NOT NULL \
             AND EXISTS (SELECT 1 FROM payments p WHERE p.organization_id = ?1 AND p.member_id = s.member_id AND p.group_id = ?2 \
             AND p.status IN ('pending', 'partially_paid', 'failed') AND p.amount > p.paid_to_date)"
        ),
    };
    read_group(tx, sql, organization, group, after, limit)
}

fn read_group(
    tx: &mut Tx<'_>,
    sql: &'static str,
    organization: OrganizationId,
    group: GroupId,
    after: Option<[u8; 16]>,
    limit: i64,
) -> Result<Vec<Candidate>, DbError> {
    let (organization, group) = (organization.to_bytes(), group.to_bytes());
    let after = after.as_ref().map_or(&[][..], |key| &key[..]);
    tx.rows(
        sql,
        &[
            Value::Bytes(&organization),
            Value::Bytes(&group),
            Value::Bytes(after),
            Value::Int(limit),
        ],
        read_candidate,
    )
}

/// A payment that is owed: description, due date, minor units still owed.
pub type Owed = (String, Option<String>, i64);

/// What a member owes, payment by payment, oldest due first; a group's payments only when one is given.
pub fn owed_by_member(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    member: MemberId,
    group: Option<GroupId>,
) -> Result<Vec<Owed>, DbError> {
    let (organization, member) = (organization.to_bytes(), member.to_bytes());
    let params = [Value::Bytes(&organization), Value::Bytes(&member)];
    match group {
        None => tx.rows(
            "SELECT description, due_date, amount - paid_to_date FROM payments WHERE organization_id = ?1 AND member_id = ?2 \
             AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date ORDER BY COALESCE(due_date, '9999-12-31'), id",
            &params,
            read_owed,
        ),
        Some(group) => {
            let group = group.to_bytes();
            tx.rows(
                "SELECT description, due_date, amount - paid_to_date FROM payments WHERE organization_id = ?1 AND member_id = ?2 \
                 AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date AND group_id = ?3 \
                 ORDER BY COALESCE(due_date, '9999-12-31'), id",
                &[params[0], params[1], Value::Bytes(&group)],
                read_owed,
            )
        }
    }
}

/// What another organization owes this one.
pub fn owed_by_organization(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    debtor: OrganizationId,
) -> Result<Vec<Owed>, DbError> {
    let (organization, debtor) = (organization.to_bytes(), debtor.to_bytes());
    tx.rows(
        "SELECT description, due_date, amount - paid_to_date FROM payments WHERE organization_id = ?1 AND target_organization_id = ?2 \
         AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date ORDER BY COALESCE(due_date, '9999-12-31'), id",
        &[Value::Bytes(&organization), Value::Bytes(&debtor)],
        read_owed,
    )
}

fn read_owed(row: &Row<'_>) -> Result<Owed, DbError> {
    Ok((
        row.text(0)?.to_owned(),
        row.text_opt(1)?.map(str::to_owned),
        row.int(2)?,
    ))
}
