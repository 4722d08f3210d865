//! Webhook endpoints: create, change, rotate, disable, enable, test, replay, delete.
//!
//! An endpoint belongs to its organization and is for admins. Every change holds the organization's change clock, so that
//! a cursor starts between two acts. [`delivery`] has what the worker does.

pub mod delivery;
pub mod destination;
pub mod notice;
mod record;

use bursar_db::webhooks::{self, Place, Webhook};
use bursar_db::{events, online, organizations};
use bursar_domain::access::{Policy, Role, Scope, ScopeSet};
use bursar_domain::event::{self, Actor, EventResource, EventType, NAMES};
use bursar_domain::ids::{EventId, OrganizationId, WebhookId};
use bursar_domain::sealed::{KEY_BYTES, NONCE_BYTES, SecretKey};
use bursar_domain::text::NOTE;
use bursar_domain::webhook::signing::{SECRET_BYTES, Secret};
use bursar_domain::{Refusal, Timestamp};

pub use self::destination::{Destination, Reach, Resolver};
pub use self::record::{Delivery, Record, SecretRecord, State};
use crate::act::{Act, View, Whole};
use crate::caller::Caller;
use crate::error::AppError;
use crate::rule::Rule;
use crate::secrets::KeyFile;

pub const WEBHOOKS_MAX: usize = 20;
pub const OVERLAP_HOURS_DEFAULT: i64 = 24;
pub const OVERLAP_HOURS_MAX: i64 = 168;
/// Deliveries of one page.
pub const PAGE_MAX: usize = 1_000;
/// Events that may wait to be sent out of turn.
const EXTRAS_MAX: i64 = 100;
/// What a new secret is made from: its bytes, and the nonce that seals it.
pub const SECRET_ENTROPY: usize = SECRET_BYTES + NONCE_BYTES;

#[derive(Clone, Debug)]
pub struct NewWebhook {
    pub destination: Destination,
    /// All of them if left out.
    pub types: Option<Vec<EventType>>,
    /// All that events need if left out.
    pub scopes: Option<ScopeSet>,
    pub description: Option<String>,
}

/// What is left out stays.
#[derive(Clone, Debug, Default)]
pub struct WebhookChange {
    pub destination: Option<Destination>,
    /// `Some(None)` is every type.
    pub types: Option<Option<Vec<EventType>>>,
    pub scopes: Option<ScopeSet>,
    /// `Some(None)` removes it.
    pub description: Option<Option<String>>,
}

/// An endpoint, and its new secret for the only time.
#[derive(Clone, Debug)]
pub struct Issued {
    pub record: Record,
    pub secret: Secret,
}

pub const CREATE: Rule = Rule::of("webhook.create", Role::Admin, "create webhook endpoints").guarded();
pub const LIST: Rule = Rule::of(
    "webhook.list",
    Role::Admin,
    "see webhook endpoints and their deliveries",
);
pub const SET: Rule = Rule::of("webhook.set", Role::Admin, "change webhook endpoints").guarded();
pub const ROTATE: Rule = Rule::of(
    "webhook.rotate",
    Role::Admin,
    "rotate the secrets of webhook endpoints",
)
.guarded();
pub const DISABLE: Rule = Rule::of("webhook.disable", Role::Admin, "disable webhook endpoints").guarded();
pub const ENABLE: Rule = Rule::of("webhook.enable", Role::Admin, "enable webhook endpoints").guarded();
pub const TEST: Rule = Rule::of("webhook.test", Role::Admin, "send test events").guarded();
pub const REPLAY: Rule = Rule::of("webhook.replay", Role::Admin, "send events again").guarded();
pub const DELETE: Rule = Rule::of("webhook.delete", Role::Admin, "delete webhook endpoints").guarded();
pub const FIND: Rule = Rule::of_operator("webhook.find", "find a webhook endpoint by its id");
pub const RULES: &[&Rule] = &[
    &CREATE,
    &LIST,
    &SET,
    &ROTATE,
    &DISABLE,
    &ENABLE,
    &TEST,
    &REPLAY,
    &DELETE,
    &FIND,
    &delivery::CLAIM,
    &delivery::ATTEMPTED,
];

/// Parses `a,b` strictly: at least one type, each in the table.
pub fn parse_types(list: &str) -> Result<Vec<EventType>, Refusal> {
    let mut types: Vec<EventType> = Vec::new();
    for name in list.split(',').map(str::trim) {
        let known = EventType::parse(name).ok_or_else(|| {
            let names = NAMES.join(", ");
            Refusal::invalid(
                "types",
                format!(
                    "must name types of events, with commas between, got {name:?}; the types are {names}"
                ),
            )
        })?;
        if !types.contains(&known) {
            types.push(known);
        }
    }
    Ok(types)
}

/// What the events of all resources need.
pub fn all_scopes() -> ScopeSet {
    EventResource::ALL
        .iter()
        .fold(ScopeSet::NONE, |scopes, resource| {
            scopes.or(ScopeSet::of(&[resource.scope()]))
        })
}

/// Only what reads a resource that has events says anything here.
fn check_scopes(scopes: ScopeSet, policy: Policy) -> Result<ScopeSet, Refusal> {
    let useless = scopes.without(all_scopes().or(ScopeSet::of(&[Scope::EventsRead])));
    if scopes.and(all_scopes()).is_empty() || !useless.is_empty() {
        let rule = format!("must name read scopes of resources with events: {}", all_scopes());
        return Err(Refusal::invalid("scopes", rule));
    }
    let blocked = scopes.and(policy.blocked_scopes);
    if !blocked.is_empty() {
        let rule = format!(
            "must not ask for {blocked}: the organization's policy blocks it; leave it out, or have an admin allow it"
        );
        return Err(Refusal::invalid("scopes", rule));
    }
    Ok(scopes)
}

fn names(types: &[EventType]) -> Vec<String> {
    types.iter().map(|known| known.name.to_owned()).collect()
}

fn described(description: Option<&str>) -> Result<Option<String>, Refusal> {
    let text = description.map(|text| NOTE.check(text).map_err(Refusal::of_field("description")));
    text.transpose()
}

/// Whether an endpoint gets events that need this scope, now.
fn is_granted(webhook: &Webhook, policy: Policy, scope: Scope) -> bool {
    webhook
        .scopes
        .and(Role::Editor.ceiling())
        .without(policy.blocked_scopes)
        .has(scope)
}

/// The key that seals a new secret. One beside the database is made from `random` if nothing is sealed yet.
pub fn key(view: &mut View<'_, '_>, file: &KeyFile, random: [u8; KEY_BYTES]) -> Result<SecretKey, AppError> {
    view.allow(&LIST)?;
    let is_first = !webhooks::has_secrets(view.tx)? && !online::providers::is_any(view.tx)?;
    let key = file.read_or_make(is_first.then_some(random));
    Ok(key.map_err(Refusal::conflict)?)
}

/// The secret and its seal come from `entropy`. The first event that is delivered is the first after this act.
pub fn create(
    act: &mut Act<'_, '_>,
    new: &NewWebhook,
    key: &SecretKey,
    entropy: &[u8; SECRET_ENTROPY],
) -> Result<Issued, AppError> {
    act.allow(&CREATE)?;
    if webhooks::all(act.tx, act.organization)?.len() >= WEBHOOKS_MAX {
        return Err(Refusal::conflict(format!(
            "the organization has {WEBHOOKS_MAX} webhook endpoints, which is the most; delete one first"
        ))
        .into());
    }
    let policy = organizations::policy(act.tx, act.organization)?.unwrap_or_default();
    let scopes = match new.scopes {
        Some(scopes) => check_scopes(scopes, policy)?,
        None => all_scopes(),
    };
    let now = act.now();
    let webhook = Webhook {
        organization_id: act.organization,
        id: act.new_id(),
        url: new.destination.url.clone(),
        description: described(new.description.as_deref())?,
        types: new.types.as_deref().map(names),
        scopes,
        is_enabled: true,
        disabled_at: None,
        disabled_reason: None,
        created_at: now,
        created_by: creator(&act.caller),
        cursor: Place::after(act.last_stamp()),
        attempts: 0,
        refusals: 0,
        failing_since: None,
        delivered_at: None,
        due_at: now,
        claim: 0,
    };
    webhooks::insert(act.tx, &webhook)?;
    let secret = add_secret(act, webhook.id, key, entropy, now)?;
    act.log(CREATE.name, Some(webhook.id.to_string()), None)?;
    Ok(Issued {
        record: record::of(act.tx, webhook, now)?,
        secret,
    })
}

fn creator(caller: &Caller) -> String {
    caller.id().unwrap_or_else(|| caller.kind().to_owned())
}

/// What a sealed secret belongs to.
fn owner(organization: OrganizationId, id: WebhookId) -> [u8; 32] {
    let mut owner = [0; 32];
    owner[..16].copy_from_slice(&organization.to_bytes());
    owner[16..].copy_from_slice(&id.to_bytes());
    owner
}

fn add_secret(
    act: &mut Act<'_, '_>,
    id: WebhookId,
    key: &SecretKey,
    entropy: &[u8; SECRET_ENTROPY],
    end_other: Timestamp,
) -> Result<Secret, AppError> {
    let (mut bytes, mut nonce) = ([0; SECRET_BYTES], [0; NONCE_BYTES]);
    bytes.copy_from_slice(&entropy[..SECRET_BYTES]);
    nonce.copy_from_slice(&entropy[SECRET_BYTES..]);
    let sealed = key.seal(nonce, &owner(act.organization, id), &bytes);
    let now = act.now();
    webhooks::add_secret(act.tx, act.organization, id, &sealed, now, end_other)?;
    Ok(Secret::new(bytes))
}

/// Oldest first.
pub fn list(view: &mut View<'_, '_>) -> Result<Vec<Record>, AppError> {
    view.allow(&LIST)?;
    let (found, now) = (webhooks::all(view.tx, view.organization)?, view.now());
    let records = found.into_iter().map(|webhook| record::of(view.tx, webhook, now));
    Ok(records.collect::<Result<_, _>>()?)
}

pub fn get(view: &mut View<'_, '_>, id: WebhookId) -> Result<Record, AppError> {
    view.allow(&LIST)?;
    let (webhook, now) = (of(view, id)?, view.now());
    Ok(record::of(view.tx, webhook, now)?)
}

/// The newest first, from before a time.
pub fn deliveries(
    view: &mut View<'_, '_>,
    id: WebhookId,
    before: Option<Timestamp>,
    limit: usize,
) -> Result<Vec<Delivery>, AppError> {
    view.allow(&LIST)?;
    if !(1..=PAGE_MAX).contains(&limit) {
        let rule = format!("must be 1 to {PAGE_MAX}, got {limit}");
        return Err(Refusal::invalid("limit", rule).into());
    }
    of(view, id)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let found = webhooks::deliveries(view.tx, view.organization, id, before, limit)?;
    Ok(found.into_iter().map(Delivery::from).collect())
}

pub fn organization_of(whole: &mut Whole<'_, '_>, id: WebhookId) -> Result<OrganizationId, AppError> {
    whole.allow(&FIND)?;
    let found = webhooks::organization_of(whole.tx, id)?;
    Ok(found.ok_or_else(|| no_webhook(id))?)
}

fn no_webhook(id: WebhookId) -> Refusal {
    Refusal::missing(format!(
        "webhook endpoint {id} does not exist; `bursar webhook list` shows an organization's"
    ))
}

fn of<M>(act: &mut Act<'_, '_, M>, id: WebhookId) -> Result<Webhook, AppError> {
    let found = webhooks::get(act.tx, act.organization, id)?;
    Ok(found.ok_or_else(|| no_webhook(id))?)
}

fn shown(act: &mut Act<'_, '_>, id: WebhookId) -> Result<Record, AppError> {
    let (webhook, now) = (of(act, id)?, act.now());
    Ok(record::of(act.tx, webhook, now)?)
}

/// A change of what is wanted applies from the next event on.
pub fn set(act: &mut Act<'_, '_>, id: WebhookId, change: &WebhookChange) -> Result<Record, AppError> {
    act.allow(&SET)?;
    let before = of(act, id)?;
    let mut after = before.clone();
    if let Some(destination) = &change.destination {
        after.url.clone_from(&destination.url);
    }
    if let Some(types) = &change.types {
        after.types = types.as_deref().map(names);
    }
    if let Some(scopes) = change.scopes {
        let policy = organizations::policy(act.tx, act.organization)?.unwrap_or_default();
        after.scopes = check_scopes(scopes, policy)?;
    }
    if let Some(description) = &change.description {
        after.description = described(description.as_deref())?;
    }
    let now = act.now();
    if after != before {
        webhooks::set(act.tx, &after, now)?;
        act.log(SET.name, Some(id.to_string()), None)?;
    }
    shown(act, id)
}

/// For the overlap the old secret signs too. One from before that ends at once.
pub fn rotate(
    act: &mut Act<'_, '_>,
    id: WebhookId,
    overlap_hours: Option<i64>,
    key: &SecretKey,
    entropy: &[u8; SECRET_ENTROPY],
) -> Result<Issued, AppError> {
    act.allow(&ROTATE)?;
    let hours = overlap_hours.unwrap_or(OVERLAP_HOURS_DEFAULT);
    if !(0..=OVERLAP_HOURS_MAX).contains(&hours) {
        let rule = format!("must be 0 to {OVERLAP_HOURS_MAX} whole hours, got {hours}");
        return Err(Refusal::invalid("overlap-hours", rule).into());
    }
    of(act, id)?;
    let end_other = act.now().plus_seconds(hours * 3_600);
    let secret = add_secret(act, id, key, entropy, end_other)?;
    act.log(ROTATE.name, Some(id.to_string()), None)?;
    Ok(Issued {
        record: shown(act, id)?,
        secret,
    })
}

/// Keeps the cursor. Doing it again changes nothing.
pub fn disable(act: &mut Act<'_, '_>, id: WebhookId) -> Result<Record, AppError> {
    act.allow(&DISABLE)?;
    if of(act, id)?.is_enabled {
        let now = act.now();
        webhooks::disable(act.tx, act.organization, id, "by an admin", now)?;
        act.log(DISABLE.name, Some(id.to_string()), None)?;
    }
    shown(act, id)
}

/// Continues at the cursor. If later events were pruned meanwhile, it takes `skip` to go on after the gap.
pub fn enable(act: &mut Act<'_, '_>, id: WebhookId, skip: bool) -> Result<Record, AppError> {
    act.allow(&ENABLE)?;
    let webhook = of(act, id)?;
    if webhook.is_enabled {
        return shown(act, id);
    }
    let (horizon, now) = (events::horizon(act.tx, act.organization)?, act.now());
    let has_gap = webhook.cursor.at.micros() < horizon;
    if has_gap && !skip {
        let (cursor, horizon) = (webhook.cursor.at, Timestamp::from_micros(horizon));
        return Err(Refusal::conflict(format!(
            "{id} was disabled at {cursor} in the list of events, and events up to {horizon} are no longer kept. Enable it \
             with --skip to go on after the gap, and have its receiver read the lists again"
        ))
        .into());
    }
    let cursor = match has_gap {
        true => Place::after(Timestamp::from_micros(horizon)),
        false => webhook.cursor,
    };
    webhooks::enable(act.tx, act.organization, id, cursor, now)?;
    act.log(ENABLE.name, Some(id.to_string()), None)?;
    shown(act, id)
}

/// Queues an event of type `test`; there is one attempt. The deliveries show what came of it.
pub fn test(act: &mut Act<'_, '_>, id: WebhookId) -> Result<EventId, AppError> {
    act.allow(&TEST)?;
    sends_now(act, id)?;
    let (event, now, actor) = (act.ids().at(act.now()), act.now(), act.caller.id());
    let actor = Actor {
        kind: act.caller.kind(),
        id: actor.as_deref(),
    };
    let document = event::test_document(event, now, act.organization, &actor, act.request_id());
    webhooks::add_extra(act.tx, act.organization, id, event, Some(&document), now)?;
    act.log(TEST.name, Some(id.to_string()), None)?;
    Ok(event)
}

/// Queues one event out of turn, also one that was passed over or that the endpoint does not ask for.
pub fn replay(act: &mut Act<'_, '_>, id: WebhookId, event: EventId) -> Result<(), AppError> {
    act.allow(&REPLAY)?;
    let webhook = sends_now(act, id)?;
    let Some((event_type, _)) = events::document(act.tx, act.organization, event)? else {
        let missing = format!("event {event} does not exist in this organization, or is no longer kept");
        return Err(Refusal::missing(missing).into());
    };
    let (scope, now) = (event_type.resource.scope(), act.now());
    let policy = organizations::policy(act.tx, act.organization)?.unwrap_or_default();
    if !is_granted(&webhook, policy, scope) {
        return Err(Refusal::conflict(format!(
            "{id} may not get {event}: it needs {scope}, which the endpoint was not given or the policy blocks"
        ))
        .into());
    }
    webhooks::add_extra(act.tx, act.organization, id, event, None, now)?;
    act.log(REPLAY.name, Some(id.to_string()), Some(1))
}

/// Refused unless something could be sent out of turn.
fn sends_now(act: &mut Act<'_, '_>, id: WebhookId) -> Result<Webhook, AppError> {
    let webhook = of(act, id)?;
    if !webhook.is_enabled {
        let message = format!("{id} is disabled; enable it first with `bursar webhook enable`");
        return Err(Refusal::conflict(message).into());
    }
    if webhooks::extras_count(act.tx, act.organization, id)? >= EXTRAS_MAX {
        return Err(Refusal::conflict(format!(
            "{EXTRAS_MAX} events already wait to be sent to {id} out of turn; wait, or use --since"
        ))
        .into());
    }
    Ok(webhook)
}

/// Moves the cursor back: every event since then is sent again, in order.
pub fn replay_since(act: &mut Act<'_, '_>, id: WebhookId, since: Timestamp) -> Result<Record, AppError> {
    act.allow(&REPLAY)?;
    let webhook = of(act, id)?;
    let (horizon, now) = (events::horizon(act.tx, act.organization)?, act.now());
    if since.micros() < horizon {
        let horizon = Timestamp::from_micros(horizon);
        let rule = format!("must be {horizon} or later: earlier events are no longer kept");
        return Err(Refusal::invalid("since", rule).into());
    }
    let cursor = webhook.cursor.at;
    if since > cursor {
        let rule = format!("must not be after {cursor}, where the endpoint is: a replay only goes back");
        return Err(Refusal::invalid("since", rule).into());
    }
    // Everything up to the cursor's time counts as delivered, and may be pruned. Before the horizon there is nothing.
    let before = (since.micros() - 1).max(horizon);
    let place = Place::after(Timestamp::from_micros(before));
    webhooks::rewind(act.tx, act.organization, id, place, now)?;
    act.log(REPLAY.name, Some(id.to_string()), None)?;
    shown(act, id)
}

/// With its secrets and deliveries.
pub fn delete(act: &mut Act<'_, '_>, id: WebhookId) -> Result<(), AppError> {
    act.allow(&DELETE)?;
    of(act, id)?;
    webhooks::delete(act.tx, act.organization, id)?;
    act.log(DELETE.name, Some(id.to_string()), None)
}
