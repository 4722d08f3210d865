use bursar_app::cards::{self, Limits};
use bursar_domain::Resource;
use bursar_domain::card::{Card, CardStatus, CardVerb, LimitFrequency};
use bursar_domain::ids::{ApplicationId, CardId, OrganizationId, kind};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::{Globals, Outcome, output, parse_id};
use super::list::{self, CardListArgs, ListArgs};
use super::{act_in, act_on, look_in, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum CardCommand {
    /// Mark as accepted by the holder
    Activate(IdArgs),
    /// Block a card until it is unfrozen
    Freeze(IdArgs),
    /// Unblock a frozen card
    Unfreeze(IdArgs),
    /// Cancel a card permanently
    Cancel(IdArgs),
    /// Mark as declined by the holder
    Deny(IdArgs),
    /// Change the limits of a card
    Limits(LimitArgs),
    /// List cards
    List(CardListArgs),
    /// List card applications
    Applications(ListArgs),
    /// Approve a card application
    ApproveApplication(ApplicationArgs),
    /// Deny a card application
    DenyApplication(ApplicationArgs),
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The card's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Card>)]
    id: CardId,
}

#[derive(Debug, Args)]
pub(crate) struct LimitArgs {
    #[command(flatten)]
    card: IdArgs,
    /// Spend limit
    #[arg(long)]
    spend_limit: Option<String>,
    /// Period of the spend limit: daily, weekly, monthly or one_time
    #[arg(long, value_parser = parse_frequency)]
    spend_limit_frequency: Option<LimitFrequency>,
    /// Limit of one transaction
    #[arg(long)]
    transaction_limit: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ApplicationArgs {
    /// The application's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Application>)]
    id: ApplicationId,
    #[command(flatten)]
    of: ListArgs,
}

fn parse_frequency(text: &str) -> Result<LimitFrequency, String> {
    LimitFrequency::parse(text).ok_or_else(|| format!("must be one of {}", LimitFrequency::WORDS))
}

pub(crate) fn run(globals: &Globals, command: CardCommand) -> Outcome {
    match command {
        CardCommand::Activate(args) => change(globals, &args, CardVerb::Activate),
        CardCommand::Freeze(args) => change(globals, &args, CardVerb::Freeze),
        CardCommand::Unfreeze(args) => change(globals, &args, CardVerb::Unfreeze),
        CardCommand::Cancel(args) => change(globals, &args, CardVerb::Cancel),
        CardCommand::Deny(args) => change(globals, &args, CardVerb::Deny),
        CardCommand::Limits(args) => {
            let id = args.card.id;
            let limits = Limits {
                spend_limit: args.spend_limit,
                spend_limit_frequency: args.spend_limit_frequency,
                transaction_limit: args.transaction_limit,
            };
            let card = act_on::<Card, _>(globals, id, move |act| cards::set_limits(act, id, &limits))?;
            tell_card(globals, &card)
        }
        CardCommand::List(args) => list::cards(globals, &args),
        CardCommand::Applications(args) => applications(globals, args.organization),
        CardCommand::ApproveApplication(args) => decide(globals, &args, true),
        CardCommand::DenyApplication(args) => decide(globals, &args, false),
    }
}

fn change(globals: &Globals, args: &IdArgs, verb: CardVerb) -> Outcome {
    let id = args.id;
    let card = act_on::<Card, _>(globals, id, move |act| cards::perform(act, id, verb))?;
    tell_card(globals, &card)
}

fn tell_card(globals: &Globals, card: &Card) -> Outcome {
    let status = card.status.map_or("-", CardStatus::as_str);
    let limit = card
        .spend_limit
        .map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
    tell(
        globals,
        &card.document(),
        &format!("{} is {status}, limit {limit}", card.id),
    )
}

fn applications(globals: &Globals, organization: OrganizationId) -> Outcome {
    let all = look_in(globals, organization, cards::applications)?;
    if globals.json {
        let rows = all.iter().map(|(id, status, new)| json!({ "id": id, "status": status, "name": new.name, "spendLimit": new.spend_limit }));
        return output::json(&rows.collect::<Vec<_>>());
    }
    let rows = all.iter().map(|(id, status, new)| {
        [
            id.to_string(),
            status.clone(),
            new.name.clone(),
            new.spend_limit.to_string(),
        ]
    });
    output::table(
        ["id", "status", "name", "limit"],
        rows.collect(),
        "no applications",
    );
    Ok(())
}

fn decide(globals: &Globals, args: &ApplicationArgs, is_approved: bool) -> Outcome {
    let (id, org) = (args.id, args.of.organization);
    let card = act_in(globals, org, move |act| cards::decide(act, id, is_approved))?;
    match card {
        Some(card) => tell_card(globals, &card),
        None => tell(
            globals,
            &json!({ "id": id, "status": "denied" }).to_string(),
            &format!("{id} is denied"),
        ),
    }
}
