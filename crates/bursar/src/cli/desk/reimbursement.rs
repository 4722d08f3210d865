use bursar_app::reimbursements::{self, Draft, Remarks};
use bursar_domain::ids::{OrganizationId, ReimbursementId, kind};
use bursar_domain::receipt::Method;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementVerb};
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Globals, Outcome, parse_id};
use super::list::{self, ReimbursementListArgs, recipient};
use super::{names_in, parse_date, parse_method, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum ReimbursementCommand {
    /// Create a draft
    Draft(DraftArgs),
    /// Submit a draft
    Submit(IdArgs),
    /// Approve as an admin (--as); nobody approves their own
    Approve(ReviewArgs),
    /// Reject a submitted reimbursement
    Reject(ReviewArgs),
    /// Reopen a rejected one as a draft
    Reopen(IdArgs),
    /// Mark as paid
    Pay(PayoutArgs),
    /// Withdraw a reimbursement
    Void(IdArgs),
    /// Reverse a payout that the bank returned
    Return(PayoutArgs),
    /// List reimbursements
    List(ReimbursementListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DraftArgs {
    /// The member to be paid: name, e-mail address or id
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// The organization to be paid: name or id
    #[arg(long, value_name = "ORG", value_parser = parse_ref::<kind::Organization>, conflicts_with = "member")]
    recipient_organization: Option<Ref<kind::Organization>>,
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
pub(crate) struct IdArgs {
    /// The reimbursement's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Reimbursement>)]
    id: ReimbursementId,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    #[command(flatten)]
    reimbursement: IdArgs,
    /// Note of the reviewer; not visible in the API
    #[arg(long)]
    note: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PayoutArgs {
    #[command(flatten)]
    reimbursement: IdArgs,
    /// Reference of the payout; not visible in the API
    #[arg(long)]
    reference: Option<String>,
    /// Day of the payout or its return; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// How it was paid: cash, check, transfer, card or other; transfer by default
    #[arg(long, value_parser = parse_method)]
    method: Option<Method>,
    /// Account that the money came from; by the method by default
    #[arg(long)]
    account: Option<String>,
}

pub(crate) fn run(globals: &Globals, command: ReimbursementCommand) -> Outcome {
    let (verb, (id, remarks)) = match command {
        ReimbursementCommand::Draft(args) => return draft(globals, args),
        ReimbursementCommand::List(args) => return list::reimbursements(globals, &args),
        ReimbursementCommand::Submit(args) => (ReimbursementVerb::Submit, (args.id, Remarks::default())),
        ReimbursementCommand::Approve(args) => (ReimbursementVerb::Approve, reviewed(args)),
        ReimbursementCommand::Reject(args) => (ReimbursementVerb::Reject, reviewed(args)),
        ReimbursementCommand::Reopen(args) => (ReimbursementVerb::Reopen, (args.id, Remarks::default())),
        ReimbursementCommand::Pay(args) => (ReimbursementVerb::Pay, paid(args)),
        ReimbursementCommand::Void(args) => (ReimbursementVerb::Void, (args.id, Remarks::default())),
        ReimbursementCommand::Return(args) => (ReimbursementVerb::Return, paid(args)),
    };
    let door = Door::open(globals)?;
    let org = door.home::<Reimbursement>(id)?;
    let moved = door.act(org, move |act| reimbursements::perform(act, id, verb, &remarks))?;
    tell_one(&door, org, &moved)
}

fn reviewed(args: ReviewArgs) -> (ReimbursementId, Remarks) {
    let remarks = Remarks {
        note: args.note,
        ..Remarks::default()
    };
    (args.reimbursement.id, remarks)
}

fn paid(args: PayoutArgs) -> (ReimbursementId, Remarks) {
    let remarks = Remarks {
        note: None,
        payout_reference: args.reference,
        date: args.date,
        method: args.method,
        account: args.account,
    };
    (args.reimbursement.id, remarks)
}

fn draft(globals: &Globals, args: DraftArgs) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let other = args.recipient_organization.as_ref();
    let new = Draft {
        member_id: door.find_some(org, args.member.as_ref())?,
        recipient_organization_id: other.map(|named| door.neighbour(org, named)).transpose()?,
        amount: args.amount,
        category: args.category,
        description: args.description,
        incurred_at: args.incurred_at,
        receipts: args.receipt,
    };
    let drafted = door.act(org, move |act| reimbursements::draft(act, &new))?;
    tell_one(&door, org, &drafted)
}

fn tell_one(door: &Door<'_>, org: OrganizationId, r: &Reimbursement) -> Outcome {
    let line = match door.globals.json {
        true => String::new(),
        false => {
            let [whom, _] = recipient(r, &names_in(door, org, r)?);
            format!(
                "{} to {whom} is {}: {} {}",
                r.id, r.status, r.amount, r.amount.currency
            )
        }
    };
    tell(door.globals, &r.document(), &line)
}
