//! `list` of each desk command: what there is, with the names of what it refers to.

use std::collections::HashMap;

use bursar_app::names::{self, Names};
use bursar_app::reports;
use bursar_app::resources::{self, Readable};
use bursar_domain::Date;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::card::{Card, CardStatus};
use bursar_domain::group::Group;
use bursar_domain::ids::{OrganizationId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::money::Money;
use bursar_domain::order::{Order, OrderStatus};
use bursar_domain::payment::{Payment, PaymentStatus};
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};
use clap::{Args, ValueEnum};

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Globals, Outcome, output};
use super::{or_dash, parse_date};

#[derive(Debug, Args)]
pub(crate) struct MemberListArgs {
    /// Only members of this group
    #[arg(long, value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Option<Ref<kind::Group>>,
    /// Only active or only archived members
    #[arg(long, value_enum)]
    status: Option<MemberStatus>,
    /// Only members who owe something, with the amount
    #[arg(long)]
    owing: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MemberStatus {
    Active,
    Archived,
}

#[derive(Debug, Args)]
pub(crate) struct PaymentListArgs {
    /// Only payments of this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// Only payments raised for this group
    #[arg(long, value_name = "GROUP", value_parser = parse_ref::<kind::Group>)]
    group: Option<Ref<kind::Group>>,
    /// Status: pending, processing, partially_paid, paid, cancelled, failed or disputed
    #[arg(long, value_parser = |text: &str| word(PaymentStatus::parse(text), PaymentStatus::WORDS))]
    status: Option<PaymentStatus>,
    /// Only payments due on this day or later
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    due_from: Option<Date>,
    /// Only payments due before this day
    #[arg(long, value_name = "DATE", value_parser = parse_date)]
    due_before: Option<Date>,
}

#[derive(Debug, Args)]
pub(crate) struct ReimbursementListArgs {
    /// Only reimbursements of this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// Status: draft, submitted, approved, rejected, paid or voided
    #[arg(long, value_parser = |text: &str| word(ReimbursementStatus::parse(text), ReimbursementStatus::WORDS))]
    status: Option<ReimbursementStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct CardListArgs {
    /// Only cards of this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// Status: active, frozen, canceled, invited or denied
    #[arg(long, value_parser = |text: &str| word(CardStatus::parse(text), CardStatus::WORDS))]
    status: Option<CardStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignListArgs {
    /// Status: draft, active or ended
    #[arg(long, value_parser = |text: &str| word(CampaignStatus::parse(text), CampaignStatus::WORDS))]
    status: Option<CampaignStatus>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderListArgs {
    /// Only orders of this member
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// Only orders from this listing
    #[arg(long, value_name = "LISTING", value_parser = parse_ref::<kind::Listing>)]
    listing: Option<Ref<kind::Listing>>,
    /// Status: pending, paid, fulfilled, cancelled or refunded
    #[arg(long, value_parser = |text: &str| word(OrderStatus::parse(text), OrderStatus::WORDS))]
    status: Option<OrderStatus>,
}

fn word<T>(parsed: Option<T>, words: &str) -> Result<T, String> {
    parsed.ok_or_else(|| format!("must be one of {words}"))
}

pub(crate) fn members(globals: &Globals, args: &MemberListArgs) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let group = door.find_some(org, args.group.as_ref())?;
    let is_active = args.status.map(|status| status == MemberStatus::Active);
    let owing = match args.owing {
        true => Some(owing(&door, org)?),
        false => None,
    };
    let is_asked = |member: &Member| {
        group.is_none_or(|id| member.groups.contains(&id))
            && is_active.is_none_or(|is_active| member.is_active == is_active)
            && owing
                .as_ref()
                .is_none_or(|owing| owing.contains_key(&member.id.to_string()))
    };
    let listed = List::read(&door, org, is_asked)?;
    let Some(owing) = owing else {
        return listed.print(globals, MEMBER_HEADER, member_row);
    };
    let header = ["id", "name", "email", "state", "owed", "groups"];
    listed.print(globals, header, |member, names| {
        let [id, name, email, state, groups] = member_row(member, names);
        let owed = owing.get(&id).map_or_else(String::new, Money::to_string);
        [id, name, email, state, owed, groups]
    })
}

pub(crate) const MEMBER_HEADER: [&str; 5] = ["id", "name", "email", "state", "groups"];

pub(crate) fn member_row(member: &Member, names: &Names) -> [String; 5] {
    let groups = member.groups.iter().map(|id| names.told(Some(*id)));
    [
        member.id.to_string(),
        format!("{} {}", member.first_name, member.last_name),
        or_dash(member.email.as_deref()),
        if member.is_active { "active" } else { "archived" }.to_owned(),
        groups.collect::<Vec<_>>().join("; "),
    ]
}

/// What each debtor owes, by id.
fn owing(door: &Door<'_>, organization: OrganizationId) -> Result<HashMap<String, Money>, Failure> {
    let owing = door.survey(organization, reports::owing)?;
    let owed = owing.lines.into_iter().map(|line| (line.id, line.ages.owed));
    Ok(owed.collect())
}

pub(crate) fn groups(globals: &Globals) -> Outcome {
    let door = Door::open(globals)?;
    let listed = List::read(&door, door.organization()?, |_: &Group| true)?;
    let header = ["id", "name", "active members", "dues", "next due"];
    listed.print(globals, header, |group, _| {
        [
            group.id.to_string(),
            group.name.clone(),
            group.member_count.to_string(),
            or_dash(group.amount_due),
            or_dash(group.due_date),
        ]
    })
}

pub(crate) fn payments(globals: &Globals, args: &PaymentListArgs) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let member = door.find_some(org, args.member.as_ref())?;
    let group = door.find_some(org, args.group.as_ref())?;
    let is_asked = |payment: &Payment| {
        member.is_none_or(|id| payment.member_id == Some(id))
            && group.is_none_or(|id| payment.group_id == Some(id))
            && args.status.is_none_or(|status| payment.status == status)
            && args
                .due_from
                .is_none_or(|day| payment.due_date.is_some_and(|due| due >= day))
            && args
                .due_before
                .is_none_or(|day| payment.due_date.is_some_and(|due| due < day))
    };
    let header = [
        "id", "who", "group", "status", "due", "amount", "paid", "what for", "who id",
    ];
    List::read(&door, org, is_asked)?.print(globals, header, |payment: &Payment, names| {
        let [who, who_id] = debtor(payment, names);
        [
            payment.id.to_string(),
            who,
            names.told(payment.group_id),
            payment.status.to_string(),
            or_dash(payment.due_date),
            payment.amount.to_string(),
            payment.paid_to_date.to_string(),
            one_line(&payment.description),
            who_id,
        ]
    })
}

/// Who owes a payment: name and id.
pub(crate) fn debtor(payment: &Payment, names: &Names) -> [String; 2] {
    match payment.member_id {
        Some(id) => [names.told(Some(id)), id.to_string()],
        None => [
            names.told(payment.target_organization_id),
            or_dash(payment.target_organization_id),
        ],
    }
}

pub(crate) fn reimbursements(globals: &Globals, args: &ReimbursementListArgs) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let member = door.find_some(org, args.member.as_ref())?;
    let is_asked = |r: &Reimbursement| {
        member.is_none_or(|id| r.member_id == Some(id)) && args.status.is_none_or(|status| r.status == status)
    };
    let header = ["id", "to", "status", "incurred", "amount", "what for", "to id"];
    List::read(&door, org, is_asked)?.print(globals, header, |r: &Reimbursement, names| {
        let [whom, id] = recipient(r, names);
        [
            r.id.to_string(),
            whom,
            r.status.to_string(),
            or_dash(r.incurred_at),
            r.amount.to_string(),
            one_line(&r.description),
            id,
        ]
    })
}

/// Who is paid back: name and id.
pub(crate) fn recipient(r: &Reimbursement, names: &Names) -> [String; 2] {
    match r.member_id {
        Some(id) => [names.told(Some(id)), id.to_string()],
        None => [
            names.told(r.recipient_organization_id),
            or_dash(r.recipient_organization_id),
        ],
    }
}

pub(crate) fn cards(globals: &Globals, args: &CardListArgs) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let member = door.find_some(org, args.member.as_ref())?;
    let is_asked = |card: &Card| {
        member.is_none_or(|id| card.assigned_member_id == Some(id))
            && args.status.is_none_or(|status| card.status == Some(status))
    };
    let header = ["id", "name", "status", "holder", "limit", "in", "holder id"];
    List::read(&door, org, is_asked)?.print(globals, header, |card: &Card, names| {
        [
            card.id.to_string(),
            card.name.clone().unwrap_or_default(),
            or_dash(card.status),
            names.told(card.assigned_member_id),
            or_dash(card.spend_limit),
            or_dash(card.spend_limit_frequency),
            or_dash(card.assigned_member_id),
        ]
    })
}

pub(crate) fn campaigns(globals: &Globals, args: &CampaignListArgs) -> Outcome {
    let door = Door::open(globals)?;
    let is_asked = |c: &Campaign| args.status.is_none_or(|status| c.status == status);
    let header = ["id", "name", "status", "from", "until", "goal"];
    List::read(&door, door.organization()?, is_asked)?.print(globals, header, |c: &Campaign, _| {
        [
            c.id.to_string(),
            c.name.clone(),
            c.status.to_string(),
            or_dash(c.start_date),
            or_dash(c.end_date),
            or_dash(c.goal_amount),
        ]
    })
}

pub(crate) fn listings(globals: &Globals) -> Outcome {
    let door = Door::open(globals)?;
    let listed = List::read(&door, door.organization()?, |_: &Listing| true)?;
    listed.print(globals, ["id", "name", "state", "items"], |listing, _| {
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
    })
}

pub(crate) fn orders(globals: &Globals, args: &OrderListArgs) -> Outcome {
    let door = Door::open(globals)?;
    let org = door.organization()?;
    let member = door.find_some(org, args.member.as_ref())?;
    let listing = door.find_some(org, args.listing.as_ref())?;
    let is_asked = |order: &Order| {
        member.is_none_or(|id| order.member_id == Some(id))
            && listing.is_none_or(|id| order.listing_id == Some(id))
            && args.status.is_none_or(|status| order.status == status)
    };
    let header = ["id", "listing", "buyer", "status", "total", "items", "buyer id"];
    List::read(&door, org, is_asked)?.print(globals, header, |order: &Order, names| {
        [
            order.id.to_string(),
            names.told(order.listing_id),
            names.told(order.member_id),
            order.status.to_string(),
            order.total_amount.to_string(),
            items(order),
            or_dash(order.member_id),
        ]
    })
}

/// `2 × M; 1 × L`
pub(crate) fn items(order: &Order) -> String {
    let lines = order
        .lines
        .iter()
        .map(|line| format!("{} × {}", line.quantity, line.item));
    lines.collect::<Vec<_>>().join("; ")
}

/// Resources by id, and the names of what they refer to.
struct List<R> {
    resources: Vec<R>,
    names: Names,
    unreadable: u64,
}

impl<R: Readable> List<R> {
    fn read(
        door: &Door<'_>,
        organization: OrganizationId,
        is_asked: impl Fn(&R) -> bool,
    ) -> Result<Self, Failure> {
        door.survey(organization, |view| {
            let mut resources = Vec::new();
            let unreadable = resources::each(view, |resource: R| {
                if is_asked(&resource) {
                    resources.push(resource);
                }
            })?;
            // Representations have ids only.
            let names = match door.globals.json {
                true => Names::default(),
                false => names::of_references(view, &resources)?,
            };
            Ok(Self {
                resources,
                names,
                unreadable,
            })
        })
    }

    /// Oldest first: representations for programs, a table for people.
    fn print<const N: usize>(
        &self,
        globals: &Globals,
        header: [&str; N],
        row: impl Fn(&R, &Names) -> [String; N],
    ) -> Outcome {
        if globals.json {
            let documents: Vec<String> = self.resources.iter().map(R::document).collect();
            output::document(&format!("[{}]", documents.join(",")));
        } else {
            let rows = self.resources.iter().map(|resource| row(resource, &self.names));
            output::table(header, rows.collect(), "there are none");
        }
        match self.unreadable {
            0 => Ok(()),
            count => Err(Failure::new(format!(
                "{} could not be read and {} left out; `bursar check` names what is broken",
                output::many(count, "row"),
                if count == 1 { "is" } else { "are" }
            ))),
        }
    }
}

/// A description may have several lines; a row has one.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
