//! Webhook endpoints: where events go, what each gets, and what came of the deliveries.

use askama::Template;
use bursar_app::desk::PAGE_ROWS;
use bursar_app::webhooks::{self, CREATE, Delivery, Record, State};
use bursar_app::{View, policy};
use bursar_domain::Timestamp;
use bursar_domain::access::Scope;
use bursar_domain::ids::kind;
use bursar_domain::webhook::outcome::Outcome;

use super::policy::in_words;
use super::tabbed::{Tabs, by_state, if_any};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::forms::Form;
use crate::frame::Frame;
use crate::words::{self, Moment};

/// The states of endpoints, as the address and the page name them.
const STATES: [(&str, &str); 3] = [
    ("enabled", "Enabled"),
    ("failing", "Failing"),
    ("disabled", "Disabled"),
];

/// The class and the word of an endpoint's state.
pub(super) fn state(record: &Record) -> (&'static str, &'static str) {
    match (record.state, record.failing_since) {
        (State::Disabled, _) => ("ended", "Disabled"),
        (State::Enabled, Some(_)) => ("failed", "Failing"),
        (State::Enabled, None) => ("active", "Enabled"),
    }
}

/// What people call it.
pub(super) fn name(record: &Record) -> String {
    record.description.clone().unwrap_or_else(|| record.url.clone())
}

struct Row {
    id: String,
    url: String,
    about: String,
    status: &'static str,
    state: &'static str,
    delivered: Moment,
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct Page<'a> {
    frame: &'a Frame,
    may_create: bool,
    tabs: Tabs,
    rows: Vec<Row>,
    csv: String,
}

/// Those that the address asks for, and how many there are.
pub(super) fn found(view: &mut View<'_, '_>, asking: &Asking) -> Result<(Vec<Record>, usize), Failure> {
    let mut found = webhooks::list(view)?;
    let count = found.len();
    let asked = STATES.into_iter().find(|(word, _)| *word == asking.query("show"));
    if let Some((_, name)) = asked {
        found.retain(|record| state(record).1 == name);
    }
    Ok((found, count))
}

pub(crate) fn show(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let zone = &frame.place.organization.time_zone;
    let row = |record: Record| {
        let (status, state) = state(&record);
        Row {
            id: record.id.to_string(),
            about: record.description.unwrap_or_default(),
            url: record.url,
            status,
            state,
            delivered: Moment::or(record.last_delivered_at, zone, "Never"),
        }
    };
    let (found, count) = found(view, asking)?;
    let states = STATES.map(|(word, name)| (word, name.to_owned()));
    let tabs = by_state(asking, "webhooks", ("show", "after"), states);
    let page = Page {
        frame,
        may_create: frame.may(&CREATE) && count < webhooks::WEBHOOKS_MAX,
        tabs: if_any(tabs, &found),
        rows: found.into_iter().map(row).collect(),
        csv: asking.with("webhooks/csv", &[]),
    };
    Ok(page.render()?)
}

struct ScopeRow {
    words: String,
    scope: &'static str,
    is_blocked: bool,
}

struct DeliveryRow {
    at: Moment,
    event_type: String,
    event: String,
    attempt: i64,
    response: String,
    took: String,
    status: &'static str,
    outcome: &'static str,
}

#[derive(Template)]
#[template(path = "webhook.html")]
struct One<'a> {
    frame: &'a Frame,
    id: String,
    name: String,
    url: String,
    status: &'static str,
    state: &'static str,
    is_enabled: bool,
    reason: String,
    types: Vec<String>,
    made: Moment,
    cursor: Moment,
    delivered: Moment,
    failing: Moment,
    next: Moment,
    secret: Moment,
    /// When the old secret ends; told empty unless one is rotated out.
    old_ends: Moment,
    old_left: String,
    scopes: Vec<ScopeRow>,
    deliveries: Vec<DeliveryRow>,
    older: String,
    csv: String,
}

pub(crate) fn show_one(view: &mut View<'_, '_>, asking: &Asking, _: &Form) -> Result<String, Failure> {
    let frame = &asking.frame;
    let id = asking.id::<kind::Webhook>(0)?;
    let record = webhooks::get(view, id)?;
    let blocked = policy::show(view)?.blocked_scopes;
    let zone = &frame.place.organization.time_zone;
    let before = asking.query("after").parse().ok().map(Timestamp::from_micros);
    let mut found = webhooks::deliveries(view, id, before, PAGE_ROWS + 1)?;
    let is_more = found.len() > PAGE_ROWS;
    found.truncate(PAGE_ROWS);
    let end = format!("webhooks/{id}");
    let older = match found.last() {
        Some(last) if is_more => asking.with(&end, &[("after", &last.at.micros().to_string())]),
        _ => String::new(),
    };
    let (status, state) = state(&record);
    let newest = record.secrets.first();
    let old_ends = record.secrets.iter().filter_map(|secret| secret.ends_at).max();
    let scope = |scope: Scope| ScopeRow {
        words: in_words(scope),
        scope: scope.as_str(),
        is_blocked: blocked.has(scope),
    };
    let page = One {
        frame,
        id: id.to_string(),
        name: name(&record),
        status,
        state,
        is_enabled: record.state == State::Enabled,
        reason: record.disabled_reason.clone().unwrap_or_default(),
        types: record.types.clone().unwrap_or_default(),
        made: Moment::there(record.created_at, zone),
        cursor: Moment::there(record.cursor_at, zone),
        delivered: Moment::or(record.last_delivered_at, zone, "Never"),
        failing: Moment::or(record.failing_since, zone, ""),
        next: Moment::or(record.next_attempt_at, zone, ""),
        secret: Moment::or_dash(newest.map(|secret| secret.created_at), zone),
        old_ends: Moment::or(old_ends, zone, ""),
        old_left: old_ends.map_or_else(String::new, |ends| left(ends.micros() - view.now().micros())),
        scopes: record
            .scopes
            .iter()
            .filter(|known| *known != Scope::EventsRead)
            .map(scope)
            .collect(),
        deliveries: found.into_iter().map(|delivery| row(delivery, frame)).collect(),
        older,
        csv: frame.at(&format!("webhooks/{id}/csv")),
        url: record.url,
    };
    Ok(page.render()?)
}

pub(super) const fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered => "Delivered",
        Outcome::Retried => "Retried",
        Outcome::Failed => "Failed",
    }
}

pub(super) fn response(delivery: &Delivery) -> String {
    match (delivery.status, &delivery.error) {
        (Some(code), None) => code.to_string(),
        (Some(code), Some(error)) => format!("{code}, {error}"),
        (None, Some(error)) => error.clone(),
        (None, None) => "None".to_owned(),
    }
}

fn row(delivery: Delivery, frame: &Frame) -> DeliveryRow {
    let status = match delivery.outcome {
        Outcome::Delivered => "delivered",
        Outcome::Retried => "pending",
        Outcome::Failed => "failed",
    };
    DeliveryRow {
        response: response(&delivery),
        outcome: outcome(delivery.outcome),
        at: Moment::there(delivery.at, &frame.place.organization.time_zone),
        event_type: delivery.event_type,
        event: delivery.event_id.to_string(),
        attempt: delivery.attempt,
        took: format!("{} ms", words::number(delivery.duration_ms)),
        status,
    }
}

/// How long a secret that was rotated out still signs.
fn left(micros: i64) -> String {
    let minutes = usize::try_from(micros / 60_000_000).unwrap_or(0);
    let text = match minutes {
        120.. => words::count(minutes / 60, "hour", "hours"),
        _ => words::count(minutes, "minute", "minutes"),
    };
    format!("in {text}")
}
