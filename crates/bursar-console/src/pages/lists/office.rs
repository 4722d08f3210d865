//! The members of a group, the roster of a chapter, people with a role, tokens and webhook endpoints. No file has a
//! secret.

use bursar_app::desk::{self, MemberLine};
use bursar_app::roles::Holder;
use bursar_app::tokens::Record as Token;
use bursar_app::webhooks::{Delivery, Record as Endpoint};
use bursar_app::{Act, View, chapters, resources, webhooks as app};
use bursar_domain::Timestamp;
use bursar_domain::group::Group;
use bursar_domain::ids::kind;

use super::{ROWS_MAX, all, balances, cut, file, next, whole};
use crate::asking::Asking;
use crate::failure::Failure;
use crate::pages::{group as group_page, people as people_page, tokens as token_page, webhooks as page};
use crate::reply::Download;
use crate::routes::Logged;
use crate::sheet::Cell;
use crate::words::{self, Moment};

pub(crate) fn group(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let currency = asking.frame.place.organization.currency;
    let group: Group = resources::one(view, asking.id::<kind::Group>(0)?)?;
    let rows = all(|after| {
        let page = desk::members(view, &group_page::query(group.id, after))?;
        let balances = balances(view, &page.rows, currency)?;
        let row = |(line, balance): (&MemberLine, Cell)| {
            vec![
                Cell::Text(line.first_name.clone()),
                Cell::Text(line.last_name.clone()),
                balance,
            ]
        };
        let found = page.rows.iter().zip(balances).map(row).collect();
        Ok((found, next(&page, MemberLine::place)))
    })?;
    let columns = ["First name", "Last name", "Balance"];
    Ok(file(view, asking, "group", &columns, rows))
}

/// Logged in the chapter like the page, with the number of members in the file.
pub(crate) fn roster(act: &mut Act<'_, '_>, asking: &Asking) -> Result<Logged, Failure> {
    let id = asking.id::<kind::Organization>(0)?;
    let found = chapters::read_roster(act, id, None, ROWS_MAX)?;
    let row = |line: &MemberLine| {
        vec![
            Cell::Text(line.first_name.clone()),
            Cell::Text(line.last_name.clone()),
            Cell::Text(line.email.clone().unwrap_or_default()),
            Cell::text(if line.is_active { "Active" } else { "Archived" }),
        ]
    };
    let mut rows: Vec<_> = found.members.iter().map(row).collect();
    if found.is_more {
        rows.push(cut());
    }
    let columns = ["First name", "Last name", "E-mail", "State"];
    Ok(Logged::File(file(act, asking, "roster", &columns, rows)))
}

pub(crate) fn people(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let row = |holder: &Holder| {
        vec![
            Cell::Text(people_page::name(holder)),
            Cell::Text(holder.user.email.clone()),
            Cell::Text(words::label(holder.role.as_str())),
            Cell::text(people_page::may(holder.role)),
        ]
    };
    let rows = whole(people_page::holders(view)?.iter().map(row).collect());
    Ok(file(
        view,
        asking,
        "people",
        &["Name", "E-mail", "Role", "May"],
        rows,
    ))
}

pub(crate) fn tokens(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let zone = &asking.frame.place.organization.time_zone;
    let row = |record: &Token| {
        vec![
            Cell::Text(record.name.clone()),
            Cell::Text(token_page::whose(record)),
            Cell::Text(words::label(record.state.as_str())),
            Cell::Text(token_page::used(record, &asking.frame).told),
            Cell::Text(words::moment_there(record.expires_at, zone)),
        ]
    };
    let rows = whole(token_page::found(view, asking)?.iter().map(row).collect());
    let columns = ["Name", "Whose", "State", "Last used", "Ends"];
    Ok(file(view, asking, "tokens", &columns, rows))
}

pub(crate) fn webhooks(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let zone = &asking.frame.place.organization.time_zone;
    let row = |record: &Endpoint| {
        vec![
            Cell::Text(record.url.clone()),
            Cell::Text(record.description.clone().unwrap_or_default()),
            Cell::text(page::state(record).1),
            Cell::Text(Moment::or(record.last_delivered_at, zone, "Never").told),
        ]
    };
    let (found, _) = page::found(view, asking)?;
    let rows = whole(found.iter().map(row).collect());
    let columns = ["Address", "For", "State", "Last delivery"];
    Ok(file(view, asking, "webhooks", &columns, rows))
}

/// What came of the deliveries to one endpoint.
pub(crate) fn deliveries(view: &mut View<'_, '_>, asking: &Asking) -> Result<Download, Failure> {
    let zone = &asking.frame.place.organization.time_zone;
    let id = asking.id::<kind::Webhook>(0)?;
    let row = |delivery: &Delivery| {
        vec![
            Cell::Text(words::moment_there(delivery.at, zone)),
            Cell::Text(delivery.event_type.clone()),
            Cell::Text(delivery.event_id.to_string()),
            Cell::Count(delivery.attempt),
            Cell::Text(page::response(delivery)),
            Cell::Count(delivery.duration_ms),
            Cell::text(page::outcome(delivery.outcome)),
        ]
    };
    let rows = all(|before: Option<Timestamp>| {
        let found = app::deliveries(view, id, before, app::PAGE_MAX)?;
        let last = found.last().filter(|_| found.len() == app::PAGE_MAX);
        let next = last.map(|delivery| delivery.at);
        Ok((found.iter().map(row).collect(), next))
    })?;
    let columns = [
        "Time",
        "Event",
        "Event id",
        "Attempt",
        "Response",
        "Took (ms)",
        "Result",
    ];
    Ok(file(view, asking, "deliveries", &columns, rows))
}
