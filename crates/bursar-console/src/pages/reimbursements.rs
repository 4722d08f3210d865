//! Reimbursements: what waits for an approval first.

pub(crate) mod new;
pub(crate) mod one;

use askama::Template;
use bursar_app::reimbursements::DRAFT;
use bursar_app::{View, names, resources};
use bursar_domain::ids::ReimbursementId;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};

use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words;

const PAGE_ROWS: usize = 50;

struct Row {
    id: ReimbursementId,
    what: String,
    who: String,
    category: String,
    incurred: String,
    status: ReimbursementStatus,
    state: String,
    amount: String,
}

#[derive(Template)]
#[template(path = "reimbursements/list.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_draft: bool,
    tabs: Vec<(String, String, bool)>,
    rows: Vec<Row>,
    empty: &'static str,
    older: String,
}

const TABS: [(ReimbursementStatus, &str, &str); 6] = [
    (
        ReimbursementStatus::Submitted,
        "To approve",
        "Nothing waits for an approval.",
    ),
    (
        ReimbursementStatus::Approved,
        "To pay",
        "Nothing waits to be paid.",
    ),
    (
        ReimbursementStatus::Draft,
        "Drafts",
        "There are no drafts. Write one down when somebody spent their own money for the organization.",
    ),
    (ReimbursementStatus::Paid, "Paid", "Nothing was paid back yet."),
    (ReimbursementStatus::Rejected, "Rejected", "Nothing was rejected."),
    (ReimbursementStatus::Voided, "Withdrawn", "Nothing was withdrawn."),
];

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut all: Vec<Reimbursement> = Vec::new();
    resources::each(view, |one| all.push(one))?;
    let asked = asking.query("show");
    let (tab, _, empty) = TABS
        .into_iter()
        .find(|(status, ..)| status.as_str() == asked)
        .unwrap_or(TABS[0]);
    let tabs = TABS.into_iter().map(|(status, name, _)| {
        let count = all.iter().filter(|one| one.status == status).count();
        let to = asking.with("reimbursements", &[("show", status.as_str())]);
        (to, format!("{name} ({count})"), status == tab)
    });
    let tabs = tabs.collect();
    all.retain(|one| one.status == tab);
    all.sort_by_key(|one| std::cmp::Reverse((one.stamps.updated_at, one.id)));
    if let Some(place) = all
        .iter()
        .position(|one| one.id.to_string() == asking.query("after"))
    {
        all.drain(..=place);
    }
    let is_more = all.len() > PAGE_ROWS;
    all.truncate(PAGE_ROWS);
    let older = match (is_more, all.last()) {
        (true, Some(last)) => asking.with("reimbursements", &[("after", &last.id.to_string())]),
        _ => String::new(),
    };
    let named = names::of_references(view, &all)?;
    let row = |one: &Reimbursement| Row {
        id: one.id,
        what: what(one),
        who: who(one, &named),
        category: one.category.clone().unwrap_or_default(),
        incurred: words::day_or_dash(one.incurred_at),
        status: one.status,
        state: state(one.status).to_owned(),
        amount: words::money(one.amount),
    };
    let page = Page {
        frame,
        may_draft: frame.may(&DRAFT),
        tabs,
        rows: all.iter().map(row).collect(),
        empty,
        older,
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
