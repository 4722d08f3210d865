//! Whom a reminder is to.

use bursar_app::desk::{self, Filter, MemberQuery};
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
            let empty = "Write the member's name or e-mail address.";
            Ok(vec![of(who::required(view, form, "member", empty)?)])
        }
        "owing" => Ok(owing(view)?.into_iter().map(of).collect()),
        _ => Err(Problem::of("to", "Choose whom it is to.").into()),
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
            let rule =
                format!("More than {OWING_MAX} members owe something. Write to one group after the other.");
            return Err(Problem::of("to", rule).into());
        }
        if !page.is_more {
            break;
        }
        query.after = page.rows.last().map(|row| row.id);
    }
    match all.is_empty() {
        true => Err(Problem::of("to", "Nobody owes anything at the moment.").into()),
        false => Ok(all),
    }
}
