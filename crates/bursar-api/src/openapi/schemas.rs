//! The schemas of what the API takes and gives.

use bursar_domain::access::{Role, Scope, Withheld};
use bursar_domain::campaign::CampaignStatus;
use bursar_domain::card::{CardStatus, LimitFrequency};
use bursar_domain::group::Interval;
use bursar_domain::ids::kind;
use bursar_domain::order::OrderStatus;
use bursar_domain::page::PageLimit;
use bursar_domain::payment::PaymentStatus;
use bursar_domain::reimbursement::ReimbursementStatus;
use bursar_domain::reminder::{Method, Outcome, ReminderStatus};
use bursar_domain::text::{BODY, CATEGORY, NAME, NOTE, SUBJECT};
use bursar_domain::token::TokenKind;
use serde_json::{Map, Value, json};

use super::errors::CODES;
use super::values::{
    boolean, currency, cursor, date, email, id, integer, limit, money, one_of, or_null, reference, says,
    text, timestamp, with, words,
};

/// A field and its schema, in the order of the representation.
type Field = (&'static str, Value);

/// Every schema, by name.
pub(super) fn all() -> Value {
    let mut all = Map::new();
    let mut add = |name: &str, schema: Value| all.insert(name.to_owned(), schema);

    let resources = [
        (
            "Member",
            "MemberPage",
            "A person of the organization. Members are archived, never deleted.",
            member(),
        ),
        (
            "Group",
            "GroupPage",
            "Members who owe the same dues. The dues are set by officers and read-only here.",
            group(),
        ),
        (
            "Payment",
            "PaymentPage",
            "A charge that the organization raised.",
            payment(),
        ),
        (
            "Reimbursement",
            "ReimbursementPage",
            "What the organization owes for an expense.",
            reimbursement(),
        ),
        (
            "Reminder",
            "ReminderPage",
            "A message to members or to an organization, once or again and again.",
            reminder(),
        ),
        (
            "Card",
            "CardPage",
            "A card with a spend limit. This shape is frozen in v1.",
            card(),
        ),
        (
            "Campaign",
            "",
            "Raising funds for something, by a day.",
            campaign(),
        ),
        (
            "StoreListing",
            "StoreListingPage",
            "Something the organization sells.",
            store_listing(),
        ),
        ("StoreOrder", "", "What somebody bought.", store_order()),
    ];
    for (name, page_name, description, fields) in resources {
        let schema = says(object(fields), description);
        let schema = if name == "Card" { closed(schema) } else { schema };
        add(name, schema);
        if !page_name.is_empty() {
            add(page_name, page(name));
        }
    }
    let mut sent = reminder();
    sent.push((
        "outcome",
        says(
            words!(Outcome),
            "`sent`: at least one message is on its way. `skipped`: nobody qualified.",
        ),
    ));
    add(
        "SentReminder",
        says(
            object(sent),
            "The reminder after the send, and what became of it.",
        ),
    );
    add(
        "CardCreation",
        says(object(card_creation()), "The card, or the application for one."),
    );
    add(
        "Token",
        says(object(token()), "What the calling token is and can do now."),
    );
    add("Error", error());

    add("NewCard", new_card());
    add("NewGroup", new_group());
    add("MemberChange", member_change());
    add("GroupChange", group_change());
    add(
        "EmptyObject",
        says(
            with(closed(json!({"type": "object"})), "maxProperties", 0),
            "Nothing: an empty JSON object.",
        ),
    );
    Value::Object(all)
}

/// An object whose fields are all there.
fn object(fields: Vec<Field>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = Value::from(required);
    with(optional(fields), "required", required)
}

/// An object whose fields may be left out.
fn optional(fields: Vec<Field>) -> Value {
    let properties: Map<String, Value> = fields
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    json!({"type": "object", "properties": properties})
}

/// An object without further fields.
fn closed(schema: Value) -> Value {
    with(schema, "additionalProperties", false)
}

fn page(name: &str) -> Value {
    let rows = json!({"type": "array", "items": reference(name), "maxItems": PageLimit::MAX.rows()});
    let fields = vec![
        ("data", says(rows, "The rows, oldest change first.")),
        ("hasMore", says(boolean(), "Whether more rows follow.")),
        (
            "nextCursor",
            says(
                or_null(cursor()),
                "Give it back as `cursor` to get the next page. Null on the last page.",
            ),
        ),
    ];
    says(object(fields), "One page of a list.")
}

fn stamps(fields: &mut Vec<Field>) {
    fields.push(("createdAt", says(timestamp(), "When it was made.")));
    fields.push((
        "updatedAt",
        says(
            timestamp(),
            "When any field last changed, by the organization's change clock.",
        ),
    ));
}

fn member() -> Vec<Field> {
    let groups = json!({"type": "array", "items": id::<kind::Group>(), "uniqueItems": true});
    let mut fields = vec![
        ("id", id::<kind::Member>()),
        ("firstName", says(text(NAME), "Given name.")),
        ("lastName", says(text(NAME), "Family name.")),
        (
            "email",
            says(email(), "Where to write to. Not unique: families share one."),
        ),
        ("isActive", says(boolean(), "False when the member is archived.")),
        ("joinDate", says(or_null(date()), "The day the member joined.")),
        (
            "groups",
            says(groups, "The ids of the member's groups, ascending."),
        ),
    ];
    stamps(&mut fields);
    fields
}

fn group() -> Vec<Field> {
    let read_only = |schema: Value, description: &str| says(with(schema, "readOnly", true), description);
    let mut fields = vec![
        ("id", id::<kind::Group>()),
        ("name", says(text(NAME), "What people call it.")),
        (
            "description",
            says(text(NOTE), "What it is for. Empty when unset."),
        ),
        (
            "amountDue",
            read_only(
                or_null(money()),
                "What each member owes a period. Null without dues.",
            ),
        ),
        (
            "dueDate",
            read_only(or_null(date()), "The day the next dues fall due."),
        ),
        ("isRecurring", read_only(boolean(), "Whether dues come back.")),
        (
            "recurringInterval",
            read_only(
                or_null(words!(Interval)),
                "How often dues come back. Null unless `isRecurring`.",
            ),
        ),
        (
            "memberCount",
            read_only(integer(0), "How many active members it has."),
        ),
    ];
    stamps(&mut fields);
    fields
}

fn payment() -> Vec<Field> {
    let mut fields = vec![
        ("id", id::<kind::Payment>()),
        ("memberId", says(or_null(id::<kind::Member>()), "Who owes it.")),
        (
            "groupId",
            says(or_null(id::<kind::Group>()), "The group whose dues it is."),
        ),
        (
            "targetOrganizationId",
            says(or_null(id::<kind::Organization>()), "The chapter that owes it."),
        ),
        (
            "description",
            says(text(NOTE), "What it is for. Empty when unset."),
        ),
        ("amount", says(money(), "What is owed in all.")),
        (
            "paidToDate",
            says(money(), "What was received so far. Never more than `amount`."),
        ),
        ("currency", currency()),
        (
            "status",
            says(
                words!(PaymentStatus),
                "Where it stands. No payment provider is connected yet, so only an imported payment is `processing`.",
            ),
        ),
        ("dueDate", says(or_null(date()), "The day it is due.")),
        ("paidAt", says(or_null(timestamp()), "When it was paid in full.")),
        ("voidedAt", says(or_null(timestamp()), "When it was cancelled.")),
    ];
    stamps(&mut fields);
    fields
}

fn reimbursement() -> Vec<Field> {
    let mut fields = vec![
        ("id", id::<kind::Reimbursement>()),
        (
            "memberId",
            says(or_null(id::<kind::Member>()), "The member who is paid."),
        ),
        (
            "recipientOrganizationId",
            says(
                or_null(id::<kind::Organization>()),
                "The organization that is paid.",
            ),
        ),
        ("amount", says(money(), "How much.")),
        ("currency", currency()),
        ("category", says(or_null(text(CATEGORY)), "What kind of expense.")),
        ("description", says(text(NOTE), "What for. Empty when unset.")),
        ("incurredAt", says(or_null(date()), "The day of the expense.")),
        ("status", says(words!(ReimbursementStatus), "Where it stands.")),
        (
            "submittedAt",
            says(or_null(timestamp()), "When it was submitted."),
        ),
        (
            "reviewedAt",
            says(or_null(timestamp()), "When it was approved or rejected."),
        ),
        ("paidAt", says(or_null(timestamp()), "When it was paid out.")),
        ("voidedAt", says(or_null(timestamp()), "When it was withdrawn.")),
    ];
    stamps(&mut fields);
    fields
}

fn reminder() -> Vec<Field> {
    let mut fields = vec![
        ("id", id::<kind::Reminder>()),
        (
            "targetMemberId",
            says(or_null(id::<kind::Member>()), "The member to write to."),
        ),
        (
            "targetOrganizationId",
            says(
                or_null(id::<kind::Organization>()),
                "The organization whose contact to write to.",
            ),
        ),
        (
            "groupId",
            says(
                or_null(id::<kind::Group>()),
                "The group whose active members to write to. Beside a member, the group whose dues count.",
            ),
        ),
        ("method", says(words!(Method), "How it is sent.")),
        ("status", says(words!(ReminderStatus), "Where it stands.")),
        ("subject", says(or_null(text(SUBJECT)), "The subject line.")),
        ("body", says(or_null(text(BODY)), "The text.")),
        (
            "scheduledAt",
            says(or_null(timestamp()), "When it is to be sent."),
        ),
        (
            "sentAt",
            says(or_null(timestamp()), "When something was last delivered."),
        ),
        ("isRecurring", says(boolean(), "Whether it comes back.")),
        (
            "recurringIntervalDays",
            says(or_null(integer(1)), "After how many days it comes back."),
        ),
        (
            "includePaymentInfo",
            says(boolean(), "Says what is owed, and goes only to those who owe."),
        ),
    ];
    stamps(&mut fields);
    fields
}

fn card() -> Vec<Field> {
    let mut fields = vec![
        ("id", id::<kind::Card>()),
        ("name", says(or_null(text(NAME)), "What people call it.")),
        ("status", says(or_null(words!(CardStatus)), "Where it stands.")),
        (
            "last4",
            says(
                or_null(json!({"type": "string", "minLength": 4, "maxLength": 4})),
                "The number's last digits. Null until the issuer reports them.",
            ),
        ),
        ("spendLimit", says(or_null(money()), "What can be spent.")),
        (
            "spendLimitFrequency",
            says(
                or_null(words!(LimitFrequency)),
                "The time that the spend limit counts over.",
            ),
        ),
        (
            "transactionLimit",
            says(or_null(money()), "What can be spent at once."),
        ),
        (
            "assignedMemberId",
            says(or_null(id::<kind::Member>()), "Who holds it."),
        ),
        (
            "invitedAt",
            says(or_null(timestamp()), "When its holder was asked."),
        ),
        (
            "activatedAt",
            says(or_null(timestamp()), "When it could first be used."),
        ),
        ("canceledAt", says(or_null(timestamp()), "When it ended.")),
    ];
    stamps(&mut fields);
    fields
}

fn campaign() -> Vec<Field> {
    let mut fields = vec![
        ("id", id::<kind::Campaign>()),
        ("name", says(text(NAME), "What people call it.")),
        ("note", says(or_null(text(NOTE)), "What it is for.")),
        ("goalAmount", says(or_null(money()), "How much is hoped for.")),
        ("currency", currency()),
        ("startDate", says(or_null(date()), "Its first day.")),
        ("endDate", says(or_null(date()), "Its last day.")),
        ("status", says(words!(CampaignStatus), "Where it stands.")),
    ];
    stamps(&mut fields);
    fields
}

fn store_listing() -> Vec<Field> {
    let mut fields = vec![
        ("id", id::<kind::Listing>()),
        ("name", says(text(NAME), "What people call it.")),
        ("description", says(text(NOTE), "What it is. Empty when unset.")),
        ("currency", currency()),
        ("isActive", says(boolean(), "Whether it is on sale.")),
    ];
    stamps(&mut fields);
    fields
}

fn store_order() -> Vec<Field> {
    vec![
        ("id", id::<kind::Order>()),
        (
            "listingId",
            says(or_null(id::<kind::Listing>()), "The listing it was bought from."),
        ),
        ("memberId", says(or_null(id::<kind::Member>()), "Who bought.")),
        ("totalAmount", says(money(), "What it costs in all.")),
        ("currency", currency()),
        ("status", says(words!(OrderStatus), "Where it stands.")),
        ("paidAt", says(or_null(timestamp()), "When it was paid.")),
        ("createdAt", says(timestamp(), "When it was made.")),
    ]
}

fn card_creation() -> Vec<Field> {
    let card = json!({"anyOf": [reference("Card"), {"type": "null"}]});
    vec![
        (
            "kind",
            says(
                one_of(["card", "application"]),
                "`card`: the card is there. `application`: the organization is not approved for issuing yet.",
            ),
        ),
        ("card", says(card, "The card. Null for an application.")),
        (
            "applicationId",
            says(
                or_null(id::<kind::Application>()),
                "The application. Null for a card.",
            ),
        ),
    ]
}

fn token() -> Vec<Field> {
    let scope = || one_of(Scope::ALL.iter().map(|scope| scope.as_str()));
    let scopes = || json!({"type": "array", "items": scope(), "uniqueItems": true});
    let by = one_of([Withheld::Role, Withheld::Policy].map(Withheld::as_str));
    let withheld = object(vec![
        ("scope", scope()),
        (
            "by",
            says(
                by,
                "`role`: above the role. `policy`: blocked by the organization.",
            ),
        ),
    ]);
    vec![
        ("id", id::<kind::Token>()),
        (
            "kind",
            says(
                words!(TokenKind),
                "`personal` acts as a user, `service` as the organization.",
            ),
        ),
        (
            "name",
            says(json!({"type": "string"}), "What its maker called it."),
        ),
        (
            "organizationId",
            says(id::<kind::Organization>(), "The organization it works in."),
        ),
        (
            "role",
            says(one_of(Role::ALL.map(Role::as_str)), "The role it acts with now."),
        ),
        ("expiresAt", says(timestamp(), "When it stops working.")),
        ("scopes", says(scopes(), "What it was given.")),
        ("effectiveScopes", says(scopes(), "What it can do now.")),
        (
            "withheld",
            says(
                json!({"type": "array", "items": withheld}),
                "What it was given and cannot do now, and why.",
            ),
        ),
    ]
}

fn error() -> Value {
    let codes: Vec<String> = CODES.iter().map(|doc| format!("`{}`", doc.code)).collect();
    let scope = json!({"type": "string", "pattern": "^[a-z]+:[a-z]+$"});
    let code = format!(
        "What went wrong, for programs: {}. Later versions of v1 may add codes.",
        codes.join(", ")
    );
    let required = [
        (
            "code",
            says(json!({"type": "string", "pattern": "^[a-z_]+$"}), &code),
        ),
        (
            "message",
            says(
                json!({"type": "string"}),
                "What went wrong and what to do, for people.",
            ),
        ),
        (
            "requestId",
            says(
                id::<kind::Request>(),
                "Names this request in the server's log. Also in `X-Request-Id`.",
            ),
        ),
        (
            "docsUrl",
            says(
                json!({"type": "string", "format": "uri"}),
                "The page that explains the code.",
            ),
        ),
    ];
    let maybe = [
        (
            "param",
            says(
                json!({"type": "string"}),
                "The field, parameter or header at fault, when one is.",
            ),
        ),
        (
            "requiredScopes",
            says(
                json!({"type": "array", "items": scope}),
                "All scopes that the endpoint needs, on `insufficient_scope`.",
            ),
        ),
    ];
    let names: Vec<&str> = required.iter().map(|(name, _)| *name).collect();
    let names = Value::from(names);
    let detail = with(
        optional(required.into_iter().chain(maybe).collect()),
        "required",
        names,
    );
    says(object(vec![("error", detail)]), "The body of every error.")
}

fn new_card() -> Value {
    let fields = vec![
        ("name", says(text(NAME), "What people will call the card.")),
        (
            "spendLimit",
            says(
                limit(),
                "What can be spent, as a JSON number. It must also fit the organization's currency.",
            ),
        ),
        (
            "spendLimitFrequency",
            says(
                words!(LimitFrequency),
                "The time that the spend limit counts over.",
            ),
        ),
        (
            "transactionLimit",
            says(or_null(limit()), "What can be spent at once. Null means none."),
        ),
        (
            "assignedMemberId",
            says(
                or_null(id::<kind::Member>()),
                "The active member who will hold it. Null means nobody.",
            ),
        ),
    ];
    let required = json!(["name", "spendLimit", "spendLimitFrequency"]);
    says(
        closed(with(optional(fields), "required", required)),
        "A card to be made.",
    )
}

fn new_group() -> Value {
    let fields = vec![
        ("name", says(text(NAME), "What people will call it.")),
        (
            "description",
            says(or_null(text(NOTE)), "What it is for. Null means empty."),
        ),
    ];
    let required = json!(["name"]);
    says(
        closed(with(optional(fields), "required", required)),
        "A group to be made. Its dues are set by officers.",
    )
}

fn member_change() -> Value {
    let fields = vec![
        ("firstName", says(text(NAME), "Given name.")),
        ("lastName", says(text(NAME), "Family name.")),
        ("email", says(email(), "Where to write to.")),
        (
            "isActive",
            says(boolean(), "False archives the member, true restores it."),
        ),
    ];
    says(
        closed(optional(fields)),
        "What to change of a member. What is left out stays as it is.",
    )
}

fn group_change() -> Value {
    let fields = vec![
        ("name", says(text(NAME), "What people call it.")),
        ("description", says(text(NOTE), "What it is for.")),
    ];
    says(
        closed(optional(fields)),
        "What to change of a group. What is left out stays as it is.",
    )
}
