//! The rosters of child chapters, for national organizations.

use bursar_db::organizations;
use bursar_domain::Refusal;
use bursar_domain::access::{Role, Scope};
use bursar_domain::ids::OrganizationId;
use bursar_domain::member::Member;
use bursar_domain::organization::OrganizationKind;

use crate::act::{View, Whole};
use crate::error::AppError;
use crate::resources::{Page, Walk, page_of};
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

/// Logs the read in the chapter's own activity log.
pub fn log_read(whole: &mut Whole<'_, '_>, chapter: OrganizationId, count: usize) -> Result<(), AppError> {
    whole.allow(&READ)?;
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    whole.log(chapter, READ.name, Some(chapter.to_string()), Some(count))
}
