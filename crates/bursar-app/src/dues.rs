//! Dues on schedule: exactly one payment per active member and period, raised when it falls due.
//!
//! An act holds the organization's change clock while it looks for dues and raises them, so two workers cannot both
//! find none. Which dues a payment is, is its `duesFor`: a new due date or an instalment does not change it. Each
//! transaction raises a bounded number of payments; a repeated one finds what was raised before. Days are those of the
//! organization's time zone.

use std::ops::Range;

use bursar_db::due;
use bursar_domain::access::Role;
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::{GroupId, MemberId, PaymentId};
use bursar_domain::money::{Currency, Money};
use bursar_domain::payment::Payment;
use bursar_domain::pro_rata;
use bursar_domain::zone::Zone;
use bursar_domain::{Date, Refusal, Resource, Stamps, Timestamp};
use serde::Serialize;

use crate::act::{Act, View, Whole};
use crate::books::charges::{self, Credits};
use crate::books::{self, Books, Closed};
use crate::bulk;
use crate::error::AppError;
use crate::rule::Rule;

pub use bursar_db::due::DuesWork;

/// Payments per transaction.
pub const RAISE_MAX: usize = 500;
/// Earlier than any join.
const ALWAYS: Timestamp = Timestamp::from_micros(i64::MIN);
/// Members that a preview names. It counts all of them.
pub const PREVIEW_NAMES_MAX: usize = 10_000;

pub const RAISE: Rule = Rule::of("dues.raise", Role::Editor, "raise dues").or_worker();
pub const END_DAY: Rule = Rule::of_worker("dues.end_day", "end due days");
pub const SET: Rule = Rule::of("dues.set", Role::Editor, "set dues");
pub const PREVIEW: Rule = Rule::of("dues.preview", Role::Editor, "see who owes dues");
pub const DUE: Rule = Rule::of_worker("dues.due", "look for dues of all organizations");
pub const RULES: &[&Rule] = &[&RAISE, &END_DAY, &SET, &PREVIEW, &DUE];

/// Dues of all organizations to raise or end wherever it may be their day already, longest due first. Where the day has
/// not come yet in the organization's zone, [`raise`] and [`end_day`] do nothing.
pub fn due(
    whole: &mut Whole<'_, '_>,
    now: Timestamp,
    after: Option<&DuesWork>,
    limit: i64,
) -> Result<Vec<DuesWork>, AppError> {
    whole.allow(&DUE)?;
    Ok(due::dues(whole.tx, Zone::latest_date(now), after, limit)?)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raising {
    /// This many payments; continue after this member.
    Some(usize, MemberId),
    /// This many payments, and the period is done.
    Period(usize),
    Nothing,
}

/// Raises at most [`RAISE_MAX`] payments of the period that is due. Call again with the last member to continue.
pub fn raise(act: &mut Act<'_, '_>, group: GroupId, after: Option<MemberId>) -> Result<Raising, AppError> {
    act.allow(&RAISE)?;
    let organization = act.organization;
    let mut group: Group = act.find(group)?;
    let books = books::open(act)?;
    let Some(due) = due_now(&group, books.today) else {
        note_skipped(act, &group)?;
        return Ok(Raising::Nothing);
    };
    let amount = group.amount_due.unwrap_or(Money::zero(group.currency));
    let raised = raise_some(act, &books, &group, amount, (due, ALWAYS), after)?;
    if let Raising::Period(_) = raised {
        // Members who joined behind the cursor of a long raising are charged at the end of the day, even past
        // midnight.
        if books.today <= due.plus_days(1) {
            due::keep_open(act.tx, organization, group.id, due, amount.minor)?;
        }
        let before = group.due_date;
        group.move_on(due);
        // If the date stays, the representation does not change, and `updatedAt` must not move.
        match group.due_date == before {
            true => due::set_dues_from(act.tx, organization, group.id, group.dues_from)?,
            false => act.update(&mut group)?,
        }
    }
    Ok(raised)
}

/// Charges members who joined on a due day after its dues were raised, once the day is over. So the day counts, not
/// the hour at which the worker ran.
pub fn end_day(
    act: &mut Act<'_, '_>,
    group: GroupId,
    due: Date,
    after: Option<MemberId>,
) -> Result<Raising, AppError> {
    act.allow(&END_DAY)?;
    let organization = act.organization;
    let books = books::open(act)?;
    let amount = due::open_amount(act.tx, organization, group, due)?.filter(|_| due < books.today);
    let Some(amount) = amount else {
        return Ok(Raising::Nothing);
    };
    let group: Group = act.find(group)?;
    // A member who joined before this day and was archived then is not charged for being restored.
    let amount = Money::new(amount, group.currency);
    let start = books.organization.time_zone.start(due);
    let raised = raise_some(act, &books, &group, amount, (due, start), after)?;
    if let Raising::Period(_) = raised {
        due::close(act.tx, organization, group.id, Some(due))?;
    }
    Ok(raised)
}

/// A bulk act, so that an officer can undo it.
fn raise_some(
    act: &mut Act<'_, '_>,
    books: &Books,
    group: &Group,
    amount: Money,
    (due, joined_from): (Date, Timestamp),
    after: Option<MemberId>,
) -> Result<Raising, AppError> {
    let end = books.organization.time_zone.start(due.plus_days(1));
    let members = uncharged(act, group, due, joined_from..end, after)?;
    let mut credits = Credits::read(act, books)?;
    let mut subjects = Vec::with_capacity(members.len());
    for (member, _) in &members {
        let mut payment = charge(act, group, amount, *member, due);
        charges::raise(act, books, &mut credits, &mut payment, Closed::UseToday)?;
        subjects.push(bulk::raised(&payment));
    }
    if !subjects.is_empty() {
        bulk::note(act, &RAISE, &subjects)?;
    }
    Ok(match members.last().filter(|_| members.len() == RAISE_MAX) {
        Some((last, _)) => Raising::Some(members.len(), *last),
        None => Raising::Period(members.len()),
    })
}

/// Members who joined by the end of the due day. Later ones are charged from the next period on.
fn uncharged<M>(
    act: &mut Act<'_, '_, M>,
    group: &Group,
    due: Date,
    joined: Range<Timestamp>,
    after: Option<MemberId>,
) -> Result<Vec<(MemberId, String)>, AppError> {
    let limit = i64::try_from(RAISE_MAX).unwrap_or(i64::MAX);
    Ok(due::uncharged(
        act.tx,
        act.organization,
        group.id,
        due,
        joined,
        after,
        limit,
    )?)
}

pub fn due_now(group: &Group, today: Date) -> Option<Date> {
    group.next_due().filter(|due| *due <= today)
}

/// Remembers the next date of a series whose past dates are skipped, so that the group is not found due before it.
/// This is not part of the representation, so `updatedAt` does not move.
fn note_skipped(act: &mut Act<'_, '_>, group: &Group) -> Result<(), AppError> {
    let next = group.next_due();
    if next.is_some() && next > group.dues_from && group.dues_from > group.due_date {
        due::set_dues_from(act.tx, act.organization, group.id, next)?;
    }
    Ok(())
}

fn charge(act: &mut Act<'_, '_>, group: &Group, amount: Money, member: MemberId, due: Date) -> Payment {
    let id: PaymentId = act.new_id();
    let stamps = Stamps::at(act.tick());
    Payment {
        member_id: Some(member),
        group_id: Some(group.id),
        description: format!("{}, due {due}", group.name),
        amount,
        due_date: Some(due),
        dues_for: Some(due),
        ..Payment::blank(id, group.currency, stamps)
    }
}

#[derive(Clone, Debug)]
pub struct NewDues {
    /// Per member and period, as decimal text in the organization's currency.
    pub amount: String,
    /// The first due date.
    pub due: Date,
    /// `None` for dues that do not recur.
    pub interval: Option<Interval>,
}

/// `None` clears the dues.
pub fn set(act: &mut Act<'_, '_>, group: GroupId, dues: Option<&NewDues>) -> Result<Group, AppError> {
    act.allow(&SET)?;
    let organization = act.organization;
    let before: Group = act.find(group)?;
    let mut group = before.clone();
    match dues {
        Some(dues) => {
            let today = books::open(act)?.today;
            apply(&mut group, dues, today)?;
        }
        None => {
            (group.amount_due, group.due_date, group.dues_from) = (None, None, None);
            (group.is_recurring, group.recurring_interval, group.due_anchor_day) = (false, None, None);
            group.dues_since = None;
            due::close(act.tx, organization, group.id, None)?;
        }
    }
    if group == before {
        return Ok(before);
    }
    act.update(&mut group)?;
    let action = if dues.is_some() { SET.name } else { "dues.clear" };
    act.log(action, Some(group.id.to_string()), None)?;
    Ok(group)
}

fn apply(group: &mut Group, dues: &NewDues, today: Date) -> Result<(), Refusal> {
    let amount =
        Money::parse(&dues.amount, group.currency).map_err(|rule| Refusal::invalid("amountDue", rule))?;
    if amount.minor == 0 {
        return Err(Refusal::invalid(
            "amountDue",
            "must be greater than 0; clear the dues to charge nothing",
        ));
    }
    if dues.due < today {
        let rule = format!(
            "must be today ({today}) or later, got {}; past periods are not charged",
            dues.due
        );
        return Err(Refusal::invalid("dueDate", rule));
    }
    // A series that goes on, with another amount perhaps, has the periods that it had.
    let goes_on = group.recurring_interval == dues.interval
        && pro_rata::Period::at(group, dues.due).is_some_and(|period| period.due == dues.due);
    group.dues_since = group.dues_since.filter(|_| goes_on).or(Some(dues.due));
    group.amount_due = Some(amount);
    group.due_date = Some(dues.due);
    group.due_anchor_day = Some(dues.due.day());
    group.dues_from = Some(dues.due);
    (group.is_recurring, group.recurring_interval) = (dues.interval.is_some(), dues.interval);
    Ok(())
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    pub group_id: GroupId,
    pub name: String,
    /// Per member and period; null when the group has no dues.
    pub amount_due: Option<Money>,
    pub currency: Currency,
    /// The due date that is raised next; null when there is none.
    pub due_date: Option<Date>,
    pub recurring_interval: Option<Interval>,
    /// The periods that are due by today, or the next one if none is.
    pub periods: Vec<Period>,
    /// Payments of all periods.
    pub count: i64,
    pub total: Money,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Period {
    pub due_date: Date,
    pub is_due: bool,
    pub count: i64,
    pub total: Money,
    /// At most [`PREVIEW_NAMES_MAX`] in all periods together.
    pub members: Vec<Charged>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Charged {
    pub member_id: MemberId,
    pub name: String,
}

/// What raising would do now, or on the next due date if none has come.
pub fn preview(view: &mut View<'_, '_>, group: GroupId) -> Result<Preview, AppError> {
    view.allow(&PREVIEW)?;
    let mut group: Group = view.find(group)?;
    let books = books::open(view)?;
    let zero = Money::zero(group.currency);
    let mut preview = Preview {
        group_id: group.id,
        name: group.name.clone(),
        amount_due: group.amount_due,
        currency: group.currency,
        due_date: group.next_due(),
        recurring_interval: group.recurring_interval,
        periods: Vec::new(),
        count: 0,
        total: zero,
    };
    let (mut total, mut names_left) = (0, PREVIEW_NAMES_MAX);
    while let Some(due) = group.next_due() {
        let is_due = due <= books.today;
        if !is_due && !preview.periods.is_empty() {
            break;
        }
        let period = preview_period(view, &books, &group, (due, is_due), &mut names_left)?;
        preview.count += period.count;
        total += i128::from(period.total.minor);
        preview.periods.push(period);
        group.move_on(due);
    }
    preview.total = Money::total("these dues", total, group.currency)?;
    Ok(preview)
}

fn preview_period(
    view: &mut View<'_, '_>,
    books: &Books,
    group: &Group,
    (due, is_due): (Date, bool),
    names_left: &mut usize,
) -> Result<Period, AppError> {
    let amount = group.amount_due.unwrap_or(Money::zero(group.currency));
    let mut period = Period {
        due_date: due,
        is_due,
        count: 0,
        total: Money::zero(group.currency),
        members: Vec::new(),
    };
    let mut after = None;
    loop {
        let end = books.organization.time_zone.start(due.plus_days(1));
        let members = uncharged(view, group, due, ALWAYS..end, after)?;
        let count = i64::try_from(members.len()).unwrap_or(i64::MAX);
        period.count += count;
        after = members.last().map(|(id, _)| *id);
        let is_last = members.len() < RAISE_MAX;
        for (member_id, name) in members.into_iter().take(*names_left) {
            *names_left -= 1;
            period.members.push(Charged { member_id, name });
        }
        if is_last {
            let total = i128::from(amount.minor) * i128::from(period.count);
            period.total = Money::total("these dues", total, group.currency)?;
            return Ok(period);
        }
    }
}

pub fn nothing_due(preview: &Preview) -> Refusal {
    Refusal::conflict(match preview.due_date {
        Some(due) => format!(
            "the dues of {:?} fall due on {due} and are raised then; set an earlier due date to raise them sooner",
            preview.name
        ),
        None => format!(
            "{:?} has no dues to raise; give it some with `bursar dues set`",
            preview.name
        ),
    })
}
