//! The activity log in sentences.

use askama::Template;
use bursar_app::View;
use bursar_app::activity::{self, Query};
use bursar_domain::ids::{ActivityId, Id};

use super::rows::ActivityRow;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

const PAGE_ROWS: usize = 50;

#[derive(Template)]
#[template(path = "activity.html")]
struct Page<'a> {
    frame: &'a Frame,
    lines: Vec<ActivityRow>,
    older: String,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let query = Query {
        before: Id::parse(asking.query("after")),
        limit: PAGE_ROWS,
        ..Query::default()
    };
    let (lines, last) = rows(view, &asking.frame, &query)?;
    let older = match last {
        Some(last) if lines.len() == PAGE_ROWS => asking.with("activity", &[("after", &last.to_string())]),
        _ => String::new(),
    };
    let page = Page {
        frame: &asking.frame,
        lines,
        older,
    };
    Ok(page.render()?)
}

/// The lines, and the id of the last.
pub(crate) fn rows(
    view: &mut View<'_, '_>,
    frame: &Frame,
    query: &Query,
) -> Result<(Vec<ActivityRow>, Option<ActivityId>), Failure> {
    let lines = activity::list(view, query)?;
    let names = activity::names(view, &lines)?;
    let organization = frame.place.organization.id;
    let row = |line: &activity::Line| ActivityRow {
        exact: line.at.to_string(),
        at: words::moment(line.at),
        told: told(&activity::sentence(line, organization, &names)),
    };
    Ok((lines.iter().map(row).collect(), lines.last().map(|line| line.id)))
}

/// Starts with a capital, unless it starts with an address.
fn told(text: &str) -> String {
    match text.strip_prefix("the ") {
        Some(rest) => format!("The {rest}"),
        None => text.to_owned(),
    }
}
