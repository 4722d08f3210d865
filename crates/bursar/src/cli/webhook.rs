//! `bursar webhook`: endpoints that get every event by HTTP.

use std::path::PathBuf;

use bursar_app::secrets::KeyFile;
use bursar_app::tokens::parse_scopes;
use bursar_app::webhooks::{
    self, Delivery, Issued, NewWebhook, PAGE_MAX, Reach, Record, State, WebhookChange, parse_types,
};
use bursar_domain::Timestamp;
use bursar_domain::ids::{EventId, OrganizationId, WebhookId, kind};
use bursar_domain::sealed::SecretKey;
use bursar_domain::webhook::address::{Allowed, Block};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use super::activity::parse_since;
use super::door::Door;
use super::{Failure, Globals, Outcome, output, parse_id};
use crate::ambient;

/// What stands for every type, and for no description.
const ALL: &str = "all";

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// Create an endpoint; its secret is shown once
    Create(CreateArgs),
    /// List an organization's endpoints
    List,
    /// Show an endpoint
    Show(IdArgs),
    /// Change an endpoint
    Set(SetArgs),
    /// Create a new secret; during the overlap the old one signs too
    Rotate(RotateArgs),
    /// Stop deliveries; the endpoint keeps its position in the list of events
    Disable(IdArgs),
    /// Continue deliveries at the endpoint's position
    Enable(EnableArgs),
    /// Send an event of type test
    Test(IdArgs),
    /// List deliveries, newest first
    Deliveries(DeliveriesArgs),
    /// Send one event again, or all since a time
    Replay(ReplayArgs),
    /// Delete an endpoint with its secrets and deliveries
    Delete(IdArgs),
}

/// Where deliveries may go, and the key of the secrets.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WebhookArgs {
    #[command(flatten)]
    pub(crate) reach: ReachArgs,
    #[command(flatten)]
    pub(crate) key: KeyArgs,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ReachArgs {
    /// Non-public address or CIDR block that webhooks may be sent to, also over http://; repeatable
    #[arg(long, value_name = "CIDR", value_delimiter = ',', value_parser = Allowed::parse_block)]
    webhook_allow: Vec<Block>,
}

#[derive(Clone, Debug, Default, Args)]
pub(crate) struct KeyArgs {
    /// File with the key for stored secrets: base64 of 32 random bytes; by default beside the SQLite database
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_key_file: Option<PathBuf>,
}

impl ReachArgs {
    pub(crate) fn reach(&self) -> Reach {
        Reach::new(Allowed::new(self.webhook_allow.clone()))
    }
}

impl KeyArgs {
    pub(crate) fn file(&self, url: &bursar_app::DatabaseUrl) -> KeyFile {
        KeyFile::of(url, self.secret_key_file.as_deref())
    }

    fn key(
        &self,
        globals: &Globals,
        door: &Door<'_>,
        organization: OrganizationId,
    ) -> Result<SecretKey, Failure> {
        let (file, random) = (self.file(&globals.database().parse()?), ambient::entropy()?);
        door.view(organization, move |view| webhooks::key(view, &file, random))
    }
}

#[derive(Debug, Args)]
pub(crate) struct IdArgs {
    /// The endpoint's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Webhook>)]
    id: WebhookId,
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Where events are sent; https only, unless --webhook-allow names the address
    #[arg(long, value_name = "URL")]
    url: String,
    /// Types of events, separated by commas [default: all]
    #[arg(long, value_name = "TYPES")]
    types: Option<String>,
    /// Read scopes that limit what is sent, separated by commas [default: all that events need]
    #[arg(long, value_name = "SCOPES")]
    scopes: Option<String>,
    /// What the endpoint is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    #[command(flatten)]
    webhook: WebhookArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    /// The endpoint's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Webhook>)]
    id: WebhookId,
    /// Where events are sent
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Types of events, separated by commas, or all
    #[arg(long, value_name = "TYPES")]
    types: Option<String>,
    /// Read scopes that limit what is sent, separated by commas
    #[arg(long, value_name = "SCOPES")]
    scopes: Option<String>,
    /// What the endpoint is for; empty removes it
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RotateArgs {
    /// The endpoint's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Webhook>)]
    id: WebhookId,
    /// How long the old secret signs too: 0 to 168 hours [default: 24]
    #[arg(long, value_name = "N", value_parser = parse_hours, allow_negative_numbers = true)]
    overlap_hours: Option<i64>,
    #[command(flatten)]
    key: KeyArgs,
}

#[derive(Debug, Args)]
pub(crate) struct EnableArgs {
    /// The endpoint's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Webhook>)]
    id: WebhookId,
    /// Skip events that have expired
    #[arg(long)]
    skip: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DeliveriesArgs {
    /// The endpoint's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Webhook>)]
    id: WebhookId,
    /// Only deliveries before this time (2026-11-15T01:39:08Z) or UTC day (2026-11-15)
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    before: Option<Timestamp>,
    /// Maximum number of deliveries
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u64).range(1..=1_000))]
    limit: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The endpoint's id
    #[arg(value_name = "ID", value_parser = parse_id::<kind::Webhook>)]
    id: WebhookId,
    /// Event to resend now, ahead of others
    #[arg(value_name = "EVENT", value_parser = parse_id::<kind::Event>, required_unless_present = "since", conflicts_with = "since")]
    event: Option<EventId>,
    /// Send all events again since this time (2026-11-15T01:39:08Z) or UTC day (2026-11-15)
    #[arg(long, value_name = "TIME", value_parser = parse_since)]
    since: Option<Timestamp>,
}

fn parse_hours(text: &str) -> Result<i64, String> {
    text.parse()
        .map_err(|_| "must be a whole number of hours".to_owned())
}

fn home(door: &Door<'_>, id: WebhookId) -> Result<OrganizationId, Failure> {
    door.home_of(id, webhooks::organization_of)
}

pub(crate) fn run(globals: &Globals, command: WebhookCommand) -> Outcome {
    let door = Door::open(globals)?;
    match command {
        WebhookCommand::Create(args) => create(globals, &door, args),
        WebhookCommand::List => list(globals, &door),
        WebhookCommand::Show(args) => {
            let id = args.id;
            let record = door.view(home(&door, id)?, move |view| webhooks::get(view, id))?;
            show(globals, &record)
        }
        WebhookCommand::Set(args) => set(globals, &door, args),
        WebhookCommand::Rotate(args) => rotate(globals, &door, &args),
        WebhookCommand::Disable(args) => {
            let id = args.id;
            let record = door.act(home(&door, id)?, move |act| webhooks::disable(act, id))?;
            tell(
                globals,
                &record,
                "is disabled; it keeps its position in the list of events",
            )
        }
        WebhookCommand::Enable(EnableArgs { id, skip }) => {
            let record = door.act(home(&door, id)?, move |act| webhooks::enable(act, id, skip))?;
            let continues = format!("is enabled and continues at {}", record.cursor_at);
            tell(globals, &record, &continues)
        }
        WebhookCommand::Test(args) => test(globals, &door, args.id),
        WebhookCommand::Deliveries(args) => deliveries(globals, &door, &args),
        WebhookCommand::Replay(args) => replay(globals, &door, &args),
        WebhookCommand::Delete(args) => {
            let id = args.id;
            door.act(home(&door, id)?, move |act| webhooks::delete(act, id))?;
            match globals.json {
                true => output::json(&json!({ "id": id, "deleted": true })),
                false => {
                    output::say(&format!("Deleted {id}"));
                    Ok(())
                }
            }
        }
    }
}

fn create(globals: &Globals, door: &Door<'_>, args: CreateArgs) -> Outcome {
    let new = NewWebhook {
        destination: args.webhook.reach.reach().destination(&args.url)?,
        types: types(args.types.as_deref())?.flatten(),
        scopes: args.scopes.as_deref().map(parse_scopes).transpose()?,
        description: args.description,
    };
    let organization = door.organization()?;
    let key = args.webhook.key.key(globals, door, organization)?;
    let entropy = ambient::entropy()?;
    let issued = door.act(organization, move |act| {
        webhooks::create(act, &new, &key, &entropy)
    })?;
    if globals.json {
        return output::json(&WithSecret::of(&issued));
    }
    let record = &issued.record;
    output::say(&format!("{} delivers to {}.", record.id, record.url));
    present(&issued);
    output::say(&format!("Try it: bursar webhook test {}", record.id));
    Ok(())
}

/// The text of the option: left out, every type, or some.
fn types(text: Option<&str>) -> Result<Option<Option<Vec<bursar_domain::event::EventType>>>, Failure> {
    Ok(match text {
        None => None,
        Some(ALL) => Some(None),
        Some(list) => Some(Some(parse_types(list)?)),
    })
}

/// A new secret for people.
fn present(issued: &Issued) {
    output::say("");
    output::say(&format!("    {}", issued.secret.text()));
    output::say("");
    output::say(
        "This is its secret. Keep it now: it is not shown again. Receivers verify deliveries with it.",
    );
}

/// An endpoint with its new secret, for programs.
#[derive(Serialize)]
struct WithSecret<'a> {
    secret: String,
    #[serde(flatten)]
    record: &'a Record,
}

impl<'a> WithSecret<'a> {
    fn of(issued: &'a Issued) -> Self {
        Self {
            secret: issued.secret.text(),
            record: &issued.record,
        }
    }
}

fn list(globals: &Globals, door: &Door<'_>) -> Outcome {
    let all = door.view(door.organization()?, webhooks::list)?;
    if globals.json {
        return output::json(&all);
    }
    let rows = all.iter().map(|webhook| {
        [
            webhook.id.to_string(),
            webhook.url.clone(),
            state(webhook),
            webhook
                .last_delivered_at
                .map_or_else(|| "never".to_owned(), |at| at.to_string()),
            webhook.description.clone().unwrap_or_default(),
        ]
    });
    output::table(
        ["id", "url", "state", "last delivered", "description"],
        rows.collect(),
        "no webhook endpoints yet; make one with `bursar webhook create`",
    );
    Ok(())
}

fn state(webhook: &Record) -> String {
    match (webhook.state, webhook.failing_since) {
        (State::Disabled, _) => "disabled".to_owned(),
        (State::Enabled, Some(since)) => format!("failing since {}", since.date()),
        (State::Enabled, None) => "enabled".to_owned(),
    }
}

fn show(globals: &Globals, record: &Record) -> Outcome {
    if globals.json {
        return output::json(record);
    }
    let secrets = record.secrets.iter().map(|secret| match secret.ends_at {
        Some(end) => format!("made {}, signs until {end}", secret.created_at),
        None => format!("made {}", secret.created_at),
    });
    let secrets = secrets.collect::<Vec<_>>().join("; ");
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    let fields = [
        ("id", Some(record.id.to_string())),
        ("organization", Some(record.organization_id.to_string())),
        ("url", Some(record.url.clone())),
        ("description", record.description.clone()),
        ("state", Some(record.state.to_string())),
        ("disabled", time(record.disabled_at)),
        ("disabled because", record.disabled_reason.clone()),
        (
            "types",
            Some(
                record
                    .types
                    .as_ref()
                    .map_or_else(|| ALL.to_owned(), |types| types.join(", ")),
            ),
        ),
        ("scopes", Some(record.scopes.to_string())),
        ("delivered up to", Some(record.cursor_at.to_string())),
        ("last delivered", time(record.last_delivered_at)),
        ("failing since", time(record.failing_since)),
        ("next attempt", time(record.next_attempt_at)),
        ("secrets", Some(secrets)),
        ("created", Some(record.created_at.to_string())),
        ("created by", Some(record.created_by.clone())),
    ];
    let rows = fields
        .into_iter()
        .filter_map(|(name, value)| Some([name.to_owned(), value?]));
    output::table(["field", "value"], rows.collect(), "");
    Ok(())
}

fn tell(globals: &Globals, record: &Record, what: &str) -> Outcome {
    match globals.json {
        true => output::json(record),
        false => {
            output::say(&format!("{} {what}", record.id));
            Ok(())
        }
    }
}

fn set(globals: &Globals, door: &Door<'_>, args: SetArgs) -> Outcome {
    let id = args.id;
    let reach = args.reach.reach();
    let change = WebhookChange {
        destination: args
            .url
            .as_deref()
            .map(|url| reach.destination(url))
            .transpose()?,
        types: types(args.types.as_deref())?,
        scopes: args.scopes.as_deref().map(parse_scopes).transpose()?,
        description: args
            .description
            .map(|text| Some(text).filter(|text| !text.trim().is_empty())),
    };
    let record = door.act(home(door, id)?, move |act| webhooks::set(act, id, &change))?;
    show(globals, &record)
}

fn rotate(globals: &Globals, door: &Door<'_>, args: &RotateArgs) -> Outcome {
    let (id, hours) = (args.id, args.overlap_hours);
    let organization = home(door, id)?;
    let key = args.key.key(globals, door, organization)?;
    let entropy = ambient::entropy()?;
    let issued = door.act(organization, move |act| {
        webhooks::rotate(act, id, hours, &key, &entropy)
    })?;
    if globals.json {
        return output::json(&WithSecret::of(&issued));
    }
    let old = issued.record.secrets.get(1).and_then(|secret| secret.ends_at);
    output::say(&match old {
        Some(end) => format!("{id} has a second secret; the old one signs until {end}."),
        None => format!("{id} has a new secret; the old one no longer signs."),
    });
    present(&issued);
    Ok(())
}

fn test(globals: &Globals, door: &Door<'_>, id: WebhookId) -> Outcome {
    let event = door.act(home(door, id)?, move |act| webhooks::test(act, id))?;
    if globals.json {
        return output::json(&json!({ "id": id, "eventId": event }));
    }
    output::say(&format!(
        "Test event {event} is queued; `bursar webhook deliveries {id}` shows the result"
    ));
    Ok(())
}

fn deliveries(globals: &Globals, door: &Door<'_>, args: &DeliveriesArgs) -> Outcome {
    let (id, before, limit) = (args.id, args.before, usize::try_from(args.limit)?.min(PAGE_MAX));
    let found = door.view(home(door, id)?, move |view| {
        webhooks::deliveries(view, id, before, limit)
    })?;
    if globals.json {
        return output::json(&found);
    }
    let result = |delivery: &Delivery| match (delivery.status, &delivery.error) {
        (Some(status), None) => status.to_string(),
        (Some(status), Some(error)) => format!("{status} {error}"),
        (None, error) => error.clone().unwrap_or_default(),
    };
    let rows = found.iter().map(|delivery| {
        [
            delivery.at.to_string(),
            delivery.event_id.to_string(),
            delivery.event_type.clone(),
            delivery.attempt.to_string(),
            delivery.outcome.to_string(),
            format!("{} ms", delivery.duration_ms),
            result(delivery),
        ]
    });
    output::table(
        ["at", "event", "type", "attempt", "outcome", "took", "result"],
        rows.collect(),
        "no deliveries yet, or none within the last 30 days",
    );
    Ok(())
}

fn replay(globals: &Globals, door: &Door<'_>, args: &ReplayArgs) -> Outcome {
    let (id, organization) = (args.id, home(door, args.id)?);
    if let Some(event) = args.event {
        door.act(organization, move |act| webhooks::replay(act, id, event))?;
        if globals.json {
            return output::json(&json!({ "id": id, "eventId": event }));
        }
        output::say(&format!("{event} is queued and sent ahead of others"));
        return Ok(());
    }
    let since = args.since.ok_or("say which event, or --since TIME")?;
    let record = door.act(organization, move |act| webhooks::replay_since(act, id, since))?;
    tell(globals, &record, &format!("sends all events again since {since}"))
}
