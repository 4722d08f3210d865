//! Members: the people of an organization. They are archived, never deleted.

use serde::Serialize;

use crate::fields::Fields;
use crate::ids::{GroupId, Id, MemberId, kind};
use crate::money::Currency;
use crate::refusal::Refusal;
use crate::resource::{Reference, Resource, Stamps, Surroundings, Writer};
use crate::text::NAME;
use crate::time::Date;

/// A member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Names it.
    pub id: MemberId,
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// Where to write to; families share one.
    pub email: String,
    /// Where to send an SMS; hidden in v1.
    pub phone: Option<String>,
    /// False when archived.
    pub is_active: bool,
    /// When the member joined.
    pub join_date: Option<Date>,
    /// The groups it is in, ascending.
    pub groups: Vec<GroupId>,
    /// When it was made and changed.
    pub stamps: Stamps,
}

/// What a caller may change of a member. `None` keeps the value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberChange {
    /// Given name.
    pub first_name: Option<String>,
    /// Family name.
    pub last_name: Option<String>,
    /// Where to write to.
    pub email: Option<String>,
    /// False archives.
    pub is_active: Option<bool>,
}

impl MemberChange {
    /// Reads a request's body; null is refused, because none of these can be null.
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            first_name: fields.text("firstName", NAME)?.unless_null()?,
            last_name: fields.text("lastName", NAME)?.unless_null()?,
            email: fields.email("email")?.unless_null()?,
            is_active: fields.boolean("isActive")?.unless_null()?,
        })
    }

    /// Whether the member differs after it, and the member so changed. Stamps are the caller's to move.
    pub fn apply(self, member: &Member) -> Option<Member> {
        let mut changed = member.clone();
        set(&mut changed.first_name, self.first_name);
        set(&mut changed.last_name, self.last_name);
        set(&mut changed.email, self.email);
        set(&mut changed.is_active, self.is_active);
        (changed != *member).then_some(changed)
    }
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

impl Resource for Member {
    type Kind = kind::Member;
    const TYPE: &'static str = "member";

    fn blank(id: Id<Self::Kind>, _: Currency, stamps: Stamps) -> Self {
        Self {
            id,
            first_name: String::new(),
            last_name: String::new(),
            email: String::new(),
            phone: None,
            is_active: true,
            join_date: None,
            groups: Vec::new(),
            stamps,
        }
    }

    fn id(&self) -> MemberId {
        self.id
    }

    fn stamps(&self) -> Stamps {
        self.stamps
    }

    fn stamps_mut(&mut self) -> &mut Stamps {
        &mut self.stamps
    }

    fn write(&self, out: &mut Writer<'_>) {
        out.field("firstName", &self.first_name);
        out.field("lastName", &self.last_name);
        out.field("email", &self.email);
        out.hidden("phone", &self.phone);
        out.field("isActive", &self.is_active);
        out.field("joinDate", &self.join_date);
        out.field("groups", &self.groups);
        out.stamps(self.stamps);
    }

    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        fields.text("firstName", NAME)?.fill(&mut self.first_name)?;
        fields.text("lastName", NAME)?.fill(&mut self.last_name)?;
        fields.email("email")?.fill(&mut self.email)?;
        fields.phone("phone")?.set_or_null(&mut self.phone);
        fields.boolean("isActive")?.set(&mut self.is_active)?;
        fields.date("joinDate")?.set_or_null(&mut self.join_date);
        fields.ids("groups")?.set(&mut self.groups)
    }

    fn check(&self, _: &Surroundings) -> Result<(), Refusal> {
        Ok(())
    }

    fn references(&self, visit: &mut dyn FnMut(Reference)) {
        for group in &self.groups {
            visit(Reference::Group("groups", *group));
        }
    }
}
