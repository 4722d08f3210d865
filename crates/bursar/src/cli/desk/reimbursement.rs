use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_domain::ids::{MemberId, OrganizationId, ReimbursementId, kind};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementVerb};
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};

use super::super::{Globals, Outcome, parse_id};
use super::list::{self, ReimbursementListArgs};
use super::{act_in, act_on, parse_date, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum ReimbursementCommand {
    /// Create a draft
    Draft(DraftArgs),
    /// Submit a draft
    Submit(MoveArgs),
    /// Approve as an admin (--as); nobody approves their own
    Approve(MoveArgs),
    /// Reject
    Reject(MoveArgs),
    /// Reopen a rejected one as a draft
    Reopen(MoveArgs),
    /// Mark as paid
    Pay(MoveArgs),
    /// Void
    Void(MoveArgs),
    /// List reimbursements
    List(ReimbursementListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DraftArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    /// The member to be paid
    #[arg(long, value_name = "MEMBER", value_parser = parse_id::<kind::Member>)]
    member: Option<MemberId>,
    /// The organization to be paid
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>, conflicts_with = "member")]
    recipient_organization: Option<OrganizationId>,
    /// Amount
    #[arg(long)]
    amount: String,
    /// Category
    #[arg(long)]
    category: Option<String>,
    /// Description
    #[arg(long, default_value = "")]
    description: String,
    /// Date of the expense
    #[arg(long, value_parser = parse_date)]
    incurred_at: Option<Date>,
    /// Reference of a receipt; may be repeated
    #[arg(long)]
    receipt: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// The reimbursement's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Reimbursement>)]
    id: ReimbursementId,
    /// Note of the reviewer; not visible in the API
    #[arg(long)]
    note: Option<String>,
    /// Reference of the payout; not visible in the API
    #[arg(long)]
    reference: Option<String>,
}

pub(crate) fn run(globals: &Globals, command: ReimbursementCommand) -> Outcome {
    let (args, verb) = match command {
        ReimbursementCommand::Draft(args) => return draft(globals, args),
        ReimbursementCommand::List(args) => return list::reimbursements(globals, &args),
        ReimbursementCommand::Submit(args) => (args, ReimbursementVerb::Submit),
        ReimbursementCommand::Approve(args) => (args, ReimbursementVerb::Approve),
        ReimbursementCommand::Reject(args) => (args, ReimbursementVerb::Reject),
        ReimbursementCommand::Reopen(args) => (args, ReimbursementVerb::Reopen),
        ReimbursementCommand::Pay(args) => (args, ReimbursementVerb::Pay),
        ReimbursementCommand::Void(args) => (args, ReimbursementVerb::Void),
    };
    let (id, remarks) = (
        args.id,
        Remarks {
            note: args.note,
            payout_reference: args.reference,
        },
    );
    let work = move |act: &mut bursar_app::Act<'_, '_>| reimbursements::perform(act, id, verb, &remarks);
    let moved = act_on::<Reimbursement, _>(globals, id, work)?;
    tell_one(globals, &moved)
}

fn draft(globals: &Globals, args: DraftArgs) -> Outcome {
    let org = args.organization;
    let new = Draft {
        member_id: args.member,
        recipient_organization_id: args.recipient_organization,
        amount: args.amount,
        category: args.category,
        description: args.description,
        incurred_at: args.incurred_at,
        receipts: args.receipt,
    };
    let drafted = act_in(globals, org, move |act| reimbursements::draft(act, &new))?;
    tell_one(globals, &drafted)
}

fn tell_one(globals: &Globals, r: &Reimbursement) -> Outcome {
    tell(
        globals,
        &r.document(),
        &format!("{} is {}: {} {}", r.id, r.status, r.amount, r.amount.currency),
    )
}
