//! Groups: members who owe the same dues.

use serde::Serialize;

use crate::fields::Fields;
use crate::ids::{GroupId, Id, kind};
use crate::money::{Currency, Money};
use crate::refusal::Refusal;
use crate::resource::{Reference, Resource, Stamps, Writer};
use crate::text::{NAME, NOTE};
use crate::time::Date;
use crate::words;

words! {
    /// How often dues come back.
    Interval {
        /// Every seven days.
        Weekly "weekly",
        /// Every month.
        Monthly "monthly",
        /// Every three months.
        Quarterly "quarterly",
        /// Every six months.
        Semiannual "semiannual",
        /// Every year.
        Annual "annual",
    }
}

impl Interval {
    /// The due date after `due`, by the calendar; `anchor_day` is the day of the month the series began on.
    pub fn after(self, due: Date, anchor_day: i8) -> Date {
        match self {
            Self::Weekly => due.plus_days(7),
            Self::Monthly => due.plus_months(1, anchor_day),
            Self::Quarterly => due.plus_months(3, anchor_day),
            Self::Semiannual => due.plus_months(6, anchor_day),
            Self::Annual => due.plus_months(12, anchor_day),
        }
    }
}

/// A group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Names it.
    pub id: GroupId,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What each member owes a period; none when the group has no dues.
    pub amount_due: Option<Money>,
    /// When the next dues fall due.
    pub due_date: Option<Date>,
    /// Whether dues come back.
    pub is_recurring: bool,
    /// How often; none unless recurring.
    pub recurring_interval: Option<Interval>,
    /// The day of the month that the series of due dates began on. Not part of any representation.
    pub due_anchor_day: Option<i8>,
    /// Dues that fell due before this day are not raised. Not part of any representation.
    pub dues_from: Option<Date>,
    /// How many active members it has.
    pub member_count: i64,
    /// The organization's currency, which its dues are in.
    pub currency: Currency,
    /// When it was made and changed.
    pub stamps: Stamps,
}

/// The fields that callers see and cannot set.
pub const READ_ONLY: &[&str] = &[
    "amountDue",
    "dueDate",
    "isRecurring",
    "recurringInterval",
    "memberCount",
];

/// What a caller gives a new group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewGroup {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub description: String,
}

impl NewGroup {
    /// Reads a request's body.
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        refuse_read_only(fields)?;
        Ok(Self {
            name: fields.text("name", NAME)?.required()?,
            description: fields.text("description", NOTE)?.optional().unwrap_or_default(),
        })
    }
}

/// What a caller may change of a group. `None` keeps the value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupChange {
    /// What people call it.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
}

impl GroupChange {
    /// Reads a request's body; null is refused.
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        refuse_read_only(fields)?;
        Ok(Self {
            name: fields.text("name", NAME)?.unless_null()?,
            description: fields.text("description", NOTE)?.unless_null()?,
        })
    }

    /// The group so changed, or `None` when it stays as it is.
    pub fn apply(self, group: &Group) -> Option<Group> {
        let mut changed = group.clone();
        changed.name = self.name.unwrap_or(changed.name);
        changed.description = self.description.unwrap_or(changed.description);
        (changed != *group).then_some(changed)
    }
}

fn refuse_read_only(fields: &Fields<'_>) -> Result<(), Refusal> {
    match READ_ONLY.iter().find(|field| fields.has(field)) {
        Some(field) => Err(Refusal::invalid(
            *field,
            "is read-only through the API; leave it out",
        )),
        None => Ok(()),
    }
}

impl Resource for Group {
    type Kind = kind::Group;
    const TYPE: &'static str = "group";

    fn blank(id: Id<Self::Kind>, currency: Currency, stamps: Stamps) -> Self {
        Self {
            id,
            name: String::new(),
            description: String::new(),
            amount_due: None,
            due_date: None,
            is_recurring: false,
            recurring_interval: None,
            due_anchor_day: None,
            dues_from: None,
            member_count: 0,
            currency,
            stamps,
        }
    }

    fn id(&self) -> GroupId {
        self.id
    }

    fn stamps(&self) -> Stamps {
        self.stamps
    }

    fn stamps_mut(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.field("name", &self.name);
        out.field("description", &self.description);
        out.field("amountDue", &self.amount_due);
        out.field("dueDate", &self.due_date);
        out.field("isRecurring", &self.is_recurring);
        out.field("recurringInterval", &self.recurring_interval);
        out.derived("memberCount", &self.member_count);
        out.stamps(self.stamps);
    }

    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        fields.text("name", NAME)?.fill(&mut self.name)?;
        fields.text("description", NOTE)?.set(&mut self.description)?;
        fields
            .money("amountDue", self.currency)?
            .set_or_null(&mut self.amount_due);
        let due_before = self.due_date;
        fields.date("dueDate")?.set_or_null(&mut self.due_date);
        if self.due_date != due_before {
            self.due_anchor_day = self.due_date.map(Date::day);
        }
        fields.boolean("isRecurring")?.set(&mut self.is_recurring)?;
        fields
            .word("recurringInterval", Interval::parse, Interval::WORDS)?
            .set_or_null(&mut self.recurring_interval);
        fields.skip("memberCount");
        match (self.is_recurring, self.recurring_interval) {
            (true, None) => Err(Refusal::invalid(
                "recurringInterval",
                "is required when isRecurring is true",
            )),
            (false, Some(_)) => Err(Refusal::invalid(
                "recurringInterval",
                "must be null when isRecurring is false",
            )),
            (true, Some(_)) | (false, None) => Ok(()),
        }
    }

    fn references(&self, _: &mut dyn FnMut(Reference)) {}
}
