//! A group: its dues, what was paid and is owed of them this year, and its members.

use askama::Template;
use bursar_app::desk::{self, Filter, MemberPlace, MemberQuery};
use bursar_app::groups::{ADD, REMOVE_MEMBER, SET};
use bursar_app::payments::RAISE;
use bursar_app::reminders::SCHEDULE;
use bursar_app::{View, resources};
use bursar_domain::group::{Group, ProRata};
use bursar_domain::ids::{GroupId, MemberId, kind};
use bursar_domain::late_fee::{LateAmount, LateRule};

use super::groups::every;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

struct Row {
    id: MemberId,
    name: String,
    balance: String,
    tone: &'static str,
}

#[derive(Template)]
#[template(path = "group.html")]
struct Page<'a> {
    frame: &'a Frame,
    id: GroupId,
    name: String,
    about: String,
    may_set: bool,
    may_add: bool,
    may_remove: bool,
    may_raise: bool,
    may_remind: bool,
    count: String,
    dues: String,
    every: &'static str,
    next: String,
    late: String,
    joining: &'static str,
    expected: String,
    collected: String,
    owed: String,
    overdue: String,
    is_overdue: bool,
    rows: Vec<Row>,
    older: String,
    csv: String,
}

/// The members of the list.
pub(super) fn query(id: GroupId, after: Option<MemberPlace>) -> MemberQuery {
    MemberQuery {
        filter: Filter {
            is_active: Some(true),
            group: Some(id),
            is_owing: false,
        },
        after,
        ..MemberQuery::default()
    }
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Group>(0)?;
    let group: Group = resources::one(view, id)?;
    let year = desk::group_year(view, id)?;
    let found = desk::members(view, &query(id, asking.member_place()))?;
    let ids: Vec<MemberId> = found.rows.iter().map(|row| row.id).collect();
    let balances = desk::balances(view, &ids)?;
    let rows = found.rows.iter().map(|line| {
        let (balance, tone) = words::balance(balances.get(&line.id).copied());
        Row {
            id: line.id,
            name: format!("{} {}", line.first_name, line.last_name),
            balance,
            tone,
        }
    });
    let page = Page {
        frame,
        id,
        about: group.description.clone(),
        may_set: frame.may(&SET),
        may_add: frame.may(&ADD),
        may_remove: frame.may(&REMOVE_MEMBER),
        may_raise: frame.may(&RAISE) && group.member_count > 0,
        may_remind: frame.may(&SCHEDULE) && group.member_count > 0,
        count: words::count(
            usize::try_from(group.member_count).unwrap_or(0),
            "active member",
            "active members",
        ),
        dues: group
            .amount_due
            .map_or_else(|| "No dues yet".to_owned(), words::money_in),
        every: match group.amount_due {
            Some(_) => every(group.recurring_interval),
            None => "",
        },
        next: words::day_or_dash(group.next_due()),
        late: late(&group),
        joining: match group.pro_rata {
            ProRata::None => "Pays from the next due day on",
            ProRata::Monthly => "Pays the remaining months of the period immediately",
        },
        expected: words::money_in(year.expected),
        collected: words::money_in(year.collected),
        owed: words::money_in(year.owed),
        overdue: words::money_in(year.overdue),
        is_overdue: year.overdue.minor > 0,
        rows: rows.collect(),
        older: match (found.is_more, found.rows.last()) {
            (true, Some(last)) => asking.after_member(&format!("groups/{id}"), last),
            _ => String::new(),
        },
        csv: frame.at(&format!("groups/{id}/csv")),
        name: group.name,
    };
    Ok(page.render()?)
}

/// The rule in words.
fn late(group: &Group) -> String {
    let Some(rule) = LateRule::of(group) else {
        return "None".to_owned();
    };
    let amount = match rule.amount {
        LateAmount::Fixed(fee) => words::money_in(fee),
        LateAmount::Percent(percent) => format!("{percent} % of what is open"),
    };
    let cap = rule
        .cap
        .map_or_else(String::new, |cap| format!(", at most {}", words::money_in(cap)));
    let days = usize::try_from(rule.after_days).unwrap_or(0);
    format!("{amount} after {}{cap}", words::count(days, "day", "days"))
}
