//! `bursar reimbursement`.

use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_domain::ids::{MemberId, OrganizationId, ReimbursementId, kind};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementVerb};
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};

use super::super::{Outcome, Session, parse_id};
use super::list::{self, ReimbursementListArgs};
use super::{act_in, act_on, parse_date, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum ReimbursementCommand {
    /// Write a draft
    Draft(DraftArgs),
    /// Hand a draft in
    Submit(MoveArgs),
    /// Approve it; for an admin who is a person (--as), and never for one's own
    Approve(MoveArgs),
    /// Send it back
    Reject(MoveArgs),
    /// Make a rejected one a draft again
    Reopen(MoveArgs),
    /// Pay it out
    Pay(MoveArgs),
    /// Withdraw it
    Void(MoveArgs),
    /// List them
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
    /// How much
    #[arg(long)]
    amount: String,
    /// What kind of expense
    #[arg(long)]
    category: Option<String>,
    /// What for
    #[arg(long, default_value = "")]
    description: String,
    /// The day of the expense
    #[arg(long, value_parser = parse_date)]
    incurred_at: Option<Date>,
    /// The reference of a receipt; may be given again
    #[arg(long)]
    receipt: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    /// The reimbursement's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Reimbursement>)]
    id: ReimbursementId,
    /// What the reviewer writes; hidden from the API
    #[arg(long)]
    note: Option<String>,
    /// The payout's reference; hidden from the API
    #[arg(long)]
    reference: Option<String>,
}

pub(crate) fn run(session: &Session, command: ReimbursementCommand) -> Outcome {
    let (args, verb) = match command {
        ReimbursementCommand::Draft(args) => return draft(session, args),
        ReimbursementCommand::List(args) => return list::reimbursements(session, &args),
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
    let moved = act_on::<Reimbursement, _>(session, id, work)?;
    tell_one(session, &moved)
}

fn draft(session: &Session, args: DraftArgs) -> Outcome {
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
    let drafted = act_in(session, org, move |act| reimbursements::draft(act, &new))?;
    tell_one(session, &drafted)
}

fn tell_one(session: &Session, r: &Reimbursement) -> Outcome {
    tell(
        session,
        &r.document(),
        &format!("{} is {}: {} {}", r.id, r.status, r.amount, r.amount.currency),
    )
}
