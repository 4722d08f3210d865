//! What each resource looks like: the exact fields, in full, and nothing that v1 hides.

use bursar_testing::Engine;
use serde_json::{Value, json};

use super::bundle::{NATIONAL, NORTH, RIVAL, group, id, member, organization, reminder};
use super::world::{World, on_both_engines};

on_both_engines! { the_exact_fields_of_everything filters_narrow_and_order_holds the_token_explains_itself }

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

/// A resource without its stamps, which must be there and well formed.
fn plain(mut value: Value) -> Value {
    let object = value.as_object_mut().unwrap();
    for stamp in ["createdAt", "updatedAt"] {
        let Some(at) = object.remove(stamp) else {
            assert!(
                stamp == "updatedAt" && object.contains_key("listingId"),
                "only an order has no {stamp}"
            );
            continue;
        };
        let at = at.as_str().unwrap();
        assert!(at.len() == 27 && at.ends_with('Z') && &at[19..20] == ".", "{at}");
    }
    value
}

fn the_exact_fields_of_everything(engine: Engine) {
    let world = World::new(engine);
    let admin = world.admin();
    let one = |path: String| plain(admin.get(&path).ok());
    let first = |path: &str| {
        let page = admin.get(path).ok();
        assert_eq!(keys(&page), ["data", "hasMore", "nextCursor"]);
        plain(page["data"][0].clone())
    };
    assert_eq!(
        one(format!("/v1/members/{}", member(1))),
        json!({
            "id": member(1), "firstName": "First 1", "lastName": "Last", "email": "m1@members.example", "isActive": true,
            "joinDate": "2024-02-29", "groups": [group(1), group(2)],
        })
    );
    assert_eq!(
        one(format!("/v1/groups/{}", group(1))),
        json!({
            "id": group(1), "name": "Rowers", "description": "Those who row.", "amountDue": "125.00", "dueDate": "2035-01-31",
            "isRecurring": true, "recurringInterval": "monthly", "memberCount": 2,
        })
    );
    assert_eq!(
        one(format!("/v1/groups/{}", group(3))),
        json!({
            "id": group(3), "name": "Empty", "description": "", "amountDue": null, "dueDate": null, "isRecurring": false,
            "recurringInterval": null, "memberCount": 0,
        })
    );
    assert_eq!(
        first("/v1/payments?status=partially_paid"),
        json!({
            "id": id("pay", 3), "memberId": member(4), "groupId": null, "targetOrganizationId": null, "description": "Dues 3",
            "amount": "100.00", "paidToDate": "40.00", "currency": "USD", "status": "partially_paid", "dueDate": "2026-01-31",
            "paidAt": null, "voidedAt": null,
        })
    );
    assert_eq!(
        first("/v1/reimbursements?status=draft"),
        json!({
            "id": id("rmb", 1), "memberId": member(1), "recipientOrganizationId": null, "amount": "10.05", "currency": "USD",
            "category": "travel", "description": "Ferry", "incurredAt": "2026-05-05", "status": "draft", "submittedAt": null,
            "reviewedAt": null, "paidAt": null, "voidedAt": null,
        })
    );
    assert_eq!(
        first("/v1/reminders?status=sending"),
        json!({
            "id": reminder(15), "targetMemberId": member(1), "targetOrganizationId": null, "groupId": null, "method": "email",
            "status": "sending", "subject": "Subject 15", "body": "Dear member,\nhello.",
            "scheduledAt": "2099-12-01T09:00:00.000000Z", "sentAt": null, "isRecurring": false, "recurringIntervalDays": null,
            "includePaymentInfo": false,
        })
    );
    assert_eq!(
        first("/v1/cards?status=frozen"),
        json!({
            "id": id("card", 2), "name": "Card", "status": "frozen", "last4": null, "spendLimit": "500.00",
            "spendLimitFrequency": "monthly", "transactionLimit": null, "assignedMemberId": null, "invitedAt": null,
            "activatedAt": null, "canceledAt": null,
        })
    );
    assert_eq!(
        one(format!("/v1/campaigns/{}", id("cmp", 1))),
        json!({
            "id": id("cmp", 1), "name": "Boathouse", "note": "A roof", "goalAmount": "10000.00", "currency": "USD",
            "startDate": "2026-01-01", "endDate": "2026-12-31", "status": "active",
        })
    );
    let listing = json!({ "id": id("lst", 1), "name": "Shirt", "description": "Cotton", "currency": "USD", "isActive": true });
    assert_eq!(one(format!("/v1/store/listings/{}", id("lst", 1))), listing);
    assert_eq!(first("/v1/store/listings"), listing);
    assert_eq!(
        one(format!("/v1/store/orders/{}", id("ord", 1))),
        json!({
            "id": id("ord", 1), "listingId": id("lst", 1), "memberId": member(1), "totalAmount": "15.00", "currency": "USD",
            "status": "pending", "paidAt": null,
        })
    );
    // What v1 hides is in no answer, nor is anybody else's data.
    for path in [
        "members",
        "groups",
        "payments",
        "reimbursements",
        "reminders",
        "cards",
        "store/listings",
        "store/orders",
        "campaigns",
    ] {
        let all = Value::from(admin.walk(&format!("/v1/{path}?limit=100"))).to_string();
        assert!(
            !all.contains("secret") && !all.contains("+1202") && !all.contains("00900\""),
            "{path}"
        );
        let empty = world.admin_of(3).get(&format!("/v1/{path}")).ok();
        assert!(
            empty["data"].is_array() && empty["hasMore"] == false && empty["nextCursor"].is_null(),
            "{path}"
        );
    }
    let reply = admin.get(&format!("/v1/members/{}", member(900)));
    let missing = admin.get(&format!("/v1/members/{}", member(999)));
    assert_eq!(
        reply.refused(404, "not_found")["message"],
        missing.refused(404, "not_found")["message"],
        "a stranger's and no one's"
    );
}

fn filters_narrow_and_order_holds(engine: Engine) {
    let world = World::new(engine);
    let admin = world.admin();
    for (path, field, words) in [
        (
            "payments",
            "status",
            &[
                "pending",
                "processing",
                "partially_paid",
                "paid",
                "cancelled",
                "failed",
                "disputed",
            ][..],
        ),
        (
            "reimbursements",
            "status",
            &["draft", "submitted", "approved", "rejected", "paid", "voided"],
        ),
        (
            "reminders",
            "status",
            &["scheduled", "sending", "sent", "failed", "completed", "cancelled"],
        ),
        (
            "cards",
            "status",
            &["active", "frozen", "canceled", "invited", "denied"],
        ),
    ] {
        let all = admin.walk(&format!("/v1/{path}?limit=7"));
        for word in words {
            let found = admin.walk(&format!("/v1/{path}?{field}={word}&limit=2"));
            assert!(!found.is_empty(), "{path} {word}");
            let expected: Vec<_> = all.iter().filter(|row| row[field] == *word).cloned().collect();
            assert_eq!(found, expected, "{path} {word}");
        }
        let stamps: Vec<_> = all
            .iter()
            .map(|row| (row["updatedAt"].to_string(), row["id"].to_string()))
            .collect();
        assert!(stamps.is_sorted(), "{path} is oldest change first");
    }
    let all = admin.walk("/v1/members?limit=100");
    for is_active in [true, false] {
        let found = admin.walk(&format!("/v1/members?isActive={is_active}&limit=1"));
        assert_eq!(
            found,
            all.iter()
                .filter(|row| row["isActive"] == is_active)
                .cloned()
                .collect::<Vec<_>>()
        );
    }
    let of_two = admin.walk(&format!("/v1/payments?memberId={}&limit=1", member(2)));
    assert_eq!(of_two.len(), 3);
    assert_eq!(
        admin
            .walk(&format!("/v1/payments?memberId={}&status=paid", member(2)))
            .len(),
        1
    );
    assert_eq!(
        admin.get(&format!("/v1/payments?memberId={}", member(900))).ok()["data"],
        json!([]),
        "a stranger has no payments here"
    );
    // limit: 50 unless said, hasMore and nextCursor describe the filtered set.
    assert_eq!(
        admin.get("/v1/reminders").ok()["data"].as_array().unwrap().len(),
        50
    );
    let page = admin.get("/v1/reminders?limit=100").ok();
    assert_eq!(
        (
            page["data"].as_array().unwrap().len(),
            &page["hasMore"],
            &page["nextCursor"]
        ),
        (63, &json!(false), &Value::Null)
    );
    let exact = admin.get("/v1/cards?status=active&limit=1").ok();
    assert_eq!(
        (&exact["hasMore"], &exact["nextCursor"]),
        (&json!(false), &Value::Null),
        "the one there is"
    );
}

fn the_token_explains_itself(engine: Engine) {
    let world = World::new(engine);
    let me = world.viewer();
    let told = me.get("/v1/token").ok();
    assert_eq!(
        keys(&told),
        [
            "id",
            "kind",
            "name",
            "organizationId",
            "role",
            "expiresAt",
            "scopes",
            "effectiveScopes",
            "withheld"
        ]
    );
    assert_eq!(told["id"], me.token().unwrap().id);
    assert_eq!(
        (&told["kind"], &told["role"], &told["organizationId"]),
        (
            &json!("personal"),
            &json!("viewer"),
            &json!(organization(NATIONAL))
        )
    );
    let withheld = json!([
        { "scope": "cards:read", "by": "role" }, { "scope": "cards:write", "by": "role" },
        { "scope": "groups:write", "by": "role" }, { "scope": "members:write", "by": "role" }, { "scope": "reminders:write", "by": "role" },
    ]);
    let mut sorted = told["withheld"].as_array().unwrap().clone();
    sorted.sort_by_key(|entry| entry["scope"].to_string());
    assert_eq!(Value::from(sorted), withheld);
    assert_eq!(told["scopes"].as_array().unwrap().len(), 14);
    assert_eq!(told["effectiveScopes"].as_array().unwrap().len(), 9);
    world.run(&[
        "policy",
        "set",
        "--organization",
        &organization(NATIONAL),
        "--block-scope",
        "members:read",
    ]);
    let told = me.get("/v1/token").ok();
    assert!(
        told["withheld"]
            .as_array()
            .unwrap()
            .contains(&json!({ "scope": "members:read", "by": "policy" }))
    );
    let service =
        world
            .service(bursar_domain::access::Role::Editor)
            .without(bursar_domain::access::ScopeSet::of(&[
                bursar_domain::access::Scope::MembersRead,
            ]));
    assert_eq!(service.get("/v1/token").ok()["kind"], "service");
    // A person's token acts in its own organization, whatever other roles they have.
    let elsewhere = world.person("editor", RIVAL).get("/v1/token").ok();
    assert_eq!(elsewhere["organizationId"], organization(RIVAL));
    assert_eq!(world.admin_of(NORTH).get("/v1/token").ok()["role"], "admin");
}
