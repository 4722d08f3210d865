use bursar_app::reports::{self, Ages};
use bursar_domain::ids::OrganizationId;

use super::super::super::door::Door;
use super::super::super::{Outcome, output};
use super::{FormArgs, Sheet, total};

pub(super) fn run(door: &Door<'_>, org: OrganizationId, args: &FormArgs) -> Outcome {
    let report = door.survey(org, reports::owing)?;
    let row = |name: &str, payments: String, oldest: String, ages: &Ages, id: &str| {
        let [owed, overdue, not_due, first, second, third, over] = amounts(ages);
        let name = name.to_owned();
        let id = id.to_owned();
        [
            name, id, oldest, payments, owed, overdue, not_due, first, second, third, over,
        ]
    };
    let members = report.lines.iter().map(|line| {
        let oldest = line.oldest_due.map_or_else(String::new, |day| day.to_string());
        let payments = line.payments.to_string();
        row(&line.name, payments, oldest, &line.ages, &line.id)
    });
    let sheet = Sheet {
        header: [
            "name",
            "id",
            "oldest due",
            "payments",
            "owed",
            "overdue",
            "not due",
            "1-30 days",
            "31-60 days",
            "61-90 days",
            "over 90 days",
        ],
        amounts: 3,
        rows: members.collect(),
        totals: vec![total("total", amounts(&report.total))],
        none: "nobody owes anything",
    };
    sheet.print(door.globals, args, &report.lines)?;
    if args.csv || door.globals.json {
        return Ok(());
    }
    if report.groups.len() > 1 {
        output::say("");
        let groups = report.groups.iter().map(|group| {
            let [owed, overdue, not_due, first, second, third, over] = amounts(&group.ages);
            let name = group.group.clone();
            [name, owed, overdue, not_due, first, second, third, over]
        });
        let by_group = Sheet {
            header: [
                "group",
                "owed",
                "overdue",
                "not due",
                "1-30 days",
                "31-60 days",
                "61-90 days",
                "over 90 days",
            ],
            amounts: 1,
            rows: groups.collect(),
            totals: Vec::new(),
            none: "",
        };
        by_group.text();
    }
    if report.processing.minor != 0 {
        output::say(&format!(
            "A payment provider is collecting {} more; with it, receivable is {}",
            report.processing, report.receivable
        ));
    }
    Ok(())
}

fn amounts(ages: &Ages) -> [String; 7] {
    [
        ages.owed,
        ages.overdue,
        ages.not_due,
        ages.days1to30,
        ages.days31to60,
        ages.days61to90,
        ages.over90,
    ]
    .map(|amount| amount.to_string())
}
