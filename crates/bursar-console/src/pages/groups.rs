//! Groups with their dues.

use askama::Template;
use bursar_app::{View, resources};
use bursar_domain::group::Group;
use bursar_domain::ids::GroupId;

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

struct Row {
    id: GroupId,
    name: String,
    members: i64,
    dues: String,
    next: String,
}

#[derive(Template)]
#[template(path = "groups.html")]
struct Page<'a> {
    frame: &'a Frame,
    rows: Vec<Row>,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let mut rows = Vec::new();
    resources::each(view, |group: Group| {
        rows.push(Row {
            id: group.id,
            members: group.member_count,
            dues: group
                .amount_due
                .map_or_else(|| "\u{2013}".to_owned(), words::money),
            next: words::day_or_dash(group.due_date),
            name: group.name,
        });
    })?;
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    let page = Page {
        frame: &asking.frame,
        rows,
    };
    Ok(page.render()?)
}
