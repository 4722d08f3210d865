use bursar_app::books::receipts::{self, NewReceipt, Recorded};
use bursar_app::books::refunds::{self, Refund};
use bursar_domain::Date;
use bursar_domain::ids::{EntryId, OrganizationId, PaymentId, ReceiptId, kind};
use bursar_domain::receipt::Method;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Globals, Outcome, output, parse_id};
use super::payment::charges;
use super::{member_told, or_dash, parse_date, parse_method};

#[derive(Debug, Subcommand)]
pub(crate) enum ReceiptCommand {
    /// Record a payment received
    Record(RecordArgs),
    /// List receipts
    List(ReceiptListArgs),
    /// Show a receipt with its entries
    Show(ReceiptArgs),
    /// Move a receipt to another member
    Move(MoveArgs),
    /// Record that the bank reversed the payment
    Bounce(BounceArgs),
    /// Reverse a receipt that was recorded by mistake
    Reverse(ReverseReceiptArgs),
    /// Pay money of a receipt back
    Refund(ReceiptRefundArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The member who paid
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    payer: Option<Ref<kind::Member>>,
    /// The name of a payer who is not a member
    #[arg(long, value_name = "TEXT", conflicts_with = "payer")]
    payer_name: Option<String>,
    /// Amount
    #[arg(long)]
    amount: String,
    /// Method: cash, check, transfer, card or other
    #[arg(long, value_parser = parse_method)]
    method: Method,
    /// Date received; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// Account that it came to; by the method by default
    #[arg(long)]
    account: Option<String>,
    /// Reference of the payer or the bank
    #[arg(long)]
    reference: Option<String>,
    /// Charge that it is for; may be repeated. By due date by default
    #[arg(long, value_name = "PAY", value_parser = parse_id::<kind::Payment>)]
    payment: Vec<PaymentId>,
    /// Campaign that it is donated to
    #[arg(long, value_name = "CAMPAIGN", value_parser = parse_ref::<kind::Campaign>)]
    campaign: Option<Ref<kind::Campaign>>,
    /// Income account that it counts in, for money that settles no charge
    #[arg(long, value_name = "ACCOUNT")]
    income: Option<String>,
    /// Record it even if an identical receipt exists
    #[arg(long)]
    again: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptListArgs {
    /// Only receipts of this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    payer: Option<Ref<kind::Member>>,
    /// First day
    #[arg(long, value_parser = parse_date)]
    from: Option<Date>,
    /// Last day
    #[arg(long, value_parser = parse_date)]
    until: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptArgs {
    /// The receipt's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Receipt>)]
    id: ReceiptId,
}

#[derive(Debug, Args)]
pub(crate) struct MoveArgs {
    #[command(flatten)]
    receipt: ReceiptArgs,
    /// The member whose money it is
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    to: Ref<kind::Member>,
}

#[derive(Debug, Args)]
pub(crate) struct BounceArgs {
    #[command(flatten)]
    receipt: ReceiptArgs,
    /// Day the money went; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// Reason
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseReceiptArgs {
    #[command(flatten)]
    receipt: ReceiptArgs,
    /// Reason
    #[arg(long)]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ReceiptRefundArgs {
    #[command(flatten)]
    receipt: ReceiptArgs,
    #[command(flatten)]
    refund: RefundArgs,
}

/// How money goes back.
#[derive(Debug, Args)]
pub(crate) struct RefundArgs {
    /// Amount
    #[arg(long)]
    amount: String,
    /// Day the money went; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// Method: cash, check, transfer, card or other
    #[arg(long, value_parser = parse_method)]
    method: Option<Method>,
    /// Account that it came from; by the method by default
    #[arg(long)]
    account: Option<String>,
}

impl From<RefundArgs> for Refund {
    fn from(args: RefundArgs) -> Self {
        Self {
            amount: args.amount,
            date: args.date,
            method: args.method,
            account: args.account,
        }
    }
}

pub(crate) fn run(globals: &Globals, command: ReceiptCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let recorded = match command {
        ReceiptCommand::Record(args) => {
            let new = NewReceipt {
                amount: args.amount,
                method: args.method,
                date: args.date,
                account: args.account,
                payer: door.find_some(org, args.payer.as_ref())?,
                payer_name: args.payer_name,
                reference: args.reference,
                payments: args.payment,
                campaign: door.find_some(org, args.campaign.as_ref())?,
                income: args.income,
                again: args.again,
            };
            door.act(org, move |act| receipts::record(act, &new))?
        }
        ReceiptCommand::List(args) => return list_receipts(&door, org, &args),
        ReceiptCommand::Show(args) => door.view(org, move |view| receipts::show(view, args.id))?,
        ReceiptCommand::Move(args) => {
            let (id, to) = (args.receipt.id, door.find(org, &args.to)?);
            door.act(org, move |act| receipts::move_to(act, id, to))?
        }
        ReceiptCommand::Bounce(args) => {
            let id = args.receipt.id;
            door.act(org, move |act| {
                receipts::bounce(act, id, args.date, args.reason.as_deref())
            })?
        }
        ReceiptCommand::Reverse(args) => {
            let id = args.receipt.id;
            door.act(org, move |act| receipts::reverse(act, id, args.reason.as_deref()))?
        }
        ReceiptCommand::Refund(args) => {
            let (id, refund) = (args.receipt.id, Refund::from(args.refund));
            door.act(org, move |act| refunds::refund(act, id, &refund))?
        }
    };
    if globals.json {
        return output::json(&receipt_json(&recorded));
    }
    let receipt = &recorded.receipt;
    let currency = recorded.amount.currency;
    let payer = match receipt.payer {
        Some(id) => Some(member_told(&door, org, id)?),
        None => receipt.payer_name.clone(),
    };
    let reference = receipt.reference.as_ref();
    output::say(&format!(
        "{}{} is {}: {} {currency} of {} in {} ({}{})",
        receipt.id,
        payer.map_or_else(String::new, |payer| format!(" of {payer}")),
        receipt.status,
        recorded.amount,
        receipt.date,
        recorded.account.name,
        receipt.method,
        reference.map_or_else(String::new, |reference| format!(", reference {reference:?}")),
    ));
    let charges = charges(&door, org, &recorded.allocations)?;
    for (part, charge) in recorded.allocations.iter().zip(charges) {
        output::say(&format!("  {} {currency} for {charge}", part.amount));
    }
    if recorded.credit.minor != 0 {
        output::say(&format!("  {} {currency} as credit", recorded.credit));
    }
    if recorded.refunded.minor != 0 {
        output::say(&format!("  {} {currency} paid back", recorded.refunded));
    }
    if let Some(name) = &recorded.counts_for {
        output::say(&format!("  for {name}"));
    }
    Ok(())
}

fn receipt_json(recorded: &Recorded) -> Value {
    let receipt = &recorded.receipt;
    let entries: Vec<EntryId> = recorded.entries.iter().map(|entry| entry.id).collect();
    json!({
        "id": receipt.id, "amount": recorded.amount, "allocations": recorded.allocations, "credit": recorded.credit,
        "date": receipt.date, "method": receipt.method, "account": recorded.account.name, "payerId": receipt.payer,
        "payerName": receipt.payer_name, "reference": receipt.reference, "status": receipt.status,
        "countsFor": recorded.counts_for, "refunded": recorded.refunded, "entries": entries,
    })
}

fn list_receipts(door: &Door<'_>, org: OrganizationId, args: &ReceiptListArgs) -> Outcome {
    let payer = door.find_some(org, args.payer.as_ref())?;
    let range = (args.from, args.until);
    let found = door.survey(org, |view| receipts::list(view, range, payer))?;
    if door.globals.json {
        return output::json(&found.iter().map(receipt_json).collect::<Vec<_>>());
    }
    let members: Vec<_> = found
        .iter()
        .filter_map(|recorded| recorded.receipt.payer)
        .collect();
    let names = door.view(org, move |view| bursar_app::names::of(view, &members))?;
    let rows = found.iter().map(|recorded| {
        let receipt = &recorded.receipt;
        let payer = match (receipt.payer, &receipt.payer_name) {
            (Some(id), _) => names.told(Some(id)),
            (None, name) => or_dash(name.as_deref()),
        };
        [
            receipt.date.to_string(),
            payer,
            recorded.amount.to_string(),
            receipt.method.to_string(),
            recorded.account.name.clone(),
            receipt.status.to_string(),
            receipt.id.to_string(),
        ]
    });
    let header = ["date", "payer", "amount", "method", "account", "status", "id"];
    output::table(header, rows.collect(), "no receipts");
    Ok(())
}
