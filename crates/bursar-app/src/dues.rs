//! Dues on schedule: one payment per active member and period, raised when it falls due, exactly once.
//!
//! The organization's clock is held while a payment is looked for and raised, so that two workers cannot both find
//! none. Work is cut into transactions of bounded size; one that is repeated finds what was raised before.

use bursar_db::{Tx, due, table};
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::{GroupId, MemberId, OrganizationId, PaymentId};
use bursar_domain::payment::Payment;
use bursar_domain::{Date, Resource, Stamps};

use crate::act::{Act, Context};
use crate::error::AppError;
use crate::groups::no_group;

/// Payments that one transaction raises at most.
pub const RAISE_MAX: usize = 500;

/// How far a raising is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raised {
    /// So many payments; go on after this member.
    Some(usize, MemberId),
    /// The period is done, after so many payments; the group has moved on.
    Period(usize),
    /// Nothing is due.
    Nothing,
}

/// Raises the next payments of the period that is due, after the member that was last seen.
pub fn raise(
    tx: &mut Tx<'_>,
    context: &mut Context,
    organization: OrganizationId,
    group: GroupId,
    after: Option<MemberId>,
) -> Result<Raised, AppError> {
    Act::run(tx, context, organization, |act| {
        let mut group: Group = table::get(act.tx, organization, group)?.ok_or_else(no_group)?;
        let Some(due) = due_now(&group, act.now().date()) else {
            return Ok(Raised::Nothing);
        };
        let limit = i64::try_from(RAISE_MAX).unwrap_or(i64::MAX);
        // Whoever joins on the day itself is charged; whoever joins later, from the next period on.
        let members = due::uncharged(
            act.tx,
            organization,
            group.id,
            due,
            due.plus_days(1).start(),
            after,
            limit,
        )?;
        for member in &members {
            let payment = charge(act, &group, *member, due);
            act.insert(&payment)?;
        }
        if members.len() == RAISE_MAX
            && let Some(last) = members.last()
        {
            return Ok(Raised::Some(members.len(), *last));
        }
        move_on(&mut group, due);
        act.update(&mut group)?;
        let count = i64::try_from(members.len()).unwrap_or(i64::MAX);
        act.log("dues.raise", Some(group.id.to_string()), Some(count))?;
        Ok(Raised::Period(members.len()))
    })
}

/// The due date that is to be raised, if one is by `today`.
pub fn due_now(group: &Group, today: Date) -> Option<Date> {
    let due = group.due_date.filter(|due| *due <= today)?;
    let from = group.dues_from.unwrap_or(due);
    (from <= due && group.amount_due.is_some_and(|amount| amount.minor > 0)).then_some(due)
}

/// The group after the period of `due`: the next due date by the calendar, or no more.
fn move_on(group: &mut Group, due: Date) {
    match group.recurring_interval.filter(|_| group.is_recurring) {
        Some(interval) => {
            let next = next_due(interval, due, group.due_anchor_day);
            group.due_date = Some(next);
            group.dues_from = Some(next);
        }
        // The date stays as it was told; it is not raised again.
        None => group.dues_from = Some(due.plus_days(1)),
    }
}

/// The due date after this one.
pub fn next_due(interval: Interval, due: Date, anchor_day: Option<i8>) -> Date {
    interval.after(due, anchor_day.unwrap_or_else(|| due.day()))
}

fn charge(act: &mut Act<'_, '_>, group: &Group, member: MemberId, due: Date) -> Payment {
    let id: PaymentId = act.new_id();
    let stamps = Stamps::at(act.tick());
    Payment {
        member_id: Some(member),
        group_id: Some(group.id),
        description: format!("{}, due {due}", group.name),
        amount: group
            .amount_due
            .unwrap_or(bursar_domain::money::Money::zero(group.currency)),
        due_date: Some(due),
        ..Payment::blank(id, group.currency, stamps)
    }
}
