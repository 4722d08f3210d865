//! Who owes, since when, and for which group.

use std::collections::{BTreeMap, HashMap};

use bursar_db::reports::{self, AGES, Owed};
use bursar_db::{journal, organizations};
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::group::Group;
use bursar_domain::ids::{GroupId, MemberId, OrganizationId};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use crate::act::View;
use crate::books;
use crate::error::AppError;
use crate::rule::Rule;

pub const OWING: Rule = Rule::of("report.owing", Role::Viewer, "read reports");

/// A debt by its age. What has no due day is not due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ages {
    pub owed: Money,
    pub overdue: Money,
    pub not_due: Money,
    /// Days since the due day.
    pub days1to30: Money,
    pub days31to60: Money,
    pub days61to90: Money,
    pub over90: Money,
}

impl Ages {
    fn of(what: &str, by_age: [i128; AGES], currency: Currency) -> Result<Self, Refusal> {
        let money = |minor| Money::total(what, minor, currency);
        let owed = by_age.iter().sum();
        Ok(Self {
            owed: money(owed)?,
            overdue: money(owed - by_age[0])?,
            not_due: money(by_age[0])?,
            days1to30: money(by_age[1])?,
            days31to60: money(by_age[2])?,
            days61to90: money(by_age[3])?,
            over90: money(by_age[4])?,
        })
    }
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupOwing {
    pub group: String,
    pub group_id: Option<GroupId>,
    #[serde(flatten)]
    pub ages: Ages,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OwingLine {
    pub name: String,
    /// A member's or organization's id.
    pub id: String,
    pub payments: i64,
    pub oldest_due: Option<Date>,
    #[serde(flatten)]
    pub ages: Ages,
    pub groups: Vec<GroupOwing>,
}

#[derive(Clone, Debug)]
pub struct OwingReport {
    pub today: Date,
    /// Oldest due date first.
    pub lines: Vec<OwingLine>,
    /// Payments without a group come last.
    pub groups: Vec<GroupOwing>,
    pub total: Ages,
    /// What a payment provider is collecting.
    pub processing: Money,
    /// The account: what is owed and what is processing.
    pub receivable: Money,
}

/// Members and chapters; `None` for payments that name neither.
type Debtor = (Option<MemberId>, Option<OrganizationId>);

#[derive(Default)]
struct Debt {
    payments: i64,
    oldest_due: Option<Date>,
    by_age: [i128; AGES],
    groups: Vec<(Option<GroupId>, [i128; AGES])>,
}

fn add(to: &mut [i128; AGES], ages: &[i128; AGES]) {
    for (sum, age) in to.iter_mut().zip(ages) {
        *sum += age;
    }
}

impl Debt {
    fn add(&mut self, owed: &Owed) {
        self.payments += owed.payments;
        self.oldest_due = match (self.oldest_due, owed.oldest_due) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        add(&mut self.by_age, &owed.by_age);
        self.groups.push((owed.group, owed.by_age));
    }
}

pub fn owing(view: &mut View<'_, '_>) -> Result<OwingReport, AppError> {
    view.allow(&OWING)?;
    let books = books::open(view)?;
    let (currency, today) = (books.organization.currency, books.today);
    let mut debts: BTreeMap<Debtor, Debt> = BTreeMap::new();
    let mut by_group: BTreeMap<(bool, Option<GroupId>), [i128; AGES]> = BTreeMap::new();
    let mut total = [0; AGES];
    for owed in reports::owing(view.tx, view.organization, today)? {
        let debtor = (owed.member, owed.organization.filter(|_| owed.member.is_none()));
        debts.entry(debtor).or_default().add(&owed);
        add(
            by_group.entry((owed.group.is_none(), owed.group)).or_default(),
            &owed.by_age,
        );
        add(&mut total, &owed.by_age);
    }
    let mut names = HashMap::new();
    let mut groups = Vec::new();
    for ((_, group_id), by_age) in by_group {
        let group = match group_id {
            Some(id) => view
                .get::<Group>(id)?
                .map_or_else(|| id.to_string(), |group| group.name),
            None => "(no group)".to_owned(),
        };
        groups.push(GroupOwing {
            ages: Ages::of(&group, by_age, currency)?,
            group: group.clone(),
            group_id,
        });
        names.insert(group_id, group);
    }
    let mut lines = Vec::new();
    for (debtor, mut debt) in debts {
        let (id, name) = named(view, debtor)?;
        debt.groups
            .sort_unstable_by_key(|(group, _)| (group.is_none(), *group));
        let of_group = |(group_id, by_age): (Option<GroupId>, [i128; AGES])| {
            Ok(GroupOwing {
                group: names.get(&group_id).cloned().unwrap_or_default(),
                group_id,
                ages: Ages::of(&name, by_age, currency)?,
            })
        };
        lines.push(OwingLine {
            payments: debt.payments,
            oldest_due: debt.oldest_due,
            ages: Ages::of(&name, debt.by_age, currency)?,
            groups: debt
                .groups
                .into_iter()
                .map(of_group)
                .collect::<Result<_, Refusal>>()?,
            id,
            name,
        });
    }
    lines.sort_by_key(|line| (line.oldest_due.is_none(), line.oldest_due));
    let receivable = journal::balance(view.tx, view.organization, Standing::Receivable.id(), None)?;
    let processing = reports::processing(view.tx, view.organization)?;
    Ok(OwingReport {
        today,
        lines,
        groups,
        total: Ages::of("what is owed", total, currency)?,
        processing: Money::total("what is processing", processing, currency)?,
        receivable: Money::total("receivable", receivable, currency)?,
    })
}

fn named(view: &mut View<'_, '_>, debtor: Debtor) -> Result<(String, String), AppError> {
    Ok(match debtor {
        (Some(member), _) => {
            let found: Option<Member> = view.get(member)?;
            (
                member.to_string(),
                found.map_or_else(String::new, |member| member.name()),
            )
        }
        (None, Some(other)) => {
            let found = organizations::get(view.tx, other)?;
            (
                other.to_string(),
                found.map_or_else(String::new, |other| other.name),
            )
        }
        (None, None) => ("-".to_owned(), "(nobody named)".to_owned()),
    })
}
