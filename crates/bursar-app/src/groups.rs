//! Groups and their members.

use std::collections::BTreeMap;

use bursar_db::bulk::Subject;
use bursar_db::{memberships, table};
use bursar_domain::access::{Role, Scope};
use bursar_domain::group::{Group, GroupChange, NewGroup, ProRata};
use bursar_domain::ids::{BulkId, GroupId, MemberId};
use bursar_domain::late_fee::{LateAmount, LateRule, NONE};
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::organization::address_key;
use bursar_domain::payment::Payment;
use bursar_domain::text::{NAME, NOTE};
use bursar_domain::{Refusal, Resource, Stamps};

use crate::act::Act;
use crate::books;
use crate::bulk;
use crate::error::AppError;
use crate::pro_rata;
use crate::rule::Rule;

pub const CREATE: Rule =
    Rule::of("group.create", Role::Editor, "create groups").or_token(&[Scope::GroupsWrite]);
pub const CHANGE: Rule =
    Rule::of("group.change", Role::Editor, "change groups").or_token(&[Scope::GroupsWrite]);
/// The rules for money too, which no token changes.
pub const SET: Rule = Rule::of("group.set", Role::Editor, "change the settings of groups");
pub const REMOVE_MEMBER: Rule =
    Rule::of("group.remove_member", Role::Editor, "change groups").or_token(&[Scope::GroupsWrite]);
pub const ADD_MEMBER: Rule = Rule::of("group.add_member", Role::Editor, "change groups");
/// Adding many members at once.
pub const ADD: Rule = Rule::of("group.add", Role::Editor, "change groups");

pub const RULES: &[&Rule] = &[&CREATE, &CHANGE, &SET, &REMOVE_MEMBER, &ADD_MEMBER, &ADD];

const LATE_AFTER_MAX: i64 = 3_650;

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

/// What officers set, as they write it. `None` keeps the value; the word `none` removes it.
#[derive(Clone, Debug, Default)]
pub struct GroupSettings {
    pub name: Option<String>,
    pub description: Option<String>,
    /// An amount, a percentage such as `5%`, or `none` for no late fees at all.
    pub late_fee: Option<String>,
    /// How many days after the due day.
    pub late_after: Option<i64>,
    /// An amount, or `none`.
    pub late_cap: Option<String>,
    pub pro_rata: Option<ProRata>,
}

pub fn set(act: &mut Act<'_, '_>, id: GroupId, settings: &GroupSettings) -> Result<Group, AppError> {
    act.allow(&SET)?;
    let before: Group = act.find(id)?;
    let mut group = before.clone();
    if let Some(name) = &settings.name {
        group.name = NAME.check(name).map_err(Refusal::of_field("name"))?;
    }
    if let Some(text) = &settings.description {
        group.description = NOTE.check(text).map_err(Refusal::of_field("description"))?;
    }
    group.pro_rata = settings.pro_rata.unwrap_or(group.pro_rata);
    set_late_rule(&mut group, settings)?;
    if LateRule::of(&group) != LateRule::of(&before) {
        // Charges that are there have earlier stamps of the change clock.
        let today = books::open(act)?.today;
        group.follow_late_rule(Some(&before), act.tick(), today);
    }
    if group == before {
        return Ok(before);
    }
    act.update(&mut group)?;
    act.log(SET.name, Some(id.to_string()), None)?;
    Ok(group)
}

fn set_late_rule(group: &mut Group, settings: &GroupSettings) -> Result<(), Refusal> {
    match settings.late_fee.as_deref().map(str::trim) {
        None => {}
        Some(NONE) => {
            (group.late_fee, group.late_percent) = (None, None);
            (group.late_after_days, group.late_cap) = (None, None);
        }
        Some(text) => {
            (group.late_fee, group.late_percent) = match LateAmount::parse(text, group.currency)? {
                LateAmount::Fixed(fee) => (Some(fee), None),
                LateAmount::Percent(percent) => (None, Some(percent)),
            };
        }
    }
    if let Some(days) = settings.late_after {
        if !(0..=LATE_AFTER_MAX).contains(&days) {
            let rule = format!("must be 0 to {LATE_AFTER_MAX} days, got {days}");
            return Err(Refusal::invalid("late-after", rule));
        }
        group.late_after_days = Some(days);
    }
    match settings.late_cap.as_deref().map(str::trim) {
        None => {}
        Some(NONE) => group.late_cap = None,
        Some(text) => {
            let cap = Money::parse(text, group.currency).map_err(Refusal::of_field("late-cap"))?;
            if cap.minor == 0 {
                let rule = "must be greater than 0; none removes the cap";
                return Err(Refusal::invalid("late-cap", rule));
            }
            group.late_cap = Some(cap);
        }
    }
    let has_fee = group.late_fee.is_some() || group.late_percent.is_some();
    let missing = match (has_fee, group.late_after_days, group.late_cap) {
        (true, None, _) => (
            "late-after",
            "is required: how many days after the due day the fee is charged",
        ),
        (false, Some(_), _) | (false, None, Some(_)) => {
            ("late-fee", "is required: the amount, or a percentage such as 5%")
        }
        (true, Some(_), _) | (false, None, None) => return Ok(()),
    };
    Err(Refusal::invalid(missing.0, missing.1))
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

/// A member who is now in a group.
#[derive(Clone, Debug)]
pub struct Joined {
    pub group: Group,
    /// For the months left of the period, where the group charges them.
    pub charge: Option<Payment>,
}

pub fn add_member(act: &mut Act<'_, '_>, id: GroupId, member: MemberId) -> Result<Joined, AppError> {
    act.allow(&ADD_MEMBER)?;
    let joined = join(act, id, member, None)?;
    act.log(ADD_MEMBER.name, Some(member.to_string()), None)?;
    Ok(joined)
}

/// By how much `memberCount`, which counts active members, changes in an act on many members. Each group is written once.
#[derive(Debug, Default)]
pub(crate) struct Counts(BTreeMap<GroupId, i64>);

impl Counts {
    pub(crate) fn moved(&mut self, before: Option<&Member>, after: Option<&Member>) {
        for (member, step) in [(before, -1), (after, 1)] {
            let active = member.filter(|member| member.is_active);
            for group in active.map_or(&[][..], |member| &member.groups) {
                *self.0.entry(*group).or_default() += step;
            }
        }
    }

    /// What a group that is written otherwise counts.
    pub(crate) fn take(&mut self, group: GroupId) -> i64 {
        self.0.remove(&group).unwrap_or(0)
    }

    /// Updates every group whose count changed.
    pub(crate) fn settle(self, act: &mut Act<'_, '_>) -> Result<(), AppError> {
        for (id, step) in self.0.into_iter().filter(|(_, step)| *step != 0) {
            let mut group: Group = act.find(id)?;
            group.member_count += step;
            act.update(&mut group)?;
        }
        Ok(())
    }
}

/// Stamps the member before the group, and the group before the charge. With `counts` the group is left to be counted
/// with others.
fn join(
    act: &mut Act<'_, '_>,
    id: GroupId,
    member: MemberId,
    counts: Option<&mut Counts>,
) -> Result<Joined, AppError> {
    let mut group: Group = act.find(id)?;
    let mut member: Member = act.find(member)?;
    if member.groups.contains(&id) {
        return Err(Refusal::conflict(format!("{} is in the group already", member.id)).into());
    }
    let now = act.now();
    memberships::add(act.tx, act.organization, id, member.id, now)?;
    let before = member.clone();
    member.groups.push(id);
    member.groups.sort_unstable();
    act.update(&mut member)?;
    match counts {
        Some(counts) => counts.moved(Some(&before), Some(&member)),
        None if member.is_active => {
            group.member_count += 1;
            act.update(&mut group)?;
        }
        None => {}
    }
    let charge = pro_rata::joined(act, &group, &member)?;
    Ok(Joined { group, charge })
}

#[derive(Clone, Debug)]
pub struct AddedMany {
    /// Undo takes this id.
    pub id: BulkId,
    pub added: Vec<MemberId>,
    /// For the months left of the period, where the group charges them. Undo takes them back.
    pub charges: Vec<Payment>,
    /// Addresses or names of members who were in the group before.
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
    let found = wanted.into_iter().flat_map(|(address, members)| {
        let named = move |member| (address.clone(), member);
        members.into_iter().map(named)
    });
    join_all(act, id, found.collect())
}

/// Adds these members, who must be active.
pub fn add_many(act: &mut Act<'_, '_>, id: GroupId, members: &[MemberId]) -> Result<AddedMany, AppError> {
    act.allow(&ADD)?;
    let mut found = Vec::with_capacity(members.len());
    for member in members {
        let member: Member = act.find(*member)?;
        if !member.is_active {
            let message = format!("{} is archived; restore the member first", member.name());
            return Err(Refusal::conflict(message).into());
        }
        found.push((member.name(), member));
    }
    join_all(act, id, found)
}

/// Each with what people call them.
fn join_all(
    act: &mut Act<'_, '_>,
    id: GroupId,
    members: Vec<(String, Member)>,
) -> Result<AddedMany, AppError> {
    let (mut added, mut already, mut subjects) = (Vec::new(), Vec::new(), Vec::new());
    let (mut charges, mut counts) = (Vec::new(), Counts::default());
    for (called, member) in members {
        if member.groups.contains(&id) || added.contains(&member.id) {
            already.push(called);
            continue;
        }
        charges.extend(join(act, id, member.id, Some(&mut counts))?.charge);
        added.push(member.id);
        subjects.push(Subject {
            id: member.id.to_bytes(),
            other: Some(id.to_bytes()),
            updated_at: act.now(),
            previous: None,
        });
    }
    counts.settle(act)?;
    let id = bulk::note(act, &ADD, &subjects)?;
    // A charge has no other side, which tells it from a member.
    let raised: Vec<Subject> = charges.iter().map(bulk::raised).collect();
    bulk::add(act, &ADD, id, &raised)?;
    Ok(AddedMany {
        id,
        added,
        charges,
        already,
    })
}
