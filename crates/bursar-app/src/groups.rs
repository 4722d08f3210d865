//! Groups and who is in them.

use bursar_db::{memberships, organizations, table};
use bursar_domain::group::{Group, GroupChange, NewGroup};
use bursar_domain::ids::{GroupId, MemberId};
use bursar_domain::member::Member;
use bursar_domain::{Refusal, Resource, Stamps};

use crate::act::{Act, no_organization};
use crate::error::AppError;

/// The refusal for a group that is not there.
pub fn no_group() -> Refusal {
    Refusal::missing("there is no such group")
}

/// Makes a group.
pub fn create(act: &mut Act<'_, '_>, new: &NewGroup) -> Result<Group, AppError> {
    let organization =
        organizations::get(act.tx, act.organization)?.ok_or_else(|| no_organization(act.organization))?;
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let group = Group {
        name: new.name.clone(),
        description: new.description.clone(),
        ..Group::blank(id, organization.currency, stamps)
    };
    act.insert(&group)?;
    act.log("group.create", Some(id.to_string()), None)?;
    Ok(group)
}

/// Renames a group or changes its description.
pub fn change(act: &mut Act<'_, '_>, id: GroupId, change: &GroupChange) -> Result<Group, AppError> {
    let before: Group = table::get(act.tx, act.organization, id)?.ok_or_else(no_group)?;
    let Some(mut group) = change.clone().apply(&before) else {
        return Ok(before);
    };
    act.update(&mut group)?;
    act.log("group.change", Some(id.to_string()), None)?;
    Ok(group)
}

/// Takes a member out of a group. The count is of active members, so an archived one leaves the group as it is.
pub fn remove_member(act: &mut Act<'_, '_>, id: GroupId, member: MemberId) -> Result<Group, AppError> {
    let mut group: Group = table::get(act.tx, act.organization, id)?.ok_or_else(no_group)?;
    if !memberships::remove(act.tx, act.organization, id, member)? {
        return Err(Refusal::missing("this member is not in the group").into());
    }
    let no_member = || Refusal::missing("there is no such member");
    let mut member: Member = table::get(act.tx, act.organization, member)?.ok_or_else(no_member)?;
    member.groups.retain(|other| *other != id);
    act.update(&mut member)?;
    if member.is_active {
        group.member_count -= 1;
        act.update(&mut group)?;
    }
    act.log("group.remove_member", Some(member.id.to_string()), None)?;
    Ok(group)
}
