//! Members: the people of an organization. They are archived, never deleted.

use serde::Serialize;

use crate::aside::Aside;
use crate::erasure::ERASED_NAME;
use crate::fields::Fields;
use crate::ids::{GroupId, MemberId};
use crate::payment::check_reference;
use crate::refusal::Refusal;
use crate::resource::{Invariants, Surroundings, resource, take_fields};
use crate::search;
use crate::text::{CREDITOR_REFERENCE, NAME};
use crate::time::{Date, Timestamp};

resource! {
    /// A person of the organization. Members are archived, never deleted.
    Member = "member" {
        /// Given name.
        first_name: String => shown("firstName").text(NAME).required(),
        /// Family name.
        last_name: String => shown("lastName").text(NAME).required(),
        /// E-mail address. Not unique, because families share one. Null if the member has none.
        email: Option<String> => shown("email").email(),
        /// Phone number for SMS.
        phone: Option<String> => hidden("phone").phone(),
        /// False when the member is archived.
        is_active: bool = true => shown("isActive"),
        /// The day on which the member joined.
        join_date: Option<Date> => shown("joinDate"),
        /// The ids of the member's groups, ascending.
        groups: Vec<GroupId> => shown("groups").column("group_ids"),
        /// The member who pays: reminders and statements go there, and their money settles this member's charges.
        payer_id: Option<MemberId> => hidden("payerId"),
        /// What the member writes on a standing order: a creditor reference by ISO 11649.
        reference: Option<String> => hidden("reference").code(CREDITOR_REFERENCE),
        /// Bank accounts that the member's money came from, learned from confirmed statement lines.
        bank_accounts: Vec<String> => hidden("bankAccounts").text(NAME),
        /// When everything that names the member was erased.
        erased_at: Option<Timestamp> => hidden("erasedAt"),
    }
}

/// `None` keeps the value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberChange {
    pub first_name: Option<String>,
    pub last_name: Option<String>,
    /// `Some(None)` removes the address. The API cannot.
    pub email: Option<Option<String>>,
    /// False archives.
    pub is_active: Option<bool>,
    /// `Some(None)` removes the number. The API does not have this field.
    #[serde(skip)]
    pub phone: Option<Option<String>>,
    /// `Some(None)` removes the day. The API does not change it.
    #[serde(skip)]
    pub join_date: Option<Option<Date>>,
    /// `Some(None)` removes the payer. The API does not have this field.
    #[serde(skip)]
    pub payer_id: Option<Option<MemberId>>,
}

impl MemberChange {
    /// Null is refused: none of these fields can be null.
    pub fn read(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            first_name: fields.text("firstName", NAME)?.unless_null()?,
            last_name: fields.text("lastName", NAME)?.unless_null()?,
            email: fields.email("email")?.unless_null()?.map(Some),
            is_active: fields.boolean("isActive")?.unless_null()?,
            ..Self::default()
        })
    }

    /// `None` if nothing changes. The caller moves the stamps.
    pub fn apply(self, member: &Member) -> Option<Member> {
        let mut changed = member.clone();
        set(&mut changed.first_name, self.first_name);
        set(&mut changed.last_name, self.last_name);
        set(&mut changed.email, self.email);
        set(&mut changed.payer_id, self.payer_id);
        set(&mut changed.is_active, self.is_active);
        set(&mut changed.phone, self.phone);
        set(&mut changed.join_date, self.join_date);
        (changed != *member).then_some(changed)
    }
}

fn set<T>(target: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *target = value;
    }
}

impl Member {
    pub fn name(&self) -> String {
        format!("{} {}", self.first_name, self.last_name)
    }

    /// Makes it the placeholder of somebody who was erased: charges and money go on naming it.
    pub fn erase(&mut self, now: Timestamp) {
        let [first, last] = ERASED_NAME.map(str::to_owned);
        (self.first_name, self.last_name) = (first, last);
        (self.email, self.phone, self.join_date) = (None, None, None);
        self.is_active = false;
        self.groups.clear();
        self.payer_id = None;
        self.bank_accounts.clear();
        self.erased_at = Some(now);
    }

    fn is_blank(&self) -> bool {
        let mut blank = self.clone();
        blank.erase(self.erased_at.unwrap_or(self.stamps.updated_at));
        blank == *self
    }
}

impl Invariants for Member {
    /// Nothing takes back that a member was erased: an older record is refused by `check`.
    fn apply(&mut self, fields: &mut Fields<'_>) -> Result<(), Refusal> {
        let erased_at = self.erased_at;
        take_fields(self, fields)?;
        self.erased_at = self.erased_at.or(erased_at);
        Ok(())
    }

    fn aside(&self) -> Option<Aside> {
        let names = [self.first_name.as_str(), &self.last_name];
        let words = search::words(names, self.email.as_deref(), self.phone.as_deref());
        Some(Aside::Words(words))
    }

    fn check(&self, _: &Surroundings) -> Result<(), Refusal> {
        check_reference(self.reference.as_deref())?;
        if self.erased_at.is_some() && !self.is_blank() {
            return Err(Refusal::invalid(
                "erasedAt",
                "is set: the member was erased, so a name, an address and groups cannot come back; leave the record out",
            ));
        }
        match self.payer_id == Some(self.id) {
            true => Err(Refusal::invalid(
                "payerId",
                "must be another member; leave it out for a member who pays for themselves",
            )),
            false => Ok(()),
        }
    }
}
