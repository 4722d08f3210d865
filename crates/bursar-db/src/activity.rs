//! The activity log: who did what. Lines are added and never removed.

use bursar_domain::Timestamp;
use bursar_domain::ids::{ActivityId, OrganizationId, RequestId};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

/// The id is a UUIDv7, so lines sort by time without the change clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub id: ActivityId,
    pub at: Timestamp,
    /// For example `group.create`.
    pub action: String,
    /// `token`, `user`, `operator` or `worker`.
    pub actor_kind: String,
    pub actor_id: Option<String>,
    pub actor_organization_id: Option<OrganizationId>,
    /// The id of what was acted on.
    pub subject: Option<String>,
    /// How many things were acted on, or how many rows were read.
    pub count: Option<i64>,
    pub request_id: Option<RequestId>,
}

pub fn add(tx: &mut Tx<'_>, organization: OrganizationId, line: &Line) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), line.id.to_bytes());
    let (actor, request) = (
        line.actor_organization_id.map(OrganizationId::to_bytes),
        line.request_id.map(RequestId::to_bytes),
    );
    // Organization and id are its key.
    tx.send_of_row(
        2,
        "INSERT INTO activity (organization_id, id, at, action, actor_kind, actor_id, actor_organization_id, subject, count, request_id) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        &[
            Value::Bytes(&organization),
            Value::Bytes(&id),
            Value::Int(line.at.micros()),
            Value::Text(&line.action),
            Value::Text(&line.actor_kind),
            line.actor_id.as_deref().into(),
            actor.as_ref().into(),
            line.subject.as_deref().into(),
            line.count.into(),
            request.as_ref().into(),
        ],
    )
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub since: Option<Timestamp>,
    /// A kind of actor, or an actor's id.
    pub actor: Option<String>,
    /// With an actor: only what was done in the name of the organization itself.
    pub is_own: bool,
    /// A prefix of the action.
    pub action: Option<String>,
    pub request: Option<RequestId>,
}

/// How long after its id was made a request can have written lines.
const REQUEST_MILLIS_MAX: u128 = 3_600_000;

record! { line_columns: Line {
    id, at, action, actor_kind, actor_id, actor_organization_id, subject, count, request_id,
} }

macro_rules! select_lines {
    ($filters:expr) => {
        concat!(
            "SELECT ",
            line_columns!(),
            " FROM activity WHERE organization_id = ?1 AND id < ?2 AND id >= ?3 AND at >= ?4",
            $filters,
            " ORDER BY id DESC LIMIT ?5"
        )
    };
}

macro_rules! of_actor {
    () => {
        " AND (actor_kind = ?6 OR (actor_id = ?6 AND (?7 = 0 OR actor_organization_id = ?1 OR actor_organization_id IS NULL)))"
    };
}

/// Newest first, before `before` if it is given.
///
/// Lines are read along the key: `since` is a lower bound of ids, because an id begins with its time. The time itself
/// is compared too, because ids ascend even when the clock steps back.
pub fn newest(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    before: Option<ActivityId>,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Line>, DbError> {
    let organization = organization.to_bytes();
    let mut before = before.map_or([0xff; 16], ActivityId::to_bytes);
    let mut from = filter.since.map_or([0; 16], first_id_at);
    let request = filter.request.map(RequestId::to_bytes);
    if let Some(request) = request {
        // An id begins with its time, so the lines of a request are near its own id.
        let made = u128::from_be_bytes(request) >> 80;
        let first = made.saturating_sub(REQUEST_MILLIS_MAX) << 80;
        let last = made.saturating_add(REQUEST_MILLIS_MAX).min(u128::MAX >> 80) << 80;
        from = from.max(first.to_be_bytes());
        before = before.min(last.to_be_bytes());
    }
    let since = filter.since.map_or(i64::MIN, Timestamp::micros);
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Bytes(&before),
        Value::Bytes(&from),
        Value::Int(since),
        Value::Int(limit),
    ];
    if let Some(request) = &request {
        params.push(Value::Bytes(request));
        return tx.rows(select_lines!(" AND request_id = ?6"), &params, read);
    }
    params.extend(filter.action.as_deref().map(Value::Text));
    if let Some(actor) = &filter.actor {
        params.insert(5, Value::Text(actor));
        params.insert(6, Value::from(filter.is_own));
    }
    let sql = match (&filter.actor, &filter.action) {
        (None, None) => select_lines!(""),
        (Some(_), None) => select_lines!(of_actor!()),
        (None, Some(_)) => select_lines!(" AND substr(action, 1, length(?6)) = ?6"),
        (Some(_), Some(_)) => {
            select_lines!(concat!(of_actor!(), " AND substr(action, 1, length(?8)) = ?8"))
        }
    };
    tx.rows(sql, &params, read)
}

/// The newest line about something since a time.
pub fn last_about(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    subject: &str,
    since: Timestamp,
) -> Result<Option<Line>, DbError> {
    let organization = organization.to_bytes();
    let params = [
        Value::Bytes(&organization),
        Value::Bytes(&[0xff; 16]),
        Value::Bytes(&first_id_at(since)),
        Value::Int(since.micros()),
        Value::Int(1),
        Value::Text(subject),
    ];
    let found: Vec<Line> = tx.rows(select_lines!(" AND subject = ?6"), &params, read)?;
    Ok(found.into_iter().next())
}

/// Lines whose subject is wanted, oldest first. Reads the whole log.
pub fn about(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    mut is_wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<Line>, DbError> {
    let mut found = Vec::new();
    tx.each(ALL, &[Value::Bytes(&organization.to_bytes())], |row| {
        let line: Line = read(row)?;
        if line.subject.as_deref().is_some_and(&mut is_wanted) {
            found.push(line);
        }
        Ok(())
    })?;
    Ok(found)
}

const ALL: &str = concat!(
    "SELECT ",
    line_columns!(),
    " FROM activity WHERE organization_id = ?1 ORDER BY id"
);

/// The smallest key of this time: the first 48 bits of a UUIDv7 are the milliseconds.
fn first_id_at(at: Timestamp) -> [u8; 16] {
    let millis = u128::try_from(at.micros().div_euclid(1000)).unwrap_or(0);
    (millis << 80).to_be_bytes()
}
