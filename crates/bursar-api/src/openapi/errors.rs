//! The error codes, their explanations, and their OpenAPI responses.

use bursar_app::chapters;
use bursar_domain::Refusal;
use bursar_domain::access::{Policy, ScopeSet, why_withheld};
use bursar_domain::cursor::BadCursor;
use bursar_domain::ids::{Kind, RequestId, kind};
use bursar_domain::page::PageLimit;
use bursar_domain::reminder::ReminderStatus;
use bursar_domain::token::TokenKind;
use bursar_http::limits::{Bucket, Limits, Quota};
use serde_json::{Map, Value, json};

use super::parameters::headers;
use super::{events, examples};
use crate::error::Error;
use crate::routes::{BodyRule, KeyRule, Operation, ROUTES, Route};

#[derive(Clone, Copy, Debug)]
pub struct ErrorDoc {
    pub code: &'static str,
    pub status: u16,
    pub why: &'static str,
    pub what_to_do: &'static str,
}

const fn doc(code: &'static str, status: u16, why: &'static str, what_to_do: &'static str) -> ErrorDoc {
    ErrorDoc {
        code,
        status,
        why,
        what_to_do,
    }
}

/// In order of status.
pub const CODES: &[ErrorDoc] = &[
    doc(
        "invalid_request",
        400,
        "Something in the request breaks a rule: the JSON cannot be read, a value has the wrong type or is out of range, \
         or a parameter or field is unknown or given twice. Unknown names are refused on purpose, so that a mistyped \
         filter never returns unfiltered data.",
        "Read `message`: it names the rule. `param` names the field or parameter, when there is one. Change the request; \
         sending it again unchanged gives the same response.",
    ),
    doc(
        "invalid_cursor",
        400,
        "The cursor is damaged, belongs to another list, other filters or another organization, or its first page \
         was read more than 24 hours ago.",
        "Start again without `cursor`. To save work, set `updatedSince` to the largest `updatedAt` that you have read to \
         the end. Pass cursors back unchanged.",
    ),
    doc(
        "idempotency_key_required",
        400,
        "This endpoint creates something or sends a message, and the `Idempotency-Key` header is missing or empty.",
        "Send a key that is new for each operation, such as a UUID, and keep it for every retry of that operation.",
    ),
    doc(
        "idempotency_key_invalid",
        400,
        "The `Idempotency-Key` is longer than 255 characters, or has a character that is not visible ASCII (0x21 to 0x7E).",
        "Use a shorter key without spaces. A UUID always fits.",
    ),
    doc(
        "invalid_token",
        401,
        "There is no usable token: it is missing, malformed, unknown, expired, revoked or rotated out, or its user left \
         the organization. The response is the same for all of them, so that it reveals nothing.",
        "Check the header: `Authorization: Bearer` and the whole token. Ask an officer whether the token was revoked or \
         expired, and create a new one. Do not retry with the same token.",
    ),
    doc(
        "insufficient_scope",
        403,
        "The token is valid, but may not do this now. A request's permissions are the token's scopes, limited by the role, \
         minus what the policy blocks. `message` says which of the three withholds it. This can begin without a change to \
         the token: a role was lowered, or a scope was blocked.",
        "Compare `requiredScopes` with the response of `GET /v1/token`. Ask an admin for the scope, the role or the policy \
         that is missing.",
    ),
    doc(
        "not_found",
        404,
        "There is no such path or resource, or it belongs to an organization that the token cannot see. The two look the \
         same on purpose. In a body, `param` names the id that was not found.",
        "Check the id and its prefix, and that the token is of the right organization. Do not retry.",
    ),
    doc(
        "method_not_allowed",
        405,
        "The path exists, but not with this method.",
        "Use one of the methods in the `Allow` header.",
    ),
    doc(
        "conflict",
        409,
        "The resource is in a state that does not allow this: a reminder that is not scheduled, or a card for an archived \
         member.",
        "Read the resource again and decide again. `message` names the state and what you can do.",
    ),
    doc(
        "idempotency_key_reused",
        409,
        "The `Idempotency-Key` was already used for another request: another path, method or body.",
        "Use a new key for a new operation. If you meant to retry, send exactly the first body.",
    ),
    doc(
        "idempotency_key_in_use",
        409,
        "The first request with this `Idempotency-Key` is still running.",
        "Wait the seconds in `Retry-After`, then send the same request with the same key: you get the response to the first one.",
    ),
    doc(
        "payload_too_large",
        413,
        "The body is larger than the server accepts (64 KiB by default).",
        "Send a smaller body. Every valid body fits.",
    ),
    doc(
        "unsupported_media_type",
        415,
        "The body is not declared as JSON, or it is compressed.",
        "Send `Content-Type: application/json` and an uncompressed body.",
    ),
    doc(
        "rate_limited",
        429,
        "The rate limit of this request's bucket is used up until the end of the minute. `message` names the bucket and its \
         limit. Requests without a valid token are counted by address.",
        "Wait the seconds in `Retry-After`, plus a random delay when several workers share the token. Nothing was charged \
         and nothing happened.",
    ),
    doc(
        "internal",
        500,
        "The server failed. The request is not the cause.",
        "Retry with exponential backoff; with an `Idempotency-Key` that is safe. If it persists, tell the operator the `requestId`.",
    ),
    doc(
        "unavailable",
        503,
        "The server cannot respond now: it is busy, starting or stopping, its database is unavailable, or the request took too long.",
        "Wait the seconds in `Retry-After` and retry. A write may have happened before the response was lost: retry it with \
         the same `Idempotency-Key`.",
    ),
];

/// Responses that many operations share: name, status and codes.
const SHARED: &[(&str, u16, &[&str])] = &[
    ("InvalidToken", 401, &["invalid_token"]),
    ("NotFound", 404, &["not_found"]),
    ("PayloadTooLarge", 413, &["payload_too_large"]),
    ("UnsupportedMediaType", 415, &["unsupported_media_type"]),
    ("RateLimited", 429, &["rate_limited"]),
    ("Internal", 500, &["internal"]),
    ("Unavailable", 503, &["unavailable"]),
];

pub(super) fn responses() -> Value {
    let named = |(name, status, codes): &(&str, u16, &[&str])| {
        ((*name).to_owned(), response(*status, by_reference(codes)))
    };
    let mut all: Map<String, Value> = SHARED.iter().map(named).collect();
    all.extend(events::responses().map(|(name, response)| (name.to_owned(), response)));
    Value::Object(all)
}

pub(super) fn error_examples(base_url: &str) -> Value {
    let examples = CODES
        .iter()
        // This code is only for methods that are not operations.
        .filter(|doc| doc.code != "method_not_allowed")
        // `sample` has none for `insufficient_scope`: each operation shows its own scopes.
        .filter_map(|doc| {
            let value = body(base_url, &sample(doc.code)?);
            Some((
                doc.code.to_owned(),
                json!({"summary": headline(doc.code), "value": value}),
            ))
        });
    Value::Object(examples.collect())
}

/// Error responses of a route, by status.
pub(super) fn of(route: &Route, base_url: &str) -> Map<String, Value> {
    let mut all = Map::new();
    let mut add = |status: u16, response: Value| all.insert(status.to_string(), response);

    // Every endpoint refuses unknown query parameters.
    let mut invalid = vec!["invalid_request"];
    if super::operations::is_list(route.operation) {
        invalid.push("invalid_cursor");
    }
    match route.key {
        // An optional key must not be empty either.
        KeyRule::Required | KeyRule::Optional => {
            invalid.extend(["idempotency_key_required", "idempotency_key_invalid"]);
        }
        KeyRule::Ignored => {}
    }
    add(400, response(400, by_reference(&invalid)));
    if route.needs_token() {
        add(401, shared("InvalidToken"));
    }
    if !route.scopes().is_empty() {
        add(403, forbidden(route, base_url));
    }
    let missing = match route.operation {
        Operation::CreateCard => Some(Refusal::missing_reference(
            "assignedMemberId",
            examples::member_id(),
        )),
        Operation::ListChapters => Some(chapters::no_list()),
        _ => None,
    };
    if let Some(missing) = missing {
        let value = body(base_url, &missing.into());
        add(404, response(404, one("not_found", &value)));
    } else if route.path.contains('{') {
        add(404, shared("NotFound"));
    }
    let mut conflicts = Vec::new();
    if matches!(
        route.operation,
        Operation::CreateCard | Operation::SendReminder | Operation::UpdateMember
    ) {
        conflicts.push("conflict");
    }
    if route.key != KeyRule::Ignored {
        conflicts.extend(["idempotency_key_reused", "idempotency_key_in_use"]);
    }
    if !conflicts.is_empty() {
        add(409, response(409, by_reference(&conflicts)));
    }
    if route.body != BodyRule::None {
        add(413, shared("PayloadTooLarge"));
        add(415, shared("UnsupportedMediaType"));
    }
    add(429, shared("RateLimited"));
    add(500, shared("Internal"));
    add(503, shared("Unavailable"));
    all
}

/// The body of an error with this code.
pub(crate) fn example(code: &str, base_url: &str) -> Option<Value> {
    let error = match code {
        "insufficient_scope" => withheld(
            ROUTES
                .iter()
                .find(|route| route.operation == Operation::CreateGroup)?,
        ),
        _ => sample(code)?,
    };
    Some(body(base_url, &error))
}

fn forbidden(route: &Route, base_url: &str) -> Value {
    response(403, one("insufficient_scope", &body(base_url, &withheld(route))))
}

fn withheld(route: &Route) -> Error {
    Error::InsufficientScope {
        required: route.scopes(),
        message: why_withheld(
            TokenKind::Personal,
            route.scopes(),
            ScopeSet::NONE,
            route.role(),
            Policy::default(),
        ),
    }
}

fn shared(name: &str) -> Value {
    json!({"$ref": format!("#/components/responses/{name}")})
}

fn by_reference(codes: &[&str]) -> Value {
    let example = |code: &&str| {
        (
            (*code).to_owned(),
            json!({"$ref": format!("#/components/examples/{code}")}),
        )
    };
    Value::Object(codes.iter().map(example).collect())
}

fn one(code: &str, value: &Value) -> Value {
    json!({code: {"summary": headline(code), "value": value}})
}

fn response(status: u16, examples: Value) -> Value {
    let mut extra = Vec::new();
    match status {
        401 => extra.push("WWW-Authenticate"),
        409 | 429 | 503 => extra.push("Retry-After"),
        _ => {}
    }
    let codes: Vec<String> = match &examples {
        Value::Object(examples) => examples.keys().map(|code| format!("`{code}`")).collect(),
        _ => Vec::new(),
    };
    json!({
        "description": format!("{}: {}.", title(status), codes.join(", ")),
        "headers": headers(&extra),
        "content": {"application/json": {"schema": super::values::reference("Error"), "examples": examples}},
    })
}

/// Rendered by the error itself, so the example cannot differ from a real response.
fn body(base_url: &str, error: &Error) -> Value {
    let request: RequestId = examples::id(14);
    serde_json::from_str(&error.body(request, base_url)).unwrap_or_default()
}

pub(crate) fn title(status: u16) -> &'static str {
    match status {
        400 => "The request breaks a rule",
        401 => "No valid token",
        403 => "Not permitted",
        404 => "Not found",
        405 => "Another method is needed",
        409 => "Conflict",
        413 => "The body is too large",
        415 => "The body is not JSON",
        429 => "Too many requests",
        500 => "The server failed",
        _ => "The server cannot respond now",
    }
}

fn headline(code: &str) -> &'static str {
    match code {
        "invalid_request" => "A value out of range",
        "invalid_cursor" => "A cursor of another list, or an old one",
        "idempotency_key_required" => "The header is missing or empty",
        "idempotency_key_invalid" => "The key is too long or has a foreign character",
        "invalid_token" => "No valid token",
        "insufficient_scope" => "A scope is missing",
        "not_found" => "No such thing here",
        "conflict" => "The state does not allow it",
        "idempotency_key_reused" => "One key, two different requests",
        "idempotency_key_in_use" => "The first request is still running",
        "payload_too_large" => "More than 64 KiB",
        "unsupported_media_type" => "Another content type",
        "rate_limited" => "The bucket is empty",
        "internal" => "A failure of the server",
        _ => "Try again soon",
    }
}

fn sample(code: &str) -> Option<Error> {
    Some(match code {
        "invalid_request" => match PageLimit::parse("0") {
            Err(rule) => Error::invalid("limit", rule),
            Ok(_) => return None,
        },
        "invalid_cursor" => BadCursor::Foreign.into(),
        "idempotency_key_required" => Error::KeyRequired,
        "idempotency_key_invalid" => Error::KeyInvalid,
        "invalid_token" => Error::InvalidToken,
        "not_found" => Error::no_such(kind::Member::NOUN),
        "method_not_allowed" => Error::MethodNotAllowed(vec!["GET", "PATCH", "HEAD"]),
        "conflict" => sent_already()?.into(),
        "idempotency_key_reused" => Error::KeyReused,
        "idempotency_key_in_use" => Error::KeyInUse,
        "payload_too_large" => Error::PayloadTooLarge { limit: 64 * 1024 },
        "unsupported_media_type" => {
            Error::UnsupportedMediaType("the body must be sent with `Content-Type: application/json`")
        }
        "rate_limited" => Error::RateLimited(Quota {
            bucket: Bucket::Read,
            limit: Limits::default().read,
            remaining: 0,
            reset_seconds: 42,
            allowed: false,
        }),
        "internal" => Error::Internal(String::new()),
        "unavailable" => Error::Unavailable(String::new()),
        _ => return None,
    })
}

fn sent_already() -> Option<Refusal> {
    let mut reminder = examples::reminder(ReminderStatus::Sent);
    let now = reminder.stamps.updated_at;
    reminder.start_run(true, now, now).err()
}
