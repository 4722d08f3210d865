//! Events: what an act did to rows, written with it, and the list of them.

use bursar_db::events::{self, NewEvent, NoPage, Pending, Place, Wanted};
use bursar_db::walk::Ask;
use bursar_db::{Stored, Tx};
use bursar_domain::Refusal;
use bursar_domain::access::{Role, Scope, ScopeSet};
use bursar_domain::cursor::Cursor;
use bursar_domain::event::{Actor, Change, Event, EventType, Evented, TYPES};
use bursar_domain::ids::{EventId, OrganizationId};

use crate::act::{Context, View};
use crate::caller::Caller;
use crate::error::AppError;
use crate::resources::{Page, Walk, refused};
use crate::rule::Rule;

pub const READ: Rule = Rule::of("event.read", Role::Viewer, "read events").or_token(&[Scope::EventsRead]);

pub const RULES: &[&Rule] = &[&READ];

/// Notes the write of a row. `before` is `None` for a new row, `document` the row's representation.
pub(crate) fn note<R: Stored + Evented>(
    pending: &mut Pending,
    tx: &mut Tx<'_>,
    context: &mut Context,
    caller: &Caller,
    organization: OrganizationId,
    (before, after, document): (Option<&R>, &R, &str),
) -> Result<(), AppError> {
    let (at, id) = (after.stamps().updated_at, after.id());
    let change = Change::of(before, after);
    let actor = caller.id();
    let event = Event {
        id: context.ids.at(at),
        at,
        organization,
        resource_id: &id.to_string(),
        change: &change,
        data: document,
        actor: Actor {
            kind: caller.kind(),
            id: actor.as_deref(),
        },
        request_id: context.request_id,
    };
    let new = NewEvent {
        organization,
        at,
        id: event.id,
        event_type: change.event_type,
        resource_id: id.to_bytes(),
        document: event.document(),
    };
    Ok(pending.add(tx, new)?)
}

/// The event as JSON. One of a resource that the caller may not read is not found.
pub fn get(view: &mut View<'_, '_>, id: EventId) -> Result<Vec<u8>, AppError> {
    view.allow(&READ)?;
    let found = events::document(view.tx, view.organization, id)?;
    let scopes = scopes(view.caller());
    let seen = found.filter(|(event_type, _)| is_seen(*event_type, scopes));
    let missing = || Refusal::missing("there is no such event");
    Ok(seen.ok_or_else(missing)?.1)
}

/// Appends a page of the list to `text`. Events of resources that the caller may not read are left out.
pub fn page(view: &mut View<'_, '_>, walk: &Walk, text: Vec<u8>) -> Result<Page, AppError> {
    view.allow(&READ)?;
    let filters = walk.cursor.map_or(walk.filters, |cursor| cursor.filters);
    let scopes = scopes(view.caller());
    let is_wanted = |known: &EventType| {
        is_seen(*known, scopes)
            && filters.status.is_none_or(|name| name == known.name)
            && filters
                .subject
                .is_none_or(|subject| subject.resource == known.resource)
    };
    let wanted = Wanted {
        types: TYPES.iter().copied().filter(is_wanted).collect(),
        resource_id: filters.subject.map(|subject| subject.id),
    };
    let ask = Ask {
        organization: view.organization,
        limit: walk.limit,
    };
    let now = view.now();
    let from = match &walk.cursor {
        None => Place::Since(filters.updated_since),
        Some(cursor) => Place::After(cursor),
    };
    view.tx.hold_snapshot()?;
    let page = events::page(view.tx, ask, &wanted, from, text, |watermark, after| {
        match walk.cursor {
            Some(cursor) => Cursor { after, ..cursor },
            None => Cursor {
                filters,
                watermark,
                started_at: now,
                after,
            },
        }
    });
    page.map_err(|error| match error {
        NoPage::Behind(horizon) => Refusal::invalid(
            "createdSince",
            format!(
                "must be {horizon} or later: earlier events are no longer kept, so the list would have a gap. \
                 Read the lists of the resources, then follow events from the time when you began"
            ),
        )
        .into(),
        NoPage::Walk(error) => refused(error, "is of events that are no longer kept"),
    })
}

fn is_seen(event_type: EventType, scopes: ScopeSet) -> bool {
    scopes.has(event_type.resource.scope())
}

/// What a token may see by its scopes, others may see by their role.
fn scopes(caller: &Caller) -> ScopeSet {
    match caller {
        Caller::Token(token) => token.scopes(),
        Caller::Person(_, role, _) => role.map_or(ScopeSet::NONE, Role::ceiling),
        Caller::Operator | Caller::Worker => ScopeSet::of(Scope::ALL),
        Caller::Member(..) | Caller::Visitor => ScopeSet::NONE,
    }
}
