//! The chapters of a national organization: totals, and the roster of one, which the chapter sees in its own log.

use askama::Template;
use bursar_app::desk::PAGE_ROWS;
use bursar_app::reminders::SCHEDULE;
use bursar_app::{Act, View, chapters, reports};
use bursar_domain::ids::{OrganizationId, kind};

use super::cut;
use super::rows::described;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::routes::Logged;
use crate::words;

struct Row {
    id: OrganizationId,
    name: String,
    members: String,
    expected: String,
    collected: String,
    owed: String,
    overdue: String,
    currency: String,
    share: i128,
}

#[derive(Template)]
#[template(path = "chapters.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_read: bool,
    rows: Vec<Row>,
    totals: Vec<Row>,
    older: String,
    csv: String,
}

fn row(id: OrganizationId, name: &str, line: [bursar_domain::money::Money; 4], members: i64) -> Row {
    let [expected, collected, owed, overdue] = line;
    Row {
        id,
        name: described(name),
        members: words::number(members),
        expected: words::money(expected),
        collected: words::money(collected),
        owed: words::money(owed),
        overdue: words::money(overdue),
        currency: expected.currency.to_string(),
        share: match expected.minor {
            0 => 0,
            all => (i128::from(collected.minor) * 100 / i128::from(all)).clamp(0, 100),
        },
    }
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut lines = reports::chapters(view, None)?;
    let totals = reports::by_currency(&lines)?;
    let older = cut::page(asking, ("chapters", "after"), &mut lines, |line| {
        line.id.to_string()
    });
    let rows = lines.iter().map(|line| {
        row(
            line.id,
            &line.name,
            [line.expected, line.collected, line.owed, line.overdue],
            line.members,
        )
    });
    let own = frame.place.organization.id;
    let totals = totals.iter().map(|line| {
        row(
            own,
            "Total",
            [line.expected, line.collected, line.owed, line.overdue],
            line.members,
        )
    });
    let page = Page {
        frame,
        may_read: frame.may(&chapters::READ),
        rows: rows.collect(),
        totals: totals.collect(),
        older,
        csv: frame.at("chapters/csv"),
    };
    Ok(page.render()?)
}

struct Member {
    name: String,
    email: String,
    state: &'static str,
}

#[derive(Template)]
#[template(path = "chapter.html")]
struct One<'a> {
    frame: &'a Frame,
    id: OrganizationId,
    name: String,
    may_write: bool,
    count: String,
    rows: Vec<Member>,
    older: String,
    csv: String,
}

/// The roster. Reading it is logged in the chapter, in the same transaction.
pub(crate) fn roster(act: &mut Act<'_, '_>, asking: &Asking) -> Result<Logged, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Organization>(0)?;
    let found = chapters::read_roster(act, id, asking.member_place().as_ref(), PAGE_ROWS)?;
    let members = &found.members;
    let rows = members.iter().map(|line| Member {
        name: format!("{} {}", line.first_name, line.last_name),
        email: line.email.clone().unwrap_or_else(|| "\u{2013}".to_owned()),
        state: if line.is_active { "Active" } else { "Archived" },
    });
    let page = One {
        frame,
        id,
        may_write: frame.may(&SCHEDULE),
        name: found.chapter.clone(),
        count: words::count(members.len(), "member", "members"),
        rows: rows.collect(),
        older: match (found.is_more, members.last()) {
            (true, Some(last)) => asking.after_member(&format!("chapters/{id}"), last),
            _ => String::new(),
        },
        csv: frame.at(&format!("chapters/{id}/csv")),
    };
    Ok(Logged::Page(page.render()?))
}
