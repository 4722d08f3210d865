use bursar_app::reports::{self, Basis, IncomeLine, IncomeReport};
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::Money;

use super::super::super::door::Door;
use super::super::super::{Outcome, output};
use super::{IncomeArgs, Sheet};

pub(super) fn run(door: &Door<'_>, org: OrganizationId, args: &IncomeArgs) -> Outcome {
    let (span, basis) = (args.range.span(), args.basis);
    let report = door.survey(org, |view| reports::income(view, span, basis))?;
    let is_text = !args.range.form.csv && !door.globals.json;
    if is_text {
        let (from, until) = (report.period.from, report.period.until);
        output::say_bold(&format!(
            "{}: income and expense from {from} to {until}, {}",
            door.name_of(org)?,
            match report.basis {
                Basis::Accrual => "by what was charged and spent (accrual)",
                Basis::Cash => "by what was received and paid (cash)",
            }
        ));
    }
    let sheet = sheet(&report);
    sheet.print(door.globals, &args.range.form, &report)?;
    if let Some(money) = report.money.filter(|_| is_text) {
        let opening = match money.opening.minor {
            0 => String::new(),
            _ => format!(", opening entries {}", money.opening),
        };
        output::say(&format!(
            "Money before: {}{opening}, result {}, money after: {}",
            money.start, report.result, money.end
        ));
    }
    Ok(())
}

fn sheet(report: &IncomeReport) -> Sheet<5> {
    let has_budget = report
        .income
        .iter()
        .chain(&report.expense)
        .any(|line| line.budget.is_some());
    let row = |section: &str, line: &IncomeLine| {
        [
            section.to_owned(),
            line.account.clone(),
            line.amount.to_string(),
            line.before.to_string(),
            line.budget.map_or_else(String::new, |budget| budget.to_string()),
        ]
    };
    let (now, then, budget) = (&report.totals, &report.totals_before, &report.budget);
    let sum = |section: &str, name: &str, [now, then, budget]: [Money; 3]| {
        [
            section.to_owned(),
            name.to_owned(),
            now.to_string(),
            then.to_string(),
            if has_budget {
                budget.to_string()
            } else {
                String::new()
            },
        ]
    };
    let mut rows: Vec<[String; 5]> = report.income.iter().map(|line| row("income", line)).collect();
    if !rows.is_empty() {
        rows.push(sum("income", "total", [now.income, then.income, budget.income]));
    }
    let of_income = rows.len();
    rows.extend(report.expense.iter().map(|line| row("expense", line)));
    if rows.len() > of_income {
        rows.push(sum(
            "expense",
            "total",
            [now.expense, then.expense, budget.expense],
        ));
    }
    Sheet {
        header: ["type", "account", "amount", "previous period", "yearly budget"],
        amounts: 2,
        rows,
        totals: vec![sum("result", "", [now.result, then.result, budget.result])],
        none: "nothing was earned or spent",
    }
}
