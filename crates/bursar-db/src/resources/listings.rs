//! Store listings. Items are kept as JSON: nothing asks for one alone.

use bursar_domain::Stamps;
use bursar_domain::ids::ListingId;
use bursar_domain::listing::Listing;

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, boolean, table, text};

table! {
    LISTINGS = "listings", list 8, filters [], indexes [],
    columns { name Text, description Text, currency Text, is_active Int, items Text, }
}

impl Stored for Listing {
    fn table() -> &'static Table {
        &LISTINGS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            text(&self.name),
            text(&self.description),
            text(self.currency.code()),
            boolean(self.is_active),
            // Texts, amounts and numbers always have a JSON form.
            OwnedValue::Text(serde_json::to_string(&self.items).unwrap_or_default()),
        ]
    }

    fn read(id: ListingId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (name, description, currency) = (row.text()?, row.text()?, row.currency()?);
        let is_active = row.boolean()?;
        let items = row.parsed(|json| Self::read_items(json, currency).ok())?;
        Ok(Self {
            id,
            name,
            description,
            currency,
            is_active,
            items,
            stamps,
        })
    }
}
