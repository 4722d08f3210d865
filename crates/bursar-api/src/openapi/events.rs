//! Events and the webhooks that deliver them. Names, resources and schemas follow from the table of types.

use bursar_domain::event::{EventResource, EventType, NAMES, TYPES};
use bursar_domain::ids::kind;
use serde_json::{Map, Value, json};

use super::examples;
use super::schemas::{Field, object};
use super::values::{
    capitalized, id, id_with, one_of, or_null, reference, resource_id, says, timestamp, words,
};

/// The tag of the webhooks.
pub(crate) const WEBHOOKS: &str = "Webhooks";
/// The type of the event that tests an endpoint. It is not in the table: nothing happened.
const TEST: &str = "test";

/// `Event`, and one for each resource with the fields narrowed to it.
pub(super) fn schemas() -> Vec<(String, Value)> {
    let any = json!({"anyOf": EventResource::ALL.iter().map(|resource| reference(schema_of(*resource))).collect::<Vec<_>>()});
    let event = envelope(
        one_of("EventType", NAMES.iter().copied()),
        words::<EventResource>("EventResource"),
        resource_id(),
        any,
    );
    let mut all = vec![(
        "Event".to_owned(),
        says(object(event), "A write of a resource's row."),
    )];
    for resource in EventResource::ALL {
        let name = name_of(*resource);
        let event = envelope(
            one_of(&format!("{name}Type"), resource.types().map(|known| known.name)),
            one_of(&format!("{name}Resource"), [resource.as_str()]),
            id_with(resource.prefix()),
            reference(schema_of(*resource)),
        );
        let about = format!("A change of {}.", a(*resource));
        all.push((name, says(object(event), &about)));
    }
    let nothing = json!({"type": "object", "maxProperties": 0});
    let test = envelope(
        one_of("TestEventType", [TEST]),
        json!({"type": "null"}),
        json!({"type": "null"}),
        nothing,
    );
    all.push((
        "TestEvent".to_owned(),
        says(
            object(test),
            "Sent when somebody tests the endpoint. Nothing has changed.",
        ),
    ));
    all
}

fn envelope(name: Value, resource: Value, resource_id: Value, data: Value) -> Vec<Field> {
    let actor = object(vec![
        (
            "kind",
            says(
                one_of("ActorKind", ["token", "user", "member", "operator", "worker"]),
                "`token`: an API token. `user`: a person in the console. `member`: a member on their own page. `operator`: the command line. `worker`: the service itself.",
            ),
        ),
        (
            "id",
            says(
                or_null(json!({"type": "string"})),
                "Id of the token, the user or the member. Null for `operator` and `worker`.",
            ),
        ),
    ]);
    vec![
        ("id", id::<kind::Event>()),
        (
            "type",
            says(name, "Type of the event: the most specific one that applies."),
        ),
        (
            "createdAt",
            says(timestamp(), "The `updatedAt` that the change gave the resource."),
        ),
        (
            "organizationId",
            says(
                id::<kind::Organization>(),
                "The organization in which it happened.",
            ),
        ),
        ("resource", says(resource, "Kind of resource that changed.")),
        (
            "resourceId",
            says(resource_id, "Id of the resource that changed."),
        ),
        (
            "data",
            says(data, "The resource after the change, as the API returns it."),
        ),
        (
            "changed",
            says(
                json!({"type": "array", "items": {"type": "string"}, "uniqueItems": true}),
                "Names of the fields of `data` that changed, without `updatedAt`. Empty for a new resource, and if only \
                 fields that the API does not return have changed.",
            ),
        ),
        ("actor", says(actor, "Who made the change.")),
        (
            "requestId",
            says(
                or_null(id::<kind::Request>()),
                "The request that made the change. Null if there was none.",
            ),
        ),
    ]
}

/// One for each type, and the test.
pub(super) fn webhooks() -> Value {
    let mut all = Map::new();
    for known in TYPES {
        let title = format!("{}Type", pascal(known.name));
        let schema = json!({"allOf": [
            reference(&name_of(known.resource)),
            {"type": "object", "properties": {"type": one_of(&title, [known.name])}},
        ]});
        all.insert(
            known.name.to_owned(),
            webhook(known.name, &summary(*known), schema),
        );
    }
    let test = webhook(TEST, "A test of the endpoint", reference("TestEvent"));
    all.insert(TEST.to_owned(), test);
    Value::Object(all)
}

fn webhook(name: &str, summary: &str, schema: Value) -> Value {
    let headers: Vec<Value> = HEADERS
        .iter()
        .map(|header| json!({"$ref": format!("#/components/parameters/{}", header.key)}))
        .collect();
    let responses: Map<String, Value> = RESPONSES
        .iter()
        .map(|(status, key, _)| {
            let place = format!("#/components/responses/{key}");
            ((*status).to_owned(), json!({"$ref": place}))
        })
        .collect();
    let mut content = json!({"schema": schema});
    if let Some(example) = examples::delivered(name) {
        content["examples"] = json!({"example": {"summary": "An example", "value": example}});
    }
    json!({"post": {
        "operationId": format!("on{}", pascal(name)),
        "tags": [WEBHOOKS],
        "summary": summary,
        "description": format!("Sent to webhook endpoints that ask for `{name}`. The body is the event, as `GET /v1/events` lists it."),
        "parameters": headers,
        "requestBody": {"description": "The event.", "required": true, "content": {"application/json": content}},
        "responses": responses,
        // The signature proves the sender; receivers have no token of ours.
        "security": [],
    }})
}

/// A header of a delivery.
struct Header {
    /// Among the parameters of the document.
    key: &'static str,
    name: &'static str,
    /// `None` for an event's id.
    pattern: Option<&'static str>,
    about: &'static str,
}

const HEADERS: &[Header] = &[
    Header {
        key: "webhookId",
        name: "webhook-id",
        pattern: None,
        about: "The event's `id`. The same on every attempt, so it identifies a repeated delivery.",
    },
    Header {
        key: "webhookTimestamp",
        name: "webhook-timestamp",
        pattern: Some("^[0-9]+$"),
        about: "When this attempt was made, in seconds since 1970. Reject one that is more than five minutes off.",
    },
    Header {
        key: "webhookSignature",
        name: "webhook-signature",
        pattern: Some("^v1,[0-9A-Za-z+/]{43}=(?: v1,[0-9A-Za-z+/]{43}=)*$"),
        about: "`v1,` and the base64 of HMAC-SHA256 over `webhook-id.webhook-timestamp.body`, by the endpoint's secret. While \
                a secret is rotated there are two, separated by a space: accept the delivery if one matches.",
    },
];

/// Those of `HEADERS`, for the components of the document.
pub(super) fn parameters() -> impl Iterator<Item = (&'static str, Value)> {
    HEADERS.iter().map(|header| {
        let schema = match header.pattern {
            None => id::<kind::Event>(),
            Some(pattern) => json!({"type": "string", "pattern": pattern}),
        };
        let parameter = json!({
            "name": header.name, "in": "header", "required": true, "description": header.about,
            "schema": schema, "example": examples::delivery_header(header.name),
        });
        (header.key, parameter)
    })
}

/// Status, name among the components, and what bursar makes of it.
const RESPONSES: &[(&str, &str, &str)] = &[
    (
        "2XX",
        "WebhookDelivered",
        "Any complete 2xx response within 15 seconds: the event is delivered. The content of the body is ignored.",
    ),
    (
        "410",
        "WebhookGone",
        "Disables the endpoint. It keeps its position, and the organization's admins are notified by mail.",
    ),
    (
        "4XX",
        "WebhookRefused",
        "Retried like any failure. An event refused with 400, 413 or 422 eight times in a row is skipped.",
    ),
    (
        "default",
        "WebhookFailed",
        "Retried after 5 seconds, 1, 5 and 30 minutes, then every hour, in order: nothing later is delivered before. \
         `Retry-After` of up to an hour is honoured. Redirects are not followed. After 5 days without a 2xx the endpoint \
         is disabled.",
    ),
];

pub(super) fn responses() -> impl Iterator<Item = (&'static str, Value)> {
    RESPONSES
        .iter()
        .map(|(_, key, about)| (*key, json!({"description": about})))
}

fn summary(known: EventType) -> String {
    let a = capitalized(a(known.resource));
    match known.word {
        "created" => format!("{a} was created"),
        "archived" | "restored" | "activated" | "retired" => format!("{a} was {}", known.word),
        "updated" => format!("{a} changed in another way"),
        status => format!("{a} became {}", status.replace('_', " ")),
    }
}

/// The name of its schema.
const fn schema_of(resource: EventResource) -> &'static str {
    match resource {
        EventResource::Member => "Member",
        EventResource::Group => "Group",
        EventResource::Payment => "Payment",
        EventResource::Reimbursement => "Reimbursement",
        EventResource::Reminder => "Reminder",
        EventResource::Card => "Card",
        EventResource::Campaign => "Campaign",
        EventResource::Listing => "StoreListing",
        EventResource::Order => "StoreOrder",
    }
}

/// `PaymentPaid` of `payment.paid`.
fn pascal(name: &str) -> String {
    name.split(['.', '_']).map(capitalized).collect()
}

/// The name of the schema of its events.
fn name_of(resource: EventResource) -> String {
    format!("{}Event", schema_of(resource))
}

/// With its article.
const fn a(resource: EventResource) -> &'static str {
    match resource {
        EventResource::Member => "a member",
        EventResource::Group => "a group",
        EventResource::Payment => "a payment",
        EventResource::Reimbursement => "a reimbursement",
        EventResource::Reminder => "a reminder",
        EventResource::Card => "a card",
        EventResource::Campaign => "a campaign",
        EventResource::Listing => "a listing",
        EventResource::Order => "an order",
    }
}
