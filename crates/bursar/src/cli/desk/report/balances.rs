use bursar_app::reports;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::Money;

use super::super::super::Outcome;
use super::super::super::door::Door;
use super::{BalancesArgs, Sheet};

/// Text and CSV leave accounts out that hold nothing.
pub(super) fn run(door: &Door<'_>, org: OrganizationId, args: &BalancesArgs) -> Outcome {
    let (lines, totals) = door.survey(org, |view| reports::balances(view, args.at))?;
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut sum = 0;
    for (account_type, total) in &totals {
        let of_type = lines.iter().filter(|line| line.r#type == *account_type);
        let held: Vec<_> = of_type.filter(|line| line.amount.minor != 0).collect();
        if held.is_empty() {
            continue;
        }
        rows.extend(held.iter().map(|line| {
            [
                account_type.to_string(),
                line.account.clone(),
                line.amount.to_string(),
            ]
        }));
        rows.push([account_type.to_string(), "total".to_owned(), total.to_string()]);
        sum += i128::from(total.minor);
    }
    let all = match lines.first() {
        Some(line) => vec![[
            "all".to_owned(),
            "total".to_owned(),
            Money::total("the accounts", sum, line.amount.currency)?.to_string(),
        ]],
        None => Vec::new(),
    };
    let sheet = Sheet {
        header: ["type", "account", "amount"],
        amounts: 2,
        rows,
        totals: all,
        none: "no account holds anything",
    };
    sheet.print(door.globals, &args.form, &lines)
}
