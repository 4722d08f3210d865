//! The store: what is on sale, and orders.

use askama::Template;
use bursar_app::desk::{self, Orders};
use bursar_app::store::{self, CHANGE_LISTING, CREATE_LISTING, ORDER};
use bursar_app::{View, names, resources};
use bursar_domain::ids::kind;
use bursar_domain::listing::{Item, Listing};
use bursar_domain::money::Money;
use bursar_domain::order::{OrderLine, OrderStatus};

use super::ask::{Ask, Field, Shape};
use super::cut;
use super::tabbed::{Tabs, by_state, if_any};
use super::who;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent};
use crate::frame::Frame;
use crate::words::{self, Moment};

struct ListingRow {
    id: String,
    name: String,
    is_active: bool,
    items: String,
}

pub(super) struct OrderRow {
    id: String,
    pub(super) what: String,
    pub(super) who: String,
    day: Moment,
    status: &'static str,
    pub(super) state: String,
    total: String,
}

#[derive(Template)]
#[template(path = "store.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_create: bool,
    listing_tabs: Tabs,
    listings: Vec<ListingRow>,
    more_listings: String,
    listings_csv: String,
    order_tabs: Tabs,
    orders: Vec<OrderRow>,
    older: String,
    orders_csv: String,
}

fn stock(item: &Item) -> String {
    match item.inventory {
        None => format!("{} {}", item.name, words::money(item.price)),
        Some(0) => format!("{} {} (sold out)", item.name, words::money(item.price)),
        Some(left) => format!("{} {} ({left} left)", item.name, words::money(item.price)),
    }
}

/// The orders that the address asks for.
pub(super) fn which(asking: &Asking) -> Orders {
    OrderStatus::parse(asking.query("show")).map_or(Orders::All, Orders::In)
}

/// The listings that the address asks for.
pub(super) fn listings(view: &mut View<'_, '_>, asking: &Asking) -> Result<Vec<Listing>, Failure> {
    let is_active = match asking.query("sale") {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    };
    let mut listings: Vec<Listing> = Vec::new();
    resources::each(view, |listing: Listing| listings.push(listing))?;
    listings.retain(|listing| is_active.is_none_or(|is_active| listing.is_active == is_active));
    listings.sort_by_key(|listing| (!listing.is_active, listing.name.clone()));
    Ok(listings)
}

pub(super) const fn sale(is_active: bool) -> &'static str {
    match is_active {
        true => "On sale",
        false => "Off sale",
    }
}

pub(super) fn items(listing: &Listing) -> String {
    listing.items.iter().map(stock).collect::<Vec<_>>().join(", ")
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let mut listings = listings(view, asking)?;
    let sales = [("on", true), ("off", false)].map(|(word, is_active)| (word, sale(is_active).to_owned()));
    let listing_tabs = by_state(asking, "store", ("sale", "listing"), sales);
    let listing_tabs = if_any(listing_tabs, &listings);
    let id = |listing: &Listing| listing.id.to_string();
    let more_listings = cut::page(asking, ("store", "listing"), &mut listings, id);
    let found = desk::orders(view, which(asking), asking.place())?;
    let states = OrderStatus::ALL
        .iter()
        .map(|status| (status.as_str(), words::label(status.as_str())));
    let page = Page {
        frame,
        may_create: frame.may(&CREATE_LISTING),
        listing_tabs,
        listings: listings
            .iter()
            .map(|listing| ListingRow {
                id: listing.id.to_string(),
                name: listing.name.clone(),
                is_active: listing.is_active,
                items: items(listing),
            })
            .collect(),
        more_listings,
        listings_csv: asking.with("store/csv", &[("show", ""), ("listing", "")]),
        order_tabs: by_state(asking, "store", ("show", "after"), states),
        older: match (found.is_more, found.rows.last()) {
            (true, Some(last)) => asking.after("store", last.updated_at, last.id),
            _ => String::new(),
        },
        orders: order_rows(view, frame, &found.rows)?,
        orders_csv: asking.with("orders/csv", &[("sale", ""), ("listing", "")]),
    };
    Ok(page.render()?)
}

pub(super) fn order_rows(
    view: &mut View<'_, '_>,
    frame: &Frame,
    rows: &[desk::OrderRow],
) -> Result<Vec<OrderRow>, Failure> {
    let members: Vec<_> = rows.iter().filter_map(|row| row.member).collect();
    let listings: Vec<_> = rows.iter().filter_map(|row| row.listing).collect();
    let (members, listings) = (names::of(view, &members)?, names::of(view, &listings)?);
    let currency = frame.place.organization.currency;
    let row = |row: &desk::OrderRow| OrderRow {
        id: row.id.to_string(),
        what: row
            .listing
            .map_or_else(|| "Order".to_owned(), |id| listings.told(Some(id))),
        who: row
            .member
            .map_or_else(|| "\u{2013}".to_owned(), |id| members.told(Some(id))),
        day: Moment::day_there(row.created_at, &frame.place.organization.time_zone),
        status: row.status.as_str(),
        state: words::label(row.status.as_str()),
        total: words::money(Money::new(row.total, currency)),
    };
    Ok(rows.iter().map(row).collect())
}

#[derive(Template)]
#[template(path = "listing.html")]
struct One<'a> {
    frame: &'a Frame,
    id: String,
    name: String,
    about: String,
    is_active: bool,
    may_change: bool,
    may_order: bool,
    /// Name, price, stock.
    items: Vec<(String, String, String)>,
}

pub(crate) fn show_listing(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let (listing, _) = of(view, asking)?;
    let item = |item: &Item| {
        (
            item.name.clone(),
            words::money(item.price),
            item.inventory
                .map_or_else(|| "Unlimited".to_owned(), words::number),
        )
    };
    let page = One {
        frame,
        id: listing.id.to_string(),
        about: listing.description.clone(),
        is_active: listing.is_active,
        may_change: frame.may(&CHANGE_LISTING),
        may_order: frame.may(&ORDER) && listing.is_active && !listing.items.is_empty(),
        items: listing.items.iter().map(item).collect(),
        name: listing.name,
    };
    Ok(page.render()?)
}

pub(super) fn of(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Listing, (String, String)), Failure> {
    let listing: Listing = resources::one(view, asking.id::<kind::Listing>(0)?)?;
    let back = (
        asking.frame.at(&format!("store/{}", listing.id)),
        listing.name.clone(),
    );
    Ok((listing, back))
}

pub(crate) fn show_sale(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (listing, back) = of(view, asking)?;
    let (title, lead, button) = match listing.is_active {
        true => (
            format!("Take {} off sale?", listing.name),
            "It can no longer be ordered. Existing orders stay.",
            "Take it off sale",
        ),
        false => (
            format!("Put {} on sale?", listing.name),
            "It can be ordered again.",
            "Put it on sale",
        ),
    };
    Ask::new(&asking.frame, form, title, back)
        .lead(lead)
        .fields([Field::hidden("on", if listing.is_active { "no" } else { "yes" })])
        .button(button)
        .page()
}

pub(crate) fn send_sale(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (listing, (to, _)) = of(view, asking)?;
    let (id, is_active) = (listing.id, form.get("on") == "yes");
    Ok(Sent::Do(Box::new(move |act| {
        let listing = store::set_on_sale(act, id, is_active)?;
        let state = if is_active { "is on sale" } else { "is off sale" };
        Ok(Done::new(to.clone(), format!("{} {state}.", listing.name)))
    })))
}

pub(crate) fn show_order(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (listing, back) = of(view, asking)?;
    let items = listing.items.iter().map(|item| (item.name.clone(), stock(item)));
    Ask::new(&asking.frame, form, format!("Order {}", listing.name), back)
        .fields([
            Field::choice("item", "Item", items),
            Field::new("quantity", "How many", Shape::Line("number")).value("1"),
            Field::member("member", "Who buys")
                .hint("A member's name or e-mail address. Leave it empty for a guest."),
        ])
        .button("Take the order")
        .page()
}

pub(crate) fn send_order(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (listing, _) = of(view, asking)?;
    let quantity = form.get("quantity").parse();
    let line = OrderLine {
        item: form.required("item", "Choose an item.")?,
        quantity: quantity.map_err(|_| Problem::of("quantity", "Enter a number, such as 1."))?,
    };
    let member = who::member(view, form, "member")?;
    let (id, to) = (listing.id, asking.frame.at("orders"));
    Ok(Sent::Do(Box::new(move |act| {
        let order = store::order(act, id, member, std::slice::from_ref(&line))?;
        let said = format!("Took the order, {}.", words::money_in(order.total_amount));
        Ok(Done::new(format!("{to}/{}", order.id), said))
    })))
}
