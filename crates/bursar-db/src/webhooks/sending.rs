//! What a worker does with endpoints: claim them with leases, find what is next, and record attempts.

use std::collections::HashMap;

use bursar_domain::Timestamp;
use bursar_domain::event::EventType;
use bursar_domain::ids::{EventId, OrganizationId, WebhookId};

use super::{Delivery, Place, Webhook, place_columns, webhook_columns};
use crate::engine::{EngineKind, Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

/// Endpoints that one look takes into account, of those that fail and of those that do not: however many fail, they hide
/// nobody.
const CANDIDATES_MAX: i64 = 600;

/// How many deliveries may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub all: usize,
    pub per_organization: usize,
    /// Endpoints that fail share one in so many of both.
    pub failing_part: usize,
}

/// A leased endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    pub organization: OrganizationId,
    pub id: WebhookId,
    pub number: i64,
}

/// What an endpoint can have to do: events after its cursor, or something out of turn. The first event in order rather than
/// any: for any, PostgreSQL reads the table, to its end if the endpoint has got everything.
macro_rules! has_work {
    () => {
        "w.is_enabled = 1 AND w.leased_until <= ?1 AND ((w.due_at <= ?1 AND (SELECT e.created_at FROM events e \
         WHERE e.organization_id = w.organization_id AND (e.created_at, e.id) > (w.cursor_at, w.cursor_id) \
         ORDER BY e.created_at, e.id LIMIT 1) IS NOT NULL) \
         OR EXISTS (SELECT 1 FROM webhook_extras x WHERE x.organization_id = w.organization_id AND x.webhook_id = w.id \
         AND x.due_at <= ?1))"
    };
}

/// How far an endpoint is behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    pub id: WebhookId,
    /// The time of the first event that was not sent yet.
    pub since: Option<Timestamp>,
}

record! { lag_columns: Lag {
    id = "w.id",
    since = "(SELECT e.created_at FROM events e WHERE e.organization_id = w.organization_id \
             AND (e.created_at, e.id) > (w.cursor_at, w.cursor_id) ORDER BY e.created_at, e.id LIMIT 1)",
} }

const HAS_WORK: &str = concat!("SELECT 1 FROM webhooks w WHERE ", has_work!(), " LIMIT 1");
macro_rules! candidates {
    ($failing:literal) => {
        concat!(
            "SELECT ",
            webhook_columns!(),
            " FROM webhooks w WHERE w.failing_since ",
            $failing,
            " AND ",
            has_work!(),
            " ORDER BY w.due_at LIMIT ?2"
        )
    };
}
const WELL: &str = candidates!("IS NULL");
const FAILING: &str = candidates!("IS NOT NULL");
const EVENTS_AFTER: &str = "SELECT created_at, id, type FROM events WHERE organization_id = ?1 \
     AND (created_at, id) > (?2, ?3) ORDER BY created_at, id LIMIT ?4";
const LAGS: &str = concat!(
    "SELECT ",
    lag_columns!(),
    " FROM webhooks w WHERE w.is_enabled = 1 ORDER BY w.due_at LIMIT ?1"
);

/// Those that look into events, for tests that read query plans.
pub fn statements() -> [(&'static str, &'static str); 5] {
    [
        ("whether there is something to send", HAS_WORK),
        ("endpoints with something to send", WELL),
        ("failing endpoints with something to send", FAILING),
        ("events after a place", EVENTS_AFTER),
        ("how far endpoints are behind", LAGS),
    ]
}

/// When there is something to send: now, or at this time.
pub fn next_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, DbError> {
    let at = [Value::Int(now.micros())];
    let found = tx.first(HAS_WORK, &at, read::<i64>)?;
    if found.is_some() {
        return Ok(Some(now));
    }
    let later = tx.first(
        "SELECT MIN(at) FROM (SELECT MIN(due_at) AS at FROM webhooks WHERE is_enabled = 1 AND due_at > ?1 \
         UNION ALL SELECT MIN(due_at) AS at FROM webhook_extras WHERE due_at > ?1) AS times",
        &at,
        read::<Option<Timestamp>>,
    )?;
    Ok(later.flatten())
}

/// Leases endpoints that have something to send, those that waited longest first. `limits` hold for all workers.
pub fn claim(
    tx: &mut Tx<'_>,
    now: Timestamp,
    until: Timestamp,
    limits: Limits,
    most: usize,
) -> Result<Vec<Claim>, DbError> {
    // The counts are only right while nobody else claims.
    if tx.kind() == EngineKind::Postgres {
        tx.first(
            "SELECT CASE WHEN pg_advisory_xact_lock(7094697) IS NULL THEN 0 ELSE 1 END",
            &[],
            read::<i64>,
        )?;
    }
    let at = Value::Int(now.micros());
    let mut held = Held::new(limits);
    tx.each(
        "SELECT organization_id, CASE WHEN failing_since IS NULL THEN 0 ELSE 1 END FROM webhooks \
         WHERE leased_until > ?1",
        &[at],
        |row| {
            let (organization, is_failing): (OrganizationId, bool) = read(row)?;
            held.add(organization, is_failing);
            Ok(())
        },
    )?;
    let most_of_each = [at, Value::Int(CANDIDATES_MAX)];
    let mut candidates: Vec<Webhook> = tx.rows_claimed(WELL, &most_of_each, read)?;
    candidates.extend(tx.rows_claimed(FAILING, &most_of_each, read)?);
    candidates.sort_by_key(|webhook| webhook.due_at);
    let mut claims = Vec::new();
    for webhook in candidates {
        let is_failing = webhook.failing_since.is_some();
        if claims.len() >= most || !held.has_room(webhook.organization_id, is_failing) {
            continue;
        }
        held.add(webhook.organization_id, is_failing);
        let claim = Claim {
            organization: webhook.organization_id,
            id: webhook.id,
            number: webhook.claim + 1,
        };
        tx.execute(
            "UPDATE webhooks SET leased_until = ?3, claim = ?4 WHERE organization_id = ?1 AND id = ?2",
            &[
                Value::Bytes(&claim.organization.to_bytes()),
                Value::Bytes(&claim.id.to_bytes()),
                Value::Int(until.micros()),
                Value::Int(claim.number),
            ],
        )?;
        claims.push(claim);
    }
    Ok(claims)
}

/// Counts deliveries in flight.
#[derive(Debug)]
struct Held {
    limits: Limits,
    all: usize,
    failing: usize,
    of: HashMap<OrganizationId, (usize, usize)>,
}

impl Held {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            all: 0,
            failing: 0,
            of: HashMap::new(),
        }
    }

    fn add(&mut self, organization: OrganizationId, is_failing: bool) {
        let of = self.of.entry(organization).or_default();
        self.all += 1;
        of.0 += 1;
        if is_failing {
            self.failing += 1;
            of.1 += 1;
        }
    }

    fn has_room(&self, organization: OrganizationId, is_failing: bool) -> bool {
        let Limits {
            all,
            per_organization,
            failing_part,
        } = self.limits;
        let of = self.of.get(&organization).copied().unwrap_or_default();
        let part = |whole: usize| (whole / failing_part.max(1)).max(1);
        self.all < all
            && of.0 < per_organization
            && (!is_failing || (self.failing < part(all) && of.1 < part(per_organization)))
    }
}

/// Extends leases that are still held.
pub fn renew(tx: &mut Tx<'_>, claims: &[Claim], until: Timestamp) -> Result<(), DbError> {
    claims.iter().try_for_each(|claim| {
        tx.execute(
            "UPDATE webhooks SET leased_until = ?4 WHERE organization_id = ?1 AND id = ?2 AND claim = ?3 \
             AND leased_until > 0",
            &[
                Value::Bytes(&claim.organization.to_bytes()),
                Value::Bytes(&claim.id.to_bytes()),
                Value::Int(claim.number),
                Value::Int(until.micros()),
            ],
        )
        .map(drop)
    })
}

pub fn release(tx: &mut Tx<'_>, claim: Claim) -> Result<(), DbError> {
    tx.execute(
        "UPDATE webhooks SET leased_until = 0 WHERE organization_id = ?1 AND id = ?2 AND claim = ?3",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(claim.number),
        ],
    )
    .map(drop)
}

/// The endpoint, if it is still leased under this claim. Locks it.
pub fn held(tx: &mut Tx<'_>, claim: Claim) -> Result<Option<Webhook>, DbError> {
    tx.first_locked(
        concat!(
            "SELECT ",
            webhook_columns!(),
            " FROM webhooks w WHERE w.organization_id = ?1 AND w.id = ?2 AND w.claim = ?3 AND w.leased_until > 0"
        ),
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(claim.number),
        ],
        read,
    )
}

/// Events after a place, in order: where each is, and its type.
pub fn events_after(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    place: Place,
    limit: i64,
) -> Result<Vec<(Place, Option<EventType>)>, DbError> {
    tx.rows(
        EVENTS_AFTER,
        &[
            Value::Bytes(&organization.to_bytes()),
            Value::Int(place.at.micros()),
            Value::Bytes(&place.id),
            Value::Int(limit),
        ],
        |row| {
            let (at, id, name): (Timestamp, [u8; 16], String) = read(row)?;
            Ok((Place { at, id }, EventType::parse(&name)))
        },
    )
}

/// Moves the cursor and renews the lease. What was counted of the event before is forgotten.
pub fn advance(tx: &mut Tx<'_>, claim: Claim, to: Place) -> Result<(), DbError> {
    tx.execute(
        "UPDATE webhooks SET cursor_at = ?4, cursor_id = ?5, attempts = 0, refusals = 0 \
         WHERE organization_id = ?1 AND id = ?2 AND claim = ?3",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(claim.number),
            Value::Int(to.at.micros()),
            Value::Bytes(&to.id),
        ],
    )
    .map(drop)
}

/// An event to be sent out of turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    pub event: EventId,
    /// Of one that is not in the list of events.
    pub document: Option<String>,
    pub attempts: i64,
}

record! { extra_columns: Extra { event = "event_id", document, attempts } }

/// The first that is due.
pub fn due_extra(tx: &mut Tx<'_>, claim: Claim, now: Timestamp) -> Result<Option<Extra>, DbError> {
    tx.first(
        concat!(
            "SELECT ",
            extra_columns!(),
            " FROM webhook_extras WHERE organization_id = ?1 AND webhook_id = ?2 AND due_at <= ?3 \
             ORDER BY created_at, event_id LIMIT 1"
        ),
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(now.micros()),
        ],
        read,
    )
}

pub fn remove_extra(tx: &mut Tx<'_>, claim: Claim, event: EventId) -> Result<(), DbError> {
    tx.execute(
        "DELETE FROM webhook_extras WHERE organization_id = ?1 AND webhook_id = ?2 AND event_id = ?3",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Bytes(&event.to_bytes()),
        ],
    )
    .map(drop)
}

/// An attempt failed: the event is due again at this time.
pub fn put_off_extra(
    tx: &mut Tx<'_>,
    claim: Claim,
    event: EventId,
    attempts: i64,
    now: Timestamp,
    due_at: Timestamp,
) -> Result<(), DbError> {
    let (organization, id) = (claim.organization.to_bytes(), claim.id.to_bytes());
    let key = [Value::Bytes(&organization), Value::Bytes(&id)];
    tx.execute(
        "UPDATE webhook_extras SET attempts = ?4, due_at = ?5 \
         WHERE organization_id = ?1 AND webhook_id = ?2 AND event_id = ?3",
        &[
            key[0],
            key[1],
            Value::Bytes(&event.to_bytes()),
            Value::Int(attempts),
            Value::Int(due_at.micros()),
        ],
    )?;
    tx.execute(
        "UPDATE webhooks SET failing_since = COALESCE(failing_since, ?4) \
         WHERE organization_id = ?1 AND id = ?2 AND claim = ?3",
        &[key[0], key[1], Value::Int(claim.number), Value::Int(now.micros())],
    )
    .map(drop)
}

/// Records an attempt, unless the endpoint was deleted meanwhile.
pub fn add_delivery(tx: &mut Tx<'_>, claim: Claim, delivery: &Delivery) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO webhook_deliveries (organization_id, webhook_id, at, event_id, attempt, type, duration_ms, status, \
         error, outcome) SELECT organization_id, id, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM webhooks \
         WHERE organization_id = ?1 AND id = ?2 \
         ON CONFLICT (organization_id, webhook_id, at, event_id, attempt) DO NOTHING",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(delivery.at.micros()),
            Value::Bytes(&delivery.event_id.to_bytes()),
            Value::Int(delivery.attempt),
            Value::Text(&delivery.event_type),
            Value::Int(delivery.duration_ms),
            delivery.status.map(i64::from).into(),
            delivery.error.as_deref().into(),
            Value::Text(delivery.outcome.as_str()),
        ],
    )
    .map(drop)
}

/// What came of an event's last attempts, the newest first.
pub fn statuses(
    tx: &mut Tx<'_>,
    claim: Claim,
    event: EventId,
    limit: i64,
) -> Result<Vec<Option<u16>>, DbError> {
    tx.rows(
        "SELECT status FROM webhook_deliveries WHERE organization_id = ?1 AND webhook_id = ?2 AND event_id = ?3 \
         ORDER BY at DESC, attempt DESC LIMIT ?4",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Bytes(&event.to_bytes()),
            Value::Int(limit),
        ],
        read,
    )
}

/// The endpoint answered 2xx, so that it is not failing.
pub fn is_well(tx: &mut Tx<'_>, claim: Claim, now: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE webhooks SET failing_since = NULL, delivered_at = ?4, due_at = ?4 \
         WHERE organization_id = ?1 AND id = ?2 AND claim = ?3",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(claim.number),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// An attempt failed: the event is due again at this time.
pub fn put_off(
    tx: &mut Tx<'_>,
    claim: Claim,
    (attempts, refusals): (i64, i64),
    now: Timestamp,
    due_at: Timestamp,
) -> Result<(), DbError> {
    tx.execute(
        "UPDATE webhooks SET attempts = ?4, refusals = ?5, failing_since = COALESCE(failing_since, ?6), due_at = ?7 \
         WHERE organization_id = ?1 AND id = ?2 AND claim = ?3",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(claim.number),
            Value::Int(attempts),
            Value::Int(refusals),
            Value::Int(now.micros()),
            Value::Int(due_at.micros()),
        ],
    )
    .map(drop)
}

/// The event that failed is not sent any more. One that waits out of turn can still be failing.
pub fn forget_failures(tx: &mut Tx<'_>, claim: Claim, now: Timestamp) -> Result<(), DbError> {
    tx.execute(
        "UPDATE webhooks SET attempts = 0, refusals = 0, due_at = ?4, failing_since = CASE WHEN EXISTS \
         (SELECT 1 FROM webhook_extras x WHERE x.organization_id = ?1 AND x.webhook_id = ?2) THEN failing_since END \
         WHERE organization_id = ?1 AND id = ?2 AND claim = ?3",
        &[
            Value::Bytes(&claim.organization.to_bytes()),
            Value::Bytes(&claim.id.to_bytes()),
            Value::Int(claim.number),
            Value::Int(now.micros()),
        ],
    )
    .map(drop)
}

/// Makes due at once what is due, or leased, after a time that no wait reaches.
pub fn pull_in(tx: &mut Tx<'_>, now: Timestamp, after: Timestamp) -> Result<(), DbError> {
    let times = [Value::Int(now.micros()), Value::Int(after.micros())];
    for sql in [
        "UPDATE webhooks SET due_at = ?1 WHERE is_enabled = 1 AND due_at > ?2",
        "UPDATE webhooks SET leased_until = 0 WHERE leased_until > ?2 AND leased_until > ?1",
        "UPDATE webhook_extras SET due_at = ?1 WHERE due_at > ?2",
    ] {
        tx.execute(sql, &times)?;
    }
    Ok(())
}

/// Of enabled endpoints.
pub fn lags(tx: &mut Tx<'_>, limit: i64) -> Result<Vec<Lag>, DbError> {
    tx.rows(LAGS, &[Value::Int(limit)], read)
}

#[cfg(test)]
mod tests {
    use bursar_domain::ids::Id;

    use super::*;

    #[test]
    fn failing_endpoints_share_a_quarter() {
        let limits = Limits {
            all: 256,
            per_organization: 8,
            failing_part: 4,
        };
        let mut held = Held::new(limits);
        let organization = |n: u128| Id::from_bits(n);
        for n in 0..64 {
            assert!(held.has_room(organization(n), true));
            held.add(organization(n), true);
        }
        assert!(!held.has_room(organization(99), true));
        assert!(held.has_room(organization(99), false));
        let mut held = Held::new(limits);
        for n in 0..8 {
            assert_eq!(held.has_room(organization(1), true), n < 2, "{n}");
            assert!(held.has_room(organization(1), false), "{n}");
            held.add(organization(1), n < 2);
        }
        assert!(!held.has_room(organization(1), false));
        assert!(held.has_room(organization(2), false));
    }
}
