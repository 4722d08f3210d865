use std::collections::BTreeMap;

use bursar_app::View;
use bursar_app::reports::{self, DuesTotal};

use super::super::chart::{Bar, Chart};
use super::{Asked, Report, days};
use crate::failure::Failure;
use crate::sheet::{Cell, Section, Sheet};

pub(super) fn make(view: &mut View<'_, '_>, asked: &Asked<'_>) -> Result<Report, Failure> {
    let (lines, total) = reports::dues(view, asked.chosen.span())?;
    let frame = &asked.asking.frame;
    let mut by_group: BTreeMap<&str, (i128, i128)> = BTreeMap::new();
    for line in &lines {
        let name = line.group_id.map_or("No group", |_| line.group.as_str());
        let held = by_group.entry(name).or_default();
        held.0 += i128::from(line.sums.expected.minor - line.sums.discounts.minor);
        held.1 += i128::from(line.sums.collected.minor);
    }
    let bars = by_group
        .iter()
        .map(|(group, (expected, collected))| Bar::of_part(group, *expected, *collected));
    let currency = frame.place.organization.currency;
    let chart = Chart::new(
        "Collected of expected, by group",
        ["Expected", "Collected"],
        bars,
        currency,
    )?;
    let rows = lines.iter().map(|line| {
        let group = match line.group_id {
            Some(id) => Cell::Link(line.group.clone(), frame.at(&format!("groups/{id}"))),
            None => Cell::text("No group"),
        };
        let mut cells = vec![group, Cell::Day(line.due_date)];
        cells.extend(amounts(&line.sums));
        cells
    });
    let mut totals = vec![Cell::text("Total"), Cell::Nothing];
    totals.extend(amounts(&total));
    Ok(Report {
        lead: format!("Charges due {}.", days(asked.chosen.from, asked.chosen.until)),
        sheet: Sheet {
            columns: vec![
                "Group",
                "Due",
                "Charges",
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
            totals: vec![totals],
        },
        chart: Some(chart),
        note: String::new(),
    })
}

fn amounts(sums: &DuesTotal) -> [Cell; 6] {
    [
        Cell::Count(sums.payments),
        Cell::Money(sums.expected),
        Cell::Money(sums.discounts),
        Cell::Money(sums.collected),
        Cell::Money(sums.owed),
        Cell::Money(sums.overdue),
    ]
}
