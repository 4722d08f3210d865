//! The OpenAPI document. Paths, permissions and costs come from `ROUTES`, values from the domain.

mod errors;
mod events;
mod examples;
mod operations;
mod parameters;
mod schemas;
mod values;

use bursar_domain::access::{Role, Scope};
use bursar_domain::token::TokenKind;
use serde_json::{Value, json};

pub use self::errors::{CODES, ErrorDoc};
pub(super) use self::errors::{example, title};
pub(super) use self::events::WEBHOOKS;
pub(super) use self::values::MONEY;

const OPENAPI: &str = "3.1.0";
const TITLE: &str = "Organization Dues and Payments API";
/// The version of the API, not of bursar.
const VERSION: &str = "1.0.0";

pub fn document(base_url: &str) -> Value {
    let base_url = base_url.trim_end_matches('/');
    let tags: Vec<Value> = operations::TAGS
        .iter()
        .map(|(name, description)| json!({"name": name, "description": description}))
        .collect();
    json!({
        "openapi": OPENAPI,
        "info": {
            "title": TITLE,
            "version": VERSION,
            "summary": "Members, dues, payments and more of an organization.",
            "description": INTRODUCTION,
            "contact": {"name": "API reference", "url": format!("{base_url}/docs")},
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": base_url, "description": "This server."}],
        "externalDocs": {"description": "The guide: tokens, paging, sync, retries and limits.", "url": format!("{base_url}/docs/guide")},
        "tags": tags,
        "security": [{"bearerAuth": []}],
        "paths": operations::paths(base_url),
        "webhooks": events::webhooks(),
        "components": {
            "securitySchemes": {"bearerAuth": {"type": "http", "scheme": "bearer", "description": security()}},
            "parameters": parameters::all(),
            "headers": parameters::all_headers(),
            "responses": errors::responses(),
            "examples": errors::error_examples(base_url),
            "schemas": schemas::all(),
        },
    })
}

const INTRODUCTION: &str = "Reads and writes an organization's data: members, groups with their dues, payments, \
reimbursements, reminders, cards, campaigns, a store, and the rosters of child chapters.

- Bodies are JSON. Every field of a resource is always there; a missing value is `null`.
- Money is a decimal string with the currency's digits: `\"125.00\"`.
- Times are in UTC with six fraction digits. Days are `YYYY-MM-DD`.
- Lists are given oldest change first, page by page. A walk from the first page to the last shows all rows as they were when \
it began.
- Unknown parameters and fields are refused, so that a mistyped filter never returns unfiltered data.
- `HEAD` works wherever `GET` does.
- In v1, fields, endpoints and error codes may be added. Nothing is taken away, and a card's fields stay as they are.";

fn security() -> String {
    let scopes: Vec<String> = Scope::ALL
        .iter()
        .map(|scope| {
            let role = Role::ALL.iter().copied().find(|role| role.ceiling().has(*scope));
            let role = role.map_or("", reach);
            format!("- `{scope}`: {} ({role})", scope.in_words())
        })
        .collect();
    format!(
        "Send `Authorization: Bearer` and an access token. Tokens in cookies or the URL are ignored. There are \
         two kinds.\n\nA personal token (`{}…`) acts as a user, with the role that the user has in the organization at that \
         moment. A service token (`{}…`) acts as the organization, with the role it was created with: viewer or editor.\n\nWhat a \
         request may do is evaluated each time: the token's scopes, limited by the role, minus those that the organization's \
         policy blocks. The scopes, with the roles that allow them:\n\n{}",
        TokenKind::Personal.prefix(),
        TokenKind::Service.prefix(),
        scopes.join("\n")
    )
}

pub(super) const fn reach(least: Role) -> &'static str {
    match least {
        Role::Viewer => "every role",
        Role::Editor => "editor and admin",
        Role::Admin => "admin alone",
    }
}
