//! Dues by group and day, from indexes. A cancelled payment counts with exactly what was received for it, both as
//! expected and as collected, so the sums agree with the journal.

use std::collections::BTreeMap;
use std::ops::Range;

use bursar_domain::account::Standing;
use bursar_domain::ids::{GroupId, OrganizationId};
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Timestamp};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{Columns, FromColumns};
use crate::sums::sum;

/// Due from one day to another. `?2` and `?3` are texts.
pub(super) const DATED: &str = concat!(
    "SELECT group_id, due_date, 0, COUNT(*), ",
    sum!("CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END"),
    ", ",
    sum!("paid_to_date"),
    ", ",
    sum!("CASE WHEN status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END"),
    ", 0, 0 FROM payments WHERE organization_id = ?1 AND due_date >= ?2 AND due_date <= ?3 \
     AND (status <> 'cancelled' OR paid_to_date > 0) GROUP BY group_id, due_date"
);
/// Without a due day: by the quarter of an hour in which they were raised. Days begin at one in every time zone.
pub(super) const UNDATED: &str = concat!(
    "SELECT group_id, due_date, created_at / 900000000, COUNT(*), ",
    sum!("CASE WHEN status = 'cancelled' THEN paid_to_date ELSE amount END"),
    ", ",
    sum!("paid_to_date"),
    ", ",
    sum!("CASE WHEN status IN ('pending', 'partially_paid', 'failed') THEN amount - paid_to_date ELSE 0 END"),
    ", 0, 0 FROM payments WHERE organization_id = ?1 AND due_date IS NULL AND created_at >= ?2 AND created_at < ?3 \
     AND (status <> 'cancelled' OR paid_to_date > 0) GROUP BY group_id, due_date, created_at / 900000000"
);
/// What was given up of charges, by the same days. Counts the payments that nothing else counts.
pub(super) const DISCOUNTS: &str = concat!(
    "SELECT y.group_id, y.due_date, y.created_at / 900000000, \
     COUNT(DISTINCT CASE WHEN y.status = 'cancelled' AND y.paid_to_date = 0 THEN y.id END), 0, 0, 0, 0, 0, 0, ",
    // Not a condition: the entries are to be found by the account of discounts, which has far fewer.
    sum!("CASE WHEN r.account_id = ?7 THEN -r.amount ELSE 0 END"),
    " FROM journal_postings r CROSS JOIN payments y WHERE r.organization_id = ?1 AND r.entry_id IN \
     (SELECT entry_id FROM journal_postings WHERE organization_id = ?1 AND account_id = ?6) \
     AND y.id = r.payment_id AND y.organization_id = ?1 AND (y.due_date >= ?2 AND y.due_date <= ?3 \
     OR y.due_date IS NULL AND y.created_at >= ?4 AND y.created_at < ?5) \
     GROUP BY y.group_id, y.due_date, y.created_at / 900000000"
);

const QUARTER_HOUR_MICROS: i64 = 900_000_000;

/// In minor units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DuesSums {
    /// Without payments cancelled before anything was received, unless they were waived.
    pub count: i64,
    /// What was charged, before discounts. A cancelled payment counts with what was received for it.
    pub expected: i128,
    /// What was given up of it.
    pub discounts: i128,
    pub collected: i128,
    pub owed: i128,
}

struct Line {
    group: Option<GroupId>,
    due: Option<Date>,
    quarter: i64,
    sums: DuesSums,
}

impl FromColumns for Line {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (group, due, quarter, count) = columns.next()?;
        let (amount, collected, owed, discounts): (i128, i128, i128, i128) = columns.next()?;
        Ok(Self {
            group,
            due,
            quarter,
            sums: DuesSums {
                count,
                expected: amount + discounts,
                discounts,
                collected,
                owed,
            },
        })
    }
}

/// A group, with payments without one last, and a day: the day they are due, or were raised if they have none.
pub type DuesKey = (bool, Option<GroupId>, Date, bool);

/// Payments due from `from` to `until`, both included. A payment without a due date counts on the day it was raised in
/// the organization's time zone; the key's last part says which it is.
pub fn dues(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    zone: &Zone,
    (from, until): (Date, Date),
) -> Result<BTreeMap<DuesKey, DuesSums>, DbError> {
    let key = organization.to_bytes();
    let organization = Value::Bytes(&key);
    let (first, last) = (from.to_string(), until.to_string());
    let raised: Range<Timestamp> = zone.start(from)..zone.start(until.plus_days(1));
    let [discounts, receivable] =
        [Standing::Discounts, Standing::Receivable].map(|standing| standing.id().to_bytes());
    let days = [Value::Text(&first), Value::Text(&last)];
    let times = [Value::Int(raised.start.micros()), Value::Int(raised.end.micros())];
    let read = crate::rows::read::<Line>;
    let mut lines = tx.rows(DATED, &[organization, days[0], days[1]], read)?;
    lines.extend(tx.rows(UNDATED, &[organization, times[0], times[1]], read)?);
    let given_up = [
        organization,
        days[0],
        days[1],
        times[0],
        times[1],
        Value::Bytes(&discounts),
        Value::Bytes(&receivable),
    ];
    lines.extend(tx.rows(DISCOUNTS, &given_up, read)?);
    let mut found: BTreeMap<DuesKey, DuesSums> = BTreeMap::new();
    for line in lines {
        let raised = || zone.date(Timestamp::from_micros(line.quarter * QUARTER_HOUR_MICROS));
        let day = line.due.unwrap_or_else(raised);
        let key = (line.group.is_none(), line.group, day, line.due.is_some());
        let sums = found.entry(key).or_default();
        sums.count += line.sums.count;
        sums.expected += line.sums.expected;
        sums.discounts += line.sums.discounts;
        sums.collected += line.sums.collected;
        sums.owed += line.sums.owed;
    }
    Ok(found)
}
