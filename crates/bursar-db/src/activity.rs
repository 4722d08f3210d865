//! The activity log: who did what. Lines are added and stay.

use bursar_domain::Timestamp;
use bursar_domain::ids::{ActivityId, OrganizationId, RequestId};

use crate::engine::{Row, Tx, Value};
use crate::error::DbError;
use crate::table::Columns;

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
        line.actor_organization_id.map(|id| id.to_bytes()),
        line.request_id.map(|id| id.to_bytes()),
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

/// Up to `limit` lines of an organization, newest first, before `before` when it is given.
pub fn newest(
    tx: &mut Tx<'_>,
    organization: OrganizationId,
    before: Option<ActivityId>,
    limit: i64,
) -> Result<Vec<Line>, DbError> {
    let organization = organization.to_bytes();
    let before = before.map_or([0xff; 16], bursar_domain::ids::Id::to_bytes);
    tx.rows(
        "SELECT id, at, action, actor_kind, actor_id, actor_organization_id, subject, count, request_id FROM activity \
         WHERE organization_id = ?1 AND id < ?2 ORDER BY id DESC LIMIT ?3",
        &[Value::Bytes(&organization), Value::Bytes(&before), Value::Int(limit)],
        read_line,
    )
}

fn read_line(row: &Row<'_>) -> Result<Line, DbError> {
    let mut row = Columns::from(row, 0);
    Ok(Line {
        id: row.id()?,
        at: Timestamp::from_micros(row.int()?),
        action: row.text()?,
        actor_kind: row.text()?,
        actor_id: row.text_opt()?,
        actor_organization_id: row.id_opt()?,
        subject: row.text_opt()?,
        count: row.int_opt()?,
        request_id: row.id_opt()?,
    })
}
