//! Totals of the chapters of a national organization, each in its own currency.

use std::collections::BTreeMap;

use bursar_db::organizations;
use bursar_db::reports::{self, DuesSums};
use bursar_domain::access::Role;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::{Currency, Money};
use bursar_domain::organization::OrganizationKind;
use bursar_domain::{Date, Refusal};
use serde::Serialize;

use super::Span;
use crate::act::View;
use crate::error::AppError;
use crate::rule::Rule;

pub const CHAPTERS: Rule = Rule::of("report.chapters", Role::Viewer, "read reports");

/// Contains no personal data.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChapterLine {
    pub id: OrganizationId,
    pub name: String,
    /// Active members.
    pub members: i64,
    pub expected: Money,
    pub discounts: Money,
    pub collected: Money,
    pub owed: Money,
    pub overdue: Money,
    /// The chapter's own currency.
    pub currency: Currency,
}

/// Sums of the charges that direct child chapters raised: of those due between two days, or of all. Only a chapter's
/// members see more of its books.
pub fn chapters(view: &mut View<'_, '_>, span: Option<Span>) -> Result<Vec<ChapterLine>, AppError> {
    view.allow(&CHAPTERS)?;
    let own = view.own()?;
    if own.kind != OrganizationKind::National {
        return Err(Refusal::conflict("only a national organization has a report of its chapters").into());
    }
    let mut lines = Vec::new();
    for chapter in organizations::children(view.tx, view.organization)? {
        let today = chapter.time_zone.date(view.now());
        let days = match span {
            None => (Date::FIRST, Date::LAST.plus_days(-1)),
            Some(span) => {
                let period = span.period(own.time_zone.date(view.now()))?;
                (period.from, period.until)
            }
        };
        let mut total = DuesSums::default();
        let mut overdue = 0;
        for ((_, _, day, is_due), sums) in reports::dues(view.tx, chapter.id, &chapter.time_zone, days)? {
            total.expected += sums.expected;
            total.discounts += sums.discounts;
            total.collected += sums.collected;
            total.owed += sums.owed;
            overdue += if is_due && day < today { sums.owed } else { 0 };
        }
        let money = |minor| Money::total(&chapter.name, minor, chapter.currency);
        lines.push(ChapterLine {
            id: chapter.id,
            name: chapter.name.clone(),
            members: reports::active_members(view.tx, chapter.id)?,
            expected: money(total.expected)?,
            discounts: money(total.discounts)?,
            collected: money(total.collected)?,
            owed: money(total.owed)?,
            overdue: money(overdue)?,
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
    pub discounts: Money,
    pub collected: Money,
    pub owed: Money,
    pub overdue: Money,
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
            discounts: sum(|line| line.discounts)?,
            collected: sum(|line| line.collected)?,
            owed: sum(|line| line.owed)?,
            overdue: sum(|line| line.overdue)?,
        })
    };
    codes.into_values().map(total).collect()
}
