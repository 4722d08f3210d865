//! Store orders: what somebody bought.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;
use crate::ids::{ListingId, MemberId};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Cell, Invariants, Surroundings, field_values, only_when, resource};
use crate::states::{Machine, Verb};
use crate::text::NAME;
use crate::time::Timestamp;
use crate::words;

words! {
    /// Where an order stands.
    OrderStatus {
        /// It is waiting for payment.
        Pending "pending",
        /// It was paid.
        Paid "paid",
        /// The goods were handed over.
        Fulfilled "fulfilled",
        /// It was cancelled before it was paid.
        Cancelled "cancelled",
        /// The money was returned.
        Refunded "refunded",
    }
}

impl Machine for OrderStatus {
    const NOUN: &'static str = "order";

    fn moves(self) -> &'static [Self] {
        match self {
            Self::Pending => &[Self::Paid, Self::Cancelled],
            Self::Paid => &[Self::Fulfilled, Self::Refunded],
            Self::Fulfilled => &[Self::Refunded],
            Self::Cancelled | Self::Refunded => &[],
        }
    }
}

words! {
    /// What an officer does to an order.
    OrderVerb {
        /// The money is here.
        Pay "paid",
        /// The goods are handed over.
        Fulfil "fulfilled",
        /// Calls it off before it is paid.
        Cancel "cancelled",
        /// The money goes back.
        Refund "refunded",
    }
}

impl Verb for OrderVerb {
    type State = OrderStatus;

    fn starts_from(self) -> &'static [OrderStatus] {
        match self {
            Self::Pay | Self::Cancel => &[OrderStatus::Pending],
            Self::Fulfil => &[OrderStatus::Paid],
            Self::Refund => &[OrderStatus::Paid, OrderStatus::Fulfilled],
        }
    }

    fn leads_to(self) -> OrderStatus {
        match self {
            Self::Pay => OrderStatus::Paid,
            Self::Fulfil => OrderStatus::Fulfilled,
            Self::Cancel => OrderStatus::Cancelled,
            Self::Refund => OrderStatus::Refunded,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    /// The item's name.
    pub item: String,
    pub quantity: i64,
}

/// The most of one item in one line.
pub const QUANTITY_MAX: i64 = 10_000;

impl OrderLine {
    fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            item: fields.text("item", NAME)?.required()?,
            quantity: fields.integer("quantity", 1..=QUANTITY_MAX)?.required()?,
        })
    }
}

resource! {
    /// A purchase in the store.
    Order = "storeOrder" {
        /// The listing that was bought.
        listing_id: Option<ListingId> => shown("listingId"),
        /// The member who bought it.
        member_id: Option<MemberId> => shown("memberId"),
        /// Total amount of the order.
        total_amount: Money => shown("totalAmount").required(),
        /// The organization's currency, as an ISO 4217 code.
        currency: Currency => shown("currency"),
        /// Status of the order.
        status: OrderStatus => shown("status"),
        /// When it was paid.
        paid_at: Option<Timestamp> => shown("paidAt"),
        /// What was bought, for the stock.
        lines: Vec<OrderLine> => hidden("lines"),
    }
}

field_values! {
    Vec<OrderLine>: List {
        cell: |lines| Cell::json(lines),
        load: |kept, _currency| serde_json::from_str(kept.text()?).ok(),
        take: |fields, spec, _currency| fields.objects(spec.name, OrderLine::read),
    }
}

impl Order {
    pub fn perform(&mut self, verb: OrderVerb, now: Timestamp) -> Result<(), Refusal> {
        self.status = verb.after(self.status)?;
        if self.status == OrderStatus::Paid {
            self.paid_at = Some(now);
        }
        Ok(())
    }
}

impl Invariants for Order {
    /// The change clock still moves it.
    const SHOWS_UPDATED_AT: bool = false;

    fn check(&self, around: &Surroundings) -> Result<(), Refusal> {
        let is_paid = match self.status {
            OrderStatus::Paid | OrderStatus::Fulfilled | OrderStatus::Refunded => true,
            OrderStatus::Pending | OrderStatus::Cancelled => false,
        };
        only_when("paidAt", self.paid_at, is_paid, "paid, fulfilled or refunded")?;
        around.past("paidAt", self.paid_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::states::testing::{assert_table, assert_verbs};

    #[test]
    fn transitions() {
        assert_table(
            OrderStatus::ALL,
            &[
                "pending → paid, cancelled",
                "paid → fulfilled, refunded",
                "fulfilled → refunded",
                "cancelled → ",
                "refunded → ",
            ],
        );
        assert_verbs(
            OrderVerb::ALL,
            OrderStatus::ALL,
            &[
                "paid: pending → paid",
                "fulfilled: paid → fulfilled",
                "cancelled: pending → cancelled",
                "refunded: paid, fulfilled → refunded",
            ],
        );
    }
}
