//! Events: each says what its place says, and every row that changed since the horizon has the event of its last change.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use bursar_db::{DbError, Tx, events};
use bursar_domain::event::EventType;
use bursar_domain::ids::OrganizationId;

use super::Check;

/// Rows that changed since the horizon, by time and id, each with what its document hashes to.
#[derive(Default)]
pub(super) struct Fresh {
    pub(super) horizon: i64,
    rows: HashMap<(i64, [u8; 16]), u64>,
}

impl Fresh {
    pub(super) fn after(horizon: i64) -> Self {
        Self {
            horizon,
            rows: HashMap::new(),
        }
    }

    pub(super) fn add(&mut self, at: i64, id: [u8; 16], document: &str) {
        if at > self.horizon {
            self.rows.insert((at, id), digest(document));
        }
    }
}

fn digest(document: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    document.hash(&mut hasher);
    hasher.finish()
}

/// The representation within an event's document.
fn data_in(document: &str) -> Option<&str> {
    let start = document.find("\"data\":")? + "\"data\":".len();
    let end = document.rfind(",\"changed\":[")?;
    document.get(start..end)
}

impl Check<'_> {
    pub(super) fn events(
        &mut self,
        tx: &mut Tx<'_>,
        organization: OrganizationId,
        clock: i64,
        mut fresh: Fresh,
    ) -> Result<(), DbError> {
        events::each(tx, organization, |event| {
            self.done.rows += 1;
            let is_known = EventType::parse(event.event_type).is_some();
            let head = format!("\"type\":\"{}\",\"createdAt\":\"{}\"", event.event_type, event.at);
            let message = match event.at.micros() {
                _ if !is_known => Some("the event is of an unknown type"),
                at if at > clock => Some("the event is after the change clock"),
                at if at <= fresh.horizon => Some("the event is behind the organization's horizon"),
                _ if !event.has_own_id() || !event.document.contains(&head) => {
                    Some("the event's document says something else than its place")
                }
                _ => None,
            };
            if let Some(message) = message {
                self.problem("event", Some(organization), event.id, message);
            }
            let row = fresh.rows.remove(&(event.at.micros(), event.resource_id));
            if row.is_some() && row != data_in(event.document).map(digest) {
                let message = "the event's data differ from the row that it tells of";
                self.problem("event", Some(organization), event.id, message);
            }
            Ok(())
        })?;
        let mut missing: Vec<(i64, [u8; 16])> = fresh.rows.into_keys().collect();
        missing.sort_unstable();
        for (at, id) in missing {
            let at = bursar_domain::Timestamp::from_micros(at);
            let id = OrganizationId::from_bytes(id).to_string();
            let (_, digits) = id.split_once('_').unwrap_or_default();
            let message = format!("the row that changed at {at} has no event of it");
            self.problem("event", Some(organization), digits, &message);
        }
        Ok(())
    }
}
