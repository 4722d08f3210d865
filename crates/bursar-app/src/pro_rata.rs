//! What members who join or leave a group within a period of its dues are charged.
//!
//! A period runs from its due day to the day before the next. Who joins within it is charged at once for the months left.
//! The charge is the dues of that period (`duesFor`), so neither the worker nor an officer's raise charges them again.

use bursar_db::{journal, open_charges};
use bursar_domain::access::Role;
use bursar_domain::group::{Group, ProRata};
use bursar_domain::ids::{GroupId, MemberId};
use bursar_domain::journal::EntryKind;
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::pro_rata::Period;
use bursar_domain::{Resource, Stamps};

use crate::act::{Act, View};
use crate::books::charges::{self, Credits};
use crate::books::{self, Books, Closed};
use crate::error::AppError;
use crate::payments::{self, Adjustment};
use crate::rule::Rule;

pub const LEAVING: Rule = Rule::of("pro_rata.leaving", Role::Viewer, "see what members owe who leave");
pub const ADJUST: Rule = Rule::of(
    "pro_rata.adjust",
    Role::Editor,
    "adjust what members owe who leave",
);
pub const RULES: &[&Rule] = &[&LEAVING, &ADJUST];

/// The part of a group's dues that somebody who joins today is charged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    period: Period,
    pub amount: Money,
}

/// `None` where joining costs nothing now: without the rule, before the first due day, and on a due day whose dues the
/// worker has yet to raise, which charges in full.
pub(crate) fn part<M>(
    act: &mut Act<'_, '_, M>,
    books: &Books,
    group: &Group,
) -> Result<Option<Part>, AppError> {
    let whole = match group.pro_rata {
        ProRata::None => None,
        ProRata::Monthly => group.amount_due,
    };
    let (Some(whole), Some(period)) = (whole, Period::at(group, books.today)) else {
        return Ok(None);
    };
    let is_to_be_raised = period.due == books.today && group.next_due() <= Some(books.today);
    if is_to_be_raised && group.next_due().is_some() {
        return Ok(None);
    }
    let is_running = group.dues_since.is_some_and(|since| since <= period.due)
        || open_charges::any_with_dues(act.tx, act.organization, group.id, period.due)?;
    let minor = period.rest(whole.minor, books.today);
    let amount = Money::new(minor, whole.currency);
    Ok((is_running && minor > 0).then_some(Part { period, amount }))
}

/// Whether the member has the dues of the period already, for example from before leaving and coming back.
pub(crate) fn is_charged<M>(
    act: &mut Act<'_, '_, M>,
    group: &Group,
    part: &Part,
    member: MemberId,
) -> Result<bool, AppError> {
    let due = part.period.due;
    Ok(open_charges::has_dues(
        act.tx,
        act.organization,
        (group.id, due),
        member,
    )?)
}

/// Charges a member who has just joined, if the group wants it. Every way into a group ends here.
pub(crate) fn joined(
    act: &mut Act<'_, '_>,
    group: &Group,
    member: &Member,
) -> Result<Option<Payment>, AppError> {
    if group.pro_rata == ProRata::None || !member.is_active {
        return Ok(None);
    }
    let books = books::open(act)?;
    let Some(part) = part(act, &books, group)? else {
        return Ok(None);
    };
    if is_charged(act, group, &part, member.id)? {
        return Ok(None);
    }
    let mut credits = Credits::read(act, &books)?;
    charge(act, &books, &mut credits, (group, &part), member.id).map(Some)
}

pub(crate) fn charge(
    act: &mut Act<'_, '_>,
    books: &Books,
    credits: &mut Credits,
    (group, part): (&Group, &Part),
    member: MemberId,
) -> Result<Payment, AppError> {
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let mut payment = Payment {
        member_id: Some(member),
        group_id: Some(group.id),
        description: format!("{}, from {}", group.name, books.today),
        amount: part.amount,
        due_date: Some(books.today),
        dues_for: Some(part.period.due),
        ..Payment::blank(id, group.currency, stamps)
    };
    charges::raise(act, books, credits, &mut payment, Closed::UseToday)?;
    Ok(payment)
}

/// An open charge of a group that a member leaves.
#[derive(Clone, Debug)]
pub struct Leaving {
    pub payment: Payment,
    /// What would be fair: the months used, and nothing for what is not due yet. `None` if it should stay.
    pub amount: Option<Money>,
}

/// The open charges of a member in a group, or in all of the member's groups.
pub fn leaving(
    view: &mut View<'_, '_>,
    member: MemberId,
    group: Option<GroupId>,
) -> Result<Vec<Leaving>, AppError> {
    view.allow(&LEAVING)?;
    open(view, member, group)
}

fn open<M>(
    act: &mut Act<'_, '_, M>,
    member: MemberId,
    group: Option<GroupId>,
) -> Result<Vec<Leaving>, AppError> {
    let books = books::open(act)?;
    let member: Member = act.find(member)?;
    let mut found = Vec::new();
    for open in open_charges::of_member(act.tx, act.organization, member.id)? {
        let payment: Payment = act.find(open)?;
        let Some(id) = payment
            .group_id
            .filter(|id| group.is_none_or(|group| group == *id))
        else {
            continue;
        };
        let group: Group = act.find(id)?;
        let amount = fair(act, &books, &group, &payment)?;
        found.push(Leaving { payment, amount });
    }
    Ok(found)
}

fn fair<M>(
    act: &mut Act<'_, '_, M>,
    books: &Books,
    group: &Group,
    payment: &Payment,
) -> Result<Option<Money>, AppError> {
    let is_monthly = group.pro_rata == ProRata::Monthly;
    let period = Period::at(group, books.today).filter(|_| is_monthly);
    let used = if payment.fee_of.is_some() {
        None
    } else if payment.due_date.is_some_and(|due| due > books.today) {
        Some(0)
    } else if let Some(period) = period.filter(|period| payment.dues_for == Some(period.due)) {
        // Of what was charged, so that adjusting again changes nothing.
        let entries = journal::of_payment(act.tx, act.organization, payment.id)?;
        let charge = entries.iter().find(|entry| entry.kind == EntryKind::Charge);
        let whole = charge.map_or(payment.amount.minor, |entry| entry.owed_for(payment.id));
        let raised = books.organization.time_zone.date(payment.stamps.created_at);
        let charged = charge.map_or(raised, |entry| entry.date);
        // Dues that were raised after their day are for the whole period. A later due day does not change what they are for.
        let first = payment.due_date.map_or(charged, |due| due.min(charged));
        Some(period.used(whole, first, books.today))
    } else {
        None
    };
    let minor = used.map(|used| used.max(payment.paid_to_date.minor));
    let minor = minor.filter(|minor| *minor < payment.amount.minor);
    Ok(minor.map(|minor| Money::new(minor, payment.amount.currency)))
}

/// Corrects the open charges of a member who leaves to what is fair. Returns those that changed.
pub fn adjust(
    act: &mut Act<'_, '_>,
    member: MemberId,
    group: Option<GroupId>,
) -> Result<Vec<Payment>, AppError> {
    act.allow(&ADJUST)?;
    let books = books::open(act)?;
    let why = format!("left on {}", books.today);
    let mut changed = Vec::new();
    for Leaving { mut payment, amount } in open(act, member, group)? {
        let Some(amount) = amount else { continue };
        if amount.minor == 0 {
            let memo = (EntryKind::Cancel, Some(why.clone()));
            charges::cancel(act, &books, &mut payment, memo)?;
            act.log("payment.cancelled", Some(payment.id.to_string()), None)?;
            changed.push(payment);
        } else {
            let kind = Adjustment::Correction;
            changed.push(payments::adjust(
                act,
                payment.id,
                &amount.to_string(),
                kind,
                &why,
            )?);
        }
    }
    Ok(changed)
}
