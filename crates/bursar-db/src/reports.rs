//! Sums over payments, straight from indexes. What was cancelled is expected no more, but what had come for it stays
//! in the ledger, so it is expected and collected for exactly that: the sums agree with the ledger.

use bursar_domain::Date;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, PaymentId};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::ledger;

const BY_GROUP: &str = "SELECT group_id, COUNT(*), CAST(SUM(CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END) AS BIGINT), \
     CAST(SUM(paid_to_date) AS BIGINT), \
     CAST(SUM(CASE WHEN due_date < ?4 AND status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END) AS BIGINT) \
     FROM payments WHERE organization_id = ?1 AND due_date >= ?2 AND due_date <= ?3 AND (status <> 'cancelled' OR paid_to_date > 0) \
     GROUP BY group_id ORDER BY CASE WHEN group_id IS NULL THEN 1 ELSE 0 END, group_id";
const OWED: &str = "SELECT id, member_id, target_organization_id, description, due_date, amount - paid_to_date FROM payments \
     WHERE organization_id = ?1 AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date \
     ORDER BY COALESCE(due_date, '9999-12-31'), id";
const ACTIVE_MEMBERS: &str = "SELECT COUNT(*) FROM members WHERE organization_id = ?1 AND is_active = 1";
const TOTALS: &str = "SELECT CAST(COALESCE(SUM(CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END), 0) AS BIGINT), \
     CAST(COALESCE(SUM(paid_to_date), 0) AS BIGINT), \
     CAST(COALESCE(SUM(CASE WHEN status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END), 0) AS BIGINT) \
     FROM payments WHERE organization_id = ?1";

/// The statements of the reports, with a name each, for tests that read their plans.
pub fn statements() -> [(&'static str, &'static str); 5] {
    [
        ("dues", BY_GROUP),
        ("owing", OWED),
        ("ledger", ledger::BETWEEN),
        ("chapters, members", ACTIVE_MEMBERS),
        ("chapters, payments", TOTALS),
    ]
}

/// What the payments of a group come to, in minor units; payments without a group are one line of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupSums {
    /// The group.
    pub group: Option<GroupId>,
    /// How many payments, without those that were cancelled before anything came.
    pub count: i64,
    /// What they come to; of a cancelled one, what had come before.
    pub expected: i64,
    /// What was received for them.
    pub collected: i64,
    /// What is owed and was due before the day asked for.
    pub overdue: i64,
}

/// The sums by group of payments due between two days, both included; what belongs to no group comes last.
pub fn by_group(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
    today: Date,
) -> Result<Vec<GroupSums>, DbError> {
    let (organization, from, until, today) = (
        organization.to_bytes(),
        from.to_string(),
        until.to_string(),
        today.to_string(),
    );
    tx.rows(
        BY_GROUP,
        &[
            Value::Bytes(&organization),
            Value::Text(&from),
            Value::Text(&until),
            Value::Text(&today),
        ],
        |row| {
            Ok(GroupSums {
                group: row.key_opt(0)?.map(GroupId::from_bytes),
                count: row.int(1)?,
                expected: row.int(2)?,
                collected: row.int(3)?,
                overdue: row.int(4)?,
            })
        },
    )
}

/// A payment that is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedPayment {
    /// The payment.
    pub payment: PaymentId,
    /// Who owes it.
    pub member: Option<MemberId>,
    /// Which organization owes it.
    pub organization: Option<OrganizationId>,
    /// What for.
    pub description: String,
    /// Since when.
    pub due_date: Option<String>,
    /// How much, in minor units.
    pub owed: i64,
}

/// Everything that is owed to an organization, the oldest due first.
pub fn owed(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<OwedPayment>, DbError> {
    tx.rows(OWED, &[Value::Bytes(&organization.to_bytes())], |row| {
        Ok(OwedPayment {
            payment: PaymentId::from_bytes(row.key(0)?),
            member: row.key_opt(1)?.map(MemberId::from_bytes),
            organization: row.key_opt(2)?.map(OrganizationId::from_bytes),
            description: row.text(3)?.to_owned(),
            due_date: row.text_opt(4)?.map(str::to_owned),
            owed: row.int(5)?,
        })
    })
}

/// What an organization's books come to: active members, expected, collected, owed.
pub fn totals(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<(i64, i64, i64, i64), DbError> {
    let organization = organization.to_bytes();
    let members = tx.first(ACTIVE_MEMBERS, &[Value::Bytes(&organization)], |row| row.int(0))?;
    let sums = tx.first(TOTALS, &[Value::Bytes(&organization)], |row| {
        Ok((row.int(0)?, row.int(1)?, row.int(2)?))
    })?;
    let (expected, collected, owed) = sums.unwrap_or_default();
    Ok((members.unwrap_or(0), expected, collected, owed))
}
