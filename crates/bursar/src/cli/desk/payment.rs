use bursar_app::books::entries;
use bursar_app::books::receipts::Allocation;
use bursar_app::books::refunds::Refund;
use bursar_app::names::{self, Names};
use bursar_app::payments::{
    self, Adjustment, Charges, Debtor, Every, NewCharges, NewPlan, PaymentChange, Received,
};
use bursar_app::{Act, AppError, resources};
use bursar_domain::creditor_reference;
use bursar_domain::ids::{BulkId, EntryId, OrganizationId, PaymentId, kind};
use bursar_domain::payment::Payment;
use bursar_domain::receipt::Method;
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Globals, Outcome, consent, output, parse_id};
use super::journal::{entry_json, tell_entries};
use super::list::{self, PaymentListArgs, debtor, one_line};
use super::receipt::RefundArgs;
use super::{names_in, or_dash, parse_date, parse_method, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum PaymentCommand {
    /// Charge a member, a group or a child chapter
    Raise(RaiseArgs),
    /// Record money received
    Record(RecordArgs),
    /// Reverse a payment received: a bounced check, or a mistake
    Reverse(ReverseArgs),
    /// Change the amount: a discount, a waiver or a correction
    Adjust(AdjustArgs),
    /// Change the due date or the description
    Set(SetArgs),
    /// Split a payment into instalments
    Plan(PlanArgs),
    /// Pay money back
    Refund(RefundPaymentArgs),
    /// Show a payment with its entries
    Show(IdArgs),
    /// Cancel the open amount of a payment, or write it off
    Cancel(CancelArgs),
    /// Mark as disputed
    Dispute(IdArgs),
    /// Resolve a dispute: paid or failed
    Resolve(ResolveArgs),
    /// List payments
    List(PaymentListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RaiseArgs {
    /// Charge this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>, group = "debtor", required_unless_present_any = ["group", "chapter"])]
    member: Option<Ref<kind::Member>>,
    /// Charge every active member of this group; with --member, count the charge as the group's
    #[arg(long, value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Option<Ref<kind::Group>>,
    /// Charge this child chapter
    #[arg(long, value_name = "ORG", value_parser = parse_ref::<kind::Organization>, conflicts_with_all = ["member", "group"])]
    chapter: Option<Ref<kind::Organization>>,
    /// Amount for each; the group's dues by default
    #[arg(long)]
    amount: Option<String>,
    /// Description
    #[arg(long, default_value = "")]
    description: String,
    /// Due date
    #[arg(long, value_parser = parse_date)]
    due_date: Option<Date>,
    /// Income account that it counts in; dues by default
    #[arg(long, value_name = "ACCOUNT")]
    category: Option<String>,
    /// Also charge members who already have this charge for the due date
    #[arg(long)]
    again: bool,
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
    /// Method: cash, check, transfer, card or other
    #[arg(long, value_parser = parse_method)]
    method: Method,
    /// Date received; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// Reference of the payer or the bank
    #[arg(long)]
    reference: Option<String>,
    /// Record it even if an identical receipt with this reference exists
    #[arg(long)]
    again: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReverseArgs {
    /// The payment's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Payment>)]
    id: PaymentId,
    /// The journal entry's id
    #[arg(long, value_name = "ENTRY", value_parser = parse_id::<kind::Entry>)]
    entry: EntryId,
    /// Reason
    #[arg(long)]
    reason: Option<String>,
    /// The money was never received: it was recorded by mistake, and the charge is open as before
    #[arg(long)]
    mistake: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    payment: IdArgs,
    /// Book the open amount as a write-off instead of reducing income
    #[arg(long)]
    write_off: bool,
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
pub(crate) struct AdjustArgs {
    #[command(flatten)]
    payment: IdArgs,
    /// New amount
    #[arg(long)]
    amount: String,
    /// Kind: discount, waiver or correction
    #[arg(long, value_parser = parse_kind)]
    kind: Adjustment,
    /// Reason
    #[arg(long)]
    reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    payment: IdArgs,
    /// Due date
    #[arg(long, value_parser = parse_date)]
    due_date: Option<Date>,
    /// Description
    #[arg(long)]
    description: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    payment: IdArgs,
    /// Number of instalments, 2 to 24
    #[arg(long, value_name = "N")]
    into: usize,
    /// Time between two: week, month or quarter
    #[arg(long, value_parser = parse_every)]
    every: Every,
    /// Due date of the first one; by default the payment's own, or today if that is past
    #[arg(long, value_parser = parse_date)]
    first: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct RefundPaymentArgs {
    #[command(flatten)]
    payment: IdArgs,
    #[command(flatten)]
    refund: RefundArgs,
}

fn parse_kind(text: &str) -> Result<Adjustment, String> {
    Adjustment::parse(text).ok_or_else(|| format!("must be one of {}", Adjustment::WORDS))
}

fn parse_every(text: &str) -> Result<Every, String> {
    Every::parse(text).ok_or_else(|| format!("must be one of {}", Every::WORDS))
}

#[derive(Debug, Args)]
pub(crate) struct ResolveArgs {
    #[command(flatten)]
    payment: IdArgs,
    /// Outcome: paid, or failed when the bank reversed the payment
    #[arg(long, value_enum)]
    outcome: DisputeOutcome,
    /// Journal entry that the bank took back; may be repeated. All of them by default
    #[arg(long, value_name = "ENTRY", value_parser = parse_id::<kind::Entry>)]
    entry: Vec<EntryId>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DisputeOutcome {
    Paid,
    Failed,
}

pub(crate) fn run(globals: &Globals, command: PaymentCommand) -> Outcome {
    match command {
        PaymentCommand::Raise(args) => raise(globals, args),
        PaymentCommand::Record(args) => record(globals, args),
        PaymentCommand::Reverse(args) => {
            let (entry, reason, mistake) = (args.entry, args.reason, args.mistake);
            change(globals, args.id, move |act, id| {
                payments::reverse(act, id, entry, reason.as_deref(), mistake)
            })
        }
        PaymentCommand::Adjust(args) => change(globals, args.payment.id, move |act, id| {
            payments::adjust(act, id, &args.amount, args.kind, &args.reason)
        }),
        PaymentCommand::Set(args) => {
            let what = PaymentChange {
                due_date: args.due_date.map(Some),
                description: args.description,
            };
            change(globals, args.payment.id, move |act, id| {
                payments::set(act, id, &what)
            })
        }
        PaymentCommand::Plan(args) => plan(globals, &args),
        PaymentCommand::Refund(args) => {
            let refund = Refund::from(args.refund);
            change(globals, args.payment.id, move |act, id| {
                payments::refund(act, id, &refund)
            })
        }
        PaymentCommand::Show(args) => show(globals, args.id),
        PaymentCommand::Cancel(args) => cancel(globals, &args),
        PaymentCommand::Dispute(args) => change(globals, args.id, payments::dispute),
        PaymentCommand::Resolve(args) => match args.outcome {
            DisputeOutcome::Paid if !args.entry.is_empty() => Err(Failure::new(
                "--entry names what the bank took back; it goes with --outcome failed".into(),
            )),
            DisputeOutcome::Paid => change(globals, args.payment.id, payments::win_dispute),
            DisputeOutcome::Failed => {
                let entries = args.entry;
                change(globals, args.payment.id, move |act, id| {
                    payments::lose_dispute(act, id, &entries)
                })
            }
        },
        PaymentCommand::List(args) => list::payments(globals, &args),
    }
}

fn record(globals: &Globals, args: RecordArgs) -> Outcome {
    let (id, receipt) = (
        args.id,
        Received {
            amount: args.amount,
            method: args.method,
            received_on: args.date,
            reference: args.reference,
            again: args.again,
        },
    );
    let door = Door::open(globals)?;
    let org = door.home::<Payment>(id)?;
    let (payment, entry) = door.act(org, move |act| payments::record(act, id, &receipt))?;
    if globals.json {
        output::say(&format!(
            r#"{{"entryId":"{entry}","payment":{}}}"#,
            payment.document()
        ));
        return Ok(());
    }
    output::say(&format!("Recorded as {entry}: {}", told(&door, org, &payment)?));
    Ok(())
}

fn change(
    globals: &Globals,
    id: PaymentId,
    work: impl Fn(&mut Act<'_, '_>, PaymentId) -> Result<Payment, AppError> + Send + 'static,
) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.home::<Payment>(id)?;
    let payment = door.act(org, move |act| work(act, id))?;
    tell_payment(&door, org, &payment)
}

fn plan(globals: &Globals, args: &PlanArgs) -> Outcome {
    let door = Door::open(globals)?;
    let id = args.payment.id;
    let org = door.home::<Payment>(id)?;
    let new = NewPlan {
        into: args.into,
        every: args.every,
        first: args.first,
    };
    let parts = door.act(org, move |act| payments::plan(act, id, &new))?;
    if globals.json {
        let documents: Vec<serde_json::Value> = parts
            .iter()
            .map(|part| serde_json::from_str(&part.document()))
            .collect::<Result<_, _>>()?;
        return output::json(&documents);
    }
    let references = parts.clone();
    let names = door.view(org, move |view| names::of_references(view, &references))?;
    let row = |part: &Payment| {
        let [who, _] = debtor(part, &names);
        let what = one_line(&part.description);
        let amount = part.amount.to_string();
        [who, amount, or_dash(part.due_date), what, part.id.to_string()]
    };
    let header = ["who", "amount", "due", "what for", "id"];
    output::table(header, parts.iter().map(row).collect(), "");
    Ok(())
}

fn show(globals: &Globals, id: PaymentId) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.home::<Payment>(id)?;
    let shown = door.view(org, move |view| payments::show(view, id))?;
    if globals.json {
        let mut document: serde_json::Value = serde_json::from_str(&shown.payment.document())?;
        let (accounts, currency) = door.survey(org, entries::accounts)?;
        let name = |id| {
            let found = accounts.get(&id);
            found.map_or_else(|| id.to_string(), |account| account.name.clone())
        };
        let listed: Vec<_> = shown
            .entries
            .iter()
            .map(|entry| entry_json(entry, currency, &name))
            .collect();
        document["reference"] = json!(shown.payment.reference);
        document["entries"] = json!(listed);
        return output::json(&document);
    }
    output::say(&told(&door, org, &shown.payment)?);
    let reference = shown.payment.reference.as_deref().map(creditor_reference::spaced);
    output::say(&format!("reference {}", or_dash(reference)));
    tell_entries(&door, org, &shown.entries, false)
}

fn cancel(globals: &Globals, args: &CancelArgs) -> Outcome {
    let (id, is_write_off, reason) = (args.payment.id, args.write_off, args.reason.clone());
    let door = Door::open(globals)?;
    let org = door.home::<Payment>(id)?;
    if !globals.yes {
        let payment = door.view(org, move |view| resources::one::<Payment>(view, id))?;
        door.rehearse(org, |act| {
            payments::cancel(act, id, is_write_off, reason.as_deref())
        })?;
        let plan = format!(
            "{} permanently: {}, due {}.",
            if is_write_off { "Write off" } else { "Cancel" },
            told(&door, org, &payment)?,
            or_dash(payment.due_date)
        );
        consent::confirm(globals, &plan)?;
    }
    let payment = door.act(org, move |act| {
        payments::cancel(act, id, is_write_off, reason.as_deref())
    })?;
    tell_payment(&door, org, &payment)
}

fn tell_payment(door: &Door<'_>, org: OrganizationId, payment: &Payment) -> Outcome {
    let line = match door.globals.json {
        true => String::new(),
        false => told(door, org, payment)?,
    };
    tell(door.globals, &payment.document(), &line)
}

/// `pay_… of Ada Larsen for Seniors, "Dues 2026"`
fn charge(payment: &Payment, names: &Names) -> String {
    let [who, _] = debtor(payment, names);
    let group = payment
        .group_id
        .map(|id| format!(" for {}", names.told(Some(id))));
    let what = match one_line(&payment.description) {
        text if text.is_empty() => String::new(),
        text => format!(", {text:?}"),
    };
    format!("{} of {who}{}{what}", payment.id, group.unwrap_or_default())
}

/// The charges that these parts go to, in their order.
pub(super) fn charges(
    door: &Door<'_>,
    org: OrganizationId,
    parts: &[Allocation],
) -> Result<Vec<String>, Failure> {
    let ids: Vec<PaymentId> = parts.iter().map(|part| part.payment_id).collect();
    door.view(org, move |view| {
        let payments = ids.iter().map(|id| resources::one::<Payment>(view, *id));
        let payments = payments.collect::<Result<Vec<_>, _>>()?;
        let names = names::of_references(view, &payments)?;
        Ok(payments.iter().map(|payment| charge(payment, &names)).collect())
    })
}

/// `pay_… of Ada Larsen for Seniors, "Dues 2026", is pending: 0.00 of 50.00 USD paid`
fn told(door: &Door<'_>, org: OrganizationId, payment: &Payment) -> Result<String, Failure> {
    let names = names_in(door, org, payment)?;
    let comma = match one_line(&payment.description).is_empty() {
        true => "",
        false => ",",
    };
    Ok(format!(
        "{}{comma} is {}: {} of {} {} paid",
        charge(payment, &names),
        payment.status,
        payment.paid_to_date,
        payment.amount,
        payment.amount.currency
    ))
}

fn raise(globals: &Globals, args: RaiseArgs) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let debtor = match (&args.member, &args.group, &args.chapter) {
        (Some(named), None, None) => Debtor::Member(door.find(org, named)?),
        (Some(named), Some(group), None) => Debtor::MemberOf(door.find(org, named)?, door.find(org, group)?),
        (None, Some(named), None) => Debtor::Group(door.find(org, named)?),
        (None, None, Some(named)) => Debtor::Chapter(door.neighbour(org, named)?),
        _ => return Err(Failure::new("say one of --member, --group and --chapter".into())),
    };
    let new = NewCharges {
        debtor,
        amount: args.amount,
        description: args.description,
        due_date: args.due_date,
        category: args.category,
        again: args.again,
    };
    let raised = match args.dry_run {
        true => door.survey(org, |view| payments::preview(view, &new))?,
        false => raise_all(&door, org, &new)?,
    };
    if globals.json {
        let documents: Vec<serde_json::Value> = raised
            .payments
            .iter()
            .map(|p| serde_json::from_str(&p.document()))
            .collect::<Result<_, _>>()?;
        return output::json(&json!({
            "undo": raised.id, "payments": documents, "skipped": raised.skipped, "total": raised.total,
        }));
    }
    present(&door, org, &raised)
}

/// One act over as many transactions as it takes.
fn raise_all(door: &Door<'_>, org: OrganizationId, new: &NewCharges) -> Result<Charges, Failure> {
    let first = new.clone();
    let mut raised = door.act(org, move |act| payments::raise(act, &first, None))?;
    while let (Some(id), Some(next)) = (raised.id, raised.next) {
        let new = new.clone();
        let more = door
            .act(org, move |act| payments::raise(act, &new, Some((id, next))))
            .map_err(|failure| half_raised(failure, id, raised.payments.len()))?;
        raised.payments.extend(more.payments);
        raised.total.minor += more.total.minor;
        raised.next = more.next;
    }
    Ok(raised)
}

/// Earlier transactions stay, so their undoing is named.
fn half_raised(failure: Failure, id: BulkId, count: usize) -> Failure {
    failure.told(|message| {
        let count = output::many(count as u64, "payment");
        format!("{message}; {count} raised before that: undo with `bursar undo {id}`")
    })
}

fn present(door: &Door<'_>, org: OrganizationId, raised: &Charges) -> Outcome {
    let payments = raised.payments.clone();
    let names = door.view(org, move |view| names::of_references(view, &payments))?;
    let rows = raised.payments.iter().map(|payment| {
        let [who, who_id] = debtor(payment, &names);
        let amount = payment.amount.to_string();
        [who, amount, or_dash(payment.due_date), who_id]
    });
    output::table(["who", "amount", "due", "id"], rows.collect(), "nobody to charge");
    let count = output::many(raised.payments.len() as u64, "payment");
    let (total, currency) = (raised.total, raised.total.currency);
    if !raised.skipped.is_empty() {
        let skipped = output::many(raised.skipped.len() as u64, "member");
        output::say(&format!(
            "{skipped} skipped: charged before for this group and due date (--again charges them again)"
        ));
    }
    match raised.id {
        None => output::say(&format!(
            "{count}, {total} {currency} in all; nothing was written"
        )),
        Some(id) => output::say(&format!(
            "{count} raised, {total} {currency} in all; undo with `bursar undo {id}`"
        )),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit::Exit;

    #[test]
    fn a_raise_that_fails_on_the_way_says_how_to_undo_what_it_did() {
        let id = BulkId::from_bits(1);
        let failure = half_raised(Failure::missing("the group does not exist".into()), id, 500);
        assert_eq!(
            failure.message,
            format!(
                "the group does not exist; 500 payments raised before that: undo with `bursar undo {id}`"
            )
        );
        assert_eq!(failure.exit, Exit::Missing);
    }
}
