//! What is owed, by debtor, group and age.

use bursar_domain::Date;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{Columns, FromColumns, read};
use crate::sums::sum;

/// The first day of each age, as due days: due from `?2` on is not overdue, from `?3` on at most 30 days, and so on. A
/// payment without a due day is never overdue. The last condition names the index to use.
pub(super) const OWING: &str = concat!(
    "SELECT member_id, target_organization_id, group_id, COUNT(*), MIN(due_date), ",
    sum!("CASE WHEN COALESCE(due_date, '9999-12-31') >= ?2 THEN amount - paid_to_date ELSE 0 END"),
    ", ",
    sum!("CASE WHEN due_date >= ?3 AND due_date < ?2 THEN amount - paid_to_date ELSE 0 END"),
    ", ",
    sum!("CASE WHEN due_date >= ?4 AND due_date < ?3 THEN amount - paid_to_date ELSE 0 END"),
    ", ",
    sum!("CASE WHEN due_date >= ?5 AND due_date < ?4 THEN amount - paid_to_date ELSE 0 END"),
    ", ",
    sum!("CASE WHEN due_date < ?5 THEN amount - paid_to_date ELSE 0 END"),
    " FROM payments WHERE organization_id = ?1 AND status IN ('pending', 'partially_paid', 'failed') AND amount > paid_to_date \
     AND COALESCE(due_date, '9999-12-31') > '0000' GROUP BY member_id, target_organization_id, group_id"
);
pub(super) const PROCESSING: &str = concat!(
    "SELECT ",
    sum!("amount - paid_to_date"),
    " FROM payments WHERE organization_id = ?1 AND status = 'processing'"
);

/// Ages of debts: not due yet, 1 to 30 days overdue, 31 to 60, 61 to 90, more.
pub const AGES: usize = 5;

/// What somebody owes for one group, in minor units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owed {
    pub member: Option<MemberId>,
    /// The organization that owes it.
    pub organization: Option<OrganizationId>,
    pub group: Option<GroupId>,
    pub payments: i64,
    /// None if no payment has a due day.
    pub oldest_due: Option<Date>,
    pub by_age: [i128; AGES],
}

impl FromColumns for Owed {
    fn read(columns: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (member, organization, group, payments, oldest_due) = columns.next()?;
        let mut by_age = [0; AGES];
        for age in &mut by_age {
            *age = columns.next()?;
        }
        Ok(Self {
            member,
            organization,
            group,
            payments,
            oldest_due,
            by_age,
        })
    }
}

pub fn owing(tx: &mut Tx<'_>, organization: OrganizationId, today: Date) -> Result<Vec<Owed>, DbError> {
    let days = [0, -30, -60, -90].map(|days| today.plus_days(days).to_string());
    let organization = organization.to_bytes();
    let mut params = vec![Value::Bytes(&organization)];
    params.extend(days.iter().map(|day| Value::Text(day)));
    tx.rows(OWING, &params, read)
}

/// What a provider is collecting, in minor units.
pub fn processing(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<i128, DbError> {
    let sum = tx.first(PROCESSING, &[Value::Bytes(&organization.to_bytes())], read)?;
    Ok(sum.unwrap_or(0))
}
