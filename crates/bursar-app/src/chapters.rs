//! The rosters of child chapters, for national organizations.

use bursar_db::{Tx, organizations};
use bursar_domain::Refusal;
use bursar_domain::ids::OrganizationId;
use bursar_domain::organization::OrganizationKind;

use crate::act::Whole;
use crate::error::AppError;

/// Checks that `reader` is national and `chapter` its direct child; the two answers cannot be told apart.
pub fn may_read(
    tx: &mut Tx<'_>,
    reader: OrganizationId,
    reader_kind: OrganizationKind,
    chapter: OrganizationId,
) -> Result<(), AppError> {
    let missing = || AppError::from(Refusal::missing("there is no such chapter"));
    if reader_kind != OrganizationKind::National {
        return Err(missing());
    }
    let chapter = organizations::get(tx, chapter)?.ok_or_else(missing)?;
    if chapter.parent_id == Some(reader) {
        Ok(())
    } else {
        Err(missing())
    }
}

/// Writes the reading of a page into the chapter's own activity log.
pub fn log_read(whole: &mut Whole<'_, '_>, chapter: OrganizationId, count: usize) -> Result<(), AppError> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    whole.log(chapter, "roster.read", Some(chapter.to_string()), Some(count))
}
