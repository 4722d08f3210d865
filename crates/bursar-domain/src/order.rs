//! Store orders: what somebody bought.

use serde::{Deserialize, Serialize};

use crate::fields::Fields;
use crate::ids::{Id, ListingId, MemberId, OrderId, kind};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Reference, Resource, Stamps, Surroundings, Writer, only_when};
use crate::states::{Machine, Verb};
use crate::text::NAME;
use crate::time::Timestamp;
use crate::words;

words! {
    /// Where an order stands.
    OrderStatus {
        /// Waits for the money.
        Pending "pending",
        /// The money is here.
        Paid "paid",
        /// The goods are handed over.
        Fulfilled "fulfilled",
        /// Called off before it was paid.
        Cancelled "cancelled",
        /// The money went back.
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

/// So many of one item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    /// The item's name.
    pub item: String,
    /// How many.
    pub quantity: i64,
}

/// The most of one item that one line can have.
pub const QUANTITY_MAX: i64 = 10_000;

impl OrderLine {
    fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            item: fields.text("item", NAME)?.required()?,
            quantity: fields.integer("quantity", 1..=QUANTITY_MAX)?.required()?,
        })
    }
}

/// A store order. Its representation has no `updatedAt`; the change clock moves it all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Names it.
    pub id: OrderId,
    /// What was bought from.
    pub listing_id: Option<ListingId>,
    /// Who bought.
    pub member_id: Option<MemberId>,
    /// What it costs in all.
    pub total_amount: Money,
    /// Where it stands.
    pub status: OrderStatus,
    /// When it was paid.
    pub paid_at: Option<Timestamp>,
    /// What was bought, for the stock; hidden in v1.
    pub lines: Vec<OrderLine>,
    /// When it was made and changed.
    pub stamps: Stamps,
}

impl Order {
    /// Does this to it at `now`.
    pub fn perform(&mut self, verb: OrderVerb, now: Timestamp) -> Result<(), Refusal> {
        self.status = verb.after(self.status)?;
        if self.status == OrderStatus::Paid {
            self.paid_at = Some(now);
        }
        Ok(())
    }
}

impl Resource for Order {
    type Kind = kind::Order;
    const TYPE: &'static str = "storeOrder";

    fn blank(id: Id<Self::Kind>, currency: Currency, stamps: Stamps) -> Self {
        Self {
            id,
            listing_id: None,
            member_id: None,
            total_amount: Money::zero(currency),
            status: OrderStatus::Pending,
            paid_at: None,
            lines: Vec::new(),
            stamps,
        }
    }

    fn id(&self) -> OrderId {
        self.id
    }

    fn stamps(&self) -> Stamps {
        self.stamps
    }

    fn stamps_mut(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.field("listingId", &self.listing_id);
        out.field("memberId", &self.member_id);
        out.field("totalAmount", &self.total_amount);
        out.field("currency", &self.total_amount.currency);
        out.field("status", &self.status);
        out.field("paidAt", &self.paid_at);
        out.hidden("lines", &self.lines);
        out.field("createdAt", &self.stamps.created_at);
        out.hidden("updatedAt", &self.stamps.updated_at);
    }

    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        let currency = self.total_amount.currency;
        fields.own_currency("currency", currency)?;
        fields.id("listingId")?.set_or_null(&mut self.listing_id);
        fields.id("memberId")?.set_or_null(&mut self.member_id);
        fields
            .money("totalAmount", currency)?
            .fill(&mut self.total_amount)?;
        fields
            .word("status", OrderStatus::parse, OrderStatus::WORDS)?
            .set(&mut self.status)?;
        fields.timestamp("paidAt")?.set_or_null(&mut self.paid_at);
        fields.objects("lines", OrderLine::read)?.set(&mut self.lines)
    }

    fn check(&self, around: &Surroundings) -> Result<(), Refusal> {
        let is_paid = match self.status {
            OrderStatus::Paid | OrderStatus::Fulfilled | OrderStatus::Refunded => true,
            OrderStatus::Pending | OrderStatus::Cancelled => false,
        };
        only_when("paidAt", self.paid_at, is_paid, "paid, fulfilled or refunded")?;
        around.past("paidAt", self.paid_at)
    }

    fn references(&self, visit: &mut dyn FnMut(Reference)) {
        if let Some(id) = self.listing_id {
            visit(Reference::Listing("listingId", id));
        }
        if let Some(id) = self.member_id {
            visit(Reference::Member("memberId", id));
        }
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
