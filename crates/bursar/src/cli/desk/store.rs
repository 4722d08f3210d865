//! `bursar listing` and `bursar order`.

use bursar_app::resources;
use bursar_app::store::{self, ListingChange, OrderMoney};
use bursar_domain::ids::{OrderId, OrganizationId, kind};
use bursar_domain::listing::Listing;
use bursar_domain::order::{Order, OrderLine, OrderVerb};
use bursar_domain::receipt::Method;
use bursar_domain::{Date, Resource};
use clap::{Args, Subcommand};

use super::super::door::{Door, Ref, parse_ref};
use super::super::{Failure, Globals, Outcome, consent, output, parse_id};
use super::list::{self, OrderListArgs, items};
use super::{names_in, parse_date, parse_method, tell};

#[derive(Debug, Subcommand)]
pub(crate) enum ListingCommand {
    /// Create a listing, on sale at once
    Create(CreateArgs),
    /// Change a listing
    Set(SetArgs),
    /// Put a listing on sale
    Activate(ListingArgs),
    /// Take a listing off sale
    Retire(ListingArgs),
    /// List listings with their stock
    List,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OrderCommand {
    /// Create an order; reduces the stock
    Create(OrderArgs),
    /// Mark as paid
    Pay(OrderMoneyArgs),
    /// Mark as handed over
    Fulfil(OrderIdArgs),
    /// Cancel an unpaid order
    Cancel(OrderIdArgs),
    /// Refund an order
    Refund(OrderMoneyArgs),
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
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The listing: name or id
    #[arg(value_name = "LISTING", value_parser = parse_ref::<kind::Listing>)]
    listing: Ref<kind::Listing>,
    #[command(flatten)]
    texts: Texts,
}

#[derive(Debug, Args)]
pub(crate) struct ListingArgs {
    /// The listing: name or id
    #[arg(value_name = "LISTING", value_parser = parse_ref::<kind::Listing>)]
    listing: Ref<kind::Listing>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// The listing: name or id
    #[arg(value_name = "LISTING", value_parser = parse_ref::<kind::Listing>)]
    listing: Ref<kind::Listing>,
    /// Member who buys: name, e-mail address or id
    #[arg(long, value_name = "MEMBER", value_parser = parse_ref::<kind::Member>)]
    member: Option<Ref<kind::Member>>,
    /// Item as NAME or NAME=QUANTITY; may be repeated
    #[arg(long, value_name = "ITEM", value_parser = parse_line, required = true)]
    item: Vec<OrderLine>,
}

#[derive(Debug, Args)]
pub(crate) struct OrderIdArgs {
    /// The order's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Order>)]
    id: OrderId,
}

#[derive(Debug, Args)]
pub(crate) struct OrderMoneyArgs {
    #[command(flatten)]
    order: OrderIdArgs,
    /// Date received or refunded; today by default
    #[arg(long, value_parser = parse_date)]
    date: Option<Date>,
    /// How: cash, check, transfer, card or other; cash by default
    #[arg(long, value_parser = parse_method)]
    method: Option<Method>,
    /// Account of the money; by the method by default
    #[arg(long)]
    account: Option<String>,
}

pub(crate) fn run_listing(globals: &Globals, command: ListingCommand) -> Outcome {
    let door = Door::open(globals)?;
    let on_sale = |args: &ListingArgs, is_active: bool| {
        let (org, id) = door.locate::<Listing>(&args.listing)?;
        door.act(org, move |act| store::set_on_sale(act, id, is_active))
    };
    let listing = match command {
        ListingCommand::Create(args) => {
            let (org, new) = (door.organization()?, args.texts.change());
            door.act(org, move |act| store::create_listing(act, &new))?
        }
        ListingCommand::Set(args) => {
            let (org, id) = door.locate::<Listing>(&args.listing)?;
            let change = args.texts.change();
            door.act(org, move |act| store::set_listing(act, id, &change))?
        }
        ListingCommand::Activate(args) => on_sale(&args, true)?,
        ListingCommand::Retire(args) => on_sale(&args, false)?,
        ListingCommand::List => return list::listings(globals),
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
    if let OrderCommand::List(args) = &command {
        return list::orders(globals, args);
    }
    let door = Door::open(globals)?;
    let (verb, (id, money)) = match command {
        OrderCommand::Create(args) => return create(&door, args),
        OrderCommand::List(args) => return list::orders(globals, &args),
        OrderCommand::Pay(args) => (OrderVerb::Pay, with_money(args)),
        OrderCommand::Fulfil(args) => (OrderVerb::Fulfil, (args.id, OrderMoney::default())),
        OrderCommand::Cancel(args) => (OrderVerb::Cancel, (args.id, OrderMoney::default())),
        OrderCommand::Refund(args) => (OrderVerb::Refund, with_money(args)),
    };
    let org = door.home::<Order>(id)?;
    if verb == OrderVerb::Cancel && !globals.yes {
        let order = door.view(org, move |view| resources::one::<Order>(view, id))?;
        door.rehearse(org, |act| store::perform_order(act, id, verb, &money))?;
        let plan = format!("Cancel permanently: {}.", told(&door, org, &order)?);
        consent::confirm(globals, &plan)?;
    }
    let order = door.act(org, move |act| store::perform_order(act, id, verb, &money))?;
    tell_order(&door, org, &order)
}

fn with_money(args: OrderMoneyArgs) -> (OrderId, OrderMoney) {
    let money = OrderMoney {
        date: args.date,
        method: args.method,
        account: args.account,
    };
    (args.order.id, money)
}

fn create(door: &Door<'_>, args: OrderArgs) -> Outcome {
    let (org, listing) = door.locate::<Listing>(&args.listing)?;
    let (member, lines) = (door.find_some(org, args.member.as_ref())?, args.item);
    let order = door.act(org, move |act| store::order(act, listing, member, &lines))?;
    tell_order(door, org, &order)
}

fn tell_order(door: &Door<'_>, org: OrganizationId, order: &Order) -> Outcome {
    let line = match door.globals.json {
        true => String::new(),
        false => told(door, org, order)?,
    };
    tell(door.globals, &order.document(), &line)
}

/// `ord_… of Ada Larsen from Hoodies (2 × M) is paid: 30.00 USD`
fn told(door: &Door<'_>, org: OrganizationId, order: &Order) -> Result<String, Failure> {
    let names = names_in(door, org, order)?;
    let buyer = order
        .member_id
        .map_or_else(|| "nobody named".to_owned(), |id| names.told(Some(id)));
    Ok(format!(
        "{} of {buyer} from {} ({}) is {}: {} {}",
        order.id,
        names.told(order.listing_id),
        items(order),
        order.status,
        order.total_amount,
        order.total_amount.currency
    ))
}
