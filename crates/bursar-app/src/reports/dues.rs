//! Dues by group and due day: what was expected, given up, collected and is owed.

use std::collections::BTreeMap;

use bursar_db::reports::{self, DuesSums};
use bursar_domain::access::Role;
use bursar_domain::group::Group;
use bursar_domain::ids::GroupId;
use bursar_domain::money::{Currency, Money};
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use super::Span;
use crate::act::View;
use crate::books;
use crate::error::AppError;
use crate::rule::Rule;

pub const DUES: Rule = Rule::of("report.dues", Role::Viewer, "read reports");

/// What is expected is what was charged. What is left of it without discounts was collected, is owed, or is with a
/// payment provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DuesTotal {
    pub payments: i64,
    pub expected: Money,
    pub discounts: Money,
    pub collected: Money,
    pub owed: Money,
    /// Owed, and due before today.
    pub overdue: Money,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DuesLine {
    pub group: String,
    pub group_id: Option<GroupId>,
    /// Null for payments without one.
    pub due_date: Option<Date>,
    /// The due day, or the day the payments were raised if they have none.
    pub day: Date,
    #[serde(flatten)]
    pub sums: DuesTotal,
}

/// For payments due between two days, both included. A payment without a due day counts on the day it was raised, and
/// is never overdue. A cancelled payment counts with what was received for it and given up of it.
pub fn dues(view: &mut View<'_, '_>, span: Span) -> Result<(Vec<DuesLine>, DuesTotal), AppError> {
    view.allow(&DUES)?;
    let books = books::open(view)?;
    let currency = books.organization.currency;
    let period = span.period(books.today)?;
    let days = (period.from, period.until);
    let found = reports::dues(view.tx, view.organization, &books.organization.time_zone, days)?;
    let mut names: BTreeMap<GroupId, String> = BTreeMap::new();
    let mut lines = Vec::new();
    let mut total = Sum::default();
    for ((_, group_id, day, is_due), sums) in found {
        let sum = Sum {
            sums,
            overdue: if is_due && day < books.today { sums.owed } else { 0 },
        };
        total.add(sum);
        let group = match group_id {
            None => "(no group)".to_owned(),
            Some(id) => match names.get(&id) {
                Some(name) => name.clone(),
                None => {
                    let found = view.get::<Group>(id)?;
                    let name = found.map_or_else(|| id.to_string(), |group| group.name);
                    names.entry(id).or_insert(name).clone()
                }
            },
        };
        lines.push(DuesLine {
            sums: sum.told(&group, currency)?,
            group,
            group_id,
            due_date: is_due.then_some(day),
            day,
        });
    }
    Ok((lines, total.told("the dues", currency)?))
}

#[derive(Clone, Copy, Default)]
struct Sum {
    sums: DuesSums,
    overdue: i128,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.sums.count += other.sums.count;
        self.sums.expected += other.sums.expected;
        self.sums.discounts += other.sums.discounts;
        self.sums.collected += other.sums.collected;
        self.sums.owed += other.sums.owed;
        self.overdue += other.overdue;
    }

    fn told(self, what: &str, currency: Currency) -> Result<DuesTotal, Refusal> {
        let money = |minor| Money::total(what, minor, currency);
        Ok(DuesTotal {
            payments: self.sums.count,
            expected: money(self.sums.expected)?,
            discounts: money(self.sums.discounts)?,
            collected: money(self.sums.collected)?,
            owed: money(self.sums.owed)?,
            overdue: money(self.overdue)?,
        })
    }
}
