use bursar_app::campaigns::{self, CampaignChange};
use bursar_domain::campaign::{Campaign, CampaignVerb};
use bursar_domain::ids::{CampaignId, OrganizationId, kind};
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};

use super::super::{Globals, Outcome, parse_id};
use super::list::{self, ListArgs};
use super::{act_in, act_on, parse_date, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum CampaignCommand {
    /// Create a draft
    Create(CreateArgs),
    /// Change a campaign that has not ended
    Set(SetArgs),
    /// Start a campaign
    Start(IdArgs),
    /// End a campaign; it ends by itself after its last day
    End(IdArgs),
    /// List campaigns
    List(ListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Texts {
    /// Name
    #[arg(long)]
    name: Option<String>,
    /// Note
    #[arg(long)]
    note: Option<String>,
    /// Goal
    #[arg(long, value_name = "AMOUNT")]
    goal: Option<String>,
    /// First day
    #[arg(long, value_parser = parse_date)]
    start_date: Option<Date>,
    /// Last day
    #[arg(long, value_parser = parse_date)]
    end_date: Option<Date>,
}

impl Texts {
    fn change(self) -> CampaignChange {
        CampaignChange {
            name: self.name,
            note: self.note,
            goal_amount: self.goal,
            start_date: self.start_date,
            end_date: self.end_date,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The campaign's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Campaign>)]
    id: CampaignId,
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The campaign's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Campaign>)]
    id: CampaignId,
}

pub(crate) fn run(globals: &Globals, command: CampaignCommand) -> Outcome {
    let campaign = match command {
        CampaignCommand::Create(args) => {
            let (org, new) = (args.organization, args.texts.change());
            act_in(globals, org, move |act| campaigns::create(act, &new))?
        }
        CampaignCommand::Set(args) => {
            let (id, change) = (args.id, args.texts.change());
            act_on::<Campaign, _>(globals, id, move |act| campaigns::set(act, id, &change))?
        }
        CampaignCommand::Start(args) => change(globals, &args, CampaignVerb::Start)?,
        CampaignCommand::List(args) => return list::campaigns(globals, &args),
        CampaignCommand::End(args) => change(globals, &args, CampaignVerb::End)?,
    };
    tell(
        globals,
        &campaign.document(),
        &format!("{} {} is {}", campaign.name, campaign.id, campaign.status),
    )
}

fn change(globals: &Globals, args: &IdArgs, verb: CampaignVerb) -> Result<Campaign, super::super::Failure> {
    let id = args.id;
    act_on::<Campaign, _>(globals, id, move |act| campaigns::perform(act, id, verb))
}
