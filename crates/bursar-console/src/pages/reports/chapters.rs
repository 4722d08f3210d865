use bursar_app::View;
use bursar_app::reports;
use bursar_domain::money::Money;

use super::{Asked, Report, days};
use crate::failure::Failure;
use crate::sheet::{Cell, Section, Sheet};

pub(super) fn make(view: &mut View<'_, '_>, asked: &Asked<'_>) -> Result<Report, Failure> {
    let lines = reports::chapters(view, Some(asked.chosen.span()))?;
    let row = |name: Cell, currency: &str, members: i64, amounts: [Money; 5]| {
        let mut cells = vec![name, Cell::text(currency), Cell::Count(members)];
        cells.extend(amounts.map(Cell::Money));
        cells
    };
    let totals = reports::by_currency(&lines)?;
    let rows = lines.iter().map(|line| {
        let to = asked.asking.frame.at(&format!("chapters/{}", line.id));
        row(
            Cell::Link(line.name.clone(), to),
            line.currency.code(),
            line.members,
            [
                line.expected,
                line.discounts,
                line.collected,
                line.owed,
                line.overdue,
            ],
        )
    });
    Ok(Report {
        lead: format!(
            "Charges that the chapters raised, due {}.",
            days(asked.chosen.from, asked.chosen.until)
        ),
        sheet: Sheet {
            columns: vec![
                "Chapter",
                "Currency",
                "Members",
                "Expected",
                "Discounts",
                "Collected",
                "Owed",
                "Overdue",
            ],
            amounts: 2,
            sections: vec![Section {
                rows: rows.collect(),
                ..Section::default()
            }],
            totals: totals
                .iter()
                .map(|line| {
                    row(
                        Cell::text("Total"),
                        line.currency.code(),
                        line.members,
                        [
                            line.expected,
                            line.discounts,
                            line.collected,
                            line.owed,
                            line.overdue,
                        ],
                    )
                })
                .collect(),
        },
        chart: None,
        note: String::new(),
    })
}
