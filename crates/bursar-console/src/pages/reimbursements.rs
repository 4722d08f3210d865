//! Reimbursements: what waits for an approval first.

pub(crate) mod new;
pub(crate) mod one;

use askama::Template;
use bursar_app::reimbursements::DRAFT;
use bursar_app::{View, names, pages};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};

use super::tabbed::{Cell, Column, Row, Tabbed, tab};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::words;

const TABS: [(ReimbursementStatus, &str, &str); 6] = [
    (
        ReimbursementStatus::Submitted,
        "To approve",
        "Nothing to approve.",
    ),
    (ReimbursementStatus::Approved, "To pay", "Nothing to pay."),
    (
        ReimbursementStatus::Draft,
        "Drafts",
        "There are no drafts. Add an expense when somebody spent their own money for the organization.",
    ),
    (ReimbursementStatus::Paid, "Paid", "Nothing was reimbursed yet."),
    (ReimbursementStatus::Rejected, "Rejected", "Nothing was rejected."),
    (ReimbursementStatus::Voided, "Withdrawn", "Nothing was withdrawn."),
];

/// Whether somebody must do something about those in this state.
const fn is_waiting(status: ReimbursementStatus) -> bool {
    match status {
        ReimbursementStatus::Draft | ReimbursementStatus::Submitted | ReimbursementStatus::Approved => true,
        ReimbursementStatus::Paid | ReimbursementStatus::Rejected | ReimbursementStatus::Voided => false,
    }
}

/// The tab that the address asks for.
pub(super) fn here(asking: &Asking) -> (ReimbursementStatus, &'static str, &'static str) {
    let asked = asking.query("show");
    let found = TABS.into_iter().find(|(status, ..)| status.as_str() == asked);
    found.unwrap_or(TABS[0])
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (here, _, empty) = here(asking);
    let mut tabs = Vec::new();
    for (status, name, _) in TABS {
        let waiting = match is_waiting(status) {
            true => Some(pages::reimbursements_in(view, status)?),
            false => None,
        };
        let to = asking.with("reimbursements", &[("show", status.as_str())]);
        tabs.push((to, tab(name, waiting), status == here));
    }
    let found = pages::reimbursements(view, here, asking.place())?;
    let older = match (found.is_more, found.rows.last()) {
        (true, Some(last)) => asking.after("reimbursements", last.stamps.updated_at, last.id),
        _ => String::new(),
    };
    let named = names::of_references(view, &found.rows)?;
    let row = |one: &Reimbursement| Row {
        to: frame.at(&format!("reimbursements/{}", one.id)),
        what: what(one),
        cells: vec![
            Cell::Text(who(one, &named)),
            Cell::Text(one.category.clone().unwrap_or_default()),
            Cell::Text(words::day_or_dash(one.incurred_at)),
            Cell::Badge(one.status.as_str(), state(one.status).to_owned()),
            Cell::Num(words::money(one.amount)),
        ],
    };
    let page = Tabbed {
        frame,
        title: "Reimbursements",
        act: frame
            .may(&DRAFT)
            .then(|| (frame.at("reimbursements/new"), "Add an expense")),
        tabs,
        columns: vec![
            Column::new("What for"),
            Column::new("Who is paid"),
            Column::new("Category"),
            Column::new("Spent"),
            Column::new("State"),
            Column::money("Amount", frame),
        ],
        rows: found.rows.iter().map(row).collect(),
        empty,
        older,
        csv: asking.with("reimbursements/csv", &[]),
    };
    Ok(page.render()?)
}

/// Never empty: it is a link.
pub(super) fn what(one: &Reimbursement) -> String {
    let line = one.description.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.is_empty() {
        true => "Expense".to_owned(),
        false => line,
    }
}

pub(super) fn who(one: &Reimbursement, named: &names::Names) -> String {
    match one.member_id {
        Some(member) => named.told(Some(member)),
        None => named.told(one.recipient_organization_id),
    }
}

pub(super) fn state(status: ReimbursementStatus) -> &'static str {
    match status {
        ReimbursementStatus::Draft => "Draft",
        ReimbursementStatus::Submitted => "To approve",
        ReimbursementStatus::Approved => "To pay",
        ReimbursementStatus::Rejected => "Rejected",
        ReimbursementStatus::Paid => "Paid",
        ReimbursementStatus::Voided => "Withdrawn",
    }
}
