use bursar_app::cards::{self, Limits};
use bursar_domain::Resource;
use bursar_domain::card::{Card, CardStatus, CardVerb, LimitFrequency};
use bursar_domain::ids::{ApplicationId, CardId, OrganizationId, kind};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::{Outcome, Session, output, parse_id};
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

pub(crate) fn run(session: &Session, command: CardCommand) -> Outcome {
    match command {
        CardCommand::Activate(args) => change(session, &args, CardVerb::Activate),
        CardCommand::Freeze(args) => change(session, &args, CardVerb::Freeze),
        CardCommand::Unfreeze(args) => change(session, &args, CardVerb::Unfreeze),
        CardCommand::Cancel(args) => change(session, &args, CardVerb::Cancel),
        CardCommand::Deny(args) => change(session, &args, CardVerb::Deny),
        CardCommand::Limits(args) => {
            let id = args.card.id;
            let limits = Limits {
                spend_limit: args.spend_limit,
                spend_limit_frequency: args.spend_limit_frequency,
                transaction_limit: args.transaction_limit,
            };
            let card = act_on::<Card, _>(session, id, move |act| cards::set_limits(act, id, &limits))?;
            tell_card(session, &card)
        }
        CardCommand::List(args) => list::cards(session, &args),
        CardCommand::Applications(args) => applications(session, args.organization),
        CardCommand::ApproveApplication(args) => decide(session, &args, true),
        CardCommand::DenyApplication(args) => decide(session, &args, false),
    }
}

fn change(session: &Session, args: &IdArgs, verb: CardVerb) -> Outcome {
    let id = args.id;
    let card = act_on::<Card, _>(session, id, move |act| cards::perform(act, id, verb))?;
    tell_card(session, &card)
}

fn tell_card(session: &Session, card: &Card) -> Outcome {
    let status = card.status.map_or("-", CardStatus::as_str);
    let limit = card
        .spend_limit
        .map_or_else(|| "no limit".to_owned(), |limit| limit.to_string());
    tell(
        session,
        &card.document(),
        &format!("{} is {status}, limit {limit}", card.id),
    )
}

fn applications(session: &Session, organization: OrganizationId) -> Outcome {
    let all = look_in(session, organization, cards::applications)?;
    if session.json {
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

fn decide(session: &Session, args: &ApplicationArgs, is_approved: bool) -> Outcome {
    let (id, org) = (args.id, args.of.organization);
    let card = act_in(session, org, move |act| cards::decide(act, id, is_approved))?;
    match card {
        Some(card) => tell_card(session, &card),
        None => tell(
            session,
            &json!({ "id": id, "status": "denied" }).to_string(),
            &format!("{id} is denied"),
        ),
    }
}
