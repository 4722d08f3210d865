//! Sums over payments, straight from indexes. What was cancelled is expected no more, but what had come for it stays
//! in the ledger, so it is expected and collected for exactly that: the sums agree with the ledger.

use std::collections::BTreeMap;

use bursar_domain::Date;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, PaymentId};

use crate::engine::{Row, Tx, Value};
use crate::error::DbError;
use crate::ledger;
use crate::rows::{read, record};
use crate::sums::sum;

/// Payments with a due date, by it.
const DATED: &str = concat!(
    "SELECT group_id, COUNT(*), ",
    sum!("CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END"),
    ", ",
    sum!("paid_to_date"),
    ", ",
    sum!(
        "CASE WHEN due_date < ?4 AND status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END"
    ),
    " FROM payments WHERE organization_id = ?1 AND due_date >= ?2 AND due_date <= ?3 AND (status <> 'cancelled' OR paid_to_date > 0) \
     GROUP BY group_id"
);
/// Payments without one, by the time they were raised. Nobody said when they are due, so none is overdue.
const UNDATED: &str = concat!(
    "SELECT group_id, COUNT(*), ",
    sum!("CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END"),
    ", ",
    sum!("paid_to_date"),
    ", 0, 0 FROM payments WHERE organization_id = ?1 AND due_date IS NULL AND created_at >= ?2 AND created_at < ?3 \
     AND (status <> 'cancelled' OR paid_to_date > 0) GROUP BY group_id"
);
record! { owed_columns: OwedPayment {
    payment = "id", member = "member_id", organization = "target_organization_id", description, due_date,
    owed = "amount - paid_to_date",
} }
const OWED: &str = concat!(
    "SELECT ",
    owed_columns!(),
    " FROM payments WHERE organization_id = ?1 AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date \
     ORDER BY COALESCE(due_date, '9999-12-31'), id"
);
const ACTIVE_MEMBERS: &str = "SELECT COUNT(*) FROM members WHERE organization_id = ?1 AND is_active = 1";
const TOTALS: &str = concat!(
    "SELECT ",
    sum!("CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END"),
    ", ",
    sum!("paid_to_date"),
    ", ",
    sum!("CASE WHEN status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END"),
    " FROM payments WHERE organization_id = ?1"
);

/// The statements of the reports, with a name each, for tests that read their plans.
pub fn statements() -> [(&'static str, &'static str); 6] {
    [
        ("dues", DATED),
        ("dues, undated", UNDATED),
        ("owing", OWED),
        ("ledger", ledger::BETWEEN),
        ("chapters, members", ACTIVE_MEMBERS),
        ("chapters, payments", TOTALS),
    ]
}

/// What the payments of a group come to, in minor units; payments without a group are one line of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSums {
    /// The group.
    pub group: Option<GroupId>,
    /// How many payments, without those that were cancelled before anything came.
    pub count: i64,
    /// What they come to; of a cancelled one, what had come before.
    pub expected: i128,
    /// What was received for them.
    pub collected: i128,
    /// What is owed and was due before the day asked for.
    pub overdue: i128,
}

/// The sums by group of payments due between two days, both included; a payment without a due date counts on the day it
/// was raised. What belongs to no group comes last.
pub fn by_group(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
    today: Date,
) -> Result<Vec<GroupSums>, DbError> {
    let organization = Value::Bytes(&organization.to_bytes());
    let (first, last, today) = (from.to_string(), until.to_string(), today.to_string());
    let dated = [
        organization,
        first.as_str().into(),
        last.as_str().into(),
        today.as_str().into(),
    ];
    let undated = [
        organization,
        Value::Int(from.start().micros()),
        Value::Int(until.start().plus_days(1).micros()),
    ];
    let place = |sums: &GroupSums| (sums.group.is_none(), sums.group);
    let mut groups: BTreeMap<_, GroupSums> = tx
        .rows(DATED, &dated, read_group)?
        .into_iter()
        .map(|sums| (place(&sums), sums))
        .collect();
    for sums in tx.rows(UNDATED, &undated, read_group)? {
        let known = groups.entry(place(&sums)).or_insert(GroupSums {
            group: sums.group,
            ..GroupSums::default()
        });
        known.count += sums.count;
        known.expected += sums.expected;
        known.collected += sums.collected;
    }
    Ok(groups.into_values().collect())
}

fn read_group(row: &Row<'_>) -> Result<GroupSums, DbError> {
    let (group, count, expected, collected, overdue) = read(row)?;
    Ok(GroupSums {
        group,
        count,
        expected,
        collected,
        overdue,
    })
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
    tx.rows(OWED, &[Value::Bytes(&organization.to_bytes())], read)
}

/// What an organization's books come to, in minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Active members.
    pub members: i64,
    /// What all payments come to; of a cancelled one, what had come before.
    pub expected: i128,
    /// What was received for them.
    pub collected: i128,
    /// What is owed.
    pub owed: i128,
}

/// What an organization's books come to.
pub fn totals(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Totals, DbError> {
    let organization = organization.to_bytes();
    let members = tx.first(ACTIVE_MEMBERS, &[Value::Bytes(&organization)], read)?;
    let totals = tx.first(TOTALS, &[Value::Bytes(&organization)], read)?;
    let (expected, collected, owed) = totals.unwrap_or_default();
    Ok(Totals {
        members: members.unwrap_or(0),
        expected,
        collected,
        owed,
    })
}
