//! Undoes a bulk act. What has changed since is left as it is, with the reason.

use bursar_db::bulk::{self, BulkAct, Subject};
use bursar_db::memberships;
use bursar_domain::access::Role;
use bursar_domain::group::Group;
use bursar_domain::ids::{BulkId, GroupId, MemberId, OrganizationId, PaymentId};
use bursar_domain::member::Member;
use bursar_domain::payment::Payment;
use bursar_domain::{Refusal, Timestamp};

use crate::act::{Act, View, Whole};
use crate::books::{self, charges};
use crate::error::AppError;
use crate::groups::Counts;
use crate::rule::Rule;
use crate::{dues, groups, late_fees, members, payments, roster};

pub use crate::bulk::Undone;

pub const UNDO: Rule = Rule::of("undo", Role::Editor, "undo bulk acts");
pub const OWNER: Rule = Rule::of_operator("undo.owner", "look for bulk acts in all organizations");

pub const RULES: &[&Rule] = &[&UNDO, &OWNER];

fn missing(id: BulkId) -> impl FnOnce() -> Refusal {
    move || Refusal::missing(format!("there is no bulk act {id}"))
}

pub fn owner(whole: &mut Whole<'_, '_>, id: BulkId) -> Result<OrganizationId, AppError> {
    whole.allow(&OWNER)?;
    Ok(bulk::get(whole.tx, id)?.ok_or_else(missing(id))?.organization)
}

/// A bulk act, as it is told before it is undone.
#[derive(Clone, Debug)]
pub struct About {
    pub what: What,
    pub at: Timestamp,
    /// How many things it changed.
    pub count: i64,
    pub undone_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Charged,
    Dues,
    LateFees,
    Added,
    Archived,
    Imported,
}

pub fn about(view: &mut View<'_, '_>, id: BulkId) -> Result<About, AppError> {
    view.allow(&UNDO)?;
    let found = bulk::get(view.tx, id)?.filter(|found| found.organization == view.organization);
    let found = found.ok_or_else(missing(id))?;
    let kinds = [
        (payments::RAISE.name, What::Charged),
        (dues::RAISE.name, What::Dues),
        (late_fees::RAISE.name, What::LateFees),
        (groups::ADD.name, What::Added),
        (members::ARCHIVE.name, What::Archived),
        (roster::IMPORT.name, What::Imported),
    ];
    let what = kinds.into_iter().find(|(kind, _)| *kind == found.kind);
    let (_, what) = what.ok_or_else(|| Refusal::conflict(format!("{} cannot be undone", found.kind)))?;
    Ok(About {
        what,
        at: found.at,
        count: bulk::count(view.tx, &found)?,
        undone_at: found.undone_at,
    })
}

pub fn undo(act: &mut Act<'_, '_>, id: BulkId) -> Result<Undone, AppError> {
    act.allow(&UNDO)?;
    let found = bulk::get(act.tx, id)?.filter(|found| found.organization == act.organization);
    let bulk_act = found.ok_or_else(missing(id))?;
    if let Some(at) = bulk_act.undone_at {
        return Err(Refusal::conflict(format!("{id} was undone at {at}")).into());
    }
    let mut undone = Undone::default();
    let subjects = bulk::subjects(act.tx, &bulk_act)?;
    if bulk_act.kind == roster::IMPORT.name {
        let (charges, members): (Vec<_>, Vec<_>) =
            subjects.into_iter().partition(|subject| subject.other.is_some());
        for charge in &charges {
            undo_payment(act, PaymentId::from_bytes(charge.id), charge, &mut undone)?;
        }
        roster::undo(act, &members, &mut undone)?;
    } else {
        let mut counts = Counts::default();
        for subject in &subjects {
            undo_one(act, &bulk_act, subject, &mut counts, &mut undone)?;
        }
        counts.settle(act)?;
    }
    if undone.reversed.is_empty() && !undone.left.is_empty() {
        // Nothing was undone, so it can be tried again after later changes are undone.
        return Ok(undone);
    }
    let now = act.now();
    bulk::undone(act.tx, &bulk_act, now)?;
    let count = i64::try_from(undone.reversed.len()).ok();
    act.log(UNDO.name, Some(id.to_string()), count)?;
    Ok(undone)
}

fn undo_one(
    act: &mut Act<'_, '_>,
    bulk_act: &BulkAct,
    subject: &Subject,
    counts: &mut Counts,
    undone: &mut Undone,
) -> Result<(), AppError> {
    match bulk_act.kind.as_str() {
        kind if [payments::RAISE.name, dues::RAISE.name, late_fees::RAISE.name].contains(&kind) => {
            undo_payment(act, PaymentId::from_bytes(subject.id), subject, undone)
        }
        kind if kind == groups::ADD.name => {
            match subject.other.map(GroupId::from_bytes) {
                Some(group) => {
                    let member = MemberId::from_bytes(subject.id);
                    undo_membership(act, (member, group), subject, counts, undone)
                }
                // What the member was charged for joining.
                None => undo_payment(act, PaymentId::from_bytes(subject.id), subject, undone),
            }
        }
        kind if kind == members::ARCHIVE.name => members::undo_archive(act, subject, counts, undone),
        kind => Err(Refusal::conflict(format!("{kind} cannot be undone")).into()),
    }
}

fn undo_payment(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    subject: &Subject,
    undone: &mut Undone,
) -> Result<(), AppError> {
    let payment: Option<Payment> = act.get(id)?;
    match payment {
        None => undone
            .left
            .push((id.to_string(), "it no longer exists".to_owned())),
        Some(payment) if payment.stamps.updated_at != subject.updated_at => {
            undone.left.push((
                id.to_string(),
                format!("it has moved on since: it is {}", payment.status),
            ));
        }
        Some(mut payment) => {
            let books = books::open(act)?;
            charges::take_back(act, &books, &mut payment)?;
            charges::cancel_fees(act, &books, id)?;
            undone.reversed.push(id.to_string());
        }
    }
    Ok(())
}

fn undo_membership(
    act: &mut Act<'_, '_>,
    (id, group): (MemberId, GroupId),
    subject: &Subject,
    counts: &mut Counts,
    undone: &mut Undone,
) -> Result<(), AppError> {
    let (Some(before), Some(group)) = (act.get::<Member>(id)?, act.get::<Group>(group)?) else {
        undone
            .left
            .push((id.to_string(), "it no longer exists".to_owned()));
        return Ok(());
    };
    let left = match memberships::joined_at(act.tx, act.organization, group.id, id)? {
        None => Some("the member has left the group since"),
        // A member who left and came back is in the group by another act.
        Some(at) if at != subject.updated_at => {
            Some("the member has left the group since and was added again")
        }
        Some(_) => None,
    };
    if let Some(why) = left {
        undone.left.push((id.to_string(), why.to_owned()));
        return Ok(());
    }
    memberships::remove(act.tx, act.organization, group.id, id)?;
    let mut member = before.clone();
    member.groups.retain(|other| *other != group.id);
    act.update(&mut member)?;
    counts.moved(Some(&before), Some(&member));
    undone.reversed.push(id.to_string());
    Ok(())
}
