use bursar_app::reports::{self, DuesTotal};
use bursar_domain::ids::OrganizationId;

use super::super::super::Outcome;
use super::super::super::door::Door;
use super::{RangeArgs, Sheet, total};

pub(super) fn run(door: &Door<'_>, org: OrganizationId, args: &RangeArgs) -> Outcome {
    let span = args.span();
    let (lines, all) = door.survey(org, |view| reports::dues(view, span))?;
    let rows = lines.iter().map(|line| {
        let day = match line.due_date {
            Some(due) => due.to_string(),
            None => format!("raised {}", line.day),
        };
        let [payments, expected, discounts, collected, owed, overdue] = amounts(&line.sums);
        [
            line.group.clone(),
            day,
            payments,
            expected,
            discounts,
            collected,
            owed,
            overdue,
        ]
    });
    let sheet = Sheet {
        header: [
            "group",
            "due",
            "payments",
            "expected",
            "discounts",
            "collected",
            "owed",
            "overdue",
        ],
        amounts: 2,
        rows: rows.collect(),
        totals: vec![total("total", amounts(&all))],
        none: "nothing was due",
    };
    sheet.print(door.globals, &args.form, &lines)
}

fn amounts(sums: &DuesTotal) -> [String; 6] {
    [
        sums.payments.to_string(),
        sums.expected.to_string(),
        sums.discounts.to_string(),
        sums.collected.to_string(),
        sums.owed.to_string(),
        sums.overdue.to_string(),
    ]
}
