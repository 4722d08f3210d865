use bursar_app::books::accounts::{self, AccountChange};
use bursar_app::books::count::{self, Counted};
use bursar_app::books::entries;
use bursar_domain::Date;
use bursar_domain::account::AccountType;
use bursar_domain::ids::OrganizationId;
use bursar_domain::money::Money;
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::Door;
use super::super::{Globals, Outcome, consent, output};
use super::{or_dash, parse_date};

#[derive(Debug, Subcommand)]
pub(crate) enum AccountCommand {
    /// Create an account
    Create(AccountCreateArgs),
    /// List accounts with their balances
    List(AccountListArgs),
    /// Change an account
    Set(AccountSetArgs),
    /// Close an account
    Close(AccountArgs),
    /// Open a closed account again
    Open(AccountArgs),
    /// Compare counted money with what is booked, and post the difference
    Count(AccountCountArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AccountCreateArgs {
    /// Name
    #[arg(long)]
    name: String,
    /// Type: asset, income or expense
    #[arg(long = "type", value_name = "TYPE", value_parser = parse_type)]
    account_type: AccountType,
}

#[derive(Debug, Args)]
pub(crate) struct AccountListArgs {
    /// Balances at the end of this day; today's by default
    #[arg(long, value_parser = parse_date)]
    at: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct AccountSetArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// New name
    #[arg(long)]
    name: Option<String>,
    /// Yearly budget; an empty value removes it
    #[arg(long)]
    budget: Option<String>,
    /// What the account held, negative if it was overdrawn: the difference is posted to opening
    #[arg(long, value_name = "AMOUNT", allow_negative_numbers = true)]
    opening: Option<String>,
    /// Day of the opening balance; today by default
    #[arg(long, value_parser = parse_date, requires = "opening")]
    date: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct AccountArgs {
    /// The account's name or id
    #[arg(value_name = "ACCOUNT")]
    account: String,
}

#[derive(Debug, Args)]
pub(crate) struct AccountCountArgs {
    #[command(flatten)]
    account: AccountArgs,
    /// What was counted
    #[arg(long, value_name = "AMOUNT")]
    counted: String,
    /// The day, at its end; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// Only show the difference
    #[arg(long)]
    dry_run: bool,
}

fn parse_type(text: &str) -> Result<AccountType, String> {
    AccountType::parse(text).ok_or_else(|| "must be asset, income or expense".to_owned())
}

pub(crate) fn run(globals: &Globals, command: AccountCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let account = match command {
        AccountCommand::Create(args) => door.act(org, move |act| {
            accounts::create(act, &args.name, args.account_type)
        })?,
        AccountCommand::List(args) => return list_accounts(&door, org, args.at),
        AccountCommand::Set(args) => {
            let (name, date) = (args.account.account, args.date);
            let change = AccountChange {
                name: args.name,
                budget: args.budget,
                opening: args.opening.map(|held| (held, date)),
            };
            door.act(org, move |act| accounts::set(act, &name, &change))?
        }
        AccountCommand::Close(args) => door.act(org, move |act| accounts::close(act, &args.account, true))?,
        AccountCommand::Open(args) => door.act(org, move |act| accounts::close(act, &args.account, false))?,
        AccountCommand::Count(args) => return count_money(&door, org, args),
    };
    if globals.json {
        let currency = door.survey(org, entries::accounts)?.1;
        let budget = account.budget.map(|minor| Money::new(minor, currency));
        return output::json(
            &json!({ "id": account.id, "name": account.name, "type": account.account_type,
            "isClosed": account.is_closed, "budget": budget }),
        );
    }
    let state = if account.is_closed { "closed" } else { "open" };
    let (name, account_type) = (&account.name, account.account_type);
    output::say(&format!("{name} ({account_type}) is {state}: {}", account.id));
    Ok(())
}

fn list_accounts(door: &Door<'_>, org: OrganizationId, at: Option<Date>) -> Outcome {
    let lines = door.survey(org, |view| accounts::list(view, at))?;
    if door.globals.json {
        return output::json(&lines);
    }
    let rows = lines.iter().map(|line| {
        let state = if line.is_closed { "closed" } else { "open" };
        [
            line.name.clone(),
            line.r#type.to_string(),
            line.balance.to_string(),
            or_dash(line.budget),
            state.to_owned(),
            line.id.to_string(),
        ]
    });
    let header = ["name", "type", "balance", "budget", "state", "id"];
    output::table(header, rows.collect(), "no accounts");
    Ok(())
}

/// Shows the difference before it is posted.
fn count_money(door: &Door<'_>, org: OrganizationId, args: AccountCountArgs) -> Outcome {
    let AccountCountArgs {
        account,
        counted,
        date,
        dry_run,
    } = args;
    let name = account.account;
    let shown = door.rehearse(org, |act| count::count(act, &name, &counted, date))?;
    if dry_run || shown.entry.is_none() {
        return tell_count(door, &shown, dry_run);
    }
    consent::confirm(door.globals, &told(&shown, true))?;
    let done = door.act(org, move |act| count::count(act, &name, &counted, date))?;
    tell_count(door, &done, false)
}

fn told(counted: &Counted, is_plan: bool) -> String {
    let difference = match counted.against {
        None => "there is no difference".to_owned(),
        Some(against) => {
            let posted = if is_plan { "would be" } else { "was" };
            format!(
                "the difference of {} {posted} posted to {against}",
                counted.difference
            )
        }
    };
    format!(
        "{} on {}: counted {}, booked {}; {difference}.",
        counted.account.name, counted.date, counted.counted, counted.booked
    )
}

fn tell_count(door: &Door<'_>, counted: &Counted, is_plan: bool) -> Outcome {
    if door.globals.json {
        return output::json(
            &json!({ "account": counted.account.name, "date": counted.date, "counted": counted.counted,
            "booked": counted.booked, "difference": counted.difference, "against": counted.against,
            "entry": counted.entry.filter(|_| !is_plan) }),
        );
    }
    output::say(&told(counted, is_plan));
    Ok(())
}
