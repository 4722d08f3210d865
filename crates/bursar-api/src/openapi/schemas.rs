//! The schemas of request bodies and responses.

use bursar_domain::Resource;
use bursar_domain::access::{Role, Scope, Withheld};
use bursar_domain::campaign::Campaign;
use bursar_domain::card::{Card, LimitFrequency};
use bursar_domain::chapter::Chapter;
use bursar_domain::group::Group;
use bursar_domain::ids::kind;
use bursar_domain::listing::Listing;
use bursar_domain::member::Member;
use bursar_domain::order::Order;
use bursar_domain::page::PageLimit;
use bursar_domain::payment::Payment;
use bursar_domain::reimbursement::Reimbursement;
use bursar_domain::reminder::{Outcome, Reminder};
use bursar_domain::resource::{self, FieldType, ValueRule, Visibility};
use bursar_domain::text::{NAME, NOTE};
use bursar_domain::token::TokenKind;
use serde_json::{Map, Value, json};

use super::errors::CODES;
use super::events;
use super::values::{
    boolean, capitalized, currency, cursor, date, email, id, id_with, integer, limit, money, one_of, or_null,
    reference, says, text, timestamp, with, words,
};

/// In the order of the representation.
pub(super) type Field = (&'static str, Value);

pub(super) fn all() -> Value {
    let mut all = Map::new();
    let mut add = |name: &str, schema: Value| all.insert(name.to_owned(), schema);

    add("Member", resource::<Member>());
    add("MemberPage", page("Member"));
    add("Group", resource::<Group>());
    add("GroupPage", page("Group"));
    add("Payment", resource::<Payment>());
    add("PaymentPage", page("Payment"));
    add("Reimbursement", resource::<Reimbursement>());
    add("ReimbursementPage", page("Reimbursement"));
    add("Reminder", resource::<Reminder>());
    add("ReminderPage", page("Reminder"));
    add("Card", closed(resource::<Card>()));
    add("CardPage", page("Card"));
    add("Campaign", resource::<Campaign>());
    add("CampaignPage", page("Campaign"));
    add("StoreListing", resource::<Listing>());
    add("StoreListingPage", page("StoreListing"));
    add("StoreOrder", resource::<Order>());
    add("StoreOrderPage", page("StoreOrder"));
    add("Chapter", resource::<Chapter>());
    add("ChapterPage", page("Chapter"));
    for (name, schema) in events::schemas() {
        add(&name, schema);
    }
    add("EventPage", page("Event"));
    let mut sent = fields_of::<Reminder>();
    sent.push((
        "outcome",
        says(
            words::<Outcome>("ReminderOutcome"),
            "`sent`: at least one message is on its way. `skipped`: nobody qualified.",
        ),
    ));
    add(
        "SentReminder",
        says(object(sent), "The reminder after the send, and the outcome."),
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

/// All fields are required.
pub(super) fn object(fields: Vec<Field>) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let required = Value::from(required);
    with(optional(fields), "required", required)
}

/// No field is required.
fn optional(fields: Vec<Field>) -> Value {
    let properties: Map<String, Value> = fields
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    json!({"type": "object", "properties": properties})
}

/// Allows no other fields.
fn closed(schema: Value) -> Value {
    with(schema, "additionalProperties", false)
}

fn page(name: &str) -> Value {
    let rows = json!({"type": "array", "items": reference(name), "maxItems": PageLimit::MAX.rows()});
    let fields = vec![
        ("data", says(rows, "The rows, oldest change first.")),
        ("hasMore", says(boolean(), "Whether there are more rows.")),
        (
            "nextCursor",
            says(
                or_null(cursor()),
                "Value of `cursor` for the next page. Null on the last page.",
            ),
        ),
    ];
    says(object(fields), "One page of a list.")
}

fn resource<R: Resource>() -> Value {
    says(object(fields_of::<R>()), R::ABOUT)
}

fn fields_of<R: Resource>() -> Vec<Field> {
    let mut fields = vec![("id", id::<R::Kind>())];
    let shown = |field: &&resource::Field<R>| {
        matches!(field.spec.visibility, Visibility::Everywhere | Visibility::InV1)
    };
    fields.extend(
        R::FIELDS
            .iter()
            .filter(shown)
            .map(|field| (field.spec.name, of_field(field))),
    );
    fields.push(("createdAt", says(timestamp(), "When it was created.")));
    if R::SHOWS_UPDATED_AT {
        let about = "When any field last changed, by the organization's change clock.";
        fields.push(("updatedAt", says(timestamp(), about)));
    }
    fields
}

fn of_field<R: Resource>(field: &resource::Field<R>) -> Value {
    let schema = match (field.field_type, field.spec.rule) {
        (FieldType::Text, ValueRule::Text(rule)) => text(rule),
        (FieldType::Text, ValueRule::Code(rule)) => {
            json!({"type": "string", "minLength": rule.min, "maxLength": rule.max})
        }
        (FieldType::Text, ValueRule::Email) => email(),
        (FieldType::Text, _) => json!({"type": "string"}),
        (FieldType::Boolean, _) => boolean(),
        (FieldType::Integer, rule) => integer(*rule.range().start()),
        (FieldType::Date, _) => date(),
        (FieldType::Timestamp, _) => timestamp(),
        (FieldType::Money, _) => money(),
        (FieldType::Currency, _) => currency(),
        (FieldType::Id(prefix), _) => id_with(prefix),
        (FieldType::Ids(prefix), _) => {
            json!({"type": "array", "items": id_with(prefix), "uniqueItems": true})
        }
        (FieldType::Word(words), _) => one_of(&title_of(R::TYPE, field.spec.name), words.iter().copied()),
        (FieldType::List, _) => json!({"type": "array"}),
    };
    let schema = if field.is_nullable {
        or_null(schema)
    } else {
        schema
    };
    let schema = match field.spec.is_read_only {
        true => with(schema, "readOnly", true),
        false => schema,
    };
    says(schema, field.about)
}

/// A field of one word says too little by itself: `ReminderMethod`, but `RecurringInterval`.
fn title_of(resource: &str, field: &str) -> String {
    if field.contains(|letter: char| letter.is_ascii_uppercase()) {
        capitalized(field)
    } else {
        capitalized(resource) + &capitalized(field)
    }
}

fn card_creation() -> Vec<Field> {
    let card = json!({"anyOf": [reference("Card"), {"type": "null"}]});
    vec![
        (
            "kind",
            says(
                one_of("CardCreationKind", ["card", "application"]),
                "`card`: the card was created. `application`: the organization is not approved for issuing yet, so an application was recorded.",
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
    let scope = || one_of("Scope", Scope::ALL.iter().map(|scope| scope.as_str()));
    let scopes = || json!({"type": "array", "items": scope(), "uniqueItems": true});
    let by = one_of(
        "WithheldBy",
        [Withheld::Role, Withheld::Policy].map(Withheld::as_str),
    );
    let withheld = object(vec![
        ("scope", scope()),
        (
            "by",
            says(
                by,
                "`role`: the role does not allow it. `policy`: the organization blocks it.",
            ),
        ),
    ]);
    vec![
        ("id", id::<kind::Token>()),
        (
            "kind",
            says(
                words::<TokenKind>("TokenKind"),
                "`personal` acts as a user, `service` as the organization.",
            ),
        ),
        ("name", says(json!({"type": "string"}), "Name of the token.")),
        (
            "organizationId",
            says(id::<kind::Organization>(), "The organization that it belongs to."),
        ),
        (
            "role",
            says(words::<Role>("Role"), "The role that it acts with now."),
        ),
        ("expiresAt", says(timestamp(), "When it expires.")),
        ("scopes", says(scopes(), "Scopes that it was created with.")),
        ("effectiveScopes", says(scopes(), "Scopes that work now.")),
        (
            "withheld",
            says(
                json!({"type": "array", "items": withheld}),
                "Scopes that it was created with but that do not work now, with the reason.",
            ),
        ),
    ]
}

fn error() -> Value {
    let codes: Vec<String> = CODES.iter().map(|doc| format!("`{}`", doc.code)).collect();
    let scope = json!({"type": "string", "pattern": "^[a-z]+:[a-z]+$"});
    let code = format!(
        "Error code, for programs: {}. Later versions of v1 may add codes.",
        codes.join(", ")
    );
    let required = [
        (
            "code",
            says(json!({"type": "string", "pattern": "^[a-z_]+$"}), &code),
        ),
        (
            "message",
            says(json!({"type": "string"}), "Cause and remedy, for people."),
        ),
        (
            "requestId",
            says(
                id::<kind::Request>(),
                "Id of this request in the server's log. Also in `X-Request-Id`.",
            ),
        ),
        (
            "docsUrl",
            says(
                json!({"type": "string", "format": "uri"}),
                "URL of the page that explains the code.",
            ),
        ),
    ];
    let maybe = [
        (
            "param",
            says(
                json!({"type": "string"}),
                "The field, parameter or header that is wrong, if there is one.",
            ),
        ),
        (
            "requiredScopes",
            says(
                json!({"type": "array", "items": scope}),
                "With `insufficient_scope`: all scopes that the endpoint needs.",
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
        ("name", says(text(NAME), "Name of the card.")),
        (
            "spendLimit",
            says(
                limit(),
                "Spend limit, as a JSON number with no more decimals than the organization's currency has.",
            ),
        ),
        (
            "spendLimitFrequency",
            says(
                words::<LimitFrequency>("SpendLimitFrequency"),
                "Period of the spend limit.",
            ),
        ),
        (
            "transactionLimit",
            says(
                or_null(limit()),
                "Maximum amount of one transaction. Null for no such limit.",
            ),
        ),
        (
            "assignedMemberId",
            says(
                or_null(id::<kind::Member>()),
                "The active member who will hold the card. Null for nobody.",
            ),
        ),
    ];
    let required = json!(["name", "spendLimit", "spendLimitFrequency"]);
    says(
        closed(with(optional(fields), "required", required)),
        "A card to create.",
    )
}

fn new_group() -> Value {
    let fields = vec![
        ("name", says(text(NAME), "Name of the group.")),
        (
            "description",
            says(or_null(text(NOTE)), "Purpose of the group. Null for none."),
        ),
    ];
    let required = json!(["name"]);
    says(
        closed(with(optional(fields), "required", required)),
        "A group to create. Its dues are set by officers.",
    )
}

fn member_change() -> Value {
    let fields = vec![
        ("firstName", says(text(NAME), "Given name.")),
        ("lastName", says(text(NAME), "Family name.")),
        ("email", says(email(), "E-mail address.")),
        (
            "isActive",
            says(boolean(), "False archives the member, true restores it."),
        ),
    ];
    says(
        closed(optional(fields)),
        "Changes to a member. Fields that are left out do not change.",
    )
}

fn group_change() -> Value {
    let fields = vec![
        ("name", says(text(NAME), "Name of the group.")),
        ("description", says(text(NOTE), "Purpose of the group.")),
    ];
    says(
        closed(optional(fields)),
        "Changes to a group. Fields that are left out do not change.",
    )
}
