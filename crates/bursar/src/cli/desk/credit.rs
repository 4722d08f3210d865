use bursar_app::books::credit;
use bursar_app::books::refunds::Refund;
use bursar_domain::ids::kind;
use clap::{Args, Subcommand};
use serde_json::json;

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Globals, Outcome, output};
use super::payment::charges;
use super::receipt::RefundArgs;
use super::{member_told, or_dash};

#[derive(Debug, Subcommand)]
pub(crate) enum CreditCommand {
    /// List what members paid in advance
    List,
    /// Settle open charges of a member with the member's credit
    Apply(CreditApplyArgs),
    /// Pay credit back
    Refund(CreditRefundArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreditApplyArgs {
    /// The member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Ref<kind::Member>,
}

#[derive(Debug, Args)]
pub(crate) struct CreditRefundArgs {
    #[command(flatten)]
    of: CreditApplyArgs,
    #[command(flatten)]
    refund: RefundArgs,
}

pub(crate) fn run(globals: &Globals, command: CreditCommand) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    match command {
        CreditCommand::List => {
            let lines = door.survey(org, credit::list)?;
            if globals.json {
                return output::json(&lines);
            }
            let rows = lines.iter().map(|line| {
                [
                    line.name.clone(),
                    line.amount.to_string(),
                    or_dash(line.member_id),
                ]
            });
            output::table(["name", "credit", "id"], rows.collect(), "nobody has credit");
            Ok(())
        }
        CreditCommand::Apply(args) => {
            let member = door.find(org, &args.member)?;
            let parts = door.act(org, move |act| credit::apply(act, member))?;
            if globals.json {
                return output::json(&parts);
            }
            for (part, charge) in parts.iter().zip(charges(&door, org, &parts)?) {
                output::say(&format!(
                    "Applied {} {} to {charge}",
                    part.amount, part.amount.currency
                ));
            }
            Ok(())
        }
        CreditCommand::Refund(args) => {
            let (member, refund) = (door.find(org, &args.of.member)?, Refund::from(args.refund));
            let (entry, left) = door.act(org, move |act| credit::refund(act, member, &refund))?;
            if globals.json {
                return output::json(&json!({ "id": entry.id, "memberId": member, "credit": left }));
            }
            output::say(&format!(
                "Paid back to {} as {}; {left} {} of credit is left",
                member_told(&door, org, member)?,
                entry.id,
                left.currency
            ));
            Ok(())
        }
    }
}
