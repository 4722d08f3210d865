//! Payments.

use bursar_domain::Stamps;
use bursar_domain::ids::PaymentId;
use bursar_domain::money::Money;
use bursar_domain::payment::{Payment, PaymentStatus};

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, date_opt, instant_opt, int, key_opt, table, text, text_opt};

table! {
    PAYMENTS = "payments", list 3, filters ["member_id", "status"], indexes ["member", "status", "member_status"],
    columns {
        member_id Bytes, group_id Bytes, target_organization_id Bytes, description Text, amount Int, paid_to_date Int,
        currency Text, status Text, due_date Text, paid_at Int, voided_at Int, provider_id Text,
    }
}

impl Stored for Payment {
    fn table() -> &'static Table {
        &PAYMENTS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            key_opt(self.member_id),
            key_opt(self.group_id),
            key_opt(self.target_organization_id),
            text(&self.description),
            int(self.amount.minor),
            int(self.paid_to_date.minor),
            text(self.amount.currency.code()),
            text(self.status.as_str()),
            date_opt(self.due_date),
            instant_opt(self.paid_at),
            instant_opt(self.voided_at),
            text_opt(self.provider_id.as_deref()),
        ]
    }

    fn read(id: PaymentId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (member_id, group_id, target_organization_id) = (row.id_opt()?, row.id_opt()?, row.id_opt()?);
        let (description, amount, paid_to_date) = (row.text()?, row.int()?, row.int()?);
        let currency = row.currency()?;
        if paid_to_date > amount {
            return Err(DbError::Internal(format!(
                "payment {id} has more paid to date than its amount"
            )));
        }
        Ok(Self {
            id,
            member_id,
            group_id,
            target_organization_id,
            description,
            amount: Money::new(amount, currency),
            paid_to_date: Money::new(paid_to_date, currency),
            status: row.parsed(PaymentStatus::parse)?,
            due_date: row.date_opt()?,
            paid_at: row.instant_opt()?,
            voided_at: row.instant_opt()?,
            provider_id: row.text_opt()?,
            stamps,
        })
    }
}
