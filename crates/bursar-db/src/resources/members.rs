//! Members. The ids of a member's groups lie in its row; `memberships` is the way from a group to its members.

use bursar_domain::Stamps;
use bursar_domain::ids::MemberId;
use bursar_domain::member::Member;

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{Columns, Stored, Table, boolean, date_opt, table, text, text_opt};

table! {
    MEMBERS = "members", list 1, filters ["is_active"], indexes ["active"],
    columns {
        first_name Text, last_name Text, email Text, phone Text, is_active Int, join_date Text, group_ids Bytes,
    }
}

impl Stored for Member {
    fn table() -> &'static Table {
        &MEMBERS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            text(&self.first_name),
            text(&self.last_name),
            text(&self.email),
            text_opt(self.phone.as_deref()),
            boolean(self.is_active),
            date_opt(self.join_date),
            OwnedValue::Bytes(self.groups.iter().flat_map(|id| id.to_bytes()).collect()),
        ]
    }

    fn read(id: MemberId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        Ok(Self {
            id,
            first_name: row.text()?,
            last_name: row.text()?,
            email: row.text()?,
            phone: row.text_opt()?,
            is_active: row.boolean()?,
            join_date: row.date_opt()?,
            groups: row.ids()?,
            stamps,
        })
    }
}
