//! What the worker does with endpoints. It claims one with a lease, sends its next event, records the attempt and asks for the
//! next in the same transaction. What is sent is decided there, each time: the types that are asked for, and the scopes
//! that the endpoint, an editor and the organization's policy have in common.

use bursar_db::webhooks::sending::{self, Extra};
use bursar_db::webhooks::{self, Webhook};
use bursar_db::{Tx, events, organizations};
use bursar_domain::Timestamp;
use bursar_domain::access::Policy;
use bursar_domain::event::{EventType, TEST};
use bursar_domain::ids::{EventId, OrganizationId};
use bursar_domain::sealed::SecretKey;
use bursar_domain::webhook::back_off::{BackOff, REFUSALS_MAX, RETRY_AFTER_SECONDS_MAX};
use bursar_domain::webhook::outcome::{Outcome, Verdict, is_refusal, judge};
use bursar_domain::webhook::signing::Secret;

use super::{is_granted, notice, owner};
use crate::act::Whole;
use crate::error::AppError;
use crate::rule::Rule;

pub use bursar_db::webhooks::Place;
pub use bursar_db::webhooks::sending::{Claim, Lag, Limits};

pub const CLAIM: Rule = Rule::of_worker("webhook.claim", "claim webhook endpoints");
pub const ATTEMPTED: Rule = Rule::of_worker("webhook.attempted", "say how a delivery ended");

/// Deliveries in flight, of all workers together.
pub const LIMITS: Limits = Limits {
    all: 256,
    per_organization: 8,
    failing_part: 4,
};
/// Events that one look passes over.
const LOOK_MAX: i64 = 500;
/// Looks of one transaction.
const LOOKS_MAX: usize = 4;
/// A wait that is not worth another claim.
const SOON_MICROS: i64 = 1_000_000;
/// Endpoints whose lag is measured.
const LAGS_MAX: i64 = 10_000;

/// What is to be sent to a claimed endpoint.
#[derive(Clone, Debug)]
pub struct Parcel {
    pub url: String,
    pub event: EventId,
    pub event_type: String,
    /// The event as JSON.
    pub document: String,
    /// From 1.
    pub attempt: i64,
    /// Of the attempts before, how many of the last were refusals. Out of turn, 0 until they can matter.
    pub refusals: i64,
    /// What signs it, encrypted.
    pub sealed: Vec<Vec<u8>>,
    pub turn: Turn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// The next in the list: the cursor moves from one place to the other.
    Next(Place, Place),
    /// Out of turn, and whether it is a test.
    Extra(bool),
}

impl Parcel {
    /// What signs it now. `None` if a secret cannot be read with this key.
    pub fn secrets(&self, claim: Claim, key: &SecretKey) -> Option<Vec<Secret>> {
        let owner = owner(claim.organization, claim.id);
        let opened = self.sealed.iter().map(|sealed| {
            let bytes = key.open(&owner, sealed)?;
            Secret::from_bytes(&bytes)
        });
        opened
            .collect::<Option<Vec<Secret>>>()
            .filter(|secrets| !secrets.is_empty())
    }
}

/// How an attempt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempted {
    pub at: Timestamp,
    pub duration_ms: i64,
    /// `None` if there was no complete response in time.
    pub status: Option<u16>,
    /// What went wrong, without the receiver's words.
    pub error: Option<String>,
    pub retry_after_seconds: Option<i64>,
}

/// What to do after a claim or an attempt.
#[derive(Debug)]
pub enum Next {
    Send(Box<Parcel>),
    /// There is something to send after so many microseconds, at most a second. The lease is kept.
    Soon(i64),
    /// There is nothing to send now, and the lease is given back.
    Rest,
    /// Another worker has the endpoint, or it is gone.
    Lost,
}

/// How attempts are judged and what follows.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub back_off: BackOff,
    /// For the jitter.
    pub random: u64,
    /// The new end of the lease.
    pub until: Timestamp,
    /// Whether the next event may be sent at once.
    pub goes_on: bool,
}

/// When there is something to send: now, or at a later time.
pub fn next_due(whole: &mut Whole<'_, '_>) -> Result<Option<Timestamp>, AppError> {
    whole.allow(&CLAIM)?;
    let now = whole.now();
    Ok(sending::next_due(whole.tx, now)?)
}

pub fn claim(
    whole: &mut Whole<'_, '_>,
    until: Timestamp,
    limits: Limits,
    most: usize,
) -> Result<Vec<Claim>, AppError> {
    whole.allow(&CLAIM)?;
    let now = whole.now();
    Ok(sending::claim(whole.tx, now, until, limits, most)?)
}

pub fn renew(whole: &mut Whole<'_, '_>, claims: &[Claim], until: Timestamp) -> Result<(), AppError> {
    whole.allow(&CLAIM)?;
    Ok(sending::renew(whole.tx, claims, until)?)
}

pub fn release(whole: &mut Whole<'_, '_>, claims: &[Claim]) -> Result<(), AppError> {
    whole.allow(&CLAIM)?;
    claims
        .iter()
        .try_for_each(|claim| Ok(sending::release(whole.tx, *claim)?))
}

/// Makes due what was put off while the wall clock ran ahead.
pub fn pull_in(whole: &mut Whole<'_, '_>) -> Result<(), AppError> {
    whole.allow(&CLAIM)?;
    let (now, most) = (whole.now(), 2 * RETRY_AFTER_SECONDS_MAX);
    Ok(sending::pull_in(whole.tx, now, now.plus_seconds(most))?)
}

/// How far enabled endpoints are behind.
pub fn lags(whole: &mut Whole<'_, '_>) -> Result<Vec<Lag>, AppError> {
    whole.allow(&CLAIM)?;
    Ok(sending::lags(whole.tx, LAGS_MAX)?)
}

/// What to send to a claimed endpoint first.
pub fn first(whole: &mut Whole<'_, '_>, claim: Claim) -> Result<Next, AppError> {
    whole.allow(&CLAIM)?;
    let now = whole.now();
    next(whole.tx, claim, now)
}

/// Records an attempt, moves the cursor or puts the event off, and returns what to send next.
pub fn attempted(
    whole: &mut Whole<'_, '_>,
    claim: Claim,
    parcel: &Parcel,
    attempt: &Attempted,
    terms: Terms,
) -> Result<Next, AppError> {
    whole.allow(&ATTEMPTED)?;
    let now = whole.now();
    let refusals = match is_refusal(attempt.status) {
        true => parcel.refusals + 1,
        false => 0,
    };
    let verdict = judge(attempt.status, refusals);
    if let Some(reason) = gives_up(whole.tx, claim, parcel, verdict, now, terms)? {
        // The change clock is taken before the endpoint is changed, as everywhere.
        whole.act(claim.organization, |act| {
            record(act.tx, claim, parcel, attempt, (verdict, refusals), now, terms)?;
            match sending::held(act.tx, claim)? {
                Some(webhook) if webhook.is_enabled => notice::give_up(act, claim.id, &webhook.url, &reason),
                Some(_) | None => Ok(()),
            }
        })?;
    } else {
        record(whole.tx, claim, parcel, attempt, (verdict, refusals), now, terms)?;
    }
    sending::renew(whole.tx, &[claim], terms.until)?;
    // Also when this worker stops here: the look at what is next finds that nothing is left, so that nothing is failing.
    let next = next(whole.tx, claim, now)?;
    if terms.goes_on {
        return Ok(next);
    }
    sending::release(whole.tx, claim)?;
    Ok(Next::Rest)
}

/// Why the endpoint is to be disabled, if so.
fn gives_up(
    tx: &mut Tx<'_>,
    claim: Claim,
    parcel: &Parcel,
    verdict: Verdict,
    now: Timestamp,
    terms: Terms,
) -> Result<Option<String>, AppError> {
    if verdict == Verdict::Delivered {
        return Ok(None);
    }
    let found = webhooks::get(tx, claim.organization, claim.id)?;
    let Some(webhook) = found.filter(|webhook| webhook.url == parcel.url) else {
        return Ok(None);
    };
    if verdict == Verdict::Gone {
        return Ok(Some("its receiver responded with 410 Gone".to_owned()));
    }
    // No event waits behind a test.
    if parcel.turn == Turn::Extra(true) {
        return Ok(None);
    }
    let is_over = webhook
        .failing_since
        .is_some_and(|since| now.micros() - since.micros() >= terms.back_off.give_up_micros());
    Ok(is_over.then(|| "every delivery of the last 5 days failed".to_owned()))
}

/// Writes what came of an attempt.
fn record(
    tx: &mut Tx<'_>,
    claim: Claim,
    parcel: &Parcel,
    attempt: &Attempted,
    (verdict, refusals): (Verdict, i64),
    now: Timestamp,
    terms: Terms,
) -> Result<(), AppError> {
    let wait = terms
        .back_off
        .wait_micros(parcel.attempt, attempt.retry_after_seconds, terms.random);
    let again = Timestamp::from_micros(now.micros().saturating_add(wait));
    let is_last = match parcel.turn {
        Turn::Next(..) => verdict == Verdict::PassOver,
        Turn::Extra(is_test) => is_test || verdict == Verdict::PassOver,
    };
    let outcome = match verdict {
        Verdict::Delivered => Outcome::Delivered,
        Verdict::Again | Verdict::PassOver | Verdict::Gone if is_last => Outcome::Failed,
        Verdict::Again | Verdict::PassOver | Verdict::Gone => Outcome::Retried,
    };
    let delivery = webhooks::Delivery {
        at: attempt.at,
        event_id: parcel.event,
        attempt: parcel.attempt,
        event_type: parcel.event_type.clone(),
        duration_ms: attempt.duration_ms,
        status: attempt.status,
        error: attempt.error.clone(),
        outcome,
    };
    sending::add_delivery(tx, claim, &delivery)?;
    let Some(webhook) = sending::held(tx, claim)? else {
        return Ok(());
    };
    match outcome {
        Outcome::Delivered => sending::is_well(tx, claim, now)?,
        // What a receiver did that is no longer asked says nothing of the one that is.
        Outcome::Failed | Outcome::Retried if webhook.url != parcel.url => return Ok(()),
        Outcome::Failed | Outcome::Retried => {}
    }
    match (parcel.turn, outcome) {
        // A replay can have moved the cursor while the attempt was under way.
        (Turn::Next(from, _), _) if from != webhook.cursor => {}
        (Turn::Next(_, to), Outcome::Delivered | Outcome::Failed) => sending::advance(tx, claim, to)?,
        (Turn::Next(..), Outcome::Retried) => {
            sending::put_off(tx, claim, (parcel.attempt, refusals), now, again)?;
        }
        (Turn::Extra(_), Outcome::Delivered | Outcome::Failed) => {
            sending::remove_extra(tx, claim, parcel.event)?;
        }
        (Turn::Extra(_), Outcome::Retried) => {
            sending::put_off_extra(tx, claim, parcel.event, parcel.attempt, now, again)?;
        }
    }
    Ok(())
}

/// The next thing to send, out of turn first. Events that the endpoint does not get are passed over.
fn next(tx: &mut Tx<'_>, claim: Claim, now: Timestamp) -> Result<Next, AppError> {
    let Some(webhook) = sending::held(tx, claim)? else {
        return Ok(Next::Lost);
    };
    let policy = organizations::policy(tx, claim.organization)?.unwrap_or_default();
    let parcel = match webhook.is_enabled {
        false => None,
        true => match due_extra(tx, claim, &webhook, policy, now)? {
            Some(parcel) => Some(parcel),
            None if now < webhook.due_at => None,
            None => due_event(tx, claim, &webhook, policy, now)?,
        },
    };
    let wait = webhook.due_at.micros() - now.micros();
    let Some(mut parcel) = parcel else {
        if webhook.is_enabled && (1..=SOON_MICROS).contains(&wait) {
            return Ok(Next::Soon(wait));
        }
        sending::release(tx, claim)?;
        return Ok(Next::Rest);
    };
    let secrets = webhooks::secrets(tx, claim.organization, claim.id, now)?;
    parcel.sealed = secrets.into_iter().map(|secret| secret.sealed).collect();
    Ok(Next::Send(Box::new(parcel)))
}

fn due_event(
    tx: &mut Tx<'_>,
    claim: Claim,
    webhook: &Webhook,
    policy: Policy,
    now: Timestamp,
) -> Result<Option<Parcel>, AppError> {
    let mut place = webhook.cursor;
    for _ in 0..LOOKS_MAX {
        let found = sending::events_after(tx, claim.organization, place, LOOK_MAX)?;
        let is_all = i64::try_from(found.len()).is_ok_and(|count| count < LOOK_MAX);
        let mut wanted = None;
        for (at, event_type) in found {
            wanted = event_type
                .filter(|known| is_wanted(webhook, policy, *known))
                .map(|known| (at, known));
            if wanted.is_some() {
                break;
            }
            // What failed is not wanted any more, so nothing is failing.
            if place == webhook.cursor && webhook.attempts > 0 {
                sending::forget_failures(tx, claim, now)?;
            }
            place = at;
        }
        // The counts are of the event after the cursor, so the cursor stands right before what is sent.
        if place != webhook.cursor {
            sending::advance(tx, claim, place)?;
        }
        if let Some((at, event_type)) = wanted {
            return parcel(tx, claim.organization, webhook, (place, at), event_type).map(Some);
        }
        if is_all {
            // Time without anything to send is not time in which deliveries fail.
            if webhook.failing_since.is_some() {
                sending::forget_failures(tx, claim, now)?;
            }
            break;
        }
    }
    Ok(None)
}

/// `place` is the cursor, and `at` where the event is.
fn parcel(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    webhook: &Webhook,
    (place, at): (Place, Place),
    event_type: EventType,
) -> Result<Parcel, AppError> {
    let event = EventId::from_bytes(at.id);
    let found = events::document(tx, organization, event)?;
    let lost = || bursar_db::DbError::Internal(format!("event {event} is not where its id says"));
    let (_, document) = found.ok_or_else(lost)?;
    // If events were passed over, none of the counts is of this one.
    let is_same = place == webhook.cursor;
    Ok(Parcel {
        url: webhook.url.clone(),
        event,
        event_type: event_type.name.to_owned(),
        document: String::from_utf8_lossy(&document).into_owned(),
        attempt: if is_same { webhook.attempts + 1 } else { 1 },
        refusals: if is_same { webhook.refusals } else { 0 },
        sealed: Vec::new(),
        turn: Turn::Next(place, at),
    })
}

fn is_wanted(webhook: &Webhook, policy: Policy, event_type: EventType) -> bool {
    let is_asked_for = webhook
        .types
        .as_ref()
        .is_none_or(|types| types.iter().any(|name| name == event_type.name));
    is_asked_for && is_granted(webhook, policy, event_type.resource.scope())
}

/// Those that cannot be sent any more are dropped.
fn due_extra(
    tx: &mut Tx<'_>,
    claim: Claim,
    webhook: &Webhook,
    policy: Policy,
    now: Timestamp,
) -> Result<Option<Parcel>, AppError> {
    while let Some(extra) = sending::due_extra(tx, claim, now)? {
        let Extra {
            event,
            document,
            attempts,
        } = extra;
        let refusals = match attempts + 1 < REFUSALS_MAX {
            true => 0,
            false => refusals_of(tx, claim, event)?,
        };
        let parcel = |event_type: &str, document: String, is_test: bool| Parcel {
            url: webhook.url.clone(),
            event,
            event_type: event_type.to_owned(),
            document,
            attempt: attempts + 1,
            refusals,
            sealed: Vec::new(),
            turn: Turn::Extra(is_test),
        };
        if let Some(document) = document {
            return Ok(Some(parcel(TEST, document, true)));
        }
        let found = events::document(tx, claim.organization, event)?;
        match found {
            Some((known, document)) if is_granted(webhook, policy, known.resource.scope()) => {
                let document = String::from_utf8_lossy(&document).into_owned();
                return Ok(Some(parcel(known.name, document, false)));
            }
            Some(_) | None => {
                let error = match found {
                    Some(_) => "withheld: the endpoint or the policy no longer allows it",
                    None => "the event is no longer kept",
                };
                let delivery = webhooks::Delivery {
                    at: now,
                    event_id: event,
                    attempt: attempts + 1,
                    event_type: found.map_or("unknown", |(known, _)| known.name).to_owned(),
                    duration_ms: 0,
                    status: None,
                    error: Some(error.to_owned()),
                    outcome: Outcome::Failed,
                };
                sending::add_delivery(tx, claim, &delivery)?;
                sending::remove_extra(tx, claim, event)?;
            }
        }
    }
    Ok(None)
}

/// How often an event that is sent out of turn was refused, one after the other. Only deliveries tell.
fn refusals_of(tx: &mut Tx<'_>, claim: Claim, event: EventId) -> Result<i64, AppError> {
    let statuses = sending::statuses(tx, claim, event, REFUSALS_MAX - 1)?;
    let refusals = statuses.iter().take_while(|status| is_refusal(**status));
    Ok(i64::try_from(refusals.count()).unwrap_or(0))
}
