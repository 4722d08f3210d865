//! Members.

use bursar_db::table;
use bursar_domain::Refusal;
use bursar_domain::group::Group;
use bursar_domain::ids::MemberId;
use bursar_domain::member::{Member, MemberChange};

use crate::act::Act;
use crate::error::AppError;

/// The refusal for a member that is not there.
pub fn no_member() -> Refusal {
    Refusal::missing("there is no such member")
}

/// Changes a member. Archiving and restoring move the groups it is in, because their counts change.
pub fn change(act: &mut Act<'_, '_>, id: MemberId, change: &MemberChange) -> Result<Member, AppError> {
    let before: Member = table::get(act.tx, act.organization, id)?.ok_or_else(no_member)?;
    let Some(mut member) = change.clone().apply(&before) else {
        return Ok(before);
    };
    if member.is_active != before.is_active {
        for group in &member.groups {
            let mut group: Group = table::get(act.tx, act.organization, *group)?.ok_or_else(no_group)?;
            group.member_count += if member.is_active { 1 } else { -1 };
            act.update(&mut group)?;
        }
    }
    act.update(&mut member)?;
    let action = match (before.is_active, member.is_active) {
        (true, false) => "member.archive",
        (false, true) => "member.restore",
        (true, true) | (false, false) => "member.change",
    };
    act.log(action, Some(id.to_string()), None)?;
    Ok(member)
}

fn no_group() -> Refusal {
    Refusal::missing("there is no such group")
}
