//! `list` of each desk command: shows the ids that the other commands need.

use bursar_app::resources::{self, Readable};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::{Card, CardStatus};
use bursar_domain::group::Group;
use bursar_domain::ids::{MemberId, OrganizationId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::{Order, OrderStatus};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};
use clap::Args;

use super::super::{Failure, Globals, Outcome, output, parse_id};
use super::look_in;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    pub(crate) organization: OrganizationId,
}

#[derive(Debug, Args)]
pub(crate) struct PaymentListArgs {
    #[command(flatten)]
    of: ListArgs,
    /// Only payments of this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_id::<kind::Member>)]
    member: Option<MemberId>,
    /// Status: pending, processing, partially_paid, paid, cancelled, failed or disputed
    #[arg(long, value_parser = |text: &str| word(PaymentStatus::parse(text), PaymentStatus::WORDS))]
    status: Option<PaymentStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct ReimbursementListArgs {
    #[command(flatten)]
    of: ListArgs,
    /// Status: draft, submitted, approved, rejected, paid or voided
    #[arg(long, value_parser = |text: &str| word(ReimbursementStatus::parse(text), ReimbursementStatus::WORDS))]
    status: Option<ReimbursementStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct CardListArgs {
    #[command(flatten)]
    of: ListArgs,
    /// Status: active, frozen, canceled, invited or denied
    #[arg(long, value_parser = |text: &str| word(CardStatus::parse(text), CardStatus::WORDS))]
    status: Option<CardStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderListArgs {
    #[command(flatten)]
    of: ListArgs,
    /// Status: pending, paid, fulfilled, cancelled or refunded
    #[arg(long, value_parser = |text: &str| word(OrderStatus::parse(text), OrderStatus::WORDS))]
    status: Option<OrderStatus>,
}

fn word<T>(parsed: Option<T>, words: &str) -> Result<T, String> {
    parsed.ok_or_else(|| format!("must be one of {words}"))
}

pub(crate) fn members(globals: &Globals, args: &ListArgs) -> Outcome {
    let header = ["id", "name", "email", "state", "groups"];
    list(
        globals,
        args,
        |_| true,
        header,
        |member: &Member| {
            let state = if member.is_active { "active" } else { "archived" };
            [
                member.id.to_string(),
                format!("{} {}", member.first_name, member.last_name),
                member.email.clone(),
                state.to_owned(),
                member.groups.len().to_string(),
            ]
        },
    )
}

pub(crate) fn groups(globals: &Globals, args: &ListArgs) -> Outcome {
    list(
        globals,
        args,
        |_| true,
        ["id", "name", "active members", "dues", "next due"],
        |group: &Group| {
            [
                group.id.to_string(),
                group.name.clone(),
                group.member_count.to_string(),
                or_dash(group.amount_due),
                or_dash(group.due_date),
            ]
        },
    )
}

pub(crate) fn payments(globals: &Globals, args: &PaymentListArgs) -> Outcome {
    let is_asked = |payment: &Payment| {
        args.member.is_none_or(|id| payment.member_id == Some(id))
            && args.status.is_none_or(|status| payment.status == status)
    };
    let header = ["id", "who", "status", "due", "amount", "paid", "what for"];
    list(globals, &args.of, is_asked, header, |payment: &Payment| {
        let who = payment.member_id.map(|id| id.to_string());
        [
            payment.id.to_string(),
            who.unwrap_or_else(|| or_dash(payment.target_organization_id)),
            payment.status.to_string(),
            or_dash(payment.due_date),
            payment.amount.to_string(),
            payment.paid_to_date.to_string(),
            one_line(&payment.description),
        ]
    })
}

pub(crate) fn reimbursements(globals: &Globals, args: &ReimbursementListArgs) -> Outcome {
    let is_asked = |r: &Reimbursement| args.status.is_none_or(|status| r.status == status);
    let header = ["id", "to", "status", "incurred", "amount", "what for"];
    list(globals, &args.of, is_asked, header, |r: &Reimbursement| {
        let whom = r.member_id.map(|id| id.to_string());
        [
            r.id.to_string(),
            whom.unwrap_or_else(|| or_dash(r.recipient_organization_id)),
            r.status.to_string(),
            or_dash(r.incurred_at),
            r.amount.to_string(),
            one_line(&r.description),
        ]
    })
}

pub(crate) fn cards(globals: &Globals, args: &CardListArgs) -> Outcome {
    let is_asked = |card: &Card| args.status.is_none_or(|status| card.status == Some(status));
    let header = ["id", "name", "status", "holder", "limit", "in"];
    list(globals, &args.of, is_asked, header, |card: &Card| {
        [
            card.id.to_string(),
            card.name.clone().unwrap_or_default(),
            or_dash(card.status),
            or_dash(card.assigned_member_id),
            or_dash(card.spend_limit),
            or_dash(card.spend_limit_frequency),
        ]
    })
}

pub(crate) fn campaigns(globals: &Globals, args: &ListArgs) -> Outcome {
    list(
        globals,
        args,
        |_| true,
        ["id", "name", "status", "from", "until", "goal"],
        |c: &Campaign| {
            [
                c.id.to_string(),
                c.name.clone(),
                c.status.to_string(),
                or_dash(c.start_date),
                or_dash(c.end_date),
                or_dash(c.goal_amount),
            ]
        },
    )
}

pub(crate) fn listings(globals: &Globals, args: &ListArgs) -> Outcome {
    list(
        globals,
        args,
        |_| true,
        ["id", "name", "state", "items"],
        |listing: &Listing| {
            let items = listing.items.iter().map(|item| {
                let left = item.inventory.map(|left| format!(", {left} left"));
                format!("{} {}{}", item.name, item.price, left.unwrap_or_default())
            });
            let state = if listing.is_active {
                "on sale"
            } else {
                "not on sale"
            };
            [
                listing.id.to_string(),
                listing.name.clone(),
                state.to_owned(),
                items.collect::<Vec<_>>().join("; "),
            ]
        },
    )
}

pub(crate) fn orders(globals: &Globals, args: &OrderListArgs) -> Outcome {
    let is_asked = |order: &Order| args.status.is_none_or(|status| order.status == status);
    let header = ["id", "listing", "buyer", "status", "total", "items"];
    list(globals, &args.of, is_asked, header, |order: &Order| {
        let items = order
            .lines
            .iter()
            .map(|line| format!("{} × {}", line.quantity, line.item));
        [
            order.id.to_string(),
            or_dash(order.listing_id),
            or_dash(order.member_id),
            order.status.to_string(),
            order.total_amount.to_string(),
            items.collect::<Vec<_>>().join("; "),
        ]
    })
}

/// Oldest first: representations for programs, a table for people.
fn list<R: Readable, const N: usize>(
    globals: &Globals,
    args: &ListArgs,
    is_asked: impl Fn(&R) -> bool,
    header: [&str; N],
    row: impl Fn(&R) -> [String; N],
) -> Outcome {
    let (mut documents, mut rows) = (Vec::new(), Vec::new());
    let left_out = look_in(globals, args.organization, |view| {
        resources::each(view, |resource: R| match is_asked(&resource) {
            true if globals.json => documents.push(resource.document()),
            true => rows.push(row(&resource)),
            false => {}
        })
    })?;
    if globals.json {
        output::document(&format!("[{}]", documents.join(",")));
    } else {
        output::table(header, rows, "there are none");
    }
    match left_out {
        0 => Ok(()),
        count => Err(Failure::new(format!(
            "{} could not be read and {} left out; `bursar check` names what is broken",
            output::many(count, "row"),
            if count == 1 { "is" } else { "are" }
        ))),
    }
}

fn or_dash(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// A description may have several lines; a row has one.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
