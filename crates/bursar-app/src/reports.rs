//! Reports: what was expected, what came, who owes, what the ledger says.

use std::collections::{BTreeMap, HashMap};

use bursar_db::ledger::{self, Entry};
use bursar_db::{Tx, organizations, reports, table};
use bursar_domain::group::Group;
use bursar_domain::ids::OrganizationId;
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::{Organization, OrganizationKind};
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use crate::act::no_organization;
use crate::error::AppError;

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

fn own(tx: &mut Tx<'_>, id: OrganizationId) -> Result<Organization, AppError> {
    Ok(organizations::get(tx, id)?.ok_or_else(|| no_organization(id))?)
}

/// Expected, collected and overdue by group, of payments due between two days. What was cancelled counts for what had
/// come for it.
pub fn dues(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
    today: Date,
) -> Result<Vec<DuesLine>, AppError> {
    let currency = own(tx, organization)?.currency;
    let money = |minor| Money::new(minor, currency);
    let mut lines = Vec::new();
    for sums in reports::by_group(tx, organization, from, until, today)? {
        let group = match sums.group {
            Some(id) => {
                table::get::<Group>(tx, organization, id)?.map_or_else(|| id.to_string(), |group| group.name)
            }
            None => "(no group)".to_owned(),
        };
        let (expected, collected, overdue) =
            (money(sums.expected), money(sums.collected), money(sums.overdue));
        lines.push(DuesLine {
            group,
            payments: sums.count,
            expected,
            collected,
            overdue,
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
pub fn owing(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<OwingLine>, AppError> {
    let currency = own(tx, organization)?.currency;
    let mut lines: Vec<OwingLine> = Vec::new();
    let mut line_of = HashMap::new();
    for payment in reports::owed(tx, organization)? {
        let debtor = (
            payment.member,
            payment.organization.filter(|_| payment.member.is_none()),
        );
        if let Some(line) = line_of.get(&debtor).and_then(|at: &usize| lines.get_mut(*at)) {
            line.payments += 1;
            line.owed.minor += payment.owed;
            continue;
        }
        let (id, name) = match debtor {
            (Some(member), _) => {
                let found: Option<Member> = table::get(tx, organization, member)?;
                (
                    member.to_string(),
                    found.map_or_else(String::new, |m| format!("{} {}", m.first_name, m.last_name)),
                )
            }
            (None, Some(other)) => (
                other.to_string(),
                organizations::get(tx, other)?.map_or_else(String::new, |o| o.name),
            ),
            (None, None) => ("-".to_owned(), "(nobody named)".to_owned()),
        };
        line_of.insert(debtor, lines.len());
        lines.push(OwingLine {
            name,
            id,
            payments: 1,
            oldest_due: payment.due_date,
            owed: Money::new(payment.owed, currency),
        });
    }
    Ok(lines)
}

/// The ledger between two days.
#[derive(Clone, Debug)]
pub struct LedgerReport {
    /// Its currency.
    pub currency: Currency,
    /// The entries, in order.
    pub entries: Vec<Entry>,
    /// The sums by method, and in all.
    pub sums: BTreeMap<String, i64>,
    /// What all entries come to.
    pub total: i64,
}

/// Entries written between two days, both included, with sums per method.
pub fn ledger(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    from: Date,
    until: Date,
) -> Result<LedgerReport, AppError> {
    let currency = own(tx, organization)?.currency;
    if until < from {
        return Err(Refusal::invalid("until", format!("must not be before {from}, got {until}")).into());
    }
    let entries = ledger::between(tx, organization, from.start(), until.plus_days(1).start())?;
    let mut sums: BTreeMap<String, i64> = BTreeMap::new();
    for entry in &entries {
        *sums.entry(entry.method.clone()).or_default() += entry.amount;
    }
    let total = entries.iter().map(|entry| entry.amount).sum();
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
}

/// Totals per direct child chapter, for a national organization.
pub fn chapters(tx: &mut Tx<'_>, organization: OrganizationId) -> Result<Vec<ChapterLine>, AppError> {
    if own(tx, organization)?.kind != OrganizationKind::National {
        return Err(Refusal::conflict("only a national organization has a report of its chapters").into());
    }
    let mut lines = Vec::new();
    for chapter in organizations::children(tx, organization)? {
        let (members, expected, collected, owed) = reports::totals(tx, chapter.id)?;
        let money = |minor| Money::new(minor, chapter.currency);
        lines.push(ChapterLine {
            id: chapter.id,
            name: chapter.name.clone(),
            members,
            expected: money(expected),
            collected: money(collected),
            owed: money(owed),
        });
    }
    Ok(lines)
}
