//! Members by name, with what each of them owes.

use askama::Template;
use bursar_app::desk::{self, Filter, MemberQuery};
use bursar_app::members::{ADD, CHANGE};
use bursar_app::reminders::SCHEDULE;
use bursar_app::{View, resources};
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, Id, MemberId};

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

struct Row {
    id: MemberId,
    name: String,
    email: String,
    state: &'static str,
    balance: String,
    tone: &'static str,
}

#[derive(Template)]
#[template(path = "members.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_add: bool,
    text: &'a str,
    state: &'a str,
    groups: Vec<(GroupId, String, bool)>,
    part: Part<'a>,
}

/// What changes while somebody types.
#[derive(Template)]
#[template(path = "members_part.html")]
struct Part<'a> {
    frame: &'a Frame,
    may_add: bool,
    may_select: bool,
    may_remind: bool,
    csv: String,
    is_filtered: bool,
    rows: Vec<Row>,
    /// More match than are shown.
    is_cut: bool,
    older: String,
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let state = state(asking);
    let query = query(asking);
    let group = query.filter.group;
    let page = desk::members(view, &query)?;
    let ids: Vec<MemberId> = page.rows.iter().map(|row| row.id).collect();
    let balances = desk::balances(view, &ids)?;
    let rows = page.rows.iter().map(|line| {
        let (balance, tone) = words::balance(balances.get(&line.id).copied());
        Row {
            id: line.id,
            name: format!("{} {}", line.first_name, line.last_name),
            email: line.email.clone().unwrap_or_else(|| "\u{2013}".to_owned()),
            state: if line.is_active { "Active" } else { "Archived" },
            balance,
            tone,
        }
    });
    let older = match (page.is_more && query.text.is_empty(), page.rows.last()) {
        (true, Some(last)) => asking.after_member("members", last),
        _ => String::new(),
    };
    let part = Part {
        frame: &asking.frame,
        may_add: asking.frame.may(&ADD),
        may_select: asking.frame.may(&CHANGE),
        may_remind: asking.frame.may(&SCHEDULE),
        csv: asking.with("members/csv", &[]),
        is_filtered: !asking.query("q").is_empty() || state != "active" || group.is_some(),
        rows: rows.collect(),
        is_cut: page.is_more && !query.text.is_empty(),
        older,
    };
    if asking.is_part {
        return Ok(part.render()?);
    }
    let page = Page {
        frame: &asking.frame,
        may_add: asking.frame.may(&ADD),
        text: asking.query("q"),
        state,
        groups: groups(view)?
            .into_iter()
            .map(|(id, name)| (id, name, group == Some(id)))
            .collect(),
        part,
    };
    Ok(page.render()?)
}

fn state(asking: &Asking) -> &str {
    match asking.query("state") {
        "" => "active",
        state => state,
    }
}

/// What the address asks for.
pub(super) fn query(asking: &Asking) -> MemberQuery {
    let state = state(asking);
    MemberQuery {
        text: asking.query("q").to_owned(),
        filter: Filter {
            is_active: match state {
                "active" => Some(true),
                "archived" => Some(false),
                _ => None,
            },
            group: Id::parse(asking.query("group")),
            is_owing: state == "owing",
        },
        after: asking.member_place(),
    }
}

/// All groups by name.
pub(crate) fn groups(view: &mut View<'_, '_>) -> Result<Vec<(GroupId, String)>, Failure> {
    let mut groups = Vec::new();
    resources::each(view, |group: Group| groups.push((group.id, group.name)))?;
    groups.sort_by(|(_, one), (_, other)| one.cmp(other));
    Ok(groups)
}
