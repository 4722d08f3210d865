//! Groups with their dues.

use askama::Template;
use bursar_app::groups::CREATE;
use bursar_app::{View, resources};
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::GroupId;

use super::cut;
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
    every: &'static str,
    next: String,
}

#[derive(Template)]
#[template(path = "groups.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_create: bool,
    rows: Vec<Row>,
    older: String,
    csv: String,
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
            every: match group.amount_due {
                Some(_) => every(group.recurring_interval),
                None => "\u{2013}",
            },
            next: words::day_or_dash(group.next_due()),
            name: group.name,
        });
    })?;
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    let older = cut::page(asking, ("groups", "after"), &mut rows, |row| row.id.to_string());
    let page = Page {
        frame: &asking.frame,
        may_create: asking.frame.may(&CREATE),
        rows,
        older,
        csv: asking.frame.at("groups/csv"),
    };
    Ok(page.render()?)
}

/// How often dues come back.
pub(super) const fn every(interval: Option<Interval>) -> &'static str {
    match interval {
        None => "Once",
        Some(Interval::Weekly) => "Every week",
        Some(Interval::Monthly) => "Every month",
        Some(Interval::Quarterly) => "Every three months",
        Some(Interval::Semiannual) => "Every six months",
        Some(Interval::Annual) => "Every year",
    }
}
