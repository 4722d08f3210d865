//! Sums over payments, read from indexes only. A cancelled payment counts with exactly what was received for it, both
//! as expected and as collected, so the sums agree with the ledger.

use std::collections::BTreeMap;

use bursar_domain::Date;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, PaymentId};

use crate::engine::{Row, Tx, Value};
use crate::error::DbError;
use crate::journal;
use crate::rows::{read, record};
use crate::sums::sum;

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
/// Counted by the time they were raised. Without a due date, none is overdue.
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

/// For tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 6] {
    [
        ("dues", DATED),
        ("dues, undated", UNDATED),
        ("owing", OWED),
        ("journal", journal::BETWEEN),
        ("chapters, members", ACTIVE_MEMBERS),
        ("chapters, payments", TOTALS),
    ]
}

/// In minor units. Payments without a group have a line of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupSums {
    pub group: Option<GroupId>,
    /// Without payments cancelled before anything was received.
    pub count: i64,
    /// A cancelled payment counts with what was received for it.
    pub expected: i128,
    pub collected: i128,
    /// Owed, and due before the day asked for.
    pub overdue: i128,
}

/// Payments due from `from` to `until`, both included. A payment without a due date counts on the day it was raised.
/// Payments without a group come last.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedPayment {
    pub payment: PaymentId,
    pub member: Option<MemberId>,
    /// The organization that owes it.
    pub organization: Option<OrganizationId>,
    pub description: String,
    pub due_date: Option<String>,
    /// In minor units.
    pub owed: i64,
}

/// Oldest due date first.
pub fn owed(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<OwedPayment>, DbError> {
    tx.rows(OWED, &[Value::Bytes(&organization.to_bytes())], read)
}

/// In minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Active members.
    pub members: i64,
    /// A cancelled payment counts with what was received for it.
    pub expected: i128,
    pub collected: i128,
    pub owed: i128,
}

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
