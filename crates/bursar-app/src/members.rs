use bursar_db::bulk::Subject;
use bursar_db::{memberships, open_charges, recipients};
use bursar_domain::access::{Role, Scope};
use bursar_domain::email::{check_email, check_phone};
use bursar_domain::group::Group;
use bursar_domain::ids::{BulkId, GroupId, MemberId};
use bursar_domain::member::{Member, MemberChange};
use bursar_domain::money::Money;
use bursar_domain::payment::Payment;
use bursar_domain::text::NAME;
use bursar_domain::{Date, Refusal, Stamps};

use crate::act::{Act, View};
use crate::bulk::{self, Undone};
use crate::cards;
use crate::error::AppError;
use crate::groups::Counts;
use crate::privacy;
use crate::pro_rata;
use crate::resources::Readable;
use crate::rule::Rule;

pub const ADD: Rule = Rule::of("member.add", Role::Editor, "add members");
pub const CHANGE: Rule =
    Rule::of("member.change", Role::Editor, "change members").or_token(&[Scope::MembersWrite]);

/// Archiving many at once.
pub const ARCHIVE: Rule = Rule::of("member.archive_many", Role::Editor, "archive members");

pub const RULES: &[&Rule] = &[&ADD, &CHANGE, &ARCHIVE];

/// Archiving and restoring also change the member's groups, because their counts change. Archiving freezes the
/// member's active cards.
pub fn change(act: &mut Act<'_, '_>, id: MemberId, change: &MemberChange) -> Result<Member, AppError> {
    act.allow(&CHANGE)?;
    change_counted(act, id, change, None)
}

/// What a member changes themselves. The caller has asked a rule.
pub(crate) fn change_own(
    act: &mut Act<'_, '_>,
    id: MemberId,
    change: &MemberChange,
) -> Result<Member, AppError> {
    change_counted(act, id, change, None)
}

/// Asks no rule. With `counts` the groups are left to be counted with others.
fn change_counted(
    act: &mut Act<'_, '_>,
    id: MemberId,
    change: &MemberChange,
    counts: Option<&mut Counts>,
) -> Result<Member, AppError> {
    let before: Member = act.find(id)?;
    let Some(mut member) = change.clone().apply(&before) else {
        return Ok(before);
    };
    privacy::check_not_erased(&before)?;
    if let Some(payer) = member.payer_id.filter(|_| member.payer_id != before.payer_id) {
        check_payer(act, id, payer)?;
    }
    match counts {
        Some(counts) => counts.moved(Some(&before), Some(&member)),
        None => {
            let mut counts = Counts::default();
            counts.moved(Some(&before), Some(&member));
            counts.settle(act)?;
        }
    }
    if before.is_active && !member.is_active {
        cards::freeze_of(act, id)?;
    }
    act.update(&mut member)?;
    let action = match (before.is_active, member.is_active) {
        (true, false) => "member.archive",
        (false, true) => "member.restore",
        (true, true) | (false, false) => CHANGE.name,
    };
    act.log(action, Some(id.to_string()), None)?;
    Ok(member)
}

/// Archives these members as one act that can be undone. Those who are archived already are left out.
pub fn archive_many(act: &mut Act<'_, '_>, members: &[MemberId]) -> Result<(BulkId, usize), AppError> {
    act.allow(&ARCHIVE)?;
    let archived = MemberChange {
        is_active: Some(false),
        ..MemberChange::default()
    };
    let (mut subjects, mut counts) = (Vec::with_capacity(members.len()), Counts::default());
    for id in members {
        if !act.find::<Member>(*id)?.is_active {
            continue;
        }
        let member = change_counted(act, *id, &archived, Some(&mut counts))?;
        subjects.push(Subject {
            id: member.id.to_bytes(),
            other: None,
            updated_at: member.stamps.updated_at,
            previous: None,
        });
    }
    counts.settle(act)?;
    Ok((bulk::note(act, &ARCHIVE, &subjects)?, subjects.len()))
}

/// Restores a member whom a bulk act archived, unless the member has changed since.
pub(crate) fn undo_archive(
    act: &mut Act<'_, '_>,
    subject: &Subject,
    counts: &mut Counts,
    undone: &mut Undone,
) -> Result<(), AppError> {
    let id = MemberId::from_bytes(subject.id);
    match act.get::<Member>(id)? {
        None => undone
            .left
            .push((id.to_string(), "it no longer exists".to_owned())),
        Some(member) if member.stamps.updated_at != subject.updated_at => {
            let why = "the member has changed since".to_owned();
            undone.left.push((id.to_string(), why));
        }
        Some(_) => {
            let restored = MemberChange {
                is_active: Some(true),
                ..MemberChange::default()
            };
            change_counted(act, id, &restored, Some(counts))?;
            undone.reversed.push(id.to_string());
        }
    }
    Ok(())
}

/// What the member still owes.
pub fn owed(view: &mut View<'_, '_>, id: MemberId) -> Result<Money, AppError> {
    view.allow(&Member::READ)?;
    let currency = view.own()?.currency;
    let open = recipients::owed_by_member(view.tx, view.organization, id, None)?;
    let sum = open.iter().map(|owed| i128::from(owed.open)).sum();
    Ok(Money::total("what the member owes", sum, currency)?)
}

/// A payer is another member who pays for themselves, and a member who pays for others has none.
fn check_payer(act: &mut Act<'_, '_>, id: MemberId, payer: MemberId) -> Result<(), AppError> {
    let refuse = |rule: String| Err(Refusal::invalid("payer", rule).into());
    let found = act.get::<Member>(payer)?;
    let found = found.ok_or_else(|| Refusal::missing_reference("payer", payer))?;
    if payer == id {
        return refuse(
            "must be another member; somebody who pays for themselves has none (`none` on the command line)"
                .to_owned(),
        );
    }
    privacy::check_not_erased(&found)?;
    if let Some(other) = found.payer_id {
        return refuse(format!(
            "must be somebody who pays for themselves; {} has a payer, {other}",
            found.name()
        ));
    }
    let household = open_charges::household(act.tx, act.organization, id)?;
    match household.is_empty() {
        true => Ok(()),
        false => refuse(format!(
            "must be empty for a member who pays for others: {}",
            household
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        )),
    }
}

#[derive(Clone, Debug, Default)]
pub struct NewMember {
    pub first_name: String,
    pub last_name: String,
    pub email: Option<String>,
    pub phone: Option<String>,
    /// Today if left out.
    pub join_date: Option<Date>,
    pub groups: Vec<GroupId>,
}

fn name(field: &'static str, text: &str) -> Result<String, AppError> {
    NAME.check(text)
        .map_err(|rule| Refusal::invalid(field, rule).into())
}

/// A member who was added.
#[derive(Clone, Debug)]
pub struct Added {
    pub member: Member,
    /// For the months left of the periods of groups that charge them.
    pub charges: Vec<Payment>,
}

/// Stamps the groups before the member, and the member before the charges.
pub fn add(act: &mut Act<'_, '_>, new: &NewMember) -> Result<Added, AppError> {
    act.allow(&ADD)?;
    let (first_name, last_name) = (
        name("first-name", &new.first_name)?,
        name("last-name", &new.last_name)?,
    );
    let email = new
        .email
        .as_deref()
        .map(check_email)
        .transpose()
        .map_err(Refusal::of_field("email"))?;
    let phone = new
        .phone
        .as_deref()
        .map(check_phone)
        .transpose()
        .map_err(|rule| Refusal::invalid("phone", rule))?;
    let id: MemberId = act.new_id();
    let mut groups = new.groups.clone();
    groups.sort_unstable();
    groups.dedup();
    let mut joined: Vec<Group> = Vec::with_capacity(groups.len());
    for group in &groups {
        let mut group: Group = act.find(*group)?;
        memberships::add(act.tx, act.organization, group.id, id, act.now())?;
        group.member_count += 1;
        act.update(&mut group)?;
        joined.push(group);
    }
    let today = act.own()?.time_zone.date(act.now());
    let stamps = Stamps::at(act.tick());
    let member = Member {
        id,
        first_name,
        last_name,
        email,
        phone,
        is_active: true,
        join_date: Some(new.join_date.unwrap_or(today)),
        groups,
        payer_id: None,
        reference: Some(act.next_reference()),
        bank_accounts: Vec::new(),
        erased_at: None,
        stamps,
    };
    act.insert(&member)?;
    act.log(ADD.name, Some(id.to_string()), None)?;
    let mut charges = Vec::new();
    for group in &joined {
        charges.extend(pro_rata::joined(act, group, &member)?);
    }
    Ok(Added { member, charges })
}
