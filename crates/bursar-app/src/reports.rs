//! Reports: what was expected, what was collected, who owes, what the ledger says.

use std::collections::{BTreeMap, HashMap};

use bursar_db::{journal, organizations, reports};
use bursar_domain::access::Role;
use bursar_domain::account::Account;
use bursar_domain::group::Group;
use bursar_domain::ids::{AccountId, OrganizationId};
use bursar_domain::journal::Entry;
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::OrganizationKind;
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use crate::act::View;
use crate::books;
use crate::error::AppError;
use crate::rule::Rule;

pub const DUES: Rule = Rule::of("report.dues", Role::Viewer, "read reports");
pub const OWING: Rule = Rule::of("report.owing", Role::Viewer, "read reports");
pub const LEDGER: Rule = Rule::of("report.ledger", Role::Viewer, "read reports");
pub const CHAPTERS: Rule = Rule::of("report.chapters", Role::Viewer, "read reports");

pub const RULES: &[&Rule] = &[&DUES, &OWING, &LEDGER, &CHAPTERS];

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DuesLine {
    pub group: String,
    pub payments: i64,
    pub expected: Money,
    pub collected: Money,
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

/// By group, for payments due between two days. A payment without a due date counts on the day it was raised. A
/// cancelled payment counts only with what was received for it.
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

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OwingLine {
    pub name: String,
    /// A member's or organization's id.
    pub id: String,
    pub payments: i64,
    pub oldest_due: Option<String>,
    pub owed: Money,
}

/// Oldest due date first.
pub fn owing(view: &mut View<'_, '_>) -> Result<Vec<OwingLine>, AppError> {
    view.allow(&OWING)?;
    let currency = view.own()?.currency;
    // Sums stay i128 until they are complete.
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

#[derive(Clone, Debug)]
pub struct LedgerReport {
    pub currency: Currency,
    pub entries: Vec<Entry>,
    /// The names of the accounts that the entries name.
    pub accounts: BTreeMap<AccountId, Account>,
    /// What each account gained, by name.
    pub sums: BTreeMap<String, Money>,
}

/// The journal between two days, both included.
pub fn ledger(view: &mut View<'_, '_>, from: Date, until: Date) -> Result<LedgerReport, AppError> {
    view.allow(&LEDGER)?;
    let currency = view.own()?.currency;
    check_range(from, until)?;
    let accounts = books::accounts::names(view)?;
    let mut entries = Vec::new();
    journal::each_between(view.tx, view.organization, from, until, |entry| {
        entries.push(entry);
        Ok(())
    })?;
    let mut sums: BTreeMap<String, i128> = BTreeMap::new();
    for posting in entries.iter().flat_map(|entry| &entry.postings) {
        let name = accounts
            .get(&posting.account)
            .map_or_else(|| posting.account.to_string(), |account| account.name.clone());
        *sums.entry(name).or_default() += i128::from(posting.amount);
    }
    let sums = sums
        .into_iter()
        .map(|(name, sum)| Ok((name.clone(), Money::total(&name, sum, currency)?)))
        .collect::<Result<_, Refusal>>()?;
    Ok(LedgerReport {
        currency,
        entries,
        accounts,
        sums,
    })
}

/// Contains no personal data.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChapterLine {
    pub id: OrganizationId,
    pub name: String,
    /// Active members.
    pub members: i64,
    pub expected: Money,
    pub collected: Money,
    pub owed: Money,
    /// The chapter's own currency.
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

#[derive(Clone, Debug)]
pub struct CurrencyTotal {
    pub currency: Currency,
    pub members: i64,
    pub expected: Money,
    pub collected: Money,
    pub owed: Money,
}

/// Totals per currency. Amounts in different currencies are never added up.
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
