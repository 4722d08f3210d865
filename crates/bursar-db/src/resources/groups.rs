//! Groups.

use bursar_domain::Stamps;
use bursar_domain::group::{Group, Interval};
use bursar_domain::ids::GroupId;
use bursar_domain::money::Money;

use crate::engine::OwnedValue;
use crate::error::DbError;
use crate::table::{
    Columns, Stored, Table, boolean, date_opt, int, int_opt, money_opt, table, text, text_opt,
};

table! {
    GROUPS = "groups", list 2, filters [], indexes [],
    columns {
        name Text, description Text, amount_due Int, due_date Text, is_recurring Int, recurring_interval Text,
        due_anchor_day Int, dues_from Text, member_count Int, currency Text,
    }
}

impl Stored for Group {
    fn table() -> &'static Table {
        &GROUPS
    }

    fn columns(&self) -> Vec<OwnedValue> {
        vec![
            text(&self.name),
            text(&self.description),
            money_opt(self.amount_due),
            date_opt(self.due_date),
            boolean(self.is_recurring),
            text_opt(self.recurring_interval.map(Interval::as_str)),
            int_opt(self.due_anchor_day.map(i64::from)),
            date_opt(self.dues_from),
            int(self.member_count),
            text(self.currency.code()),
        ]
    }

    fn read(id: GroupId, stamps: Stamps, row: &mut Columns<'_, '_>) -> Result<Self, DbError> {
        let (name, description, amount_due) = (row.text()?, row.text()?, row.int_opt()?);
        let (due_date, is_recurring) = (row.date_opt()?, row.boolean()?);
        let (recurring_interval, anchor, dues_from) =
            (row.parsed_opt(Interval::parse)?, row.int_opt()?, row.date_opt()?);
        let member_count = row.int()?;
        let currency = row.currency()?;
        Ok(Self {
            id,
            name,
            description,
            amount_due: amount_due.map(|minor| Money::new(minor, currency)),
            due_date,
            is_recurring,
            recurring_interval,
            due_anchor_day: anchor.and_then(|day| i8::try_from(day).ok()),
            dues_from,
            member_count,
            currency,
            stamps,
        })
    }
}
