//! Campaigns.

use bursar_domain::Stamps;
use bursar_domain::campaign::{Campaign, CampaignStatus};
use bursar_domain::ids::CampaignId;
use bursar_domain::money::Money;

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, boolean, date_opt, money_opt, table, text, text_opt};

table! {
    CAMPAIGNS = "campaigns", list 7, filters [], indexes [],
    columns { name Text, note Text, goal_amount Int, currency Text, start_date Text, end_date Text, status Text, is_held Int, }
}

impl Stored for Campaign {
    fn table() -> &'static Table {
        &CAMPAIGNS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            text(&self.name),
            text_opt(self.note.as_deref()),
            money_opt(self.goal_amount),
            text(self.currency.code()),
            date_opt(self.start_date),
            date_opt(self.end_date),
            text(self.status.as_str()),
            boolean(self.is_held),
        ]
    }

    fn read(id: CampaignId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (name, note, goal_amount) = (row.text()?, row.text_opt()?, row.int_opt()?);
        let currency = row.currency()?;
        Ok(Self {
            id,
            name,
            note,
            goal_amount: goal_amount.map(|minor| Money::new(minor, currency)),
            currency,
            start_date: row.date_opt()?,
            end_date: row.date_opt()?,
            status: row.parsed(CampaignStatus::parse)?,
            is_held: row.boolean()?,
            stamps,
        })
    }
}
