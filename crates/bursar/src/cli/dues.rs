use bursar_app::dues::{self, NewDues, Preview, Raising};
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::{GroupId, OrganizationId, kind};
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};
use serde_json::json;

use super::desk::parse_date;
use super::door::{Door, Ref, parse_ref};
use super::{Failure, Globals, Outcome, output};

#[derive(Debug, Subcommand)]
pub(crate) enum DuesCommand {
    /// Set or clear a group's dues
    Set(SetArgs),
    /// Show a group's dues and who is charged next
    Show(GroupArgs),
    /// Raise a group's dues that are due; the background worker does this automatically
    Raise(RaiseArgs),
}

#[derive(Debug, Args)]
pub(crate) struct GroupArgs {
    /// The group: name or id
    #[arg(long, value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Ref<kind::Group>,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    group: GroupArgs,
    /// Amount per member and period in the organization's currency, such as 50.00
    #[arg(
        long,
        value_name = "AMOUNT",
        required_unless_present = "none",
        requires = "due"
    )]
    amount: Option<String>,
    /// The first due date, today or later
    #[arg(long, value_name = "DATE", value_parser = parse_date, requires = "amount")]
    due: Option<Date>,
    /// weekly, monthly, quarterly, semiannual or annual; once by default
    #[arg(long, value_name = "INTERVAL", value_parser = parse_interval, requires = "amount")]
    every: Option<Interval>,
    /// Clear the dues
    #[arg(long, conflicts_with_all = ["amount", "due", "every"])]
    none: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RaiseArgs {
    #[command(flatten)]
    group: GroupArgs,
    /// Show who would be charged how much; nothing is written
    #[arg(long)]
    dry_run: bool,
}

fn parse_interval(text: &str) -> Result<Interval, String> {
    Interval::parse(text).ok_or_else(|| format!("must be one of {}", Interval::WORDS))
}

pub(crate) fn run(globals: &Globals, command: DuesCommand) -> Outcome {
    let door = Door::open(globals)?;
    match command {
        DuesCommand::Set(args) => set(&door, &args),
        DuesCommand::Show(args) => {
            let (organization, group) = door.locate::<Group>(&args.group)?;
            let preview = preview(&door, organization, group)?;
            if globals.json {
                return output::json(&preview);
            }
            show(&preview);
            Ok(())
        }
        DuesCommand::Raise(args) => raise(&door, &args),
    }
}

fn set(door: &Door<'_>, args: &SetArgs) -> Outcome {
    let (organization, group) = door.locate::<Group>(&args.group.group)?;
    let dues = match (&args.amount, args.due) {
        (Some(amount), Some(due)) => Some(NewDues {
            amount: amount.clone(),
            due,
            interval: args.every,
        }),
        _ => None,
    };
    let group = door.act(organization, move |act| dues::set(act, group, dues.as_ref()))?;
    if door.globals.json {
        output::document(&group.document());
        return Ok(());
    }
    match (group.amount_due, group.due_date) {
        (Some(amount), Some(due)) => output::say(&format!(
            "{} ({}): {amount} {} from each member, due {due}{}",
            group.name,
            group.id,
            group.currency,
            every(group.recurring_interval)
        )),
        _ => output::say(&format!("{} ({}) has no dues", group.name, group.id)),
    }
    Ok(())
}

fn every(interval: Option<Interval>) -> String {
    interval.map_or_else(|| ", once".to_owned(), |interval| format!(", {interval}"))
}

fn preview(door: &Door<'_>, organization: OrganizationId, group: GroupId) -> Result<Preview, Failure> {
    door.view(organization, move |view| dues::preview(view, group))
}

fn show(preview: &Preview) {
    let (Some(amount), Some(_)) = (preview.amount_due, preview.due_date) else {
        output::say(&format!("{:?} has no dues to raise", preview.name));
        return;
    };
    let currency = preview.currency;
    output::say(&format!(
        "{:?}: {amount} {currency} from each member{}",
        preview.name,
        every(preview.recurring_interval)
    ));
    for period in &preview.periods {
        let due = match period.is_due {
            true => format!("Due now ({})", period.due_date),
            false => format!("Due {}", period.due_date),
        };
        output::say(&format!(
            "{due}: {}, {} {currency}",
            output::many(period.count.unsigned_abs(), "member"),
            period.total
        ));
    }
}

fn raise(door: &Door<'_>, args: &RaiseArgs) -> Outcome {
    let (organization, group) = door.locate::<Group>(&args.group.group)?;
    let preview = preview(door, organization, group)?;
    if args.dry_run {
        if door.globals.json {
            return output::json(&preview);
        }
        return dry_run(&preview);
    }
    if !preview.periods.iter().any(|period| period.is_due) {
        return Err(dues::nothing_due(&preview).into());
    }
    let (mut after, mut payments, mut periods) = (None, 0_i64, 0_i64);
    loop {
        match door.act(organization, move |act| dues::raise(act, group, after))? {
            Raising::Some(count, last) => {
                payments += i64::try_from(count)?;
                after = Some(last);
            }
            Raising::Period(count) => {
                payments += i64::try_from(count)?;
                periods += 1;
                after = None;
            }
            Raising::Nothing => break,
        }
    }
    if door.globals.json {
        return output::json(&json!({ "groupId": group, "payments": payments, "periods": periods }));
    }
    output::say(&format!(
        "raised {} for {} of {} ({group})",
        output::many(payments.unsigned_abs(), "payment"),
        output::many(periods.unsigned_abs(), "due date"),
        preview.name
    ));
    Ok(())
}

fn dry_run(preview: &Preview) -> Outcome {
    show(preview);
    let amount = preview
        .amount_due
        .map(|amount| amount.to_string())
        .unwrap_or_default();
    let rows: Vec<[String; 4]> = preview
        .periods
        .iter()
        .flat_map(|period| period.members.iter().map(move |member| (period, member)))
        .map(|(period, member)| {
            [
                period.due_date.to_string(),
                member.member_id.to_string(),
                member.name.clone(),
                amount.clone(),
            ]
        })
        .collect();
    let named = rows.len();
    if named > 0 {
        output::table(["due", "member", "name", "amount"], rows, "");
    }
    if i64::try_from(named) != Ok(preview.count) {
        output::say(&format!("… and more: {} in all", preview.count));
    }
    output::say(&format!(
        "total: {}, {} {}; nothing was written",
        output::many(preview.count.unsigned_abs(), "payment"),
        preview.total,
        preview.currency
    ));
    Ok(())
}
