use bursar_app::View;
use bursar_app::reports::{self, Ages};
use bursar_domain::ids::{Id, MemberId};

use super::super::chart::{Bar, Chart};
use super::{Asked, Report};
use crate::failure::Failure;
use crate::sheet::{Cell, Section, Sheet};
use crate::words;

pub(super) fn make(view: &mut View<'_, '_>, asked: &Asked<'_>) -> Result<Report, Failure> {
    let report = reports::owing(view)?;
    let frame = &asked.asking.frame;
    let total = &report.total;
    let bars = [
        ("Not due yet", total.not_due, false),
        ("1 to 30 days late", total.days1to30, true),
        ("31 to 60 days", total.days31to60, true),
        ("61 to 90 days", total.days61to90, true),
        ("More than 90 days", total.over90, true),
    ];
    let bars = bars
        .into_iter()
        .map(|(name, amount, is_late)| Bar::of_one(name, i128::from(amount.minor), is_late));
    let chart = Chart::new(
        "Owed, by age",
        ["Not due", "Overdue"],
        bars,
        frame.place.organization.currency,
    )?;
    let rows = report.lines.iter().map(|line| {
        let member: Option<MemberId> = Id::parse(&line.id);
        let name = match member {
            Some(id) => Cell::Link(line.name.clone(), frame.at(&format!("members/{id}"))),
            None => Cell::text(line.name.clone()),
        };
        let mut cells = vec![name, Cell::Day(line.oldest_due), Cell::Count(line.payments)];
        cells.extend(amounts(&line.ages));
        cells
    });
    let mut totals = vec![Cell::text("Total"), Cell::Nothing, Cell::Nothing];
    totals.extend(amounts(total));
    Ok(Report {
        lead: format!("As of {}, oldest debt first.", words::day(report.today)),
        sheet: Sheet {
            columns: vec![
                "Name",
                "Oldest due",
                "Charges",
                "Owed",
                "Not due",
                "1\u{2013}30 days",
                "31\u{2013}60",
                "61\u{2013}90",
                "Over 90",
            ],
            amounts: 2,
            sections: vec![Section {
                rows: rows.collect(),
                ..Section::default()
            }],
            totals: vec![totals],
        },
        chart: Some(chart),
        note: match report.processing.minor {
            0 => String::new(),
            _ => format!(
                "A payment provider is collecting {} more.",
                words::money_in(report.processing)
            ),
        },
    })
}

fn amounts(ages: &Ages) -> [Cell; 6] {
    [
        ages.owed,
        ages.not_due,
        ages.days1to30,
        ages.days31to60,
        ages.days61to90,
        ages.over90,
    ]
    .map(Cell::Money)
}
