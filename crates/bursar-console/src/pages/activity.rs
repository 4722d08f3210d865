//! The activity log in sentences.

use askama::Template;
use bursar_app::activity::{self, Line, Query};
use bursar_app::desk::PAGE_ROWS;
use bursar_app::{View, roles};
use bursar_domain::ids::{ActivityId, Id};

use super::rows::ActivityRow;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

#[derive(Template)]
#[template(path = "activity.html")]
struct Page<'a> {
    frame: &'a Frame,
    who: &'a str,
    request: &'a str,
    /// What is wrong with the request id, and what is wrong otherwise.
    wrong_request: String,
    wrong: String,
    people: Vec<String>,
    is_filtered: bool,
    lines: Vec<ActivityRow>,
    older: String,
    csv: String,
}

/// What the address asks for.
pub(super) fn query(asking: &Asking) -> Result<Query, Failure> {
    let (who, request) = (asking.query("who"), asking.query("request"));
    let query = Query {
        actor: Some(who.to_owned()).filter(|who| !who.is_empty()),
        request: Id::parse(request),
        before: Id::parse(asking.query("after")),
        limit: PAGE_ROWS,
        ..Query::default()
    };
    match !request.is_empty() && query.request.is_none() {
        true => Err(Problem::of(
            "request",
            "A request id looks like req_ and 26 letters and digits.",
        )
        .into()),
        false => Ok(query),
    }
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let (who, request) = (asking.query("who"), asking.query("request"));
    let found = query(asking).and_then(|query| rows(view, &asking.frame, &query));
    let ((lines, last), problem) = match found {
        Ok(found) => (found, Problem::default()),
        Err(failure) => ((Vec::new(), None), failure.problem().ok_or(failure)?),
    };
    let (wrong_request, wrong) = match problem.field.as_deref() {
        Some("request") => (problem.message, String::new()),
        _ => (String::new(), problem.message),
    };
    let older = match last {
        Some(last) => asking.with("activity", &[("after", &last.to_string())]),
        None => String::new(),
    };
    let page = Page {
        frame: &asking.frame,
        who,
        request,
        wrong_request,
        wrong,
        people: roles::list(view)?
            .into_iter()
            .map(|holder| holder.user.email)
            .collect(),
        is_filtered: !who.is_empty() || !request.is_empty(),
        lines,
        older,
        csv: asking.with("activity/csv", &[]),
    };
    Ok(page.render()?)
}

/// The lines, and the id of the last if there are more.
pub(crate) fn rows(
    view: &mut View<'_, '_>,
    frame: &Frame,
    query: &Query,
) -> Result<(Vec<ActivityRow>, Option<ActivityId>), Failure> {
    let one_more = Query {
        limit: query.limit + 1,
        ..query.clone()
    };
    let mut lines = activity::list(view, &one_more)?;
    let is_more = lines.len() > query.limit;
    lines.truncate(query.limit);
    let mut names = activity::names(view, &lines)?;
    names.extend(activity::subjects(view, &lines)?);
    let organization = frame.place.organization.id;
    let row = |line: &activity::Line| ActivityRow {
        exact: line.at.to_string(),
        at: words::moment_there(line.at, &frame.place.organization.time_zone),
        request: line.request_id.map(|id| id.to_string()).unwrap_or_default(),
        told: told(&activity::sentence(
            &Line {
                request_id: None,
                ..line.clone()
            },
            organization,
            &names,
        )),
    };
    let last = lines.last().map(|line| line.id).filter(|_| is_more);
    Ok((lines.iter().map(row).collect(), last))
}

/// Starts with a capital, unless it starts with an address.
fn told(text: &str) -> String {
    match text.split_once(' ') {
        Some((first @ ("the" | "somebody" | "a" | "token" | "member"), rest)) => {
            format!("{} {rest}", words::label(first))
        }
        _ => text.to_owned(),
    }
}
