use bursar_app::campaigns::{self, CampaignChange};
use bursar_domain::campaign::{Campaign, CampaignVerb};
use bursar_domain::ids::kind;
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Globals, Outcome};
use super::list::{self, CampaignListArgs};
use super::{parse_date, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum CampaignCommand {
    /// Create a draft
    Create(CreateArgs),
    /// Change a campaign that has not ended
    Set(SetArgs),
    /// Start a campaign
    Start(OneArgs),
    /// End a campaign before its last day
    End(OneArgs),
    /// List campaigns
    List(CampaignListArgs),
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
            goal_amount: self.goal.map(Some),
            start_date: self.start_date.map(Some),
            end_date: self.end_date.map(Some),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The campaign: name or id
    #[arg(value_name = "CAMPAIGN", value_parser = parse_ref::<kind::Campaign>)]
    campaign: Ref<kind::Campaign>,
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct OneArgs {
    /// The campaign: name or id
    #[arg(value_name = "CAMPAIGN", value_parser = parse_ref::<kind::Campaign>)]
    campaign: Ref<kind::Campaign>,
}

pub(crate) fn run(globals: &Globals, command: CampaignCommand) -> Outcome {
    let door = Door::open(globals)?;
    let campaign = match command {
        CampaignCommand::Create(args) => {
            let (org, new) = (door.organization()?, args.texts.change());
            door.act(org, move |act| campaigns::create(act, &new))?
        }
        CampaignCommand::Set(args) => {
            let (org, id) = door.locate::<Campaign>(&args.campaign)?;
            let change = args.texts.change();
            door.act(org, move |act| campaigns::set(act, id, &change))?
        }
        CampaignCommand::Start(args) => change(&door, &args, CampaignVerb::Start)?,
        CampaignCommand::List(args) => return list::campaigns(globals, &args),
        CampaignCommand::End(args) => change(&door, &args, CampaignVerb::End)?,
    };
    tell(
        globals,
        &campaign.document(),
        &format!("{} ({}) is {}", campaign.name, campaign.id, campaign.status),
    )
}

fn change(door: &Door<'_>, args: &OneArgs, verb: CampaignVerb) -> Result<Campaign, Failure> {
    let (org, id) = door.locate::<Campaign>(&args.campaign)?;
    door.act(org, move |act| campaigns::perform(act, id, verb))
}
