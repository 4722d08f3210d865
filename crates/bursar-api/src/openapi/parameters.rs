//! Request parameters and response headers, each defined once and referenced where used.

use bursar_domain::campaign::CampaignStatus;
use bursar_domain::card::CardStatus;
use bursar_domain::event::NAMES;
use bursar_domain::ids::kind;
use bursar_domain::order::OrderStatus;
use bursar_domain::payment::PaymentStatus;
use bursar_domain::reimbursement::ReimbursementStatus;
use bursar_domain::reminder::ReminderStatus;
use serde_json::{Map, Value, json};

use super::operations::is_list;
use super::values::{boolean, cursor, id, one_of, page_limit, resource_id, timestamp_in, words};
use super::{events, examples};
use crate::routes::{KeyRule, Operation, ROUTES, Route};

const KEY_MAX: usize = 255;

pub(super) fn all() -> Value {
    let query = |name: &str, schema: Value, example: Value, description: &str| json!({"name": name, "in": "query", "required": false, "description": description, "schema": schema, "example": example});
    let key = |required: bool, description: &str| {
        let schema =
            json!({"type": "string", "minLength": 1, "maxLength": KEY_MAX, "pattern": r"^[\x21-\x7e]+$"});
        json!({
            "name": "Idempotency-Key", "in": "header", "required": required, "description": description,
            "schema": schema, "example": "7f3a1c52-0d6e-4b8f-9a51-6c2e90d47b13",
        })
    };
    let mut all = Map::new();
    let mut add = |name: &str, parameter: Value| all.insert(name.to_owned(), parameter);

    add(
        "limit",
        query(
            "limit",
            page_limit(),
            json!(50),
            "How many rows a page has at most.",
        ),
    );
    add(
        "cursor",
        query(
            "cursor",
            cursor(),
            json!(examples::cursor()),
            "The `nextCursor` of the page before, unchanged. It works for 24 hours from the walk's first page. It carries the \
             filters: leave them out, or repeat them as they were. `limit` may change.",
        ),
    );
    add(
        "updatedSince",
        query(
            "updatedSince",
            timestamp_in(),
            json!(examples::since()),
            "Only rows whose `updatedAt` is at or after this time: RFC 3339, with an offset.",
        ),
    );
    add(
        "isActive",
        query(
            "isActive",
            boolean(),
            json!(true),
            "Only active members, or only archived ones.",
        ),
    );
    for (name, schema, example) in [
        (
            "cardStatus",
            words::<CardStatus>("CardStatus"),
            CardStatus::Active.as_str(),
        ),
        (
            "reminderStatus",
            words::<ReminderStatus>("ReminderStatus"),
            ReminderStatus::Scheduled.as_str(),
        ),
        (
            "reimbursementStatus",
            words::<ReimbursementStatus>("ReimbursementStatus"),
            ReimbursementStatus::Submitted.as_str(),
        ),
        (
            "paymentStatus",
            words::<PaymentStatus>("PaymentStatus"),
            PaymentStatus::Pending.as_str(),
        ),
        (
            "campaignStatus",
            words::<CampaignStatus>("CampaignStatus"),
            CampaignStatus::Active.as_str(),
        ),
        (
            "orderStatus",
            words::<OrderStatus>("StoreOrderStatus"),
            OrderStatus::Pending.as_str(),
        ),
    ] {
        add(
            name,
            query("status", schema, json!(example), "Only rows in this state."),
        );
    }
    add(
        "memberIdFilter",
        query(
            "memberId",
            id::<kind::Member>(),
            json!(examples::member_id()),
            "Only rows of this member.",
        ),
    );
    add(
        "listingIdFilter",
        query(
            "listingId",
            id::<kind::Listing>(),
            json!(examples::id::<kind::Listing>(9)),
            "Only orders from this listing.",
        ),
    );
    add(
        "createdSince",
        query(
            "createdSince",
            timestamp_in(),
            json!(examples::since()),
            "Only events whose `createdAt` is at or after this time: RFC 3339, with an offset. A time from before the events \
             that are kept is refused.",
        ),
    );
    add(
        "eventType",
        query(
            "type",
            one_of("EventType", NAMES.iter().copied()),
            json!("payment.paid"),
            "Only events of this type.",
        ),
    );
    add(
        "resourceIdFilter",
        query(
            "resourceId",
            resource_id(),
            json!(examples::id::<kind::Payment>(3)),
            "Only events of this resource.",
        ),
    );
    add(
        "idempotencyKey",
        key(
            true,
            "Names this operation, so that a retry does not repeat it: 1 to 255 visible ASCII characters, new for each \
             operation. The same key with the same parameters returns the first response again, byte for byte, with \
             `Idempotent-Replayed: true`. With other parameters it is a 409. Keys are kept for 7 days by default, and \
             belong to the user or the service, so that a rotated token can retry.",
        ),
    );
    add(
        "optionalIdempotencyKey",
        key(
            false,
            "May be left out here: the request is safe to repeat. When sent, it works as on the endpoints that need it.",
        ),
    );
    for name in path_names() {
        let (schema, example, noun) = path_value(name);
        let description = format!("The id of the {noun}.");
        add(
            name,
            json!({"name": name, "in": "path", "required": true, "description": description, "schema": schema, "example": example}),
        );
    }
    for (name, header) in events::parameters() {
        add(name, header);
    }
    Value::Object(all)
}

fn names_in(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn path_names() -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for name in ROUTES.iter().flat_map(|route| names_in(route.path)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

fn path_value(name: &str) -> (Value, Value, &'static str) {
    fn of<K: bursar_domain::ids::Kind>(number: u128) -> (Value, Value, &'static str) {
        (id::<K>(), json!(examples::id::<K>(number)), K::NOUN)
    }
    match name {
        "memberId" => of::<kind::Member>(1),
        "groupId" => of::<kind::Group>(2),
        "reminderId" => of::<kind::Reminder>(5),
        "campaignId" => of::<kind::Campaign>(8),
        "listingId" => of::<kind::Listing>(9),
        "orderId" => of::<kind::Order>(10),
        "eventId" => of::<kind::Event>(15),
        "chapterId" => {
            let (schema, example, _) = of::<kind::Organization>(13);
            (schema, example, "chapter, which is an organization")
        }
        _ => (json!({"type": "string"}), json!("x"), "resource"),
    }
}

fn filters(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::ListCards => &["cardStatus"],
        Operation::ListReminders => &["reminderStatus"],
        Operation::ListMembers | Operation::ListChapterMembers => &["isActive"],
        Operation::ListReimbursements => &["reimbursementStatus"],
        Operation::ListPayments => &["paymentStatus", "memberIdFilter"],
        Operation::ListCampaigns => &["campaignStatus"],
        Operation::ListStoreOrders => &["orderStatus", "memberIdFilter", "listingIdFilter"],
        Operation::ListEvents => &["eventType", "resourceIdFilter"],
        Operation::CreateCard
        | Operation::SendReminder
        | Operation::GetMember
        | Operation::UpdateMember
        | Operation::CreateGroup
        | Operation::ListGroups
        | Operation::GetGroup
        | Operation::UpdateGroup
        | Operation::RemoveGroupMember
        | Operation::GetCampaign
        | Operation::ListStoreListings
        | Operation::ListChapters
        | Operation::GetStoreListing
        | Operation::GetStoreOrder
        | Operation::GetEvent
        | Operation::GetToken
        | Operation::GetOpenapi => &[],
    }
}

pub(super) fn of(route: &Route) -> Vec<Value> {
    let mut names: Vec<&str> = names_in(route.path).collect();
    if is_list(route.operation) {
        names.extend(["limit", "cursor"]);
        names.push(match route.operation {
            Operation::ListEvents => "createdSince",
            _ => "updatedSince",
        });
    }
    names.extend(filters(route.operation));
    match route.key {
        KeyRule::Required => names.push("idempotencyKey"),
        KeyRule::Optional => names.push("optionalIdempotencyKey"),
        KeyRule::Ignored => {}
    }
    let named = |name| json!({"$ref": format!("#/components/parameters/{name}")});
    names.into_iter().map(named).collect()
}

/// Headers of every response.
const EVERYWHERE: [&str; 7] = [
    "RateLimit-Limit",
    "RateLimit-Remaining",
    "RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
    "X-Request-Id",
    "Cache-Control",
];

/// Headers of every response, and `more`.
pub(super) fn headers(more: &[&str]) -> Value {
    let named = |name: &&str| {
        (
            (*name).to_owned(),
            json!({"$ref": format!("#/components/headers/{name}")}),
        )
    };
    Value::Object(EVERYWHERE.iter().chain(more).map(named).collect())
}

pub(super) fn all_headers() -> Value {
    let count = |least: u32, most: Option<u32>, example: u32, description: &str| {
        let mut schema = json!({"type": "integer", "minimum": least});
        if let Some(most) = most {
            schema["maximum"] = most.into();
        }
        json!({"description": description, "required": true, "schema": schema, "example": example})
    };
    let text = |required: bool, schema: Value, example: Value, description: &str| json!({"description": description, "required": required, "schema": schema, "example": example});
    let pattern = |pattern: &str| json!({"type": "string", "pattern": pattern});
    json!({
        "RateLimit-Limit": count(1, None, 600, "Units per minute in this bucket."),
        "RateLimit-Remaining": count(0, None, 599, "Units left in this window."),
        "RateLimit-Reset": count(1, Some(60), 42, "Seconds until the window rolls over."),
        "RateLimit-Policy": text(
            true,
            pattern("^\"(?:read|write|messaging)\";q=[0-9]+;w=60$"),
            json!("\"read\";q=600;w=60"),
            "The bucket, its units and its window, in the format of the IETF draft on rate limit fields.",
        ),
        "RateLimit": text(
            true,
            pattern("^\"(?:read|write|messaging)\";r=[0-9]+;t=[0-9]+$"),
            json!("\"read\";r=599;t=42"),
            "Units left, and seconds until the window rolls over, in the format of the IETF draft.",
        ),
        "X-Request-Id": text(
            true,
            id::<kind::Request>(),
            json!(examples::id::<kind::Request>(14)),
            "The request's id. Include it when you report a problem.",
        ),
        "Cache-Control": text(
            true,
            json!({"type": "string", "const": "no-store"}),
            json!("no-store"),
            "Responses contain personal data; caches must not store them.",
        ),
        "Idempotent-Replayed": text(
            false,
            json!({"type": "string", "const": "true"}),
            json!("true"),
            "Present when this is the response to an earlier request with the same key.",
        ),
        "Retry-After": text(
            false,
            json!({"type": "integer", "minimum": 1}),
            json!(42),
            "Seconds to wait before a retry. Always present with 429 and 503, and with `idempotency_key_in_use`.",
        ),
        "WWW-Authenticate": text(
            true,
            json!({"type": "string"}),
            json!("Bearer realm=\"bursar\""),
            "How to authenticate.",
        ),
    })
}
