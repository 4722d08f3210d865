//! Reports: what was expected, what came, who owes, what the ledger says.

use std::collections::{BTreeMap, HashMap};

use bursar_db::ledger::{self, Entry};
use bursar_db::{organizations, reports};
use bursar_domain::access::Role;
use bursar_domain::group::Group;
use bursar_domain::ids::OrganizationId;
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::OrganizationKind;
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use crate::act::View;
use crate::error::AppError;
use crate::rule::Rule;

/// Reading the report of dues by group.
pub const DUES: Rule = Rule::of("report.dues", Role::Viewer, "read reports");
/// Reading who owes.
pub const OWING: Rule = Rule::of("report.owing", Role::Viewer, "read reports");
/// Reading the ledger.
pub const LEDGER: Rule = Rule::of("report.ledger", Role::Viewer, "read reports");
/// Reading the totals of chapters.
pub const CHAPTERS: Rule = Rule::of("report.chapters", Role::Viewer, "read reports");

/// The rules of this module.
pub const RULES: &[&Rule] = &[&DUES, &OWING, &LEDGER, &CHAPTERS];

/// Dues of one group.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DuesLine {
    /// The group's name.
    pub group: String,
    /// How many payments.
    pub payments: i64,
    /// What they come to.
    pub expected: Money,
    /// What came.
    pub collected: Money,
    /// What is owed and overdue.
    pub overdue: Money,
}

fn check_range(from: Date, until: Date) -> Result<(), Refusal> {
    if until < from {
        return Err(Refusal::invalid(
            "until",
            format!("must not be before {from}, got {until}"),
        ));
    }
    Ok(())
}

/// Expected, collected and overdue by group, of payments due between two days; one without a due date counts on the day
/// it was raised. What was cancelled counts for what had come for it.
pub fn dues(view: &mut View<'_, '_>, from: Date, until: Date) -> Result<Vec<DuesLine>, AppError> {
    view.allow(&DUES)?;
    let currency = view.own()?.currency;
    check_range(from, until)?;
    let today = view.now().date();
    let mut lines = Vec::new();
    for sums in reports::by_group(view.tx, view.organization, from, until, today)? {
        let group = match sums.group {
            Some(id) => view
                .get::<Group>(id)?
                .map_or_else(|| id.to_string(), |group| group.name),
            None => "(no group)".to_owned(),
        };
        let money = |minor| Money::total(&group, minor, currency);
        lines.push(DuesLine {
            payments: sums.count,
            expected: money(sums.expected)?,
            collected: money(sums.collected)?,
            overdue: money(sums.overdue)?,
            group,
        });
    }
    Ok(lines)
}

/// Somebody who owes.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OwingLine {
    /// The name.
    pub name: String,
    /// The member's or organization's id.
    pub id: String,
    /// How many payments.
    pub payments: i64,
    /// The oldest due date.
    pub oldest_due: Option<String>,
    /// How much in all.
    pub owed: Money,
}

/// Who owes what, the oldest due first.
pub fn owing(view: &mut View<'_, '_>) -> Result<Vec<OwingLine>, AppError> {
    view.allow(&OWING)?;
    let currency = view.own()?.currency;
    // Each line with its sum, which is money once it is complete.
    let mut lines: Vec<(OwingLine, i128)> = Vec::new();
    let mut line_of = HashMap::new();
    for payment in reports::owed(view.tx, view.organization)? {
        let debtor = (
            payment.member,
            payment.organization.filter(|_| payment.member.is_none()),
        );
        let known = line_of.get(&debtor).and_then(|at: &usize| lines.get_mut(*at));
        if let Some((line, owed)) = known {
            line.payments += 1;
            *owed += i128::from(payment.owed);
            continue;
        }
        let (id, name) = match debtor {
            (Some(member), _) => {
                let found: Option<Member> = view.get(member)?;
                (
                    member.to_string(),
                    found.map_or_else(String::new, |m| format!("{} {}", m.first_name, m.last_name)),
                )
            }
            (None, Some(other)) => (
                other.to_string(),
                organizations::get(view.tx, other)?.map_or_else(String::new, |o| o.name),
            ),
            (None, None) => ("-".to_owned(), "(nobody named)".to_owned()),
        };
        line_of.insert(debtor, lines.len());
        let line = OwingLine {
            name,
            id,
            payments: 1,
            oldest_due: payment.due_date,
            owed: Money::zero(currency),
        };
        lines.push((line, i128::from(payment.owed)));
    }
    let total = |(line, owed): (OwingLine, i128)| {
        let owed = Money::total(&line.name, owed, currency)?;
        Ok(OwingLine { owed, ..line })
    };
    lines.into_iter().map(total).collect()
}

/// The ledger between two days.
#[derive(Clone, Debug)]
pub struct LedgerReport {
    /// Its currency.
    pub currency: Currency,
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// The sums by method.
    pub sums: BTreeMap<String, Money>,
    /// What all entries come to.
    pub total: Money,
}

/// Entries written between two days, both included, with sums per method.
pub fn ledger(view: &mut View<'_, '_>, from: Date, until: Date) -> Result<LedgerReport, AppError> {
    view.allow(&LEDGER)?;
    let currency = view.own()?.currency;
    check_range(from, until)?;
    let end = until.plus_days(1).start();
    let entries = ledger::between(view.tx, view.organization, from.start(), end)?;
    let mut by_method: BTreeMap<&str, i128> = BTreeMap::new();
    for entry in &entries {
        *by_method.entry(&entry.method).or_default() += i128::from(entry.amount);
    }
    let total = Money::total("the ledger", by_method.values().sum(), currency)?;
    let sums = by_method
        .into_iter()
        .map(|(method, sum)| Ok((method.to_owned(), Money::total(method, sum, currency)?)))
        .collect::<Result<_, Refusal>>()?;
    Ok(LedgerReport {
        currency,
        entries,
        sums,
        total,
    })
}

/// A chapter's totals; no personal data.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChapterLine {
    /// The chapter's id.
    pub id: OrganizationId,
    /// Its name.
    pub name: String,
    /// Its active members.
    pub members: i64,
    /// What its payments come to.
    pub expected: Money,
    /// What came.
    pub collected: Money,
    /// What is owed.
    pub owed: Money,
    /// The chapter's currency, which the amounts are in.
    pub currency: Currency,
}

/// Totals per direct child chapter, for a national organization.
pub fn chapters(view: &mut View<'_, '_>) -> Result<Vec<ChapterLine>, AppError> {
    view.allow(&CHAPTERS)?;
    if view.own()?.kind != OrganizationKind::National {
        return Err(Refusal::conflict("only a national organization has a report of its chapters").into());
    }
    let mut lines = Vec::new();
    for chapter in organizations::children(view.tx, view.organization)? {
        let totals = reports::totals(view.tx, chapter.id)?;
        let money = |minor| Money::total(&chapter.name, minor, chapter.currency);
        lines.push(ChapterLine {
            id: chapter.id,
            name: chapter.name.clone(),
            members: totals.members,
            expected: money(totals.expected)?,
            collected: money(totals.collected)?,
            owed: money(totals.owed)?,
            currency: chapter.currency,
        });
    }
    Ok(lines)
}

/// What the chapters of one currency come to.
#[derive(Clone, Debug)]
pub struct CurrencyTotal {
    /// The currency.
    pub currency: Currency,
    /// Active members of its chapters.
    pub members: i64,
    /// What their payments come to.
    pub expected: Money,
    /// What came.
    pub collected: Money,
    /// What is owed.
    pub owed: Money,
}

/// The totals of chapters by currency, which are never added to each other.
pub fn by_currency(lines: &[ChapterLine]) -> Result<Vec<CurrencyTotal>, Refusal> {
    let mut codes: BTreeMap<&str, Vec<&ChapterLine>> = BTreeMap::new();
    for line in lines {
        codes.entry(line.currency.code()).or_default().push(line);
    }
    let total = |lines: Vec<&ChapterLine>| {
        let currency = lines[0].currency;
        let sum = |pick: fn(&ChapterLine) -> Money| {
            let minor = lines.iter().map(|line| i128::from(pick(line).minor)).sum();
            Money::total("the chapters", minor, currency)
        };
        Ok(CurrencyTotal {
            currency,
            members: lines.iter().map(|line| line.members).sum(),
            expected: sum(|line| line.expected)?,
            collected: sum(|line| line.collected)?,
            owed: sum(|line| line.owed)?,
        })
    };
    codes.into_values().map(total).collect()
}
