use bursar_app::View;
use bursar_app::reports::{self, Basis, IncomeLine};
use bursar_domain::money::Money;

use super::{Asked, Report, days};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::sheet::{Cell, Section, Sheet};
use crate::words;

pub(super) fn basis(asking: &Asking) -> Basis {
    Basis::parse(asking.query("basis")).unwrap_or(Basis::Accrual)
}

pub(super) fn make(view: &mut View<'_, '_>, asked: &Asked<'_>) -> Result<Report, Failure> {
    let report = reports::income(view, asked.chosen.span(), basis(asked.asking))?;
    let has_budget = report
        .income
        .iter()
        .chain(&report.expense)
        .any(|line| line.budget.is_some());
    let row = |name: String, [now, before]: [Money; 2], budget: Option<Money>| {
        let mut cells = vec![Cell::Text(name), Cell::Money(now), Cell::Money(before)];
        if has_budget {
            cells.push(Cell::money(budget));
        }
        cells
    };
    let section = |name: &str, lines: &[IncomeLine], [now, before, budget]: [Money; 3]| Section {
        name: name.to_owned(),
        rows: lines
            .iter()
            .map(|line| {
                row(
                    words::label(&line.account),
                    [line.amount, line.before],
                    line.budget,
                )
            })
            .collect(),
        totals: vec![row(
            format!("Total {}", name.to_lowercase()),
            [now, before],
            Some(budget),
        )],
    };
    let (now, before, budget) = (&report.totals, &report.totals_before, &report.budget);
    let mut sections = vec![
        section(
            "Income",
            &report.income,
            [now.income, before.income, budget.income],
        ),
        section(
            "Expense",
            &report.expense,
            [now.expense, before.expense, budget.expense],
        ),
    ];
    sections.retain(|section| !section.rows.is_empty());
    let mut columns = vec!["Account", "Amount", "Period before"];
    if has_budget {
        columns.push("Budget a year");
    }
    let counted = match report.basis {
        Basis::Accrual => "What was charged and spent",
        Basis::Cash => "Money received and spent",
    };
    let before_days = report.before.map_or_else(String::new, |before| {
        format!(", beside {}", days(before.from, before.until))
    });
    Ok(Report {
        lead: format!(
            "{counted}, {}{before_days}.",
            days(report.period.from, report.period.until)
        ),
        sheet: Sheet {
            columns,
            amounts: 1,
            sections,
            totals: vec![row(
                "Result".to_owned(),
                [now.result, before.result],
                Some(budget.result),
            )],
        },
        chart: None,
        note: report.money.map_or_else(String::new, |money| {
            let opening = match money.opening.minor {
                0 => String::new(),
                _ => format!(", opening entries {}", words::money(money.opening)),
            };
            format!(
                "Money before: {}{opening}, result: {}, money after: {}.",
                words::money(money.start),
                words::money(report.result),
                words::money_in(money.end)
            )
        }),
    })
}
