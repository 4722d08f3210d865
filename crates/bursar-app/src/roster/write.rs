//! Carries out a plan in one transaction, and records how to undo it.

use bursar_db::bulk::Subject;
use bursar_db::{Stored, housekeeping, memberships};
use bursar_domain::Resource;
use bursar_domain::Stamps;
use bursar_domain::access::Role;
use bursar_domain::ids::BulkId;
use bursar_domain::member::Member;

use super::groups::NewIds;
use super::plan::{Action, Entry, Plan, hold};
use super::{Options, Roster, RosterError};
use crate::act::Act;
use crate::books::charges::Credits;
use crate::cards;
use crate::error::AppError;
use crate::groups::{self, Counts};
use crate::rule::Rule;
use crate::{books, bulk, pro_rata};

const CHUNK_ROWS: usize = 1_000;

#[derive(Debug)]
pub struct Imported {
    /// Undo takes this id. `None` when nothing changed.
    pub id: Option<BulkId>,
    pub plan: Plan,
}

pub const IMPORT: Rule = Rule::of("roster.import", Role::Editor, "import members");

/// Stamps the members first, then each group that is new or whose count changes, once.
pub fn import(
    act: &mut Act<'_, '_>,
    roster: &Roster,
    options: &Options,
    progress: &mut dyn FnMut(u64),
) -> Result<Imported, RosterError> {
    act.allow(&IMPORT)?;
    let now = act.now();
    let mut ids = NewIds::Real(act.ids(), now);
    let mut plan = hold(act, roster, options, &mut ids)?;
    if !plan.new_groups.is_empty() {
        act.allow(&groups::CREATE)?;
    }
    let mut subjects = Vec::new();
    let (mut members, mut joined) = (Vec::new(), Vec::new());
    let mut counts = Counts::default();
    for entry in plan
        .entries
        .iter_mut()
        .filter(|entry| entry.action != Action::Left)
    {
        let Entry { before, after, .. } = entry;
        match before {
            None => {
                after.stamps = Stamps::at(act.tick());
                after.reference = Some(act.next_reference());
                members.push(act.loads(after)?);
            }
            Some(before) => {
                if before.is_active && !after.is_active {
                    cards::freeze_of(act, after.id)?;
                }
                act.update(after)?;
            }
        }
        counts.moved(before.as_ref(), Some(&*after));
        let groups_before = before.as_ref().map_or(&[][..], |member| &member.groups);
        for group in after.groups.iter().filter(|group| !groups_before.contains(group)) {
            joined.push(memberships::row_values(act.organization, *group, after.id, now));
        }
        for group in groups_before.iter().filter(|group| !after.groups.contains(group)) {
            memberships::remove(act.tx, act.organization, *group, after.id)?;
        }
        subjects.push(Subject {
            id: after.id.to_bytes(),
            other: None,
            updated_at: after.stamps.updated_at,
            previous: before
                .as_ref()
                .map(|member| member.bundle_line(act.organization, &mut |_| true)),
        });
        if members.len() >= CHUNK_ROWS {
            act.tx.load(&Member::table().target, &members)?;
            members.clear();
        }
        if subjects.len().is_multiple_of(CHUNK_ROWS) {
            progress(subjects.len() as u64);
        }
    }
    act.tx.load(&Member::table().target, &members)?;
    for chunk in joined.chunks(CHUNK_ROWS) {
        act.tx.load(&memberships::MEMBERSHIPS, chunk)?;
    }
    if subjects.len() as u64 >= housekeeping::LARGE_LOAD_ROWS {
        housekeeping::count_rows(
            act.tx,
            &[Member::table().target.table, memberships::MEMBERSHIPS.table],
        )?;
    }
    let charges = charge_joined(act, &plan)?;
    for new in &plan.new_groups {
        let stamps = Stamps::at(act.tick());
        if let Some(group) = plan.groups.get_mut(&new.id) {
            group.member_count = counts.take(new.id);
            group.stamps = stamps;
            act.insert(group)?;
        }
        act.log(groups::CREATE.name, Some(new.id.to_string()), None)?;
    }
    counts.settle(act)?;
    if subjects.is_empty() {
        return Ok(Imported { id: None, plan });
    }
    let id = bulk::note(act, &IMPORT, &subjects)?;
    bulk::add(act, &IMPORT, id, &charges)?;
    Ok(Imported { id: Some(id), plan })
}

/// Charges those who joined groups within a period, where the groups do. A charge's other side is its group, which tells
/// it from a member.
fn charge_joined(act: &mut Act<'_, '_>, plan: &Plan) -> Result<Vec<Subject>, AppError> {
    let books = books::open(act)?;
    let mut credits = match plan.charged.is_empty() {
        true => Credits::default(),
        false => Credits::read(act, &books)?,
    };
    let mut subjects = Vec::with_capacity(plan.charged.len());
    for (member, group, part) in &plan.charged {
        let Some(group) = plan.groups.get(group) else {
            continue;
        };
        let payment = pro_rata::charge(act, &books, &mut credits, (group, part), *member)?;
        subjects.push(Subject {
            other: Some(group.id.to_bytes()),
            ..bulk::raised(&payment)
        });
    }
    Ok(subjects)
}
