use bursar_app::books::periods;
use bursar_domain::Date;
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::Door;
use super::super::{Failure, Globals, Outcome, output};
use super::parse_date;

#[derive(Debug, Subcommand)]
pub(crate) enum PeriodCommand {
    /// Close the books through a day
    Close(PeriodCloseArgs),
    /// Reopen closed days, as an admin
    Reopen(PeriodReopenArgs),
    /// Show through which day the books are closed
    #[command(alias = "list")]
    Show,
}

#[derive(Debug, Args)]
pub(crate) struct PeriodCloseArgs {
    /// The last closed day
    #[arg(long, value_parser = parse_date)]
    until: Date,
}

#[derive(Debug, Args)]
pub(crate) struct PeriodReopenArgs {
    /// The last day that stays closed; none by default
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
    /// Reason
    #[arg(long)]
    reason: String,
}

pub(crate) fn run(globals: &Globals, command: PeriodCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let until: Result<Option<Date>, Failure> = match command {
        PeriodCommand::Close(args) => door
            .act(org, move |act| periods::close(act, args.until))
            .map(Some),
        PeriodCommand::Reopen(args) => {
            door.act(org, move |act| periods::reopen(act, args.until, &args.reason))
        }
        PeriodCommand::Show => door.view(org, periods::show),
    };
    let until = until?;
    if globals.json {
        return output::json(&json!({ "closedUntil": until }));
    }
    output::say(&match until {
        Some(day) => format!("The books are closed until {day}"),
        None => "No period is closed".to_owned(),
    });
    Ok(())
}
