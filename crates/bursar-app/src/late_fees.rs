//! Late fees: charged once for a charge that is still open some days after it was due.
//!
//! An act holds the organization's change clock while it looks for charges without a fee and charges it, so two workers
//! cannot both find none. Each transaction charges a bounded number of fees; a repeated one finds what was charged
//! before. Days are those of the organization's time zone.

use bursar_db::{journal, late_fees};
use bursar_domain::account::Standing;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, PaymentId};
use bursar_domain::journal::EntryKind;
use bursar_domain::late_fee::LateRule;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::text::NOTE;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Resource, Stamps};

use crate::act::{Act, Whole};
use crate::books::charges::{self, Credits};
use crate::books::{self, Books, Closed};
use crate::bulk;
use crate::caller::Caller;
use crate::error::AppError;
use crate::rule::Rule;

pub use bursar_db::late_fees::LateWork;

/// Fees per transaction.
pub const RAISE_MAX: usize = 500;

pub const RAISE: Rule = Rule::of_worker("late_fees.raise", "charge late fees");
pub const DUE: Rule = Rule::of_worker("late_fees.due", "look for late charges of all organizations");
pub const RULES: &[&Rule] = &[&RAISE, &DUE];

/// Groups of all organizations whose late charges are to be looked for, longest due first. Where the day has not come
/// yet in the organization's zone, [`raise`] does nothing.
pub fn due(
    whole: &mut Whole<'_, '_>,
    after: Option<&LateWork>,
    limit: i64,
) -> Result<Vec<LateWork>, AppError> {
    whole.allow(&DUE)?;
    let latest = Zone::latest_date(whole.now());
    Ok(late_fees::groups(whole.tx, latest, after, limit)?)
}

/// The last charge that was looked at.
pub type Place = (Date, PaymentId);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charging {
    /// This many fees; continue after this charge.
    Some(usize, Place),
    /// This many fees, and the group is done for today.
    Done(usize),
    Nothing,
}

/// Looks at no more than [`RAISE_MAX`] late charges of a group. Call again with the last one to continue.
pub fn raise(act: &mut Act<'_, '_>, group: GroupId, after: Option<Place>) -> Result<Charging, AppError> {
    act.allow(&RAISE)?;
    let Some(group): Option<Group> = act.get(group)? else {
        return Ok(Charging::Nothing);
    };
    let books = books::open(act)?;
    if group.late_next.is_none_or(|next| next > books.today) {
        return Ok(Charging::Nothing);
    }
    let (Some(rule), Some(since)) = (LateRule::of(&group), group.late_since) else {
        late_fees::look_next(act.tx, act.organization, group.id, None)?;
        return Ok(Charging::Nothing);
    };
    let late = late_fees::Late {
        organization: act.organization,
        group: group.id,
        last_due: rule.last_due(books.today),
        first_due: rule.last_due(books.organization.time_zone.date(since)),
        since,
    };
    let limit = i64::try_from(RAISE_MAX).unwrap_or(i64::MAX);
    let found = late_fees::charges(act.tx, &late, after, limit)?;
    let mut credits = Credits::read(act, &books)?;
    let mut subjects = Vec::new();
    for (_, id) in &found {
        let charge: Payment = act.find(*id)?;
        let minor = rule.fee(charge.owed_minor());
        if minor == 0 || !is_late(act, &books, &rule, &charge)? {
            continue;
        }
        let mut fee = fee_of(act, &charge, minor, books.today);
        charges::raise(act, &books, &mut credits, &mut fee, Closed::UseToday)?;
        subjects.push(bulk::raised(&fee));
    }
    if !subjects.is_empty() {
        bulk::note(act, &RAISE, &subjects)?;
    }
    if let Some(last) = found.last().filter(|_| found.len() == RAISE_MAX) {
        return Ok(Charging::Some(subjects.len(), *last));
    }
    let tomorrow = Some(books.today.plus_days(1));
    late_fees::look_next(act.tx, act.organization, group.id, tomorrow)?;
    Ok(Charging::Done(subjects.len()))
}

/// Dues that the worker raised after their day, because the service was down, are late as many days after they were
/// raised: nobody could pay before.
fn is_late(
    act: &mut Act<'_, '_>,
    books: &Books,
    rule: &LateRule,
    charge: &Payment,
) -> Result<bool, AppError> {
    let raised = books.organization.time_zone.date(charge.stamps.created_at);
    let is_in_time = charge.due_date.is_none_or(|due| raised <= due);
    if is_in_time || rule.day(raised) <= books.today {
        return Ok(true);
    }
    let entries = journal::of_payment(act.tx, act.organization, charge.id)?;
    let is_workers = |kind: EntryKind, by: &str| kind == EntryKind::Charge && by == Caller::Worker.kind();
    Ok(!entries
        .iter()
        .any(|entry| is_workers(entry.kind, &entry.recorder.kind)))
}

fn fee_of(act: &mut Act<'_, '_>, charge: &Payment, minor: i64, today: Date) -> Payment {
    let name = match charge.description.as_str() {
        "" => "Late fee".to_owned(),
        text => format!("Late fee: {text}").chars().take(NOTE.max).collect(),
    };
    let (id, currency) = (act.new_id(), charge.amount.currency);
    let stamps = Stamps::at(act.tick());
    Payment {
        member_id: charge.member_id,
        group_id: charge.group_id,
        target_organization_id: charge.target_organization_id,
        description: name.trim_end().to_owned(),
        amount: Money::new(minor, currency),
        due_date: Some(today),
        income_account_id: Some(Standing::LateFees.id()),
        fee_of: Some(charge.id),
        ..Payment::blank(id, currency, stamps)
    }
}
