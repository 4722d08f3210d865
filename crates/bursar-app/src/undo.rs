//! Undoing a bulk act: what has not moved on since is reversed; the rest is left, and told.

use bursar_db::bulk::{self, BulkAct, Subject};
use bursar_db::{Tx, memberships, table};
use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::group::Group;
use bursar_domain::ids::{BulkId, GroupId, MemberId, PaymentId};
use bursar_domain::member::Member;
use bursar_domain::payment::Payment;

use crate::act::{Act, Context};
use crate::error::AppError;
use crate::officers::require;
use crate::roster;

/// What an undo did.
#[derive(Clone, Debug, Default)]
pub struct Undone {
    /// What was reversed, by id.
    pub reversed: Vec<String>,
    /// What was left, by id, and why.
    pub left: Vec<(String, String)>,
}

/// Undoes a bulk act of an organization.
pub fn undo(tx: &mut Tx<'_>, context: &mut Context, id: BulkId) -> Result<Undone, AppError> {
    let missing = || Refusal::missing(format!("there is no bulk act {id}"));
    let found = bulk::get(tx, id)?.ok_or_else(missing)?;
    Act::run(tx, context, found.organization, |act| {
        require(act, Role::Editor, "undo bulk acts")?;
        let bulk_act = bulk::get(act.tx, id)?.ok_or_else(missing)?;
        if let Some(at) = bulk_act.undone_at {
            return Err(Refusal::conflict(format!("{id} was undone at {at}")).into());
        }
        let mut undone = Undone::default();
        let subjects = bulk::subjects(act.tx, &bulk_act)?;
        if bulk_act.kind == "roster.import" {
            roster::undo(act, &subjects, &mut undone)?;
        } else {
            for subject in &subjects {
                undo_one(act, &bulk_act, subject, &mut undone)?;
            }
        }
        if undone.reversed.is_empty() && !undone.left.is_empty() {
            // Nothing was undone, so it can be once what came after it is.
            return Ok(undone);
        }
        let now = act.now();
        bulk::undone(act.tx, &bulk_act, now)?;
        act.log(
            "undo",
            Some(id.to_string()),
            i64::try_from(undone.reversed.len()).ok(),
        )?;
        Ok(undone)
    })
}

fn undo_one(
    act: &mut Act<'_, '_>,
    bulk_act: &BulkAct,
    subject: &Subject,
    undone: &mut Undone,
) -> Result<(), AppError> {
    match bulk_act.kind.as_str() {
        "payments.raise" => undo_payment(act, PaymentId::from_bytes(subject.id), subject, undone),
        "group.add" => {
            let group = subject
                .other
                .map(GroupId::from_bytes)
                .ok_or_else(|| Refusal::missing("the group is not known"))?;
            undo_membership(act, MemberId::from_bytes(subject.id), group, subject, undone)
        }
        kind => Err(Refusal::conflict(format!("{kind} cannot be undone")).into()),
    }
}

fn undo_payment(
    act: &mut Act<'_, '_>,
    id: PaymentId,
    subject: &Subject,
    undone: &mut Undone,
) -> Result<(), AppError> {
    let payment: Option<Payment> = table::get(act.tx, act.organization, id)?;
    match payment {
        None => undone.left.push((id.to_string(), "it is gone".to_owned())),
        Some(payment) if payment.stamps.updated_at != subject.updated_at => {
            undone.left.push((
                id.to_string(),
                format!("it has moved on since: it is {}", payment.status),
            ));
        }
        Some(mut payment) => {
            payment.cancel(act.now())?;
            act.update(&mut payment)?;
            undone.reversed.push(id.to_string());
        }
    }
    Ok(())
}

fn undo_membership(
    act: &mut Act<'_, '_>,
    id: MemberId,
    group: GroupId,
    subject: &Subject,
    undone: &mut Undone,
) -> Result<(), AppError> {
    let (member, group): (Option<Member>, Option<Group>) = (
        table::get(act.tx, act.organization, id)?,
        table::get(act.tx, act.organization, group)?,
    );
    let (Some(mut member), Some(mut group)) = (member, group) else {
        undone.left.push((id.to_string(), "it is gone".to_owned()));
        return Ok(());
    };
    let left = match memberships::joined_at(act.tx, act.organization, group.id, id)? {
        None => Some("the member has left the group since"),
        // Whoever left and came back is in the group by somebody else's act.
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
    member.groups.retain(|other| *other != group.id);
    act.update(&mut member)?;
    if member.is_active {
        group.member_count -= 1;
        act.update(&mut group)?;
    }
    undone.reversed.push(id.to_string());
    Ok(())
}
