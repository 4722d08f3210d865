use bursar_app::payments::{self, Charges, Debtor, NewCharges, Receipt, ReceivedBy};
use bursar_app::{Act, AppError};
use bursar_domain::ids::{EntryId, GroupId, MemberId, OrganizationId, PaymentId, kind};
use bursar_domain::payment::Payment;
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::super::{Failure, Globals, Outcome, output, parse_id};
use super::list::{self, PaymentListArgs};
use super::{act_in, act_on, parse_date, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum PaymentCommand {
    /// Charge a member, a group or a child chapter
    Raise(RaiseArgs),
    /// Record money received
    Record(RecordArgs),
    /// Reverse a ledger entry
    Reverse(ReverseArgs),
    /// Cancel a payment
    Cancel(IdArgs),
    /// Mark as disputed
    Dispute(IdArgs),
    /// Resolve a dispute: paid or failed
    Resolve(ResolveArgs),
    /// List payments
    List(PaymentListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RaiseArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    /// Charge this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_id::<kind::Member>, group = "debtor", required_unless_present_any = ["group", "chapter"])]
    member: Option<MemberId>,
    /// Charge every active member of this group
    #[arg(long, value_name = "GROUP", value_parser = parse_id::<kind::Group>, conflicts_with = "member")]
    group: Option<GroupId>,
    /// Charge this child chapter
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>, conflicts_with_all = ["member", "group"])]
    chapter: Option<OrganizationId>,
    /// Amount for each; the group's dues by default
    #[arg(long)]
    amount: Option<String>,
    /// Description
    #[arg(long, default_value = "")]
    description: String,
    /// Due date
    #[arg(long, value_parser = parse_date)]
    due_date: Option<Date>,
    /// Show who would be charged without charging anybody
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The payment's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Payment>)]
    id: PaymentId,
    /// Amount
    #[arg(long)]
    amount: String,
    /// Method: cash, check, transfer or card
    #[arg(long, value_parser = parse_method)]
    method: ReceivedBy,
    /// Date received; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// Reference of the payer or the bank
    #[arg(long)]
    reference: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseArgs {
    /// The payment's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Payment>)]
    id: PaymentId,
    /// The ledger entry's id
    #[arg(long, value_name = "ENTRY", value_parser = parse_id::<kind::Entry>)]
    entry: EntryId,
    /// Reason
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The payment's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Payment>)]
    id: PaymentId,
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    payment: IdArgs,
    /// Outcome: paid, or failed when the bank took the money back
    #[arg(long, value_enum)]
    outcome: DisputeOutcome,
    /// Ledger entry that the bank took back; may be repeated. All of them by default
    #[arg(long, value_name = "ENTRY", value_parser = parse_id::<kind::Entry>)]
    entry: Vec<EntryId>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DisputeOutcome {
    Paid,
    Failed,
}

fn parse_method(text: &str) -> Result<ReceivedBy, String> {
    ReceivedBy::parse(text).ok_or_else(|| format!("must be one of {}", ReceivedBy::WORDS))
}

pub(crate) fn run(globals: &Globals, command: PaymentCommand) -> Outcome {
    match command {
        PaymentCommand::Raise(args) => raise(globals, args),
        PaymentCommand::Record(args) => {
            let (id, receipt) = (
                args.id,
                Receipt {
                    amount: args.amount,
                    method: args.method,
                    received_on: args.date,
                    reference: args.reference,
                },
            );
            let work = move |act: &mut Act<'_, '_>| payments::record(act, id, &receipt);
            let (payment, entry) = act_on::<Payment, _>(globals, id, work)?;
            if globals.json {
                output::say(&format!(
                    r#"{{"entryId":"{entry}","payment":{}}}"#,
                    payment.document()
                ));
                return Ok(());
            }
            output::say(&format!(
                "recorded as {entry}: {} of {} paid, {}",
                payment.paid_to_date, payment.amount, payment.status
            ));
            Ok(())
        }
        PaymentCommand::Reverse(args) => {
            let (id, entry, reason) = (args.id, args.entry, args.reason);
            let work = move |act: &mut Act<'_, '_>| payments::reverse(act, id, entry, reason.as_deref());
            let payment = act_on::<Payment, _>(globals, id, work)?;
            tell_payment(globals, &payment)
        }
        PaymentCommand::Cancel(args) => change(globals, &args, payments::cancel),
        PaymentCommand::Dispute(args) => change(globals, &args, payments::dispute),
        PaymentCommand::Resolve(args) => match args.outcome {
            DisputeOutcome::Paid if !args.entry.is_empty() => Err(Failure::new(
                "--entry names what the bank took back; it goes with --outcome failed".into(),
            )),
            DisputeOutcome::Paid => change(globals, &args.payment, payments::win_dispute),
            DisputeOutcome::Failed => {
                let entries = args.entry;
                change(globals, &args.payment, move |act, id| {
                    payments::lose_dispute(act, id, &entries)
                })
            }
        },
        PaymentCommand::List(args) => list::payments(globals, &args),
    }
}

fn change(
    globals: &Globals,
    args: &IdArgs,
    work: impl Fn(&mut Act<'_, '_>, PaymentId) -> Result<Payment, AppError> + Send + 'static,
) -> Outcome {
    let id = args.id;
    let payment = act_on::<Payment, _>(globals, id, move |act| work(act, id))?;
    tell_payment(globals, &payment)
}

fn tell_payment(globals: &Globals, payment: &Payment) -> Outcome {
    let line = format!(
        "{} is {}: {} of {} paid",
        payment.id, payment.status, payment.paid_to_date, payment.amount
    );
    tell(globals, &payment.document(), &line)
}

fn raise(globals: &Globals, args: RaiseArgs) -> Outcome {
    let debtor = match (args.member, args.group, args.chapter) {
        (Some(id), None, None) => Debtor::Member(id),
        (None, Some(id), None) => Debtor::Group(id),
        (None, None, Some(id)) => Debtor::Chapter(id),
        _ => return Err(Failure::new("say one of --member, --group and --chapter".into())),
    };
    let new = NewCharges {
        debtor,
        amount: args.amount,
        description: args.description,
        due_date: args.due_date,
    };
    let (org, is_preview) = (args.organization, args.dry_run);
    let raised = act_in(globals, org, move |act| payments::raise(act, &new, is_preview))?;
    if globals.json {
        let documents: Vec<serde_json::Value> = raised
            .payments
            .iter()
            .map(|p| serde_json::from_str(&p.document()))
            .collect::<Result<_, _>>()?;
        return output::json(&json!({ "id": raised.id, "total": raised.total, "payments": documents }));
    }
    present(&raised);
    Ok(())
}

fn present(raised: &Charges) {
    let rows = raised.payments.iter().map(|payment| {
        let who = payment
            .member_id
            .map(|id| id.to_string())
            .or_else(|| payment.target_organization_id.map(|id| id.to_string()));
        let due = payment
            .due_date
            .map_or_else(|| "-".to_owned(), |day| day.to_string());
        [who.unwrap_or_default(), payment.amount.to_string(), due]
    });
    output::table(
        ["who", "amount", "due"],
        rows.collect(),
        "nobody would be charged",
    );
    let count = output::many(raised.payments.len() as u64, "payment");
    let (total, currency) = (raised.total, raised.total.currency);
    match raised.id {
        None => output::say(&format!(
            "{count}, {total} {currency} in all; nothing was written"
        )),
        Some(id) => output::say(&format!(
            "{count} raised, {total} {currency} in all; undo with `bursar undo {id}`"
        )),
    }
}
