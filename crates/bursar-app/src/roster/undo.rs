//! Undoes an import: archives added members, because members are never deleted, and restores changed ones. A member
//! that has changed since stays as it is. Groups that the import created stay too, without its members.

use bursar_db::bulk::{self, Subject};
use bursar_db::memberships;
use bursar_domain::fields::Fields;
use bursar_domain::ids::MemberId;
use bursar_domain::member::Member;
use bursar_domain::{Invariants, Timestamp};

use crate::act::Act;
use crate::bulk::Undone;
use crate::cards;
use crate::error::AppError;
use crate::groups::Counts;

pub(crate) fn undo(act: &mut Act<'_, '_>, subjects: &[Subject], undone: &mut Undone) -> Result<(), AppError> {
    let mut counts = Counts::default();
    for subject in subjects {
        let id = MemberId::from_bytes(subject.id);
        let Some(now) = act.get::<Member>(id)? else {
            undone
                .left
                .push((id.to_string(), "it no longer exists".to_owned()));
            continue;
        };
        if now.stamps.updated_at != subject.updated_at {
            let why = format!("{} {} has changed since", now.first_name, now.last_name);
            undone.left.push((id.to_string(), why));
            continue;
        }
        let (mut restored, then) = before(&now, subject)?;
        for group in now.groups.iter().filter(|group| !restored.groups.contains(group)) {
            memberships::remove(act.tx, act.organization, *group, id)?;
        }
        let joined_at = act.now();
        for group in restored.groups.iter().filter(|group| !now.groups.contains(group)) {
            memberships::add(act.tx, act.organization, *group, id, joined_at)?;
        }
        if now.is_active && !restored.is_active {
            cards::freeze_of(act, id)?;
        }
        if restored != now {
            act.update(&mut restored)?;
        }
        if let Some(then) = then {
            let stamp = restored.stamps.updated_at;
            bulk::stands_again(act.tx, act.organization, subject.id, then, stamp)?;
        }
        counts.moved(Some(&now), Some(&restored));
        undone.reversed.push(id.to_string());
    }
    counts.settle(act)
}

/// The member before the import, and since when it was so. A member that the import added becomes archived and is in
/// no group.
fn before(now: &Member, subject: &Subject) -> Result<(Member, Option<Timestamp>), AppError> {
    let mut member = now.clone();
    let Some(line) = &subject.previous else {
        member.is_active = false;
        member.groups.clear();
        return Ok((member, None));
    };
    let mut fields = Fields::parse(line)?;
    member.apply(&mut fields)?;
    Ok((member, fields.timestamp("updatedAt")?.optional()))
}
