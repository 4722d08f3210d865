//! Groups and their members.

use bursar_db::bulk::Subject;
use bursar_db::{memberships, table};
use bursar_domain::access::{Role, Scope};
use bursar_domain::group::{Group, GroupChange, NewGroup};
use bursar_domain::ids::{BulkId, GroupId, MemberId};
use bursar_domain::member::Member;
use bursar_domain::organization::address_key;
use bursar_domain::{Refusal, Resource, Stamps};

use crate::act::Act;
use crate::bulk;
use crate::error::AppError;
use crate::rule::Rule;

pub const CREATE: Rule =
    Rule::of("group.create", Role::Editor, "make groups").or_token(&[Scope::GroupsWrite]);
pub const CHANGE: Rule =
    Rule::of("group.change", Role::Editor, "change groups").or_token(&[Scope::GroupsWrite]);
pub const REMOVE_MEMBER: Rule =
    Rule::of("group.remove_member", Role::Editor, "change groups").or_token(&[Scope::GroupsWrite]);
pub const ADD_MEMBER: Rule = Rule::of("group.add_member", Role::Editor, "change groups");
/// Adding many members at once.
pub const ADD: Rule = Rule::of("group.add", Role::Editor, "change groups");

pub const RULES: &[&Rule] = &[&CREATE, &CHANGE, &REMOVE_MEMBER, &ADD_MEMBER, &ADD];

pub fn create(act: &mut Act<'_, '_>, new: &NewGroup) -> Result<Group, AppError> {
    act.allow(&CREATE)?;
    let currency = act.own()?.currency;
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let group = Group {
        name: new.name.clone(),
        description: new.description.clone(),
        ..Group::blank(id, currency, stamps)
    };
    act.insert(&group)?;
    act.log(CREATE.name, Some(id.to_string()), None)?;
    Ok(group)
}

pub fn change(act: &mut Act<'_, '_>, id: GroupId, change: &GroupChange) -> Result<Group, AppError> {
    act.allow(&CHANGE)?;
    let before: Group = act.find(id)?;
    let Some(mut group) = change.clone().apply(&before) else {
        return Ok(before);
    };
    act.update(&mut group)?;
    act.log(CHANGE.name, Some(id.to_string()), None)?;
    Ok(group)
}

/// `memberCount` counts active members, so removing an archived one does not change the group.
pub fn remove_member(act: &mut Act<'_, '_>, id: GroupId, member: MemberId) -> Result<Group, AppError> {
    act.allow(&REMOVE_MEMBER)?;
    let mut group: Group = act.find(id)?;
    if !memberships::remove(act.tx, act.organization, id, member)? {
        return Err(Refusal::missing("this member is not in the group").into());
    }
    let mut member: Member = act.find(member)?;
    member.groups.retain(|other| *other != id);
    act.update(&mut member)?;
    if member.is_active {
        group.member_count -= 1;
        act.update(&mut group)?;
    }
    act.log(REMOVE_MEMBER.name, Some(member.id.to_string()), None)?;
    Ok(group)
}

pub fn add_member(act: &mut Act<'_, '_>, id: GroupId, member: MemberId) -> Result<Group, AppError> {
    act.allow(&ADD_MEMBER)?;
    let group = join(act, id, member)?;
    act.log(ADD_MEMBER.name, Some(member.to_string()), None)?;
    Ok(group)
}

/// Stamps the member before the group.
fn join(act: &mut Act<'_, '_>, id: GroupId, member: MemberId) -> Result<Group, AppError> {
    let mut group: Group = act.find(id)?;
    let mut member: Member = act.find(member)?;
    if member.groups.contains(&id) {
        return Err(Refusal::conflict(format!("{} is in the group already", member.id)).into());
    }
    let now = act.now();
    memberships::add(act.tx, act.organization, id, member.id, now)?;
    member.groups.push(id);
    member.groups.sort_unstable();
    act.update(&mut member)?;
    if member.is_active {
        group.member_count += 1;
        act.update(&mut group)?;
    }
    Ok(group)
}

#[derive(Clone, Debug)]
pub struct AddedMany {
    /// Undo takes this id.
    pub id: BulkId,
    pub added: Vec<MemberId>,
    /// Addresses of members who were in the group before.
    pub already: Vec<String>,
}

/// Adds everybody with one of these addresses. An address that no active member has is refused, and nothing is
/// written.
pub fn add_by_address(
    act: &mut Act<'_, '_>,
    id: GroupId,
    addresses: &[String],
) -> Result<AddedMany, AppError> {
    act.allow(&ADD)?;
    let mut wanted: Vec<(String, Vec<Member>)> = addresses
        .iter()
        .map(|address| (address_key(address.trim()), Vec::new()))
        .collect();
    wanted.retain(|(address, _)| !address.is_empty());
    table::each::<Member>(act.tx, act.organization, |kept| {
        let member = kept.resource?;
        let Some(key) = member.email.as_deref().map(address_key) else {
            return Ok(());
        };
        for (_, found) in wanted
            .iter_mut()
            .filter(|(address, _)| member.is_active && *address == key)
        {
            found.push(member.clone());
        }
        Ok(())
    })?;
    let unknown: Vec<&str> = wanted
        .iter()
        .filter(|(_, found)| found.is_empty())
        .map(|(address, _)| address.as_str())
        .collect();
    if !unknown.is_empty() {
        return Err(Refusal::missing(format!(
            "no active member has {}; nothing was changed",
            unknown.join(", ")
        ))
        .into());
    }
    let (mut added, mut already, mut subjects) = (Vec::new(), Vec::new(), Vec::new());
    for (address, members) in wanted {
        for member in members {
            if member.groups.contains(&id) || added.contains(&member.id) {
                already.push(address.clone());
            } else {
                join(act, id, member.id)?;
                added.push(member.id);
                subjects.push(Subject {
                    id: member.id.to_bytes(),
                    other: Some(id.to_bytes()),
                    updated_at: act.now(),
                    previous: None,
                });
            }
        }
    }
    let id = bulk::note(act, &ADD, &subjects)?;
    Ok(AddedMany { id, added, already })
}
