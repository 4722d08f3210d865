//! Pages of lists for officers, by keyset: what is in one status by its last change, and reminders by their time.

use std::sync::OnceLock;

use bursar_domain::Timestamp;
use bursar_domain::ids::{Id, OrganizationId, ReminderId};
use bursar_domain::reminder::{Reminder, ReminderStatus};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::read;
use crate::table::{self, Stored};

/// Those in a status, the last changed first, after the one given.
pub fn in_status<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    status: &str,
    after: Option<(Timestamp, Id<R::Kind>)>,
    limit: i64,
) -> Result<Vec<R>, DbError> {
    let (at, id) = after.map_or((i64::MAX, LAST_ID), |(at, id)| (at.micros(), id.to_bytes()));
    let values = [
        Value::Bytes(&organization.to_bytes()),
        Value::Text(status),
        Value::Int(at),
        Value::Bytes(&id),
        Value::Int(limit),
    ];
    table::rows(tx, table::in_status::<R>(), &values)
}

/// How many are in a status.
pub fn count_in_status<R: Stored>(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    status: &str,
) -> Result<i64, DbError> {
    let values = [Value::Bytes(&organization.to_bytes()), Value::Text(status)];
    let found = tx.first(table::count_in_status::<R>(), &values, read)?;
    Ok(found.unwrap_or(0))
}

const FIRST_ID: [u8; 16] = [0; 16];
const LAST_ID: [u8; 16] = [0xff; 16];

/// The order of a list of reminders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByTime {
    Next,
    Last,
}

/// A place between two reminders in the order of their times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReminderPlace(i64, [u8; 16]);

impl ReminderPlace {
    pub const fn at(at: Timestamp, id: ReminderId) -> Self {
        Self(at.micros(), id.to_bytes())
    }

    /// Before all reminders.
    pub const fn start(order: ByTime) -> Self {
        match order {
            ByTime::Next => Self(i64::MIN, FIRST_ID),
            ByTime::Last => Self(i64::MAX, LAST_ID),
        }
    }

    /// Before those of the same time as this one.
    pub fn before_time_of(reminder: &Reminder, order: ByTime) -> Self {
        Self(time_of(reminder).micros(), Self::start(order).1)
    }
}

/// One without a time comes before all times.
pub fn time_of(reminder: &Reminder) -> Timestamp {
    reminder.scheduled_at.unwrap_or(Timestamp::from_micros(0))
}

/// The key of the order: time and id.
pub fn time_key(reminder: &Reminder) -> (Timestamp, ReminderId) {
    (time_of(reminder), reminder.id)
}

/// Reminders in a status by their time, after a place.
pub fn reminders(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    status: ReminderStatus,
    order: ByTime,
    ReminderPlace(at, id): ReminderPlace,
    limit: i64,
) -> Result<Vec<Reminder>, DbError> {
    let values = [
        Value::Bytes(&organization.to_bytes()),
        Value::Text(status.as_str()),
        Value::Int(at),
        Value::Bytes(&id),
        Value::Int(limit),
    ];
    table::rows(tx, reminders_text(order), &values)
}

fn reminders_text(order: ByTime) -> &'static str {
    static NEXT: OnceLock<String> = OnceLock::new();
    static LAST: OnceLock<String> = OnceLock::new();
    let (text, sign, way) = match order {
        ByTime::Next => (&NEXT, ">", ""),
        ByTime::Last => (&LAST, "<", " DESC"),
    };
    text.get_or_init(|| {
        table::select::<Reminder>(&format!(
            "AND status = ?2 AND (COALESCE(scheduled_at, 0), id) {sign} (?3, ?4) \
             ORDER BY COALESCE(scheduled_at, 0){way}, id{way} LIMIT ?5"
        ))
    })
}

/// For tests that read query plans: names and texts.
pub fn statements() -> [(&'static str, &'static str); 3] {
    [
        (
            "reimbursements in a status",
            table::in_status::<bursar_domain::reimbursement::Reimbursement>(),
        ),
        ("reminders, the next first", reminders_text(ByTime::Next)),
        ("reminders, the last first", reminders_text(ByTime::Last)),
    ]
}
