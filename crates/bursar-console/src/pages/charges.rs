//! Charges: the open ones by due day, the others by their last change.

use askama::Template;
use bursar_app::View;
use bursar_app::desk::{self, Charges};
use bursar_app::payments::RAISE;
use bursar_domain::ids::Id;
use bursar_domain::payment::PaymentStatus;

use super::rows::{self, ChargeRow};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;

struct Tab {
    query: String,
    name: &'static str,
    is_here: bool,
}

const TABS: [(&str, &str, Charges); 6] = [
    ("open", "Open", Charges::Open),
    ("paid", "Paid", Charges::In(PaymentStatus::Paid)),
    ("failed", "Failed", Charges::In(PaymentStatus::Failed)),
    ("disputed", "Disputed", Charges::In(PaymentStatus::Disputed)),
    ("cancelled", "Cancelled", Charges::In(PaymentStatus::Cancelled)),
    ("all", "All", Charges::All),
];

#[derive(Template)]
#[template(path = "charges.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_raise: bool,
    csv: String,
    tabs: Vec<Tab>,
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
pub(super) fn which(asking: &Asking) -> Charges {
    tab(asking).2
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (word, name, which) = tab(asking);
    let found = desk::charges(view, which, Id::parse(asking.query("after")))?;
    let own = &frame.place.organization;
    let today = own.time_zone.date(view.now());
    let older = match (found.is_more, found.rows.last()) {
        (true, Some(last)) => asking.with("charges", &[("after", &last.id.to_string())]),
        _ => String::new(),
    };
    let page = Page {
        frame,
        may_raise: frame.may(&RAISE),
        csv: asking.with("charges/csv", &[]),
        tabs: TABS
            .iter()
            .map(|(other, name, _)| Tab {
                query: format!("?show={other}"),
                name,
                is_here: *other == word,
            })
            .collect(),
        empty: match word {
            "open" => "Nothing is open.".to_owned(),
            "all" => "There are no charges yet. Raise the first one.".to_owned(),
            _ => format!("No charge is {}.", name.to_lowercase()),
        },
        charges: rows::charges(view, &found.rows, own.currency, today)?,
        older,
    };
    Ok(page.render()?)
}
