//! Lines that an import refuses: the message names the line, the field and the rule, and nothing is written.

use bursar_db::EngineKind;
use bursar_db::testing::TestDb;
use serde_json::{Value as Json, json};

use crate::support::{bundle, dump, grp, import_now, import_with, mem, now, org, pay, problems, usr};

/// What the database has already: a national with a chain of chapters, an independent club with a member, a
/// group and a listing of each of the two, and a user.
fn known() -> String {
    let organization = |n: u128, kind: &str, parent: Option<u128>| json!({"type": "organization", "id": org(n), "name": "O", "kind": kind, "parentId": parent.map(org)});
    let member = |n: u128, of: u128| json!({"type": "member", "id": mem(n), "organizationId": org(of), "firstName": "F", "lastName": "L", "email": "m@example.org"});
    let named = |kind: &str, id: Json, of: u128| json!({"type": kind, "id": id, "organizationId": org(of), "name": "N"});
    bundle(&[
        organization(1, "national", None),
        organization(2, "chapter", Some(1)),
        organization(3, "chapter", Some(2)),
        organization(4, "independent", None),
        organization(5, "chapter", Some(3)),
        json!({"type": "user", "id": usr(1), "email": "known@example.org"}),
        member(1, 1),
        member(4, 4),
        named("group", json!(grp(1)), 1),
        named("group", json!(grp(4)), 4),
        named("storeListing", json!("lst_00000000000000000000000004"), 4),
        json!({"type": "payment", "id": pay(1), "organizationId": org(1), "memberId": mem(1), "amount": "10", "paidToDate": "5"}),
    ])
}

/// A good line of each type, of what is not there yet. Cases change one thing of it.
fn good(kind: &str) -> Json {
    let mut line = match kind {
        "organization" => json!({"id": org(50), "name": "New", "kind": "chapter", "parentId": org(1)}),
        "user" => json!({"id": usr(50), "email": "new@example.org", "name": "New"}),
        "role" => json!({"organizationId": org(1), "userId": usr(1), "role": "viewer"}),
        "policy" => json!({"organizationId": org(1), "blockedScopes": ["cards:write"], "maxTokenDays": 30}),
        "member" => {
            json!({"id": mem(50), "firstName": "F", "lastName": "L", "email": "m@example.org", "phone": "+12025550100",
            "isActive": true, "joinDate": "2020-02-29", "groups": [grp(1)]})
        }
        "group" => {
            json!({"id": grp(50), "name": "G", "description": "D", "amountDue": "5.00", "dueDate": "2027-01-31",
            "isRecurring": true, "recurringInterval": "monthly"})
        }
        "payment" => {
            json!({"id": pay(50), "memberId": mem(1), "groupId": grp(1),
            "description": "D", "amount": "10.00", "paidToDate": "10.00", "currency": "USD", "status": "paid",
            "dueDate": "2026-01-31", "paidAt": "2026-01-31T00:00:00Z", "providerId": "p"})
        }
        "reimbursement" => {
            json!({"id": "rmb_00000000000000000000000050", "memberId": mem(1),
            "amount": "1.00", "currency": "USD", "category": "travel", "incurredAt": "2026-01-31", "status": "submitted",
            "submittedAt": "2026-01-31T00:00:00Z", "receipts": ["r"], "payoutReference": "p", "reviewerNote": "n"})
        }
        "reminder" => {
            json!({"id": "rem_00000000000000000000000050", "targetMemberId": mem(1), "groupId": grp(1),
            "method": "sms", "status": "scheduled", "subject": "S", "body": "B",
            "scheduledAt": "2027-01-31T00:00:00Z", "isRecurring": true, "recurringIntervalDays": 30, "includePaymentInfo": true})
        }
        "card" => {
            json!({"id": "card_00000000000000000000000050", "name": "C", "status": "active", "last4": "4242",
            "spendLimit": "5.00", "spendLimitFrequency": "daily", "transactionLimit": "1.00", "assignedMemberId": mem(1)})
        }
        "campaign" => {
            json!({"id": "cmp_00000000000000000000000050", "name": "C", "note": "N", "goalAmount": "5.00",
            "currency": "USD", "startDate": "2026-01-01", "endDate": "2026-12-31", "status": "active"})
        }
        "storeListing" => {
            json!({"id": "lst_00000000000000000000000050", "name": "L", "currency": "USD", "isActive": true,
            "items": [{"name": "I", "price": "5.00", "inventory": 3}]})
        }
        "storeOrder" => json!({"id": "ord_00000000000000000000000050", "listingId": null, "memberId": mem(1),
            "totalAmount": "5.00", "currency": "USD", "status": "pending"}),
        other => panic!("{other}"),
    };
    if line.get("organizationId").is_none() && !["organization", "user"].contains(&kind) {
        line["organizationId"] = json!(org(1));
    }
    let mut typed = json!({"type": kind});
    typed
        .as_object_mut()
        .unwrap()
        .extend(line.as_object().unwrap().clone());
    typed
}

const TYPES: [&str; 13] = [
    "organization",
    "user",
    "role",
    "policy",
    "member",
    "group",
    "payment",
    "reimbursement",
    "reminder",
    "card",
    "campaign",
    "storeListing",
    "storeOrder",
];

/// A text of this many characters.
fn long(characters: usize) -> String {
    "é".repeat(characters)
}

/// A good line with one field changed, and how the message starts behind `line 1: `. A field of `-` is removed.
fn one_field_wrong() -> Vec<(Json, &'static str)> {
    let gone = || json!("-");
    let cases: Vec<(&str, &str, Json, &'static str)> = vec![
        ("organization", "id", gone(), "id: is required"),
        ("organization", "id", json!(mem(1)), "id: must be the id of a"),
        (
            "organization",
            "id",
            json!("org_1"),
            "id: must be the id of an organization, org_ and 26 characters",
        ),
        (
            "organization",
            "id",
            json!(null),
            "id: is required and must not be null",
        ),
        ("organization", "type", gone(), "type: is required"),
        (
            "organization",
            "type",
            json!("club"),
            "type: must be one of organization, user, role",
        ),
        (
            "organization",
            "type",
            json!(7),
            "type: must be a string, got a number",
        ),
        (
            "organization",
            "shoeSize",
            json!(46),
            "shoeSize: is not a field of this",
        ),
        (
            "organization",
            "updatedAt",
            json!("2026-01-01T00:00:00Z"),
            "updatedAt: is not a field of this",
        ),
        ("organization", "name", gone(), "name: is required"),
        (
            "organization",
            "name",
            json!(null),
            "name: is required and must not be null",
        ),
        (
            "organization",
            "name",
            json!("  "),
            "name: must have 1 to 100 characters, got 0",
        ),
        (
            "organization",
            "name",
            json!(long(101)),
            "name: must have 1 to 100 characters, got 101",
        ),
        (
            "organization",
            "name",
            json!(["New"]),
            "name: must be a string, got an array",
        ),
        (
            "organization",
            "name",
            json!("a\u{7}b"),
            "name: must not contain the control character U+0007",
        ),
        (
            "organization",
            "name",
            json!("a\nb"),
            "name: must not contain the control character U+000A",
        ),
        ("organization", "kind", gone(), "kind: is required"),
        (
            "organization",
            "kind",
            json!("club"),
            "kind: must be one of national, chapter, independent, got \"club\"",
        ),
        (
            "organization",
            "kind",
            json!("national"),
            "parentId: must be null for a national organization",
        ),
        (
            "organization",
            "kind",
            json!("independent"),
            "parentId: must be null for a independent organization",
        ),
        (
            "organization",
            "parentId",
            json!(org(50)),
            "parentId: must not be the organization itself",
        ),
        ("organization", "parentId", json!(org(99)), "parentId: org_"),
        (
            "organization",
            "parentId",
            json!(org(4)),
            "parentId: must be a national organization or a chapter; org_",
        ),
        (
            "organization",
            "parentId",
            json!(usr(1)),
            "parentId: must be the id of",
        ),
        (
            "organization",
            "currency",
            json!("usd"),
            "currency: must be an ISO 4217 currency code",
        ),
        (
            "organization",
            "currency",
            json!("XAU"),
            "currency: must be an ISO 4217 currency code",
        ),
        (
            "organization",
            "currency",
            json!(null),
            "currency: must not be null",
        ),
        (
            "organization",
            "contactEmail",
            json!("nobody"),
            "contactEmail: must be one e-mail address",
        ),
        (
            "organization",
            "contactPhone",
            json!("call me"),
            "contactPhone: must be a telephone number",
        ),
        (
            "organization",
            "cardIssuing",
            json!("maybe"),
            "cardIssuing: must be one of approved, pending",
        ),
        ("user", "email", gone(), "email: is required"),
        ("user", "email", json!("a@b"), "email: must be one e-mail address"),
        (
            "user",
            "email",
            json!(format!("{}@example.org", "a".repeat(250))),
            "email: must have at most 254 characters",
        ),
        (
            "user",
            "email",
            json!("KNOWN@example.org"),
            "email: is the address of user usr_",
        ),
        (
            "user",
            "name",
            json!(long(101)),
            "name: must have 1 to 100 characters, got 101",
        ),
        (
            "user",
            "organizationId",
            json!(org(1)),
            "organizationId: is not a field of this",
        ),
        ("role", "role", gone(), "role: is required"),
        (
            "role",
            "role",
            json!("owner"),
            "role: must be one of viewer, editor, admin, got \"owner\"",
        ),
        ("role", "userId", gone(), "userId: is required"),
        ("role", "userId", json!(usr(99)), "userId: usr_"),
        ("role", "organizationId", json!(org(99)), "organizationId: org_"),
        ("role", "id", json!(usr(1)), "id: is not a field of this"),
        (
            "policy",
            "blockedScopes",
            json!(["cards:delete"]),
            "blockedScopes: holds an item that is unknown",
        ),
        (
            "policy",
            "blockedScopes",
            json!("cards:write"),
            "blockedScopes: must be an array of strings, got a string",
        ),
        (
            "policy",
            "blockedScopes",
            json!(null),
            "blockedScopes: must not be null",
        ),
        (
            "policy",
            "maxTokenDays",
            json!(0),
            "maxTokenDays: must be an integer from 1 to 365",
        ),
        (
            "policy",
            "maxTokenDays",
            json!(366),
            "maxTokenDays: must be an integer from 1 to 365",
        ),
        (
            "policy",
            "maxTokenDays",
            json!(1.5),
            "maxTokenDays: must be an integer from 1 to 365",
        ),
        (
            "policy",
            "maxTokenDays",
            json!("30"),
            "maxTokenDays: must be an integer, got a string",
        ),
        ("policy", "organizationId", json!(org(99)), "organizationId: org_"),
        ("member", "organizationId", gone(), "organizationId: is required"),
        ("member", "organizationId", json!(org(99)), "organizationId: org_"),
        (
            "member",
            "id",
            json!(grp(1)),
            "id: must be the id of a member, mem_ and 26 characters",
        ),
        ("member", "id", json!(mem(4)), "id: mem_"),
        ("member", "firstName", gone(), "firstName: is required"),
        (
            "member",
            "firstName",
            json!(""),
            "firstName: must have 1 to 100 characters, got 0",
        ),
        (
            "member",
            "lastName",
            json!(null),
            "lastName: is required and must not be null",
        ),
        (
            "member",
            "email",
            json!("a@1.2.3.4"),
            "email: must be one e-mail address",
        ),
        (
            "member",
            "phone",
            json!(5550100),
            "phone: must be a string, got a number",
        ),
        (
            "member",
            "phone",
            json!("12"),
            "phone: must be a telephone number",
        ),
        (
            "member",
            "isActive",
            json!("yes"),
            "isActive: must be true or false, got a string",
        ),
        ("member", "isActive", json!(null), "isActive: must not be null"),
        (
            "member",
            "joinDate",
            json!("2026-02-30"),
            "joinDate: must be a calendar date",
        ),
        (
            "member",
            "joinDate",
            json!("2026-02-28T00:00:00Z"),
            "joinDate: must be a calendar date",
        ),
        ("member", "groups", json!([grp(99)]), "groups: grp_"),
        ("member", "groups", json!([grp(4)]), "groups: grp_"),
        (
            "member",
            "groups",
            json!([mem(1)]),
            "groups: holds an item that must be the id of a group",
        ),
        (
            "member",
            "groups",
            json!([1]),
            "groups: must be an array of strings",
        ),
        ("member", "groups", json!(null), "groups: must not be null"),
        (
            "member",
            "createdAt",
            json!("yesterday"),
            "createdAt: must be an RFC 3339 date-time with an offset",
        ),
        (
            "member",
            "updatedAt",
            json!("2026-01-01T00:00:00"),
            "updatedAt: must be an RFC 3339 date-time with an offset",
        ),
        ("group", "name", gone(), "name: is required"),
        (
            "group",
            "description",
            json!(long(2001)),
            "description: must have at most 2000 characters, got 2001",
        ),
        (
            "group",
            "description",
            json!(null),
            "description: must not be null",
        ),
        (
            "group",
            "amountDue",
            json!("1.234"),
            "amountDue: must be a decimal amount",
        ),
        (
            "group",
            "amountDue",
            json!(10),
            "amountDue: must be a string, got a number",
        ),
        (
            "group",
            "dueDate",
            json!("31.01.2027"),
            "dueDate: must be a calendar date",
        ),
        (
            "group",
            "isRecurring",
            json!(false),
            "recurringInterval: must be null when isRecurring is false",
        ),
        (
            "group",
            "recurringInterval",
            json!(null),
            "recurringInterval: is required when isRecurring is true",
        ),
        (
            "group",
            "recurringInterval",
            json!("daily"),
            "recurringInterval: must be one of weekly, monthly, quarterly",
        ),
        ("payment", "amount", gone(), "amount: is required"),
        (
            "payment",
            "amount",
            json!("-1.00"),
            "amount: must be a decimal amount",
        ),
        (
            "payment",
            "amount",
            json!("1e3"),
            "amount: must be a decimal amount",
        ),
        (
            "payment",
            "amount",
            json!("9.99"),
            "paidToDate: must be at most the amount, 9.99, got 10.00",
        ),
        (
            "payment",
            "amount",
            json!("1000000000001"),
            "amount: must be at most 1000000000000.00",
        ),
        (
            "payment",
            "paidToDate",
            json!("10.01"),
            "paidToDate: must be at most the amount, 10.00, got 10.01",
        ),
        (
            "payment",
            "currency",
            json!("EUR"),
            "currency: must be the organization's currency, USD, got EUR",
        ),
        (
            "payment",
            "currency",
            json!("euro"),
            "currency: must be an ISO 4217 currency code",
        ),
        (
            "payment",
            "status",
            json!("lost"),
            "status: must be one of pending, processing, partially_paid, paid, cancelled",
        ),
        ("payment", "memberId", json!(mem(99)), "memberId: mem_"),
        ("payment", "memberId", json!(mem(4)), "memberId: mem_"),
        ("payment", "groupId", json!(grp(4)), "groupId: grp_"),
        (
            "payment",
            "targetOrganizationId",
            json!(org(99)),
            "targetOrganizationId: org_",
        ),
        (
            "payment",
            "paidAt",
            json!("2026-13-01T00:00:00Z"),
            "paidAt: must be an RFC 3339 date-time",
        ),
        (
            "payment",
            "providerId",
            json!(" "),
            "providerId: must have 1 to 500 characters, got 0",
        ),
        (
            "reimbursement",
            "amount",
            json!(null),
            "amount: is required and must not be null",
        ),
        (
            "reimbursement",
            "category",
            json!(long(101)),
            "category: must have at most 100 characters, got 101",
        ),
        (
            "reimbursement",
            "incurredAt",
            json!("2026"),
            "incurredAt: must be a calendar date",
        ),
        (
            "reimbursement",
            "status",
            json!("lost"),
            "status: must be one of draft, submitted, approved, rejected, paid, voided",
        ),
        (
            "reimbursement",
            "receipts",
            json!([""]),
            "receipts: holds an item that must have 1 to 500 characters",
        ),
        (
            "reimbursement",
            "recipientOrganizationId",
            json!(org(99)),
            "recipientOrganizationId: org_",
        ),
        ("reimbursement", "memberId", json!(mem(4)), "memberId: mem_"),
        (
            "reimbursement",
            "reviewerNote",
            json!(long(2001)),
            "reviewerNote: must have at most 2000 characters",
        ),
        ("reminder", "method", gone(), "method: is required"),
        (
            "reminder",
            "method",
            json!("fax"),
            "method: must be one of email, sms",
        ),
        (
            "reminder",
            "status",
            json!("lost"),
            "status: must be one of scheduled, sending, sent, failed, completed, cancelled",
        ),
        (
            "reminder",
            "subject",
            json!(long(201)),
            "subject: must have at most 200 characters, got 201",
        ),
        (
            "reminder",
            "body",
            json!(long(10_001)),
            "body: must have at most 10000 characters, got 10001",
        ),
        (
            "reminder",
            "recurringIntervalDays",
            gone(),
            "recurringIntervalDays: is required when isRecurring is true",
        ),
        (
            "reminder",
            "recurringIntervalDays",
            json!(0),
            "recurringIntervalDays: must be an integer from 1 to 3650",
        ),
        (
            "reminder",
            "includePaymentInfo",
            json!(1),
            "includePaymentInfo: must be true or false, got a number",
        ),
        (
            "reminder",
            "targetMemberId",
            json!(mem(99)),
            "targetMemberId: mem_",
        ),
        (
            "reminder",
            "scheduledAt",
            json!("soon"),
            "scheduledAt: must be an RFC 3339 date-time",
        ),
        (
            "card",
            "status",
            json!("lost"),
            "status: must be one of active, frozen, canceled, invited, denied",
        ),
        (
            "card",
            "last4",
            json!("123"),
            "last4: must have 4 to 4 characters, got 3",
        ),
        (
            "card",
            "spendLimit",
            json!(500),
            "spendLimit: must be a string, got a number",
        ),
        (
            "card",
            "spendLimitFrequency",
            json!("yearly"),
            "spendLimitFrequency: must be one of daily, weekly, monthly, one_time",
        ),
        (
            "card",
            "transactionLimit",
            json!("0.001"),
            "transactionLimit: must be a decimal amount",
        ),
        (
            "card",
            "assignedMemberId",
            json!(mem(4)),
            "assignedMemberId: mem_",
        ),
        (
            "card",
            "currency",
            json!("USD"),
            "currency: is not a field of this",
        ),
        ("campaign", "name", gone(), "name: is required"),
        (
            "campaign",
            "goalAmount",
            json!("much"),
            "goalAmount: must be a decimal amount",
        ),
        (
            "campaign",
            "endDate",
            json!("2025-12-31"),
            "endDate: must not be before startDate, 2026-01-01, got 2025-12-31",
        ),
        (
            "campaign",
            "currency",
            json!("JPY"),
            "currency: must be the organization's currency, USD, got JPY",
        ),
        (
            "storeListing",
            "isActive",
            json!(null),
            "isActive: must not be null",
        ),
        (
            "storeListing",
            "items",
            json!([{"name": "I"}]),
            "items: holds an item whose price is required",
        ),
        (
            "storeListing",
            "items",
            json!([{"name": "I", "price": "1.005"}]),
            "items: holds an item whose price must be a decimal",
        ),
        (
            "storeListing",
            "items",
            json!([{"name": "I", "price": "1", "size": 1}]),
            "items: holds an item whose size is not a field",
        ),
        (
            "storeListing",
            "items",
            json!([{"name": "I", "price": "1", "inventory": -1}]),
            "items: holds an item whose inventory must be",
        ),
        (
            "storeListing",
            "items",
            json!({}),
            "items: must be an array of objects, got an object",
        ),
        ("storeOrder", "totalAmount", gone(), "totalAmount: is required"),
        (
            "storeOrder",
            "status",
            json!("lost"),
            "status: must be one of pending, paid, fulfilled, cancelled, refunded",
        ),
        (
            "storeOrder",
            "listingId",
            json!("lst_00000000000000000000000004"),
            "listingId: lst_",
        ),
        ("storeOrder", "memberId", json!(mem(99)), "memberId: mem_"),
    ];
    cases
        .into_iter()
        .map(|(kind, field, value, expected)| {
            let mut line = good(kind);
            if value == "-" {
                line.as_object_mut().unwrap().remove(field);
            } else {
                line[field] = value;
            }
            (line, expected)
        })
        .collect()
}

/// Whole bundles, and how the message starts.
fn whole_bundles() -> Vec<(Vec<u8>, &'static str)> {
    let chapter = |n: u128, parent: u128| json!({"type": "organization", "id": org(n), "name": "O", "kind": "chapter", "parentId": org(parent)});
    let new =
        json!({"type": "organization", "id": org(60), "name": "O", "kind": "independent", "currency": "JPY"});
    let of_new = |kind: &str, fields: Json| {
        let mut line = good(kind);
        line["organizationId"] = json!(org(60));
        for field in [
            "memberId",
            "groupId",
            "targetOrganizationId",
            "groups",
            "currency",
            "status",
            "paidToDate",
        ] {
            line.as_object_mut().unwrap().remove(field);
        }
        line.as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        line
    };
    let mut cases: Vec<(Vec<u8>, &'static str)> = Vec::new();
    let mut add = |lines: &[Json], expected: &'static str| cases.push((bundle(lines).into_bytes(), expected));

    add(&[good("member"), good("member")], "line 2: id: mem_");
    add(&[good("organization"), good("organization")], "line 2: id: org_");
    add(&[good("user"), good("user")], "line 2: id: usr_");
    add(
        &[
            good("user"),
            json!({"type": "user", "id": usr(51), "email": "NEW@example.org"}),
        ],
        "line 2: email: is the address of user usr_",
    );
    add(&[good("role"), good("role")], "line 2: userId: usr_");
    add(&[good("policy"), good("policy")], "line 2: organizationId: org_");
    // The same member for two organizations.
    let mut elsewhere = good("member");
    elsewhere["organizationId"] = json!(org(4));
    elsewhere["groups"] = json!([]);
    add(&[good("member"), elsewhere], "line 2: id: mem_");
    // A reference to what the bundle brings for another organization.
    let mut foreign = good("group");
    foreign["organizationId"] = json!(org(4));
    let mut member = good("member");
    member["groups"] = json!([grp(50)]);
    add(&[foreign, member], "line 2: groups: grp_");
    // Circles among those above, of what is new and of what is known.
    add(
        &[chapter(61, 62), chapter(62, 61)],
        "line 1: parentId: makes a circle",
    );
    add(
        &[chapter(63, 61), chapter(61, 62), chapter(62, 61)],
        "line 2: parentId: makes a circle",
    );
    add(&[chapter(2, 5)], "line 1: parentId: makes a circle");
    // A change of kind that breaks the place of those below, whom the bundle does not name.
    let changed =
        |n: u128, kind: &str| json!({"type": "organization", "id": org(n), "kind": kind, "parentId": null});
    add(
        &[good("user"), changed(1, "independent")],
        "line 2: kind: does not fit chapter org_",
    );
    add(
        &[changed(2, "independent")],
        "line 1: kind: does not fit chapter org_",
    );
    add(
        &[json!({"type": "organization", "id": org(4), "currency": "EUR"})],
        "line 1: currency: cannot change: the organization's money is in USD",
    );
    // What must be paid beside what is known.
    add(
        &[json!({"type": "payment", "id": pay(1), "organizationId": org(1), "amount": "4.99"})],
        "line 1: paidToDate: must be at most the amount, 4.99, got 5.00",
    );
    add(
        &[json!({"type": "payment", "id": pay(1), "organizationId": org(4), "amount": "5"})],
        "line 1: id: pay_",
    );
    // The currency of an organization whose line comes first, and of one whose line comes last.
    let cents = of_new("payment", json!({"amount": "5.50"}));
    add(
        &[new.clone(), cents.clone()],
        "line 2: amount: must be a decimal amount such as \"125\"",
    );
    add(
        &[cents, new.clone()],
        "line 1: amount: must be a decimal amount such as \"125\"",
    );
    add(
        &[
            of_new("payment", json!({"amount": "5", "currency": "USD"})),
            new.clone(),
        ],
        "line 1: currency: must be the organization's currency, JPY",
    );
    // Stamps that are kept must be in order and past.
    let stamped =
        |created: &str, updated: &str| of_new("member", json!({"createdAt": created, "updatedAt": updated}));
    let (past, present, future) = (
        "2026-01-01T00:00:00Z",
        "2026-11-15T12:00:00Z",
        "2026-11-15T12:00:00.000001Z",
    );
    add(
        &[new.clone(), stamped(past, future)],
        "line 2: updatedAt: must not be in the future",
    );
    add(
        &[stamped(future, future), new.clone()],
        "line 1: createdAt: must not be in the future",
    );
    add(
        &[new.clone(), stamped(present, past)],
        "line 2: updatedAt: must not be before createdAt",
    );
    // The last of many lines is named too.
    let mut many: Vec<Json> = (0..30)
        .map(|n| {
            let mut line = good("member");
            line["id"] = json!(mem(100 + n));
            line
        })
        .collect();
    many[29]["joinDate"] = json!("2026-02-29");
    add(&many, "line 30: joinDate: must be a calendar date");

    let line = good("member").to_string();
    let twice = line.replace("\"lastName\"", "\"firstName\":\"G\",\"lastName\"");
    let mut long = b"{\"type\":\"member\",\"id\":\"".to_vec();
    long.resize(5 << 20, b'x');
    cases.extend([
        (twice.into_bytes(), "line 1: firstName: is given twice"),
        (b"{\"type\":\"member\"".to_vec(), "line 1: the JSON cannot be read: it breaks off or is wrong at column 16"),
        (format!("{line}\n{line},").into_bytes(), "line 2: the JSON cannot be read"),
        (format!("[{line}]").into_bytes(), "line 1: the JSON must be an object"),
        (b"null".to_vec(), "line 1: the JSON must be an object"),
        (b"type,id\nmember,1".to_vec(), "line 1: the JSON cannot be read"),
        (format!("{line}\n\n\r\n{{\"type\":\"x\"}}").into_bytes(), "line 4: type: must be one of"),
        (b"\xef\xbb\xbf\n\n{}".to_vec(), "line 3: type: is required"),
        (b"{\"type\":\"user\",\"name\":\"\xff\"}".to_vec(), "line 1: the line is not UTF-8"),
        ([line.as_bytes(), b"\n\xc3\x28"].concat(), "line 2: the line is not UTF-8"),
        (b"{\"type\":\"user\",\"id\":\"usr_00000000000000000000000050\",\"email\":\"\\ud800@example.org\"}".to_vec(),
            "line 1: email: must be a string of whole Unicode characters"),
        (long, "line 1: the line is longer than 4 MiB"),
        ("\u{feff}\u{feff}{}".as_bytes().to_vec(), "line 1: "),
    ]);
    cases
}

#[test]
fn the_lines_that_are_made_wrong_are_good() {
    let test = TestDb::sqlite();
    import_now(&test.db, &known()).unwrap();
    let lines: Vec<Json> = TYPES.iter().map(|kind| good(kind)).collect();
    assert_eq!(
        import_now(&test.db, &bundle(&lines)).unwrap().added,
        TYPES.len() as u64
    );
    assert_eq!(problems(&test.db), []);
}

#[test]
fn every_bad_line_is_refused_on_sqlite() {
    refuse_everything(EngineKind::Sqlite);
}

#[test]
fn every_bad_line_is_refused_on_postgres() {
    refuse_everything(EngineKind::Postgres);
}

fn refuse_everything(kind: EngineKind) {
    let test = match kind {
        EngineKind::Sqlite => TestDb::sqlite(),
        EngineKind::Postgres => TestDb::postgres(),
    };
    import_now(&test.db, &known()).unwrap();
    let before = dump(&test.db);
    let mut cases = whole_bundles();
    for (line, expected) in one_field_wrong() {
        // A good line before it and after it: they must not be written either.
        let good = good("user").to_string();
        let (bad, other) = if line["type"] == "user" {
            (line.to_string(), String::new())
        } else {
            (line.to_string(), good)
        };
        cases.push((
            format!("{other}\n{bad}\n").into_bytes(),
            Box::leak(format!("line 2: {expected}").into_boxed_str()),
        ));
    }
    assert!(cases.len() > 60);
    let mut wrong = Vec::new();
    for (bundle, expected) in cases {
        let shown = String::from_utf8_lossy(&bundle[..bundle.len().min(300)]).into_owned();
        match import_with(&test.db, &bundle, now(), &mut |_| {}) {
            Ok(done) => wrong.push(format!("{shown}\n  was taken: {done:?}")),
            Err(error) if !error.to_string().starts_with(expected) => {
                wrong.push(format!("{shown}\n  expected {expected}\n  got      {error}"));
            }
            Err(_) => {}
        }
        assert_eq!(dump(&test.db), before, "nothing is written: {shown}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
