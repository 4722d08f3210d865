//! The chapters below an organization: the list of them, and their rosters, for national organizations.

use bursar_db::clock::Moment;
use bursar_db::desk::{self, MemberFilter, MemberLine, MemberPlace};
use bursar_db::{DbError, Tx, organizations, table};
use bursar_domain::access::{Role, Scope};
use bursar_domain::chapter::Chapter;
use bursar_domain::ids::OrganizationId;
use bursar_domain::member::Member;
use bursar_domain::organization::{Organization, OrganizationKind};
use bursar_domain::{Refusal, Stamps};

use crate::act::{Act, View, Whole};
use crate::error::AppError;
use crate::resources::{Page, Readable, Walk, page_of};
use crate::rule::Rule;

pub const READ: Rule = Rule::of("roster.read", Role::Viewer, "read the rosters of chapters")
    .or_token(&[Scope::ChaptersRead, Scope::MembersRead]);

pub const RULES: &[&Rule] = &[&READ];

/// Appends a page of a chapter's roster to `text`. The reader must be a national organization and the chapter its
/// direct child; both failures give the same refusal. Send the page only after [`log_read`] succeeded.
pub fn roster(
    view: &mut View<'_, '_>,
    chapter: OrganizationId,
    walk: &Walk,
    text: Vec<u8>,
) -> Result<Page, AppError> {
    view.allow(&READ)?;
    view.tx.hold_snapshot()?;
    let reader = organizations::get(view.tx, view.organization)?
        .filter(|reader| reader.kind == OrganizationKind::National);
    let child = organizations::get(view.tx, chapter)?;
    match (reader, child) {
        (Some(reader), Some(child)) if child.parent_id == Some(reader.id) => {
            page_of::<Member>(view, chapter, walk, text)
        }
        _ => Err(Refusal::missing("there is no such chapter").into()),
    }
}

/// A part of a chapter's roster, by name.
#[derive(Clone, Debug)]
pub struct Roster {
    /// The chapter's name.
    pub chapter: String,
    pub members: Vec<MemberLine>,
    pub is_more: bool,
}

/// Reads at most `most` members of a chapter's roster for a person, by the rule of [`roster`], and logs in the chapter's
/// own activity log how many, in the same transaction.
pub fn read_roster(
    act: &mut Act<'_, '_>,
    chapter: OrganizationId,
    after: Option<&MemberPlace>,
    most: usize,
) -> Result<Roster, AppError> {
    act.allow(&READ)?;
    let own = act.own()?;
    let child = organizations::get(act.tx, chapter)?;
    let child =
        child.filter(|child| own.kind == OrganizationKind::National && child.parent_id == Some(own.id));
    let missing = || Refusal::missing("there is no such chapter");
    let child = child.ok_or_else(missing)?;
    let limit = i64::try_from(most.saturating_add(1)).unwrap_or(i64::MAX);
    let mut members = desk::members(act.tx, chapter, MemberFilter::default(), after, limit)?;
    let is_more = members.len() > most;
    members.truncate(most);
    let count = i64::try_from(members.len()).ok();
    act.log_in(chapter, READ.name, Some(chapter.to_string()), count)?;
    Ok(Roster {
        chapter: child.name,
        members,
        is_more,
    })
}

/// Logs the read in the chapter's own activity log.
pub fn log_read(whole: &mut Whole<'_, '_>, chapter: OrganizationId, count: usize) -> Result<(), AppError> {
    whole.allow(&READ)?;
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    whole.log(chapter, READ.name, Some(chapter.to_string()), Some(count))
}

/// Appends a page of the list of chapters to `text`. It shows no person, so reading it is not logged.
pub fn page(view: &mut View<'_, '_>, walk: &Walk, text: Vec<u8>) -> Result<Page, AppError> {
    view.allow(&Chapter::READ)?;
    require_national(view)?;
    page_of::<Chapter>(view, view.organization, walk, text)
}

pub(crate) fn require_national(view: &mut View<'_, '_>) -> Result<(), AppError> {
    match view.own()?.kind {
        OrganizationKind::National => Ok(()),
        OrganizationKind::Chapter | OrganizationKind::Independent => Err(no_list().into()),
    }
}

/// For organizations that are not national.
pub fn no_list() -> Refusal {
    Refusal::missing("there is no list of chapters here: only national organizations have one")
}

/// The organizations above whose list of chapters changes when `before` becomes `after`: the old parent and the new.
pub(crate) fn parents_affected(
    before: Option<&Organization>,
    after: &Organization,
) -> impl Iterator<Item = OrganizationId> {
    let old = before.and_then(|before| before.parent_id);
    let is_same = old == after.parent_id && before.is_some_and(|before| before.name == after.name);
    let new = after.parent_id.filter(|new| Some(*new) != old);
    [old, new].into_iter().flatten().filter(move |_| !is_same)
}

/// Changes the parents' lists of chapters when `before` becomes `after`. `tick` gives the next stamp of a parent's
/// change clock, which the transaction holds.
pub(crate) fn follow(
    tx: &mut Tx<'_>,
    before: Option<&Organization>,
    after: &Organization,
    mut tick: impl FnMut(OrganizationId) -> Moment,
) -> Result<(), DbError> {
    for parent in parents_affected(before, after) {
        let moment = tick(parent);
        if Some(parent) != after.parent_id {
            table::remove::<Chapter>(tx, parent, after.id, moment)?;
            continue;
        }
        match table::get::<Chapter>(tx, parent, after.id)? {
            Some(before) => {
                let mut chapter = before.clone();
                chapter.name.clone_from(&after.name);
                chapter.stamps.updated_at = moment.at;
                table::update(tx, parent, &before, &chapter, moment.epoch)?;
            }
            None => {
                let chapter = Chapter {
                    id: after.id,
                    name: after.name.clone(),
                    stamps: Stamps::at(moment.at),
                };
                table::insert(tx, parent, &chapter)?;
            }
        }
    }
    Ok(())
}
