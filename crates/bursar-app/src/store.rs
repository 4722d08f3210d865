//! The store: listings with their stock, and orders. Stock is counted while the organization's clock is held, so
//! that it never goes below zero, however many buy at once.

use bursar_db::{organizations, table};
use bursar_domain::access::Role;
use bursar_domain::ids::{ListingId, MemberId, OrderId};
use bursar_domain::listing::{Item, Listing};
use bursar_domain::member::Member;
use bursar_domain::money::{Currency, Money};
use bursar_domain::order::{Order, OrderLine, OrderStatus, OrderVerb};
use bursar_domain::text::{NAME, NOTE};
use bursar_domain::{Refusal, Resource, Stamps};

use crate::act::{Act, no_organization};
use crate::error::AppError;
use crate::officers::require;

/// What a listing is made of or changed to; what is left out stays.
#[derive(Clone, Debug, Default)]
pub struct ListingChange {
    /// What people call it.
    pub name: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// Its items: name, price as text, stock. An empty list keeps those there are.
    pub items: Vec<(String, String, Option<i64>)>,
}

fn no_listing() -> Refusal {
    Refusal::missing("there is no such listing")
}

fn no_order() -> Refusal {
    Refusal::missing("there is no such order")
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

/// Makes a listing, on sale at once.
pub fn create_listing(act: &mut Act<'_, '_>, new: &ListingChange) -> Result<Listing, AppError> {
    require(act, Role::Editor, "make listings")?;
    let own =
        organizations::get(act.tx, act.organization)?.ok_or_else(|| no_organization(act.organization))?;
    if new.name.is_none() {
        return Err(Refusal::invalid("name", "is required").into());
    }
    let id = act.new_id();
    let stamps = Stamps::at(act.tick());
    let mut listing = Listing::blank(id, own.currency, stamps);
    apply(&mut listing, new, own.currency)?;
    act.insert(&listing)?;
    act.log("listing.create", Some(id.to_string()), None)?;
    Ok(listing)
}

/// Changes a listing.
pub fn set_listing(
    act: &mut Act<'_, '_>,
    id: ListingId,
    change: &ListingChange,
) -> Result<Listing, AppError> {
    change_listing(act, id, "listing.change", |listing| {
        apply(listing, change, listing.currency)
    })
}

/// Puts a listing on sale, or takes it off.
pub fn set_on_sale(act: &mut Act<'_, '_>, id: ListingId, is_active: bool) -> Result<Listing, AppError> {
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
    require(act, Role::Editor, "change listings")?;
    let before: Listing = table::get(act.tx, act.organization, id)?.ok_or_else(no_listing)?;
    let mut listing = before.clone();
    change(&mut listing)?;
    if listing == before {
        return Ok(before);
    }
    act.update(&mut listing)?;
    act.log(action, Some(id.to_string()), None)?;
    Ok(listing)
}

/// Orders items for a member: the stock goes down with it.
pub fn order(
    act: &mut Act<'_, '_>,
    listing: ListingId,
    member: Option<MemberId>,
    lines: &[OrderLine],
) -> Result<Order, AppError> {
    require(act, Role::Editor, "take orders")?;
    if lines.is_empty() {
        return Err(Refusal::invalid("item", "is required: name what is bought").into());
    }
    if let Some(id) = member {
        table::get::<Member>(act.tx, act.organization, id)?
            .ok_or_else(|| Refusal::missing_reference("member", id))?;
    }
    let mut listing: Listing = table::get(act.tx, act.organization, listing)?.ok_or_else(no_listing)?;
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
    act.log("order.create", Some(id.to_string()), None)?;
    Ok(order)
}

/// Moves an order on. One that is called off, or refunded before it was handed over, gives its items back.
pub fn perform_order(act: &mut Act<'_, '_>, id: OrderId, verb: OrderVerb) -> Result<Order, AppError> {
    require(act, Role::Editor, "change orders")?;
    let mut order: Order = table::get(act.tx, act.organization, id)?.ok_or_else(no_order)?;
    let was = order.status;
    order.perform(verb, act.now())?;
    let gives_back = match verb {
        OrderVerb::Cancel => true,
        OrderVerb::Refund => was == OrderStatus::Paid,
        OrderVerb::Pay | OrderVerb::Fulfil => false,
    };
    if gives_back
        && let Some(listing) = order.listing_id
        && let Some(before) = table::get::<Listing>(act.tx, act.organization, listing)?
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
