use bursar_app::reports::{self, Span};
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::{Currency, Money};

use super::super::super::Outcome;
use super::super::super::door::Door;
use super::{ChaptersArgs, Sheet};

pub(super) fn run(door: &Door<'_>, org: OrganizationId, args: &ChaptersArgs) -> Outcome {
    let span = (args.from.is_some() || args.until.is_some()).then_some(Span {
        from: args.from,
        until: args.until,
    });
    let lines = door.survey(org, |view| reports::chapters(view, span))?;
    let rows = lines.iter().map(|line| {
        row(
            &line.name,
            line.currency,
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
    let totals = reports::by_currency(&lines)?;
    let totals = totals.iter().map(|line| {
        row(
            "total",
            line.currency,
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
    let sheet = Sheet {
        header: [
            "chapter",
            "currency",
            "members",
            "expected",
            "discounts",
            "collected",
            "owed",
            "overdue",
        ],
        amounts: 2,
        rows: rows.collect(),
        totals: totals.collect(),
        none: "no chapters",
    };
    sheet.print(door.globals, &args.form, &lines)
}

fn row(name: &str, currency: Currency, members: i64, amounts: [Money; 5]) -> [String; 8] {
    let [expected, discounts, collected, owed, overdue] = amounts.map(|amount| amount.to_string());
    [
        name.to_owned(),
        currency.to_string(),
        members.to_string(),
        expected,
        discounts,
        collected,
        owed,
        overdue,
    ]
}
