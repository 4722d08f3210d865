use bursar_app::View;
use bursar_app::reports;
use bursar_domain::Date;
use bursar_domain::account::AccountType;
use bursar_domain::money::Money;

use super::{Asked, Report, today};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::sheet::{Cell, Section, Sheet};
use crate::words;

/// Today unless the address says otherwise.
pub(super) fn day(asking: &Asking, today: Date) -> Date {
    Date::parse(asking.query("until")).unwrap_or(today)
}

pub(super) fn make(view: &mut View<'_, '_>, asked: &Asked<'_>) -> Result<Report, Failure> {
    let frame = &asked.asking.frame;
    let day = day(asked.asking, today(view, frame));
    let (lines, totals) = reports::balances(view, Some(day))?;
    let ledger = |account: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("account", account)
            .append_pair("until", &day.to_string())
            .finish();
        format!("{}?{query}", frame.at("reports/ledger"))
    };
    let mut sections = Vec::new();
    let mut sum = 0;
    for (account_type, total) in &totals {
        sum += i128::from(total.minor);
        let of_type = lines.iter().filter(|line| line.r#type == *account_type);
        let rows: Vec<_> = of_type
            .filter(|line| line.amount.minor != 0)
            .map(|line| {
                let name = Cell::Link(words::label(&line.account), ledger(&line.account));
                vec![name, Cell::Money(line.amount)]
            })
            .collect();
        if !rows.is_empty() {
            sections.push(Section {
                name: type_name(*account_type).to_owned(),
                rows,
                totals: vec![vec![Cell::text("Total"), Cell::Money(*total)]],
            });
        }
    }
    let sum = Money::total("the accounts", sum, frame.place.organization.currency)?;
    Ok(Report {
        lead: format!(
            "At the end of {}. Debits are positive, credits negative.",
            words::day(day)
        ),
        sheet: Sheet {
            columns: vec!["Account", "Balance"],
            amounts: 1,
            sections,
            totals: vec![vec![Cell::text("All accounts"), Cell::Money(sum)]],
        },
        chart: None,
        note: String::new(),
    })
}

const fn type_name(account_type: AccountType) -> &'static str {
    match account_type {
        AccountType::Asset => "Money and claims",
        AccountType::Liability => "Owed to others",
        AccountType::Income => "Earned",
        AccountType::ContraIncome => "Discounts",
        AccountType::Expense => "Spent",
        AccountType::Equity => "When the books began",
    }
}
