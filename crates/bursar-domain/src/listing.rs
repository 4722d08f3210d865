//! Store listings: what an organization sells. v1 hides items and stock.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde::Serialize;

use crate::fields::Fields;
use crate::money::{Currency, Money, decimal};
use crate::order::{OrderLine, QUANTITY_MAX};
use crate::refusal::Refusal;
use crate::resource::{Cell, Invariants, Surroundings, field_values, resource};
use crate::text::{NAME, NOTE, TextRule};

/// Checked both when a listing is read and when it is written.
const INVENTORY_MAX: i64 = 1_000_000_000;
/// For names in the database: see [`Listing::read_items`].
const KEPT_NAME: TextRule = TextRule {
    min: 0,
    max: usize::MAX,
    lines: false,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Item {
    pub name: String,
    pub price: Money,
    /// `None` if stock is not counted.
    pub inventory: Option<i64>,
}

impl Item {
    /// The same rule as for reading a listing. The error reads on after the field's name.
    pub fn check_inventory(inventory: Option<i64>) -> Result<(), String> {
        match inventory {
            Some(left) if !(0..=INVENTORY_MAX).contains(&left) => {
                Err(format!("must have a stock from 0 to {INVENTORY_MAX}, got {left}"))
            }
            Some(_) | None => Ok(()),
        }
    }
}

resource! {
    /// Something the organization sells.
    Listing = "storeListing" {
        /// Name of the listing.
        name: String => shown("name").text(NAME).required(),
        /// Description of what is sold. Empty if there is none.
        description: String => shown("description").text(NOTE),
        /// The organization's currency, as an ISO 4217 code.
        currency: Currency => shown("currency"),
        /// Whether it is on sale.
        is_active: bool = true => shown("isActive"),
        /// What can be bought.
        items: Vec<Item> => hidden("items"),
    }
}

field_values! {
    Vec<Item>: List {
        cell: |items| Cell::json(items),
        load: |kept, currency| Listing::read_items(kept.text()?, currency).ok(),
        take: |fields, spec, currency| {
            fields.objects(spec.name, |item| read_item(item, currency, NAME, 0..=INVENTORY_MAX))
        },
    }
}

impl Listing {
    /// Reads the items as the database keeps them. A name or a stock that breaks a rule is read all the same,
    /// because rules get stricter: it can still be listed, changed and reported by `bursar check`.
    pub fn read_items(json: &str, currency: Currency) -> Result<Vec<Item>, Refusal> {
        let wrapped = format!("{{\"items\":{json}}}");
        Fields::parse(&wrapped)?
            .objects("items", |item| {
                read_item(item, currency, KEPT_NAME, i64::MIN..=i64::MAX)
            })?
            .required()
    }
}

impl Listing {
    /// Removes items from the stock and returns their total price. The stock never goes below zero.
    pub fn sell(&mut self, lines: &[OrderLine]) -> Result<Money, Refusal> {
        if !self.is_active {
            return Err(Refusal::conflict(format!(
                "{} is not on sale; activate the listing first",
                self.name
            )));
        }
        let mut total = 0i128;
        for line in lines {
            let item = self.item(line)?;
            let left = item.inventory.map(|left| left.saturating_sub(line.quantity));
            if left.is_some_and(|left| left < 0) {
                let message = format!(
                    "{} of {} are left, and {} were asked for",
                    item.inventory.unwrap_or(0),
                    item.name,
                    line.quantity
                );
                return Err(Refusal::conflict(message));
            }
            item.inventory = left;
            total += i128::from(item.price.minor) * i128::from(line.quantity);
        }
        Money::within_limit(total, self.currency).map_err(|rule| {
            let total = decimal(total, self.currency);
            Refusal::conflict(format!(
                "the order's total {rule}, got {total}; order less at once"
            ))
        })
    }

    /// Returns items to the stock, except those that the listing no longer has.
    pub fn take_in(&mut self, lines: &[OrderLine]) -> Result<(), Refusal> {
        for line in lines {
            let Ok(item) = self.item(line) else { continue };
            let Some(left) = item.inventory else { continue };
            let left = left.saturating_add(line.quantity);
            Item::check_inventory(Some(left)).map_err(|rule| {
                Refusal::conflict(format!(
                    "{} {rule} with what comes back; lower its stock with `bursar listing set` first",
                    item.name
                ))
            })?;
            item.inventory = Some(left);
        }
        Ok(())
    }

    fn item(&mut self, line: &OrderLine) -> Result<&mut Item, Refusal> {
        let names: Vec<String> = self.items.iter().map(|item| item.name.clone()).collect();
        let found = self.items.iter_mut().find(|item| item.name == line.item);
        let item = found.ok_or_else(|| {
            Refusal::invalid(
                "item",
                format!("must be one of {}, got {:?}", names.join(", "), line.item),
            )
        })?;
        if (1..=QUANTITY_MAX).contains(&line.quantity) {
            return Ok(item);
        }
        Err(Refusal::invalid(
            "quantity",
            format!("must be from 1 to {QUANTITY_MAX}, got {}", line.quantity),
        ))
    }
}

fn read_item(
    fields: &mut Fields<'_>,
    currency: Currency,
    name: TextRule,
    stock: RangeInclusive<i64>,
) -> Result<Item, Refusal> {
    Ok(Item {
        name: fields.text("name", name)?.required()?,
        price: fields.money("price", currency)?.required()?,
        inventory: fields.integer("inventory", stock)?.optional(),
    })
}

impl Invariants for Listing {
    fn check(&self, _: &Surroundings) -> Result<(), Refusal> {
        let mut names = HashSet::with_capacity(self.items.len());
        match self.items.iter().find(|item| !names.insert(item.name.as_str())) {
            Some(item) => Err(Refusal::invalid(
                "items",
                format!("must have names of their own, got {:?} twice", item.name),
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ListingId;
    use crate::resource::{Resource, Stamps};

    #[test]
    fn what_a_database_keeps_is_read_by_no_rule_that_is_newer() {
        let long = "x".repeat(200);
        for name in ["\u{200b}", &long] {
            let json = format!(r#"[{{"name":"{name}","price":"1.00","inventory":-5}}]"#);
            let items = Listing::read_items(&json, Currency::USD).unwrap();
            assert_eq!((items[0].name.as_str(), items[0].inventory), (name, Some(-5)));
        }
    }

    #[test]
    fn a_stock_that_no_rule_allows_sells_nothing() {
        let item = |inventory| Item {
            name: "M".to_owned(),
            price: Money::new(100, Currency::USD),
            inventory: Some(inventory),
        };
        let stamps = Stamps::at(crate::Timestamp::from_micros(1));
        let mut listing = Listing::blank(ListingId::from_bits(1), Currency::USD, stamps);
        let lines = [OrderLine {
            item: "M".to_owned(),
            quantity: 1,
        }];
        listing.items = vec![item(i64::MIN)];
        assert!(listing.sell(&lines).unwrap_err().message().contains("are left"));
        listing.items = vec![item(i64::MAX)];
        assert!(
            listing
                .take_in(&lines)
                .unwrap_err()
                .message()
                .contains("bursar listing set")
        );
    }
}
