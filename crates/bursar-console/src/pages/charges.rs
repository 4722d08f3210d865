//! Charges: by state, due day, group and member. The open ones are by due day, the others by their last change.

use askama::Template;
use bursar_app::desk::{self, ChargeQuery, Charges};
use bursar_app::payments::RAISE;
use bursar_app::{View, resources};
use bursar_domain::Date;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, Id, MemberId};
use bursar_domain::member::Member;
use bursar_domain::payment::PaymentStatus;

use super::rows::{self, ChargeRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;

const TABS: [(&str, &str, Charges); 9] = [
    ("open", "Open", Charges::Open),
    ("paid", "Paid", Charges::In(PaymentStatus::Paid)),
    ("failed", "Failed", Charges::In(PaymentStatus::Failed)),
    ("disputed", "Disputed", Charges::In(PaymentStatus::Disputed)),
    ("cancelled", "Cancelled", Charges::In(PaymentStatus::Cancelled)),
    ("processing", "Processing", Charges::In(PaymentStatus::Processing)),
    ("all", "All", Charges::All),
    ("expected", "Expected", Charges::Expected),
    ("collected", "Collected", Charges::Collected),
];

/// What the overview adds up has a tab only while it is shown.
fn is_shown(tab: &str, shown: &str) -> bool {
    !matches!(tab, "expected" | "collected") || tab == shown
}

#[derive(Template)]
#[template(path = "charges.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_raise: bool,
    show: &'static str,
    from: String,
    until: String,
    groups: Vec<(GroupId, String, bool)>,
    /// The id; empty if the list is of everybody.
    member: String,
    part: Part<'a>,
}

/// What changes with the filters.
#[derive(Template)]
#[template(path = "charges_part.html")]
struct Part<'a> {
    frame: &'a Frame,
    csv: String,
    /// Addresses, names, and which is open.
    tabs: Vec<(String, &'static str, bool)>,
    /// The member whose charges these are: the id and the name.
    of: Option<(MemberId, String)>,
    /// The same list of everybody.
    everybody: String,
    is_filtered: bool,
    empty: String,
    charges: Vec<ChargeRow>,
    older: String,
}

fn tab(asking: &Asking) -> (&'static str, &'static str, Charges) {
    let asked = asking.query("show");
    let found = TABS.into_iter().find(|(word, ..)| *word == asked);
    found.unwrap_or(TABS[0])
}

/// What the address asks for.
pub(super) fn query(asking: &Asking) -> ChargeQuery {
    ChargeQuery {
        which: tab(asking).2,
        member: Id::parse(asking.query("member")),
        group: Id::parse(asking.query("group")),
        from: Date::parse(asking.query("from")),
        until: Date::parse(asking.query("until")),
    }
}

/// The end of the address of such charges.
pub(super) fn end(show: &str, (from, until): (Option<Date>, Option<Date>)) -> String {
    let day = |name: &str, day: Option<Date>| day.map_or_else(String::new, |day| format!("&{name}={day}"));
    format!("charges?show={show}{}{}", day("from", from), day("until", until))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (word, name, _) = tab(asking);
    let query = query(asking);
    if let Some(group) = query.group {
        resources::one::<Group>(view, group)?;
    }
    let of = match query.member {
        Some(id) => Some((id, resources::one::<Member>(view, id)?.name())),
        None => None,
    };
    let found = desk::charges(view, &query, asking.charge_place())?;
    let own = &frame.place.organization;
    let today = own.time_zone.date(view.now());
    let older = match (found.is_more, found.rows.last()) {
        (true, Some(last)) => asking.after_charge("charges", last),
        _ => String::new(),
    };
    let part = Part {
        frame,
        csv: asking.with("charges/csv", &[]),
        tabs: TABS
            .iter()
            .filter(|(other, ..)| is_shown(other, word))
            .map(|(other, name, _)| (asking.with("charges", &[("show", other)]), *name, *other == word))
            .collect(),
        of,
        everybody: asking.with("charges", &[("member", "")]),
        is_filtered: query
            != ChargeQuery {
                which: query.which,
                ..ChargeQuery::default()
            },
        empty: match word {
            "open" => "Nothing is open.".to_owned(),
            "all" => "There are no charges yet. Raise the first one.".to_owned(),
            _ => format!("No charge is {}.", name.to_lowercase()),
        },
        charges: rows::charges(view, &found.rows, own.currency, today)?,
        older,
    };
    if asking.is_part {
        return Ok(part.render()?);
    }
    let day = |day: Option<Date>| day.map(|day| day.to_string()).unwrap_or_default();
    let page = Page {
        frame,
        may_raise: frame.may(&RAISE),
        show: word,
        from: day(query.from),
        until: day(query.until),
        groups: super::members::groups(view)?
            .into_iter()
            .map(|(id, name)| (id, name, query.group == Some(id)))
            .collect(),
        member: query.member.map(|id| id.to_string()).unwrap_or_default(),
        part,
    };
    Ok(page.render()?)
}
