//! What is known about one member, and erasing it.
//!
//! Erasing takes the name, addresses and texts of a person out of everything that is kept, in one act. Amounts, dates,
//! accounts and references of the books stay. `bursar_db::erasure::FATES` says what happens to each table.

mod blank;
mod document;
mod export;
mod files;
mod known;
mod plan;
mod texts;

use bursar_domain::Refusal;
use bursar_domain::access::Role;
use bursar_domain::erasure::Naming;
use bursar_domain::ids::{MemberId, MessageId};
use bursar_domain::member::Member;

use crate::act::{Act, View};
use crate::books::reason;
use crate::error::AppError;
use crate::rule::Rule;

pub use document::pdf;
pub use export::export;
pub use files::remove_files;
pub use plan::{Item, Mention, Plan};

pub const EXPORT: Rule = Rule::of(
    "member.export",
    Role::Admin,
    "export what is known about a member",
)
.guarded();
pub const ERASE: Rule = Rule::of("member.erase", Role::Admin, "erase members").guarded();
pub const RULES: &[&Rule] = &[&EXPORT, &ERASE];

/// What to look for beside what the member's record says.
#[derive(Clone, Debug, Default)]
pub struct Looking {
    /// More words that name the person: a nickname, a maiden name.
    pub also: Vec<String>,
    /// Do not look for the family name by itself.
    pub is_full_name_only: bool,
}

/// A member who was erased.
#[derive(Clone, Debug)]
pub struct Erased {
    pub plan: Plan,
    /// Whose files in the outbox are to be removed.
    pub messages: Vec<MessageId>,
    /// What named the person, for files outside the database. It is kept nowhere.
    pub naming: Naming,
}

/// What erasing would do. Says what stands in its way instead of refusing.
pub fn preview(view: &mut View<'_, '_>, member: MemberId, looking: &Looking) -> Result<Plan, AppError> {
    view.allow(&ERASE)?;
    let person = known::about(view, member, looking)?;
    let mut plan = plan::of(view, &person)?;
    let found = texts::in_rows(view, &person)?.chain(texts::in_place(view, &person)?);
    plan.add(&found);
    Ok(plan)
}

/// Refuses while money is open, because the books need a name for it.
pub fn erase(
    act: &mut Act<'_, '_>,
    member: MemberId,
    looking: &Looking,
    why: &str,
) -> Result<Erased, AppError> {
    act.allow(&ERASE)?;
    let why = reason(Some(why))?.ok_or_else(|| Refusal::invalid("reason", "is required"))?;
    let person = known::about(act, member, looking)?;
    let mut plan = plan::of(act, &person)?;
    if !plan.open.is_empty() {
        let message = format!("{} cannot be erased yet: {}", plan.name, plan.open.join("; "));
        return Err(Refusal::conflict(message).into());
    }
    // Events of this act are written at its end, so no row may be written before its texts are scrubbed.
    let in_rows = texts::in_rows(act, &person)?;
    texts::update_rows(act, &in_rows)?;
    blank::rows(act, &person)?;
    blank::books(act, &person)?;
    blank::others(act, &person)?;
    // Versions that this act replaced are among them.
    let in_place = texts::in_place(act, &person)?;
    texts::rewrite(act, &in_place)?;
    let found = in_rows.chain(in_place);
    plan.add(&found);
    let why = person.naming.scrub(&why).unwrap_or(why);
    act.log(ERASE.name, Some(format!("{member}: {why}")), None)?;
    let mut messages: Vec<MessageId> = person.messages.iter().map(|message| message.id).collect();
    messages.extend(found.messages());
    Ok(Erased {
        plan,
        messages,
        naming: person.naming,
    })
}

/// Nobody can change a member who was erased.
pub(crate) fn check_not_erased(member: &Member) -> Result<(), Refusal> {
    match member.erased_at {
        Some(at) => Err(Refusal::conflict(format!(
            "{} was erased on {}; add the person as a new member",
            member.id,
            at.date()
        ))),
        None => Ok(()),
    }
}
