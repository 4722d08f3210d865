use bursar_app::tokens::{
    self, Explanation, Holder, Issued, NewToken, Record, State, WithheldScope, parse_scopes,
};
use bursar_domain::access::{Role, Withheld};
use bursar_domain::ids::{OrganizationId, TokenId};
use bursar_domain::token::TokenKind;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::door::Door;
use super::role::parse_role;
use super::{Failure, Globals, Outcome, output, parse_id};
use crate::ambient;

const BASE_URL: &str = "http://127.0.0.1:8080";

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Create a personal token (--user) or a service token (--service --role); the secret is shown once
    Create(CreateArgs),
    /// List an organization's tokens, including revoked and expired ones
    List,
    /// Show a token
    Show(IdArgs),
    /// Show what a token can do now, and why its other scopes are withheld
    Explain(IdArgs),
    /// Replace a service token; the old one keeps working during the overlap
    Rotate(RotateArgs),
    /// Revoke a token immediately and permanently
    Revoke(IdArgs),
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The token's id
    #[arg(value_name = "ID", value_parser = parse_id::<bursar_domain::ids::kind::Token>)]
    id: TokenId,
}

#[derive(Debug, Args)]
pub(crate) struct RotateArgs {
    /// The token's id
    #[arg(value_name = "ID", value_parser = parse_id::<bursar_domain::ids::kind::Token>)]
    id: TokenId,
    /// How long the old token keeps working: 0 to 30 days [default: 7]
    #[arg(long, value_name = "N", value_parser = parse_days, allow_negative_numbers = true)]
    overlap_days: Option<i64>,
    /// Server URL for the sample command
    #[arg(long, value_name = "URL", default_value = BASE_URL)]
    base_url: String,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Owner of a personal token
    #[arg(
        long,
        value_name = "EMAIL",
        required_unless_present = "service",
        conflicts_with = "service"
    )]
    user: Option<String>,
    /// Create a service token, which belongs to the organization
    #[arg(long, requires = "role")]
    service: bool,
    /// Role of a service token: viewer or editor; it cannot be changed later
    #[arg(long, requires = "service", conflicts_with = "user", value_parser = parse_role)]
    role: Option<Role>,
    /// Scopes, separated by commas
    #[arg(long, value_name = "SCOPES")]
    scopes: String,
    /// Lifetime: 1 to 365 days, or less if the policy caps it [default: 90]
    #[arg(long, value_name = "N", value_parser = parse_days, allow_negative_numbers = true)]
    days: Option<i64>,
    /// Name [default: "token" and the day]
    #[arg(long)]
    name: Option<String>,
    /// Server URL for the sample command
    #[arg(long, value_name = "URL", default_value = BASE_URL)]
    base_url: String,
}

fn parse_days(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| "must be a whole number of days".to_owned())
}

fn home(door: &Door<'_>, id: TokenId) -> Result<OrganizationId, Failure> {
    door.home_of(id, tokens::organization_of)
}

pub(crate) fn run(globals: &Globals, command: TokenCommand) -> Outcome {
    let door = Door::open(globals)?;
    match command {
        TokenCommand::Create(args) => create(globals, &door, args),
        TokenCommand::List => list(globals, &door),
        TokenCommand::Show(args) => show(globals, &door, args.id),
        TokenCommand::Explain(args) => explain(globals, &door, args.id),
        TokenCommand::Rotate(args) => rotate(globals, &door, &args),
        TokenCommand::Revoke(args) => revoke(globals, &door, args.id),
    }
}

fn create(globals: &Globals, door: &Door<'_>, args: CreateArgs) -> Outcome {
    let holder = match (args.user, args.role) {
        (Some(email), _) => Holder::Person(email),
        (None, Some(role)) => Holder::Service(role),
        (None, None) => {
            return Err(Failure::new(
                "say --user EMAIL, or --service --role ROLE".to_owned(),
            ));
        }
    };
    let new = NewToken {
        holder,
        name: args.name,
        scopes: parse_scopes(&args.scopes)?,
        days: args.days,
    };
    let (entropy, org) = (ambient::entropy()?, door.organization()?);
    let issued = door.act(org, move |act| tokens::create(act, &new, &entropy))?;
    if globals.json {
        return output::json(&with_secret(&issued, json!({})));
    }
    present(door, &issued, &args.base_url)
}

fn list(globals: &Globals, door: &Door<'_>) -> Outcome {
    let all = door.view(door.organization()?, tokens::list)?;
    if globals.json {
        return output::json(&all);
    }
    let rows = all.iter().map(|t| {
        [
            t.id.to_string(),
            t.name.clone(),
            t.kind.to_string(),
            acts_as(t),
            t.state.to_string(),
            t.expires_at.date().to_string(),
            t.last_used_at
                .map_or_else(|| "never".to_owned(), |at| at.date().to_string()),
            t.scopes.to_string(),
        ]
    });
    output::table(
        [
            "id",
            "name",
            "kind",
            "acts as",
            "state",
            "expires",
            "last used",
            "scopes",
        ],
        rows.collect(),
        "no tokens yet; make one with `bursar token create`",
    );
    Ok(())
}

/// The owner's address, or the role of a service token.
fn acts_as(record: &Record) -> String {
    match (&record.email, record.role) {
        (Some(email), _) => email.clone(),
        (None, Some(role)) => role.to_string(),
        (None, None) => String::new(),
    }
}

fn show(globals: &Globals, door: &Door<'_>, id: TokenId) -> Outcome {
    let record = door.view(home(door, id)?, move |view| tokens::get(view, id))?;
    if globals.json {
        return output::json(&record);
    }
    if let Value::Object(fields) = serde_json::to_value(&record)? {
        let text = |value: &Value| match value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            Value::Array(items) => Some(
                items
                    .iter()
                    .filter_map(Value::as_str)
                    .collect::<Vec<_>>()
                    .join(", "),
            ),
            other => Some(other.to_string()),
        };
        let rows = fields
            .iter()
            .filter_map(|(key, value)| text(value).map(|text| [key.clone(), text]));
        output::table(["field", "value"], rows.collect(), "");
    }
    Ok(())
}

fn explain(globals: &Globals, door: &Door<'_>, id: TokenId) -> Outcome {
    let (explanation, state) = door.view(home(door, id)?, move |view| tokens::explain_by_id(view, id))?;
    if globals.json {
        let mut value = serde_json::to_value(&explanation)?;
        value["state"] = json!(state);
        return output::json(&value);
    }
    let role = explanation
        .role
        .map_or_else(|| "no role".to_owned(), |role| format!("the role {role}"));
    output::say(&format!(
        "{id} {:?} is a {} token of {} ({}) with {role}",
        explanation.name,
        explanation.kind,
        door.name_of(explanation.organization_id)?,
        explanation.organization_id
    ));
    let until = explanation.expires_at;
    output::say(&match state {
        State::Active => format!("It works until {until}."),
        State::Replaced => format!("It was rotated, and works until {until}."),
        State::RotatedOut => format!("It was rotated and stopped working at {until}: it can do nothing."),
        State::Expired => format!("It expired at {until}: it can do nothing."),
        State::Revoked => "It is revoked: it can do nothing.".to_owned(),
    });
    say_scopes(&explanation);
    Ok(())
}

fn rotate(globals: &Globals, door: &Door<'_>, args: &RotateArgs) -> Outcome {
    let (id, overlap_days) = (args.id, args.overlap_days);
    let entropy = ambient::entropy()?;
    let rotated = door.act(home(door, id)?, move |act| {
        tokens::rotate(act, id, overlap_days, &entropy)
    })?;
    let old = &rotated.predecessor;
    if globals.json {
        let predecessor = json!({ "id": old.id, "state": old.state, "expiresAt": old.expires_at });
        return output::json(&with_secret(
            &rotated.issued,
            json!({ "predecessor": predecessor }),
        ));
    }
    output::say(&match old.state {
        State::Replaced => format!("{id} is replaced, and works until {}.", old.expires_at),
        _ => format!("{id} is replaced, and no longer works."),
    });
    present(door, &rotated.issued, &args.base_url)
}

fn revoke(globals: &Globals, door: &Door<'_>, id: TokenId) -> Outcome {
    let record = door.act(home(door, id)?, move |act| tokens::revoke(act, id))?;
    if globals.json {
        return output::json(&record);
    }
    let at = record.revoked_at.map(|at| at.to_string()).unwrap_or_default();
    output::say(&format!("{id} {:?} is revoked since {at}", record.name));
    Ok(())
}

/// A new token as JSON: `id`, `secret` and `expiresAt`, then its record, then `more`.
fn with_secret(issued: &Issued, more: Value) -> Value {
    let mut value = json!({
        "id": issued.record.id, "secret": issued.secret.expose(), "expiresAt": issued.record.expires_at,
    });
    let record = serde_json::to_value(&issued.record).unwrap_or_default();
    for part in [record, more] {
        if let (Some(object), Value::Object(fields)) = (value.as_object_mut(), part) {
            for (key, field) in fields {
                object.entry(key).or_insert(field);
            }
        }
    }
    value
}

/// A new token for people: the secret, what it may do, and a command to try.
fn present(door: &Door<'_>, issued: &Issued, base_url: &str) -> Outcome {
    let record = &issued.record;
    let who = match record.kind {
        TokenKind::Personal => format!("personal token of {}", acts_as(record)),
        TokenKind::Service => format!("service token with the role {}", acts_as(record)),
    };
    output::say(&format!("{} is a {who}, named {:?}.", record.id, record.name));
    output::say("");
    output::say(&format!("    {}", issued.secret.expose()));
    output::say("");
    output::say("This is its secret. Keep it now: it is not stored and cannot be shown again.");
    output::say(&format!("It expires on {}. Try it:", record.expires_at.date()));
    output::say(&format!(
        "    curl -H 'Authorization: Bearer {}' {}/v1/token",
        issued.secret.expose(),
        base_url.trim_end_matches('/')
    ));
    output::say("");
    // Last, because it can fail: by now the secret has been shown.
    let id = record.id;
    let (explanation, _) = door.view(record.organization_id, move |view| {
        tokens::explain_by_id(view, id)
    })?;
    say_scopes(&explanation);
    Ok(())
}

fn say_scopes(explanation: &Explanation) {
    if !explanation.effective_scopes.is_empty() {
        output::say("It can:");
    }
    for scope in explanation.effective_scopes.iter() {
        output::say(&format!("  - {} ({scope})", scope.in_words()));
    }
    if !explanation.withheld.is_empty() {
        output::say(match explanation.effective_scopes.is_empty() {
            true => "It can do nothing now. It was given:",
            false => "It cannot now, though it was given it:",
        });
    }
    for WithheldScope { scope, by } in &explanation.withheld {
        let words = scope.in_words();
        output::say(&match (by, explanation.role) {
            (Withheld::Role, Some(role)) => format!("  - {words} ({scope}): the role {role} withholds it"),
            _ => format!(
                "  - {words} ({scope}): the organization's {by} withholds it",
                by = by.as_str()
            ),
        });
    }
}
