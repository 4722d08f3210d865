//! Makes a listing, or changes one with its items and their stock.

use bursar_app::store::{self, ListingChange};
use bursar_app::{View, resources};
use bursar_domain::listing::{Item, Listing};
use bursar_domain::money::Currency;

use super::ask::{Ask, Field};
use super::seen::Seen;
use super::store::of;
use crate::asking::Asking;
use crate::failure::{Failure, Problem};
use crate::forms::{Done, Form, Sent, without_groups};

/// The hidden field with the items that the form was opened with.
const WAS: &str = "was-item";

/// One a line, as people write them.
fn lines(items: &[Item]) -> String {
    let line = |item: &Item| match item.inventory {
        Some(left) => format!("{} = {} : {left}", item.name, item.price),
        None => format!("{} = {}", item.name, item.price),
    };
    items.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Orders change the stock, and are no change of the listing: see [`keep_stock`].
fn fields(listing: Option<&Listing>) -> Vec<Field> {
    let items = listing.map_or(&[][..], |listing| &listing.items);
    let prices = items
        .iter()
        .map(|item| format!("{} = {}\n", item.name, item.price));
    vec![
        Field::text("name", "Name").value(listing.map_or("", |listing| listing.name.as_str())),
        Field::area("description", "Description")
            .value(listing.map_or("", |listing| listing.description.as_str())),
        Field::area("item", "Items")
            .hint("One per line: name = price, or name = price : stock. For example M = 15.00 : 20")
            .value(lines(items))
            .changes_with(prices.collect::<String>()),
    ]
}

/// Name, price as text, stock.
type NewItem = (String, String, Option<i64>);

fn items(text: &str, currency: Currency) -> Result<Vec<NewItem>, Problem> {
    let mut items = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let wrong = || {
            Problem::of(
                "item",
                format!("\u{201c}{line}\u{201d} is not like M = 15.00 : 20."),
            )
        };
        let (name, rest) = line.split_once('=').ok_or_else(wrong)?;
        let (price, stock) = match rest.split_once(':') {
            None => (rest, None),
            Some((price, stock)) => (price, Some(stock.trim().parse().map_err(|_| wrong())?)),
        };
        let price = without_groups(price.trim(), currency).map_err(|problem| Problem::of("item", problem))?;
        items.push((name.trim().to_owned(), price, stock));
    }
    Ok(items)
}

fn read(asking: &Asking, form: &Form) -> Result<ListingChange, Failure> {
    let items = items(form.get("item"), asking.frame.place.organization.currency)?;
    if items.is_empty() {
        return Err(Problem::of("item", "Enter at least one item, such as M = 15.00 : 20.").into());
    }
    Ok(ListingChange {
        name: Some(form.required("name", "Enter a name.")?),
        description: Some(form.get("description").to_owned()),
        items,
    })
}

/// A stock that was not typed anew stays what it is by now. False if one was, and orders have changed it too.
fn keep_stock(typed: &mut [NewItem], was: &[NewItem], now: &[Item]) -> bool {
    typed.iter_mut().all(|(name, _, stock)| {
        let was = was.iter().find(|(other, ..)| other == name);
        let now = now.iter().find(|item| item.name == *name);
        let (Some((.., was)), Some(now)) = (was, now) else {
            return true;
        };
        if stock == was {
            *stock = now.inventory;
        }
        *stock == now.inventory || *was == now.inventory
    })
}

/// What the form has seen of the items. Once it shows what is there now, that is it for a stock that was typed anew.
fn was(form: &Form, listing: &Listing, currency: Currency) -> String {
    let now = lines(&listing.items);
    if !form.has(WAS) {
        return now;
    }
    let (Ok(was), Ok(typed), true) = (
        items(form.get(WAS), currency),
        items(form.get("item"), currency),
        form.is_outdated(),
    ) else {
        return form.get(WAS).to_owned();
    };
    let is_same = |one: &&NewItem| {
        typed
            .iter()
            .any(|(name, _, stock)| *name == one.0 && *stock == one.2)
    };
    let line = |item: &Item| {
        let seen = was.iter().find(|(name, ..)| *name == item.name).filter(is_same);
        Item {
            inventory: seen.map_or(item.inventory, |(.., stock)| *stock),
            ..item.clone()
        }
    };
    lines(&listing.items.iter().map(line).collect::<Vec<_>>())
}

pub(crate) fn show_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let back = (asking.frame.at("store"), "Store".to_owned());
    Ask::new(&asking.frame, form, "Create a listing", back)
        .lead("It is on sale immediately.")
        .fields(fields(None))
        .button("Put it on sale")
        .page()
}

pub(crate) fn send_new(_: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (new, to) = (read(asking, form)?, asking.frame.at("store"));
    Ok(Sent::Do(Box::new(move |act| {
        let listing = store::create_listing(act, &new)?;
        let said = format!("{} is on sale.", listing.name);
        Ok(Done::new(format!("{to}/{}", listing.id), said))
    })))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<String, Failure> {
    let (listing, back) = of(view, asking)?;
    let currency = asking.frame.place.organization.currency;
    Ask::new(&asking.frame, form, format!("Edit {}", listing.name), back)
        .fields(fields(Some(&listing)))
        .fields([Field::hidden(WAS, was(form, &listing, currency))])
        .editing(view.now())
        .page()
}

pub(crate) fn send(view: &mut View<'_, '_>, asking: &Asking, form: &Form) -> Result<Sent, Failure> {
    let (listing, (to, _)) = of(view, asking)?;
    let (id, change) = (listing.id, read(asking, form)?);
    let (seen, was) = (
        Seen::new(asking, form, id),
        items(form.get(WAS), asking.frame.place.organization.currency)?,
    );
    Ok(Sent::Do(Box::new(move |act| {
        seen.check(act, |view| Ok(fields(Some(&resources::one(view, id)?))))?;
        let now: Listing = resources::one(&mut act.view(), id)?;
        let mut change = change.clone();
        if !keep_stock(&mut change.items, &was, &now.items) {
            return Err(seen.refusal(&mut act.view())?.into());
        }
        let listing = store::set_listing(act, id, &change)?;
        Ok(Done::new(to.clone(), format!("Saved {}.", listing.name)))
    })))
}

#[cfg(test)]
mod tests {
    use bursar_domain::money::{Currency, Money};

    use super::*;

    #[test]
    fn a_stock_is_not_set_back() {
        let now = |left| {
            vec![Item {
                name: "M".to_owned(),
                price: Money::new(1500, Currency::USD),
                inventory: left,
            }]
        };
        for (typed, was, left, kept) in [
            ("M = 15 : 20", "M = 15.00 : 20", Some(19), Some(Some(19))),
            ("M = 15 : 50", "M = 15.00 : 20", Some(20), Some(Some(50))),
            ("M = 15", "M = 15.00 : 20", Some(20), Some(None)),
            ("M = 15 : 50", "M = 15.00 : 20", Some(19), None),
            ("M = 15 : 19", "M = 15.00 : 20", Some(19), Some(Some(19))),
            ("L = 15 : 5", "M = 15.00 : 20", Some(19), Some(Some(5))),
            ("M = 15 : 20", "", Some(19), Some(Some(20))),
        ] {
            let mut typed = items(typed, Currency::USD).unwrap();
            let is_kept = keep_stock(&mut typed, &items(was, Currency::USD).unwrap(), &now(left));
            assert_eq!(is_kept.then(|| typed[0].2), kept, "{was}");
        }
    }
}
