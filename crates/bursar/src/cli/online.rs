//! `bursar online`: payments that members make by card.

use bursar_app::online::{self, NewOnlinePayment, Record, autopay};
use bursar_domain::ids::{OnlinePaymentId, OrganizationId, PaymentId, kind};
use clap::{Args, Subcommand};

use super::door::{Door, Ref, parse_ref};
use super::provider::OnlineArgs;
use super::{Failure, Globals, Outcome, output, parse_id};

#[derive(Debug, Subcommand)]
pub(crate) enum OnlineCommand {
    /// Start a payment and print the address of the provider's page
    Start(StartArgs),
    /// List online payments, newest first
    List(ListArgs),
    /// Show an online payment with its refunds and disputes
    Show(IdArgs),
    /// Query the provider for a payment's state now
    Ask(AskArgs),
    /// Refund through the provider
    Refund(RefundArgs),
    /// List payouts to the bank account, newest first
    Payouts(PayoutsArgs),
    /// List members who pay dues automatically, with the next charge
    Autopays,
    /// Stop a member's automatic payments, and delete the card at the provider
    StopAutopay(StopAutopayArgs),
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The online payment's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::OnlinePayment>)]
    id: OnlinePaymentId,
}

#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// Who pays: the member, or the payer of a household
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
    /// A charge to pay, with a part of it as PAY=AMOUNT; repeatable
    #[arg(long, value_name = "PAY", required = true, value_parser = parse_charge)]
    payment: Vec<(PaymentId, Option<String>)>,
    /// Where the provider sends the payer after paying
    #[arg(long, value_name = "URL", hide_env_values = true)]
    success_url: String,
    /// Where the provider sends the payer who gives up [default: the success URL]
    #[arg(long, value_name = "URL", hide_env_values = true)]
    cancel_url: Option<String>,
    #[command(flatten)]
    online: OnlineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only payments of this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// Maximum number of payments
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
}

#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// The online payment's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::OnlinePayment>)]
    id: OnlinePaymentId,
    #[command(flatten)]
    online: OnlineArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RefundArgs {
    /// The online payment's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::OnlinePayment>)]
    id: OnlinePaymentId,
    /// How much; all that is left by default
    #[arg(long, value_name = "AMOUNT")]
    amount: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PayoutsArgs {
    /// Maximum number of payouts
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
}

#[derive(Debug, Args)]
pub(crate) struct StopAutopayArgs {
    /// The member who pays
    #[arg(value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
}

fn parse_charge(text: &str) -> Result<(PaymentId, Option<String>), String> {
    let (id, amount) = match text.split_once('=') {
        Some((id, amount)) => (id, Some(amount.to_owned())),
        None => (text, None),
    };
    Ok((parse_id::<kind::Payment>(id)?, amount))
}

fn home(door: &Door<'_>, id: OnlinePaymentId) -> Result<OrganizationId, Failure> {
    door.home_of(id, online::organization_of)
}

pub(crate) fn run(globals: &Globals, command: OnlineCommand) -> Outcome {
    let door = Door::open(globals)?;
    match command {
        OnlineCommand::Start(args) => start(globals, &door, args),
        OnlineCommand::List(args) => list(globals, &door, &args),
        OnlineCommand::Show(IdArgs { id }) => {
            let record = door.view(home(&door, id)?, move |view| online::get(view, id))?;
            show(globals, &record)
        }
        OnlineCommand::Ask(args) => {
            let (id, organization) = (args.id, home(&door, args.id)?);
            // Whoever may read it may have it asked.
            door.view(organization, move |view| online::get(view, id))?;
            let record = args.online.teller(globals, &door.app)?.pursue(organization, id)?;
            show(globals, &record)
        }
        OnlineCommand::Refund(RefundArgs { id, amount, reason }) => {
            let record = door.act(home(&door, id)?, move |act| {
                online::refund(act, id, amount.as_deref(), reason.as_deref())
            })?;
            if globals.json {
                return output::json(&record);
            }
            output::say(&format!(
                "{id} is refunded by the provider; `bursar online show {id}` shows when that is done"
            ));
            Ok(())
        }
        OnlineCommand::Payouts(args) => payouts(globals, &door, &args),
        OnlineCommand::Autopays => autopays(globals, &door),
        OnlineCommand::StopAutopay(args) => stop_autopay(globals, &door, &args),
    }
}

fn start(globals: &Globals, door: &Door<'_>, args: StartArgs) -> Outcome {
    let organization = door.organization()?;
    let new = NewOnlinePayment {
        member: door.find(organization, &args.member)?,
        charges: args.payment,
        cancel_url: args.cancel_url.unwrap_or_else(|| args.success_url.clone()),
        success_url: args.success_url,
    };
    let record = door.act(organization, move |act| online::begin(act, &new))?;
    let record = args
        .online
        .teller(globals, &door.app)?
        .open(organization, record.id)?;
    if globals.json {
        return output::json(&record);
    }
    output::say(&format!(
        "{} pays {} {} as {} at",
        record.member_name, record.amount, record.currency, record.id
    ));
    output::say(record.url.as_deref().unwrap_or_default());
    Ok(())
}

fn list(globals: &Globals, door: &Door<'_>, args: &ListArgs) -> Outcome {
    let organization = door.organization()?;
    let member = door.find_some(organization, args.member.as_ref())?;
    let limit = usize::try_from(args.limit)?;
    let found = door.view(organization, move |view| online::list(view, member, limit))?;
    if globals.json {
        return output::json(&found);
    }
    let rows = found.iter().map(|record| {
        [
            record.created_at.to_string(),
            record.member_name.clone(),
            record.amount.to_string(),
            record.state.to_string(),
            record.fee.map_or_else(|| "-".to_owned(), |fee| fee.to_string()),
            record
                .problem
                .clone()
                .or_else(|| record.failure.clone())
                .unwrap_or_default(),
            record.id.to_string(),
        ]
    });
    let header = ["started", "payer", "amount", "state", "fee", "remark", "id"];
    output::table(header, rows.collect(), "no online payments");
    Ok(())
}

fn show(globals: &Globals, record: &Record) -> Outcome {
    if globals.json {
        return output::json(record);
    }
    let fields = [
        ("id", Some(record.id.to_string())),
        (
            "payer",
            Some(format!("{} ({})", record.member_name, record.member_id)),
        ),
        ("amount", Some(format!("{} {}", record.amount, record.currency))),
        ("state", Some(record.state.to_string())),
        ("failure", record.failure.clone()),
        ("problem", record.problem.clone()),
        ("page", record.url.clone()),
        ("started", Some(record.created_at.to_string())),
        ("ended", record.ended_at.map(|at| at.to_string())),
        ("receipt", record.receipt_id.map(|id| id.to_string())),
        ("fee", record.fee.map(|fee| fee.to_string())),
        (
            "refunded",
            Some(record.refunded.to_string()).filter(|_| record.refunded.minor > 0),
        ),
        ("provider's session", record.session_id.clone()),
        ("provider's payment", record.intent_id.clone()),
        ("provider's charge", record.charge_id.clone()),
    ];
    let mut rows: Vec<[String; 2]> = fields
        .into_iter()
        .filter_map(|(name, value)| Some([name.to_owned(), value?]))
        .collect();
    rows.extend(record.parts.iter().map(|part| {
        [
            "charge".to_owned(),
            format!("{} of {} {}", part.amount, part.payment_id, part.description),
        ]
    }));
    rows.extend(record.moves.iter().map(|found| {
        let reason = found.reason.as_deref().unwrap_or_default();
        let reference = found.reference.as_deref().unwrap_or_default();
        [
            found.kind.to_string(),
            format!("{} {} {reference} {reason}", found.amount, found.state),
        ]
    }));
    output::table(["field", "value"], rows, "");
    Ok(())
}

fn payouts(globals: &Globals, door: &Door<'_>, args: &PayoutsArgs) -> Outcome {
    let limit = usize::try_from(args.limit)?;
    let found = door.view(door.organization()?, move |view| online::payouts(view, limit))?;
    if globals.json {
        return output::json(&found);
    }
    let rows = found.iter().map(|payout| {
        [
            payout.created_at.to_string(),
            payout.amount.to_string(),
            payout.state.to_string(),
            payout.reference.clone().unwrap_or_default(),
            payout
                .entry_id
                .map_or_else(|| "-".to_owned(), |entry| entry.to_string()),
        ]
    });
    let header = ["seen", "amount", "state", "provider's payout", "entry"];
    output::table(header, rows.collect(), "no payouts");
    Ok(())
}

fn autopays(globals: &Globals, door: &Door<'_>) -> Outcome {
    let found = door.view(door.organization()?, autopay::list)?;
    if globals.json {
        return output::json(&found);
    }
    let rows = found.iter().map(|saved| {
        let next = saved.planned.first();
        [
            saved.member_name.clone(),
            saved.card.clone().unwrap_or_default(),
            saved.card_until.clone().unwrap_or_default(),
            next.map_or_else(
                || "-".to_owned(),
                |next| format!("{} on {}", next.amount, next.on),
            ),
            saved.problem.clone().unwrap_or_default(),
            saved.member_id.to_string(),
        ]
    });
    let header = ["member", "card", "valid until", "next", "remark", "id"];
    output::table(header, rows.collect(), "nobody pays automatically");
    Ok(())
}

fn stop_autopay(globals: &Globals, door: &Door<'_>, args: &StopAutopayArgs) -> Outcome {
    let organization = door.organization()?;
    let member = door.find(organization, &args.member)?;
    let stopped = door.act(organization, move |act| autopay::stop(act, Some(member)))?;
    if globals.json {
        return output::json(&stopped);
    }
    output::say(&format!(
        "Stopped the automatic payments of {}, who gets a mail about it",
        stopped.member_name
    ));
    Ok(())
}
