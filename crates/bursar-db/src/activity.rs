//! The activity log: who did what. Lines are added and stay.

use bursar_domain::Timestamp;
use bursar_domain::ids::{ActivityId, OrganizationId, RequestId};

use crate::engine::{Tx, Value};
use crate::error::DbError;
use crate::rows::{read, record};

/// One line. Its id is a UUIDv7, so that lines lie in the order of time without the change clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Names it.
    pub id: ActivityId,
    /// When.
    pub at: Timestamp,
    /// What was done: `group.create`.
    pub action: String,
    /// Who did it: `token`, `user`, `operator`, `worker`.
    pub actor_kind: String,
    /// The actor's id, if it has one.
    pub actor_id: Option<String>,
    /// The actor's organization, if it has one.
    pub actor_organization_id: Option<OrganizationId>,
    /// The id of what it was done to.
    pub subject: Option<String>,
    /// How many things it was done to, or how many rows were read.
    pub count: Option<i64>,
    /// The request it was done by.
    pub request_id: Option<RequestId>,
}

/// Adds a line to an organization's log.
pub fn add(tx: &mut Tx<'_>, organization: OrganizationId, line: &Line) -> Result<(), DbError> {
    let (organization, id) = (organization.to_bytes(), line.id.to_bytes());
    let (actor, request) = (
        line.actor_organization_id.map(OrganizationId::to_bytes),
        line.request_id.map(RequestId::to_bytes),
    );
    tx.execute(
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
    .map(drop)
}

/// Which lines of a log are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not before this time.
    pub since: Option<Timestamp>,
    /// By this kind of actor, or by the actor with this id.
    pub actor: Option<String>,
    /// Whose action starts so.
    pub action: Option<String>,
}

record! { line_columns: Line {
    id, at, action, actor_kind, actor_id, actor_organization_id, subject, count, request_id,
} }

macro_rules! select_lines {
    ($filters:literal) => {
        concat!(
            "SELECT ",
            line_columns!(),
            " FROM activity WHERE organization_id = ?1 AND id < ?2 AND id >= ?3 AND at >= ?4",
            $filters,
            " ORDER BY id DESC LIMIT ?5"
        )
    };
}

/// Up to `limit` lines of an organization, newest first, before `before` when it is given.
///
/// They are read along the key: `since` is a lower bound of ids, because an id begins with its time. The clock
/// may have stepped back under an id that had to ascend, so the time itself is compared too.
pub fn newest(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    before: Option<ActivityId>,
    filter: &Filter,
    limit: i64,
) -> Result<Vec<Line>, DbError> {
    let organization = organization.to_bytes();
    let before = before.map_or([0xff; 16], ActivityId::to_bytes);
    let from = filter.since.map_or([0; 16], first_id_at);
    let since = filter.since.map_or(i64::MIN, Timestamp::micros);
    let mut params = vec![
        Value::Bytes(&organization),
        Value::Bytes(&before),
        Value::Bytes(&from),
        Value::Int(since),
        Value::Int(limit),
    ];
    params.extend(filter.actor.as_deref().map(Value::Text));
    params.extend(filter.action.as_deref().map(Value::Text));
    let sql = match (&filter.actor, &filter.action) {
        (None, None) => select_lines!(""),
        (Some(_), None) => select_lines!(" AND (actor_kind = ?6 OR actor_id = ?6)"),
        (None, Some(_)) => select_lines!(" AND substr(action, 1, length(?6)) = ?6"),
        (Some(_), Some(_)) => {
            select_lines!(" AND (actor_kind = ?6 OR actor_id = ?6) AND substr(action, 1, length(?7)) = ?7")
        }
    };
    tx.rows(sql, &params, read)
}

/// The least key that a line of this time can have: the milliseconds are the first 48 bits of a UUIDv7.
fn first_id_at(at: Timestamp) -> [u8; 16] {
    let millis = u128::try_from(at.micros().div_euclid(1000)).unwrap_or(0);
    (millis << 80).to_be_bytes()
}
