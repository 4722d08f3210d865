//! Store orders.

use bursar_domain::Stamps;
use bursar_domain::ids::OrderId;
use bursar_domain::money::Money;
use bursar_domain::order::{Order, OrderStatus};

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, instant_opt, int, key_opt, table, text};

table! {
    ORDERS = "orders", list 9, filters [], indexes [],
    columns { listing_id Bytes, member_id Bytes, total_amount Int, currency Text, status Text, paid_at Int, lines Text, }
}

impl Stored for Order {
    fn table() -> &'static Table {
        &ORDERS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            key_opt(self.listing_id),
            key_opt(self.member_id),
            int(self.total_amount.minor),
            text(self.total_amount.currency.code()),
            text(self.status.as_str()),
            instant_opt(self.paid_at),
            // Texts and numbers always have a JSON form.
            OwnedValue::Text(serde_json::to_string(&self.lines).unwrap_or_default()),
        ]
    }

    fn read(id: OrderId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (listing_id, member_id, total) = (row.id_opt()?, row.id_opt()?, row.int()?);
        let currency = row.currency()?;
        Ok(Self {
            id,
            listing_id,
            member_id,
            total_amount: Money::new(total, currency),
            status: row.parsed(OrderStatus::parse)?,
            paid_at: row.instant_opt()?,
            lines: row.parsed(|json| serde_json::from_str(json).ok())?,
            stamps,
        })
    }
}
