//! The store: listings with their stock, and orders. Stock changes while the change clock is held, so it never goes
//! below zero, however many buy at once.

use bursar_db::journal;
use bursar_domain::access::Role;
use bursar_domain::account::Standing;
use bursar_domain::ids::{ListingId, MemberId, OrderId};
use bursar_domain::journal::{About, EntryKind, Postings};
use bursar_domain::listing::{Item, Listing};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::order::{Order, OrderLine, OrderStatus, OrderVerb};
use bursar_domain::receipt::Method;
use bursar_domain::text::{NAME, NOTE};
use bursar_domain::{Date, Refusal, Resource, Stamps, Timestamp};

use crate::act::Act;
use crate::books::refunds::check_after;
use crate::books::{self, NewEntry, money_account, post};
use crate::error::AppError;
use crate::rule::Rule;

pub const CREATE_LISTING: Rule = Rule::of("listing.create", Role::Editor, "create listings");
pub const CHANGE_LISTING: Rule = Rule::of("listing.change", Role::Editor, "change listings");
pub const ORDER: Rule = Rule::of("order.create", Role::Editor, "take orders");
pub const CHANGE_ORDER: Rule = Rule::of("order.change", Role::Editor, "change orders");
pub const REFUND_ORDER: Rule = Rule::of("order.refund", Role::Editor, "refund orders").guarded();

pub const RULES: &[&Rule] = &[
    &CREATE_LISTING,
    &CHANGE_LISTING,
    &ORDER,
    &CHANGE_ORDER,
    &REFUND_ORDER,
];

/// In a change, `None` leaves the field as it is.
#[derive(Clone, Debug, Default)]
pub struct ListingChange {
    pub name: Option<String>,
    pub description: Option<String>,
    /// Name, price as text, stock. An empty list keeps the items as they are.
    pub items: Vec<(String, String, Option<i64>)>,
}

fn apply(listing: &mut Listing, change: &ListingChange, currency: Currency) -> Result<(), AppError> {
    let rule = |field: &'static str| move |rule: String| AppError::from(Refusal::invalid(field, rule));
    if let Some(name) = &change.name {
        listing.name = NAME.check(name).map_err(rule("name"))?;
    }
    if let Some(description) = &change.description {
        listing.description = NOTE.check(description).map_err(rule("description"))?;
    }
    if change.items.is_empty() {
        return Ok(());
    }
    let mut items: Vec<Item> = Vec::new();
    for (name, price, inventory) in &change.items {
        let name = NAME.check(name).map_err(rule("item"))?;
        if items.iter().any(|item| item.name == name) {
            return Err(Refusal::invalid("item", format!("{name:?} is named twice")).into());
        }
        Item::check_inventory(*inventory).map_err(rule("item"))?;
        items.push(Item {
            name,
            price: Money::parse(price, currency).map_err(rule("item"))?,
            inventory: *inventory,
        });
    }
    listing.items = items;
    Ok(())
}

/// The listing is on sale at once.
pub fn create_listing(act: &mut Act<'_, '_>, new: &ListingChange) -> Result<Listing, AppError> {
    act.allow(&CREATE_LISTING)?;
    let currency = act.own()?.currency;
    if new.name.is_none() {
        return Err(Refusal::invalid("name", "is required").into());
    }
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let mut listing = Listing::blank(id, currency, stamps);
    apply(&mut listing, new, currency)?;
    act.insert(&listing)?;
    act.log(CREATE_LISTING.name, Some(id.to_string()), None)?;
    Ok(listing)
}

pub fn set_listing(
    act: &mut Act<'_, '_>,
    id: ListingId,
    change: &ListingChange,
) -> Result<Listing, AppError> {
    act.allow(&CHANGE_LISTING)?;
    change_listing(act, id, CHANGE_LISTING.name, |listing| {
        apply(listing, change, listing.currency)
    })
}

pub fn set_on_sale(act: &mut Act<'_, '_>, id: ListingId, is_active: bool) -> Result<Listing, AppError> {
    act.allow(&CHANGE_LISTING)?;
    let action = if is_active {
        "listing.activate"
    } else {
        "listing.retire"
    };
    change_listing(act, id, action, |listing| {
        listing.is_active = is_active;
        Ok(())
    })
}

fn change_listing(
    act: &mut Act<'_, '_>,
    id: ListingId,
    action: &str,
    change: impl FnOnce(&mut Listing) -> Result<(), AppError>,
) -> Result<Listing, AppError> {
    let before: Listing = act.find(id)?;
    let mut listing = before.clone();
    change(&mut listing)?;
    if listing == before {
        return Ok(before);
    }
    act.update(&mut listing)?;
    act.log(action, Some(id.to_string()), None)?;
    Ok(listing)
}

/// Also reduces the stock.
pub fn order(
    act: &mut Act<'_, '_>,
    listing: ListingId,
    member: Option<MemberId>,
    lines: &[OrderLine],
) -> Result<Order, AppError> {
    act.allow(&ORDER)?;
    if lines.is_empty() {
        return Err(Refusal::invalid("item", "is required: name what is bought").into());
    }
    if let Some(id) = member {
        act.get::<Member>(id)?
            .ok_or_else(|| Refusal::missing_reference("member", id))?;
    }
    let mut listing: Listing = act.find(listing)?;
    let before = listing.clone();
    let total_amount = listing.sell(lines)?;
    if listing != before {
        act.update(&mut listing)?;
    }
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let order = Order {
        listing_id: Some(listing.id),
        member_id: member,
        total_amount,
        lines: lines.to_vec(),
        ..Order::blank(id, total_amount.currency, stamps)
    };
    act.insert(&order)?;
    act.log(ORDER.name, Some(id.to_string()), None)?;
    Ok(order)
}

/// When, how and where money of an order moves.
#[derive(Clone, Debug, Default)]
pub struct OrderMoney {
    /// Today if left out.
    pub date: Option<Date>,
    /// In cash if left out.
    pub method: Option<Method>,
    /// An account's name; by the method if left out.
    pub account: Option<String>,
}

/// Posts the sale or the refund. Returns the instant of the money.
fn book(
    act: &mut Act<'_, '_>,
    order: &Order,
    verb: OrderVerb,
    money: &OrderMoney,
) -> Result<Option<Timestamp>, AppError> {
    let (kind, amount) = match verb {
        OrderVerb::Pay => (EntryKind::Sale, order.total_amount.minor),
        OrderVerb::Refund => (EntryKind::SaleRefund, -order.total_amount.minor),
        OrderVerb::Fulfil | OrderVerb::Cancel => return Ok(None),
    };
    let books = books::open(act)?;
    let date = books.money_date(money.date)?;
    if verb == OrderVerb::Refund {
        let entries = journal::of_order(act.tx, act.organization, order.id)?;
        if let Some(sale) = entries.iter().rfind(|entry| entry.kind == EntryKind::Sale) {
            check_after(date, ("came", sale.date))?;
        }
    }
    let account = money_account(
        act,
        money.account.as_deref(),
        money.method.unwrap_or(Method::Cash),
    )?;
    let about = About {
        member: order.member_id,
        order: Some(order.id),
        ..About::default()
    };
    let postings = Postings::paired(account.id, Standing::Shop, about, amount);
    // What is given away posts nothing.
    if !postings.is_empty() {
        post(act, NewEntry::of(kind, date, postings))?;
    }
    Ok(Some(books.instant(date, act.now())))
}

/// An order that is cancelled, or refunded before it was handed over, returns its items to stock.
pub fn perform_order(
    act: &mut Act<'_, '_>,
    id: OrderId,
    verb: OrderVerb,
    money: &OrderMoney,
) -> Result<Order, AppError> {
    act.allow(match verb {
        OrderVerb::Refund => &REFUND_ORDER,
        OrderVerb::Pay | OrderVerb::Fulfil | OrderVerb::Cancel => &CHANGE_ORDER,
    })?;
    let mut order: Order = act.find(id)?;
    let was = order.status;
    order.perform(verb, act.now())?;
    let moved = book(act, &order, verb, money)?;
    if verb == OrderVerb::Pay {
        order.paid_at = moved;
    }
    let gives_back = match verb {
        OrderVerb::Cancel => true,
        OrderVerb::Refund => was == OrderStatus::Paid,
        OrderVerb::Pay | OrderVerb::Fulfil => false,
    };
    if gives_back
        && let Some(listing) = order.listing_id
        && let Some(before) = act.get::<Listing>(listing)?
    {
        let mut listing = before.clone();
        listing.take_in(&order.lines)?;
        if listing != before {
            act.update(&mut listing)?;
        }
    }
    act.update(&mut order)?;
    act.log(&format!("order.{}", order.status), Some(id.to_string()), None)?;
    Ok(order)
}
