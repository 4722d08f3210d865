//! The rosters of child chapters.

use bursar_app::chapters;
use bursar_domain::ids::OrganizationId;
use bursar_domain::member::Member;

use crate::error::Error;
use crate::lists::Walk;
use crate::plan::{Plan, Request};
use crate::query::{self, ListRules};

/// A chapter is an organization, and called what the path calls it.
pub(super) fn chapter_id(request: &Request, place: usize) -> Result<OrganizationId, Error> {
    request.id(place).map_err(|_: Error| Error::no_such("chapter"))
}

pub(super) fn roster(request: &Request, rules: &ListRules) -> Result<Plan, Error> {
    let chapter = chapter_id(request, 0)?;
    let query = query::list(request.query.as_deref(), rules)?;
    // The cursor is bound to the path with the chapter's id in it.
    let walk = Walk::open(
        request,
        format!("/v1/chapters/{chapter}/members"),
        rules,
        query,
        chapter,
    )?;
    let (reader, kind) = (request.organization(), request.caller.organization_kind());
    Ok(Plan::Roster(
        chapter,
        Box::new(move |tx| {
            chapters::may_read(tx, reader, kind, chapter)?;
            walk.page::<Member>(tx)
        }),
    ))
}
