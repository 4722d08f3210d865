//! Whom a reminder is to.

use bursar_app::desk::{self, Filter, MemberLine, MemberQuery};
use bursar_app::{View, resources};
use bursar_domain::chapter::Chapter;
use bursar_domain::ids::{GroupId, Id, MemberId, OrganizationId};
use bursar_domain::reminder::Audience;

use super::of;
use crate::failure::{Failure, Problem};
use crate::forms::Form;
use crate::pages::who;

/// Members who can be written to at once, each with their own reminder.
const OWING_MAX: usize = 300;

/// Those who were ticked in the list, in the choice and as the name of a field.
pub(super) const CHOSEN: &str = "chosen";

/// Whom the form names one by one.
pub(super) fn chosen(form: &Form) -> Result<Vec<MemberId>, Failure> {
    let mut ids: Vec<MemberId> = form.all(CHOSEN).filter_map(Id::parse).collect();
    ids.sort_unstable();
    ids.dedup();
    check_count(ids.len())?;
    Ok(ids)
}

pub(super) fn check_count(count: usize) -> Result<(), Problem> {
    match count <= OWING_MAX {
        true => Ok(()),
        false => Err(Problem::of(
            "to",
            format!("Choose at most {OWING_MAX} members, or write to a group."),
        )),
    }
}

/// The chapter that is written to, for the choice: its id and its name.
pub(super) fn chapter(view: &mut View<'_, '_>, id: &str) -> Result<Option<(String, String)>, Failure> {
    let Some(id) = Id::parse(id) else {
        return Ok(None);
    };
    let chapter: Chapter = resources::one(view, id)?;
    Ok(Some((id.to_string(), chapter.name)))
}

pub(super) fn audiences(view: &mut View<'_, '_>, form: &Form) -> Result<Vec<Audience>, Failure> {
    if let Some(group) = Id::parse(form.get("to")) {
        let group: GroupId = group;
        return Ok(vec![Audience::Group(group)]);
    }
    // The contact of a chapter; whether it is one is asked when the reminder is written.
    if let Some(chapter) = Id::parse(form.get("to")) {
        let chapter: OrganizationId = chapter;
        return Ok(vec![Audience::Organization(chapter)]);
    }
    match form.get("to") {
        "member" => {
            let empty = "Enter the member's name or e-mail address.";
            Ok(vec![of(who::required(view, form, "member", empty)?)])
        }
        CHOSEN => match chosen(form)? {
            ids if ids.is_empty() => Err(Problem::of("to", "Select at least one member in the list.").into()),
            ids => Ok(ids.into_iter().map(of).collect()),
        },
        "owing" => Ok(owing(view)?.into_iter().map(of).collect()),
        _ => Err(Problem::of("to", "Choose who gets it.").into()),
    }
}

/// Everybody active who owes.
fn owing(view: &mut View<'_, '_>) -> Result<Vec<MemberId>, Failure> {
    let mut query = MemberQuery {
        filter: Filter {
            is_active: Some(true),
            group: None,
            is_owing: true,
        },
        ..MemberQuery::default()
    };
    let mut all = Vec::new();
    loop {
        let page = desk::members(view, &query)?;
        all.extend(page.rows.iter().map(|row| row.id));
        if all.len() > OWING_MAX {
            let rule = format!("More than {OWING_MAX} members owe something. Write to one group at a time.");
            return Err(Problem::of("to", rule).into());
        }
        if !page.is_more {
            break;
        }
        query.after = page.rows.last().map(MemberLine::place);
    }
    match all.is_empty() {
        true => Err(Problem::of("to", "Nobody owes anything at the moment.").into()),
        false => Ok(all),
    }
}
