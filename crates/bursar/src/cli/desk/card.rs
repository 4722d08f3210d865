use bursar_app::cards::{self, Limits};
use bursar_app::{names, resources};
use bursar_domain::Resource;
use bursar_domain::card::{Card, CardStatus, CardVerb, LimitFrequency};
use bursar_domain::ids::{ApplicationId, CardId, MemberId, OrganizationId, kind};
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::Door;
use super::super::{Failure, Globals, Outcome, consent, output, parse_id};
use super::list::{self, CardListArgs};
use super::{names_in, or_dash, tell};

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
    Applications,
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
}

fn parse_frequency(text: &str) -> Result<LimitFrequency, String> {
    LimitFrequency::parse(text).ok_or_else(|| format!("must be one of {}", LimitFrequency::WORDS))
}

pub(crate) fn run(globals: &Globals, command: CardCommand) -> Outcome {
    if let CardCommand::List(args) = &command {
        return list::cards(globals, args);
    }
    let door = Door::open(globals)?;
    match command {
        CardCommand::Activate(args) => change(&door, args.id, CardVerb::Activate),
        CardCommand::Freeze(args) => change(&door, args.id, CardVerb::Freeze),
        CardCommand::Unfreeze(args) => change(&door, args.id, CardVerb::Unfreeze),
        CardCommand::Cancel(args) => cancel(&door, args.id),
        CardCommand::Deny(args) => change(&door, args.id, CardVerb::Deny),
        CardCommand::Limits(args) => {
            let id = args.card.id;
            let limits = Limits {
                spend_limit: args.spend_limit,
                spend_limit_frequency: args.spend_limit_frequency,
                transaction_limit: args.transaction_limit.map(Some),
            };
            let org = door.home::<Card>(id)?;
            let card = door.act(org, move |act| cards::set_limits(act, id, &limits))?;
            tell_card(&door, org, &card)
        }
        CardCommand::List(args) => list::cards(globals, &args),
        CardCommand::Applications => applications(&door),
        CardCommand::ApproveApplication(args) => decide(&door, args.id, true),
        CardCommand::DenyApplication(args) => decide(&door, args.id, false),
    }
}

fn change(door: &Door<'_>, id: CardId, verb: CardVerb) -> Outcome {
    let org = door.home::<Card>(id)?;
    let card = door.act(org, move |act| cards::perform(act, id, verb))?;
    tell_card(door, org, &card)
}

fn cancel(door: &Door<'_>, id: CardId) -> Outcome {
    let org = door.home::<Card>(id)?;
    if !door.globals.yes {
        let card = door.view(org, move |view| resources::one::<Card>(view, id))?;
        door.rehearse(org, |act| cards::perform(act, id, CardVerb::Cancel))?;
        let plan = format!("Cancel permanently: {}.", told(door, org, &card)?);
        consent::confirm(door.globals, &plan)?;
    }
    change(door, id, CardVerb::Cancel)
}

fn tell_card(door: &Door<'_>, org: OrganizationId, card: &Card) -> Outcome {
    let line = match door.globals.json {
        true => String::new(),
        false => told(door, org, card)?,
    };
    tell(door.globals, &card.document(), &line)
}

/// `Travel (card_…) of Ada Larsen is active, limit 500.00 monthly`
fn told(door: &Door<'_>, org: OrganizationId, card: &Card) -> Result<String, Failure> {
    let names = names_in(door, org, card)?;
    let limit = match (card.spend_limit, card.spend_limit_frequency) {
        (Some(limit), Some(frequency)) => format!("limit {limit} {frequency}"),
        (Some(limit), None) => format!("limit {limit}"),
        (None, _) => "no limit".to_owned(),
    };
    Ok(format!(
        "{} ({}) of {} is {}, {limit}",
        card.name.as_deref().unwrap_or("card"),
        card.id,
        card.assigned_member_id
            .map_or_else(|| "nobody".to_owned(), |id| names.told(Some(id))),
        card.status.map_or("-", CardStatus::as_str)
    ))
}

fn applications(door: &Door<'_>) -> Outcome {
    let org = door.organization()?;
    let (all, names) = door.survey(org, |view| {
        let all = cards::applications(view)?;
        let holders: Vec<MemberId> = all
            .iter()
            .filter_map(|(_, _, new)| new.assigned_member_id)
            .collect();
        let names = names::of(view, &holders)?;
        Ok((all, names))
    })?;
    if door.globals.json {
        let rows = all.iter().map(|(id, status, new)| json!({ "id": id, "status": status, "name": new.name, "spendLimit": new.spend_limit }));
        return output::json(&rows.collect::<Vec<_>>());
    }
    let rows = all.iter().map(|(id, status, new)| {
        [
            id.to_string(),
            status.clone(),
            new.name.clone(),
            names.told(new.assigned_member_id),
            new.spend_limit.to_string(),
            or_dash(new.assigned_member_id),
        ]
    });
    output::table(
        ["id", "status", "name", "holder", "limit", "holder id"],
        rows.collect(),
        "no applications",
    );
    Ok(())
}

fn decide(door: &Door<'_>, id: ApplicationId, is_approved: bool) -> Outcome {
    let org = door.organization()?;
    let card = door.act(org, move |act| cards::decide(act, id, is_approved))?;
    match card {
        Some(card) => tell_card(door, org, &card),
        None => tell(
            door.globals,
            &json!({ "id": id, "status": "denied" }).to_string(),
            &format!("{id} is denied"),
        ),
    }
}
