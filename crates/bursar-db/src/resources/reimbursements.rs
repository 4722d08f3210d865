//! Reimbursements.

use bursar_domain::Stamps;
use bursar_domain::ids::ReimbursementId;
use bursar_domain::money::Money;
use bursar_domain::reimbursement::{Reimbursement, ReimbursementStatus};

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, date_opt, instant_opt, int, key_opt, table, text, text_opt};

table! {
    REIMBURSEMENTS = "reimbursements", list 4, filters ["status"], indexes ["status"],
    columns {
        member_id Bytes, recipient_organization_id Bytes, amount Int, currency Text, category Text, description Text,
        incurred_at Text, status Text, submitted_at Int, reviewed_at Int, paid_at Int, voided_at Int, receipts Text,
        payout_reference Text, reviewer_note Text,
    }
}

impl Stored for Reimbursement {
    fn table() -> &'static Table {
        &REIMBURSEMENTS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            key_opt(self.member_id),
            key_opt(self.recipient_organization_id),
            int(self.amount.minor),
            text(self.amount.currency.code()),
            text_opt(self.category.as_deref()),
            text(&self.description),
            date_opt(self.incurred_at),
            text(self.status.as_str()),
            instant_opt(self.submitted_at),
            instant_opt(self.reviewed_at),
            instant_opt(self.paid_at),
            instant_opt(self.voided_at),
            // A list of texts always has a JSON form.
            OwnedValue::Text(serde_json::to_string(&self.receipts).unwrap_or_default()),
            text_opt(self.payout_reference.as_deref()),
            text_opt(self.reviewer_note.as_deref()),
        ]
    }

    fn read(id: ReimbursementId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (member_id, recipient_organization_id, amount) = (row.id_opt()?, row.id_opt()?, row.int()?);
        let currency = row.currency()?;
        Ok(Self {
            id,
            member_id,
            recipient_organization_id,
            amount: Money::new(amount, currency),
            category: row.text_opt()?,
            description: row.text()?,
            incurred_at: row.date_opt()?,
            status: row.parsed(ReimbursementStatus::parse)?,
            submitted_at: row.instant_opt()?,
            reviewed_at: row.instant_opt()?,
            paid_at: row.instant_opt()?,
            voided_at: row.instant_opt()?,
            receipts: row.parsed(|json| serde_json::from_str(json).ok())?,
            payout_reference: row.text_opt()?,
            reviewer_note: row.text_opt()?,
            stamps,
        })
    }
}
