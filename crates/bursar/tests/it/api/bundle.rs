//! The data that every world starts with: a national organization with chapters, a rival, and two clubs with
//! other currencies. Small, and with one of everything that the API tells apart.

use std::fmt::Write as _;

use serde_json::{Value, json};

/// The `n`th id of a type.
pub(crate) fn id(prefix: &str, n: u32) -> String {
    format!("{prefix}_01jbst1c00e0080000000{n:05}")
}

pub(crate) fn member(n: u32) -> String {
    id("mem", n)
}

pub(crate) fn group(n: u32) -> String {
    id("grp", n)
}

pub(crate) fn reminder(n: u32) -> String {
    id("rem", n)
}

/// The organization that most tests act in.
pub(crate) const NATIONAL: u32 = 1;
/// A chapter of it, not approved for issuing cards, with a roster of 60.
pub(crate) const NORTH: u32 = 2;
/// A chapter of it without a contact.
pub(crate) const SOUTH: u32 = 3;
/// A chapter of SOUTH.
pub(crate) const LOWER: u32 = 4;
/// Another national organization, with things of its own.
pub(crate) const RIVAL: u32 = 5;
/// A club that counts in JPY.
pub(crate) const YEN: u32 = 6;
/// A club that counts in KWD.
pub(crate) const DINAR: u32 = 7;

pub(crate) fn organization(n: u32) -> String {
    id("org", n)
}

/// The members of NORTH's roster: these numbers, the last one archived.
pub(crate) const ROSTER: std::ops::Range<u32> = 1001..1061;
/// Group 50 of NATIONAL has these members and reminders of these numbers are theirs, so that each cell of the
/// access matrix has one of its own.
pub(crate) const CELLS: std::ops::Range<u32> = 500..540;

struct Bundle(String);

impl Bundle {
    fn add(&mut self, kind: &str, fields: Value) {
        let mut record = json!({ "type": kind });
        if let (Value::Object(record), Value::Object(fields)) = (&mut record, fields) {
            record.extend(fields);
        }
        writeln!(self.0, "{record}").unwrap();
    }

    fn organization(&mut self, n: u32, kind: &str, parent: Option<u32>, more: Value) {
        let mut fields = json!({
            "id": organization(n), "name": format!("Organization {n}"), "kind": kind,
            "parentId": parent.map(organization),
        });
        fields
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.add("organization", fields);
    }

    fn person(&mut self, n: u32, name: &str, organization: u32, role: &str) {
        let email = format!("{name}@people.example");
        self.add(
            "user",
            json!({ "id": id("usr", n), "email": email, "name": name }),
        );
        self.role(n, organization, role);
    }

    fn role(&mut self, user: u32, of: u32, role: &str) {
        self.add(
            "role",
            json!({ "organizationId": organization(of), "userId": id("usr", user), "role": role }),
        );
    }

    fn group(&mut self, n: u32, of: u32, name: &str) {
        self.add(
            "group",
            json!({ "id": group(n), "organizationId": organization(of), "name": name }),
        );
    }

    fn member(&mut self, n: u32, of: u32, groups: &[u32], is_active: bool, phone: Option<&str>) {
        let groups: Vec<String> = groups.iter().map(|n| group(*n)).collect();
        self.add("member", json!({
            "id": member(n), "organizationId": organization(of), "firstName": format!("First {n}"), "lastName": "Last",
            "email": format!("m{n}@members.example"), "phone": phone, "isActive": is_active, "joinDate": "2024-02-29",
            "groups": groups,
        }));
    }

    fn payment(&mut self, n: u32, of: u32, member: u32, group: Option<u32>, status: &str, paid: &str) {
        self.add("payment", json!({
            "id": id("pay", n), "organizationId": organization(of), "memberId": self::member(member),
            "groupId": group.map(self::group), "description": format!("Dues {n}"), "amount": "100.00", "paidToDate": paid,
            "currency": "USD", "status": status, "dueDate": "2026-01-31", "providerId": "provider-secret",
        }));
    }

    fn reminder(&mut self, n: u32, of: u32, more: Value) {
        let mut fields = json!({
            "id": reminder(n), "organizationId": organization(of), "method": "email", "status": "scheduled",
            "subject": format!("Subject {n}"), "body": "Dear member,\nhello.", "scheduledAt": "2099-12-01T09:00:00Z",
        });
        fields
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.add("reminder", fields);
    }
}

/// The bundle's text.
pub(crate) fn text() -> String {
    let mut b = Bundle(String::new());
    b.organization(
        NATIONAL,
        "national",
        None,
        json!({
            "currency": "USD", "contactEmail": "office@national.example", "cardIssuing": "approved",
        }),
    );
    b.organization(
        NORTH,
        "chapter",
        Some(NATIONAL),
        json!({
            "currency": "USD", "contactEmail": "north@chapters.example", "cardIssuing": "pending",
        }),
    );
    b.organization(SOUTH, "chapter", Some(NATIONAL), json!({}));
    b.organization(LOWER, "chapter", Some(SOUTH), json!({}));
    b.organization(
        RIVAL,
        "national",
        None,
        json!({ "cardIssuing": "approved", "contactEmail": "rival@rival.example" }),
    );
    b.organization(
        YEN,
        "independent",
        None,
        json!({ "currency": "JPY", "cardIssuing": "approved" }),
    );
    b.organization(
        DINAR,
        "independent",
        None,
        json!({ "currency": "KWD", "cardIssuing": "approved" }),
    );

    b.person(1, "viewer", NATIONAL, "viewer");
    b.person(2, "editor", NATIONAL, "editor");
    b.person(3, "admin", NATIONAL, "admin");
    b.person(4, "second", NATIONAL, "editor");
    b.role(2, RIVAL, "editor");
    for (n, of) in [(5, RIVAL), (6, YEN), (7, DINAR), (8, NORTH), (9, SOUTH)] {
        b.person(n, &format!("admin{of}"), of, "admin");
    }
    national(&mut b);
    reminders(&mut b);
    others(&mut b);
    b.0
}

fn national(b: &mut Bundle) {
    let own = organization(NATIONAL);
    b.add("group", json!({
        "id": group(1), "organizationId": own, "name": "Rowers", "description": "Those who row.", "amountDue": "125.00",
        "dueDate": "2035-01-31", "isRecurring": true, "recurringInterval": "monthly",
    }));
    b.group(2, NATIONAL, "Coxes");
    b.group(3, NATIONAL, "Empty");
    b.group(50, NATIONAL, "Cells");
    b.member(1, NATIONAL, &[1, 2], true, Some("+12025550101"));
    b.member(2, NATIONAL, &[1], true, None);
    b.member(3, NATIONAL, &[1, 2], false, Some("+12025550103"));
    b.member(4, NATIONAL, &[2], true, None);
    b.member(5, NATIONAL, &[], true, Some("030 1234567"));
    for n in CELLS {
        b.member(n, NATIONAL, &[50], true, None);
        b.reminder(n, NATIONAL, json!({ "targetMemberId": member(n) }));
    }
    for (i, status) in [
        "pending",
        "processing",
        "partially_paid",
        "paid",
        "cancelled",
        "failed",
        "disputed",
    ]
    .iter()
    .enumerate()
    {
        let n = u32::try_from(i).unwrap();
        let paid = match *status {
            "partially_paid" => "40.00",
            "paid" | "disputed" => "100.00",
            _ => "0.00",
        };
        // Member 1 owes in group 1; member 2 has paid all; member 4 owes outside of any group.
        let (member, group) = match *status {
            "pending" => (1, Some(1)),
            "paid" | "disputed" | "cancelled" => (2, Some(1)),
            "partially_paid" => (4, None),
            _ => (5, None),
        };
        b.payment(n + 1, NATIONAL, member, group, status, paid);
    }
    for (i, status) in ["draft", "submitted", "approved", "rejected", "paid", "voided"]
        .iter()
        .enumerate()
    {
        b.add("reimbursement", json!({
            "id": id("rmb", u32::try_from(i).unwrap() + 1), "organizationId": own, "memberId": member(1), "amount": "10.05",
            "currency": "USD", "category": "travel", "description": "Ferry", "incurredAt": "2026-05-05", "status": status,
            "receipts": ["receipt-secret"], "payoutReference": "payout-secret", "reviewerNote": "note-secret",
        }));
    }
    for (i, status) in [
        Some("active"),
        Some("frozen"),
        Some("canceled"),
        Some("invited"),
        Some("denied"),
        None,
    ]
    .iter()
    .enumerate()
    {
        b.add("card", json!({
            "id": id("card", u32::try_from(i).unwrap() + 1), "organizationId": own, "name": "Card", "status": status,
            "spendLimit": "500.00", "spendLimitFrequency": "monthly",
        }));
    }
    b.add("campaign", json!({
        "id": id("cmp", 1), "organizationId": own, "name": "Boathouse", "note": "A roof", "goalAmount": "10000.00",
        "currency": "USD", "startDate": "2026-01-01", "endDate": "2026-12-31", "status": "active",
    }));
    for (n, is_active) in [(1, true), (2, false)] {
        b.add("storeListing", json!({
            "id": id("lst", n), "organizationId": own, "name": "Shirt", "description": "Cotton", "currency": "USD",
            "isActive": is_active, "items": [{ "name": "item-secret", "price": "15.00", "inventory": 3 }],
        }));
    }
    b.add("storeOrder", json!({
        "id": id("ord", 1), "organizationId": own, "listingId": id("lst", 1), "memberId": member(1), "totalAmount": "15.00",
        "currency": "USD", "status": "pending",
    }));
}

fn reminders(b: &mut Bundle) {
    let all = [
        json!({ "targetMemberId": member(1) }),
        json!({ "targetMemberId": member(1), "method": "sms" }),
        json!({ "targetMemberId": member(4), "method": "sms" }),
        json!({ "targetMemberId": member(3) }),
        json!({ "targetMemberId": member(2), "includePaymentInfo": true }),
        json!({ "targetMemberId": member(1), "includePaymentInfo": true }),
        json!({ "groupId": group(1), "includePaymentInfo": true }),
        json!({ "groupId": group(1) }),
        json!({ "groupId": group(3) }),
        json!({ "targetOrganizationId": organization(NORTH) }),
        json!({ "targetOrganizationId": organization(SOUTH) }),
        json!({ "targetOrganizationId": organization(NATIONAL) }),
        json!({ "targetMemberId": member(1), "isRecurring": true, "recurringIntervalDays": 30 }),
        json!({ "targetMemberId": member(3), "isRecurring": true, "recurringIntervalDays": 7 }),
        json!({ "targetMemberId": member(1), "status": "sending" }),
        json!({ "targetMemberId": member(1), "status": "sent" }),
        json!({ "targetMemberId": member(1), "status": "failed" }),
        json!({ "targetMemberId": member(1), "status": "completed" }),
        json!({ "targetMemberId": member(1), "status": "cancelled" }),
        json!({ "targetMemberId": member(4), "groupId": group(1), "includePaymentInfo": true }),
        json!({ "targetOrganizationId": organization(RIVAL) }),
        json!({ "targetMemberId": member(5), "method": "sms" }),
        json!({ "targetMemberId": member(4), "includePaymentInfo": true }),
    ];
    for (i, more) in all.into_iter().enumerate() {
        b.reminder(u32::try_from(i).unwrap() + 1, NATIONAL, more);
    }
    b.reminder(
        90,
        NORTH,
        json!({ "targetOrganizationId": organization(NATIONAL) }),
    );
}

fn others(b: &mut Bundle) {
    for n in ROSTER {
        b.member(n, NORTH, &[], n + 1 != ROSTER.end, None);
    }
    b.member(2001, SOUTH, &[], true, None);
    b.member(2002, LOWER, &[], true, None);
    b.group(900, RIVAL, "Theirs");
    b.member(900, RIVAL, &[900], true, None);
    b.member(600, YEN, &[], true, None);
    b.payment(900, RIVAL, 900, Some(900), "pending", "0.00");
    b.reminder(900, RIVAL, json!({ "targetMemberId": member(900) }));
    let theirs = organization(RIVAL);
    b.add(
        "card",
        json!({ "id": id("card", 900), "organizationId": theirs, "name": "Theirs", "status": "active" }),
    );
    b.add(
        "reimbursement",
        json!({ "id": id("rmb", 900), "organizationId": theirs, "amount": "1.00" }),
    );
    b.add(
        "campaign",
        json!({ "id": id("cmp", 900), "organizationId": theirs, "name": "Theirs" }),
    );
    b.add(
        "storeListing",
        json!({ "id": id("lst", 900), "organizationId": theirs, "name": "Theirs" }),
    );
    b.add("storeOrder", json!({ "id": id("ord", 900), "organizationId": theirs, "listingId": id("lst", 900), "totalAmount": "1.00" }));
}
