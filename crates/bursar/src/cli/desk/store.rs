//! `bursar listing` and `bursar order`.

use bursar_app::store::{self, ListingChange};
use bursar_domain::Resource;
use bursar_domain::ids::{ListingId, MemberId, OrderId, OrganizationId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::order::{Order, OrderLine, OrderVerb};
use clap::{Args, Subcommand};

use super::super::{Globals, Outcome, output, parse_id};
use super::list::{self, ListArgs, OrderListArgs};
use super::{act_in, act_on, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum ListingCommand {
    /// Create a listing, on sale at once
    Create(CreateArgs),
    /// Change a listing
    Set(SetArgs),
    /// Put a listing on sale
    Activate(ListingId_),
    /// Take a listing off sale
    Retire(ListingId_),
    /// List listings with their stock
    List(ListArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrderCommand {
    /// Create an order; reduces the stock
    Create(OrderArgs),
    /// Mark as paid
    Pay(OrderId_),
    /// Mark as handed over
    Fulfil(OrderId_),
    /// Cancel an unpaid order
    Cancel(OrderId_),
    /// Refund an order
    Refund(OrderId_),
    /// List orders
    List(OrderListArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Texts {
    /// Name
    #[arg(long)]
    name: Option<String>,
    /// Description
    #[arg(long)]
    description: Option<String>,
    /// Item as NAME=PRICE or NAME=PRICE:STOCK; may be repeated
    #[arg(long, value_name = "ITEM", value_parser = parse_item)]
    item: Vec<(String, String, Option<i64>)>,
}

impl Texts {
    fn change(self) -> ListingChange {
        ListingChange {
            name: self.name,
            description: self.description,
            items: self.item,
        }
    }
}

fn parse_item(text: &str) -> Result<(String, String, Option<i64>), String> {
    let rule = "must be NAME=PRICE or NAME=PRICE:STOCK, such as M=15.00:20";
    let (name, rest) = text.split_once('=').ok_or(rule)?;
    match rest.split_once(':') {
        None => Ok((name.to_owned(), rest.to_owned(), None)),
        Some((price, stock)) => Ok((
            name.to_owned(),
            price.to_owned(),
            Some(stock.parse().map_err(|_| rule.to_owned())?),
        )),
    }
}

fn parse_line(text: &str) -> Result<OrderLine, String> {
    let (item, quantity) = text.split_once('=').unwrap_or((text, "1"));
    let quantity = quantity
        .parse()
        .map_err(|_| "must be NAME or NAME=QUANTITY, such as M=2".to_owned())?;
    Ok(OrderLine {
        item: item.to_owned(),
        quantity,
    })
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The organization's id
    #[arg(long, value_name = "ORG", value_parser = parse_id::<kind::Organization>)]
    organization: OrganizationId,
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The listing's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Listing>)]
    id: ListingId,
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct ListingId_ {
    /// The listing's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Listing>)]
    id: ListingId,
}

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// The listing's id
    #[arg(value_name = "LISTING", value_parser = parse_id::<kind::Listing>)]
    listing: ListingId,
    /// Member who buys
    #[arg(long, value_name = "MEMBER", value_parser = parse_id::<kind::Member>)]
    member: Option<MemberId>,
    /// Item as NAME or NAME=QUANTITY; may be repeated
    #[arg(long, value_name = "ITEM", value_parser = parse_line, required = true)]
    item: Vec<OrderLine>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderId_ {
    /// The order's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Order>)]
    id: OrderId,
}

pub(crate) fn run_listing(globals: &Globals, command: ListingCommand) -> Outcome {
    let on_sale = |args: ListingId_, is_active: bool| {
        let id = args.id;
        act_on::<Listing, _>(globals, id, move |act| store::set_on_sale(act, id, is_active))
    };
    let listing = match command {
        ListingCommand::Create(args) => {
            let (org, new) = (args.organization, args.texts.change());
            act_in(globals, org, move |act| store::create_listing(act, &new))?
        }
        ListingCommand::Set(args) => {
            let (id, change) = (args.id, args.texts.change());
            act_on::<Listing, _>(globals, id, move |act| store::set_listing(act, id, &change))?
        }
        ListingCommand::Activate(args) => on_sale(args, true)?,
        ListingCommand::Retire(args) => on_sale(args, false)?,
        ListingCommand::List(args) => return list::listings(globals, &args),
    };
    let state = if listing.is_active {
        "on sale"
    } else {
        "not on sale"
    };
    tell(
        globals,
        &listing.document(),
        &format!(
            "{} ({}) is {state}, {}",
            listing.name,
            listing.id,
            output::many(listing.items.len() as u64, "item")
        ),
    )
}

pub(crate) fn run_order(globals: &Globals, command: OrderCommand) -> Outcome {
    let (args, verb) = match command {
        OrderCommand::Create(args) => {
            let (listing, member, lines) = (args.listing, args.member, args.item);
            let work = move |act: &mut bursar_app::Act<'_, '_>| store::order(act, listing, member, &lines);
            let order = act_on::<Listing, _>(globals, listing, work)?;
            return tell_order(globals, &order);
        }
        OrderCommand::List(args) => return list::orders(globals, &args),
        OrderCommand::Pay(args) => (args, OrderVerb::Pay),
        OrderCommand::Fulfil(args) => (args, OrderVerb::Fulfil),
        OrderCommand::Cancel(args) => (args, OrderVerb::Cancel),
        OrderCommand::Refund(args) => (args, OrderVerb::Refund),
    };
    let id = args.id;
    let order = act_on::<Order, _>(globals, id, move |act| store::perform_order(act, id, verb))?;
    tell_order(globals, &order)
}

fn tell_order(globals: &Globals, order: &Order) -> Outcome {
    tell(
        globals,
        &order.document(),
        &format!(
            "{} is {}: {} {}",
            order.id, order.status, order.total_amount, order.total_amount.currency
        ),
    )
}
