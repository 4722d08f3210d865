//! What a club is expected to look like: plain records that the story changes beside the program. A day stands for a
//! timestamp, because the story is told in days.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// Such as `2028-02-29`.
pub(super) type Day = String;

/// Cents as the program prints them.
pub(super) fn money(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    format!("{sign}{}.{:02}", cents.abs() / 100, cents.abs() % 100)
}

/// When something was made and last changed.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) id: String,
    pub(super) made: Day,
    pub(super) moved: Day,
}

impl Made {
    pub(super) fn new(id: &str, today: &str) -> Self {
        Made {
            id: id.to_owned(),
            made: today.to_owned(),
            moved: today.to_owned(),
        }
    }

    /// A representation: the id, these fields, the stamps.
    fn with(&self, fields: Value) -> Value {
        let mut all = json!({ "id": self.id });
        let object = all.as_object_mut().unwrap();
        object.extend(fields.as_object().unwrap().clone());
        object.insert("createdAt".into(), json!(self.made));
        object.insert("updatedAt".into(), json!(self.moved));
        all
    }
}

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub(super) is: Made,
    pub(super) first: String,
    pub(super) last: String,
    pub(super) email: String,
    pub(super) is_active: bool,
    pub(super) joined: Day,
    pub(super) groups: BTreeSet<String>,
}

impl Member {
    pub(super) fn document(&self) -> Value {
        self.is.with(json!({
            "firstName": self.first, "lastName": self.last, "email": self.email, "isActive": self.is_active,
            "joinDate": self.joined, "groups": self.groups,
        }))
    }
}

/// Dues: cents, the next due date, how often.
pub(super) type Dues = (i64, Day, Option<&'static str>);

#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) is: Made,
    pub(super) name: String,
    pub(super) description: String,
    pub(super) dues: Option<Dues>,
}

impl Group {
    pub(super) fn document(&self, member_count: usize) -> Value {
        let (amount, due, every) = match &self.dues {
            Some((amount, due, every)) => (Some(money(*amount)), Some(due), *every),
            None => (None, None, None),
        };
        self.is.with(json!({
            "name": self.name, "description": self.description, "amountDue": amount, "dueDate": due,
            "isRecurring": every.is_some(), "recurringInterval": every, "memberCount": member_count,
        }))
    }
}

/// An entry of the ledger. The id of a counter-entry is not told by the command that makes it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) id: Option<String>,
    pub(super) cents: i64,
    pub(super) received: Day,
    pub(super) reverses: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Payment {
    pub(super) is: Made,
    pub(super) member: Option<String>,
    pub(super) group: Option<String>,
    pub(super) chapter: Option<String>,
    pub(super) description: String,
    pub(super) cents: i64,
    pub(super) status: &'static str,
    pub(super) due: Option<Day>,
    pub(super) paid_at: Option<Day>,
    pub(super) voided_at: Option<Day>,
    pub(super) entries: Vec<Entry>,
}

impl Payment {
    pub(super) fn paid(&self) -> i64 {
        self.entries.iter().map(|entry| entry.cents).sum()
    }

    /// What is still owed.
    pub(super) fn owed(&self) -> i64 {
        match self.status {
            "pending" | "partially_paid" | "failed" => self.cents - self.paid(),
            _ => 0,
        }
    }

    /// What the books say is owed: whatever is not paid and not cancelled.
    pub(super) fn open(&self) -> i64 {
        match self.status {
            "cancelled" => 0,
            _ => self.cents - self.paid(),
        }
    }

    /// What is counted on: of a payment that was cancelled, what came for it before.
    pub(super) fn expected(&self) -> i64 {
        match self.status {
            "cancelled" => self.paid(),
            _ => self.cents,
        }
    }

    pub(super) fn document(&self) -> Value {
        self.is.with(json!({
            "memberId": self.member, "groupId": self.group, "targetOrganizationId": self.chapter,
            "description": self.description, "amount": money(self.cents), "paidToDate": money(self.paid()),
            "currency": "USD", "status": self.status, "dueDate": self.due, "paidAt": self.paid_at,
            "voidedAt": self.voided_at,
        }))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Reimbursement {
    pub(super) is: Made,
    pub(super) member: Option<String>,
    pub(super) chapter: Option<String>,
    pub(super) cents: i64,
    pub(super) category: Option<&'static str>,
    pub(super) description: &'static str,
    pub(super) incurred: Day,
    pub(super) status: &'static str,
    pub(super) submitted: Option<Day>,
    pub(super) reviewed: Option<Day>,
    pub(super) paid: Option<Day>,
    pub(super) voided: Option<Day>,
}

impl Reimbursement {
    pub(super) fn document(&self) -> Value {
        self.is.with(json!({
            "memberId": self.member, "recipientOrganizationId": self.chapter, "amount": money(self.cents),
            "currency": "USD", "category": self.category, "description": self.description,
            "incurredAt": self.incurred, "status": self.status, "submittedAt": self.submitted,
            "reviewedAt": self.reviewed, "paidAt": self.paid, "voidedAt": self.voided,
        }))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Reminder {
    pub(super) is: Made,
    pub(super) member: Option<String>,
    pub(super) group: Option<String>,
    pub(super) organization: Option<String>,
    pub(super) status: &'static str,
    pub(super) subject: &'static str,
    pub(super) body: &'static str,
    /// A whole timestamp: it is the officer who says it.
    pub(super) at: String,
    pub(super) sent: Option<Day>,
    pub(super) every_days: Option<i64>,
    pub(super) is_about_money: bool,
}

impl Reminder {
    pub(super) fn document(&self) -> Value {
        self.is.with(json!({
            "targetMemberId": self.member, "targetOrganizationId": self.organization, "groupId": self.group,
            "method": "email", "status": self.status, "subject": self.subject, "body": self.body,
            "scheduledAt": self.at, "sentAt": self.sent, "isRecurring": self.every_days.is_some(),
            "recurringIntervalDays": self.every_days, "includePaymentInfo": self.is_about_money,
        }))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Card {
    pub(super) is: Made,
    pub(super) name: &'static str,
    pub(super) status: &'static str,
    pub(super) limit: i64,
    pub(super) frequency: &'static str,
    pub(super) transaction_limit: Option<i64>,
    pub(super) holder: Option<String>,
    pub(super) invited: Option<Day>,
    pub(super) activated: Option<Day>,
    pub(super) canceled: Option<Day>,
}

impl Card {
    pub(super) fn document(&self) -> Value {
        self.is.with(json!({
            "name": self.name, "status": self.status, "last4": null, "spendLimit": money(self.limit),
            "spendLimitFrequency": self.frequency, "transactionLimit": self.transaction_limit.map(money),
            "assignedMemberId": self.holder, "invitedAt": self.invited, "activatedAt": self.activated,
            "canceledAt": self.canceled,
        }))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Campaign {
    pub(super) is: Made,
    pub(super) name: &'static str,
    pub(super) note: Option<&'static str>,
    pub(super) goal: Option<i64>,
    pub(super) start: Option<Day>,
    pub(super) end: Option<Day>,
    pub(super) status: &'static str,
}

impl Campaign {
    pub(super) fn document(&self) -> Value {
        self.is.with(json!({
            "name": self.name, "note": self.note, "goalAmount": self.goal.map(money), "currency": "USD",
            "startDate": self.start, "endDate": self.end, "status": self.status,
        }))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Listing {
    pub(super) is: Made,
    pub(super) name: &'static str,
    pub(super) description: &'static str,
    pub(super) is_active: bool,
    /// Name, price, what is left.
    pub(super) items: Vec<(&'static str, i64, Option<i64>)>,
}

impl Listing {
    pub(super) fn document(&self) -> Value {
        self.is.with(json!({
            "name": self.name, "description": self.description, "currency": "USD", "isActive": self.is_active,
        }))
    }

    /// The items as an export shows them: v1 hides them.
    pub(super) fn stock(&self) -> Value {
        let item = |(name, price, left): &(&str, i64, Option<i64>)| json!({ "name": name, "price": money(*price), "inventory": left });
        self.items.iter().map(item).collect()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Order {
    pub(super) is: Made,
    pub(super) listing: usize,
    pub(super) member: String,
    pub(super) lines: Vec<(&'static str, i64)>,
    pub(super) cents: i64,
    pub(super) status: &'static str,
    pub(super) paid: Option<Day>,
}

impl Order {
    pub(super) fn document(&self, listing: &str) -> Value {
        let mut all = self.is.with(json!({
            "listingId": listing, "memberId": self.member, "totalAmount": money(self.cents), "currency": "USD",
            "status": self.status, "paidAt": self.paid,
        }));
        // An order has none in v1.
        all.as_object_mut().unwrap().remove("updatedAt");
        all
    }
}
