//! The operations: one for each row of `ROUTES`.

use bursar_http::limits::Limits;
use serde_json::{Map, Value, json};

use super::values::reference;
use super::{errors, examples, parameters};
use crate::routes::{BodyRule, Cost, KeyRule, Operation, ROUTES, Route};

pub(super) fn paths(base_url: &str) -> Value {
    let mut paths = Map::new();
    for route in &ROUTES {
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.as_str().to_ascii_lowercase()] = operation(route, base_url);
    }
    Value::Object(paths)
}

pub(super) fn is_list(operation: Operation) -> bool {
    success_schema(operation).ends_with("Page")
}

fn operation(route: &Route, base_url: &str) -> Value {
    let mut operation = json!({
        "operationId": route.name,
        "tags": [tag(route.operation)],
        "summary": route.summary,
        "description": description(route),
    });
    let parameters = parameters::of(route);
    if !parameters.is_empty() {
        operation["parameters"] = Value::from(parameters);
    }
    if let Some(body) = body(route) {
        operation["requestBody"] = body;
    }
    let mut responses = Map::new();
    responses.insert(route.success.to_string(), success(route));
    responses.extend(errors::of(route, base_url));
    operation["responses"] = Value::Object(responses);
    // Scopes are listed beside the security scheme, because linters accept scopes inside it only for OAuth 2.
    operation["security"] = if route.needs_token() {
        json!([{"bearerAuth": []}])
    } else {
        json!([])
    };
    let scopes: Vec<&str> = route.scopes().iter().map(|scope| scope.as_str()).collect();
    if !scopes.is_empty() {
        operation["x-required-scopes"] = Value::from(scopes);
        operation["x-least-role"] = route.role().as_str().into();
    }
    operation["x-rate-limit-bucket"] = route.bucket.name().into();
    operation
}

/// The endpoint's own text, then what `ROUTES` says about it.
fn description(route: &Route) -> String {
    let scopes: Vec<String> = route.scopes().iter().map(|scope| format!("`{scope}`")).collect();
    let needs = match (route.needs_token(), scopes.as_slice()) {
        (false, _) => "No token is needed.".to_owned(),
        (true, []) => "Any valid token; no scope is needed.".to_owned(),
        (true, [one]) => format!("Needs the scope {one} and at least the role {}.", route.role()),
        (true, several) => format!(
            "Needs the scopes {} and at least the role {}.",
            several.join(" and "),
            route.role()
        ),
    };
    let units = match route.cost {
        Cost::One => "1 unit",
        Cost::PerRowsAsked => "`limit` / 25 units, rounded up (2 when `limit` is left out),",
    };
    let charge = format!(
        "Costs {units} of the {} bucket ({} per minute by default).",
        route.bucket.name(),
        Limits::default().of(route.bucket)
    );
    format!("{}\n\n{needs} {charge}", about(route.operation))
}

fn about(operation: Operation) -> &'static str {
    match operation {
        Operation::CreateCard => {
            "Creates a card with a spend limit. When the organization is approved for issuing, the response has `kind` \
             `card`: the card is `invited` when a member is to hold it, else `active` immediately. When it is not approved \
             yet, the response has `kind` `application`, and each new key creates a new application. A card for an archived \
             member is a conflict."
        }
        Operation::ListCards => "Returns the organization's cards, oldest change first.",
        Operation::SendReminder => {
            "Sends a scheduled reminder without waiting for its time. `outcome` is `sent` when at least one recipient \
             qualifies: the reminder is `sending` until the messages are delivered. It is `skipped` when nobody does: \
             archived, without an address for the method, or owing nothing where `includePaymentInfo` is set. A skipped \
             reminder is `completed`; a recurring one is scheduled again. A reminder that is not `scheduled` is a \
             conflict. The body is an empty JSON object, or none."
        }
        Operation::ListReminders => "Returns the organization's reminders, oldest change first.",
        Operation::GetMember => "Returns one member, active or archived.",
        Operation::UpdateMember => {
            "Changes the fields that the body names and keeps the others. `isActive: false` archives the member: an \
             archived member stays in its groups and keeps its payments, but is not counted in `memberCount`. Their active \
             cards are frozen, and `isActive: true` does not unfreeze them. A member whose data was erased cannot be changed. A \
             body that changes nothing leaves `updatedAt` as it is. `null` is refused."
        }
        Operation::ListMembers => {
            "Returns the organization's members, oldest change first. To keep a copy up to date, follow `nextCursor` to the \
             end, then ask again with `updatedSince` set to the largest `updatedAt` you saw."
        }
        Operation::CreateGroup => {
            "Creates a group. Its dues (`amountDue`, `dueDate`, `isRecurring`, `recurringInterval`) are set by officers: in \
             a body they are refused."
        }
        Operation::ListGroups => {
            "Returns the organization's groups with their dues and how many active members each has, oldest change first."
        }
        Operation::GetGroup => "Returns one group with its dues and how many active members it has.",
        Operation::UpdateGroup => {
            "Changes the name, the description or both. A body that changes nothing leaves `updatedAt` as it is. `null` \
             and the read-only fields are refused."
        }
        Operation::RemoveGroupMember => {
            "Removes a member from a group and returns the group. The member and its payments stay as they are. A member who \
             is not in the group is not found. The body is an empty JSON object, or none."
        }
        Operation::ListChapters => {
            "Returns the direct child chapters of a national organization, oldest change first. For any other organization \
             the list is not found. `updatedAt` is when a chapter was created here, moved here or renamed. A chapter that \
             moves elsewhere leaves the list. Reading it is not recorded in any activity log, because it shows no person."
        }
        Operation::ListChapterMembers => {
            "Returns the members of a chapter. It is for national organizations, and for their direct child chapters only: \
             anything else is not found. Each page that is read is noted in the chapter's own activity log, with the \
             reader. It returns the same fields as the member list, and no more."
        }
        Operation::ListReimbursements => {
            "Returns the organization's reimbursements, oldest change first. Receipts, payout references and reviewers' \
             notes are hidden in v1."
        }
        Operation::ListPayments => {
            "Returns the charges that the organization raised, oldest change first. Providers' identifiers are hidden in v1."
        }
        Operation::ListCampaigns => "Returns the organization's fundraising campaigns, oldest change first.",
        Operation::GetCampaign => "Returns one fundraising campaign.",
        Operation::ListStoreListings => {
            "Returns what the organization sells, oldest change first. Items and stock are hidden in v1."
        }
        Operation::GetStoreListing => "Returns one store listing. Items and stock are hidden in v1.",
        Operation::ListStoreOrders => {
            "Returns what was bought, oldest change first. An order does not show when it last changed; `updatedSince` \
             compares that time all the same. To keep a copy up to date, pass the largest `createdAt` that you have: \
             no change is missed, and some orders are returned again."
        }
        Operation::GetStoreOrder => "Returns one store order.",
        Operation::ListEvents => {
            "Returns what happened to the organization's resources, oldest first: one event for every write of a row, with \
             the row's representation after it. `type` is the most specific word: `created` for a new row, else the status \
             that it moved to, else `archived` and `restored` (members) or `activated` and `retired` (listings), else \
             `updated`. Only events of resources that the token may read are in the list. Events are kept for 30 days by \
             default; a `createdSince` from before what is kept is refused, so that missing events are never mistaken for \
             no events. `createdAt` is the `updatedAt` that the change gave the row: pass the largest one that you have \
             seen as `createdSince` to continue."
        }
        Operation::GetEvent => {
            "Returns one event. One of a resource that the token may not read is not found."
        }
        Operation::GetToken => {
            "Describes the calling token: its organization, its role, when it expires, which scopes it was given and \
             which of them work now. `withheld` says why the others do not: the role does not allow them, or the \
             organization's policy blocks them. Call it first when a request is refused with `insufficient_scope`."
        }
        Operation::GetOpenapi => "Returns the OpenAPI description of this API, which you are reading.",
    }
}

fn tag(operation: Operation) -> &'static str {
    match operation {
        Operation::CreateCard | Operation::ListCards => "Cards",
        Operation::SendReminder | Operation::ListReminders => "Reminders",
        Operation::GetMember | Operation::UpdateMember | Operation::ListMembers => "Members",
        Operation::CreateGroup
        | Operation::ListGroups
        | Operation::GetGroup
        | Operation::UpdateGroup
        | Operation::RemoveGroupMember => "Groups",
        Operation::ListChapters | Operation::ListChapterMembers => "Chapters",
        Operation::ListReimbursements => "Reimbursements",
        Operation::ListPayments => "Payments",
        Operation::ListCampaigns | Operation::GetCampaign => "Campaigns",
        Operation::ListStoreListings
        | Operation::GetStoreListing
        | Operation::ListStoreOrders
        | Operation::GetStoreOrder => "Store",
        Operation::ListEvents | Operation::GetEvent => "Events",
        Operation::GetToken | Operation::GetOpenapi => "Service",
    }
}

/// In the order of the page.
pub(super) const TAGS: &[(&str, &str)] = &[
    ("Members", "The people of the organization."),
    ("Groups", "Members who owe the same dues."),
    ("Payments", "Dues and other charges."),
    ("Reimbursements", "Expenses that the organization pays back."),
    ("Reminders", "Messages by e-mail or SMS."),
    ("Cards", "Spending with a limit, in the organization's name."),
    ("Campaigns", "Fundraising."),
    ("Store", "What the organization sells, and what was bought."),
    (
        "Chapters",
        "The child chapters of national organizations, and their rosters.",
    ),
    ("Events", "What happened, in order."),
    (
        super::WEBHOOKS,
        "Events, sent to your URL as they happen, in order and at least once. Admins set endpoints up in the \
         console or with `bursar webhook create`. Deliveries follow Standard Webhooks; its libraries verify them.",
    ),
    ("Service", "The calling token, and this description."),
];

fn success_schema(operation: Operation) -> &'static str {
    match operation {
        Operation::CreateCard => "CardCreation",
        Operation::ListCards => "CardPage",
        Operation::SendReminder => "SentReminder",
        Operation::ListReminders => "ReminderPage",
        Operation::GetMember | Operation::UpdateMember => "Member",
        Operation::ListMembers | Operation::ListChapterMembers => "MemberPage",
        Operation::CreateGroup
        | Operation::GetGroup
        | Operation::UpdateGroup
        | Operation::RemoveGroupMember => "Group",
        Operation::ListGroups => "GroupPage",
        Operation::ListReimbursements => "ReimbursementPage",
        Operation::ListPayments => "PaymentPage",
        Operation::ListCampaigns => "CampaignPage",
        Operation::GetCampaign => "Campaign",
        Operation::ListStoreListings => "StoreListingPage",
        Operation::GetStoreListing => "StoreListing",
        Operation::ListStoreOrders => "StoreOrderPage",
        Operation::GetStoreOrder => "StoreOrder",
        Operation::ListChapters => "ChapterPage",
        Operation::ListEvents => "EventPage",
        Operation::GetEvent => "Event",
        Operation::GetToken => "Token",
        Operation::GetOpenapi => "",
    }
}

fn success(route: &Route) -> Value {
    let schema = match success_schema(route.operation) {
        "" => json!({"type": "object", "description": "An OpenAPI document."}),
        name => reference(name),
    };
    let keyed: &[&str] = if route.key == KeyRule::Ignored {
        &[]
    } else {
        &["Idempotent-Replayed"]
    };
    let mut response = json!({
        "description": said(route.operation),
        "headers": parameters::headers(keyed),
        "content": {"application/json": {"schema": schema, "examples": named(examples::success(route.operation))}},
    });
    let links = links(route.operation);
    if !links.is_empty() {
        response["links"] = links
            .iter()
            .map(|(target, parameter, from)| {
                let link = json!({"operationId": target, "parameters": {*parameter: format!("$response.body#/{from}")}});
                ((*target).to_owned(), link)
            })
            .collect::<Map<_, _>>()
            .into();
    }
    response
}

fn said(operation: Operation) -> &'static str {
    match operation {
        Operation::CreateCard => "The card, or the application for one.",
        Operation::SendReminder => "The reminder and its outcome.",
        Operation::GetMember | Operation::UpdateMember => "The member.",
        Operation::CreateGroup
        | Operation::GetGroup
        | Operation::UpdateGroup
        | Operation::RemoveGroupMember => "The group.",
        Operation::GetCampaign => "The campaign.",
        Operation::GetStoreListing => "The listing.",
        Operation::GetStoreOrder => "The order.",
        Operation::GetEvent => "The event.",
        Operation::GetToken => "The token.",
        Operation::GetOpenapi => "The document.",
        Operation::ListCards
        | Operation::ListReminders
        | Operation::ListMembers
        | Operation::ListGroups
        | Operation::ListChapterMembers
        | Operation::ListReimbursements
        | Operation::ListPayments
        | Operation::ListCampaigns
        | Operation::ListStoreListings
        | Operation::ListStoreOrders
        | Operation::ListChapters
        | Operation::ListEvents => "A page.",
    }
}

/// Operations that can be called with a value of this response: operation, parameter, and the value's place in the body.
fn links(operation: Operation) -> &'static [(&'static str, &'static str, &'static str)] {
    match operation {
        Operation::ListReminders => &[("sendReminder", "reminderId", "data/0/id")],
        Operation::ListMembers => &[
            ("getMember", "memberId", "data/0/id"),
            ("updateMember", "memberId", "data/0/id"),
            ("listPayments", "memberId", "data/0/id"),
        ],
        Operation::UpdateMember => &[("getMember", "memberId", "id")],
        Operation::CreateGroup => &[("getGroup", "groupId", "id"), ("updateGroup", "groupId", "id")],
        Operation::ListGroups => &[
            ("getGroup", "groupId", "data/0/id"),
            ("updateGroup", "groupId", "data/0/id"),
        ],
        Operation::ListPayments => &[("getMember", "memberId", "data/0/memberId")],
        Operation::ListStoreListings => &[("getStoreListing", "listingId", "data/0/id")],
        Operation::ListCampaigns => &[("getCampaign", "campaignId", "data/0/id")],
        Operation::ListStoreOrders => &[
            ("getStoreOrder", "orderId", "data/0/id"),
            ("getStoreListing", "listingId", "data/0/listingId"),
            ("getMember", "memberId", "data/0/memberId"),
        ],
        Operation::ListEvents => &[("getEvent", "eventId", "data/0/id")],
        Operation::ListChapters => &[("listChapterMembers", "chapterId", "data/0/id")],
        Operation::GetStoreOrder => &[
            ("getStoreListing", "listingId", "listingId"),
            ("getMember", "memberId", "memberId"),
        ],
        _ => &[],
    }
}

fn body(route: &Route) -> Option<Value> {
    let schema = match (route.body, route.operation) {
        (BodyRule::None, _) => return None,
        (BodyRule::Empty, _) => "EmptyObject",
        (BodyRule::Object, Operation::CreateCard) => "NewCard",
        (BodyRule::Object, Operation::CreateGroup) => "NewGroup",
        (BodyRule::Object, Operation::UpdateMember) => "MemberChange",
        (BodyRule::Object, _) => "GroupChange",
    };
    let description = match route.body {
        BodyRule::Empty => "An empty JSON object. The body may be omitted.",
        BodyRule::Object | BodyRule::None => "A JSON object. Fields that are not named here are refused.",
    };
    Some(json!({
        "description": description,
        "required": route.body == BodyRule::Object,
        "content": {"application/json": {"schema": reference(schema), "examples": named(examples::body(route.operation))}},
    }))
}

fn named(examples: Vec<(&'static str, &'static str, Value)>) -> Value {
    let example = |(name, summary, value): (&str, &str, Value)| {
        (name.to_owned(), json!({"summary": summary, "value": value}))
    };
    Value::Object(examples.into_iter().map(example).collect())
}
