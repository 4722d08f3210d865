//! Cards.

use bursar_domain::Stamps;
use bursar_domain::card::{Card, CardStatus, LimitFrequency};
use bursar_domain::ids::CardId;
use bursar_domain::money::Money;

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, instant_opt, key_opt, money_opt, table, text, text_opt};

table! {
    CARDS = "cards", list 6, filters ["status"], indexes ["status"],
    columns {
        name Text, status Text, last4 Text, spend_limit Int, spend_limit_frequency Text, transaction_limit Int,
        assigned_member_id Bytes, invited_at Int, activated_at Int, canceled_at Int, currency Text,
    }
}

impl Stored for Card {
    fn table() -> &'static Table {
        &CARDS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            text_opt(self.name.as_deref()),
            text_opt(self.status.map(CardStatus::as_str)),
            text_opt(self.last4.as_deref()),
            money_opt(self.spend_limit),
            text_opt(self.spend_limit_frequency.map(LimitFrequency::as_str)),
            money_opt(self.transaction_limit),
            key_opt(self.assigned_member_id),
            instant_opt(self.invited_at),
            instant_opt(self.activated_at),
            instant_opt(self.canceled_at),
            text(self.currency.code()),
        ]
    }

    fn read(id: CardId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (name, status, last4) = (
            row.text_opt()?,
            row.parsed_opt(CardStatus::parse)?,
            row.text_opt()?,
        );
        let (spend_limit, spend_limit_frequency) = (row.int_opt()?, row.parsed_opt(LimitFrequency::parse)?);
        let (transaction_limit, assigned_member_id) = (row.int_opt()?, row.id_opt()?);
        let (invited_at, activated_at, canceled_at) =
            (row.instant_opt()?, row.instant_opt()?, row.instant_opt()?);
        let currency = row.currency()?;
        let money = |minor: Option<i64>| minor.map(|minor| Money::new(minor, currency));
        Ok(Self {
            id,
            name,
            status,
            last4,
            spend_limit: money(spend_limit),
            spend_limit_frequency,
            transaction_limit: money(transaction_limit),
            assigned_member_id,
            invited_at,
            activated_at,
            canceled_at,
            currency,
            stamps,
        })
    }
}
