//! Reminders.

use bursar_domain::Stamps;
use bursar_domain::ids::ReminderId;
use bursar_domain::reminder::{Method, Reminder, ReminderStatus};

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, boolean, instant_opt, int_opt, key_opt, table, text, text_opt};

table! {
    REMINDERS = "reminders", list 5, filters ["status"], indexes ["status"],
    columns {
        target_member_id Bytes, target_organization_id Bytes, group_id Bytes, method Text, status Text, subject Text,
        body Text, scheduled_at Int, sent_at Int, is_recurring Int, recurring_interval_days Int,
        include_payment_info Int, is_held Int,
    }
}

impl Stored for Reminder {
    fn table() -> &'static Table {
        &REMINDERS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            key_opt(self.target_member_id),
            key_opt(self.target_organization_id),
            key_opt(self.group_id),
            text(self.method.as_str()),
            text(self.status.as_str()),
            text_opt(self.subject.as_deref()),
            text_opt(self.body.as_deref()),
            instant_opt(self.scheduled_at),
            instant_opt(self.sent_at),
            boolean(self.is_recurring),
            int_opt(self.recurring_interval_days),
            boolean(self.include_payment_info),
            boolean(self.is_held),
        ]
    }

    fn read(id: ReminderId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        Ok(Self {
            id,
            target_member_id: row.id_opt()?,
            target_organization_id: row.id_opt()?,
            group_id: row.id_opt()?,
            method: row.parsed(Method::parse)?,
            status: row.parsed(ReminderStatus::parse)?,
            subject: row.text_opt()?,
            body: row.text_opt()?,
            scheduled_at: row.instant_opt()?,
            sent_at: row.instant_opt()?,
            is_recurring: row.boolean()?,
            recurring_interval_days: row.int_opt()?,
            include_payment_info: row.boolean()?,
            is_held: row.boolean()?,
            stamps,
        })
    }
}
